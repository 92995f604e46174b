// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>

#include "sim/kernel/systemc.h"

namespace vinci::sim {

// A SystemC simulation context of its own. SystemC knows one elaboration per context; with a fresh one for each run, a
// process can simulate as often as it likes, one after the other, or one inside the life of another. Must outlive the
// modules made in it.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  sc_core::sc_simcontext* outer_;
  sc_core::sc_simcontext* outer_global_;
  std::unique_ptr<sc_core::sc_simcontext> own_;
};

}  // namespace vinci::sim
