// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/context.h"

#include <cstdlib>

namespace vinci::sim {

Context::Context() {
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);  // a library must not print a banner
  own_ = std::make_unique<sc_core::sc_simcontext>();
  sc_core::sc_curr_simcontext = own_.get();
  sc_core::sc_default_global_context = own_.get();
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);  // 1 ps would be off by 0.08 % at 1.8 GHz
}

Context::~Context() {
  sc_core::sc_curr_simcontext = nullptr;
  sc_core::sc_default_global_context = nullptr;
}

}  // namespace vinci::sim

// SystemC's library refers to it; our programs have a main of their own.
int sc_main(int, char**) { return 0; }
