// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/graph/ir/graph.h"

// What patterns of passes ask.
namespace vinci::graph {

// The node that makes a value if it is of that type; null for inputs and constants.
inline Node* producer(const Value* value, std::string_view type) {
  Node* const node = value == nullptr ? nullptr : value->producer();
  return node != nullptr && node->type == type ? node : nullptr;
}

// Why a BatchNorm is no y = x * scale + offset with constants; "" where it is.
inline std::string norm_depends_on_data(const Node& norm) {
  if (norm.integer("training_mode") != 0) return "the normalisation is one of training";
  for (usize i = 1; i <= 4; ++i) {
    if (norm.input(i) == nullptr || !norm.input(i)->constant) return "an operand of the normalisation is no constant";
  }
  return "";
}

// A constant of one element.
inline std::optional<double> scalar(const Value* value) {
  if (value == nullptr || !value->constant || value->constant->elements() != 1) return std::nullopt;
  return value->constant->array().values[0];
}
// The same up to the rounding of the types that weights have.
inline bool scalar_is(const Value* value, double wanted) {
  const std::optional<double> s = scalar(value);
  return s && std::abs(*s - wanted) <= 1e-3 * std::abs(wanted);
}

// The operand that is not `other`, of a node of two operands; null where `other` is none of them.
inline Value* other_operand(const Node& node, const Value* other) {
  if (node.inputs().size() != 2) return nullptr;
  if (node.input(0) == other) return node.input(1);
  return node.input(1) == other ? node.input(0) : nullptr;
}
// The constant scalar operand of a node of two operands, and the other one.
struct ScalarOperand {
  Value* value = nullptr;
  double scalar = 0;
};
inline std::optional<ScalarOperand> scalar_operand(const Node& node) {
  for (const usize i : {usize{0}, usize{1}}) {
    if (const auto s = scalar(node.input(i))) return ScalarOperand{node.input(1 - i), *s};
  }
  return std::nullopt;
}

// Puts `node` in the place of `olds`: its output gets the name, type and shape of `old_output` and all uses of it, and
// the node gets the names of the model's nodes that they had.
inline void take_place(Graph& graph, Node& node, std::initializer_list<Node*> olds, Value* old_output) {
  std::string name = old_output->name;
  graph.replace(old_output, node.output());
  old_output->name += "/replaced";
  node.output()->name = std::move(name);
  node.output()->type = old_output->type;
  node.output()->shape = old_output->shape;
  for (const Node* const old : olds)
    node.origins.insert(node.origins.end(), old->origins.begin(), old->origins.end());
}

// A node and those that only it uses. One of them may be reached on several ways.
inline void erase_unused(Graph& graph, Node* node) {
  std::vector<Node*> open{node};
  std::set<const Node*> erased{nullptr};
  while (!open.empty()) {
    Node* const next = open.back();
    open.pop_back();
    if (erased.contains(next)) continue;
    const auto used = [&](const Value* output) { return graph.use_count(output) != 0; };
    if (std::ranges::any_of(next->outputs(), used)) continue;
    for (const Value* const input : next->inputs()) {
      if (input != nullptr) open.push_back(input->producer());
    }
    erased.insert(next);
    graph.erase(next);
  }
}

}  // namespace vinci::graph
