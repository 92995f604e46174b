// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The functions of the AICPU whose results have a known size. To add one: its parameters, operands and body, and a row
// of the table at the end.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/runtime/aicpu_selection.h"
#include "models/runtime/element.h"
#include "models/runtime/philox.h"

namespace vinci::models {
namespace {

using Operand = AicpuFunction::Operand;
using Data = AicpuFunction::Data;

// Assign: ref = value; AssignAdd: ref = ref + value, integers wrap. As of TensorFlow.
constexpr auto kAssignParameters = std::to_array<std::string_view>({"ref", "value", "count", "dtype"});

std::vector<Operand> assign_operands(const AicpuArgs& args) {
  const u64 bytes = args.product({args.number(2), bytes_of(args.type(3))});
  return {{.argument = 0, .bytes = bytes, .write = true}, {.argument = 1, .bytes = bytes, .read = true}};
}
void assign(const AicpuArgs&, Data& data) { data[0] = data[1]; }

std::vector<Operand> assign_add_operands(const AicpuArgs& args) {
  auto out = assign_operands(args);
  out[0].read = true;
  return out;
}
void assign_add(const AicpuArgs& args, Data& data) {
  const Element type = args.type(3);
  for (usize i = 0; i < data[0].size(); i += bytes_of(type))
    store(type, &data[0][i], add(type, load(type, &data[0][i]), load(type, &data[1][i])));
}

// Cast: y = x in another type. Floats are rounded to nearest even; to integers they are truncated and saturated, a NaN
// becomes 0; integers that get narrower wrap. Integers beyond 2^53 are float64 before they are any other float.
constexpr auto kCastParameters = std::to_array<std::string_view>({"x", "y", "count", "x_dtype", "y_dtype"});

std::vector<Operand> cast_operands(const AicpuArgs& args) {
  const u64 count = args.number(2);
  return {{.argument = 0, .bytes = args.product({count, bytes_of(args.type(3))}), .read = true},
          {.argument = 1, .bytes = args.product({count, bytes_of(args.type(4))}), .write = true}};
}
void cast(const AicpuArgs& args, Data& data) {
  const Element from = args.type(3), to = args.type(4);
  for (u64 i = 0; i < args.number(2); ++i)
    store(to, &data[1][i * bytes_of(to)], load(from, &data[0][i * bytes_of(from)]));
}

// ExtractImagePatches of TensorFlow: from x [n, h, w, c] to y [n, rows, columns, ksize_h * ksize_w * c], zeros outside
// the image.
constexpr auto kPatchesParameters =
    std::to_array<std::string_view>({"x", "y", "n", "h", "w", "c", "ksize_h", "ksize_w", "stride_h", "stride_w",
                                     "rate_h", "rate_w", "padding", "dtype"});

// One of the two directions of an image.
struct Window {
  u64 size, ksize, stride, rate;
  u64 out = 0;  // patches
  u64 pad = 0;  // zeros before the image

