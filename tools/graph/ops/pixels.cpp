// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>
#include <cmath>

#include "tools/graph/ops/op.h"

// Operators that exchange pixels and channels, or repeat pixels.
namespace vinci::graph {
namespace {

const Shape kUnknownMap{Shape::kUnknown, Shape::kUnknown, Shape::kUnknown, Shape::kUnknown};

void infer_depth_to_space(Inference& x) {
  const Shape& in = x.shape(0);
  const i64 b = x.node().integer("blocksize", 1);
  if (!in.known()) return x.set(0, x.type(0), kUnknownMap);
  if (in.rank() != 4 || b <= 0 || in[1] % (b * b) != 0) x.refuse("{} has no blocks of {}", text(in), b);
  x.set(0, x.type(0), {in[0], in[1] / (b * b), in[2] * b, in[3] * b});
}
void depth_to_space(Evaluation& x) {
  const Array& in = x.input(0);
  Array& out = x.out[0];
  const i64 b = x.node.integer("blocksize", 1), channels = out.dims[1];
  const bool dcr = x.node.string("mode", "DCR") == "DCR";
  const std::vector<u64> from = strides_of(in.dims);
  usize n = 0;
  for_each_index(out.dims, [&](std::span<const i64> i) {
    const i64 block = (i[2] % b) * b + i[3] % b;
    const i64 c = dcr ? block * channels + i[1] : i[1] * b * b + block;
    out.values[n++] = in.values[static_cast<u64>(i[0]) * from[0] + static_cast<u64>(c) * from[1] +
                                static_cast<u64>(i[2] / b) * from[2] + static_cast<u64>(i[3] / b)];
  });
}

void infer_space_to_depth(Inference& x) {
  const Shape& in = x.shape(0);
  const i64 b = x.node().integer("blocksize", 1);
  if (!in.known()) return x.set(0, x.type(0), kUnknownMap);
  if (in.rank() != 4 || b <= 0 || in[2] % b != 0 || in[3] % b != 0) x.refuse("{} has no blocks of {}", text(in), b);
  x.set(0, x.type(0), {in[0], in[1] * b * b, in[2] / b, in[3] / b});
}
void space_to_depth(Evaluation& x) {
  const Array& in = x.input(0);
  Array& out = x.out[0];
  const i64 b = x.node.integer("blocksize", 1), channels = in.dims[1];
  const std::vector<u64> from = strides_of(in.dims);
  usize n = 0;
  for_each_index(out.dims, [&](std::span<const i64> i) {
    const i64 block = i[1] / channels;
    out.values[n++] =
        in.values[static_cast<u64>(i[0]) * from[0] + static_cast<u64>(i[1] % channels) * from[1] +
                  static_cast<u64>(i[2] * b + block / b) * from[2] + static_cast<u64>(i[3] * b + block % b)];
  });
}

// Repeats each pixel stride_h times downwards and stride_w times to the right.
void infer_upsample(Inference& x) {
  const Shape& in = x.shape(0);
  const i64 down = x.node().integer("stride_h", 1), across = x.node().integer("stride_w", 1);
  if (!in.known()) return x.set(0, x.type(0), kUnknownMap);
  if (in.rank() != 4 || down <= 0 || across <= 0) x.refuse("{} cannot be repeated {} x {}", text(in), down, across);
  x.set(0, x.type(0), {in[0], in[1], in[2] * down, in[3] * across});
}
void upsample(Evaluation& x) {
  const Array& in = x.input(0);
  const i64 down = x.node.integer("stride_h", 1), across = x.node.integer("stride_w", 1);
  const std::vector<u64> from = strides_of(in.dims);
  usize n = 0;
  for_each_index(x.out[0].dims, [&](std::span<const i64> i) {
    x.out[0].values[n++] = in.values[static_cast<u64>(i[0]) * from[0] + static_cast<u64>(i[1]) * from[1] +
                                     static_cast<u64>(i[2] / down) * from[2] + static_cast<u64>(i[3] / across)];
  });
}

// x [n, c, h, w], boxes [count, 4] (x1, y1, x2, y2), which image each box is in [count]. A box is divided into bins,
// and a bin is the mean or the maximum of points in it that are interpolated. Formulas: onnxruntime's, which ONNX's
// document refers to.
void infer_roi_align(Inference& x) {
  const Shape &in = x.shape(0), &boxes = x.shape(1);
  if (in.ranked() && in.rank() != 4) x.refuse("{} is no map", text(in));
  if (boxes.ranked() && (boxes.rank() != 2 || (boxes[1] >= 0 && boxes[1] != 4)))
    x.refuse("{} are no boxes", text(boxes));
  const i64 rows = x.node().integer("output_height", 1), columns = x.node().integer("output_width", 1);
  if (rows < 1 || columns < 1 || x.node().integer("sampling_ratio") < 0) x.refuse("it has no bins or no points");
  x.set(0, x.type(0),
        {boxes.ranked() ? boxes[0] : Shape::kUnknown, in.ranked() ? in[1] : Shape::kUnknown, rows, columns});
}

// A point of a bin along one axis: two pixels and their weights.
struct BinPoint {
  usize low = 0, high = 0;
  double low_weight = 0, high_weight = 0;
};

// The points of each bin along one axis, without those outside the map, and how many there are with them.
struct BinPoints {
  std::vector<std::vector<BinPoint>> bins;
  double count = 0;

