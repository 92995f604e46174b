// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <vector>

#include "tools/graph/kernels/rows.h"

namespace vinci::graph {

// Nodes that move elements without arithmetic, as copies whose positions are linear in the indices. A map in NC1HWC0
// has axes for images, blocks of channels, rows, columns, and the 16 channels of a block.
struct StridedCopy {
  usize input = 0;  // of the group
  usize output = 0;
  Dims dims = {};  // of what is copied
  StridedTensor from = {}, to = {};
};

// None where the node is something else, or depends on operands that are no constants.
std::optional<std::vector<StridedCopy>> strided_copies(const Group& group);

// The copy of a group that is one node, and one copy of a tensor in ND to another one; else none.
std::optional<StridedCopy> sole_copy(const Group& group);

// Formats in which a node copies whole blocks of 16 channels of f16 maps, where operands of it are in NC1HWC0 or a
// kernel wants its result so. None where elements move inside of blocks.
std::optional<Formats> block_formats(const Node& node);

}  // namespace vinci::graph
