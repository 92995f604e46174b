// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tools/graph/ops/op.h"

// Operators whose operands are positions: gather, scatter, sort, select.
namespace vinci::graph {
namespace {

// An index of [-extent, extent) as one of [0, extent).
u64 position(const Node& node, i64 index, i64 extent) {
  if (index < -extent || index >= extent)
    fail(Fault::Input, "{} ({}): index {} is not in [{}, {}]", node.name, node.type, index, -extent, extent - 1);
  return static_cast<u64>(index < 0 ? index + extent : index);
}

void infer_gather(Inference& x) {
  const Shape &in = x.shape(0), &index = x.shape(1);
  if (!in.ranked() || !index.ranked()) return x.set(0, x.type(0), Shape::unranked());
  const usize axis = axis_of(x.node(), x.node().integer("axis"), in.rank());
  Dims dims(in.dims().begin(), in.dims().begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), index.dims().begin(), index.dims().end());
  dims.insert(dims.end(), in.dims().begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.dims().end());
  x.set(0, x.type(0), dims);
}
void gather(Evaluation& x) {
  const Array& in = x.input(0);
  const usize axis = axis_of(x.node, x.node.integer("axis"), in.rank());
  const AroundAxis a = around_axis(in.dims, axis);
  const std::vector<i64> index = x.input(1).integers();
  auto to = x.out[0].values.begin();
  for (u64 o = 0; o < a.outer; ++o) {
    for (const i64 i : index) {
      const u64 from = (o * a.extent + position(x.node, i, in.dims[axis])) * a.inner;
      to = std::copy_n(in.values.begin() + static_cast<std::ptrdiff_t>(from), a.inner, to);
    }
  }
}

void infer_gather_elements(Inference& x) { x.set(0, x.type(0), x.shape(1)); }
void gather_elements(Evaluation& x) {
  const Array& in = x.input(0);
  const usize axis = axis_of(x.node, x.node.integer("axis"), in.rank());
  const std::vector<i64> index = x.input(1).integers();
  const std::vector<u64> strides = strides_of(in.dims);
  usize n = 0;
  for_each_index(x.input(1).dims, [&](std::span<const i64> at) {
    u64 from = 0;
    for (usize a = 0; a < at.size(); ++a)
      from += (a == axis ? position(x.node, index[n], in.dims[a]) : static_cast<u64>(at[a])) * strides[a];
    x.out[0].values[n++] = in.values.at(from);
  });
}

// The last axis of the indices is a position in the axes behind batch_dims.
void infer_gather_nd(Inference& x) {
  const Shape &in = x.shape(0), &index = x.shape(1);
  if (!in.ranked() || !index.ranked() || index.rank() == 0 || index[index.rank() - 1] < 0)
    return x.set(0, x.type(0), Shape::unranked());
  const auto batch = static_cast<usize>(x.node().integer("batch_dims"));
  const auto depth = static_cast<usize>(index[index.rank() - 1]);
  if (batch + depth > in.rank()) x.refuse("positions of {} numbers in {}", depth, text(in));
  Dims dims(index.dims().begin(), index.dims().end() - 1);
  dims.insert(dims.end(), in.dims().begin() + static_cast<std::ptrdiff_t>(batch + depth), in.dims().end());
  x.set(0, x.type(0), dims);
}
void gather_nd(Evaluation& x) {
  const Array& in = x.input(0);
  const Dims& shape = x.input(1).dims;
  const auto batch = static_cast<usize>(x.node.integer("batch_dims"));
  const auto depth = static_cast<usize>(shape.back());
  const std::vector<i64> index = x.input(1).integers();
  const std::vector<u64> strides = strides_of(in.dims);
  const u64 batches = element_count(std::span(in.dims).first(batch));
  const u64 piece = element_count(std::span(in.dims).subspan(batch + depth));
  const u64 each = index.size() / depth / std::max<u64>(batches, 1);
  auto to = x.out[0].values.begin();
  for (u64 i = 0; i * depth < index.size(); ++i) {
    u64 from = batch == 0 ? 0 : i / each * strides[batch - 1];
    for (usize d = 0; d < depth; ++d)
      from += position(x.node, index[i * depth + d], in.dims[batch + d]) * strides[batch + d];
    to = std::copy_n(in.values.begin() + static_cast<std::ptrdiff_t>(from), piece, to);
  }
}

void combine(const std::string& how, double& to, double value) {
  if (how == "add")
    to += value;
  else if (how == "mul")
    to *= value;
  else if (how == "max")
    to = std::max(to, value);
  else if (how == "min")
    to = std::min(to, value);
  else
    to = value;
}
void scatter_elements(Evaluation& x) {
  Array& out = x.out[0];
  out.values = x.input(0).values;
  const usize axis = axis_of(x.node, x.node.integer("axis"), out.rank());
  const std::vector<i64> index = x.input(1).integers();
  const std::vector<u64> strides = strides_of(out.dims);
  const std::string how = x.node.string("reduction", "none");
  usize n = 0;
  for_each_index(x.input(1).dims, [&](std::span<const i64> at) {
    u64 to = 0;
    for (usize a = 0; a < at.size(); ++a)
      to += (a == axis ? position(x.node, index[n], out.dims[a]) : static_cast<u64>(at[a])) * strides[a];
    combine(how, out.values.at(to), x.input(2).values[n++]);
  });
}
void scatter_nd(Evaluation& x) {
  Array& out = x.out[0];
  out.values = x.input(0).values;
  const auto depth = static_cast<usize>(x.input(1).dims.back());
  const std::vector<i64> index = x.input(1).integers();
  const std::vector<u64> strides = strides_of(out.dims);
  const u64 piece = element_count(std::span(out.dims).subspan(depth));
  const std::string how = x.node.string("reduction", "none");
  for (u64 i = 0; i * depth < index.size(); ++i) {
    u64 to = 0;
    for (usize d = 0; d < depth; ++d)
      to += position(x.node, index[i * depth + d], out.dims[d]) * strides[d];
    for (u64 e = 0; e < piece; ++e)
      combine(how, out.values[to + e], x.input(2).values.at(i * piece + e));
  }
}

// indices, depth, {off, on}
void infer_one_hot(Inference& x) {
  const Shape& in = x.shape(0);
  if (!in.ranked()) return x.set(0, x.type(2), Shape::unranked());
  const usize axis = axis_of(x.node(), x.node().integer("axis", -1), in.rank() + 1);
  const auto depth = x.integers(1);
  Dims dims = in.dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth ? depth->at(0) : Shape::kUnknown);
  x.set(0, x.type(2), dims);
}
void one_hot(Evaluation& x) {
  Array& out = x.out[0];
  const usize axis = axis_of(x.node, x.node.integer("axis", -1), out.rank());
  const AroundAxis a = around_axis(out.dims, axis);
  const std::vector<i64> index = x.input(0).integers();
  std::ranges::fill(out.values, x.input(2).values.at(0));
  for (u64 i = 0; i < index.size(); ++i) {
    const i64 depth = out.dims[axis];
    if (index[i] < -depth || index[i] >= depth) continue;
    const u64 at = position(x.node, index[i], depth);
    out.values[(i / a.inner * a.extent + at) * a.inner + i % a.inner] = x.input(2).values.at(1);
  }
}

