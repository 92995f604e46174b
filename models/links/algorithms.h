// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "models/links/schedule_builder.h"

// The collectives as transfers, by the algorithm of a shape; schedule() is the door.
namespace vinci::models {

// The blocks that a collective deals with, one for each rank: block b has the elements at[b] to at[b + 1] of the work.
struct Blocks {
  std::vector<u64> at;

  // Blocks first to last - 1 of a rank to the same place of another.
  ScheduleBuilder::Move move(u32 step, u32 from, u32 to, u32 first, u32 last, bool reduce) const {
    return {.step = step,
            .from = from,
            .to = to,
            .src = at[first],
            .dst = at[first],
            .count = at[last] - at[first],
            .reduce = reduce};
  }
};

// Rank b ends with the sum of block b.
void reduce_scatter(const CollectiveShape& shape, const Blocks& blocks, ScheduleBuilder& out);
// Rank b begins with block b.
void all_gather(const CollectiveShape& shape, const Blocks& blocks, ScheduleBuilder& out);
void all_reduce(const CollectiveShape& shape, const Blocks& blocks, ScheduleBuilder& out);
void broadcast(const CollectiveShape& shape, const Blocks& blocks, ScheduleBuilder& out);

// Work of an all_to_all: n blocks to send, n blocks received, then room for blocks on their way.
u64 all_to_all_work(const CollectiveShape& shape);
void all_to_all(const CollectiveShape& shape, ScheduleBuilder& out);

// The ranks of each group, and the place of each rank in its group.
struct Groups {
  explicit Groups(const std::vector<u32>& group_of_rank);

  // Which rank of a group represents a rank of another group: the one of the same place, around where the group is
  // smaller.
  u32 agent(u32 of, u32 rank) const { return members[of][place[rank] % members[of].size()]; }
  u32 count() const { return static_cast<u32>(members.size()); }

  std::vector<std::vector<u32>> members;
  std::vector<u32> group, place;  // by rank
};

}  // namespace vinci::models