  Window(const AicpuArgs& args, usize first)
      : size(args.number(first)),
        ksize(args.number(first + 3)),
        stride(args.number(first + 5)),
        rate(args.number(first + 7)) {
    constexpr u64 kMost = 1 << 20;
    for (const usize i : {first, first + 3, first + 5, first + 7}) {
      if (args.number(i) < 1 || args.number(i) > kMost) args.refuse(i, "must be from 1 to 1048576");
    }
    const u64 reach = (ksize - 1) * rate + 1;
    const u64 padding = args.number(12);
    if (padding > 1) args.refuse(12, "must be 0 (VALID) or 1 (SAME)");
    if (padding == 0) {
      out = size < reach ? 0 : (size - reach) / stride + 1;
    } else {
      out = (size + stride - 1) / stride;
      const u64 needs = (out - 1) * stride + reach;
      pad = needs > size ? (needs - size) / 2 : 0;
    }
  }
  // The position of element `k` of patch `o` in the image; nothing: outside.
  std::optional<u64> at(u64 o, u64 k) const {
    const u64 p = o * stride + k * rate;
    if (p < pad || p - pad >= size) return {};
    return p - pad;
  }
};

std::vector<Operand> patches_operands(const AicpuArgs& args) {
  const Window h(args, 3), w(args, 4);
  for (const usize i : {2, 5}) {
    if (args.number(i) == 0) args.refuse(i, "must not be 0");
  }
  const u64 pixel = args.product({args.number(5), bytes_of(args.type(13))});
  return {
      {.argument = 0, .bytes = args.product({args.number(2), h.size, w.size, pixel}), .read = true},
      {.argument = 1, .bytes = args.product({args.number(2), h.out, w.out, h.ksize, w.ksize, pixel}), .write = true}};
}

void patches(const AicpuArgs& args, Data& data) {
  const Window h(args, 3), w(args, 4);
  const u64 pixel = args.number(5) * bytes_of(args.type(13));
  std::ranges::fill(data[1], std::byte{});
  std::byte* to = data[1].data();
  for (u64 n = 0; n < args.number(2); ++n) {
    for (u64 row = 0; row < h.out; ++row) {
      for (u64 column = 0; column < w.out; ++column) {
        for (u64 kh = 0; kh < h.ksize; ++kh) {
          for (u64 kw = 0; kw < w.ksize; ++kw, to += pixel) {
            const auto y = h.at(row, kh), x = w.at(column, kw);
            if (y && x) std::memcpy(to, &data[0][((n * h.size + *y) * w.size + *x) * pixel], pixel);
          }
        }
      }
    }
  }
}

// Dropout: element i is kept where word i % 4 of Philox4x32-10(counter i / 4, key seed) is below keep_prob * 2^32, and
// then divided by keep_prob; else 0. keep_prob is a float32 as bits.
constexpr auto kDropoutParameters = std::to_array<std::string_view>({"x", "y", "count", "keep_prob", "seed", "dtype"});

std::vector<Operand> dropout_operands(const AicpuArgs& args) {
  const Element type = args.type(5);
  if (!is_float(type)) args.refuse(5, "must be a type of floats");
  const u64 bits = args.number(3);
  const float keep = std::bit_cast<float>(static_cast<u32>(bits));
  if (bits >> 32 != 0 || !(keep > 0 && keep <= 1)) args.refuse(3, "must be the bits of a float32 in (0, 1]");
  const u64 bytes = args.product({args.number(2), bytes_of(type)});
  return {{.argument = 0, .bytes = bytes, .read = true}, {.argument = 1, .bytes = bytes, .write = true}};
}

void dropout(const AicpuArgs& args, Data& data) {
  const Element type = args.type(5);
  const u64 bytes = bytes_of(type), seed = args.number(4);
  const double keep = std::bit_cast<float>(static_cast<u32>(args.number(3)));
  const double threshold = keep * 0x1p32;
  PhiloxBlock block{};
  for (u64 i = 0; i < args.number(2); ++i) {
    if (i % 4 == 0) block = philox4x32(i / 4, seed);
    const Value x = load(type, &data[0][i * bytes]);
    store(type, &data[1][i * bytes], Value::of(block[i % 4] < threshold ? x.real / keep : 0.0));
  }
}

// MapIndex of the Graph Engine: y = the row of table [rows, count] that is equal to x [count], all int32; the number of
// rows where there is none.
constexpr auto kMapIndexParameters = std::to_array<std::string_view>({"x", "table", "y", "count", "rows"});

std::vector<Operand> map_index_operands(const AicpuArgs& args) {
  const u64 row = args.product({args.number(3), sizeof(i32)});
  return {{.argument = 0, .bytes = row, .read = true},
          {.argument = 1, .bytes = args.product({row, args.number(4)}), .read = true},
          {.argument = 2, .bytes = sizeof(i32), .write = true}};
}
void map_index(const AicpuArgs& args, Data& data) {
  const u64 rows = args.number(4), bytes = data[0].size();
  i32 row = 0;
  while (static_cast<u64>(row) < rows &&
         !std::equal(data[0].begin(), data[0].end(), data[1].begin() + static_cast<std::ptrdiff_t>(row * bytes)))
    ++row;
  std::memcpy(data[2].data(), &row, sizeof row);
}

constexpr u64 kMostPoints = 1 << 16;  // of a bin of ROIAlign along an axis

// ROIAlign: boxes [count, 4] of maps x [n, c, h, w] as y [count, c, rows, columns]; `images` tells the map of each box.
// As RoiAlign of ONNX computes it: sampling 0 takes as many points as fit, half_pixel 1 shifts boxes by half a pixel,
// most 1 takes the maximum of the weighted pixels. The scale is a float32 as bits.
constexpr auto kRoiAlignParameters =
    std::to_array<std::string_view>({"x", "rois", "images", "y", "n", "c", "h", "w", "count", "rows", "columns",
                                     "sampling", "scale", "half_pixel", "most", "dtype", "rois_dtype", "images_dtype"});

std::vector<Operand> roi_align_operands(const AicpuArgs& args) {
  const u64 bytes = bytes_of(args.type(15)), count = args.number(8);
  for (const usize i : {15, 16}) {
    if (!is_float(args.type(i))) args.refuse(i, "must be a type of floats");
  }
  for (const usize i : {4, 5, 6, 7, 9, 10}) {
    if (args.number(i) == 0) args.refuse(i, "must not be 0");
  }
  if (args.number(11) > kMostPoints) args.refuse(11, "is too large");
  return {{.argument = 0,
           .bytes = args.product({args.number(4), args.number(5), args.number(6), args.number(7), bytes}),
           .read = true},
          {.argument = 1, .bytes = args.product({count, 4, bytes_of(args.type(16))}), .read = true},
          {.argument = 2, .bytes = args.product({count, bytes_of(args.type(17))}), .read = true},
          {.argument = 3,
           .bytes = args.product({count, args.number(5), args.number(9), args.number(10), bytes}),
           .write = true}};
}

// The points of the bins of a box along one axis.
class RoiAxis {
 public:
  // A point between two pixels: that of `low` has the weight 1 - `beyond`.
  struct Point {
    u64 low, high;
    double beyond;
  };

