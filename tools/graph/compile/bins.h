// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "tools/graph/ir/graph.h"

// Dynamic bins: a network that is compiled for several extents of its inputs, of which each execution chooses one.
namespace vinci::graph {

// The name of the input that says which bin it is.
inline constexpr std::string_view kBinInput = "ascend_mbatch_shape_data";

// The network for each bin as a branch of one Case, whose number MapIndex finds for the input `kBinInput`. A bin has a
// value for each unknown extent of the inputs, in their order, or one for all of them where
// they are first axes. As GE's MultiBatchClonePass: inputs and outputs have the extents of the largest bin, and a bin
// uses the elements at the beginning; the value must be one of the bins. Throws Fault::Input for fewer than 2 or more
// than 100 bins, for equal ones, and for a number of values that the inputs do not have.
std::unique_ptr<Graph> clone_for_bins(const Graph& graph, const std::vector<std::vector<i64>>& bins);

}  // namespace vinci::graph
