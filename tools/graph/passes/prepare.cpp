// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>

#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Shapes, constants, and nodes that do nothing.
namespace vinci::graph {
namespace {

// A constant with more elements than this is made where the network runs, unless the operands are as large.
constexpr u64 kMaxFoldedElements = u64{1} << 26;

}  // namespace

Visit bypass(Graph& graph, Node& node, Value* value) {
  Value* const output = node.output();
  if (graph.is_output(output)) {
    // The name of an output of the network stays.
    if (value->producer() == nullptr || graph.is_output(value))
      return Visit::refused({&node}, "its output and its input both have names that stay");
    std::swap(value->name, output->name);
  }
  graph.replace(output, value);
  graph.erase(&node);
  return Visit::gone;
}

namespace {

Visit become_constant(Graph& graph, Node& node, std::vector<Array> arrays) {
  for (usize i = 0; i < arrays.size(); ++i) {
    Value* const output = node.output(i);
    Value* const made = graph.add_constant(output->name, Tensor(arrays[i]));
    std::swap(made->name, output->name);
    graph.replace(output, made);
  }
  graph.erase(&node);
  return Visit::gone;
}

bool all_constant(const Node& node) {
  return std::ranges::all_of(node.inputs(), [](const Value* v) { return v == nullptr || v->constant.has_value(); });
}

}  // namespace

Visit infer_shape(Graph&, Node& node) { return infer(node) ? Visit::changed : Visit::none; }

Visit compute_dimension(Graph& graph, Node& node) {
  if (node.type != "Shape" && node.type != "Size") return Visit::none;
  const Shape& in = node.input(0)->shape;
  if (!in.ranked()) return Visit::refused({&node}, "the rank is not known");
  // An array without elements has the extents, which is all that is read.
  if (!in.known()) return Visit::refused({&node}, "an extent is not known");
  if (node.type == "Size")
    return become_constant(graph, node, {Array(DataType::i64, {}, {static_cast<double>(in.elements())})});
  const auto rank = static_cast<i64>(in.rank());
  const auto place = [&](i64 v) { return std::clamp<i64>(v < 0 ? v + rank : v, 0, rank); };
  Array dims(DataType::i64, node.output()->shape.dims());
  const i64 first = place(node.integer("start", 0));
  for (usize i = 0; i < dims.size(); ++i)
    dims.values[i] = static_cast<double>(in[static_cast<usize>(first) + i]);
  return become_constant(graph, node, {dims});
}

Visit fold_constant(Graph& graph, Node& node) {
  const Op* const op = find_op(node.type);
  if (op == nullptr || !op->foldable || !all_constant(node)) return Visit::none;
  u64 in = 0, out = 0;
  for (const Value* const v : node.inputs())
    in += v == nullptr ? 0 : v->constant->elements();
  for (const Value* const v : node.outputs())
    out += v->shape.known() ? v->shape.elements() : 0;
  if (out > std::max(kMaxFoldedElements, in))
    return Visit::refused({&node}, "the constant would have more elements than its operands, and more than 2^26");
  std::vector<Array> arrays;
  arrays.reserve(node.inputs().size());
  std::vector<const Array*> inputs;
  for (const Value* const v : node.inputs()) {
    if (v == nullptr) {
      inputs.push_back(nullptr);
    } else {
      arrays.push_back(v->constant->array());
      inputs.push_back(&arrays.back());
    }
  }
  return become_constant(graph, node, evaluate(node, std::move(inputs)));
}

Visit replace_empty(Graph& graph, Node& node) {
  const auto empty = [](const Value* v) { return v != nullptr && v->shape.known() && v->shape.elements() == 0; };
  if (!node.outputs().empty() && std::ranges::all_of(node.outputs(), empty)) {
    std::vector<Array> arrays;
    for (const Value* const v : node.outputs())
      arrays.emplace_back(v->type, v->shape.dims());
    return become_constant(graph, node, std::move(arrays));
  }
  if (node.type != "ConcatD" || std::ranges::none_of(node.inputs(), empty)) return Visit::none;
  std::vector<Value*> rest;
  std::ranges::remove_copy_if(node.inputs(), std::back_inserter(rest), empty);
  Node* const made = graph.add_node(node.type, node.name, rest, 1, &node);
  made->attributes = node.attributes;
  take_place(graph, *made, {&node}, node.output());
  graph.erase(&node);
  return Visit::gone;
}

Visit remove_identity(Graph& graph, Node& node) {
  return node.type == "Identity" ? bypass(graph, node, node.input(0)) : Visit::none;
}

Visit remove_dropout(Graph& graph, Node& node) {
  if (node.type != "Dropout") return Visit::none;
  if (node.outputs().size() > 1 && graph.use_count(node.output(1)) != 0)
    return Visit::refused({&node}, "its mask is used");
  if (const Value* const training = node.input(2); training != nullptr && scalar(training) != 0.0)
    return Visit::refused({&node}, "it is not known to be one of inference");
  return bypass(graph, node, node.input(0));
}

Visit remove_cast(Graph& graph, Node& node) {
  if (node.type != "Cast") return Visit::none;
  // A Boolean is 0 or 1 in each type between two casts.
  if (Node* const before = producer(node.input(0), "Cast");
      before != nullptr && before->input(0)->type == DataType::boolean) {
    Join join = join_of(graph, {before, &node});
    node.set_input(0, before->input(0));
    erase_unused(graph, before);
    return {Visit::changed, std::move(join)};
  }
  return node.output()->type == node.input(0)->type ? bypass(graph, node, node.input(0)) : Visit::none;
}

// A Tile of axes of extent 1 repeats as BroadcastTo does.
Visit repeat_as_broadcast(Graph& graph, Node& node) {
  const Shape &in = node.input(0)->shape, &out = node.output()->shape;
  if (!in.known() || in.rank() != out.rank()) return Visit::none;
  for (usize a = 0; a < in.rank(); ++a) {
    if (in[a] != out[a] && in[a] != 1) return Visit::none;
  }
  Array extents(DataType::i64, {std::ssize(out.dims())});
  std::ranges::copy(out.dims(), extents.values.begin());
  node.type = "BroadcastTo";
  node.set_input(1, graph.add_constant(node.name + "/extents", Tensor(extents)));
  return Visit::changed;
}

// To the extents that the operand has, or in front of an element-wise node whose other operands have them.
Visit remove_broadcast(Graph& graph, Node& node) {
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"Add", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "LogicalXor",
       "Maximum", "Minimum", "Mul", "RealDiv", "SelectV2", "Sub"});
  if (!node.output()->shape.known()) return Visit::none;
  if (node.type == "Tile") return repeat_as_broadcast(graph, node);
  if (node.type == "BroadcastTo" && node.input(0)->shape == node.output()->shape)
    return bypass(graph, node, node.input(0));
  if (std::ranges::find(kTypes, node.type) == kTypes.end()) return Visit::none;
  Visit visit = Visit::none;
  for (usize i = 0; i < node.inputs().size(); ++i) {
    Node* const before = producer(node.input(i), "BroadcastTo");
    if (before == nullptr || !before->input(0)->shape.known()) continue;
    // The extents without it, from the last axis on.
    Dims dims(node.output()->shape.rank(), 1);
    for (usize other = 0; other < node.inputs().size(); ++other) {
      const Shape& s = other == i ? before->input(0)->shape : node.input(other)->shape;
      if (!s.known()) return Visit::refused({before, &node}, "an extent is not known");
      for (usize a = 0; a < s.rank(); ++a) {
        i64& extent = dims[dims.size() - 1 - a];
        extent = std::max(extent, s[s.rank() - 1 - a]);
      }
    }
    if (dims != node.output()->shape.dims()) {
      visit.refuse({before, &node}, "the other operands do not have the extents of the result");
      continue;
    }
    Join join = join_of(graph, {before, &node});
    node.set_input(i, before->input(0));
    erase_unused(graph, before);
    return {Visit::changed, std::move(join)};
  }
  return visit;
}

