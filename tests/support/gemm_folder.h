// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tests/support/shell.h"
#include "tools/gen/gemm.h"

namespace vinci::test {

// An edge^3 GEMM in FP16 on some AI cores of an ascend-910b1, in a folder that is gone at the end.
class GemmFolder {
 public:
  GemmFolder(u64 edge, u32 cores) : chip(config::load_chip("ascend-910b1")) {
    chip.vector_cores = chip.vector_cores / chip.ai_cores * cores;
    chip.ai_cores = cores;
    gen::write_gemm({.m = edge, .n = edge, .k = edge}, chip, 1, folder_.path().string());
    stream = task::load_task_stream(folder_ / "gemm.yaml");
  }

  config::ChipConfig chip;
  task::TaskStream stream;

 private:
  TempFolder folder_{"vinci-gemm"};
};

}  // namespace vinci::test
