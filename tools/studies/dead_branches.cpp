// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S21: branches whose condition is known.
#include <algorithm>

#include "tools/graph/compile/stream.h"
#include "tools/studies/graph_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using graph::DataType, graph::Graph, graph::GraphBuilder, graph::Node, graph::Shape, graph::Value;

// An If of a constant, and a Case whose number is beyond its branches.
GraphBuilder branching_network(const Study& study) {
  GraphBuilder net;
  Value* const x = net.input({static_cast<i64>(study.whole("rows")), 512}, DataType::f16);
  Value* const taken =
      branches(net, "If", number(net, DataType::boolean, 1), {x}, {{"Abs", "Sqrt"}, {"Exp", "Sqrt", "Exp"}})->output();
  net.output(branches(net, "Case", number(net, DataType::i32, 7), {taken}, {{"Exp"}, {"Exp", "Exp"}, {"SoftmaxV2"}})
                 ->output());
  return net;
}

// A While that does not turn once.
Graph& add_idle_loop(GraphBuilder& net) {
  Value* const x = net.input({64}, DataType::f16);
  Node* const loop = net.graph.add_node("While", "While", {net.integers({10}), number(net, DataType::boolean, 0), x});
  loop->attributes["carried"] = i64{1};
  Graph& body = *loop->bodies.emplace_back(std::make_unique<Graph>("body"));
  body.add_input("turn", DataType::i64, Shape());
  Value* const go = body.add_input("go", DataType::boolean, Shape());
  Value* const in = body.add_input("in", DataType::f16, x->shape);
  body.outputs = {go, body.add_node("Exp", "Exp", {in})->output()};
  infer(*loop);
  net.output(net.node("Relu", {loop->output()}));
  return net.graph;
}

}  // namespace

void dead_branches(Study& study) {
  const graph::Network network = graph::compile(std::move(branching_network(study).owned), study.chip());
  usize branching = 0;
  for (const auto& node : network.graph->nodes())
    branching += node->branches() ? 1 : 0;
  study.measured("branching_nodes", static_cast<double>(branching));
  const auto has = [&](std::string_view type) {
    return std::ranges::any_of(network.nodes, [&](const graph::CompiledNode& n) {
      return n.node->type == type || (!n.node->bodies.empty() && nodes_of_type(*n.node->bodies[0], type) > 0);
    });
  };
  study.measured("if_branch", has("Abs") ? 1 : 0);
  study.measured("last_branch", has("SoftmaxV2") ? 1 : 0);
  study.measured("dead_kernels", has("Exp") ? 1 : 0);

  const graph::Network kept = graph::compile(std::move(branching_network(study).owned), study.chip(),
                                             {.switches = without({"CondRemovePass"})});
  study.measured("tasks_without", static_cast<double>(kept.nodes.size() - network.nodes.size()));
  study.fact("weights and kernels of all branches: tasks", static_cast<double>(kept.nodes.size()), "");

  GraphBuilder loop;
  graph::optimise(add_idle_loop(loop));
  study.measured("loops", static_cast<double>(nodes_of_type(loop.graph, "While")));
}

}  // namespace vinci::studies