// Only axes of extent 1 move: the order of the elements stays.
Visit remove_transpose(Graph& graph, Node& node) {
  if (node.type != "TransposeD" || !node.output()->shape.known()) return Visit::none;
  const Shape& in = node.input(0)->shape;
  std::vector<i64> perm = node.integers("perm");
  if (perm.empty()) {
    for (i64 i = std::ssize(in.dims()); i-- > 0;)
      perm.push_back(i);
  }
  i64 last = -1;
  for (const i64 p : perm) {
    const i64 axis = p < 0 ? p + std::ssize(in.dims()) : p;
    if (in[static_cast<usize>(axis)] == 1) continue;
    if (axis < last) return Visit::none;
    last = axis;
  }
  const Shape out = node.output()->shape;
  if (out == in) return bypass(graph, node, node.input(0));
  Array dims(DataType::i64, {std::ssize(out.dims())});
  std::ranges::transform(out.dims(), dims.values.begin(), [](i64 d) { return static_cast<double>(d); });
  Value* const shape = graph.add_constant(node.name + "/shape", Tensor(dims));
  Node* const made = graph.add_node("Reshape", node.name, {node.input(0), shape}, 1, &node);
  take_place(graph, *made, {&node}, node.output());
  graph.erase(&node);
  return Visit::gone;
}

