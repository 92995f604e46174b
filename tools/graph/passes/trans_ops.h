// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/graph/passes/pass.h"

// Transposes as kernels of a chip move them.
namespace vinci::graph {

Visit transpose_by_blocks(Graph& graph, Node& node, const Target& target);

}  // namespace vinci::graph
