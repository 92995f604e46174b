// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>

#include "isa/exec.h"
#include "isa/insn.h"

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

// What blocks at `addresses` touch in `repeat` repeats, `stride` bytes apart: at most `most` regular sets; addresses
// that need more are covered by one range from the lowest to the highest.
void add_block_accesses(Footprint& to, std::span<const u32> addresses, u32 repeat, u32 stride, bool write, usize most,
                        std::string_view name);

}  // namespace vinci::isa::insn
