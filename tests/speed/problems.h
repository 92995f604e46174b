// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "isa/text.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tools/gen/gemm.h"

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

// An edge^3 GEMM in FP16 on some AI cores of an ascend-910b1, in a folder that is gone at the end.
class GemmFolder {
 public:
  GemmFolder(u64 edge, u32 cores)
      : chip(config::load_chip("ascend-910b1")),
        path_((std::filesystem::temp_directory_path() / fmt::format("vinci_speed_{}_{}", ::getpid(), edge)).string()) {
    chip.vector_cores = chip.vector_cores / chip.ai_cores * cores;
    chip.ai_cores = cores;
    gen::write_gemm({.m = edge, .n = edge, .k = edge}, chip, 1, path_);
    stream = task::load_task_stream(path_ + "/gemm.yaml");
  }
  GemmFolder(const GemmFolder&) = delete;
  GemmFolder& operator=(const GemmFolder&) = delete;
  ~GemmFolder() { std::filesystem::remove_all(path_); }

  config::ChipConfig chip;
  task::TaskStream stream;

 private:
  std::string path_;
};

}  // namespace vinci::test
