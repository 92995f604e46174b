# SPDX-License-Identifier: Apache-2.0
# The SystemC package of Debian 12 is built as C++17 and exports one versioned symbol, which must match what our code
# asks for. Probe: link a tiny program as we compile (C++20); if that fails, ask for the C++17 symbol.
find_path(VINCI_SYSTEMC_INCLUDE systemc REQUIRED)
find_library(VINCI_SYSTEMC_LIBRARY systemc REQUIRED)

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES "${VINCI_SYSTEMC_INCLUDE}")
set(CMAKE_REQUIRED_LIBRARIES "${VINCI_SYSTEMC_LIBRARY}")
set(vinci_systemc_probe "#include <systemc>\nint sc_main(int, char**) { return 0; }\nint main() { return sc_core::sc_elab_and_sim(0, nullptr); }")
check_cxx_source_compiles("${vinci_systemc_probe}" VINCI_SYSTEMC_AS_IS)
if(NOT VINCI_SYSTEMC_AS_IS)
  set(CMAKE_REQUIRED_DEFINITIONS -DSC_CPLUSPLUS=201703L)
  check_cxx_source_compiles("${vinci_systemc_probe}" VINCI_SYSTEMC_AS_CXX17)
  unset(CMAKE_REQUIRED_DEFINITIONS)
  if(NOT VINCI_SYSTEMC_AS_CXX17)
    message(FATAL_ERROR "SystemC at ${VINCI_SYSTEMC_LIBRARY} links neither as C++20 nor as C++17")
  endif()
endif()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)

add_library(vinci_systemc INTERFACE)
target_include_directories(vinci_systemc SYSTEM INTERFACE "${VINCI_SYSTEMC_INCLUDE}")
target_link_libraries(vinci_systemc INTERFACE "${VINCI_SYSTEMC_LIBRARY}")
if(NOT VINCI_SYSTEMC_AS_IS)
  target_compile_definitions(vinci_systemc INTERFACE SC_CPLUSPLUS=201703L)
endif()
