// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tools/graph/ops/product.h"
#include "tools/graph/ops/window.h"

// Convolutions and poolings over any number of axes behind N and C.
namespace vinci::graph {
namespace {

Dims spatial(const Dims& dims) { return {dims.begin() + 2, dims.end()}; }

Dims with_spatial(i64 n, i64 c, const Dims& rest) {
  Dims dims{n, c};
  dims.insert(dims.end(), rest.begin(), rest.end());
  return dims;
}

void check_ranks(Inference& x, usize least) {
  if (x.shape(0).rank() < least) x.refuse("the input has {} axes", x.shape(0).rank());
}

// Convolution
// -----------------------------------------------------------------------------------------------------------

// Products of integers are added up in i32.
DataType sums_of(DataType operand) { return is_float(operand) ? operand : DataType::i32; }

void check_bias(const Inference& x, i64 filters) {
  if (!x.has(2) || !x.shape(2).known() || x.shape(2).elements() == static_cast<u64>(filters)) return;
  x.refuse("a bias of {} for {} output channels", text(x.shape(2)), filters);
}

void infer_conv(Inference& x) {
  const Shape &in = x.shape(0), &w = x.shape(1);
  if (!in.ranked() || !w.known()) return x.set(0, sums_of(x.type(0)), Shape::unranked());
  check_ranks(x, 3);
  if (w.rank() != in.rank()) x.refuse("{} on {}", text(w), text(in));
  const i64 group = x.node().integer("group", 1);
  if (group <= 0 || w[0] % group != 0) x.refuse("{} output channels in {} groups", w[0], group);
  if (in[1] >= 0 && in[1] != w[1] * group)
    x.refuse("{} input channels, but the weights {} are for {}", in[1], text(w), w[1] * group);
  check_bias(x, w[0]);
  const Window window = window_of(x.node(), spatial(in.dims()), x.node().integers("kernel_shape", spatial(w.dims())));
  if (window.kernel != spatial(w.dims())) x.refuse("kernel_shape differs from the weights {}", text(w));
  x.set(0, sums_of(x.type(0)), with_spatial(in[0], w[0], window.out));
}

// One axis of the map at a time: where the point `k` of the kernel is for output `o`; -1 in the padding.
i64 source(const Window& w, usize axis, i64 o, i64 k) {
  const i64 at = o * w.stride[axis] - w.pad_begin[axis] + k * w.dilation[axis];
  return at >= 0 && at < w.in[axis] ? at : -1;
}

// The matrix of image to columns of one channel: for each point of the kernel a row of all outputs. `outside`: what
// is around the map.
void columns_of(const Window& w, const double* map, double outside, double* columns) {
  const std::vector<u64> strides = strides_of(w.in);
  for_each_index(w.kernel, [&](std::span<const i64> k) {
    for_each_index(w.out, [&](std::span<const i64> o) {
      u64 at = 0;
      bool inside = true;
      for (usize a = 0; a < w.axes(); ++a) {
        const i64 from = source(w, a, o[a], k[a]);
        inside = inside && from >= 0;
        at += static_cast<u64>(from) * strides[a];
      }
      *columns++ = inside ? map[at] : outside;
    });
  });
}

void conv(Evaluation& x) {
  const Array &in = x.input(0), &weights = x.input(1);
  Array& out = x.out[0];
  const Window w = window_of(x.node, spatial(in.dims), spatial(weights.dims));
  const auto group = static_cast<u64>(x.node.integer("group", 1));
  const auto outside = static_cast<double>(x.node.integer("offset_x"));  // the zero point of quantised maps
  const u64 batch = static_cast<u64>(in.dims[0]), channels = static_cast<u64>(weights.dims[1]);
  const u64 filters = static_cast<u64>(weights.dims[0]) / group;
  const u64 map = element_count(w.in), points = element_count(w.kernel), places = element_count(w.out);
  if (out.size() == 0) return;
  std::vector<double> columns(channels * points * places);
  for (u64 n = 0; n < batch; ++n) {
    for (u64 g = 0; g < group; ++g) {
      for (u64 c = 0; c < channels; ++c)
        columns_of(w, &in.values[((n * group + g) * channels + c) * map], outside, &columns[c * points * places]);
      add_product({&weights.values[g * filters * channels * points], static_cast<i64>(filters),
                   static_cast<i64>(channels * points)},
                  {columns.data(), static_cast<i64>(channels * points), static_cast<i64>(places)},
                  &out.values[(n * group + g) * filters * places]);
    }
  }
  if (!x.has(2)) return;
  for (u64 i = 0; i < out.size(); ++i)
    out.values[i] += x.input(2).values[i / places % (group * filters)];
}

void infer_conv_transpose(Inference& x) {
  const Shape &in = x.shape(0), &w = x.shape(1);
  if (!in.ranked() || !w.known()) return x.set(0, x.type(0), Shape::unranked());
  check_ranks(x, 3);
  if (w.rank() != in.rank()) x.refuse("{} on {}", text(w), text(in));
  const i64 group = x.node().integer("group", 1);
  if (group <= 0 || w[0] % group != 0) x.refuse("{} input channels in {} groups", w[0], group);
  if (in[1] >= 0 && in[1] != w[0]) x.refuse("{} input channels, but the weights {} are for {}", in[1], text(w), w[0]);
  check_bias(x, w[1] * group);
  const Window window = transposed_window_of(x.node(), spatial(in.dims()), spatial(w.dims()));
  x.set(0, x.type(0), with_spatial(in[0], w[1] * group, window.out));
}

void conv_transpose(Evaluation& x) {
  const Array &in = x.input(0), &weights = x.input(1);
  Array& out = x.out[0];
  const Window w = transposed_window_of(x.node, spatial(in.dims), spatial(weights.dims));
  const u64 group = static_cast<u64>(x.node.integer("group", 1));
  const u64 channels = static_cast<u64>(in.dims[1]) / group, filters = static_cast<u64>(weights.dims[1]);
  const u64 map = element_count(w.in), points = element_count(w.kernel), places = element_count(w.out);
  const std::vector<u64> strides = strides_of(w.out);
  for (u64 nc = 0; nc < static_cast<u64>(in.dims[0]) * group * channels; ++nc) {
    const u64 n = nc / (group * channels), c = nc % (group * channels), g = c / channels;
    for (u64 f = 0; f < filters; ++f) {
      double* const to = &out.values[((n * group + g) * filters + f) * places];
      const double* const kernel = &weights.values[(c * filters + f) * points];
      u64 i = 0;
      for_each_index(w.in, [&](std::span<const i64> from) {
        const double value = in.values[nc * map + i++];
        u64 k = 0;
        for_each_index(w.kernel, [&](std::span<const i64> point) {
          u64 at = 0;
          bool inside = true;
          for (usize a = 0; a < w.axes(); ++a) {
            const i64 o = from[a] * w.stride[a] - w.pad_begin[a] + point[a] * w.dilation[a];
            inside = inside && o >= 0 && o < w.out[a];
            at += static_cast<u64>(o) * strides[a];
          }
          if (inside) to[at] += value * kernel[k];
          ++k;
        });
      });
    }
  }
  if (!x.has(2)) return;
  for (u64 i = 0; i < out.size(); ++i)
    out.values[i] += x.input(2).values[i / places % (group * filters)];
}

// Pooling
// ---------------------------------------------------------------------------------------------------------------

void infer_pool(Inference& x) {
  const Shape& in = x.shape(0);
  if (!in.ranked()) return x.set(0, x.type(0), Shape::unranked());
  check_ranks(x, 3);
  if (!x.node().has("kernel_shape")) x.refuse("kernel_shape is missing");
  const Window w = window_of(x.node(), spatial(in.dims()), x.node().integers("kernel_shape"));
  x.set(0, x.type(0), with_spatial(in[0], in[1], w.out));
  x.set(1, DataType::i64, with_spatial(in[0], in[1], w.out));
}

// visit(map, place, window elements) for each window, with the position of each element in the input.
template <class Visit>
void each_window(const Evaluation& x, const Visit& visit) {
  const Array& in = x.input(0);
  const Window w = window_of(x.node, spatial(in.dims), x.node.integers("kernel_shape"));
  const u64 map = element_count(w.in);
  const std::vector<u64> strides = strides_of(w.in);
  u64 place = 0;
  std::vector<u64> elements;
  for (u64 nc = 0; nc < static_cast<u64>(in.dims[0] * in.dims[1]); ++nc) {
    for_each_index(w.out, [&](std::span<const i64> o) {
      elements.clear();
      u64 padded = 0;  // points inside map and padding
      for_each_index(w.kernel, [&](std::span<const i64> k) {
        u64 at = 0;
        bool inside = true, in_padding = true;
        for (usize a = 0; a < w.axes(); ++a) {
          const i64 from = o[a] * w.stride[a] - w.pad_begin[a] + k[a] * w.dilation[a];
          inside = inside && from >= 0 && from < w.in[a];
          in_padding = in_padding && from < w.in[a] + w.pad_end[a];
          at += static_cast<u64>(from) * strides[a];
        }
        if (inside) elements.push_back(nc * map + at);
        padded += in_padding ? 1 : 0;
      });
      visit(place++, std::span<const u64>(elements), padded);
    });
  }
}

void max_pool(Evaluation& x) {
  const Array& in = x.input(0);
  const bool column_major = x.node.integer("storage_order") != 0;
  const Dims map = spatial(in.dims);
  each_window(x, [&](u64 place, std::span<const u64> elements, u64) {
    double best = -std::numeric_limits<double>::infinity();
    u64 which = elements.empty() ? 0 : elements[0];
    for (const u64 e : elements) {
      if (!(in.values[e] > best)) continue;
      best = in.values[e];
      which = e;
    }
    x.out[0].values[place] = best;
    if (x.out.size() < 2) return;
    if (column_major) {  // the index counts the first axis of the map fastest
      const u64 size = element_count(map);
      u64 rest = which % size, index = 0;
      std::vector<u64> at(map.size());
      for (usize a = map.size(); a-- > 0; rest /= static_cast<u64>(map[a]))
        at[a] = rest % static_cast<u64>(map[a]);
      for (usize a = map.size(); a-- > 0;)
        index = index * static_cast<u64>(map[a]) + at[a];
      which = which / size * size + index;
    }
    x.out[1].values[place] = static_cast<double>(which);
  });
}

void average_pool(Evaluation& x) {
  const Array& in = x.input(0);
  const bool with_padding = x.node.integer("count_include_pad") != 0;
  each_window(x, [&](u64 place, std::span<const u64> elements, u64 padded) {
    double sum = 0;
    for (const u64 e : elements)
      sum += in.values[e];
    x.out[0].values[place] = sum / static_cast<double>(with_padding ? padded : elements.size());
  });
}

void lp_pool(Evaluation& x) {
  const Array& in = x.input(0);
  const double p = static_cast<double>(x.node.integer("p", 2));
  each_window(x, [&](u64 place, std::span<const u64> elements, u64) {
    double sum = 0;
    for (const u64 e : elements)
      sum += std::pow(std::abs(in.values[e]), p);
    x.out[0].values[place] = std::pow(sum, 1 / p);
  });
}

void infer_global(Inference& x) {
  const Shape& in = x.shape(0);
  if (!in.ranked()) return x.set(0, x.type(0), Shape::unranked());
  check_ranks(x, 3);
  x.set(0, x.type(0), with_spatial(in[0], in[1], Dims(in.rank() - 2, 1)));
}
template <bool kMean>
void global(Evaluation& x) {
  const Array& in = x.input(0);
  const u64 map = element_count(spatial(in.dims));
  for (usize i = 0; i < x.out[0].size(); ++i) {
    double value = kMean ? 0 : -std::numeric_limits<double>::infinity();
    for (u64 e = 0; e < map; ++e)
      value = kMean ? value + in.values[i * map + e] : std::max(value, in.values[i * map + e]);
    x.out[0].values[i] = kMean ? value / static_cast<double>(map) : value;
  }
}

// Resize
// ----------------------------------------------------------------------------------------------------------------

// Scale and extent of each axis of the result: inputs are x, roi, scales, sizes. With both, sizes are the extents.
struct Resized {
  std::vector<double> scale;
  Dims out;
};
constexpr double kLargestTensor = 0x1p48;  // of a tensor
std::optional<Resized> resized(const Node& node, const Dims& in, const std::optional<std::vector<double>>& scales,
                               const std::optional<std::vector<i64>>& sizes, const std::vector<double>& roi) {
  Resized r{.scale = std::vector<double>(in.size(), 1), .out = in};
  const bool crop = node.string("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (sizes && !sizes->empty()) {
    if (sizes->size() != in.size()) fail(Fault::Input, "{} ({}): {} sizes", node.name, node.type, sizes->size());
    const bool scaled = scales && scales->size() == in.size();  // extents that were rounded
    for (usize a = 0; a < in.size(); ++a) {
      r.out[a] = (*sizes)[a];
      if (r.out[a] < 0) fail(Fault::Input, "{} ({}): a size of {}", node.name, node.type, r.out[a]);
      r.scale[a] = scaled ? (*scales)[a] : static_cast<double>(r.out[a]) / static_cast<double>(in[a]);
    }
    return r;
  }
  if (!scales || scales->size() != in.size()) return std::nullopt;
  if (crop && roi.size() != 2 * in.size()) return std::nullopt;  // not known yet
  for (usize a = 0; a < in.size(); ++a) {
    const double part = crop ? roi.at(a + in.size()) - roi.at(a) : 1;
    r.scale[a] = (*scales)[a];
    const double extent = std::floor(static_cast<double>(in[a]) * part * r.scale[a]);
    if (!(r.scale[a] > 0) || !(extent >= 0 && extent <= kLargestTensor))
      fail(Fault::Input, "{} ({}): a scale of {} for an extent of {}", node.name, node.type, r.scale[a], in[a]);
    r.out[a] = static_cast<i64>(extent);
  }
  return r;
}

void infer_resize(Inference& x) {
  const Shape& in = x.shape(0);
  if (!in.ranked()) return x.set(0, x.type(0), Shape::unranked());
  const auto list = [&](usize i) -> std::optional<std::vector<double>> {
    const auto contents = x.contents(i);
    if (!contents) return std::nullopt;
    return contents->values;
  };
  const auto r = in.known()
                     ? resized(x.node(), in.dims(), list(2), x.integers(3), list(1).value_or(std::vector<double>{}))
                     : std::nullopt;
  x.set(0, x.type(0), r ? Shape(r->out) : Shape(Dims(in.rank(), Shape::kUnknown)));
}

// One axis: weights of the elements that a coordinate reads.
using Taps = std::vector<std::pair<i64, double>>;
Taps taps(const Node& node, double at, i64 extent, double scale) {
  const std::string mode = node.string("mode", "nearest");
  if (mode == "nearest") {
    const std::string rule = node.string("nearest_mode", "round_prefer_floor");
    const double i = rule == "floor"               ? std::floor(at)
                     : rule == "ceil"              ? std::ceil(at)
                     : rule == "round_prefer_ceil" ? std::floor(at + 0.5)
                                                   : std::ceil(at - 0.5);
    return {{std::clamp<i64>(static_cast<i64>(i), 0, extent - 1), 1}};
  }
  // What an element so far away counts.
  const double a = node.number("cubic_coeff_a", -0.75);
  const auto weight = [&](double d) {
    d = std::abs(d);
    if (mode == "linear") return std::max(0.0, 1 - d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
  };
  // With antialias a smaller result reads as many more elements.
  const bool smooth = node.integer("antialias") != 0 && scale < 1;
  const double shrink = smooth ? scale : 1;
  const auto reach = static_cast<i64>(std::ceil((mode == "linear" ? 1 : 2) / shrink));
  const double low = std::floor(at);
  const auto first = static_cast<i64>(low);
  Taps out;
  for (i64 e = 1 - reach; e <= reach; ++e)
    out.emplace_back(first + e, weight((low + static_cast<double>(e) - at) * shrink));
  if (node.integer("exclude_outside") != 0)
    std::erase_if(out, [&](const auto& tap) { return tap.first < 0 || tap.first >= extent; });
  if (smooth || node.integer("exclude_outside") != 0) {
    double sum = 0;
    for (const auto& tap : out)
      sum += tap.second;
    for (auto& tap : out)
      tap.second /= sum;
  }
  for (auto& tap : out)
    tap.first = std::clamp<i64>(tap.first, 0, extent - 1);
  return out;
}

void resize(Evaluation& x) {
  const Array& in = x.input(0);
  std::optional<std::vector<double>> scales;
  std::optional<std::vector<i64>> sizes;
  if (x.has(2)) scales = x.input(2).values;
  if (x.has(3)) sizes = x.input(3).integers();
  const std::vector<double> roi = x.has(1) ? x.input(1).values : std::vector<double>{};
  if (x.node.string("coordinate_transformation_mode") == "tf_crop_and_resize" && roi.size() != 2 * in.rank())
    fail(Fault::Input, "{} ({}): a region of {} numbers for {} axes", x.node.name, x.node.type, roi.size(), in.rank());
  const auto r = resized(x.node, in.dims, scales, sizes, roi);
  if (!r) fail(Fault::Input, "{} ({}): neither scales nor sizes", x.node.name, x.node.type);
  const std::string rule = x.node.string("coordinate_transformation_mode", "half_pixel");
  const usize rank = in.rank();
  // Axis after axis, which is exact for these separable modes.
  Array now = in;
  std::vector<char> outside;
  for (usize a = 0; a < rank; ++a) {
    const i64 extent = in.dims[a], count = r->out[a];
    std::vector<Taps> of(static_cast<usize>(count));
    std::vector<char> beyond(static_cast<usize>(count));
    const bool identity = count == extent && r->scale[a] == 1 && rule != "tf_crop_and_resize";
    for (i64 o = 0; o < count; ++o) {
      const double d = static_cast<double>(o), length = static_cast<double>(extent), n = static_cast<double>(count);
      double at = 0;
      if (rule == "asymmetric") {
        at = d / r->scale[a];
      } else if (rule == "align_corners") {
        // The length before it is rounded down.
        at = count == 1 ? 0 : d * (length - 1) / (length * r->scale[a] - 1);
      } else if (rule == "pytorch_half_pixel") {
        at = count > 1 ? (d + 0.5) / r->scale[a] - 0.5 : 0;
      } else if (rule == "tf_half_pixel_for_nn") {
        at = (d + 0.5) / r->scale[a];
      } else if (rule == "tf_crop_and_resize") {
        const double from = roi.at(a), to = roi.at(a + rank);
        at = count > 1 ? from * (length - 1) + d * (to - from) * (length - 1) / (n - 1)
                       : 0.5 * (from + to) * (length - 1);
        beyond[static_cast<usize>(o)] = at < 0 || at > length - 1;
      } else {
        at = (d + 0.5) / r->scale[a] - 0.5;
        // The middle stays where it is though the length was rounded down.
        if (rule == "half_pixel_symmetric") at += length / 2 * (1 - n / (length * r->scale[a]));
      }
      of[static_cast<usize>(o)] = identity ? Taps{{o, 1}} : taps(x.node, at, extent, r->scale[a]);
    }
    Dims dims = now.dims;
    dims[a] = count;
    Array next(in.type, dims);
    std::vector<char> next_outside(next.size());
    const AroundAxis from = around_axis(now.dims, a), to = around_axis(dims, a);
    for (u64 outer = 0; outer < to.outer; ++outer) {
      for (u64 o = 0; o < to.extent; ++o) {
        for (u64 inner = 0; inner < to.inner; ++inner) {
          double sum = 0;
          bool out = beyond[o] != 0;
          for (const auto& [e, weight] : of[o]) {
            const u64 at = (outer * from.extent + static_cast<u64>(e)) * from.inner + inner;
            sum += now.values[at] * weight;
            out = out || (!outside.empty() && outside[at] != 0);
          }
          next.values[(outer * to.extent + o) * to.inner + inner] = sum;
          next_outside[(outer * to.extent + o) * to.inner + inner] = out ? 1 : 0;
        }
      }
    }
    now = std::move(next);
    outside = std::move(next_outside);
  }
  for (usize i = 0; i < now.size() && i < outside.size(); ++i) {
    if (outside[i] != 0) now.values[i] = x.node.number("extrapolation_value", 0);
  }
  x.out[0].dims = now.dims;
  x.out[0].values = std::move(now.values);
}

constexpr auto kConvolutionOps = std::to_array<Op>({
    {"Conv2D", infer_conv, conv},
    {"Conv2DTranspose", infer_conv_transpose, conv_transpose},
    {"MaxPool", infer_pool, max_pool},
    {"AvgPool", infer_pool, average_pool},
    {"LpPool", infer_pool, lp_pool},
    {"GlobalAveragePool", infer_global, global<true>},
    {"GlobalMaxPool", infer_global, global<false>},
    {"Resize", infer_resize, resize},
});

}  // namespace

std::span<const Op> convolution_ops() { return kConvolutionOps; }

}  // namespace vinci::graph
