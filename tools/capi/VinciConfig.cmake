# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# find_package(Vinci): the target Vinci::vinci, the simulator for C. With COMPONENTS builder also Vinci::builder, the
# builders of programs and task streams for C++20; with npu Vinci::npu, the chip as a SystemC module.
include("${CMAKE_CURRENT_LIST_DIR}/VinciTargets.cmake")
foreach(component IN LISTS Vinci_FIND_COMPONENTS)
  if(component STREQUAL "builder")
    include("${CMAKE_CURRENT_LIST_DIR}/VinciBuilderTargets.cmake")
    set(Vinci_builder_FOUND TRUE)
  elseif(component STREQUAL "npu" AND EXISTS "${CMAKE_CURRENT_LIST_DIR}/VinciNpuTargets.cmake")
    include("${CMAKE_CURRENT_LIST_DIR}/VinciNpuTargets.cmake")
    set(Vinci_npu_FOUND TRUE)
  elseif(Vinci_FIND_REQUIRED_${component})
    set(Vinci_FOUND FALSE)
    set(Vinci_NOT_FOUND_MESSAGE "Vinci has no component '${component}'; its components: builder and, of an installation, npu")
  endif()
endforeach()
