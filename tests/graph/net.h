// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/graph/ops/graph_builder.h"

namespace vinci::graph {

using Net = GraphBuilder;

}  // namespace vinci::graph
