// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "tools/graph/kernels/kernel.h"

// Element-wise nodes in ND some of whose operands are repeated to the shape of the result: tiles are rows.
namespace vinci::graph {

// Elements of the rows of the group.
u64 row_width(const Group& group);
bool in_rows(const Group& group);
std::string rows_refuse(const Group& group);
std::vector<Tiling> row_elementwise_tilings(const Group& group, const config::ChipConfig& chip);
Footprint row_elementwise_footprint(const Group& group, const Tiling& tiling);
KernelProgram row_elementwise_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling);

}  // namespace vinci::graph
