# SPDX-License-Identifier: Apache-2.0
# vinci_headers(TARGET FOLDER...)   The target, and each target that links it, can include files of these folders.
#
# Includes name files from the root of the project ("sim/task/task.h"). The root is no include directory: each target has
# a root of its own in the build tree, roots/TARGET, with a symbolic link for each of its folders. A target therefore
# finds the headers of the libraries that it links, and no others. tests/layers proves it.
function(vinci_headers target)
  set(root "${PROJECT_BINARY_DIR}/roots/${target}")
  foreach(folder IN LISTS ARGN)
    get_filename_component(parent "${root}/${folder}" DIRECTORY)
    file(MAKE_DIRECTORY "${parent}")
    if(NOT IS_SYMLINK "${root}/${folder}")
      file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${root}/${folder}" SYMBOLIC)
    endif()
  endforeach()
  get_target_property(type ${target} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(scope INTERFACE)
  elseif(type MATCHES "EXECUTABLE|SHARED_LIBRARY")
    set(scope PRIVATE)  # others include what a shared library installs
  endif()
  target_include_directories(${target} ${scope} "${root}")
  if(VINCI_COVERAGE)  # files are counted under their own paths, which reports select by folder
    foreach(folder IN LISTS ARGN)
      foreach(path IN ITEMS "${root}/${folder}" "roots/${target}/${folder}")  # ccache may make it relative
        target_compile_options(${target} ${scope} "-fprofile-prefix-map=${path}=${PROJECT_SOURCE_DIR}/${folder}")
      endforeach()
    endforeach()
  endif()
endfunction()

# SystemC is in the compiler's own include path. A target that links vinci_no_systemc finds these headers in its place.
set(fence "${PROJECT_BINARY_DIR}/roots/no_systemc")
foreach(header IN ITEMS systemc systemc.h tlm tlm.h)
  file(CONFIGURE OUTPUT "${fence}/${header}" CONTENT "#error \"SystemC is included by sim/kernel alone\"\n")
endforeach()
add_library(vinci_no_systemc INTERFACE)
target_include_directories(vinci_no_systemc INTERFACE "${fence}")
