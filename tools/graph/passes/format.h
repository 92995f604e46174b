// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>

#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {

// The formats that a kernel for maps needs; none where no such kernel computes the node.
std::optional<Formats> map_formats(const Node& node, const config::ChipConfig& chip);

}  // namespace vinci::graph
