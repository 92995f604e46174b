// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/spread.h"

#include <algorithm>
#include <functional>

namespace vinci::graph {
namespace {

// Registers VA `index` and the next one: 16 addresses.
void set_addresses(isa::ProgramBuilder& p, u32 index, const std::function<u64(u64)>& at) {
  for (u64 half = 0; half < 2; ++half) {
    const auto a = [&](u64 i) { return isa::Value(at(half * 8 + i)); };
    p.set_va_reg_sb(index + half, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7));
  }
}

}  // namespace

void spread_numbers(isa::ProgramBuilder& p, u64 blocks, u64 numbers, u64 count) {
  set_addresses(p, 0, [&](u64) { return numbers; });
  set_addresses(p, 2, [&](u64 i) { return blocks + i * 32; });
  const u64 repeats = ceil_div<u64>(count, 16);
  // A single repeat would begin one stride on.
  p.scatter_vnchwconv_b16(2, 0, repeats, repeats == 1 ? 0 : 16, repeats == 1 ? 0 : 1);
  p.pipe_barrier(isa::PipeId::V);
}

void gather_numbers(isa::ProgramBuilder& p, u64 numbers, u64 blocks, u64 apart, u64 count, u64 trash) {
  for (u64 first = 0; first < count; first += 16) {
    set_addresses(p, 0, [&](u64 i) { return blocks + std::min(first + i, count - 1) * apart; });
    set_addresses(p, 2, [&](u64 i) { return i == 0 ? numbers + first * 2 : trash + i * 32; });
    p.scatter_vnchwconv_b16(2, 0, 1, 0, 0);
    p.pipe_barrier(isa::PipeId::V);
  }
}

}  // namespace vinci::graph
