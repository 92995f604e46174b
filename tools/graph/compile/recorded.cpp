// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isa/insns/scalar.h"
#include "isa/insns/system.h"
#include "isa/mem/global_memory.h"
#include "isa/table/codec.h"
#include "sim/task/run_memory.h"

namespace vinci::graph {
namespace {

// What a program has read on the scalar unit, it has as numbers in later instructions: those of the recording.
void refuse_reads(const isa::Program& program, const std::string& where) {
  using namespace isa::insn;
  static constexpr std::array kReads{LdDev::opcode, LdUbuf::opcode, TouchUbuf::opcode};
  for (usize i = 0; i < program.code.size(); ++i) {
    const isa::Inst inst = isa::decode(program.code[i]);
    const bool result = inst.row->reads_results && inst.row->opcode != GetSysCnt::opcode;
    if (!result && std::ranges::find(kReads, inst.row->opcode) == kReads.end()) continue;
    const usize file = program.files.empty() ? 0 : program.files[i];
    fail_at(
        Fault::Unsupported, fmt::format("{}:{}", file == 0 ? where : program.included[file - 1], program.lines[i]),
        "the scalar unit reads a tensor or a result here, as GetValue does; in a network, the kernel would use what "
        "it found in its recording");
  }
}

// An operand that is an address of global memory.
bool is_address(const isa::Row& row, const isa::FieldInfo& field) {
  const bool scalar = row.opcode == isa::insn::LdDev::opcode || row.opcode == isa::insn::StDev::opcode;
  return scalar ? field.name == "address" : field.memory == isa::BufId::GM;
}

}  // namespace

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
  refuse_reads(out.kernel.program, where);
  if (launch.mix()) {
    out.aiv = stream.kernels.at(launch.aiv_kernel);
    refuse_reads(out.aiv->program, where);
  }
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
      if (is_address(*inst.row, inst.row->fields[f]) && !o.is_reg && o.value >= isa::GlobalMemory::kBase)
        o.value = moved(o.value);
    }
    word = isa::encode(inst);
  }
  return out;
}

}  // namespace vinci::graph
