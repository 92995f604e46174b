// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "tools/graph/compile/network.h"

// Networks some of whose shapes follow from data: nodes of known shapes are sunk in as few models as possible, the host
// launches the others one by one.
namespace vinci::graph {

// Brings nodes that run together next to each other, each behind the producers of its inputs and of what the host reads
// for it. Does nothing to a graph whose shapes are all known.
void order_parts(Graph& graph);

struct Part {
  bool sunk = true;                // as a model
  std::vector<const Node*> nodes;  // of the graph itself, in order; none is an alias
};
// The parts of a network whose nodes order_parts() has ordered.
std::vector<Part> parts_of(const Network& network);

// What the host reads before it launches a node.
std::vector<const Value*> host_reads(const Graph& graph, const Node& node);

}  // namespace vinci::graph
