// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "isa/arch.h"
#include "isa/base/types.h"

namespace vinci::isa::check {

// Of each pipe of a block, how many of its instructions are known to be finished. An instruction of pipe p with
// position n (the first is 1) comes before whoever knows marks[p] >= n.
using Marks = std::array<u32, kPipeCount>;

inline void join(Marks& into, const Marks& from) {
  for (usize p = 0; p < kPipeCount; ++p)
    into[p] = std::max(into[p], from[p]);
}

// What one pipe knows: marks of its own block, and of the blocks of the same task that it has heard of through
// cross-core flags.
struct Clock {
  using Others = std::map<u32, Marks>;  // by actor: a core in one block of a task

  Marks own{};
  std::shared_ptr<const Others> others;  // shared because it is copied often and changes rarely; null: none

  void join(const Clock& from) {
    check::join(own, from.own);
    if (from.others != nullptr && from.others != others) join_others(*from.others);
  }
  void join_others(const Others& from) {
    auto all = others != nullptr ? std::make_shared<Others>(*others) : std::make_shared<Others>();
    for (const auto& [actor, marks] : from)
      check::join((*all)[actor], marks);
    others = std::move(all);
  }
  // What is known of a pipe of another actor.
  u32 of(u32 actor, PipeId pipe) const {
    if (others == nullptr) return 0;
    const auto it = others->find(actor);
    return it == others->end() ? 0 : it->second[index(pipe)];
  }
};

}  // namespace vinci::isa::check
