// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "tools/graph/ir/graph.h"

namespace vinci::graph {

// A graph as text, a line for each node: outputs with type, shape and format, type of the node, inputs, attributes.
// Contents of constants with more than eight elements are left out.
std::string to_text(const Graph& graph);

// A node with its inputs and bodies in the same way, but without names: nodes that do the same have the same text.
std::string signature(const Node& node);

// A graph as a graph of Graphviz.
std::string to_dot(const Graph& graph);

}  // namespace vinci::graph
