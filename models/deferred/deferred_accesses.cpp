// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/deferred/deferred_accesses.h"

#include <algorithm>

namespace vinci::models {
namespace {

constexpr usize kMostReads = 4;

void extend(Rows& r, const Rows& by) {
  r = r.end == 0 ? Rows{by.begin, by.end} : Rows{std::min(r.begin, by.begin), std::max(r.end, by.end)};
}

u64 apart(const Rows& a, const Rows& b) {
  return a.end < b.begin ? b.begin - a.end : a.begin > b.end ? a.begin - b.end : 0;
}

bool any_meets(const std::vector<Rows>& list, const Rows& rows) {
  return std::ranges::any_of(list, [&](const Rows& r) { return r.meets(rows); });
}

}  // namespace

void DeferredAccesses::before(const Rows& rows, bool write, const Owner* who) {
  const auto in_the_way = [&](const Owner* owner) {
    return owner != who && (any_meets(owner->writes_, rows) || (write && any_meets(owner->reads_, rows)));
  };
  if (!rows.meets(all_writes_) && !(write && rows.meets(all_reads_))) return;
  for (auto i = std::ranges::find_if(owners_, in_the_way); i != owners_.end();
       i = std::ranges::find_if(owners_, in_the_way))
    (*i)->complete();
}

void DeferredAccesses::defer(Owner& who, const Rows& rows, bool write) {
  if (rows.begin == rows.end) return;
  if (who.reads_.empty() && who.writes_.empty()) owners_.push_back(&who);
  extend(write ? all_writes_ : all_reads_, rows);
  if (write) {
    who.writes_.push_back(rows);
    return;
  }
  // Reads are many and mostly side by side: a few ranges that hold them all are enough.
  const auto nearest = std::ranges::min_element(who.reads_, {}, [&](const Rows& r) { return apart(r, rows); });
  if (nearest != who.reads_.end() && (apart(*nearest, rows) == 0 || who.reads_.size() == kMostReads)) {
    extend(*nearest, rows);
  } else {
    who.reads_.push_back({rows.begin, rows.end});
  }
}

void DeferredAccesses::forget(Owner& who) {
  if (who.reads_.empty() && who.writes_.empty()) return;
  who.reads_.clear();
  who.writes_.clear();
  std::erase(owners_, &who);
  if (owners_.empty()) all_reads_ = all_writes_ = {};
}

}  // namespace vinci::models