  RoiAxis(const AicpuArgs& args, double first, double last, u64 bins, u64 size) : points_(bins) {
    double extent = last - first;
    if (args.number(13) == 0) extent = std::max(extent, 1.0);
    const double bin = extent / static_cast<double>(bins);
    // Not a number where the box is none.
    const double fitting = std::ceil(bin);
    number_ = args.number(11) > 0 ? args.number(11)
              : fitting > 0       ? static_cast<u64>(std::min(fitting, static_cast<double>(kMostPoints)))
                                  : 0;
    for (u64 b = 0; b < bins; ++b) {
      for (u64 i = 0; i < number_; ++i) {
        const double at =
            first + static_cast<double>(b) * bin + (static_cast<double>(i) + 0.5) * bin / static_cast<double>(number_);
        if (!(at >= -1 && at <= static_cast<double>(size))) continue;
        const double inside = std::max(at, 0.0);
        const u64 low = std::min(static_cast<u64>(inside), size - 1);
        const bool last_pixel = low == size - 1;
        points_[b].push_back({low, last_pixel ? low : low + 1, last_pixel ? 0 : inside - static_cast<double>(low)});
      }
    }
  }
  u64 number() const { return number_; }  // of points of a bin, those outside the map as well
  const std::vector<Point>& of(u64 bin) const { return points_[bin]; }

 private:
  u64 number_ = 0;
  std::vector<std::vector<Point>> points_;
};

void roi_align(const AicpuArgs& args, Data& data) {
  const Element type = args.type(15), box_type = args.type(16), image_type = args.type(17);
  const u64 channels = args.number(5), height = args.number(6), width = args.number(7), rows = args.number(9),
            columns = args.number(10), bytes = bytes_of(type);
  const double scale = std::bit_cast<float>(static_cast<u32>(args.number(12))), shift = args.number(13) == 0 ? 0 : 0.5;
  const bool most = args.number(14) != 0;
  std::vector<double> map(height * width);
  std::byte* to = data[3].data();
  for (u64 box = 0; box < args.number(8); ++box) {
    const auto corner = [&](u64 i) {
      return load(box_type, &data[1][(box * 4 + i) * bytes_of(box_type)]).real * scale - shift;
    };
    const RoiAxis down(args, corner(1), corner(3), rows, height), across(args, corner(0), corner(2), columns, width);
    const double points = static_cast<double>(std::max<u64>(down.number() * across.number(), 1));
    // Of a map that is not there: the first one.
    u64 image = load(image_type, &data[2][box * bytes_of(image_type)]).bits;
    if (image >= args.number(4)) image = 0;
    for (u64 c = 0; c < channels; ++c) {
      const std::byte* const from = &data[0][(image * channels + c) * height * width * bytes];
      for (u64 i = 0; i < map.size(); ++i)
        map[i] = load(type, from + i * bytes).real;
      for (u64 bin = 0; bin < rows * columns; ++bin, to += bytes) {
        double sum = 0, largest = -std::numeric_limits<double>::infinity();
        for (const RoiAxis::Point& v : down.of(bin / columns)) {
          for (const RoiAxis::Point& h : across.of(bin % columns)) {
            for (const bool lower : {false, true}) {
              for (const bool right : {false, true}) {
                const double pixel = map[(lower ? v.high : v.low) * width + (right ? h.high : h.low)] *
                                     (lower ? v.beyond : 1 - v.beyond) * (right ? h.beyond : 1 - h.beyond);
                sum += pixel;
                largest = std::max(largest, pixel);
              }
            }
          }
        }
        const bool none = down.of(bin / columns).empty() || across.of(bin % columns).empty();
        store(type, to, Value::of(none ? 0 : most ? largest : sum / points));
      }
    }
  }
}

constexpr auto kPlainFunctions = std::to_array<AicpuFunction>({
    {"Assign", kAssignParameters, assign_operands, assign},
    {"AssignAdd", kAssignParameters, assign_add_operands, assign_add},
    {"Cast", kCastParameters, cast_operands, cast},
    {"Dropout", kDropoutParameters, dropout_operands, dropout},
    {"ExtractImagePatches", kPatchesParameters, patches_operands, patches},
    {"MapIndex", kMapIndexParameters, map_index_operands, map_index},
    {"ROIAlign", kRoiAlignParameters, roi_align_operands, roi_align},
});

}  // namespace

std::span<const AicpuFunction> aicpu_functions() {
  static const std::vector<AicpuFunction> all = [] {
    std::vector<AicpuFunction> out(kPlainFunctions.begin(), kPlainFunctions.end());
    const std::span more = selection_functions();
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }();
  return all;
}

}  // namespace vinci::models
