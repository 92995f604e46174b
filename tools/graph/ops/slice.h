// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <vector>

#include "tools/graph/ir/graph.h"

namespace vinci::graph {

// First element, step and number of elements of each axis.
struct Slices {
  std::vector<i64> start, step, count;
};
// Of a slice of a tensor of `dims`, by the operands of StridedSliceV2; no axes: the first ones, no steps: 1.
Slices slices_of(const Node& node, std::span<const i64> dims, std::span<const i64> starts, std::span<const i64> ends,
                 std::span<const i64> axes, std::span<const i64> steps);

}  // namespace vinci::graph
