// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "tools/graph/ops/op.h"
#include "tools/graph/ops/slice.h"

// Operators that move elements or make shapes, without arithmetic.
namespace vinci::graph {
namespace {

constexpr i64 kUnknown = Shape::kUnknown;

Shape unknown_of_rank(usize rank) { return Dims(rank, kUnknown); }

// Output 0 has the elements of input 0 in their order, in another shape.
void keep(Evaluation& x) { x.out[0].values = x.input(0).values; }

// Reshape
// ---------------------------------------------------------------------------------------------------------------

// Extents with at most one -1, which follows from the number of elements; 0 keeps the extent of the input.
Shape reshaped(const Inference& x, Dims dims) {
  const Shape& in = x.shape(0);
  const bool allow_zero = x.node().integer("allowzero") != 0;
  usize open = dims.size();
  for (usize i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allow_zero) {
      if (!in.ranked()) return unknown_of_rank(dims.size());
      if (i >= in.rank()) x.refuse("extent {} is 0, and the input has {} axes", i, in.rank());
      dims[i] = in[i];
      if (dims[i] < 0 && in.rank() == dims.size()) continue;  // both stay unknown
    } else if (dims[i] == -1) {
      if (open != dims.size()) x.refuse("two extents are -1");
      open = i;
    } else if (dims[i] < -1) {
      x.refuse("extent {} is {}", i, dims[i]);
    }
  }
  if (!in.known()) return dims;
  u64 rest = 1;
  for (usize i = 0; i < dims.size(); ++i) {
    if (i != open) rest *= static_cast<u64>(dims[i]);
  }
  const u64 elements = in.elements();
  if (open != dims.size()) {
    if (rest == 0 || elements % rest != 0) x.refuse("{} cannot become {}", text(in), text(Shape(dims)));
    dims[open] = static_cast<i64>(elements / rest);
  } else if (rest != elements) {
    x.refuse("{} cannot become {}", text(in), text(Shape(dims)));
  }
  return dims;
}

void infer_reshape(Inference& x) {
  if (const auto dims = x.integers(1)) return x.set(0, x.type(0), reshaped(x, *dims));
  const Shape& wanted = x.shape(1);
  x.set(0, x.type(0),
        wanted.known() && wanted.rank() == 1 ? unknown_of_rank(static_cast<usize>(wanted[0])) : Shape::unranked());
}

void infer_flatten(Inference& x) {
  const Shape& in = x.shape(0);
  if (!in.ranked()) return x.set(0, x.type(0), unknown_of_rank(2));
  const i64 axis = x.node().integer("axis", 1);
  const auto rank = static_cast<i64>(in.rank());
  if (axis < -rank || axis > rank) x.refuse("axis {} is not in [{}, {}]", axis, -rank, rank);
  const usize at = static_cast<usize>(axis < 0 ? axis + rank : axis);
  const auto product = [&](usize from, usize to) {
    i64 n = 1;
    for (usize i = from; i < to; ++i)
      n = in[i] < 0 || n < 0 ? kUnknown : n * in[i];
    return n;
  };
  x.set(0, x.type(0), {product(0, at), product(at, in.rank())});
}

void infer_squeeze(Inference& x) {
  const Shape& in = x.shape(0);
  const auto axes = x.integers(1);
  if (!in.ranked() || (x.has(1) && !axes) || (!axes && !in.known())) return x.set(0, x.type(0), Shape::unranked());
  std::vector<bool> drop(in.rank());
  if (axes) {
    for (const i64 a : *axes) {
      const usize axis = axis_of(x.node(), a, in.rank());
      if (in[axis] != 1 && in[axis] >= 0) x.refuse("axis {} of {} is not 1", a, text(in));
      drop[axis] = true;
    }
  } else {
    for (usize i = 0; i < in.rank(); ++i)
      drop[i] = in[i] == 1;
  }
  Dims dims;
  for (usize i = 0; i < in.rank(); ++i) {
    if (!drop[i]) dims.push_back(in[i]);
  }
  x.set(0, x.type(0), dims);
}

void infer_unsqueeze(Inference& x) {
  const Shape& in = x.shape(0);
  const auto axes = x.integers(1);
  if (!in.ranked() || !axes) return x.set(0, x.type(0), Shape::unranked());
  const usize rank = in.rank() + axes->size();
  std::vector<bool> made(rank);
  for (const i64 a : *axes) {
    const usize axis = axis_of(x.node(), a, rank);
    if (made[axis]) x.refuse("axis {} is named twice", a);
    made[axis] = true;
  }
  Dims dims;
  for (usize i = 0, from = 0; i < rank; ++i)
    dims.push_back(made[i] ? 1 : in[from++]);
  x.set(0, x.type(0), dims);
}

// Transpose
// -------------------------------------------------------------------------------------------------------------

std::vector<usize> permutation(const Node& node, usize rank) {
  std::vector<i64> perm = node.integers("perm");
  if (perm.empty()) {
    perm.resize(rank);
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  std::vector<usize> out;
  std::vector<bool> seen(rank);
  for (const i64 p : perm) {
    const usize axis = axis_of(node, p, rank);
    if (seen[axis]) fail(Fault::Input, "{} ({}): perm names axis {} twice", node.name, node.type, axis);
    seen[axis] = true;
    out.push_back(axis);
  }
  if (out.size() != rank) fail(Fault::Input, "{} ({}): perm has {} axes of {}", node.name, node.type, out.size(), rank);
  return out;
}

void infer_transpose(Inference& x) {
  const Shape& in = x.shape(0);
  if (!in.ranked()) {
    const usize rank = x.node().integers("perm").size();
    return x.set(0, x.type(0), rank == 0 ? Shape::unranked() : unknown_of_rank(rank));
  }
  Dims dims;
  for (const usize axis : permutation(x.node(), in.rank()))
    dims.push_back(in[axis]);
  x.set(0, x.type(0), dims);
}

void transpose(Evaluation& x) {
  const Array& in = x.input(0);
  Array& out = x.out[0];
  const std::vector<usize> perm = permutation(x.node, in.rank());
  const std::vector<u64> from = strides_of(in.dims);
  usize n = 0;
  for_each_index(out.dims, [&](std::span<const i64> index) {
    u64 at = 0;
    for (usize a = 0; a < index.size(); ++a)
      at += static_cast<u64>(index[a]) * from[perm[a]];
    out.values[n++] = in.values[at];
  });
}

// Concat, split, slice, pad
// -----------------------------------------------------------------------------------------------

void infer_concat(Inference& x) {
  Dims dims;
  bool ranked = false;
  usize axis = 0;
  i64 sum = 0;
  for (usize i = 0; i < x.inputs(); ++i) {
    const Shape& s = x.shape(i);
    if (!s.ranked()) {
      sum = kUnknown;
      continue;
    }
    if (!ranked) {
      dims = s.dims();
      ranked = true;
      axis = axis_of(x.node(), x.node().integer("axis"), dims.size());
    }
    if (s.rank() != dims.size()) x.refuse("operands have {} and {} axes", dims.size(), s.rank());
    for (usize a = 0; a < dims.size(); ++a) {
      if (a == axis) continue;
      if (dims[a] >= 0 && s[a] >= 0 && dims[a] != s[a])
        x.refuse("{} and {} differ in axis {}", text(Shape(dims)), text(s), a);
      dims[a] = std::max(dims[a], s[a]);
    }
    sum = sum < 0 || s[axis] < 0 ? kUnknown : sum + s[axis];
  }
  if (!ranked) return x.set(0, x.type(0), Shape::unranked());
  dims[axis] = sum;
  x.set(0, x.type(0), dims);
}

void concat(Evaluation& x) {
  Array& out = x.out[0];
  const usize axis = axis_of(x.node, x.node.integer("axis"), out.rank());
  const AroundAxis to = around_axis(out.dims, axis);
  u64 at = 0;
  for (usize i = 0; i < x.in.size(); ++i) {
    const Array& in = x.input(i);
    const u64 piece = static_cast<u64>(in.dims[axis]) * to.inner;
    for (u64 o = 0; o < to.outer; ++o)
      std::copy_n(in.values.begin() + static_cast<std::ptrdiff_t>(o * piece), piece,
                  out.values.begin() + static_cast<std::ptrdiff_t>(o * to.extent * to.inner + at));
    at += piece;
  }
}

void infer_split(Inference& x) {
  const Shape& in = x.shape(0);
  const usize parts = x.node().outputs().size();
  if (!in.ranked()) return x.set_all(x.type(0), Shape::unranked());
  const usize axis = axis_of(x.node(), x.node().integer("axis"), in.rank());
  const auto sizes = x.integers(1);
  if (sizes && sizes->size() != parts) x.refuse("{} sizes for {} outputs", sizes->size(), parts);
  if (sizes && in[axis] >= 0 && std::accumulate(sizes->begin(), sizes->end(), i64{0}) != in[axis])
    x.refuse("the sizes do not add up to {}", in[axis]);
  for (usize i = 0; i < parts; ++i) {
    Dims dims = in.dims();
    if (sizes) {
      dims[axis] = (*sizes)[i];
    } else if (x.has(1) || in[axis] < 0) {
      dims[axis] = kUnknown;
    } else {
      const i64 each = (in[axis] + static_cast<i64>(parts) - 1) / static_cast<i64>(parts);
      dims[axis] = std::clamp<i64>(in[axis] - each * static_cast<i64>(i), 0, each);
    }
    x.set(i, x.type(0), dims);
  }
}

void split(Evaluation& x) {
  const Array& in = x.input(0);
  const usize axis = axis_of(x.node, x.node.integer("axis"), in.rank());
  const AroundAxis from = around_axis(in.dims, axis);
  u64 at = 0;
  for (Array& out : x.out) {
    const u64 piece = static_cast<u64>(out.dims[axis]) * from.inner;
    for (u64 o = 0; o < from.outer; ++o)
      std::copy_n(in.values.begin() + static_cast<std::ptrdiff_t>(o * from.extent * from.inner + at), piece,
                  out.values.begin() + static_cast<std::ptrdiff_t>(o * piece));
    at += piece;
  }
}

void infer_slice(Inference& x) {
  const Shape& in = x.shape(0);
  if (!in.ranked()) return x.set(0, x.type(0), Shape::unranked());
  const auto starts = x.integers(1), ends = x.integers(2), axes = x.integers(3), steps = x.integers(4);
  if (!starts || !ends || (x.has(3) && !axes) || (x.has(4) && !steps)) {
    Dims dims = in.dims();
    if (!axes) return x.set(0, x.type(0), unknown_of_rank(in.rank()));
    for (const i64 a : *axes)
      dims[axis_of(x.node(), a, in.rank())] = kUnknown;
    return x.set(0, x.type(0), dims);
  }
  if (starts->size() != ends->size() || (axes && axes->size() != starts->size()) ||
      (steps && steps->size() != starts->size()) || starts->size() > in.rank())
    x.refuse("starts, ends, axes and steps do not have one length");
  const Slices s = slices_of(x.node(), in.dims(), *starts, *ends, axes.value_or(Dims{}), steps.value_or(Dims{}));
  x.set(0, x.type(0), s.count);
}

void slice(Evaluation& x) {
  const Array& in = x.input(0);
  Array& out = x.out[0];
  const auto list = [&](usize i) { return x.has(i) ? x.input(i).integers() : Dims{}; };
  const Slices s = slices_of(x.node, in.dims, list(1), list(2), list(3), list(4));
  const std::vector<u64> from = strides_of(in.dims);
  usize n = 0;
  for_each_index(out.dims, [&](std::span<const i64> index) {
    i64 at = 0;
    for (usize a = 0; a < index.size(); ++a)
      at += (s.start[a] + index[a] * s.step[a]) * static_cast<i64>(from[a]);
    out.values[n++] = in.values[static_cast<usize>(at)];
  });
}

void infer_pad(Inference& x) {
  const Shape& in = x.shape(0);
  if (!in.ranked()) return x.set(0, x.type(0), Shape::unranked());
  const auto pads = x.integers(1);
  if (!pads) return x.set(0, x.type(0), unknown_of_rank(in.rank()));
  if (pads->size() != 2 * in.rank()) x.refuse("{} pads for {} axes", pads->size(), in.rank());
  Dims dims = in.dims();
  for (usize a = 0; a < dims.size(); ++a) {
    if (dims[a] < 0) continue;
    dims[a] += (*pads)[a] + (*pads)[a + dims.size()];
    if (dims[a] < 0) x.refuse("axis {} becomes negative", a);
  }
  x.set(0, x.type(0), dims);
}

void pad(Evaluation& x) {
  const Array& in = x.input(0);
  Array& out = x.out[0];
  const std::vector<i64> pads = x.input(1).integers();
  const double value = x.has(2) && !x.input(2).values.empty() ? x.input(2).values[0] : 0;
  const std::string mode = x.node.string("mode", "constant");
  const std::vector<u64> from = strides_of(in.dims);
  usize n = 0;
  for_each_index(out.dims, [&](std::span<const i64> index) {
    u64 at = 0;
    bool inside = true;
    for (usize a = 0; a < index.size(); ++a) {
      const i64 extent = in.dims[a];
      i64 i = index[a] - pads[a];
      if (mode == "edge") {
        i = std::clamp<i64>(i, 0, extent - 1);
      } else if (mode == "reflect" && extent > 1) {
        const i64 period = 2 * (extent - 1);
        i = ((i % period) + period) % period;
        i = i < extent ? i : period - i;
      } else if (mode == "wrap") {
        i = ((i % extent) + extent) % extent;
      }
      inside = inside && i >= 0 && i < extent;
      at += static_cast<u64>(i) * from[a];
    }
    out.values[n++] = inside ? in.values[at] : value;
  });
}

// Repetition
// ------------------------------------------------------------------------------------------------------------

void infer_broadcast_to(Inference& x) {
  const auto dims = x.integers(1);
  if (!dims) return x.set(0, x.type(0), Shape::unranked());
  x.set(0, x.type(0), broadcast(x.node(), x.shape(0), Shape(*dims)));
}
void broadcast_to(Evaluation& x) {
  Broadcast(x.input(0).dims, x.out[0].dims).each([&](u64 i, u64 at) { x.out[0].values[i] = x.input(0).values[at]; });
}

void infer_tile(Inference& x) {
  const Shape& in = x.shape(0);
  const auto repeats = x.integers(1);
  if (!in.ranked()) return x.set(0, x.type(0), Shape::unranked());
  if (!repeats) return x.set(0, x.type(0), unknown_of_rank(in.rank()));
  if (repeats->size() != in.rank()) x.refuse("{} repeats for {} axes", repeats->size(), in.rank());
  Dims dims = in.dims();
  for (usize a = 0; a < dims.size(); ++a) {
    if ((*repeats)[a] < 0) x.refuse("a number of repeats is negative");
    if (dims[a] >= 0) dims[a] *= (*repeats)[a];
  }
  x.set(0, x.type(0), dims);
}
void tile(Evaluation& x) {
  const Array& in = x.input(0);
  Array& out = x.out[0];
  const std::vector<u64> from = strides_of(in.dims);
  usize n = 0;
  for_each_index(out.dims, [&](std::span<const i64> index) {
    u64 at = 0;
    for (usize a = 0; a < index.size(); ++a)
      at += static_cast<u64>(index[a] % in.dims[a]) * from[a];
    out.values[n++] = in.values[at];
  });
}

// Shapes as values, generators
// --------------------------------------------------------------------------------------------

std::pair<i64, i64> shape_range(const Node& node, usize rank) {
  const auto n = static_cast<i64>(rank);
  const auto place = [&](i64 v) { return std::clamp<i64>(v < 0 ? v + n : v, 0, n); };
  return {place(node.integer("start", 0)), place(node.integer("end", n))};
}
void infer_shape(Inference& x) {
  if (!x.shape(0).ranked()) return x.set(0, DataType::i64, {kUnknown});
  const auto [from, to] = shape_range(x.node(), x.shape(0).rank());
  x.set(0, DataType::i64, {std::max<i64>(0, to - from)});
}
void shape(Evaluation& x) {
  const Dims& dims = x.input(0).dims;
  const i64 from = shape_range(x.node, dims.size()).first;
  for (usize i = 0; i < x.out[0].size(); ++i)
    x.out[0].values[i] = static_cast<double>(dims[static_cast<usize>(from) + i]);
}

void infer_size(Inference& x) { x.set(0, DataType::i64, Shape()); }
void size(Evaluation& x) { x.out[0].values[0] = static_cast<double>(x.input(0).size()); }

void infer_fill(Inference& x) {
  const auto dims = x.integers(0);
  if (dims && std::ranges::any_of(*dims, [](i64 d) { return d < 0; })) x.refuse("an extent is negative");
  if (dims) return x.set(0, x.type(1), *dims);
  const Shape& s = x.shape(0);
  x.set(0, x.type(1), s.known() && s.rank() == 1 ? unknown_of_rank(static_cast<usize>(s[0])) : Shape::unranked());
}
void fill(Evaluation& x) { std::ranges::fill(x.out[0].values, x.input(1).values.at(0)); }

double range_count(const Node& node, double start, double limit, double delta) {
  if (delta == 0) fail(Fault::Input, "{} ({}): delta is 0", node.name, node.type);
  return std::max(0.0, std::ceil((limit - start) / delta));
}
void infer_range(Inference& x) {
  std::array<double, 3> operands{};
  for (usize i = 0; i < 3; ++i) {
    const auto contents = x.contents(i);
    if (!contents) return x.set(0, x.type(0), {kUnknown});
    if (contents->size() != 1) x.refuse("operand {} is no scalar", i);
    operands[i] = contents->values[0];
  }
  const double count = range_count(x.node(), operands[0], operands[1], operands[2]);
  if (!(count < 0x1p40)) x.refuse("it would have {} elements", count);
  x.set(0, x.type(0), {static_cast<i64>(count)});
}
void range(Evaluation& x) {
  const double start = x.input(0).values.at(0), delta = x.input(2).values.at(0);
  for (usize i = 0; i < x.out[0].size(); ++i)
    x.out[0].values[i] = start + static_cast<double>(i) * delta;
}

void infer_eye(Inference& x) {
  if (x.shape(0).ranked() && x.shape(0).rank() != 2) x.refuse("the operand has {} axes, not 2", x.shape(0).rank());
  const i64 type = x.node().integer("dtype", -1);
  x.set(0, type < 0 ? x.type(0) : static_cast<DataType>(type), x.shape(0));
}
void eye(Evaluation& x) {
  const i64 k = x.node.integer("k");
  usize n = 0;
  for_each_index(x.out[0].dims, [&](std::span<const i64> i) { x.out[0].values[n++] = i[1] - i[0] == k ? 1 : 0; });
}

void trilu(Evaluation& x) {
  const Array& in = x.input(0);
  const i64 k = x.has(1) ? x.input(1).integers().at(0) : 0;
  const bool upper = x.node.integer("upper", 1) != 0;
  usize n = 0;
  for_each_index(in.dims, [&](std::span<const i64> i) {
    const i64 diagonal = i[i.size() - 1] - i[i.size() - 2];
    x.out[0].values[n] = (upper ? diagonal >= k : diagonal <= k) ? in.values[n] : 0;
    ++n;
  });
}

void reverse_sequence(Evaluation& x) {
  const Array& in = x.input(0);
  const usize batch = axis_of(x.node, x.node.integer("batch_axis", 1), in.rank());
  const usize time = axis_of(x.node, x.node.integer("time_axis", 0), in.rank());
  const std::vector<i64> lengths = x.input(1).integers();
  const std::vector<u64> from = strides_of(in.dims);
  usize n = 0;
  for_each_index(in.dims, [&](std::span<const i64> index) {
    const i64 length = lengths.at(static_cast<usize>(index[batch]));
    i64 at = static_cast<i64>(n);
    if (index[time] < length) at += (length - 1 - 2 * index[time]) * static_cast<i64>(from[time]);
    x.out[0].values[n++] = in.values.at(static_cast<usize>(at));
  });
}

constexpr auto kShapeOps = std::to_array<Op>({
    {"Reshape", infer_reshape, keep},
    {"FlattenV2", infer_flatten, keep},
    {"Squeeze", infer_squeeze, keep},
    {"Unsqueeze", infer_unsqueeze, keep},
    {"TransData", infer_same, keep},
    {"TransposeD", infer_transpose, transpose},
    {"ConcatD", infer_concat, concat},
    {"SplitV", infer_split, split},
    {"StridedSliceV2", infer_slice, slice},
    {"PadV3", infer_pad, pad},
    {"BroadcastTo", infer_broadcast_to, broadcast_to},
    {"Tile", infer_tile, tile},
    {"Shape", infer_shape, shape},
    {"Size", infer_size, size},
    {"Fill", infer_fill, fill},
    {"Range", infer_range, range},
    {"EyeLike", infer_eye, eye},
    {"Trilu", infer_same, trilu},
    {"ReverseSequence", infer_same, reverse_sequence},
});

}  // namespace

std::span<const Op> shape_ops() { return kShapeOps; }

}  // namespace vinci::graph