namespace {

bool is_reshape(const Node& node) {
  return node.type == "Reshape" || node.type == "FlattenV2" || node.type == "Squeeze" || node.type == "Unsqueeze";
}

}  // namespace

// All forms become Reshape with constant extents, and of a chain only the last one is left.
Visit remove_reshape(Graph& graph, Node& node) {
  if (!is_reshape(node) || !node.output()->shape.known()) return Visit::none;
  Value* in = node.input(0);
  if (in->shape == node.output()->shape) return bypass(graph, node, in);
  const bool chained = in->producer() != nullptr && is_reshape(*in->producer());
  if (node.type == "Reshape" && !chained) return Visit::none;
  Node* const before = chained ? in->producer() : nullptr;
  if (chained) in = before->input(0);
  if (in->shape == node.output()->shape) {
    const Visit done = bypass(graph, node, in);
    if (done == Visit::gone) erase_unused(graph, before);
    return done;
  }
  const Dims& out = node.output()->shape.dims();
  Array dims(DataType::i64, {std::ssize(out)});
  std::ranges::transform(out, dims.values.begin(), [](i64 d) { return static_cast<double>(d); });
  Value* const shape = graph.add_constant(node.name + "/shape", Tensor(dims));
  Node* const made = graph.add_node("Reshape", node.name, {in, shape}, 1, &node);
  made->attributes["allowzero"] = i64{1};
  take_place(graph, *made, {&node}, node.output());
  graph.erase(&node);
  erase_unused(graph, before);
  return Visit::gone;
}

Visit remove_binary(Graph& graph, Node& node) {
  const bool sum = node.type == "Add" || node.type == "Sub", product = node.type == "Mul" || node.type == "RealDiv";
  if (!sum && !product) return Visit::none;
  const double neutral = sum ? 0 : 1;
  const bool either = node.type == "Add" || node.type == "Mul";
  for (const usize i : {usize{1}, usize{0}}) {
    if (i == 0 && !either) continue;
    if (scalar(node.input(i)) != neutral) continue;
    Value* const kept = node.input(1 - i);
    if (kept->shape != node.output()->shape || !kept->shape.known())
      return Visit::refused({&node}, "the result has another shape than the operand");
    return bypass(graph, node, kept);
  }
  return Visit::none;
}

Effect prune(Graph& graph) {
  const u32 gone = static_cast<u32>(graph.prune());
  return {gone, gone};
}

}  // namespace vinci::graph
