// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <compare>
#include <map>
#include <vector>

#include "isa/check/clock.h"
#include "isa/cross_core.h"

namespace vinci::isa::check {

// What cross-core flags carry from core to core. The counters work in rounds: the n-th wait of a core for a flag is
// released by the n-th set of each of its partners, whose clocks are kept here.
class CrossRounds {
 public:
  // `nth` counts the sets of this core in that mode and for that flag, from 0.
  void set(u32 task, u32 block, CoreKind kind, const CrossCoreSet& what, u32 nth, const Clock& released) {
    std::vector<Clock>& rounds = rounds_[{task, what.flag, what.mode, what.mode == 0 ? 0 : block, kind}];
    if (rounds.size() <= nth) rounds.resize(nth + 1);
    rounds[nth].join(released);
  }

  // All that the `nth` wait of a core for a flag comes after, from 0.
  Clock wait(u32 task, u32 block, CoreKind kind, u32 flag, u32 nth) const {
    const CoreKind other = kind == CoreKind::cube ? CoreKind::vector : CoreKind::cube;
    Clock out;
    for (const Key& key :
         {Key{task, flag, 0, 0, kind}, Key{task, flag, 1, block, kind}, Key{task, flag, 2, block, other}}) {
      const auto it = rounds_.find(key);
      if (it != rounds_.end() && nth < it->second.size()) out.join(it->second[nth]);
    }
    return out;
  }

 private:
  struct Key {
    u32 task = 0, flag = 0, mode = 0, block = 0;  // block: 0 in mode 0, which joins all
    CoreKind kind = CoreKind::cube;               // of who sets
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, std::vector<Clock>> rounds_;
};

}  // namespace vinci::isa::check
