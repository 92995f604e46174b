// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "tools/validate/family.h"

namespace vinci::validate {

// A kernel over device buffers, which is what most published measurements are of.
struct KernelStream {
  struct Buffer {
    u64 bytes = 0;
    bool bypass_l2 = false;
  };
  std::string code = {};      // of the vector cores; of the cube cores where it is for them
  std::string aiv_code = {};  // of a MIX task: of its `aivs` vector cores
  bool cube = false;
  u32 aivs = 0;
  u32 blocks = 1;
  u32 launches = 1;                  // one after the other; the last one is measured
  std::vector<Buffer> buffers = {};  // the arguments, in this order
};

// What profilers say of a kernel, in us: its task, the mean time of its cores, and the mean busy time of each pipe.
std::vector<Metric> kernel_metrics();
Values kernel_times(const KernelStream& kernel, const config::ChipConfig& chip);

}  // namespace vinci::validate
