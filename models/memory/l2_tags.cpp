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
    : sets_(std::max<u64>(1, bytes / line_bytes / ways)),
      ways_(ways),
      table_(sets_.by() * ways),
      lines_(sets_.by() * ways),
      stamp_(sets_.by()) {}

L2Tags::Set L2Tags::set_of(u64 line) const {
  const auto [tag, member] = sets_(line);
  const u64 set = member + turn_of(tag, sets_.by());
  return {.number = set < sets_.by() ? set : set - sets_.by(), .tag = static_cast<u32>(tag + 1)};
}

u64 L2Tags::line_of(const Set& set) const {
  const u64 tag = set.tag - 1;
  const u64 turn = turn_of(tag, sets_.by());
  return tag * sets_.by() + (set.number >= turn ? set.number - turn : set.number + sets_.by() - turn);
}

std::optional<u64> L2Tags::way_of(const Set& set) const {
  const Way* const ways = table_.at(set.number * ways_);
  for (u32 w = 0; w < ways_; ++w) {
    if (ways[w].tag == set.tag) return set.number * ways_ + w;
  }
  return std::nullopt;
}

L2Line* L2Tags::find(u64 line) {
  const Set set = set_of(line);
  const std::optional<u64> way = way_of(set);
  if (!way) return nullptr;
  table_.at(*way)->used = ++*stamp_.at(set.number);
  return lines_.at(*way);
}

L2Tags::Allocated L2Tags::allocate(u64 line) {
  VINCI_CHECK(sets_(line).quotient < ~u32{0});  // tags have 32 bits
  const Set set = set_of(line);
  Way* const ways = table_.at(set.number * ways_);
  const auto victim = static_cast<u64>(
      std::min_element(ways, ways + ways_, [](const Way& a, const Way& b) { return a.used < b.used; }) - ways);
  L2Line* const place = lines_.at(set.number * ways_ + victim);
  Allocated out{.line = place};
  if (place->dirty) out.written_back = line_of({.number = set.number, .tag = ways[victim].tag});
  ways[victim] = {.tag = set.tag, .used = ++*stamp_.at(set.number)};
  *place = {};
  return out;
}

std::optional<L2Line> L2Tags::drop(u64 line) {
  const std::optional<u64> way = way_of(set_of(line));
  if (!way) return std::nullopt;
  const L2Line was = *lines_.at(*way);
  *table_.at(*way) = {};
  *lines_.at(*way) = {};
  return was;
}

}  // namespace vinci::models
