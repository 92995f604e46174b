// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/ops/window.h"
#include "tools/graph/passes/maker.h"
#include "tools/graph/passes/pass.h"

// Convolutions and poolings in the forms that kernels compute: maps of two axes, groups of whole blocks of channels.
namespace vinci::graph {
namespace {

// With an axis of 1 in front of the only axis of a map.
Attributes with_second_axis(const Node& node) {
  Attributes out = node.attributes;
  for (const auto& [key, fill, at] : {std::tuple{"kernel_shape", i64{1}, 0},
                                      {"strides", i64{1}, 0},
                                      {"dilations", i64{1}, 0},
                                      {"pads", i64{0}, 0},
                                      {"pads", i64{0}, 2}}) {
    const auto found = out.find(key);
    if (found == out.end()) continue;
    auto& list = std::get<std::vector<i64>>(found->second);
    list.insert(list.begin() + at, fill);
  }
  return out;
}

i64 least_common_multiple_with_block(i64 channels, u64 c0) {
  return std::lcm(channels, static_cast<i64>(c0)) / channels;
}

// Zeros around a map as far as the window of a convolution reaches.
Value* with_padding(Maker& make, const Node& node, Value* x, const Window& w) {
  for (const usize axis : {usize{2}, usize{3}}) {
    const auto zeros = [&](i64 extent) {
      Dims dims = x->shape.dims();
      dims[axis] = extent;
      Array border(x->type, dims);
      std::ranges::fill(border.values, static_cast<double>(node.integer("offset_x")));
      return make.constant(border);
    };
    std::vector<Value*> pieces{x};
    if (const i64 pad = w.pad_begin[axis - 2]; pad != 0) pieces.insert(pieces.begin(), zeros(pad));
    if (const i64 pad = w.pad_end[axis - 2]; pad != 0) pieces.push_back(zeros(pad));
    if (pieces.size() > 1) x = make("ConcatD", pieces, {{"axis", static_cast<i64>(axis)}});
  }
  return x;
}

// The map cut, or zeros put behind it.
Value* with_extent(Maker& make, Value* x, usize axis, i64 wanted) {
  const i64 there = x->shape[axis], number = static_cast<i64>(axis);
  if (there > wanted)
    return make("StridedSliceV2",
                {x, make.integers({0}), make.integers({wanted}), make.integers({number}), make.integers({1})});
  if (there == wanted) return x;
  Dims dims = x->shape.dims();
  dims[axis] = wanted - there;
  return make("ConcatD", {x, make.constant(Array(x->type, dims))}, {{"axis", number}});
}

// Positions of a map modulo the stride become channels, behind their channel.
Value* folded(Maker& make, Value* x, usize axis, i64 stride) {
  Dims apart = x->shape.dims(), together = apart;
  apart[axis] /= stride;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, stride);
  together[1] *= stride;
  together[axis] /= stride;
  const std::vector<i64> order = axis == 2 ? std::vector<i64>{0, 1, 3, 2, 4} : std::vector<i64>{0, 1, 4, 2, 3};
  return make.reshape(make("TransposeD", {make.reshape(x, apart)}, {{"perm", order}}), together);
}
// The same of weights, with zeros up to a whole stride.
Array folded(const Array& weights, usize axis, i64 stride) {
  Dims dims = weights.dims;
  dims[1] *= stride;
  dims[axis] = ceil_div(dims[axis], stride);
  Array out(weights.type, dims);
  for (i64 i = 0; i < std::ssize(weights.values); ++i) {
    std::array<i64, 2> at{i / weights.dims[3] % weights.dims[2], i % weights.dims[3]};
    const i64 channel = i / (weights.dims[2] * weights.dims[3]);  // of all filters
    i64& along = at[axis - 2];
    const i64 place = along % stride;
    along /= stride;
    out.values[static_cast<usize>(((channel * stride + place) * dims[2] + at[0]) * dims[3] + at[1])] =
        weights.values[static_cast<usize>(i)];
  }
  return out;
}

}  // namespace

