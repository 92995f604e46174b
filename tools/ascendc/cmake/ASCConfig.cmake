# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# find_package(ASC REQUIRED), before project(name LANGUAGES ASC CXX): the language ASC, compiled by `vinci cc`.
#   CMAKE_ASC_RUN_MODE       sim (default): time as well as bits; cpu: bits only, built for a debugger
#   CMAKE_ASC_ARCHITECTURES  dav-2201 (default), dav-2002 or dav-1001
# docs/ascendc.md
include("${CMAKE_CURRENT_LIST_DIR}/ASCPaths.cmake")
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")

if(NOT DEFINED CMAKE_ASC_RUN_MODE)
  set(CMAKE_ASC_RUN_MODE sim)
endif()
if(NOT DEFINED CMAKE_ASC_ARCHITECTURES)
  set(CMAKE_ASC_ARCHITECTURES dav-2201)
endif()
if(CMAKE_ASC_RUN_MODE STREQUAL "npu")
  message(FATAL_ERROR "CMAKE_ASC_RUN_MODE=npu: Vinci is a simulator and has no NPU. "
    "Configure with -DCMAKE_ASC_RUN_MODE=sim (time as well as bits) or -DCMAKE_ASC_RUN_MODE=cpu (bits only)")
elseif(NOT CMAKE_ASC_RUN_MODE MATCHES "^(sim|cpu)$")
  message(FATAL_ERROR "CMAKE_ASC_RUN_MODE=${CMAKE_ASC_RUN_MODE}: the modes are sim and cpu")
endif()
if(NOT CMAKE_ASC_ARCHITECTURES MATCHES "^dav-(2201|2002|1001)$")
  message(FATAL_ERROR "CMAKE_ASC_ARCHITECTURES=${CMAKE_ASC_ARCHITECTURES}: Vinci has one of dav-2201 (Ascend 910B), "
    "dav-2002 (Ascend 310P) and dav-1001 (Ascend 910)")
endif()

# Host code in C++ includes acl/acl.h, too.
include_directories(SYSTEM "${ASC_INCLUDE_DIR}")

# Libraries that projects name. What Vinci has of them is in one library, which `vinci cc` links by itself.
foreach(name IN ITEMS ascendcl acl_rt runtime ascendc_runtime)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${ASC_LIBRARY}")
  endif()
endforeach()
foreach(name IN ITEMS tiling_api register platform unified_dlog graph_base graph exe_graph metadef error_manager
    c_sec mmpa profapi ascendalog ascend_dump opp_registry nnopbase)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED GLOBAL)
  endif()
endforeach()

# Packages of operators are for the vendor's framework.
foreach(name IN ITEMS npu_op_package npu_op_library npu_op_kernel_library npu_op_kernel_sources npu_op_kernel_options
    npu_op_code_gen npu_op_device_tiling_library)
  cmake_language(EVAL CODE "function(${name})
    message(FATAL_ERROR \"${name}() is not supported by Vinci: build the kernel with its host program, by add_executable()\")
  endfunction()")
endforeach()
set(ASC_FOUND TRUE)
