# SPDX-License-Identifier: Apache-2.0
# vinci_commit: the commit of the sources as `git describe` says it, in brackets behind a blank; empty where the sources are
# not the top of a checkout, or where there is no git. A new commit configures again.
set(vinci_commit "")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(COMMAND "${GIT_EXECUTABLE}" describe --always --dirty WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND described MATCHES "^[-.A-Za-z0-9_]+$")
    set(vinci_commit " (${described})")
  endif()
  execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --git-path logs/HEAD WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE moves OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  get_filename_component(moves "${moves}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  if(NOT failed AND EXISTS "${moves}")
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${moves}")
  endif()
endif()
