# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Whether the compiler of ASC makes a program.
if(CMAKE_ASC_COMPILER_WORKS)
  return()
endif()
set(vinci_test_folder "${CMAKE_BINARY_DIR}/CMakeFiles/CMakeTmp")
file(WRITE "${vinci_test_folder}/works.asc" "int main() { return 0; }\n")
execute_process(COMMAND "${CMAKE_ASC_COMPILER}" cc "${vinci_test_folder}/works.asc" -o "${vinci_test_folder}/works"
  RESULT_VARIABLE vinci_test_result OUTPUT_VARIABLE vinci_test_output ERROR_VARIABLE vinci_test_output)
if(NOT vinci_test_result EQUAL 0)
  message(FATAL_ERROR "The ASC compiler\n  ${CMAKE_ASC_COMPILER} cc\ncannot compile a program:\n${vinci_test_output}")
endif()
message(STATUS "Check for working ASC compiler: ${CMAKE_ASC_COMPILER} cc - works")
set(CMAKE_ASC_COMPILER_WORKS TRUE CACHE INTERNAL "")
