// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/sem/va_blocks.h"

#include <algorithm>
#include <functional>

#include "isa/insns/vector.h"

namespace vinci::isa::insn {
namespace {

std::vector<BlockSet> equally_spaced(std::span<const u32> sorted) {
  std::vector<BlockSet> sets;
  for (usize i = 0; i < sorted.size();) {
    BlockSet s{.first = sorted[i]};
    if (i + 1 < sorted.size()) s.stride = sorted[i + 1] - sorted[i];
    for (++i; i < sorted.size() && sorted[i] - sorted[i - 1] == s.stride; ++i)
      ++s.count;
    sets.push_back(s);
  }
  return sets;
}

// Runs of adjacent blocks, as columns of 64 B are: the first blocks of all runs, the second ones, and so on.
std::vector<BlockSet> by_place_in_run(std::span<const u32> sorted) {
  std::vector<std::vector<u32>> places;
  for (usize i = 0, place = 0; i < sorted.size(); ++i) {
    place = i > 0 && sorted[i] - sorted[i - 1] == kBlockBytes ? place + 1 : 0;
    if (place == places.size()) places.emplace_back();
    places[place].push_back(sorted[i]);
  }
  std::vector<BlockSet> out;
  for (const std::vector<u32>& blocks : places) {
    const std::vector<BlockSet> sets = equally_spaced(blocks);
    out.insert(out.end(), sets.begin(), sets.end());
  }
  return out;
}

std::vector<BlockSet> ranges(std::span<const u32> sorted, usize most) {
  std::vector<usize> cuts;  // indices of blocks that start a range
  for (usize i = 1; i < sorted.size(); ++i)
    cuts.push_back(i);
  std::ranges::stable_sort(cuts, std::greater{}, [&](usize i) { return sorted[i] - sorted[i - 1]; });
  cuts.resize(std::min(cuts.size(), most - 1));
  std::ranges::sort(cuts);
  cuts.push_back(sorted.size());
  std::vector<BlockSet> out;
  usize from = 0;
  for (const usize to : cuts) {
    out.push_back({.first = sorted[from], .range = sorted[to - 1] - sorted[from] + kBlockBytes});
    from = to;
  }
  return out;
}

}  // namespace

std::vector<BlockSet> block_sets(std::span<const u32> addresses, usize most) {
  std::vector<u32> sorted(addresses.begin(), addresses.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<BlockSet> sets = equally_spaced(sorted);
  if (sets.size() > most) sets = by_place_in_run(sorted);
  return sets.size() <= most ? sets : ranges(sorted, most);
}

Access access_of(const BlockSet& set, u32 repeat, u32 repeat_stride, bool write, std::string_view name) {
  const bool joined = set.count > 1 && set.stride == kBlockBytes;
  const u32 len = set.range != 0 ? set.range : joined ? set.count * kBlockBytes : kBlockBytes;
  return {.buffer = BufId::UB,
          .write = write,
          .align = static_cast<u16>(kBlockBytes),
          .address = set.first,
          .len = len,
          .count = {joined ? 1 : set.count, repeat_stride == 0 ? 1 : repeat, 1},
          .stride = {set.stride, repeat_stride, 0},
          .operand = name,
          .unit = set.range != 0 ? set.range : kBlockBytes};
}

}  // namespace vinci::isa::insn
