// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <numeric>

#include "tools/graph/ops/window.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/pass.h"

// Operators without a kernel of their own as nodes that have one. The values are the same up to rounding.
namespace vinci::graph {
namespace {

using Rewrite = bool (*)(Graph& graph, Node& node);

Attributes keep_dims() { return {{"keepdims", i64{1}}}; }

// The axes [first, rank).
std::vector<i64> axes_from(usize first, usize rank) {
  std::vector<i64> axes(rank - first);
  std::iota(axes.begin(), axes.end(), static_cast<i64>(first));
  return axes;
}

// Mean and inverse deviation as outputs: only training reads them.
bool layer_norm(Graph& graph, Node& node) {
  if (node.outputs().size() == 1) return false;
  Maker make(graph, node);
  Value* const x = node.input(0);
  const usize rank = x->shape.rank(), axis = axis_of(node, node.integer("axis", -1), rank);
  Value* const axes = make.integers(axes_from(axis, rank));
  Value* const mean = make("ReduceMean", {x, axes}, keep_dims());
  Value* const centred = make("Sub", {x, mean});
  Value* const variance = make("ReduceMean", {make("Mul", {centred, centred}), axes}, keep_dims());
  Value* const inverse = make("Rsqrt", {make("Add", {variance, make.number(x->type, node.number("epsilon", 1e-5))})});
  Value* y = make("Mul", {centred, inverse});
  if (node.input(1) != nullptr) y = make("Mul", {y, node.input(1)});
  if (node.input(2) != nullptr) y = make("Add", {y, node.input(2)});
  make.replace({y, mean, inverse});
  return true;
}

bool instance_norm(Graph& graph, Node& node) {
  Maker make(graph, node);
  Value* const x = node.input(0);
  const Dims& dims = x->shape.dims();
  if (dims.size() < 3) return false;
  const i64 map = static_cast<i64>(element_count(std::span(dims).subspan(2)));
  Attributes attributes{{"epsilon", node.number("epsilon", 1e-5)}, {"axis", i64{-1}}};
  Value* const rows = make("LayerNorm", {make.reshape(x, {dims[0], dims[1], map})}, attributes);
  Value* const scaled = make("Mul", {rows, make.reshape(node.input(1), {dims[1], 1})});
  make.replace({make("Add", {scaled, make.reshape(node.input(2), {dims[1], 1})})});
  return true;
}

bool mean_variance(Graph& graph, Node& node) {
  Maker make(graph, node);
  Value* const x = node.input(0);
  Value* const axes = make.integers(node.integers("axes", {0, 2, 3}));
  Value* const centred = make("Sub", {x, make("ReduceMean", {x, axes}, keep_dims())});
  Value* const variance = make("ReduceMean", {make("Mul", {centred, centred}), axes}, keep_dims());
  make.replace({make("RealDiv", {centred, make("Sqrt", {variance})})});
  return true;
}

// max + log(sum(exp(x - max)))
bool log_sum_exp(Graph& graph, Node& node) {
  if (node.input(1) != nullptr && !node.input(1)->constant) return false;
  Maker make(graph, node);
  Value* const x = node.input(0);
  std::vector<Value*> operands{x};
  if (node.input(1) != nullptr) operands.push_back(node.input(1));
  Value* const most = make("ReduceMax", operands, keep_dims());
  operands[0] = make("Exp", {make("Sub", {x, most})});
  make.replace({make("Add", {make("Log", {make("ReduceSum", operands, keep_dims())}), most})});
  return true;
}

bool local_response(Graph& graph, Node& node) {
  Maker make(graph, node);
  Value* const x = node.input(0);
  const i64 size = node.integer("size", 1), before = (size - 1) / 2;
  const usize rank = x->shape.rank();
  std::vector<i64> pads(2 * rank);
  pads[1] = before;
  pads[rank + 1] = size - 1 - before;
  Value* const squares = make("PadV3", {make("Mul", {x, x}), make.integers(pads)});
  Value* sum = nullptr;
  for (i64 i = 0; i < size; ++i) {
    Value* const piece =
        make("StridedSliceV2", {squares, make.integers({i}), make.integers({i + x->shape[1]}), make.integers({1})});
    sum = sum == nullptr ? piece : make("Add", {sum, piece});
  }
  const double alpha = node.number("alpha", 1e-4) / static_cast<double>(size);
  Value* const base =
      make("Add", {make("Mul", {sum, make.number(x->type, alpha)}), make.number(x->type, node.number("bias", 1))});
  make.replace({make("Mul", {x, make("Pow", {base, make.number(x->type, -node.number("beta", 0.75))})})});
  return true;
}

// Quantisation
// ----------------------------------------------------------------------------------------------------

// Scale or zero point in the shape that an operand of the tensor has.
Value* along_axis(Maker& make, const Node& node, Value* value) {
  const Shape& x = node.input(0)->shape;
  if (value->shape.elements() == 1) return make.reshape(value, {});
  Dims dims(x.rank(), 1);
  dims[axis_of(node, node.integer("axis", 1), x.rank())] = value->shape[0];
  return make.reshape(value, dims);
}

bool dequantise(Graph& graph, Node& node) {
  Maker make(graph, node);
  const DataType type = node.output()->type;
  Value* x = make.cast(node.input(0), type);
  if (node.input(2) != nullptr) x = make("Sub", {x, make.cast(along_axis(make, node, node.input(2)), type)});
  make.replace({make("Mul", {x, along_axis(make, node, node.input(1))})});
  return true;
}

bool quantise(Graph& graph, Node& node) {
  Maker make(graph, node);
  const DataType type = node.input(0)->type, to = node.output()->type;
  Value* x = make("Round", {make("RealDiv", {node.input(0), along_axis(make, node, node.input(1))})});
  if (node.input(2) != nullptr) x = make("Add", {x, make.cast(along_axis(make, node, node.input(2)), type)});
  x = make("ClipByValue", {x, make.number(type, info(to).lowest), make.number(type, info(to).highest)});
  make.replace({make.cast(x, to)});
  return true;
}

// Resize
// ---------------------------------------------------------------------------------------------------------

// The elements of an axis that each element of the result is a sum of: so many taps, with their weights.
struct AxisTaps {
  std::vector<std::vector<i64>> index;
  std::vector<std::vector<double>> weight;
};

// From the values of the operator for one axis with a 1 at each place.
AxisTaps taps_of(const Node& node, usize axis) {
  const usize rank = node.input(0)->shape.rank();
  const i64 extent = node.input(0)->shape[axis], count = node.output()->shape[axis];
  Graph one("axis");
  const auto operand = [&](usize i) -> std::optional<Array> {
    if (node.input(i) == nullptr || node.input(i)->constant->elements() == 0) return std::nullopt;
    const Array all = node.input(i)->constant->array();
    if (i == 1) return Array(all.type, {2}, {all.values.at(axis), all.values.at(axis + rank)});
    return Array(all.type, {1}, {all.values.at(axis)});
  };
  const std::array operands{operand(1), operand(2), operand(3)};
  std::vector<Value*> inputs{one.add_input("x", DataType::f64, {extent})};
  std::vector<const Array*> arrays{nullptr};
  for (const auto& o : operands) {
    inputs.push_back(o ? one.add_input("o", o->type, Shape(o->dims)) : nullptr);
    arrays.push_back(o ? &*o : nullptr);
  }
  Node* const copy = one.add_node(node.type, node.name, inputs);
  copy->attributes = node.attributes;
  AxisTaps out;
  std::vector<usize> used(static_cast<usize>(count));
  for (i64 e = 0; e < extent; ++e) {
    Array unit(DataType::f64, {extent});
    unit.values[static_cast<usize>(e)] = 1;
    arrays[0] = &unit;
    const Array weights = evaluate(*copy, arrays, false)[0];
    for (usize o = 0; o < used.size(); ++o) {
      if (weights.values.at(o) == 0) continue;
      if (used[o] == out.index.size()) {
        out.index.emplace_back(static_cast<usize>(count));
        out.weight.emplace_back(static_cast<usize>(count));
      }
      out.index[used[o]][o] = e;
      out.weight[used[o]++][o] = weights.values[o];
    }
  }
  return out;
}

// Each element so many times.
std::optional<i64> repetition(const AxisTaps& taps, i64 extent) {
  if (taps.index.size() != 1) return std::nullopt;
  const i64 count = std::ssize(taps.index[0]), times = count / extent;
  if (times == 0 || times * extent != count) return std::nullopt;
  for (i64 o = 0; o < count; ++o) {
    const auto at = static_cast<usize>(o);
    if (taps.index[0][at] != o / times || taps.weight[0][at] != 1) return std::nullopt;
  }
  return times;
}

Value* resize_axis(Maker& make, Value* x, usize axis, const AxisTaps& taps) {
  const Dims dims = x->shape.dims();
  Dims to = dims;
  to[axis] = std::ssize(taps.index.at(0));
  if (const auto times = repetition(taps, dims[axis])) {
    Dims apart = dims, wide;
    apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
    wide = apart;
    wide[axis + 1] = *times;
    return make.reshape(make("BroadcastTo", {make.reshape(x, apart), make.integers(wide)}), to);
  }
  Value* sum = nullptr;
  for (usize t = 0; t < taps.index.size(); ++t) {
    Value* piece = make("GatherV2", {x, make.integers(taps.index[t])}, {{"axis", static_cast<i64>(axis)}});
    if (std::ranges::any_of(taps.weight[t], [](double w) { return w != 1; })) {
      Dims across(dims.size() - axis, 1);
      across[0] = to[axis];
      piece = make("Mul", {piece, make.constant(Array(x->type, across, taps.weight[t]))});
    }
    sum = sum == nullptr ? piece : make("Add", {sum, piece});
  }
  return sum;
}

bool resize(Graph& graph, Node& node) {
  for (usize i = 1; i < node.inputs().size(); ++i) {
    if (node.input(i) != nullptr && !node.input(i)->constant) return false;
  }
  if (node.string("coordinate_transformation_mode") == "tf_crop_and_resize" &&
      node.number("extrapolation_value", 0) != 0)
    return false;
  std::vector<AxisTaps> taps;
  for (usize a = 0; a < node.input(0)->shape.rank(); ++a) {
    taps.push_back(taps_of(node, a));
    if (taps.back().index.empty()) return false;
  }
  Maker make(graph, node);
  Value* x = node.input(0);
  for (usize a = 0; a < taps.size(); ++a) {
    if (repetition(taps[a], x->shape[a]) != i64{1}) x = resize_axis(make, x, a, taps[a]);
  }
  make.replace({x});
  return true;
}

// Transposed convolution
// ------------------------------------------------------------------------------------------

// Sizes along one axis: element o of the result is element (o + begin) of what the convolution makes, whose element
// q * stride + r is a sum over pieces of the kernel with every stride-th point from r on.
struct TransposedAxis {
  i64 stride, points, begin, out, places, behind;
};
TransposedAxis transposed_axis(const Window& w, usize a) {
  TransposedAxis t{.stride = w.stride[a],
                   .points = ceil_div(w.span(a), w.stride[a]),
                   .begin = w.pad_begin[a],
                   .out = w.out[a],
                   .places = 0,
                   .behind = 0};
  t.behind = t.points - 1;
  t.places = w.in[a] + t.behind;
  const i64 missing = ceil_div<i64>(t.begin + t.out, t.stride) - t.places;
  t.behind += std::max<i64>(0, missing);
  t.places += std::max<i64>(0, missing);
  return t;
}

bool transposed_convolution(Graph& graph, Node& node) {
  const Shape &in = node.input(0)->shape, &shape = node.input(1)->shape;
  if (in.rank() != 4 || !node.input(1)->constant) return false;
  if (node.input(2) != nullptr && !node.input(2)->constant) return false;
  const Window w = transposed_window_of(node, {in[2], in[3]}, {shape[2], shape[3]});
  const TransposedAxis h = transposed_axis(w, 0), v = transposed_axis(w, 1);
  if (h.begin < 0 || v.begin < 0) return false;
  const i64 groups = node.integer("group", 1), channels = shape[0] / groups, filters = shape[1];
  // Filters: group, filter, row and column of the result inside a stride.
  const i64 all = groups * filters * h.stride * v.stride;
  const Array old = node.input(1)->constant->array();
  Array weights(old.type, {all, channels, h.points, v.points});
  usize to = 0;
  for (i64 f = 0; f < all; ++f) {
    const i64 column = f % v.stride, row = f / v.stride % h.stride, filter = f / (v.stride * h.stride);
    for (i64 c = 0; c < channels; ++c) {
      for (i64 y = 0; y < h.points; ++y) {
        for (i64 x = 0; x < v.points; ++x, ++to) {
          // Points in reverse, and none between those of a dilated kernel.
          const i64 ky = (h.points - 1 - y) * h.stride + row, kx = (v.points - 1 - x) * v.stride + column;
          if (ky % w.dilation[0] != 0 || kx % w.dilation[1] != 0) continue;
          const i64 py = ky / w.dilation[0], px = kx / w.dilation[1];
          if (py >= shape[2] || px >= shape[3]) continue;
          const i64 from =
              (((filter / filters * channels + c) * filters + filter % filters) * shape[2] + py) * shape[3];
          weights.values[to] = old.values[static_cast<usize>(from + px)];
        }
      }
    }
  }
  Maker make(graph, node);
  std::vector<Value*> operands{node.input(0), make.constant(weights)};
  if (node.input(2) != nullptr) {
    const Array bias = node.input(2)->constant->array();
    Array each(bias.type, {all});
    for (i64 f = 0; f < all; ++f)
      each.values[static_cast<usize>(f)] = bias.values.at(static_cast<usize>(f / (h.stride * v.stride)));
    operands.push_back(make.constant(each));
  }
  Value* y = make("Conv2D", operands,
                  {{"group", groups}, {"pads", std::vector<i64>{h.points - 1, v.points - 1, h.behind, v.behind}}});
  if (h.stride * v.stride > 1) {
    y = make.reshape(y, {in[0], groups * filters, h.stride, v.stride, h.places, v.places});
    y = make("TransposeD", {y}, {{"perm", std::vector<i64>{0, 1, 4, 2, 5, 3}}});
    y = make.reshape(y, {in[0], groups * filters, h.places * h.stride, v.places * v.stride});
  }
  if (h.begin != 0 || v.begin != 0 || y->shape[2] != h.out || y->shape[3] != v.out) {
    y = make("StridedSliceV2", {y, make.integers({h.begin, v.begin}), make.integers({h.begin + h.out, v.begin + v.out}),
                                make.integers({2, 3})});
  }
  make.replace({y});
  return true;
}

struct Decomposition {
  std::string_view type;
  Rewrite rewrite;
};
constexpr auto kDecompositions = std::to_array<Decomposition>({
    {"AscendDequantV2", dequantise},
    {"AscendQuantV2", quantise},
    {"Conv2DTranspose", transposed_convolution},
    {"InstanceNorm", instance_norm},
    {"LRN", local_response},
    {"LayerNorm", layer_norm},
    {"MVNV2", mean_variance},
    {"ReduceLogSumExp", log_sum_exp},
    {"Resize", resize},
});

}  // namespace

Visit decompose(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr) return Visit::none;
  const auto at = std::ranges::find(kDecompositions, node.type, &Decomposition::type);
  if (at == kDecompositions.end()) return Visit::none;
  for (const auto* const list : {&node.inputs(), &node.outputs()}) {
    for (const Value* const v : *list) {
      if (v != nullptr && !v->shape.known()) return Visit::matched;
    }
  }
  return at->rewrite(graph, node) ? Visit::gone : Visit::matched;
}

}  // namespace vinci::graph