Visit widen_map(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr) return Visit::none;
  if (node.type != "Conv2D" && node.type != "AvgPool" && node.type != "MaxPool" && node.type != "Conv2DTranspose" &&
      node.type != "LpPool")
    return Visit::none;
  const Shape& in = node.input(0)->shape;
  if (!in.known() || in.rank() != 3) return Visit::none;
  if (node.outputs().size() != 1) return Visit::refused({&node}, "it has several outputs");
  if (node.has("output_shape") || node.has("output_padding"))
    return Visit::refused({&node}, "it says the extents of its output");
  Maker make(graph, node);
  const auto wide = [&](Value* v) {
    const Dims dims{v->shape[0], v->shape[1], 1, v->shape[2]};
    if (!v->constant) return make.reshape(v, dims);
    const auto bytes = v->constant->bytes();
    return graph.add_constant(v->name, Tensor(v->type, dims, {bytes.begin(), bytes.end()}));
  };
  std::vector<Value*> operands{wide(node.input(0))};
  for (usize i = 1; i < node.inputs().size(); ++i)
    operands.push_back(i == 1 ? wide(node.input(i)) : node.input(i));
  make.replace({make(node.type, operands, with_second_axis(node))});
  return Visit::gone;
}

// A window that moves further than load3d can, or is longer: positions modulo the stride become channels, and the
// window moves by one. So have filters over samples of sound.
Visit fold_stride(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || node.type != "Conv2D") return Visit::none;
  const Shape &in = node.input(0)->shape, &shape = node.input(1)->shape;
  if (!in.known() || in.rank() != 4 || !shape.known()) return Visit::none;
  Window w = window_of(node, {in[2], in[3]}, {shape[2], shape[3]});
  const auto folds = [&](usize a) {
    return w.stride[a] > kMaxWindowStride || (w.kernel[a] > kMaxWindow && w.stride[a] > 1);
  };
  if (!folds(0) && !folds(1)) return Visit::none;
  if (!node.input(1)->constant) return Visit::refused({&node}, "the weights are no constant");
  for (const usize a : {usize{0}, usize{1}}) {
    if (w.pad_begin[a] < 0 || w.pad_end[a] < 0) return Visit::refused({&node}, "its padding is negative");
    if (folds(a) && w.dilation[a] != 1) return Visit::refused({&node}, "the points of its window are apart");
    if (folds(a) && ceil_div(w.kernel[a], w.stride[a]) > kMaxWindow)
      return Visit::refused({&node}, fmt::format("its window has more than {} strides", kMaxWindow));
  }
  Maker make(graph, node);
  Value* x = with_padding(make, node, node.input(0), w);
  Array weights = node.input(1)->constant->array();
  for (const usize axis : {usize{2}, usize{3}}) {
    const usize a = axis - 2;
    if (!folds(a)) continue;
    const i64 stride = w.stride[a];
    const i64 reach = (w.out[a] - 1 + ceil_div(w.kernel[a], stride)) * stride;
    x = folded(make, with_extent(make, x, axis, reach), axis, stride);
    weights = folded(weights, axis, stride);
    w.stride[a] = 1;
  }
  Attributes attributes = node.attributes;
  attributes.erase("auto_pad");
  attributes.erase("kernel_shape");
  attributes["pads"] = std::vector<i64>{0, 0, 0, 0};
  attributes["strides"] = std::vector<i64>{w.stride[0], w.stride[1]};
  std::vector<Value*> operands{x, make.constant(weights)};
  if (node.input(2) != nullptr) operands.push_back(node.input(2));
  make.replace({make("Conv2D", operands, attributes)});
  return Visit::gone;
}

