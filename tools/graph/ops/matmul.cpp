// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>

#include "tools/graph/ops/op.h"
#include "tools/graph/ops/product.h"

namespace vinci::graph {
namespace {

// Leading axes broadcast, the last two multiply, transposed before where adj_x1 or adj_x2 say so; a vector is a row
// (first operand) or a column (second). Input 2, which ONNX does not have, is a bias for each column.
bool adjoint(const Node& node, usize operand) { return node.integer(operand == 0 ? "adj_x1" : "adj_x2") != 0; }
// The last two extents of an operand, as it is multiplied.
std::array<i64, 2> matrix_of(const Node& node, const Dims& d, usize operand) {
  if (d.size() == 1) return operand == 0 ? std::array{i64{1}, d[0]} : std::array{d[0], i64{1}};
  std::array out{d[d.size() - 2], d[d.size() - 1]};
  if (adjoint(node, operand)) std::swap(out[0], out[1]);
  return out;
}

void infer_matmul(Inference& x) {
  const Shape &a = x.shape(0), &b = x.shape(1);
  const DataType type = is_float(x.type(0)) ? x.type(0) : DataType::i32;
  if (!a.ranked() || !b.ranked()) return x.set(0, type, Shape::unranked());
  if (a.rank() == 0 || b.rank() == 0) x.refuse("an operand is a scalar");
  const auto [m, ka] = matrix_of(x.node(), a.dims(), 0);
  const auto [kb, n] = matrix_of(x.node(), b.dims(), 1);
  if (ka >= 0 && kb >= 0 && ka != kb) x.refuse("{} and {} do not multiply", text(a), text(b));
  const auto batch = [](const Shape& s) {
    return Shape(Dims(s.dims().begin(), s.dims().end() - std::min<std::ptrdiff_t>(2, std::ssize(s.dims()))));
  };
  Dims dims = broadcast(x.node(), batch(a), batch(b)).dims();
  if (a.rank() > 1) dims.push_back(m);
  if (b.rank() > 1) dims.push_back(n);
  x.set(0, type, dims);
}

void matmul(Evaluation& x) {
  const Array &a = x.input(0), &b = x.input(1);
  Array& out = x.out[0];
  const auto [m, k] = matrix_of(x.node, a.dims, 0);
  const i64 n = matrix_of(x.node, b.dims, 1)[1];
  Dims batch(out.dims);
  batch.resize(out.dims.size() - (a.rank() > 1 ? 1 : 0) - (b.rank() > 1 ? 1 : 0));
  // Which matrix of each operand belongs to which of the result.
  std::vector<u64> from_a(element_count(batch)), from_b(from_a.size());
  const auto leading = [](const Dims& d) {
    return Dims(d.begin(), d.end() - std::min<std::ptrdiff_t>(2, std::ssize(d)));
  };
  Broadcast(leading(a.dims), batch).each([&](u64 i, u64 at) { from_a[i] = at; });
  Broadcast(leading(b.dims), batch).each([&](u64 i, u64 at) { from_b[i] = at; });
  const auto stored = [&](const Array& from, u64 matrix, i64 rows, i64 columns, usize operand) {
    const bool turned = from.rank() > 1 && adjoint(x.node, operand);
    return MatrixView{&from.values[matrix * static_cast<u64>(rows * columns)], turned ? columns : rows,
                      turned ? rows : columns, turned};
  };
  for (usize i = 0; i < from_a.size() && m * n * k != 0; ++i)
    add_product(stored(a, from_a[i], m, k, 0), stored(b, from_b[i], k, n, 1), &out.values[i * static_cast<u64>(m * n)]);
  if (!x.has(2)) return;
  for (usize i = 0; i < out.size(); ++i)
    out.values[i] += x.input(2).values[i % static_cast<usize>(n)];
}

// alpha * A' * B' + beta * C
void infer_gemm(Inference& x) {
  const Shape &a = x.shape(0), &b = x.shape(1);
  if (!a.ranked() || !b.ranked()) return x.set(0, x.type(0), {Shape::kUnknown, Shape::kUnknown});
  if (a.rank() != 2 || b.rank() != 2) x.refuse("operands of {} and {} are no matrices", text(a), text(b));
  const bool ta = x.node().integer("transA") != 0, tb = x.node().integer("transB") != 0;
  const i64 ka = a[ta ? 0 : 1], kb = b[tb ? 1 : 0];
  if (ka >= 0 && kb >= 0 && ka != kb) x.refuse("{} and {} do not multiply", text(a), text(b));
  x.set(0, x.type(0), {a[ta ? 1 : 0], b[tb ? 0 : 1]});
}

void gemm(Evaluation& x) {
  const Array &a = x.input(0), &b = x.input(1);
  Array& out = x.out[0];
  const bool ta = x.node.integer("transA") != 0, tb = x.node.integer("transB") != 0;
  const double beta = x.has(2) ? x.node.number("beta", 1) : 0;
  if (x.has(2))
    Broadcast(x.input(2).dims, out.dims).each([&](u64 i, u64 at) { out.values[i] = x.input(2).values[at]; });
  for (double& v : out.values)
    v *= beta;
  add_product({a.values.data(), a.dims[0], a.dims[1], ta}, {b.values.data(), b.dims[0], b.dims[1], tb},
              out.values.data(), x.node.number("alpha", 1));
}

constexpr auto kMatmulOps = std::to_array<Op>({
    {"BatchMatMulV2", infer_matmul, matmul},
    {"GEMM", infer_gemm, gemm},
});

}  // namespace

std::span<const Op> matmul_ops() { return kMatmulOps; }

}  // namespace vinci::graph
