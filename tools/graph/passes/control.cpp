// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/graph/ops/op.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Nodes with branches.
namespace vinci::graph {
namespace {

// The branch that a constant condition chooses.
const Graph* chosen(const Node& node) {
  const auto condition = scalar(node.input(0));
  return condition ? node.bodies[chosen_branch(node, *condition)].get() : nullptr;
}

// Copies the nodes of a body in front of the node, with these inputs; `suffix` tells copies of one body apart. Returns
// the values that are the outputs of the body there.
std::vector<Value*> inline_body(Graph& graph, Node& node, const Graph& body, const std::vector<Value*>& inputs,
                                const std::string& suffix = "") {
  std::unordered_map<const Value*, Value*> to{{nullptr, nullptr}};
  for (usize i = 0; i < body.inputs.size(); ++i)
    to[body.inputs[i]] = inputs.at(i);
  const auto here = [&](const Value* v) {
    if (const auto at = to.find(v); at != to.end()) return at->second;
    return to[v] = graph.add_constant(v->name, *v->constant);
  };
  for (const auto& from : body.nodes()) {
    std::vector<Value*> operands;
    for (const Value* const v : from->inputs())
      operands.push_back(here(v));
    Node* const made = graph.add_node(from->type, from->name + suffix, operands, from->outputs().size(), &node);
    made->attributes = from->attributes;
    made->origins = from->origins;
    if (graph.unknown_shape(node)) made->origins.insert(made->origins.end(), node.origins.begin(), node.origins.end());
    for (const auto& inner : from->bodies)
      made->bodies.push_back(inner->clone());
    for (usize i = 0; i < from->outputs().size(); ++i)
      to[from->output(i)] = made->output(i);
    infer(*made);
  }
  std::vector<Value*> out;
  for (const Value* const v : body.outputs)
    out.push_back(here(v));
  return out;
}

// The results take the places of the outputs of the node, with their names. A result that is no result of a node of its
// own is copied; IdentityPass removes the copy where it can.
void hand_on(Graph& graph, Node& node, const std::vector<Value*>& results, const std::set<const Value*>& own) {
  std::set<const Value*> named;
  for (usize i = 0; i < node.outputs().size(); ++i) {
    Value* made = results[i];
    if (made == nullptr) continue;  // nothing uses it
    if (!own.contains(made) || !named.insert(made).second) {
      made = graph.add_node("Identity", node.name, {made}, 1, &node)->output();
      if (graph.unknown_shape(node)) made->producer()->origins = node.origins;
      infer(*made->producer());
    }
    std::swap(made->name, node.output(i)->name);
    graph.replace(node.output(i), made);
  }
  graph.erase(&node);
}

// A turn goes on whatever it computes.
bool always_goes_on(const Graph& body) {
  const Value* condition = body.outputs[0];
  while (condition->producer() != nullptr && condition->producer()->type == "Identity")
    condition = condition->producer()->input(0);
  const auto value = scalar(condition);
  return condition == body.inputs[1] || (value && *value != 0);
}

}  // namespace

Visit remove_condition(Graph& graph, Node& node) {
  if (!node.branches()) return Visit::none;
  const Graph* const body = chosen(node);
  if (body == nullptr) return Visit::refused({&node}, "the condition is no constant");
  if (node.has(kBins)) return Visit::refused({&node}, "its branches are bins");
  const std::vector<Value*> inputs(node.inputs().begin() + 1, node.inputs().end());
  const std::vector<Value*> results = inline_body(graph, node, *body, inputs);
  std::set<const Value*> own;
  for (usize i = 0; i < results.size(); ++i) {
    if (body->outputs[i]->producer() != nullptr) own.insert(results[i]);
  }
  hand_on(graph, node, results, own);
  return Visit::gone;
}

Visit unroll_loop(Graph& graph, Node& node) {
  constexpr double kMostTurns = 256;
  constexpr usize kMostNodes = 20'000;
  if (node.type != "While") return Visit::none;
  const Graph& body = *node.bodies.at(0);
  const auto turns = scalar(node.input(0));
  const auto begins = node.input(1) == nullptr ? std::optional(1.0) : scalar(node.input(1));
  const auto carried = static_cast<usize>(node.integer("carried"));
  if (turns && *turns < 1) {
    for (usize i = carried; i < node.outputs().size(); ++i) {
      if (graph.use_count(node.output(i)) > 0) return Visit::refused({&node}, "it stacks results of no turns");
    }
    std::vector<Value*> results(node.outputs().size());
    std::copy_n(node.inputs().begin() + 2, carried, results.begin());
    hand_on(graph, node, results, {});
    return Visit::gone;
  }
  if (!turns || !begins || !(*begins != 0 && always_goes_on(body)))
    return Visit::refused({&node}, "the number of its turns is not known");
  if (*turns > kMostTurns || *turns * static_cast<double>(body.nodes().size()) > kMostNodes)
    return Visit::refused({&node}, "it has too many turns");
  std::vector<Value*> inputs(node.inputs().begin(), node.inputs().end());
  std::vector<std::vector<Value*>> pieces(node.outputs().size() - carried);
  Array go(DataType::boolean, {});
  go.values = {1};
  inputs[1] = graph.add_constant(node.name + "/go", Tensor(go));
  for (u32 turn = 0; turn < static_cast<u32>(*turns); ++turn) {
    Array number(DataType::i64, {});
    number.values = {static_cast<double>(turn)};
    inputs[0] = graph.add_constant(node.name + "/turn", Tensor(number));
    const std::vector<Value*> made = inline_body(graph, node, body, inputs, "/" + std::to_string(turn));
    std::copy_n(made.begin() + 1, carried, inputs.begin() + 2);
    for (usize i = 0; i < pieces.size(); ++i)
      pieces[i].push_back(made[1 + carried + i]);
  }
  Maker make(graph, node);
  std::vector<Value*> results(inputs.begin() + 2, inputs.begin() + 2 + static_cast<std::ptrdiff_t>(carried));
  for (std::vector<Value*>& list : pieces) {
    for (Value*& v : list)
      v = make("Unsqueeze", {v, make.integers({0})});
    results.push_back(list.size() == 1 ? list[0] : make("ConcatD", list, {{"axis", i64{0}}}));
  }
  hand_on(graph, node, results, {});
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
