# SPDX-License-Identifier: Apache-2.0
# Language level and build options; results must not depend on the machine that compiles or runs.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# The libraries also become parts of shared ones, in which no other library replaces their functions.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_compile_options(-fno-semantic-interposition)

option(VINCI_TESTS "Build the tests and the benchmarks" ON)
option(VINCI_PYTHON "Build the Python module" ON)
option(VINCI_LEAN "Leave cc, compile, op, study, sweep and validate out of the tool: less than half the time to build" OFF)
# Files of a group share one translation unit: names in anonymous namespaces must differ between them.
option(VINCI_UNITY "Compile the sources of a library in groups, in less than half the time" OFF)
set(CMAKE_UNITY_BUILD ${VINCI_UNITY})
option(VINCI_FUZZ "Build the libFuzzer harnesses (clang only)" OFF)
set(VINCI_SANITIZE "" CACHE STRING "Comma-separated sanitizers for all targets, e.g. address,undefined")
option(VINCI_COVERAGE "Instrument for coverage" OFF)

# No contraction of a*b+c, no -march=native: bits are the same everywhere.
add_compile_options(-ffp-contract=off)
if(VINCI_SANITIZE)
  add_compile_options(-fsanitize=${VINCI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${VINCI_SANITIZE})
  add_compile_definitions(VINCI_SANITIZED)  # leaves out tests that need the addresses or the speed of other builds
endif()
if(VINCI_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

find_program(VINCI_CCACHE ccache)
if(VINCI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${VINCI_CCACHE}")
endif()
