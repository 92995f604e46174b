// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"
#include "tools/graph/passes/pass.h"

namespace vinci::graph {
namespace {

Node* insert(Graph& graph, std::string_view type, const std::string& name, const std::vector<Value*>& inputs,
             const Node& before) {
  Node* const made = graph.add_node(type, name, inputs, 1, &before);
  made->origins = before.origins;
  return made;
}

// Columns of a matrix of elements of N bytes as rows, in squares that stay in the cache of the host.
template <usize N>
void transpose_elements(std::span<const std::byte> from, std::span<std::byte> to, usize rows, usize columns) {
  constexpr usize kSquare = 32;
  for (usize row = 0; row < rows; row += kSquare) {
    for (usize column = 0; column < columns; column += kSquare) {
      for (usize r = row; r < std::min(rows, row + kSquare); ++r) {
        for (usize c = column; c < std::min(columns, column + kSquare); ++c)
          std::memcpy(&to[(c * rows + r) * N], &from[(r * columns + c) * N], N);
      }
    }
  }
}

// Element by element as it is: weights may have hundreds of MiB.
Tensor transposed_matrix(const Tensor& matrix) {
  const auto rows = static_cast<usize>(matrix.dims()[0]), columns = static_cast<usize>(matrix.dims()[1]);
  std::vector<std::byte> to(matrix.bytes().size());
  switch (info(matrix.type()).bytes) {
    case 1: transpose_elements<1>(matrix.bytes(), to, rows, columns); break;
    case 2: transpose_elements<2>(matrix.bytes(), to, rows, columns); break;
    case 4: transpose_elements<4>(matrix.bytes(), to, rows, columns); break;
    default: transpose_elements<8>(matrix.bytes(), to, rows, columns); break;
  }
  return Tensor(matrix.type(), {matrix.dims()[1], matrix.dims()[0]}, std::move(to));
}

Value* transposed(Graph& graph, Value* matrix, const Node& before) {
  if (matrix->constant) return graph.add_constant(matrix->name, transposed_matrix(*matrix->constant));
  Node* const made = insert(graph, "TransposeD", before.name + "/transposed", {matrix}, before);
  made->attributes["perm"] = std::vector<i64>{1, 0};
  infer(*made);
  return made->output();
}

Value* times(Graph& graph, Value* value, double factor, const Node& before) {
  if (factor == 1) return value;
  Value* const by = graph.add_constant(before.name + "/factor", Tensor(Array(value->type, {}, {factor})));
  Node* const made = insert(graph, "Mul", before.name + "/scaled", {value, by}, before);
  infer(*made);
  return made->output();
}

}  // namespace

// alpha * A' * B' + beta * C. Constants are computed at once.
Visit gemm_to_matmul(Graph& graph, Node& node) {
  if (node.type != "GEMM") return Visit::none;
  Value* const a = node.integer("transA") != 0 ? transposed(graph, node.input(0), node) : node.input(0);
  Value* const b = node.integer("transB") != 0 ? transposed(graph, node.input(1), node) : node.input(1);
  Value* const c = node.input(2);
  Node* made = insert(graph, "BatchMatMulV2", node.name, {a, b}, node);
  infer(*made);
  const double alpha = node.number("alpha", 1), beta = node.number("beta", 1);
  if (alpha != 1 || (c != nullptr && beta != 0)) {
    Value* product = times(graph, made->output(), alpha, node);
    if (c == nullptr || beta == 0) {
      made = product->producer();
    } else {
      // A vector with beta = 1 is the bias of the product; a number is none, as programs contain it.
      const bool bias = alpha == 1 && beta == 1 && c->constant && c->shape.rank() == 1 && c->shape[0] == b->shape[1] &&
                        c->shape[0] > 1;
      if (bias) {
        made->add_input(c);
      } else {
        made = insert(graph, "Add", node.name, {product, times(graph, c, beta, node)}, node);
      }
    }
  }
  made->origins.clear();
  take_place(graph, *made, {&node}, node.output());
  graph.erase(&node);
  return Visit::gone;
}

Visit fuse_matmul_bias(Graph& graph, Node& node) {
  if (node.type != "Add") return Visit::none;
  for (const usize i : {usize{0}, usize{1}}) {
    Node* const product = producer(node.input(i), "BatchMatMulV2");
    if (product == nullptr) continue;
    Value* const bias = node.input(1 - i);
    const Shape& out = node.output()->shape;
    const auto refused = [&](std::string reason) { return Visit::refused({product, &node}, std::move(reason)); };
    if (!bias->constant) return refused("the other operand is no constant");
    if (bias->shape.rank() != 1 || bias->shape[0] == 1 || !out.ranked() || out.rank() == 0 ||
        bias->shape[0] != out[out.rank() - 1])
      return refused("the other operand is no vector with a number for each column");
    if (out != product->output()->shape) return refused("the sum has another shape than the product");
    if (product->inputs().size() > 2) return refused("the product has a bias already");
    if (std::string reason = other_use(graph, product->output(), node); !reason.empty())
      return refused(std::move(reason));
    Node* const made =
        graph.add_node("BatchMatMulV2", product->name, {product->input(0), product->input(1), bias}, 1, &node);
    made->attributes = product->attributes;
    Join join = join_before(graph, node, {});
    take_place(graph, *made, {product, &node}, node.output());
    graph.erase(&node);
    erase_unused(graph, product);
    return {Visit::gone, std::move(join)};
  }
  return Visit::none;
}

// A transpose whose last axis was the last but one, in front of the second operand: the product reads the operand
// transposed, and what is left of the transpose keeps its last axis.
Visit fuse_transpose_matmul(Graph& graph, Node& node) {
  if (node.type != "BatchMatMulV2" || node.inputs().size() < 2) return Visit::none;
  Node* const transpose = producer(node.input(1), "TransposeD");
  if (transpose == nullptr) return Visit::none;
  std::vector<i64> perm = transpose->integers("perm");
  const auto rank = std::ssize(perm);
  if (rank < 2 || perm[static_cast<usize>(rank - 2)] != rank - 1) return Visit::none;
  if (std::string reason = other_use(graph, transpose->output(), node); !reason.empty())
    return Visit::refused({transpose, &node}, std::move(reason));
  Visit done = Visit::changed;
  std::swap(perm[static_cast<usize>(rank - 2)], perm[static_cast<usize>(rank - 1)]);
  Value* operand = transpose->input(0);
  if (!std::ranges::is_sorted(perm)) {
    Node* const rest = graph.add_node("TransposeD", transpose->name, {operand}, 1, &node);
    rest->origins = transpose->origins;
    rest->attributes["perm"] = perm;
    infer(*rest);
    operand = rest->output();
  } else {
    done.join = join_of(graph, {transpose, &node});
    node.origins.insert(node.origins.end(), transpose->origins.begin(), transpose->origins.end());
  }
  node.set_input(1, operand);
  node.attributes["adj_x2"] = i64{node.integer("adj_x2") == 0};
  graph.erase(transpose);
  return done;
}

// A joint core copies whole blocks of 32 B. Rows of a product that would end inside one get columns of zeros as
// weights, which are cut off behind the product.
Visit align_columns(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || !is_joint(*target.chip) || node.type != "BatchMatMulV2") return Visit::none;
  Value *const weights = node.input(1), *const bias = node.input(2);
  if (!weights->constant || weights->shape.rank() != 2 ||
      (weights->type != DataType::f16 && weights->type != DataType::i8))
    return Visit::none;
  const bool by_rows = node.integer("adj_x2") != 0;  // the weights of a column are a row
  const auto columns = static_cast<u64>(weights->shape[by_rows ? 0 : 1]), wide = align_up(columns, kC0);
  if (wide == columns) return Visit::none;
  if (node.output()->shape.rank() != 2) return Visit::refused({&node}, "the product is no single matrix");
  if (bias != nullptr && !bias->constant) return Visit::refused({&node}, "the bias is no constant");
  const auto widened = [&](const Value* v, usize axis) {
    Dims dims = v->shape.dims();
    dims[axis] = static_cast<i64>(wide);
    const Array from = v->constant->array();
    Array to(from.type, dims);
    const u64 row = axis + 1 == dims.size() ? columns : from.size();
    for (u64 i = 0; i < from.size(); ++i)
      to.values[i / row * wide + i % row] = from.values[i];
    return graph.add_constant(v->name, Tensor(to));
  };
  std::vector<Value*> operands{node.input(0), widened(weights, by_rows ? 0 : 1)};
  if (bias != nullptr) operands.push_back(widened(bias, 0));
  Node* const product = insert(graph, "BatchMatMulV2", node.name, operands, node);
  product->attributes = node.attributes;
  infer(*product);
  product->output()->type = node.output()->type;
  const auto index = [&](i64 value) {
    return graph.add_constant(node.name + "/columns", Tensor(Array(DataType::i64, {1}, {static_cast<double>(value)})));
  };
  Node* const cut = insert(graph, "StridedSliceV2", node.name + "/columns",
                           {product->output(), index(0), index(static_cast<i64>(columns)), index(1), index(1)}, node);
  infer(*cut);
  cut->origins.clear();
  product->origins.clear();
  take_place(graph, *cut, {&node}, node.output());
  product->origins = cut->origins;
  graph.erase(&node);
  return Visit::gone;
}