  BinPoints(double first, double last, usize parts, i64 sampling, bool half_pixel, usize size) : bins(parts) {
    constexpr double kMost = 1 << 16;
    const double length = half_pixel ? last - first : std::max(last - first, 1.0);
    const double bin = length / static_cast<double>(parts);
    count = sampling > 0 ? static_cast<double>(sampling) : std::ceil(bin);
    count = count > 0 ? std::min(count, kMost) : 0;
    const double end = static_cast<double>(size);
    for (usize p = 0; p < parts; ++p) {
      for (double i = 0; i < count; ++i) {
        const double at = first + static_cast<double>(p) * bin + (i + 0.5) * bin / count;
        if (!(at >= -1 && at <= end)) continue;
        const double inside = std::clamp(at, 0.0, end - 1);
        const auto low = static_cast<usize>(inside);
        const double beyond = inside - static_cast<double>(low);
        bins[p].push_back({low, std::min(low + 1, size - 1), 1 - beyond, beyond});
      }
    }
  }
};

void roi_align(Evaluation& x) {
  const Array &in = x.input(0), &boxes = x.input(1), &images = x.input(2);
  const bool half = x.node.string("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const bool most = x.node.string("mode", "avg") == "max";
  const double scale = x.node.number("spatial_scale", 1), offset = half ? 0.5 : 0;
  const i64 sampling = x.node.integer("sampling_ratio");
  const auto extent = [&](usize axis) { return static_cast<usize>(in.dims[axis]); };
  const usize rows = static_cast<usize>(x.out[0].dims[2]), columns = static_cast<usize>(x.out[0].dims[3]);
  auto to = x.out[0].values.begin();
  for (usize b = 0; b < static_cast<usize>(x.out[0].dims[0]); ++b) {
    const auto corner = [&](usize i) { return boxes.values.at(b * 4 + i) * scale - offset; };
    const BinPoints down(corner(1), corner(3), rows, sampling, half, extent(2));
    const BinPoints across(corner(0), corner(2), columns, sampling, half, extent(3));
    const double image = images.values.at(b), count = std::max(down.count * across.count, 1.0);
    if (!(image >= 0 && image < static_cast<double>(in.dims[0])))
      fail(Fault::Input, "{} ({}): box {} is in image {} of {}", x.node.name, x.node.type, b, image, in.dims[0]);
    for (usize c = 0; c < extent(1); ++c) {
      const double* const map = &in.values[(static_cast<usize>(image) * extent(1) + c) * extent(2) * extent(3)];
      for (usize bin = 0; bin < rows * columns; ++bin) {
        double sum = 0;
        bool first = true;
        for (const BinPoint& v : down.bins[bin / columns]) {
          for (const BinPoint& h : across.bins[bin % columns]) {
            const double *const upper = map + v.low * extent(3), *const lower = map + v.high * extent(3);
            const double a = v.low_weight * h.low_weight * upper[h.low],
                         d = v.low_weight * h.high_weight * upper[h.high],
                         e = v.high_weight * h.low_weight * lower[h.low],
                         f = v.high_weight * h.high_weight * lower[h.high];
            // The maximum is one of weighted pixels.
            const double largest = std::max({a, d, e, f});
            sum = !most ? sum + a + d + e + f : first ? largest : std::max(sum, largest);
            first = false;
          }
        }
        *to++ = most ? sum : sum / count;
      }
    }
  }
}

constexpr auto kPixelOps = std::to_array<Op>({
    {"DepthToSpace", infer_depth_to_space, depth_to_space},
    {"ROIAlign", infer_roi_align, roi_align},
    {"SpaceToDepth", infer_space_to_depth, space_to_depth},
    {"Upsample", infer_upsample, upsample},
});

}  // namespace

std::span<const Op> pixel_ops() { return kPixelOps; }

}  // namespace vinci::graph
