// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/graph/compile/network.h"

namespace vinci::graph {

// Places for all values that the tasks use. With `reuse`, values whose lives do not overlap may share memory.
MemoryPlan plan_memory(const Graph& graph, bool reuse);

}  // namespace vinci::graph
