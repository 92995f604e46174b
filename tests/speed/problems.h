// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/text/text.h"
#include "sim/config/load.h"
#include "sim/task/task.h"

namespace vinci::test {

struct Problem {
  config::ChipConfig chip = {};
  task::TaskStream stream = {};
};

// A program as one block on the only core of a chip, with the address of a buffer of 1 MiB as its argument.
inline Problem kernel_on_one_core(const std::string& chip, const std::string& assembly) {
  Problem p{.chip = config::load_chip(chip)};
  p.chip.ai_cores = 1;
  p.stream.arch = p.chip.arch;
  task::Buffer& buffer = p.stream.buffers.emplace_back();
  buffer.name = "x";
  buffer.bytes = 1 << 20;
  p.stream.kernels.push_back({.name = "loop", .program = isa::assemble(assembly, "loop.s", p.chip.arch)});
  task::KernelLaunch launch{.block_dim = 1};
  launch.args.push_back(task::Slice{.buffer = 0});
  p.stream.streams.push_back({.name = "main", .tasks = {{.name = "loop", .op = launch}}});
  return p;
}

}  // namespace vinci::test
