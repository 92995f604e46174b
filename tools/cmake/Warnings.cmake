# SPDX-License-Identifier: Apache-2.0
# Warnings of our own targets; every preset turns them into errors.
add_library(vinci_warnings INTERFACE)
target_compile_options(vinci_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
option(VINCI_WERROR "Warnings are errors" OFF)
if(VINCI_WERROR)
  target_compile_options(vinci_warnings INTERFACE -Werror)
endif()
