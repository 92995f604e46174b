// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/calendar.h"

namespace vinci::sim {

u64 Calendar::first_later() {
  if (levels_ == 0) return kNever;
  LaterList& list = first_list();
  if (std::exchange(list.exact, true)) return list.bound;
  list.bound = kNever;
  for (const Entry* e = list.first; e != nullptr; e = e->next_)
    list.bound = std::min(list.bound, e->due_);
  return list.bound;
}

void Calendar::enter(u64 window) {
  const u32 n = level_of(window), at = list_of(window, n);
  Entry* e = later_[n].lists[at].first;
  vacate_later(n, at);
  window_ = window;
  while (e != nullptr)
    append(*std::exchange(e, e->next_));
}

}  // namespace vinci::sim
