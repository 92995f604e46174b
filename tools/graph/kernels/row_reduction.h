// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string_view>

#include "tools/graph/ir/graph.h"

// Reductions over the last axes of a tensor, as vector instructions.
namespace vinci::graph {

struct RowReduction {
  std::string_view type;         // of the node
  std::string_view each;         // vadd, vmax, vmin
  std::string_view before = {};  // of an element, in f32
  std::string_view after = {};   // of a sum
  bool mean = false;
};
// Null where the node is none.
const RowReduction* row_reduction(std::string_view type);

// How many of the last axes are reduced; none where others are.
std::optional<usize> last_reduced_axes(const Node& node);

}  // namespace vinci::graph