// A Reshape of [N, C, H, W] to [N, C * H * W] and a product with constant weights are a convolution with a kernel of
// H x W, which reads the map as it is stored.
Visit full_connection(Graph& graph, Node& node) {
  if (node.type != "BatchMatMulV2" || node.integer("adj_x1") != 0 || node.integer("adj_x2") != 0) return Visit::none;
  Node* const flat = producer(node.input(0), "Reshape");
  const Value* const weights = node.input(1);
  if (flat == nullptr || !weights->constant || weights->shape.rank() != 2) return Visit::none;
  Value* const map = flat->input(0);
  const Shape &in = map->shape, &rows = flat->output()->shape;
  const auto refused = [&](std::string reason) { return Visit::refused({flat, &node}, std::move(reason)); };
  if (!in.known() || in.rank() != 4) return refused("what is flattened is no map of known extents");
  if (in[0] != 1) return refused("each of several images would read all weights");
  if (!rows.known() || rows.rank() != 2 || rows[0] != 1) return refused("the map does not become one row");
  if (std::max(in[2], in[3]) > kMaxWindow) return refused(fmt::format("a window has at most {} rows", kMaxWindow));
  if (2 * in[1] <= static_cast<i64>(kC0)) return refused("most of each block of 16 channels would be empty");
  if (node.input(2) != nullptr && !node.input(2)->constant) return refused("the bias is no constant");
  const i64 filters = weights->shape[1];
  const Tensor each = transposed_matrix(*weights->constant);
  const Tensor kernel(weights->type, {filters, in[1], in[2], in[3]}, {each.bytes().begin(), each.bytes().end()});
  std::vector<Value*> operands{map, graph.add_constant(weights->name, kernel)};
  if (node.input(2) != nullptr) operands.push_back(node.input(2));
  Node* const conv = graph.add_node("Conv2D", node.name, operands, 1, &node);
  conv->origins = flat->origins;
  conv->origins.insert(conv->origins.end(), node.origins.begin(), node.origins.end());
  infer(*conv);
  Array dims(DataType::i64, {2}, {static_cast<double>(in[0]), static_cast<double>(filters)});
  Node* const out = graph.add_node("Reshape", node.name + "/rows",
                                   {conv->output(), graph.add_constant(node.name + "/shape", Tensor(dims))}, 1, &node);
  take_place(graph, *out, {}, node.output());
  graph.erase(&node);
  erase_unused(graph, flat);
  return Visit::gone;
}

}  // namespace vinci::graph
