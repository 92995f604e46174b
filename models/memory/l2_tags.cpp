// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/l2_tags.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "isa/base/error.h"

namespace vinci::models {

L2Tags::Lines::Page L2Tags::Lines::none_{};

L2Tags::Lines::Page& L2Tags::Lines::add_page(u64 page) {
  if (page >= pages_.size()) pages_.resize(page + 1, &none_);
  if (free_.empty()) free_.push_back(made_.emplace_back(std::make_unique<Page>()).get());
  pages_[page] = free_.back();
  free_.pop_back();
  return *pages_[page];
}

L2Tags::L2Tags(u64 bytes, u64 line_bytes, u32 ways)
    : set_(std::max<u64>(1, bytes / line_bytes / ways)),
      ways_(ways),
      sets_(set_.servers()),
      numbers_(set_.servers() * ways) {
  VINCI_CHECK(ways <= std::numeric_limits<u8>::max());
}

void L2Tags::put_in_order(u64 set) {
  std::array<std::pair<u64, Way>, std::numeric_limits<u8>::max()> uses;
  const u32 lines = sets_[set].lines;
  for (u32 n = 0; n < lines; ++n) {
    const Way number = way(set, n);
    Line& line = lines_.at(number);
    line.use_ &= ~Line::kMoved;
    uses[n] = {line.use_, number};
  }
  std::sort(uses.begin(), uses.begin() + lines);
  for (u32 n = 0; n < lines; ++n)
    way(set, n) = uses[n].second;
}

L2Tags::Allocated L2Tags::allocate(u64 number, u32 note) {
  const u64 index = set_of(number);
  Set& set = sets_[index];
  u64 written_back = kNone;
  Way& place = way(index, set.lines == ways_ ? 0 : set.lines);
  if (set.lines == ways_) [[likely]] {
    Line* victim = &lines_.at(place);
    if ((victim->use_ & Line::kMoved) != 0) {
      put_in_order(index);
      victim = &lines_.at(place);
    }
    // Lines that came one after the other go one after the other, and their sets are neighbours.
    prefetch(place + kAhead);
    __builtin_prefetch(&place + 2 * kAhead);
    if (victim->dirty()) written_back = place;
    lines_.remove(place, *victim);
    set.first = set.first + 1u < ways_ ? set.first + 1 : 0;
  } else {
    ++set.lines;
  }
  place = number;
  Line& line = lines_.add(number);
  line.use_ = next_use() | u64{note} << 2;
  return {.line = line, .written_back = written_back};
}

std::vector<u64> L2Tags::used_since(u64 moment) const {
  std::vector<std::pair<u64, u64>> uses;
  lines_.each([&](u64 number, const Line& line) {
    if (line.use_ / Line::kUse > moment / Line::kUse) uses.emplace_back(line.use_, number);
  });
  std::ranges::sort(uses);
  std::vector<u64> out;
  out.reserve(uses.size());
  for (const auto& [use, number] : uses)
    out.push_back(number);
  return out;
}

std::optional<bool> L2Tags::drop(u64 number) {
  Line& line = lines_.at(number);
  if (line.use_ == 0) return std::nullopt;
  const bool dirty = line.dirty();
  const u64 index = set_of(number);
  Set& set = sets_[index];
  u32 n = 0;
  while (way(index, n) != number)
    ++n;
  for (--set.lines; n < set.lines; ++n)
    way(index, n) = way(index, n + 1);
  lines_.remove(number, line);
  return dirty;
}

}  // namespace vinci::models
