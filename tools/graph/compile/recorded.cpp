// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/recorded.h"

#include <algorithm>

#include "isa/codec.h"
#include "isa/mem/global_memory.h"
#include "sim/task/run_memory.h"

namespace vinci::graph {

RecordedKernel recorded_kernel(const task::TaskStream& stream, const std::string& where) {
  std::vector<const task::KernelLaunch*> launches;
  for (const task::Stream& s : stream.streams) {
    for (const task::Task& t : s.tasks) {
      if (const auto* const launch = std::get_if<task::KernelLaunch>(&t.op)) launches.push_back(launch);
    }
  }
  if (launches.size() != 1)
    fail_at(Fault::Unsupported, where, "the program launches {} kernels instead of one", launches.size());
  const task::KernelLaunch& launch = *launches[0];
  RecordedKernel out{.kernel = stream.kernels.at(launch.kernel), .blocks = launch.block_dim, .aivs = launch.aivs};
  if (launch.mix()) out.aiv = stream.kernels.at(launch.aiv_kernel);
  const task::RunMemory memory(stream, false);
  for (u32 i = 0; i < stream.buffers.size(); ++i) {
    const task::Buffer& b = stream.buffers[i];
    if (b.place == task::Buffer::Place::device)
      out.memory.push_back({.address = memory.address({.buffer = i, .offset = 0}), .bytes = b.bytes});
  }
  return out;
}

task::Kernel placed_kernel(const task::Kernel& kernel, const RecordedKernel& recorded, std::span<const u64> addresses,
                           const std::string& where) {
  VINCI_CHECK(addresses.size() == recorded.memory.size());
  const auto moved = [&](u64 address) {
    for (usize i = 0; i < addresses.size(); ++i) {
      const RecordedKernel::Memory& m = recorded.memory[i];
      if (m.address <= address && address - m.address < m.bytes) return addresses[i] + (address - m.address);
    }
    fail_at(Fault::Unsupported, where, "the kernel uses address {:#x}, which is in none of its tensors", address);
  };
  task::Kernel out = kernel;
  for (isa::Word& word : out.program.code) {
    isa::Inst inst = isa::decode(word);
    for (usize f = 0; f < inst.row->fields.size(); ++f) {
      isa::Operand& o = inst.operands[f];
      // Below are registers of the chip, such as those of flags between cores.
      if (inst.row->fields[f].memory == isa::BufId::GM && !o.is_reg && o.value >= isa::GlobalMemory::kBase)
        o.value = moved(o.value);
    }
    word = isa::encode(inst);
  }
  return out;
}

}  // namespace vinci::graph
