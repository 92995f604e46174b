// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {

// The addresses of the tensors of a launch, which are its arguments. Each has a register where there are enough of
// them; of more tensors an address is loaded each time that it is needed, into one register for all.
class LaunchArguments {
 public:
  LaunchArguments(isa::ProgramBuilder& p, usize tensors) : p_(p), tensors_(tensors) {}

  // Where the program begins.
  void load_all() {
    if (tensors_ > kMostTensors + 1) return registers_.push_back(p_.reg("tensor"));
    for (usize i = 0; i < tensors_; ++i)
      registers_.push_back(p_.arg("tensor"));
  }
  // Holds until the next call.
  isa::Reg of(usize tensor) {
    if (registers_.size() == tensors_) return registers_[tensor];
    p_.ld_arg(registers_[0], tensor);
    return registers_[0];
  }

 private:
  isa::ProgramBuilder& p_;
  usize tensors_;
  std::vector<isa::Reg> registers_ = {};
};

}  // namespace vinci::graph
