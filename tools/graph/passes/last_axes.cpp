// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <numeric>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

// Kernels of reductions, of Softmax and of selections work along the last axes: a transpose brings the others there.
// ArgMax and ArgMin of few elements are faster along another axis.
namespace vinci::graph {
namespace {

Node* node_before(Graph& graph, std::string_view type, const std::vector<Value*>& inputs, Attributes attributes,
                  const Node& before) {
  Node* const made = graph.add_node(type, before.name + "/" + std::string(type), inputs, 1, &before);
  made->origins = before.origins;
  made->attributes = std::move(attributes);
  infer(*made);
  return made;
}

Value* constant_of(Graph& graph, const std::string& name, const std::vector<i64>& values) {
  Array a(DataType::i64, {std::ssize(values)});
  a.values.assign(values.begin(), values.end());
  return graph.add_constant(name, Tensor(a));
}

// Which axes a reduction has; none where they are not known or are the last ones.
std::vector<bool> reduced_in_front(const Node& node) {
  const usize rank = node.input(0)->shape.rank();
  if (node.input(1) == nullptr || !node.input(1)->constant) return {};
  std::vector<bool> reduced(rank);
  for (const i64 a : node.input(1)->constant->array().integers())
    reduced[axis_of(node, a, rank)] = true;
  // Axes of one element are where they need to be.
  const auto first = std::ranges::find(reduced, true);
  const bool last = std::all_of(first, reduced.end(), [](bool r) { return r; });
  return last ? std::vector<bool>{} : reduced;
}

Visit reduce_last(Graph& graph, Node& node) {
  const std::vector<bool> reduced = reduced_in_front(node);
  if (reduced.empty() || !node.output()->shape.known()) return Visit::none;
  std::vector<i64> perm, axes;
  for (const bool which : {false, true}) {
    for (usize a = 0; a < reduced.size(); ++a) {
      if (reduced[a] == which) perm.push_back(static_cast<i64>(a));
    }
  }
  for (i64 a = 1; a <= std::ranges::count(reduced, true); ++a)
    axes.push_back(-a);
  Node* const turned = node_before(graph, "TransposeD", {node.input(0)}, {{"perm", perm}}, node);
  Attributes attributes = node.attributes;
  attributes["keepdims"] = i64{0};
  Node* const made = node_before(graph, node.type, {turned->output(), constant_of(graph, node.name + "/axes", axes)},
                                 attributes, node);
  Value* const shape = constant_of(graph, node.name + "/shape", node.output()->shape.dims());
  Node* const out = node_before(graph, "Reshape", {made->output(), shape}, {}, node);
  take_place(graph, *out, {}, node.output());
  graph.erase(&node);
  return Visit::gone;
}

// A node along an axis whose outputs have the axes of its input.
Visit along_last(Graph& graph, Node& node) {
  const usize rank = node.input(0)->shape.rank();
  const usize axis = axis_of(node, node.integer("axis", -1), rank);
  if (axis + 1 == rank) return Visit::none;
  std::vector<i64> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[axis], perm[rank - 1]);  // its own inverse
  std::vector<Value*> operands{node_before(graph, "TransposeD", {node.input(0)}, {{"perm", perm}}, node)->output()};
  for (usize i = 1; i < node.inputs().size(); ++i)
    operands.push_back(node.input(i));
  Node* const made = graph.add_node(node.type, node.name + "/" + node.type, operands, node.outputs().size(), &node);
  made->origins = node.origins;
  made->attributes = node.attributes;
  made->attributes["axis"] = i64{-1};
  infer(*made);
  for (usize i = 0; i < node.outputs().size(); ++i) {
    Node* const out = node_before(graph, "TransposeD", {made->output(i)}, {{"perm", perm}}, node);
    take_place(graph, *out, {}, node.output(i));
  }
  graph.erase(&node);
  return Visit::gone;
}

// Finds the extreme element along an axis of the transposed operand.
Visit replace_extreme(Graph& graph, Node& node, Value* operand, const std::vector<i64>& perm, i64 axis) {
  Node* const turned = node_before(graph, "TransposeD", {operand}, {{"perm", perm}}, node);
  Attributes attributes = node.attributes;
  attributes["axis"] = axis;
  attributes["keepdims"] = i64{0};
  Node* const made = node_before(graph, node.type, {turned->output()}, attributes, node);
  Value* const shape = constant_of(graph, node.name + "/shape", node.output()->shape.dims());
  Node* const out = node_before(graph, "Reshape", {made->output(), shape}, {}, node);
  take_place(graph, *out, {}, node.output());
  graph.erase(&node);
  return Visit::gone;
}

// The first (last) of the numbers of the elements that equal the extreme one of their row. In mode saturation the
// extreme one of rows with infinity is the largest number.
Visit compare_with_extreme(Graph& graph, Node& node, u64 extent, const Target& target) {
  Value* const in = node.input(0);
  const bool largest = node.type == "ArgMaxV2", last = node.integer("select_last_index") != 0;
  const auto columns = static_cast<i64>(extent);
  Maker make(graph, node);
  Value* rows = make.reshape(in, {static_cast<i64>(in->shape.elements()) / columns, columns});
  Value* const axes = make.integers({1});
  Value* const most = make(largest ? "ReduceMax" : "ReduceMin", {rows, axes}, {{"keepdims", i64{1}}});
  if (in->type == DataType::f16 && target.chip->numerics.overflow_mode == isa::OverflowMode::saturation) {
    constexpr double kLargest = 65504;
    rows = make("ClipByValue", {rows, make.number(in->type, -kLargest), make.number(in->type, kLargest)});
  }
  Array numbers(in->type, {columns});
  std::iota(numbers.values.begin(), numbers.values.end(), 0);
  Value* const chosen = make("SelectV2", {make("Equal", {rows, most}), make.constant(numbers),
                                          make.number(in->type, last ? 0 : static_cast<double>(extent - 1))});
  make.replace({make(last ? "ReduceMax" : "ReduceMin", {chosen, axes}, {{"keepdims", i64{0}}})});
  return Visit::gone;
}

// The position of the extreme element along an axis. Many rows of few elements are columns that are compared row by
// row. On joint cores wider ones are compared with what is extreme, as far as their type counts the columns, and others
// are searched one by one.
Visit move_extreme(Graph& graph, Node& node, const Target& target) {
  constexpr u64 kManyRows = 256;
  Value* const in = node.input(0);
  const usize rank = in->shape.rank();
  const AroundAxis a = around_axis(in->shape.dims(), axis_of(node, node.integer("axis"), rank));
  if (a.inner == 1) {
    const u64 counted = in->type == DataType::f16 ? u64{1} << 11 : u64{1} << 24;
    if (a.extent < 2 || a.outer < kManyRows) return Visit::none;
    if (is_joint(*target.chip) && a.extent > kMostExtremeRows && a.extent <= counted && in->type != DataType::bf16)
      return compare_with_extreme(graph, node, a.extent, target);
    if (a.extent > kMostExtremeRows) return Visit::none;
    const Dims flat{static_cast<i64>(a.outer), static_cast<i64>(a.extent)};
    Node* const rows = node_before(graph, "Reshape", {in, constant_of(graph, node.name + "/rows", flat)}, {}, node);
    return replace_extreme(graph, node, rows->output(), {1, 0}, 0);
  }
  if (a.extent <= kMostExtremeRows || node.integer("select_last_index") != 0) return Visit::none;
  std::vector<i64> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  const auto axis = perm.begin() + static_cast<std::ptrdiff_t>(axis_of(node, node.integer("axis"), rank));
  std::rotate(axis, axis + 1, perm.end());
  return replace_extreme(graph, node, in, perm, -1);
}

}  // namespace

Visit move_axes_last(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || node.inputs().empty() || node.input(0) == nullptr) return Visit::none;
  const Shape& in = node.input(0)->shape;
  if (!in.known() || in.rank() < 2) return Visit::none;
  if (node.type == "SoftmaxV2" || node.type == "LogSoftmaxV2") return along_last(graph, node);
  // Integers are sorted on the scalar unit, along any axis.
  const bool sorts = is_float(node.input(0)->type) && node.output()->shape.known();
  if (sorts && node.type == "TopKV2") return along_last(graph, node);
  if (sorts && (node.type == "ArgMaxV2" || node.type == "ArgMin")) return move_extreme(graph, node, target);
  if (!node.type.starts_with("Reduce") || kAxisReductionKernel.refuses(Group(node), *target.chip).empty())
    return Visit::none;
  return reduce_last(graph, node);
}

}  // namespace vinci::graph
