// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <numeric>
#include <span>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/pass.h"
#include "tools/graph/passes/wide_rows.h"

// Products in the form that the kernel computes: rows by columns, on joint cores of whole blocks of 32 B.
namespace vinci::graph {
namespace {

Value* product_as(Maker& make, const Node& node, const std::vector<Value*>& operands, const Attributes& attributes) {
  Value* const product = make("BatchMatMulV2", operands, attributes);
  product->type = node.output()->type;
  return product;
}
Visit replaced(Maker& make, const Node& node, const std::vector<Value*>& operands, const Attributes& attributes) {
  make.replace({product_as(make, node, operands, attributes)});
  return Visit::gone;
}

// A vector on the left is a row, one on the right a column.
Visit product_of_matrices(Graph& graph, Node& node) {
  Maker make(graph, node);
  std::vector<Value*> operands = node.inputs();
  const auto length = [&](usize i) { return operands[i]->shape[0]; };
  if (operands[0]->shape.rank() == 1) operands[0] = make.reshape(operands[0], {1, length(0)});
  if (operands[1]->shape.rank() == 1) operands[1] = make.reshape(operands[1], {length(1), 1});
  return replaced(make, node, operands, node.attributes);
}

// Whether a product has batches that an operand does not have, and is repeated for.
bool is_repeated(const Node& node, usize operand) {
  const Dims &in = node.input(operand)->shape.dims(), &out = node.output()->shape.dims();
  const usize missing = out.size() - in.size();
  for (usize axis = 0; axis + 2 < out.size(); ++axis) {
    if (out[axis] != 1 && (axis < missing || in[axis - missing] == 1)) return true;
  }
  return false;
}

// Operands that are both repeated are written out: the kernel repeats one of them.
Visit product_of_batches(Graph& graph, Node& node) {
  Maker make(graph, node);
  std::vector<Value*> operands = node.inputs();
  for (Value*& operand : std::span(operands).first(2)) {
    Dims dims = node.output()->shape.dims();
    std::copy(operand->shape.dims().end() - 2, operand->shape.dims().end(), dims.end() - 2);
    operand = make("BroadcastTo", {operand, make.integers(dims)});
  }
  return replaced(make, node, operands, node.attributes);
}

// The kernel reads rows on the left.
Visit product_of_rows(Graph& graph, Node& node) {
  Value* const a = node.input(0);
  const usize rank = a->shape.rank();
  Maker make(graph, node);
  std::vector<i64> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  std::vector<Value*> operands = node.inputs();
  operands[0] = make("TransposeD", {a}, {{"perm", order}});
  Attributes attributes = node.attributes;
  attributes["adj_x1"] = i64{0};
  return replaced(make, node, operands, attributes);
}

}  // namespace

Visit align_product(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || node.type != "BatchMatMulV2") return Visit::none;
  Value *const a = node.input(0), *const b = node.input(1), *const bias = node.input(2);
  if (!a->shape.known() || !b->shape.known() || a->shape.rank() < 1 || b->shape.rank() < 1) return Visit::none;
  if (a->shape.rank() == 1 || b->shape.rank() == 1) return product_of_matrices(graph, node);
  if (node.integer("adj_x1") != 0) return product_of_rows(graph, node);
  if (node.output()->shape.known() && is_repeated(node, 0) && is_repeated(node, 1))
    return product_of_batches(graph, node);
  if (!is_joint(*target.chip) || (a->type != DataType::f16 && info(a->type).bytes != 1)) return Visit::none;
  const bool by_rows = node.integer("adj_x2") != 0;
  const usize last = b->shape.rank() - 1, columns_at = by_rows ? last - 1 : last, depth_at = by_rows ? last : last - 1;
  const auto missing = [](i64 extent, i64 block) { return align_up(extent, block) - extent; };
  const i64 depth = missing(b->shape[depth_at], c0_of(a->type)), columns = missing(b->shape[columns_at], kC0);
  if (depth == 0 && columns == 0) return Visit::none;
  if (bias != nullptr && bias->shape.rank() != 1) return Visit::refused({&node}, "the bias is no vector");
  const i64 wanted = b->shape[columns_at];
  Maker make(graph, node);
  Value* const softmax =
      depth == 0 ? nullptr : softmax_with_zeros(graph, make, a, a->shape[a->shape.rank() - 1] + depth);
  std::vector<Value*> operands{softmax != nullptr ? softmax : with_zeros(make, a, a->shape.rank() - 1, depth),
                               with_zeros(make, with_zeros(make, b, depth_at, depth), columns_at, columns)};
  if (bias != nullptr) operands.push_back(with_zeros(make, bias, 0, columns));
  Value* product = product_as(make, node, operands, node.attributes);
  if (columns != 0)
    product = make("StridedSliceV2", {product, make.integers({0}), make.integers({wanted}), make.integers({-1})});
  Node* const before = a->producer();
  make.replace({product});
  if (softmax != nullptr) erase_unused(graph, before);
  return Visit::gone;
}

}  // namespace vinci::graph
