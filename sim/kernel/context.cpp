// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/context.h"

#include <cstdlib>
#include <utility>

#include "isa/base/error.h"

namespace vinci::sim {
namespace {

// What SystemC would print: a warning means that we use it wrongly, and an error already is one.
void on_report(const sc_core::sc_report& report, const sc_core::sc_actions&) {
  if (report.get_severity() == sc_core::SC_INFO) return;
  fail(Fault::Internal, "SystemC: {}: {}", report.get_msg_type(), report.get_msg());
}

void make_present(sc_core::sc_simcontext* present, sc_core::sc_simcontext* global) {
  sc_core::sc_curr_simcontext = present;
  sc_core::sc_default_global_context = global;
}

}  // namespace

Context::Context() {
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);  // a library must not print a banner
  sc_core::sc_report_handler::set_handler(&on_report);
  own_ = std::make_unique<sc_core::sc_simcontext>();
  enter();
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);  // 1 ps would be off by 0.08 % at 1.8 GHz
}

Context::~Context() {
  enter();  // its parts look for it as they go
  own_.reset();
  leave();
}

void Context::enter() {
  if (std::exchange(present_, true)) return;
  outer_ = sc_core::sc_curr_simcontext;
  outer_global_ = sc_core::sc_default_global_context;
  make_present(own_.get(), own_.get());
}

void Context::leave() {
  if (std::exchange(present_, false)) make_present(outer_, outer_global_);
}

}  // namespace vinci::sim

// SystemC's library refers to it; our programs have a main of their own. A platform that begins in sc_main() brings its
// own.
[[gnu::weak]] int sc_main(int, char**) { return 0; }
