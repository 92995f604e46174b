// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <cmath>

#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

// Scale and zero point of each element of a tensor: one for all, or one for each slice along an axis.
class Scales {
 public:
  Scales(const Evaluation& x, const Array& tensor, usize scale, usize zero)
      : scale_(x.input(scale).values), zero_(x.has(zero) ? x.input(zero).values : std::vector<double>{}) {
    if (scale_.size() == 1 && x.input(scale).rank() == 0) return;
    if (tensor.rank() < 2 && scale_.size() == 1) return;
    const usize axis = axis_of(x.node, x.node.integer("axis", 1), tensor.rank());
    const AroundAxis a = around_axis(tensor.dims, axis);
    inner_ = a.inner;
    if (scale_.size() != 1 && scale_.size() != a.extent)
      fail(Fault::Input, "{} ({}): {} scales for {}", x.node.name, x.node.type, scale_.size(), a.extent);
  }
  double scale(u64 i) const { return scale_[at(i)]; }
  double zero(u64 i) const { return zero_.empty() ? 0 : zero_[zero_.size() == 1 ? 0 : at(i)]; }

 private:
  u64 at(u64 i) const { return scale_.size() == 1 ? 0 : i / inner_ % scale_.size(); }
  std::vector<double> scale_, zero_;
  u64 inner_ = 1;
};

double to_limits(DataType type, double v) {
  return std::clamp(std::nearbyint(v), info(type).lowest, info(type).highest);
}

// ONNX divides in f32, which decides ties.
double quotient(double v, double scale) { return round_to(DataType::f32, v / scale); }

void infer_quantise(Inference& x) { x.set(0, x.has(2) ? x.type(2) : DataType::u8, x.shape(0)); }
void quantise(Evaluation& x) {
  const Array& in = x.input(0);
  const Scales s(x, in, 1, 2);
  for (u64 i = 0; i < in.size(); ++i) {
    const double v = std::nearbyint(quotient(in.values[i], s.scale(i))) + s.zero(i);
    x.out[0].values[i] = to_limits(x.out[0].type, v);
  }
}

void infer_dequantise(Inference& x) { x.set(0, x.type(1), x.shape(0)); }
void dequantise(Evaluation& x) {
  const Array& in = x.input(0);
  const Scales s(x, in, 1, 2);
  for (u64 i = 0; i < in.size(); ++i)
    x.out[0].values[i] = (in.values[i] - s.zero(i)) * s.scale(i);
}

// Quantises to u8 over the range of the tensor, which includes 0: y, scale, zero point.
void infer_dynamic(Inference& x) {
  x.set(0, DataType::u8, x.shape(0));
  x.set(1, DataType::f32, Shape());
  x.set(2, DataType::u8, Shape());
}
void dynamic(Evaluation& x) {
  const Array& in = x.input(0);
  double low = 0, high = 0;
  for (const double v : in.values) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const double scale = round_to(DataType::f32, (high - low) / 255);
  const double zero = scale == 0 ? 0 : to_limits(DataType::u8, -low / scale);
  for (u64 i = 0; i < in.size(); ++i)
    x.out[0].values[i] = scale == 0 ? 0 : to_limits(DataType::u8, std::nearbyint(quotient(in.values[i], scale)) + zero);
  x.out[1].values[0] = scale;
  x.out[2].values[0] = zero;
}

constexpr auto kQuantiseOps = std::to_array<Op>({
    {"AscendQuantV2", infer_quantise, quantise},
    {"AscendDequantV2", infer_dequantise, dequantise},
    {"DynamicQuant", infer_dynamic, dynamic},
});

}  // namespace

std::span<const Op> quantise_ops() { return kQuantiseOps; }

}  // namespace vinci::graph