// A window that load3d cannot describe: padding becomes part of the map, and points that are far from each other become
// channels.
Visit unroll_window(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || node.type != "Conv2D") return Visit::none;
  const Shape &in = node.input(0)->shape, &shape = node.input(1)->shape;
  if (!in.known() || in.rank() != 4 || !shape.known()) return Visit::none;
  const Window w = window_of(node, {in[2], in[3]}, {shape[2], shape[3]});
  bool far = false, outside = false;
  for (usize a = 0; a < 2; ++a) {
    if (w.pad_begin[a] < 0 || w.pad_end[a] < 0) return Visit::refused({&node}, "its padding is negative");
    far = far || w.dilation[a] > kMaxWindow;
    for (const i64 pad : {w.pad_begin[a], w.pad_end[a]})
      outside = outside || pad > kMaxWindow || (pad != 0 && pad >= w.span(a));
  }
  if (!far && !outside) return Visit::none;
  if (far && node.integer("group", 1) != 1) return Visit::refused({&node}, "it has groups");
  if (far && !node.input(1)->constant) return Visit::refused({&node}, "the weights are no constant");
  Maker make(graph, node);
  Value* x = with_padding(make, node, node.input(0), w);
  Attributes attributes = node.attributes;
  attributes.erase("auto_pad");
  attributes["pads"] = std::vector<i64>{0, 0, 0, 0};
  Value* weights = node.input(1);
  if (far) {
    const i64 filters = shape[0], channels = shape[1], points = shape[2] * shape[3];
    const Array old = weights->constant->array();
    Array turned(old.type, {filters, points * channels, 1, 1});
    for (i64 f = 0; f < filters; ++f) {
      for (i64 c = 0; c < channels; ++c) {
        for (i64 p = 0; p < points; ++p)
          turned.values[static_cast<usize>((f * points + p) * channels + c)] =
              old.values[static_cast<usize>((f * channels + c) * points + p)];
      }
    }
    weights = make.constant(turned);
    std::vector<Value*> pieces;
    for (i64 p = 0; p < points; ++p) {
      const i64 row = p / shape[3] * w.dilation[0], column = p % shape[3] * w.dilation[1];
      pieces.push_back(make("StridedSliceV2", {x, make.integers({row, column}),
                                               make.integers({row + (w.out[0] - 1) * w.stride[0] + 1,
                                                              column + (w.out[1] - 1) * w.stride[1] + 1}),
                                               make.integers({2, 3}), make.integers({w.stride[0], w.stride[1]})}));
    }
    x = pieces.size() == 1 ? pieces[0] : make("ConcatD", pieces, {{"axis", i64{1}}});
    attributes = {};
  }
  std::vector<Value*> operands{x, weights};
  if (node.input(2) != nullptr) operands.push_back(node.input(2));
  make.replace({make("Conv2D", operands, attributes)});
  return Visit::gone;
}

// Groups that share blocks of channels become one: weights between different groups are zero.
Visit regroup_convolution(Graph& graph, Node& node, const Target& target) {
  if (target.chip == nullptr || node.type != "Conv2D" || node.integer("group", 1) == 1) return Visit::none;
  const Shape& shape = node.input(1)->shape;
  if (!node.input(1)->constant || !shape.known()) return Visit::refused({&node}, "the weights are no constant");
  const i64 groups = node.integer("group"), channels = shape[1], filters = shape[0] / groups;
  const DataType type = node.input(0)->type;
  i64 together = std::lcm(least_common_multiple_with_block(channels, c0_of(type)),
                          least_common_multiple_with_block(filters, std::max<u64>(kC0, c0_of(type))));
  if (together == 1) return Visit::none;
  if (groups % together != 0) together = groups;
  const Array old = node.input(1)->constant->array();
  Dims dims = shape.dims();
  dims[1] = channels * together;
  Array wide(old.type, dims);
  const u64 points = old.size() / static_cast<u64>(shape[0] * channels);
  for (i64 f = 0; f < shape[0]; ++f) {
    const i64 place = f / filters % together;
    const auto from = old.values.begin() + f * channels * static_cast<i64>(points);
    std::copy_n(from, channels * static_cast<i64>(points),
                wide.values.begin() + (f * together + place) * channels * static_cast<i64>(points));
  }
  Value* const weights = graph.add_constant(node.input(1)->name, Tensor(wide));
  node.set_input(1, weights);
  node.attributes["group"] = groups / together;
  return Visit::changed;
}

}  // namespace vinci::graph
