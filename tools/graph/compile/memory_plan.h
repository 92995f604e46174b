// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <compare>
#include <map>

#include "tools/graph/ir/graph.h"

namespace vinci::graph {

// Where values are in device memory.
struct MemoryPlan {
  // control: what chooses branches, apart from what kernels touch, so that runs without data know it.
  enum class Area : u8 { input, weights, features, control };
  struct Place {
    Area area = Area::features;
    u64 offset = 0;  // in the area; of an input, its number
  };
  std::map<const Value*, Place> places;
  u64 weights = 0;   // bytes of the area of constants
  u64 features = 0;  // of the area of values in between: the peak
  u64 control = 0;
  // Of the values in between: the sum of all, and the most that is alive at a time, which no plan can undercut.
  u64 without_reuse = 0, lower_bound = 0;
};

// Where a node runs: streams of one part run side by side, parts one behind the other (partition.h).
struct StreamPlace {
  u32 part = 0, stream = 0;

  auto operator<=>(const StreamPlace&) const = default;
};
using StreamPlaces = std::map<const Node*, StreamPlace>;  // with the nodes of branches

// Places for all values that the tasks use. With `reuse`, values whose lives do not overlap may share memory, as far as
// one stream orders them. Without `streams` there is one.
MemoryPlan plan_memory(const Graph& graph, bool reuse, const StreamPlaces& streams = {});

}  // namespace vinci::graph
