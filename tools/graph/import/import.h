// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tools/graph/import/model.h"

namespace vinci::graph {

// Names of operators, without their domains.
using CustomOps = std::set<std::string, std::less<>>;

struct ImportOptions {
  // Shapes of inputs by name (--input_shape); a model with unknown extents needs them.
  std::map<std::string, Shape> input_shapes = {};
  // Operators that kernels of the user compute (--custom_op).
  CustomOps custom_ops = {};
  // Data of the inputs of the graph, for which extents that follow from data are bound; empty: they stay unknown, and
  // the network does not compile.
  std::function<std::vector<Array>(const Graph&)> data = {};
  // Shapes of inputs, by name, with the extents that are not known while compiling; input_shapes has those of the run.
  std::map<std::string, Shape> declared_shapes = {};
};

// A node of the model and whether it can be imported.
struct NodeSupport {
  std::string node, op;
  std::string reason;  // "" where it is supported
};

// The graph of a model: its nodes as operators of tools/graph/ops, types and shapes inferred. Throws
// Fault::Unsupported, which names the first node that cannot be imported and says how many others there are.
std::unique_ptr<Graph> import_model(const Model& model, const ImportOptions& options = {});

// For each node of the model, in order, with those of bodies behind theirs.
std::vector<NodeSupport> supported_nodes(const Model& model, const CustomOps& custom_ops = {});

}  // namespace vinci::graph
