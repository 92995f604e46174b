// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/l2_tags.h"

#include <utility>

namespace vinci::models {

L2Tags::Lines::Page L2Tags::Lines::none_{};

L2Tags::Line& L2Tags::Lines::add(u64 number) {
  const u64 page = number / kPage;
  if (page >= pages_.size()) pages_.resize(page + 1, &none_);
  if (pages_[page] == &none_) {
    if (free_.empty()) free_.push_back(made_.emplace_back(std::make_unique<Page>()).get());
    pages_[page] = free_.back();
    free_.pop_back();
  }
  ++pages_[page]->held;
  return pages_[page]->lines[number % kPage];
}

void L2Tags::Lines::remove(u64 number) {
  Page*& page = pages_[number / kPage];
  page->lines[number % kPage] = {};
  if (--page->held == 0) free_.push_back(std::exchange(page, &none_));
}

L2Tags::L2Tags(u64 bytes, u64 line_bytes, u32 ways)
    : sets_(std::max<u64>(1, bytes / line_bytes / ways)), ways_(ways), groups_(sets_.by() * ceil_div(ways, kGroup)) {}

u64 L2Tags::set_of(u64 number) const {
  const auto [region, member] = sets_(number);
  const u64 set = member + scattered(region, sets_.by());
  return set < sets_.by() ? set : set - sets_.by();
}

void L2Tags::prefetch_set(u64 number) const {
  const u64 set = set_of(number);
  for (u32 w = 0; w < ways_; w += kGroup)
    __builtin_prefetch(&way(set, w));
}

void L2Tags::prefetch_lines_of_set(u64 number) const {
  const u64 set = set_of(number);
  for (u32 w = 0; w < ways_ && way(set, w) != 0; ++w)
    prefetch(way(set, w) - 1);
}

L2Tags::Way& L2Tags::oldest_of(u64 set) {
  Way* oldest = nullptr;
  u64 least = ~u64{0};
  for (u32 w = 0; w < ways_; ++w) {
    Way& candidate = way(set, w);
    if (candidate == 0) return candidate;
    const u64 use = lines_.at(candidate - 1).use_;
    oldest = use < least ? &candidate : oldest;
    least = std::min(use, least);
  }
  return *oldest;
}

L2Tags::Allocated L2Tags::allocate(u64 number, u32 note) {
  Way& way = oldest_of(set_of(number));
  std::optional<u64> written_back;
  if (way != 0) {
    if (lines_.at(way - 1).dirty()) written_back = way - 1;
    lines_.remove(way - 1);
  }
  Line& line = lines_.add(number);
  line.use_ = next_use() | u64{note} << 1;
  way = number + 1;
  return {.line = line, .written_back = written_back};
}

std::optional<bool> L2Tags::drop(u64 number) {
  const Line& line = lines_.at(number);
  if (line.use_ == 0) return std::nullopt;
  const bool dirty = line.dirty();
  const u64 set = set_of(number);
  u32 w = 0;
  while (way(set, w) != number + 1)
    ++w;
  way(set, w) = 0;
  lines_.remove(number);
  return dirty;
}

}  // namespace vinci::models
