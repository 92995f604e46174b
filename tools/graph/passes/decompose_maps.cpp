// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "tools/graph/kernels/kernel.h"
#include "tools/graph/ops/window.h"
#include "tools/graph/passes/decompose.h"
#include "tools/graph/passes/maker.h"

// Operators on maps as nodes that have a kernel.
namespace vinci::graph {
namespace {

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

// Of rows and columns of a map whose pixels are repeated; none where they are not.
std::optional<std::pair<i64, i64>> whole_pixels(const Node& node, const std::vector<AxisTaps>& taps) {
  if (taps.size() != 4) return std::nullopt;
  std::array<i64, 4> times{};
  for (usize a = 0; a < 4; ++a)
    times[a] = repetition(taps[a], node.input(0)->shape[a]).value_or(0);
  if (times[0] != 1 || times[1] != 1 || times[2] == 0 || times[3] == 0) return std::nullopt;
  return std::pair{times[2], times[3]};
}

// As a product with a matrix that has a row of weights for each element of the result.
Value* resize_by_product(Maker& make, Value* x, usize axis, const AxisTaps& taps) {
  const AroundAxis a = around_axis(x->shape.dims(), axis);
  const i64 extent = static_cast<i64>(a.extent), count = std::ssize(taps.index.at(0));
  Array weights(x->type, {count, extent});
  for (usize t = 0; t < taps.index.size(); ++t) {
    for (i64 o = 0; o < count; ++o) {
      const auto at = static_cast<usize>(o);
      weights.values[static_cast<usize>(o * extent + taps.index[t][at])] += taps.weight[t][at];
    }
  }
  weights.round();
  Dims to = x->shape.dims();
  to[axis] = count;
  const i64 outer = static_cast<i64>(a.outer), inner = static_cast<i64>(a.inner);
  Value* const matrix = make.constant(weights);
  if (inner == 1) {
    Value* const rows = make.reshape(x, {outer, extent});
    return make.reshape(make("BatchMatMulV2", {rows, matrix}, {{"adj_x2", i64{1}}}), to);
  }
  return make.reshape(make("BatchMatMulV2", {matrix, make.reshape(x, {outer, extent, inner})}), to);
}

Value* resize_axis(Maker& make, Value* x, usize axis, const AxisTaps& taps, bool products) {
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
  const bool sums = taps.index.size() > 1 || std::ranges::any_of(taps.weight[0], [](double w) { return w != 1; });
  if (products && sums && dims[axis] > 1) return resize_by_product(make, x, axis, taps);
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

}  // namespace

bool decompose_resize(Graph& graph, Node& node, const Target& target) {
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
  const bool products = x->type == DataType::f16 ||
                        (x->type == DataType::f32 && target.precision != PrecisionMode::must_keep_origin_dtype);
  // One pixel is repeated, whatever the mode.
  const Dims &in = x->shape.dims(), &out = node.output()->shape.dims();
  bool one_pixel = in != out && node.string("coordinate_transformation_mode") != "tf_crop_and_resize";
  for (usize a = 0; a < in.size(); ++a)
    one_pixel = one_pixel && (in[a] == out[a] || in[a] == 1);
  if (one_pixel) {
    make.replace({make("BroadcastTo", {x, make.integers(out)})});
    return true;
  }
  if (const auto times = whole_pixels(node, taps)) {
    make.replace({make("Upsample", {x}, {{"stride_h", times->first}, {"stride_w", times->second}})});
    return true;
  }
  for (usize a = 0; a < taps.size(); ++a) {
    if (repetition(taps[a], x->shape[a]) != i64{1}) x = resize_axis(make, x, a, taps[a], products);
  }
  make.replace({x});
  return true;
}

namespace {

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

}  // namespace

bool decompose_transposed_convolution(Graph& graph, Node& node) {
  Dims in = node.input(0)->shape.dims(), shape = node.input(1)->shape.dims();
  if (in.size() == 5) return decompose_transposed_convolution_of_volumes(graph, node);
  if ((in.size() != 3 && in.size() != 4) || !node.input(1)->constant) return false;
  if (node.input(2) != nullptr && !node.input(2)->constant) return false;
  Window w = transposed_window_of(node, {in.begin() + 2, in.end()}, {shape.begin() + 2, shape.end()});
  const bool line = in.size() == 3;
  if (line) {  // as a map of one row
    in.insert(in.begin() + 2, 1);
    shape.insert(shape.begin() + 2, 1);
    for (Dims* const of : {&w.in, &w.out, &w.kernel, &w.stride, &w.dilation})
      of->insert(of->begin(), 1);
    for (Dims* const of : {&w.pad_begin, &w.pad_end})
      of->insert(of->begin(), 0);
  }
  const TransposedAxis h = transposed_axis(w, 0), v = transposed_axis(w, 1);
  if (h.begin < 0 || v.begin < 0) return false;
  const i64 groups = node.integer("group", 1), channels = shape[0] / groups, filters = shape[1];
  // Filters: group, filter, row and column of the result inside a stride; or without groups row, column and filter, so
  // that blocks of channels stay together.
  const i64 all = groups * filters * h.stride * v.stride;
  const bool places_first = groups == 1 && h.stride == v.stride;
  const Array old = node.input(1)->constant->array();
  Array weights(old.type, {all, channels, h.points, v.points});
  usize to = 0;
  for (i64 f = 0; f < all; ++f) {
    const i64 place = places_first ? f / filters : f % (v.stride * h.stride);
    const i64 filter = places_first ? f % filters : f / (v.stride * h.stride);
    const i64 column = place % v.stride, row = place / v.stride;
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
  std::vector<Value*> operands{line ? make.reshape(node.input(0), in) : node.input(0), make.constant(weights)};
  if (node.input(2) != nullptr) {
    const Array bias = node.input(2)->constant->array();
    Array each(bias.type, {all});
    for (i64 f = 0; f < all; ++f)
      each.values[static_cast<usize>(f)] =
          bias.values.at(static_cast<usize>(places_first ? f % filters : f / (h.stride * v.stride)));
    operands.push_back(make.constant(each));
  }
  Value* y = make("Conv2D", operands,
                  {{"group", groups}, {"pads", std::vector<i64>{h.points - 1, v.points - 1, h.behind, v.behind}}});
  if (places_first && h.stride > 1) {
    y = make("DepthToSpace", {y}, {{"blocksize", h.stride}});
  } else if (h.stride * v.stride > 1) {
    y = make.reshape(y, {in[0], groups * filters, h.stride, v.stride, h.places, v.places});
    y = make("TransposeD", {y}, {{"perm", std::vector<i64>{0, 1, 4, 2, 5, 3}}});
    y = make.reshape(y, {in[0], groups * filters, h.places * h.stride, v.places * v.stride});
  }
  if (h.begin != 0 || v.begin != 0 || y->shape[2] != h.out || y->shape[3] != v.out) {
    y = make("StridedSliceV2", {y, make.integers({h.begin, v.begin}), make.integers({h.begin + h.out, v.begin + v.out}),
                                make.integers({2, 3})});
  }
  if (line) y = make.reshape(y, {in[0], groups * filters, v.out});
  make.replace({y});
  return true;
}

// Convolution by a tensor
// -----------------------------------------------------------------------------------------

namespace {

// The pixels of a map that a point of the window meets.
Value* window_point(Maker& make, Value* x, const Window& w, std::span<const i64> point) {
  std::vector<i64> first, end;
  for (usize a = 0; a < 2; ++a) {
    first.push_back(point[a] * w.dilation[a]);
    end.push_back(first[a] + (w.out[a] - 1) * w.stride[a] + 1);
  }
  return make("StridedSliceV2", {x, make.integers(first), make.integers(end), make.integers({2, 3}),
                                 make.integers({w.stride[0], w.stride[1]})});
}

// A number for each channel at a point of filters (channels, 1, rows, columns), for all pixels of a map.
Value* factors_at(Maker& make, Value* filters, std::span<const i64> point) {
  const Dims& dims = filters->shape.dims();
  Value* const map = make.reshape(filters, {1, dims[0], dims[2], dims[3]});
  return make("StridedSliceV2", {map, make.integers({point[0], point[1]}), make.integers({point[0] + 1, point[1] + 1}),
                                 make.integers({2, 3})});
}

}  // namespace

// One filter for each channel that is no constant, as in a cross correlation: a sum of products for each point of the
// window.
bool decompose_convolution(Graph& graph, Node& node) {
  const Shape &in = node.input(0)->shape, &filters = node.input(1)->shape;
  if (in.rank() == 5) return decompose_convolution_of_volumes(graph, node);
  if (node.input(1)->constant || in.rank() != 4) return false;
  if (node.integer("group", 1) != in[1] || filters[0] != in[1]) return false;
  const Window w = window_of(node, {in[2], in[3]}, {filters[2], filters[3]});
  Maker make(graph, node);
  Value* x = node.input(0);
  const std::vector<i64> pads{0, 0, w.pad_begin[0], w.pad_begin[1], 0, 0, w.pad_end[0], w.pad_end[1]};
  if (std::ranges::any_of(pads, [](i64 p) { return p != 0; })) x = make("PadV3", {x, make.integers(pads)});
  Value* sum = nullptr;
  for_each_index(std::array{filters[2], filters[3]}, [&](std::span<const i64> point) {
    Value* const product = make("Mul", {window_point(make, x, w, point), factors_at(make, node.input(1), point)});
    sum = sum == nullptr ? product : make("Add", {sum, product});
  });
  if (node.input(2) != nullptr) sum = make("Add", {sum, make.reshape(node.input(2), {1, in[1], 1, 1})});
  make.replace({sum});
  return true;
}

// Borders
// ---------------------------------------------------------------------------------------------------------

namespace {

// A border of one number: pieces in front of the tensor and behind it, axis by axis.
Value* pad_by_number(Maker& make, Value* x, std::span<const i64> pads, double fill) {
  for (usize a = 0; a < pads.size() / 2; ++a) {
    std::vector<Value*> pieces{x};
    const auto border = [&](i64 extent) {
      Dims dims = x->shape.dims();
      dims[a] = extent;
      Array numbers(x->type, dims);
      std::ranges::fill(numbers.values, fill);
      return make.constant(numbers);
    };
    if (pads[a] != 0) pieces.insert(pieces.begin(), border(pads[a]));
    if (const i64 behind = pads[a + pads.size() / 2]; behind != 0) pieces.push_back(border(behind));
    if (pieces.size() > 1) x = make("ConcatD", pieces, {{"axis", static_cast<i64>(a)}});
  }
  return x;
}

// The positions along an axis that a border repeats, by the values of the operator for a row of numbers.
std::vector<i64> padded_positions(const std::string& mode, i64 extent, i64 before, i64 behind) {
  Graph one("border");
  Value* const row = one.add_input("row", DataType::i64, {extent});
  Value* const pads = one.add_input("pads", DataType::i64, {2});
  Node* const node = one.add_node("PadV3", "border", {row, pads});
  node->attributes["mode"] = mode;
  Array numbers(DataType::i64, {extent}), sizes(DataType::i64, {2});
  std::iota(numbers.values.begin(), numbers.values.end(), 0.0);
  sizes.values = {static_cast<double>(before), static_cast<double>(behind)};
  return evaluate(*node, {&numbers, &sizes})[0].integers();
}

// The tensor as a map whose rows are the elements along `axis`, or its columns for the last axis.
Dims as_map(const Dims& dims, usize axis) {
  if (dims.size() == 4 && axis >= 2) return dims;
  const AroundAxis a = around_axis(dims, axis);
  const i64 images = axis < 2 ? 1 : dims[0], inner = static_cast<i64>(a.inner);
  const bool last = axis + 1 == dims.size();
  return {images, static_cast<i64>(a.outer) / images, last ? 1 : dims[axis], last ? dims[axis] : inner};
}

// The tensor with columns before and behind it, each a piece; the tensor itself has the positions from `before` on.
Value* pad_by_columns(Maker& make, Value* x, std::span<const i64> positions, i64 before) {
  const auto axis = static_cast<i64>(x->shape.rank()) - 1;
  const i64 extent = x->shape[x->shape.rank() - 1];
  std::vector<Value*> pieces;
  for (i64 i = 0; i < std::ssize(positions); ++i) {
    if (i == before) pieces.push_back(x);
    if (i >= before && i < before + extent) continue;
    const i64 at = positions[static_cast<usize>(i)];
    pieces.push_back(make("StridedSliceV2", {x, make.integers({at}), make.integers({at + 1}), make.integers({axis}),
                                             make.integers({1})}));
  }
  return make("ConcatD", pieces, {{"axis", axis}});
}

}  // namespace

// A border of elements of the tensor is a gather along each axis. Blocks of channels move where rows do not.
bool decompose_pad(Graph& graph, Node& node, const Target& target) {
  const Value* const number = node.input(2);
  const std::string mode = node.string("mode", "constant");
  if (node.input(3) != nullptr || !is_float(node.output()->type)) return false;
  if (!node.input(1)->constant || (number != nullptr && !number->constant)) return false;
  std::vector<i64> pads = node.input(1)->constant->array().integers();
  const usize axes = node.input(0)->shape.rank();
  const auto cut = [&](usize axis) { return pads[axis] < 0 || pads[axis + axes] < 0; };
  bool cuts = false;
  for (usize a = 0; a < axes; ++a) {
    // Other modes take what they repeat from the whole axis.
    if (cut(a) && (mode != "constant" ||
                   std::min<i64>(pads[a], 0) + std::min<i64>(pads[a + axes], 0) + node.input(0)->shape[a] <= 0))
      return false;
    cuts = cuts || cut(a);
  }
  Maker make(graph, node);
  Value* x = node.input(0);
  for (usize a = 0; a < axes && cuts; ++a) {
    if (!cut(a)) continue;
    const i64 begin = std::max<i64>(-pads[a], 0), end = x->shape[a] - std::max<i64>(-pads[a + axes], 0);
    x = make("StridedSliceV2", {x, make.integers({begin}), make.integers({end}), make.integers({static_cast<i64>(a)}),
                                make.integers({1})});
    pads[a] = std::max<i64>(pads[a], 0);
    pads[a + axes] = std::max<i64>(pads[a + axes], 0);
  }
  if (mode == "constant") {
    const double fill = number == nullptr || number->shape.elements() == 0 ? 0 : number->constant->array().values[0];
    make.replace({pad_by_number(make, x, pads, fill)});
    return true;
  }
  if (mode != "edge" && mode != "reflect" && mode != "wrap") return false;
  const usize rank = x->shape.rank();
  for (usize a = 0; a < rank; ++a) {
    const bool padded = pads[a] + pads[a + rank] != 0;
    if (padded && x->shape[a] < (mode == "reflect" ? 2 : 1)) return false;
  }
  const bool half =
      x->type == DataType::f16 || (x->type == DataType::f32 && target.precision == PrecisionMode::force_fp16);
  // Of other types, rows that move are whole, and columns are few pieces.
  constexpr i64 kMostColumns = 32;
  const bool joint = is_joint(*target.chip);
  const auto moves = [&](usize axis) {
    if (pads[axis] + pads[axis + rank] == 0) return true;
    const u64 row = around_axis(x->shape.dims(), axis).inner * info(x->type).bytes;
    if (joint) return row % 32 == 0;
    return axis + 1 < rank || pads[axis] + pads[axis + rank] <= kMostColumns;
  };
  for (usize a = 0; a < rank && !half; ++a) {
    if (!moves(a)) return false;
  }
  for (usize a = 0; a < rank; ++a) {
    if (pads[a] + pads[a + rank] == 0) continue;
    const Dims dims = x->shape.dims();
    const std::vector<i64> positions = padded_positions(mode, dims[a], pads[a], pads[a + rank]);
    Dims padded = dims;
    padded[a] = std::ssize(positions);
    if (a + 1 == rank && !half) {
      x = pad_by_columns(make, x, positions, pads[a]);
      continue;
    }
    const u64 row = around_axis(dims, a).inner;
    const bool last = a + 1 == rank, map = half && (last || (joint && row % kC0 != 0));
    Value* const from = map ? make.reshape(x, as_map(dims, a)) : x;
    const i64 axis = !map ? static_cast<i64>(a) : last ? 3 : 2;
    x = make("GatherV2", {from, make.integers(positions)}, {{"axis", axis}});
    x = make.reshape(x, padded);
  }
  make.replace({x});
  return true;
}

// Behind a convolution by constants, channels in the order of PixelShuffle (CRD) are filters in another order: with
// that of DCR whole blocks of channels move.
bool decompose_depth_to_space(Graph& graph, Node& node) {
  const Shape& out = node.output()->shape;
  if (node.string("mode", "DCR") != "CRD" || out.rank() != 4 || out[1] % static_cast<i64>(kC0) != 0) return false;
  // Functions of one operand may be in between.
  constexpr auto kBetween = std::to_array<std::string_view>({"LeakyRelu", "Relu", "Sigmoid", "Tanh"});
  const Value* v = node.input(0);
  while (v->producer() != nullptr && graph.sole_user(v) != nullptr &&
         std::ranges::find(kBetween, v->producer()->type) != kBetween.end())
    v = v->producer()->input(0);
  Node* const conv = producer(v, "Conv2D");
  if (conv == nullptr || graph.sole_user(v) == nullptr || !conv->input(1)->constant || conv->integer("group", 1) != 1)
    return false;
  if (conv->input(2) != nullptr && !conv->input(2)->constant) return false;
  const i64 block = node.integer("blocksize"), parts = block * block, channels = out[1];
  for (const usize i : {usize{1}, usize{2}}) {
    if (conv->input(i) == nullptr) continue;
    const Array from = conv->input(i)->constant->array();
    Array to(from.type, from.dims);
    const u64 each = from.size() / static_cast<u64>(channels * parts);  // elements of a filter
    for (i64 c = 0; c < channels; ++c) {
      for (i64 part = 0; part < parts; ++part)
        std::copy_n(from.values.begin() + (c * parts + part) * static_cast<i64>(each), each,
                    to.values.begin() + (part * channels + c) * static_cast<i64>(each));
    }
    conv->set_input(i, graph.add_constant(conv->input(i)->name, Tensor(to)));
  }
  Maker make(graph, node);
  make.replace({make("DepthToSpace", {node.input(0)}, {{"blocksize", block}, {"mode", "DCR"}})});
  return true;
}

}  // namespace vinci::graph
