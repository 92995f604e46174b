// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <numeric>
#include <optional>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/window.h"
#include "tools/graph/passes/decompose.h"
#include "tools/graph/passes/maker.h"

// Windows over three axes as windows over maps. The first of the axes is called depth.
namespace vinci::graph {
namespace {

// Exchanges channels and depth.
Value* exchange_depth(Maker& make, Value* x) {
  return make("TransposeD", {x}, {{"perm", std::vector<i64>{0, 2, 1, 3, 4}}});
}

// `x` of (image, depth, ...) with slices of zeros before and behind.
Value* pad_depth(Maker& make, Value* x, i64 before, i64 behind) {
  const auto zeros = [&](i64 extent) {
    Dims dims = x->shape.dims();
    dims[1] = extent;
    return make.constant(Array(x->type, dims));
  };
  std::vector<Value*> padded{x};
  if (before > 0) padded.insert(padded.begin(), zeros(before));
  if (behind > 0) padded.push_back(zeros(behind));
  return padded.size() > 1 ? make("ConcatD", padded, {{"axis", i64{1}}}) : x;
}

// `count` slices of (image, depth, ...), `stride` apart.
Value* slices_of_depth(Maker& make, Value* x, i64 first, i64 count, i64 stride) {
  if (count == x->shape[1]) return x;
  return make("StridedSliceV2", {x, make.integers({first}), make.integers({first + (count - 1) * stride + 1}),
                                 make.integers({1}), make.integers({stride})});
}

// Slices of (image, depth, channel, row, column), one for each point of the window, as maps. Channels are those of the
// first part of each slice, then those of the second one.
Value* slices_as_channels(Maker& make, const std::vector<Value*>& slices, i64 parts) {
  const Dims dims = slices[0]->shape.dims();
  const i64 maps = dims[0] * dims[1], channels = dims[2], plane = dims[3] * dims[4];
  std::vector<Value*> pieces;
  for (Value* const slice : slices)
    pieces.push_back(make.reshape(slice, {maps, parts, channels / parts * plane}));
  Value* const together = pieces.size() > 1 ? make("ConcatD", pieces, {{"axis", i64{2}}}) : pieces[0];
  return make.reshape(together, {maps, std::ssize(slices) * channels, dims[3], dims[4]});
}

}  // namespace

// The slices under a window become channels of maps. Groups are joined until they fill blocks of 16 channels, with
// weights of zero between them.
bool decompose_convolution_of_volumes(Graph& graph, Node& node) {
  const Shape &in = node.input(0)->shape, &shape = node.input(1)->shape;
  if (!node.input(1)->constant) return false;
  const Window w = window_of(node, {in[2], in[3], in[4]}, {shape[2], shape[3], shape[4]});
  if (w.pad_begin[0] < 0 || w.pad_end[0] < 0) return false;
  const i64 filters = shape[0], depth = w.kernel[0], groups = node.integer("group", 1), channels = shape[1];
  const i64 block = static_cast<i64>(kC0), joined = block / std::gcd(channels, block);
  const i64 together = groups % joined == 0 ? joined : 1, parts = groups / together, wide = together * channels;
  const Array old = node.input(1)->constant->array();
  Array weights(old.type, {filters, depth * wide, shape[3], shape[4]});
  const i64 points = shape[3] * shape[4];
  for (i64 f = 0; f < filters; ++f) {
    const i64 place = f / (filters / groups) % together * channels;  // of its group among those that are joined
    for (i64 c = 0; c < channels; ++c) {
      for (i64 d = 0; d < depth; ++d) {
        std::copy_n(old.values.begin() + ((f * channels + c) * depth + d) * points, points,
                    weights.values.begin() + ((f * depth + d) * wide + place + c) * points);
      }
    }
  }
  Maker make(graph, node);
  // The last slice may be behind the padding where the output is rounded up.
  const i64 last = (w.out[0] - 1) * w.stride[0] + (depth - 1) * w.dilation[0] + 1;
  Value* const x = pad_depth(make, exchange_depth(make, node.input(0)), w.pad_begin[0], last - w.pad_begin[0] - in[2]);
  std::vector<Value*> slices;
  for (i64 d = 0; d < depth; ++d)
    slices.push_back(slices_of_depth(make, x, d * w.dilation[0], w.out[0], w.stride[0]));
  std::vector<Value*> operands{slices_as_channels(make, slices, parts), make.constant(weights)};
  if (node.input(2) != nullptr) operands.push_back(node.input(2));
  Value* const maps = make("Conv2D", operands,
                           {{"group", parts},
                            {"strides", std::vector<i64>{w.stride[1], w.stride[2]}},
                            {"dilations", std::vector<i64>{w.dilation[1], w.dilation[2]}},
                            {"pads", std::vector<i64>{w.pad_begin[1], w.pad_begin[2], w.pad_end[1], w.pad_end[2]}}});
  make.replace({exchange_depth(make, make.reshape(maps, {in[0], w.out[0], filters, w.out[1], w.out[2]}))});
  return true;
}

// Slices of the result that are a stride apart are a convolution along the depth; those of one stride are filters of a
// transposed convolution of maps.
bool decompose_transposed_convolution_of_volumes(Graph& graph, Node& node) {
  const Shape &in = node.input(0)->shape, &shape = node.input(1)->shape;
  if (!node.input(1)->constant || node.integer("group", 1) != 1) return false;
  if (node.input(2) != nullptr && !node.input(2)->constant) return false;
  const Window w = transposed_window_of(node, {in[2], in[3], in[4]}, {shape[2], shape[3], shape[4]});
  const i64 stride = w.stride[0], taps = ceil_div(w.span(0), stride), begin = w.pad_begin[0];
  if (std::ranges::any_of(w.pad_begin, [](i64 p) { return p < 0; })) return false;
  const i64 places = std::max(in[2] + taps - 1, ceil_div(begin + w.out[0], stride));
  const i64 channels = shape[0], filters = shape[1], points = shape[3] * shape[4];
  const Array old = node.input(1)->constant->array();
  Array weights(old.type, {taps * channels, stride * filters, shape[3], shape[4]});
  for (i64 t = 0; t < taps; ++t) {
    for (i64 r = 0; r < stride; ++r) {
      const i64 at = (taps - 1 - t) * stride + r;  // in the span of the kernel
      if (at % w.dilation[0] != 0 || at / w.dilation[0] >= shape[2]) continue;
      for (i64 c = 0; c < channels; ++c) {
        for (i64 f = 0; f < filters; ++f) {
          std::copy_n(old.values.begin() + ((c * filters + f) * shape[2] + at / w.dilation[0]) * points, points,
                      weights.values.begin() + ((t * channels + c) * stride * filters + r * filters + f) * points);
        }
      }
    }
  }
  Maker make(graph, node);
  Value* const x = pad_depth(make, exchange_depth(make, node.input(0)), taps - 1, places - in[2]);
  std::vector<Value*> slices;
  for (i64 t = 0; t < taps; ++t)
    slices.push_back(slices_of_depth(make, x, t, places, 1));
  std::vector<Value*> operands{slices_as_channels(make, slices, 1), make.constant(weights)};
  if (node.input(2) != nullptr) {
    const Array bias = node.input(2)->constant->array();
    Array each(bias.type, {stride * filters});
    for (usize f = 0; f < each.size(); ++f)
      each.values[f] = bias.values[f % static_cast<usize>(filters)];
    operands.push_back(make.constant(each));
  }
  const auto more = [&](usize a) {
    return w.out[a] + w.pad_begin[a] + w.pad_end[a] - (w.in[a] - 1) * w.stride[a] - w.span(a);
  };
  Value* const maps = make("Conv2DTranspose", operands,
                           {{"strides", std::vector<i64>{w.stride[1], w.stride[2]}},
                            {"dilations", std::vector<i64>{w.dilation[1], w.dilation[2]}},
                            {"pads", std::vector<i64>{w.pad_begin[1], w.pad_begin[2], w.pad_end[1], w.pad_end[2]}},
                            {"output_padding", std::vector<i64>{more(1), more(2)}}});
  Value* const y = make.reshape(maps, {in[0], places * stride, filters, w.out[1], w.out[2]});
  make.replace({exchange_depth(make, slices_of_depth(make, y, begin, w.out[0], 1))});
  return true;
}

namespace {

// The slices that one point of the windows meets; beyond the first and the last one, these. `counted`: for each window
// whether the point counts as one of the mean.
struct DepthPoint {
  std::vector<i64> slices;
  std::vector<bool> inside, counted;
};
DepthPoint depth_point(const Window& w, i64 k, bool counts_padding) {
  DepthPoint out;
  for (i64 o = 0; o < w.out[0]; ++o) {
    const i64 at = o * w.stride[0] - w.pad_begin[0] + k * w.dilation[0];
    const bool inside = at >= 0 && at < w.in[0];
    out.slices.push_back(std::clamp<i64>(at, 0, w.in[0] - 1));
    out.inside.push_back(inside);
    out.counted.push_back(inside || (counts_padding && at < w.in[0] + w.pad_end[0]));
  }
  return out;
}

// The largest or mean of slices along axis 1 of (..., depth, ...).
Value* pool_depth(Maker& make, Value* x, const Window& w, bool mean, bool counts_padding) {
  std::vector<DepthPoint> points;
  std::vector<i64> counts(static_cast<usize>(w.out[0]));
  for (i64 k = 0; k < w.kernel[0]; ++k) {
    const DepthPoint& point = points.emplace_back(depth_point(w, k, counts_padding));
    for (usize o = 0; o < counts.size(); ++o)
      counts[o] += point.counted[o] ? 1 : 0;
  }
  const bool even = std::ranges::all_of(
      points, [&](const DepthPoint& p) { return std::ranges::all_of(p.inside, [](bool i) { return i; }); });
  Value* y = nullptr;
  for (const DepthPoint& point : points) {
    Value* piece = make("GatherV2", {x, make.integers(point.slices)}, {{"axis", i64{1}}});
    if (mean && !even) {
      Array factors(x->type, {w.out[0], 1});
      for (usize o = 0; o < counts.size(); ++o)
        factors.values[o] = point.inside[o] ? 1.0 / static_cast<double>(counts[o]) : 0;
      factors.round();
      piece = make("Mul", {piece, make.constant(factors)});
    }
    y = y == nullptr ? piece : make(mean ? "Add" : "Maximum", {y, piece});
  }
  return mean && even ? make("Mul", {y, make.number(x->type, 1.0 / static_cast<double>(w.kernel[0]))}) : y;
}

}  // namespace

// A window over rows and columns of maps, then one over the depth as element-wise nodes.
bool decompose_pool_of_volumes(Graph& graph, Node& node, const Target& target) {
  const Value* const in = node.input(0);
  if (in->shape.rank() != 5 || node.outputs().size() != 1 || !is_float(in->type)) return false;
  const Dims& dims = in->shape.dims();
  const Window w = window_of(node, {dims[2], dims[3], dims[4]}, node.integers("kernel_shape"));
  const bool mean = node.type == "AvgPool";
  const i64 begin = w.pad_begin[0], last = (w.out[0] - 1) * w.stride[0] - begin;  // where the last window begins
  if (std::ranges::any_of(w.pad_begin, [](i64 p) { return p < 0; }) || begin >= w.span(0) || last >= dims[2])
    return false;
  // A window that goes beyond the edge has its first or last slice only where no slices are left out.
  const bool beyond = begin > 0 || last + w.span(0) > dims[2];
  if (w.dilation[0] != 1 && beyond && !mean) return false;
  const i64 plane = w.out[1] * w.out[2];
  // Rows of maps with all channels where those of one channel fill no blocks.
  const bool apart = is_joint(*target.chip) && (plane % static_cast<i64>(kC0) != 0);
  Maker make(graph, node);
  Value* x = node.input(0);
  if (apart) x = exchange_depth(make, x);
  const i64 images = dims[0], outer = apart ? images : images * dims[1], inner = apart ? dims[1] * plane : plane;
  if (w.kernel[1] != 1 || w.kernel[2] != 1 || w.stride[1] != 1 || w.stride[2] != 1 || w.out[1] != dims[3] ||
      w.out[2] != dims[4]) {
    Attributes attributes{{"kernel_shape", std::vector<i64>{w.kernel[1], w.kernel[2]}},
                          {"strides", std::vector<i64>{w.stride[1], w.stride[2]}},
                          {"dilations", std::vector<i64>{w.dilation[1], w.dilation[2]}},
                          {"pads", std::vector<i64>{w.pad_begin[1], w.pad_begin[2], w.pad_end[1], w.pad_end[2]}},
                          {"ceil_mode", node.integer("ceil_mode")}};
    if (mean) attributes["count_include_pad"] = node.integer("count_include_pad");
    const Dims maps =
        apart ? Dims{images * dims[2], dims[1], dims[3], dims[4]} : Dims{images, dims[1] * dims[2], dims[3], dims[4]};
    x = make(node.type, {make.reshape(x, maps)}, attributes);
  }
  if (w.kernel[0] != 1 || w.stride[0] != 1 || beyond)
    x = pool_depth(make, make.reshape(x, {outer, dims[2], inner}), w, mean, node.integer("count_include_pad") != 0);
  if (apart) x = exchange_depth(make, make.reshape(x, {images, w.out[0], dims[1], w.out[1], w.out[2]}));
  make.replace({make.reshape(x, node.output()->shape.dims())});
  return true;
}

}  // namespace vinci::graph
