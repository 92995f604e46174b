// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <array>

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

constexpr auto kPixelOps = std::to_array<Op>({
    {"DepthToSpace", infer_depth_to_space, depth_to_space},
    {"SpaceToDepth", infer_space_to_depth, space_to_depth},
    {"Upsample", infer_upsample, upsample},
});

}  // namespace

std::span<const Op> pixel_ops() { return kPixelOps; }

}  // namespace vinci::graph
