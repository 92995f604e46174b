// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "isa/builder/program_builder.h"
#include "sim/task/stream_builder.h"
#include "sim/task/task.h"
#include "tools/validate/family.h"

namespace vinci::validate {

// What L2 holds when the measured kernel begins: nothing, what the same kernel left there, what it would have left but
// for its program, which is new to the cores, or results of others that have to be written back.
enum class L2State : u8 { empty, own, prefetched, dirty };

// A kernel over device buffers, which is what most published measurements are of.
struct KernelStream {
  struct Buffer {
    u64 bytes = 0;
    bool bypass_l2 = false;
  };
  isa::BuiltProgram code;           // of the vector cores; of the cube cores where it is for them
  isa::BuiltProgram aiv_code = {};  // of a MIX task: of its `aivs` vector cores
  bool cube = false;
  u32 aivs = 0;
  u32 blocks = 1;
  L2State l2 = L2State::empty;
  std::vector<Buffer> buffers = {};  // the arguments, in this order
};

// What profilers say of a kernel, in us: its task, the mean time of its cores, and the mean busy time of each pipe.
std::vector<Metric> kernel_metrics();
// The parameter `l2` of a family, and its value.
Parameter l2_parameter(std::string_view fallback);
L2State l2_state(const Params& params);
task::BuiltStream kernel_stream(const KernelStream& kernel, const config::ChipConfig& chip);
Values kernel_times(const KernelStream& kernel, const config::ChipConfig& chip);
// The same of the last kernel of a task stream. Fault::Input, at `place`, if it has none.
Values last_kernel_times(task::TaskStream stream, const config::ChipConfig& chip, const std::string& place);
// `measure` of a family that has no metrics but these.
template <class Kernel>
auto times_of(Kernel kernel) {
  return [kernel](const Params& p, const config::ChipConfig& chip) { return kernel_times(kernel(p, chip), chip); };
}

}  // namespace vinci::validate
