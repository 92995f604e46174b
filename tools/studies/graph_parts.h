// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "tools/graph/compile/network.h"
#include "tools/graph/ops/graph_builder.h"
#include "tools/studies/study.h"

// What the studies of the graph compiler share.
namespace vinci::studies {

// Switches with these passes off.
graph::Switches without(std::initializer_list<std::string_view> passes);

// Nodes of a graph, branches and their contents included, that compute something. In a graph whose shapes are all
// known, a Reshape is none: it costs nothing.
usize computing_nodes(const graph::Graph& graph);
usize nodes_of_type(const graph::Graph& graph, std::string_view type);

// Bytes of all outputs of a run of a network.
std::vector<std::vector<std::byte>> outputs_of(const graph::Network& network, const Run& run);

// A constant of one number.
graph::Value* number(graph::GraphBuilder& net, graph::DataType type, double value);
// A node with a branch for each list of operators, which follow each other; the first one gets all operands.
graph::Node* branches(graph::GraphBuilder& net, std::string_view type, graph::Value* condition,
                      const std::vector<graph::Value*>& operands,
                      const std::vector<std::vector<std::string_view>>& bodies);

}  // namespace vinci::studies
