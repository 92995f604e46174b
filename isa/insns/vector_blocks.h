// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/vector.h"

// Instructions of the vector unit that walk over whole blocks of UB in an order of their own, not by lanes and strides.
namespace vinci::isa::insn {

// A repeat is a step of work, unless the instruction says otherwise.
template <Text Name, u16 Opcode, CostClass Cost, ArchSet Archs, Text Doc>
struct BlockInsn {
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = Cost;
  template <class Args>
  static PipeId pipe(const Args&, Arch) {
    return PipeId::V;
  }
  template <class Args>
  static Work work(const Args& x, const Spr&) {
    return {.steps = x.repeat};
  }
};

template <class Args>
inline constexpr std::tuple kBlockRepeat{
    Field<&Args::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"}};

// `bytes` from `address` on, as whole blocks; the vector unit conflicts with others by block.
constexpr Access ub_blocks(u32 address, u64 bytes, bool write, std::string_view operand) {
  return {.buffer = BufId::UB,
          .write = write,
          .align = static_cast<u16>(kBlockBytes),
          .address = address,
          .len = static_cast<u32>(align_up<u64>(bytes, kBlockBytes)),
          .operand = operand};
}

}  // namespace vinci::isa::insn
