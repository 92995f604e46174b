// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <set>
#include <unordered_map>
#include <utility>

#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Nodes with branches.
namespace vinci::graph {
namespace {

// The branch that a constant condition chooses.
const Graph* chosen(const Node& node) {
  const auto condition = scalar(node.input(0));
  if (!condition) return nullptr;
  if (node.type == "If") return node.bodies[*condition != 0 ? 0 : 1].get();
  const usize last = node.bodies.size() - 1;
  const bool there = *condition >= 0 && *condition < static_cast<double>(last);
  return node.bodies[there ? static_cast<usize>(*condition) : last].get();
}

}  // namespace

Visit remove_condition(Graph& graph, Node& node) {
  if (!node.branches()) return Visit::none;
  const Graph* const body = chosen(node);
  if (body == nullptr) return Visit::refused({&node}, "the condition is no constant");
  if (node.has(kBins)) return Visit::refused({&node}, "its branches are bins");
  std::unordered_map<const Value*, Value*> to{{nullptr, nullptr}};
  for (usize i = 0; i < body->inputs.size(); ++i)
    to[body->inputs[i]] = node.input(i + 1);
  const auto here = [&](const Value* v) {
    if (const auto at = to.find(v); at != to.end()) return at->second;
    return to[v] = graph.add_constant(v->name, *v->constant);
  };
  for (const auto& from : body->nodes()) {
    std::vector<Value*> inputs;
    for (const Value* const v : from->inputs())
      inputs.push_back(here(v));
    Node* const made = graph.add_node(from->type, from->name, inputs, from->outputs().size(), &node);
    made->attributes = from->attributes;
    made->origins = from->origins;
    for (const auto& inner : from->bodies)
      made->bodies.push_back(inner->clone());
    for (usize i = 0; i < from->outputs().size(); ++i)
      to[from->output(i)] = made->output(i);
    infer(*made);
  }
  std::set<const Value*> named;
  for (usize i = 0; i < body->outputs.size(); ++i) {
    Value* made = here(body->outputs[i]);
    const bool own = body->outputs[i]->producer() != nullptr && named.insert(made).second;
    if (!own) {
      // What the branch hands on keeps its name; IdentityPass removes the copy where it can.
      made = graph.add_node("Identity", node.name, {made}, 1, &node)->output();
      infer(*made->producer());
    }
    std::swap(made->name, node.output(i)->name);
    graph.replace(node.output(i), made);
  }
  graph.erase(&node);
  return Visit::gone;
}

Visit convert_condition(Graph& graph, Node& node) {
  if (!node.branches() || node.input(0)->type == DataType::i32 || node.input(0)->constant) return Visit::none;
  if (!node.input(0)->shape.known() || node.input(0)->shape.elements() != 1)
    return Visit::refused({&node}, "the condition is not one element");
  Node* const made = graph.add_node("Cast", node.name + "/condition", {node.input(0)}, 1, &node);
  made->attributes["to"] = static_cast<i64>(enum_index(DataType::i32));
  infer(*made);
  node.set_input(0, made->output());
  return Visit::changed;
}

}  // namespace vinci::graph
