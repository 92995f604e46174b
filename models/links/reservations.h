// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <iterator>
#include <map>

#include "isa/base/types.h"

namespace vinci::models {

// When a link is taken. A transfer over two links waits for both, which leaves gaps on the one that is free earlier; a
// later request may use them. Times in any unit; requests come in the order of time.
class Reservations {
 public:
  // The first time from `from` on at which the link is free for `length`.
  u64 earliest(u64 from, u64 length) const {
    auto it = taken_.upper_bound(from);
    if (it != taken_.begin()) from = std::max(from, std::prev(it)->second);
    for (; it != taken_.end() && it->first - from < length; ++it)
      from = it->second;
    return from;
  }

  // Takes the link from `begin`, which earliest() gave; forgets what was over at `now`.
  void take(u64 now, u64 begin, u64 length) {
    busy_ += length;
    while (!taken_.empty() && taken_.begin()->second <= now)
      taken_.erase(taken_.begin());
    if (length == 0) return;
    u64 end = begin + length;
    const auto next = taken_.lower_bound(begin);
    if (next != taken_.end() && next->first == end) {
      end = next->second;
      taken_.erase(next);
    }
    const auto after = taken_.lower_bound(begin);
    if (after != taken_.begin() && std::prev(after)->second == begin) {
      std::prev(after)->second = end;
    } else {
      taken_[begin] = end;
    }
  }

  u64 busy() const { return busy_; }

 private:
  std::map<u64, u64> taken_;  // begin -> end, neither overlapping nor touching
  u64 busy_ = 0;
};

}  // namespace vinci::models
