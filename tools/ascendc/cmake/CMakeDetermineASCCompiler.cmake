# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# The compiler of the language ASC is the tool `vinci`, whose command cc takes the options of a C++ compiler.
include("${CMAKE_CURRENT_LIST_DIR}/ASCPaths.cmake")
if(NOT CMAKE_ASC_COMPILER)
  set(CMAKE_ASC_COMPILER "${ASC_VINCI}")
endif()
if(NOT EXISTS "${CMAKE_ASC_COMPILER}")
  message(FATAL_ERROR "The compiler of ASC is not there: ${CMAKE_ASC_COMPILER}")
endif()
set(CMAKE_ASC_COMPILER "${CMAKE_ASC_COMPILER}" CACHE FILEPATH "The tool vinci, whose command cc compiles ASC")
mark_as_advanced(CMAKE_ASC_COMPILER)

find_program(CMAKE_AR NAMES ar)
find_program(CMAKE_RANLIB NAMES ranlib)
mark_as_advanced(CMAKE_AR CMAKE_RANLIB)

set(CMAKE_ASC_COMPILER_ENV_VAR "ASC")
configure_file("${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in"
  "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake" @ONLY)
