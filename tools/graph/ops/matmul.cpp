// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>

#include "tools/graph/ops/product.h"

namespace vinci::graph {
namespace {

// Leading axes broadcast, the last two multiply; a vector is a row (first operand) or a column (second). Input 2, which
// ONNX does not have, is a bias for each column.
void infer_matmul(Inference& x) {
  const Shape &a = x.shape(0), &b = x.shape(1);
  const DataType type = is_float(x.type(0)) ? x.type(0) : DataType::i32;
  if (!a.ranked() || !b.ranked()) return x.set(0, type, Shape::unranked());
  if (a.rank() == 0 || b.rank() == 0) x.refuse("an operand is a scalar");
  const i64 ka = a[a.rank() - 1], kb = b.rank() == 1 ? b[0] : b[b.rank() - 2];
  if (ka >= 0 && kb >= 0 && ka != kb) x.refuse("{} and {} do not multiply", text(a), text(b));
  const auto batch = [](const Shape& s) {
    return Shape(Dims(s.dims().begin(), s.dims().end() - std::min<std::ptrdiff_t>(2, std::ssize(s.dims()))));
  };
  Dims dims = broadcast(x.node(), batch(a), batch(b)).dims();
  if (a.rank() > 1) dims.push_back(a[a.rank() - 2]);
  if (b.rank() > 1) dims.push_back(b[b.rank() - 1]);
  x.set(0, type, dims);
}

void matmul(Evaluation& x) {
  const Array &a = x.input(0), &b = x.input(1);
  Array& out = x.out[0];
  const auto matrix = [](const Dims& d, bool column) {
    if (d.size() > 1) return d;
    return column ? Dims{d[0], 1} : Dims{1, d[0]};
  };
  const Dims da = matrix(a.dims, false), db = matrix(b.dims, true);
  const i64 m = da[da.size() - 2], k = da.back(), n = db.back();
  Dims batch(out.dims);
  batch.resize(out.dims.size() - (a.rank() > 1 ? 1 : 0) - (b.rank() > 1 ? 1 : 0));
  // Which matrix of each operand belongs to which of the result.
  std::vector<u64> from_a(element_count(batch)), from_b(from_a.size());
  const auto leading = [](const Dims& d) { return Dims(d.begin(), d.end() - 2); };
  Broadcast(leading(da), batch).each([&](u64 i, u64 at) { from_a[i] = at; });
  Broadcast(leading(db), batch).each([&](u64 i, u64 at) { from_b[i] = at; });
  for (usize i = 0; i < from_a.size() && m * n * k != 0; ++i) {
    add_product({&a.values[from_a[i] * static_cast<u64>(m * k)], m, k},
                {&b.values[from_b[i] * static_cast<u64>(k * n)], k, n}, &out.values[i * static_cast<u64>(m * n)]);
  }
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
