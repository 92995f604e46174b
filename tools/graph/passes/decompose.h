// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/graph/ir/graph.h"
#include "tools/graph/passes/pass.h"

// Parts of DecompositionPass: each puts other nodes in the place of one, or returns false.
namespace vinci::graph {

bool decompose_convolution(Graph& graph, Node& node);
bool decompose_convolution_of_volumes(Graph& graph, Node& node);
bool decompose_cumsum(Graph& graph, Node& node, const Target& target);
bool decompose_depth_to_space(Graph& graph, Node& node);
bool decompose_gather(Graph& graph, Node& node, const Target& target);
bool decompose_gather_elements(Graph& graph, Node& node);
bool decompose_one_hot(Graph& graph, Node& node);
bool decompose_pad(Graph& graph, Node& node, const Target& target);
bool decompose_pool_of_volumes(Graph& graph, Node& node, const Target& target);
bool decompose_resize(Graph& graph, Node& node, const Target& target);
bool decompose_scatter(Graph& graph, Node& node, const Target& target);
bool decompose_scatter_elements(Graph& graph, Node& node);
bool decompose_transposed_convolution(Graph& graph, Node& node);
bool decompose_transposed_convolution_of_volumes(Graph& graph, Node& node);

}  // namespace vinci::graph
