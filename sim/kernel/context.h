// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>

#include "sim/kernel/systemc.h"

namespace vinci::sim {

// A SystemC simulation context of its own. SystemC knows one elaboration per context; with a fresh one for each run, a
// process can simulate as often as it likes, one after the other, or several in turns. Must outlive the modules made in
// it, which are made, run and destroyed while it is the present one: from its construction on, except after leave().
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Makes it the present context; leave() brings back the one before.
  void enter();
  void leave();

 private:
  sc_core::sc_simcontext* outer_ = nullptr;
  sc_core::sc_simcontext* outer_global_ = nullptr;
  bool present_ = false;
  std::unique_ptr<sc_core::sc_simcontext> own_;
};

}  // namespace vinci::sim