void infer_top_k(Inference& x) {
  const Shape& in = x.shape(0);
  Shape out = Shape::unranked();
  if (in.ranked()) {
    Dims dims = in.dims();
    const auto k = x.integers(1);
    const usize axis = axis_of(x.node(), x.node().integer("axis", -1), in.rank());
    if (k && k->size() != 1) x.refuse("its k has {} numbers", k->size());
    dims[axis] = k ? k->front() : Shape::kUnknown;
    if (k && dims[axis] < 0) x.refuse("its k is {}", dims[axis]);
    if (in[axis] >= 0 && dims[axis] > in[axis]) x.refuse("k = {} of {} elements", dims[axis], in[axis]);
    out = dims;
  }
  x.set(0, x.type(0), out);
  x.set(1, DataType::i64, out);
}
void top_k(Evaluation& x) {
  const Array& in = x.input(0);
  const usize axis = axis_of(x.node, x.node.integer("axis", -1), in.rank());
  const AroundAxis a = around_axis(in.dims, axis);
  const u64 k = static_cast<u64>(x.out[0].dims[axis]);
  const bool largest = x.node.integer("largest", 1) != 0;
  std::vector<u64> order(a.extent);
  for (u64 o = 0; o < a.outer; ++o) {
    for (u64 i = 0; i < a.inner; ++i) {
      const auto at = [&](u64 e) { return in.values[(o * a.extent + e) * a.inner + i]; };
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](u64 p, u64 q) { return largest ? at(p) > at(q) : at(p) < at(q); });
      for (u64 e = 0; e < k; ++e) {
        x.out[0].values[(o * k + e) * a.inner + i] = at(order[e]);
        if (x.out.size() > 1) x.out[1].values[(o * k + e) * a.inner + i] = static_cast<double>(order[e]);
      }
    }
  }
}

constexpr auto kIndexOps = std::to_array<Op>({
    {"GatherV2", infer_gather, gather},
    {"GatherElements", infer_gather_elements, gather_elements},
    {"GatherNd", infer_gather_nd, gather_nd},
    {"ScatterElements", infer_same, scatter_elements},
    {"ScatterNdUpdate", infer_same, scatter_nd},
    {"OneHot", infer_one_hot, one_hot},
    {"TopKV2", infer_top_k, top_k},
});

}  // namespace

std::span<const Op> index_ops() { return kIndexOps; }

}  // namespace vinci::graph
