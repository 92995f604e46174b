// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/graph_parts.h"

#include <algorithm>
#include <string>

#include "tools/graph/compile/storage.h"

namespace vinci::studies {

using graph::Graph, graph::Network, graph::Node, graph::Value;

namespace {

bool all_known(const Graph& graph) {
  return std::ranges::all_of(graph.nodes(), [](const auto& node) {
    return std::ranges::all_of(node->outputs(), [](const Value* v) { return v->shape.known(); });
  });
}

}  // namespace

graph::Switches without(std::initializer_list<std::string_view> passes) {
  graph::Switches out;
  for (const std::string_view pass : passes)
    out.passes.insert_or_assign(std::string(pass), false);
  return out;
}

usize computing_nodes(const Graph& graph) {
  usize out = 0;
  for (const auto& node : graph.nodes()) {
    if (all_known(graph) && graph::is_alias(*node)) continue;
    ++out;
    if (!node->branches()) continue;
    for (const auto& body : node->bodies)
      out += computing_nodes(*body);
  }
  return out;
}

usize nodes_of_type(const Graph& graph, std::string_view type) {
  return static_cast<usize>(std::ranges::count_if(graph.nodes(), [&](const auto& n) { return n->type == type; }));
}

std::vector<std::vector<std::byte>> outputs_of(const Network& network, const Run& run) {
  std::vector<std::vector<std::byte>> out;
  for (const Value* const v : network.graph->outputs)
    out.push_back(run.values<std::byte>("out_" + v->name));
  return out;
}

Value* number(graph::GraphBuilder& net, graph::DataType type, double value) {
  return net.graph.add_constant("number", graph::Tensor(graph::Array(type, {}, {value})));
}

Node* branches(graph::GraphBuilder& net, std::string_view type, Value* condition, const std::vector<Value*>& operands,
               const std::vector<std::vector<std::string_view>>& bodies) {
  Node* const node = net.graph.add_node(type, type, {condition});
  for (Value* const v : operands)
    node->add_input(v);
  for (const std::vector<std::string_view>& operators : bodies) {
    Graph& body = *node->bodies.emplace_back(std::make_unique<Graph>("branch"));
    std::vector<Value*> in;
    for (const Value* const v : operands)
      in.push_back(body.add_input("in", v->type, v->shape));
    for (const std::string_view op : operators)
      in = {body.add_node(op, op, in)->output()};
    body.outputs = in;
  }
  infer(*node);
  return node;
}

}  // namespace vinci::studies
