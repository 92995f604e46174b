// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/l2_tags.h"

#include <algorithm>

#include "isa/base/error.h"

namespace vinci::models {
namespace {

// Where the sets of a region of as many lines as there are sets begin.
u64 turn_of(u64 tag, u64 sets) { return (((tag * 0x9E3779B97F4A7C15) >> 32) * sets) >> 32; }

}  // namespace

L2Tags::L2Tags(u64 bytes, u64 line_bytes, u32 ways)
    : sets_(std::max<u64>(1, bytes / line_bytes / ways)), ways_(ways), lines_(sets_.by() * ways) {}

L2Tags::Set L2Tags::set_of(u64 line) const {
  const auto [tag, member] = sets_(line);
  VINCI_CHECK(tag < ~u32{0});  // tags have 32 bits
  const u64 set = member + turn_of(tag, sets_.by());
  return {.number = set < sets_.by() ? set : set - sets_.by(), .tag = static_cast<u32>(tag + 1)};
}

u64 L2Tags::line_of(const Set& set) const {
  const u64 tag = set.tag - 1;
  const u64 turn = turn_of(tag, sets_.by());
  return tag * sets_.by() + (set.number >= turn ? set.number - turn : set.number + sets_.by() - turn);
}

L2Line* L2Tags::way_of(const Set& set) const {
  L2Line* const ways = lines_.at(set.number * ways_);
  for (u32 w = 0; w < ways_; ++w) {
    if (ways[w].tag == set.tag) return ways + w;
  }
  return nullptr;
}

L2Line* L2Tags::find(u64 line) {
  const Set set = set_of(line);
  L2Line* const way = way_of(set);
  if (way == nullptr) return nullptr;
  L2Line* const ways = lines_.at(set.number * ways_);
  if (way == ways) return ways;
  const L2Line found = *way;
  std::move_backward(ways, way, way + 1);
  *ways = found;
  return ways;
}

L2Tags::Allocated L2Tags::allocate(u64 line) {
  const Set set = set_of(line);
  L2Line* const ways = lines_.at(set.number * ways_);
  const L2Line victim = ways[ways_ - 1];
  Allocated out{.line = ways};
  if (victim.dirty) out.written_back = line_of({.number = set.number, .tag = victim.tag});
  std::move_backward(ways, ways + ways_ - 1, ways + ways_);
  *ways = {.tag = set.tag};
  return out;
}

std::optional<L2Line> L2Tags::drop(u64 line) {
  const Set set = set_of(line);
  L2Line* const way = way_of(set);
  if (way == nullptr) return std::nullopt;
  const L2Line was = *way;
  L2Line* const end = lines_.at(set.number * ways_) + ways_;
  std::move(way + 1, end, way);
  end[-1] = {};
  return was;
}

}  // namespace vinci::models
