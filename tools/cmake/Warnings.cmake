# SPDX-License-Identifier: Apache-2.0
# Warnings of our own targets; every preset turns them into errors.
add_library(vinci_warnings INTERFACE)
target_compile_options(vinci_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Its newer versions name what libstdc++ 12 itself uses for std::stable_sort.
  target_compile_options(vinci_warnings INTERFACE -Wno-deprecated-declarations)
endif()
option(VINCI_WERROR "Warnings are errors" OFF)
if(VINCI_WERROR)
  target_compile_options(vinci_warnings INTERFACE -Werror)
endif()
