// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <vector>

#include "tools/graph/ops/op.h"

namespace vinci::graph {

// Types and shapes of all values of a graph, in the order of its nodes.
void infer(Graph& graph);

struct RunOptions {
  // Floating-point results are rounded to their types; without it they stay double.
  bool rounded = true;
  // Changes the results of a node of the graph itself before anything uses them.
  std::function<void(const Value&, Array&)> adjust = {};
  // Told each value of the graph itself, not those of bodies, when it is there.
  std::function<void(const Value&, const Array&)> observe = {};
};

// Outputs of a graph for its inputs, computed on the host. Values that are not used any more are dropped.
std::vector<Array> run(const Graph& graph, std::vector<Array> inputs, const RunOptions& options = {});

// What branch `branch` of a node gets, of the inputs of the node behind the first one.
std::vector<Array> branch_inputs(const Node& node, usize branch, std::vector<Array> inputs);

// Values for the inputs of a graph: random, each rounded to the type of its input.
std::vector<Array> random_inputs(const Graph& graph, u64 seed);

}  // namespace vinci::graph
