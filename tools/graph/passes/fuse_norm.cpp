// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <numbers>

#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Normalisations and activations that exporters write as several nodes.
namespace vinci::graph {
namespace {

// The mean over the last axes, with the axes kept; the first of these axes.
std::optional<i64> mean_over_last(const Node* node) {
  if (node == nullptr || node->integer("keepdims", 1) == 0 || node->input(1) == nullptr || !node->input(1)->constant)
    return std::nullopt;
  const Shape& in = node->input(0)->shape;
  if (!in.ranked()) return std::nullopt;
  const auto rank = std::ssize(in.dims());
  std::vector<bool> reduced(in.rank());
  i64 first = rank;
  for (i64 a : node->input(1)->constant->array().integers()) {
    a = a < 0 ? a + rank : a;
    reduced[static_cast<usize>(a)] = true;
    first = std::min(first, a);
  }
  for (i64 a = first; a < rank; ++a) {
    if (!reduced[static_cast<usize>(a)]) return std::nullopt;
  }
  return first < rank ? std::optional(first) : std::nullopt;
}

// x - mean(x) of a Sub; null where it is something else.
Value* centred(const Node* sub) {
  if (sub == nullptr) return nullptr;
  const Node* const mean = producer(sub->input(1), "ReduceMean");
  return mean != nullptr && mean->input(0) == sub->input(0) ? sub->input(0) : nullptr;
}

// A node that multiplies with, or adds, a constant of the shape of the normalised axes.
Value* affine_operand(const Graph& graph, const Value* from, std::string_view type, i64 axis, Node*& user) {
  user = graph.sole_user(from);
  if (user == nullptr || user->type != type) return nullptr;
  Value* const operand = other_operand(*user, from);
  if (operand == nullptr || !operand->constant) return nullptr;
  const Dims& dims = from->shape.dims();
  const Dims tail(dims.begin() + axis, dims.end());
  return operand->shape.dims() == tail ? operand : nullptr;
}

}  // namespace

// RealDiv(d, Sqrt(mean(d^2) + eps)), d = x - mean(x); behind it optionally Mul and Add of constants. The walk meets the
// RealDiv first; nodes behind it stay in place, so the affine part is taken by taking over their operands.
Visit fuse_layer_norm(Graph& graph, Node& node) {
  // The last node of the pattern: RealDiv, the Mul behind it, or the Add behind that.
  if (node.type != "RealDiv" && node.type != "Mul" && node.type != "Add") return Visit::none;
  Value *gamma = nullptr, *beta = nullptr;
  std::vector<Node*> parts{&node};
  Node* last = &node;
  const auto step_back = [&](std::string_view type, Value*& operand) {
    if (last->type != type) return;
    for (const usize i : {usize{0}, usize{1}}) {
      Node* const before = last->input(i) == nullptr ? nullptr : last->input(i)->producer();
      if (before == nullptr || last->input(1 - i) == nullptr || !last->input(1 - i)->constant) continue;
      if (before->type != "RealDiv" && !(type == "Add" && before->type == "Mul")) continue;
      operand = last->input(1 - i);
      last = before;
      parts.push_back(before);
      return;
    }
  };
  if (node.type == "Add") step_back("Add", beta);
  if (last->type == "Mul") step_back("Mul", gamma);
  if (last->type != "RealDiv") return Visit::none;
  const Node& divide = *last;
  Node* const sub = producer(divide.input(0), "Sub");
  Value* const x = centred(sub);
  Node* const root = producer(divide.input(1), "Sqrt");
  Node* const sum = root == nullptr ? nullptr : producer(root->input(0), "Add");
  if (x == nullptr || sum == nullptr) return Visit::none;
  const auto epsilon = scalar_operand(*sum);
  Node* const mean = epsilon ? producer(epsilon->value, "ReduceMean") : nullptr;
  if (mean == nullptr) return Visit::none;
  const Node* const power = mean->input(0)->producer();
  const bool square = power != nullptr &&
                      ((power->type == "Pow" && scalar_is(power->input(1), 2)) ||
                       (power->type == "Mul" && power->input(0) == power->input(1))) &&
                      centred(producer(power->input(0), "Sub")) == x;
  if (!square) return Visit::none;
  // The nodes behind the RealDiv would say the same.
  const auto refused = [&](std::string reason) {
    return &node == &divide ? Visit::refused({&node}, std::move(reason)) : Visit(Visit::none);
  };
  const auto axis = mean_over_last(mean);
  if (!axis) return refused("its means are not over the last axes, which stay with the extent 1");
  if (mean_over_last(producer(sub->input(1), "ReduceMean")) != axis)
    return refused("its means are over different axes");
  // Mul and Add behind it are visited later: they find LayerNorm's pattern again and take all of it.
  Node* user = nullptr;
  if (&node == &divide && affine_operand(graph, node.output(), "Mul", *axis, user) != nullptr) return Visit::none;
  if (node.type == "Mul" && affine_operand(graph, node.output(), "Add", *axis, user) != nullptr) return Visit::none;
  const Dims tail(x->shape.dims().begin() + *axis, x->shape.dims().end());
  for (const Value* const operand : {gamma, beta}) {
    if (operand != nullptr && operand->shape.dims() != tail) return Visit::none;
  }
  for (const Node* const part : parts) {
    if (part == &node) continue;
    const Value* const between = part->output();
    std::string reason = other_use(graph, between, between->uses().empty() ? node : *between->uses()[0].node);
    if (!reason.empty()) return Visit::refused({part, &node}, std::move(reason));
  }
  Node* const made = graph.add_node("LayerNorm", divide.name, {x}, 1, &node);
  if (gamma == nullptr && beta != nullptr)
    gamma = graph.add_constant(node.name + "/gamma",
                               Tensor(Array(x->type, tail, std::vector<double>(element_count(tail), 1))));
  if (gamma != nullptr) made->add_input(gamma);
  if (beta != nullptr) made->add_input(beta);
  made->attributes = {{"axis", *axis}, {"epsilon", epsilon->scalar}};
  Join join = join_before(graph, node, {});
  take_place(graph, *made, {&node}, node.output());
  for (usize i = 1; i < parts.size(); ++i)
    made->origins.insert(made->origins.end(), parts[i]->origins.begin(), parts[i]->origins.end());
  erase_unused(graph, &node);
  return {Visit::gone, std::move(join)};
}

// x * (1 + erf(x / sqrt 2)) / 2, with the factors in any order.
Visit fuse_gelu(Graph& graph, Node& node) {
  if (node.type != "Mul") return Visit::none;
  // All factors of the product: one 1/2, x, and 1 + erf(...).
  std::vector<Value*> factors;
  Node* shared = nullptr;  // a product of two of them that others use
  bool half = false;
  const auto take = [&](const Node& product) {
    for (Value* const v : product.inputs()) {
      if (scalar_is(v, 0.5) && !half) {
        half = true;
      } else {
        factors.push_back(v);
      }
    }
  };
  take(node);
  std::vector<Node*> products;
  for (Value* const v : factors) {
    if (Node* const inner = producer(v, "Mul"); inner != nullptr) products.push_back(inner);
  }
  // One that only this product uses, if there is one.
  const auto apart = [&](const Node* n) { return !other_use(graph, n->output(), node).empty(); };
  std::ranges::stable_sort(products, {}, apart);
  if (!products.empty()) {
    Node* const inner = products.front();
    if (apart(inner)) shared = inner;
    factors.erase(std::ranges::find(factors, inner->output()));
    take(*inner);
  }
  if (!half || factors.size() != 2) return Visit::none;
  for (const usize i : {usize{0}, usize{1}}) {
    Node* const sum = producer(factors[i], "Add");
    Value* const x = factors[1 - i];
    const auto one = sum == nullptr ? std::nullopt : scalar_operand(*sum);
    if (!one || std::abs(one->scalar - 1) > 1e-3) continue;
    Node* const erf = producer(one->value, "Erf");
    Node* const scaled = erf == nullptr ? nullptr : erf->input(0)->producer();
    if (scaled == nullptr) continue;
    const bool divided =
        scaled->type == "RealDiv" && scaled->input(0) == x && scalar_is(scaled->input(1), std::numbers::sqrt2);
    const auto factor = scalar_operand(*scaled);
    const bool multiplied = scaled->type == "Mul" && factor && factor->value == x &&
                            std::abs(factor->scalar - 1 / std::numbers::sqrt2) < 1e-3;
    if (!divided && !multiplied) continue;
    if (shared != nullptr) return Visit::refused({shared, &node}, other_use(graph, shared->output(), node));
    Node* const made = graph.add_node("Gelu", node.name, {x}, 1, &node);
    Join join = join_before(graph, node, {});
    take_place(graph, *made, {&node, sum, erf, scaled}, node.output());
    erase_unused(graph, &node);
    return {Visit::gone, std::move(join)};
  }
  return Visit::none;
}

Visit divide_by_constant(Graph& graph, Node& node) {
  if (node.type != "RealDiv" || !is_float(node.output()->type)) return Visit::none;
  const auto divisor = scalar(node.input(1));
  if (!divisor) return Visit::none;
  if (*divisor == 0) return Visit::refused({&node}, "it divides by zero");
  if (node.input(1)->shape.rank() > node.input(0)->shape.rank())
    return Visit::refused({&node}, "the divisor has more axes than the dividend");
  Value* const factor = graph.add_constant(
      node.name + "/factor", Tensor(Array(node.input(1)->type, node.input(1)->shape.dims(), {1 / *divisor})));
  Node* const made = graph.add_node("Mul", node.name, {node.input(0), factor}, 1, &node);
  take_place(graph, *made, {&node}, node.output());
  graph.erase(&node);
  return Visit::gone;
}

}  // namespace vinci::graph
