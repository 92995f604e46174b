// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/memory/l2_tags.h"

#include "isa/base/error.h"

namespace vinci::models {

L2Tags::L2Tags(u64 bytes, u64 line_bytes, u32 ways)
    : sets_(std::max<u64>(1, bytes / line_bytes / ways)),
      ways_(ways),
      groups_of_set_(static_cast<u32>((ways + kGroup - 1) / kGroup)),
      groups_(sets_.by() * groups_of_set_) {}

void L2Tags::fail_far_line() { fail(Fault::Internal, "an address beyond what the tags of L2 can tell apart"); }

u64 L2Tags::line_of(const Place& place) const {
  const u64 tag = place.tag - 1;
  const u64 turn = turn_of(tag);
  return tag * sets_.by() + (place.set >= turn ? place.set - turn : place.set + sets_.by() - turn);
}

L2Tags::Line L2Tags::oldest_of(Group* set) const {
  if (!set->used) {
    set->used = true;
    for (u32 w = 0; w < groups_of_set_ * kGroup; ++w)
      set[w / kGroup].age[w % kGroup] = static_cast<i8>(w);
  }
  for (u32 g = 0;; ++g) {
    if (const u32 w = ways::one_past_equal(set[g].age, static_cast<i8>(ways_ - 1)); w != 0) return {set + g, w - 1};
  }
}

L2Tags::Allocated L2Tags::allocate(const Place& place) {
  Group* const set = set_at(place.set);
  const Line line = oldest_of(set);
  make_youngest(set, line);
  Allocated out{.line = line};
  Group& group = *line.group_;
  u32& tag = group.tags[line.way_];
  if (line.dirty()) out.written_back = line_of({.set = place.set, .tag = tag});
  tag = place.tag;
  group.dirty &= static_cast<u16>(~(1u << line.way_));
  group.filled[line.way_] = 0;
  return out;
}

std::optional<bool> L2Tags::drop(const Place& place) {
  const Line line = look_up(place);
  if (!line) return std::nullopt;
  Group* const set = set_at(place.set);
  const bool dirty = line.dirty();
  line.group_->tags[line.way_] = 0;
  line.group_->dirty &= static_cast<u16>(~(1u << line.way_));
  // It is the next to be taken; who was older is younger by one.
  i8& age = line.group_->age[line.way_];
  for (u32 w = 0; w < ways_; ++w) {
    i8& other = set[w / kGroup].age[w % kGroup];
    if (other > age) --other;
  }
  age = static_cast<i8>(ways_ - 1);
  return dirty;
}

}  // namespace vinci::models
