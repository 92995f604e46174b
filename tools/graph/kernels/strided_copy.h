// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <vector>

#include "tools/graph/kernels/rows.h"

namespace vinci::graph {

// Nodes that move elements without arithmetic, as copies whose positions are linear in the indices.
struct StridedCopy {
  usize input = 0;  // of the group
  usize output = 0;
  Dims dims = {};  // of what is copied
  StridedTensor from = {}, to = {};
};

// None where the node is something else, or depends on operands that are no constants.
std::optional<std::vector<StridedCopy>> strided_copies(const Group& group);

}  // namespace vinci::graph
