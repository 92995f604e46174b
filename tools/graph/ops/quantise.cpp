// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <bit>
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

// Sums of products of bytes times a factor for each slice along an axis (the last one), as quantisation parameters have
// it: f32 in bits 31 to 0, an offset in bits 45 to 37 (isa/sem/quant.h).
struct Parameters {
  Parameters(const Evaluation& x) : list(x.input(1).values) {
    const Array& in = x.input(0);
    const usize axis = axis_of(x.node, x.node.integer("axis", -1), in.rank());
    const AroundAxis a = around_axis(in.dims, axis);
    inner = a.inner;
    if (list.size() != a.extent)
      fail(Fault::Input, "{} ({}): {} quantisation parameters for {}", x.node.name, x.node.type, list.size(), a.extent);
  }
  u64 bits(u64 i) const { return static_cast<u64>(list[i / inner % list.size()]); }
  double scale(u64 i) const { return std::bit_cast<float>(static_cast<u32>(bits(i))); }
  i32 offset(u64 i) const { return static_cast<i32>(static_cast<u32>(bits(i) >> 37) << 23) >> 23; }

  std::vector<double> list;
  u64 inner = 1;
};
void infer_ascend_dequant(Inference& x) { x.set(0, DataType::f16, x.shape(0)); }
void ascend_dequant(Evaluation& x) {
  const Parameters p(x);
  for (u64 i = 0; i < x.out[0].size(); ++i)
    x.out[0].values[i] = x.input(0).values[i] * p.scale(i);
}
// `dtype`: i8 or u8. `relu_flag`: values below zero become zero before the offset.
void infer_requant(Inference& x) {
  x.set(0, static_cast<DataType>(x.node().integer("dtype", static_cast<i64>(enum_index(DataType::i8)))), x.shape(0));
}
void requant(Evaluation& x) {
  const Parameters p(x);
  const bool relu = x.node.integer("relu_flag") != 0;
  for (u64 i = 0; i < x.out[0].size(); ++i) {
    const double v = x.input(0).values[i] * p.scale(i);
    x.out[0].values[i] = to_limits(x.out[0].type, std::nearbyint(relu ? std::max(v, 0.0) : v) + p.offset(i));
  }
}

// Of one scale and offset: to bytes (`dtype`), round(x * scale) + offset, and back, (x + offset) * scale.
void infer_ascend_quant(Inference& x) {
  x.set(0, static_cast<DataType>(x.node().integer("dtype", static_cast<i64>(enum_index(DataType::i8)))), x.shape(0));
}
void ascend_quant(Evaluation& x) {
  const double scale = x.node.number("scale", 1), offset = x.node.number("offset");
  for (u64 i = 0; i < x.out[0].size(); ++i)
    x.out[0].values[i] = to_limits(x.out[0].type, std::nearbyint(quotient(x.input(0).values[i] * scale, 1)) + offset);
}
void infer_anti_quant(Inference& x) { x.set(0, DataType::f16, x.shape(0)); }
void anti_quant(Evaluation& x) {
  const double scale = x.node.number("scale", 1), offset = x.node.number("offset");
  for (u64 i = 0; i < x.out[0].size(); ++i)
    x.out[0].values[i] = (x.input(0).values[i] + offset) * scale;
}

constexpr auto kQuantiseOps = std::to_array<Op>({
    {"AscendAntiQuant", infer_anti_quant, anti_quant},
    {"AscendQuant", infer_ascend_quant, ascend_quant},
    {"AscendDequant", infer_ascend_dequant, ascend_dequant},
    {"AscendRequant", infer_requant, requant},
    {"AscendQuantV2", infer_quantise, quantise},
    // Not folded, as products of bytes begin with it.
    {"AscendDequantV2", infer_dequantise, dequantise, false},
    {"DynamicQuant", infer_dynamic, dynamic},
});

}  // namespace

std::span<const Op> quantise_ops() { return kQuantiseOps; }

}  // namespace vinci::graph
