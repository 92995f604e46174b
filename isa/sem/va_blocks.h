// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <vector>

#include "isa/table/exec.h"
#include "isa/table/insn.h"

// Blocks of UB at the addresses of VA registers.
namespace vinci::isa::insn {

// Byte addresses of the `count` VA registers from `first` on, eight each.
template <usize Count>
std::array<u32, Count * kVaBlocks> va_addresses(const Spr& spr, u8 first) {
  if (first + Count > kVaRegisters) {
    fail(Fault::Program, "VA{}: {} registers from there on are needed, but the last is VA{}", first, Count,
         kVaRegisters - 1);
  }
  std::array<u32, Count * kVaBlocks> addresses{};
  for (usize i = 0; i < addresses.size(); ++i)
    addresses[i] = u32{spr.parameters->va[first + i / kVaBlocks][i % kVaBlocks]} * 32;
  return addresses;
}

// `count` blocks of 32 bytes, `stride` bytes apart; or one range that also covers the gaps between some blocks.
struct BlockSet {
  u32 first = 0;  // byte address
  u32 count = 1;
  u32 stride = 0;
  u32 range = 0;  // bytes of a range; 0: the set is exact
};

// Blocks as few sets of equally spaced ones; each address counts once. Where that takes more than `most` sets, `most`
// ranges, cut where the gaps are widest.
std::vector<BlockSet> block_sets(std::span<const u32> addresses, usize most);

// What such blocks touch in `repeat` repeats, `repeat_stride` bytes apart. A range may cover bytes that no block has.
Access access_of(const BlockSet& set, u32 repeat, u32 repeat_stride, bool write, std::string_view name);

}  // namespace vinci::isa::insn
