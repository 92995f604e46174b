# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
if(NOT EXISTS "${ASCEND_CANN_PACKAGE_PATH}/compiler/tikcpp/ascendc_kernel_cmake")
  message(FATAL_ERROR "there is no ascendc_kernel_cmake in ${ASCEND_CANN_PACKAGE_PATH}")
endif()
include("${ASCEND_CANN_PACKAGE_PATH}/compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake")

ascendc_library(kernels_${RUN_MODE} ${LIBRARY_TYPE} scale.cpp offset.cpp)
ascendc_compile_definitions(kernels_${RUN_MODE} PRIVATE -DFACTOR=3 $<$<STREQUAL:${SOC_VERSION},Ascend310P3>:ON_310P> HAVE_TILING)
ascendc_include_directories(kernels_${RUN_MODE} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/kernel_include")
ascendc_compile_options(kernels_${RUN_MODE} PRIVATE -Wall -Werror)
if(FATBIN)
  ascendc_fatbin_library(binary scale.cpp)
endif()
