// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/cost/ub_banks.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace vinci::models {
namespace {

constexpr u64 kBlock = 32;

bool same_blocks(const isa::Access& a, const isa::Access& b) {
  return a.address / kBlock == b.address / kBlock && a.repeats.block_stride == b.repeats.block_stride &&
         a.repeats.stride == b.repeats.stride;
}

// What the operands of one step want of the banks.
struct Wanted {
  struct Part {
    u64 region = 0;
    u64 groups = 0;  // a bit for each
  };
  std::array<Part, isa::Footprint::kMaxAccesses> parts{};
  usize size = 0;
  u32 most = 0;  // blocks in the group where most meet

  bool meets(const Wanted& other) const {
    for (usize i = 0; i < size; ++i)
      for (usize j = 0; j < other.size; ++j)
        if (parts[i].region == other.parts[j].region && (parts[i].groups & other.parts[j].groups) != 0) return true;
    return false;
  }
};

Wanted wanted(const isa::Footprint& footprint, u32 step, bool write, const config::UbBanks& banks) {
  Wanted out;
  std::array<u8, config::UbBanks::kMaxGroups> count{};
  for (const isa::Access& a : footprint) {
    const isa::Access::Repeats& r = a.repeats;
    if (a.write != write || a.buffer != isa::BufId::UB || step < r.first || step - r.first >= r.count) continue;
    const bool shared = std::any_of(footprint.begin(), &a, [&](const isa::Access& before) {
      return before.write == write && before.repeats.count > 0 && same_blocks(before, a);
    });
    if (shared) continue;
    const u64 first = a.address + u64{step - r.first} * r.stride;
    Wanted::Part& part = out.parts[out.size++];
    part.region = first / banks.region;
    for (u32 b = 0; b < (r.block_stride == 0 ? 1 : r.blocks); ++b) {
      const u64 group = (first + u64{b} * r.block_stride) / kBlock % banks.groups;
      part.groups |= u64{1} << group;
      out.most = std::max<u32>(out.most, ++count[group]);
    }
  }
  return out;
}

// After so many steps all operands are back in the groups where they began.
u32 period(const isa::Footprint& footprint, const config::UbBanks& banks) {
  u32 out = 1;
  for (const isa::Access& a : footprint)
    if (a.repeats.count > 0)
      out = std::lcm(out, banks.groups / std::gcd(banks.groups, static_cast<u32>(a.repeats.stride / kBlock)));
  return out;
}

}  // namespace

double ub_conflicts(const isa::Footprint& footprint, const config::UbBanks& banks) {
  if (banks.groups == 0) return 0;
  u32 steps = 0;
  for (const isa::Access& a : footprint)
    steps = std::max(steps, a.repeats.first + a.repeats.count);
  if (steps == 0) return 0;
  const u32 looked_at = std::min(steps, period(footprint, banks));
  double conflicts = 0;
  Wanted read = wanted(footprint, 0, false, banks);
  for (u32 s = 0; s < looked_at; ++s) {
    const Wanted write = wanted(footprint, s, true, banks);
    conflicts += std::max({read.most, write.most, 1u}) - 1;
    read = wanted(footprint, s + 1, false, banks);
    // Where the reads take two cycles, the bank is free in one of them (bank_conflict_ub, scenario 3).
    if (read.most <= 1 && write.meets(read)) conflicts += banks.read_write;
  }
  return conflicts * steps / looked_at;
}

double cycles_in_ub(const config::CostLine& line, const isa::Footprint& footprint, const config::UbBanks& banks) {
  const auto partly = [&](u64 unit) {
    return std::any_of(footprint.begin(), footprint.end(),
                       [&](const isa::Access& a) { return a.write && a.len % unit != 0; });
  };
  return line.of_law(0.0, [&](const auto& law) -> decltype(law.per_conflict) {
    double cycles = law.per_conflict == 0 ? 0 : law.per_conflict * ub_conflicts(footprint, banks);
    if constexpr (requires { law.partial; })
      if (partly(law.unit)) cycles += law.partial;
    return cycles;
  });
}

}  // namespace vinci::models
