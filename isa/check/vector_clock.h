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

// Of each pipe of a block, how many of its instructions are finished. An instruction of pipe p with position n (the
// first is 1) happens before what has counts[p] >= n.
using PipeCounts = std::array<u32, kPipeCount>;

inline void join(PipeCounts& into, const PipeCounts& from) {
  for (usize p = 0; p < kPipeCount; ++p)
    into[p] = std::max(into[p], from[p]);
}

// The vector clock of a pipe: counts of its own block, and of the other blocks of its task that released it through
// cross-core flags.
struct VectorClock {
  using Others = std::map<u32, PipeCounts>;  // by actor: a core in one block of a task

  PipeCounts own{};
  std::shared_ptr<const Others> others;  // shared because it is copied often and changes rarely; null: none

  void join(const VectorClock& from) {
    check::join(own, from.own);
    if (from.others != nullptr && from.others != others) join_others(*from.others);
  }
  void join_others(const Others& from) {
    auto all = others != nullptr ? std::make_shared<Others>(*others) : std::make_shared<Others>();
    for (const auto& [actor, marks] : from)
      check::join((*all)[actor], marks);
    others = std::move(all);
  }
  // The instructions of a pipe of another actor that are finished.
  u32 of(u32 actor, PipeId pipe) const {
    if (others == nullptr) return 0;
    const auto it = others->find(actor);
    return it == others->end() ? 0 : it->second[index(pipe)];
  }
};

}  // namespace vinci::isa::check
