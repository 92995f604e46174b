// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/vector_trigonometry.h"

#include <numbers>

// Trigonometric and hyperbolic functions as sequences of vector instructions on f32.
namespace vinci::graph {
namespace {

constexpr double kPi = std::numbers::pi, kHalfPi = std::numbers::pi / 2;

// dst = -1, 0 or 1.
void sign_of(VectorWriter& w, u64 dst, u64 src) {
  w.scalar("vmuls", dst, src, 1e30);
  w.scalar("vmuls", dst, dst, 1e8);
  w.scalar("vmins", dst, dst, 1);
  w.scalar("vmaxs", dst, dst, -1);
}

// dst = src * (c[0] + c[1] src^2 + ...), the coefficient of the highest power first.
void odd_polynomial(VectorWriter& w, u64 dst, u64 src, u64 square, std::span<const double> c) {
  w.binary("vmul", square, src, src);
  w.scalar("vmuls", dst, square, c[0]);
  for (const double next : c.subspan(1, c.size() - 2)) {
    w.scalar("vadds", dst, dst, next);
    w.binary("vmul", dst, dst, square);
  }
  w.scalar("vadds", dst, dst, c.back());
  w.binary("vmul", dst, dst, src);
}

// sin(src + shift): src is brought to [-pi/2, pi/2] by multiples of pi, each of which changes the sign.
void shifted_sine(VectorWriter& w, u64 dst, u64 src, u32 free, double shift) {
  constexpr std::array kSine{2.7525562e-06, -1.9840874e-04, 8.3333310e-03, -1.6666667e-01, 1.0};
  constexpr double kPiHigh = 3.140625;
  const u64 k = w.scratch(free), r = w.scratch(free + 1), t = w.scratch(free + 2);
  w.scalar("vadds", t, src, shift);
  w.scalar("vmuls", t, t, 1 / kPi);
  w.convert("vconv_f322s32r", k, t);
  w.convert("vconv_s322f32", k, k);
  w.scalar("vmuls", t, k, -kPiHigh);
  w.binary("vadd", r, src, t);
  w.scalar("vmuls", t, k, -(kPi - kPiHigh));
  w.binary("vadd", r, r, t);
  if (shift != 0) w.scalar("vadds", r, r, shift);
  // 1 - 2 (k mod 2) = 1 - 2 k + 4 floor(k / 2)
  w.scalar("vmuls", t, k, 0.5);
  w.convert("vconv_f322s32f", t, t);
  w.convert("vconv_s322f32", t, t);
  w.scalar("vmuls", t, t, 2);
  w.binary("vsub", k, k, t);
  w.scalar("vmuls", k, k, -2);
  w.scalar("vadds", k, k, 1);
  odd_polynomial(w, dst, r, t, kSine);
  w.binary("vmul", dst, dst, k);
}
void write_sin(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) { shifted_sine(w, dst, src, free, 0); }
void write_cos(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) { shifted_sine(w, dst, src, free, kHalfPi); }
void write_tan(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  const u64 cosine = w.scratch(free + 3);
  shifted_sine(w, cosine, src, free, kHalfPi);
  shifted_sine(w, dst, src, free, 0);
  w.binary("vdiv", dst, dst, cosine);
}

// Of y = min(|x|, 1 / |x|) by a polynomial; beyond 1 it is pi/2 minus that.
void write_atan(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  constexpr std::array kArc{-0.01172120, 0.05265332, -0.11643287, 0.19354346, -0.33262347, 0.99997726};
  const u64 size = w.scratch(free), y = w.scratch(free + 1), t = w.scratch(free + 2);
  w.unary("vabs", size, src);
  w.binary("vdiv", y, w.number_block(1), size, true);
  w.binary("vmin", y, y, size);
  odd_polynomial(w, dst, y, t, kArc);
  // dst + beyond (pi/2 - 2 dst), where beyond is 1 above 1 and 0 below it.
  w.scalar("vadds", size, size, -1);
  w.scalar("vmuls", size, size, 1e30);
  w.scalar("vmaxs", size, size, 0);
  w.scalar("vmins", size, size, 1);
  w.scalar("vmuls", t, dst, -2);
  w.scalar("vadds", t, t, kHalfPi);
  w.binary("vmul", t, t, size);
  w.binary("vadd", dst, dst, t);
  sign_of(w, t, src);
  w.binary("vmul", dst, dst, t);
}
// atan(x / sqrt(1 - x^2))
void write_asin(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  const u64 t = w.scratch(free + 3);
  w.binary("vmul", t, src, src);
  w.scalar("vmuls", t, t, -1);
  w.scalar("vadds", t, t, 1);
  w.unary("vsqrt", t, t);
  w.binary("vdiv", t, src, t);
  write_atan(w, dst, t, free, node);
}
void write_acos(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  write_asin(w, dst, src, free, node);
  w.scalar("vmuls", dst, dst, -1);
  w.scalar("vadds", dst, dst, kHalfPi);
}

// (e^x + sign e^-x) / 2
void hyperbolic(VectorWriter& w, u64 dst, u64 src, u64 t, std::string_view join) {
  w.scalar("vmuls", t, src, -1);
  w.unary("vexp", t, t);
  w.unary("vexp", dst, src);
  w.binary(join, dst, dst, t);
  w.scalar("vmuls", dst, dst, 0.5);
}
void write_sinh(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  hyperbolic(w, dst, src, w.scratch(free), "vsub");
}
void write_cosh(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  hyperbolic(w, dst, src, w.scratch(free), "vadd");
}

// ln(|x| + sqrt(x^2 + 1)), with the sign of x
void write_asinh(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  const u64 t = w.scratch(free);
  w.binary("vmul", t, src, src);
  w.scalar("vadds", t, t, 1);
  w.unary("vsqrt", t, t);
  w.unary("vabs", dst, src);
  w.binary("vadd", t, t, dst);
  w.unary("vln", t, t);
  sign_of(w, dst, src);
  w.binary("vmul", dst, dst, t);
}
void write_acosh(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  const u64 t = w.scratch(free);
  w.binary("vmul", t, src, src);
  w.scalar("vadds", t, t, -1);
  w.unary("vsqrt", t, t);
  w.binary("vadd", t, t, src);
  w.unary("vln", dst, t);
}
// ln((1 + x) / (1 - x)) / 2
void write_atanh(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  const u64 t = w.scratch(free);
  w.scalar("vmuls", t, src, -1);
  w.scalar("vadds", t, t, 1);
  w.scalar("vadds", dst, src, 1);
  w.binary("vdiv", dst, dst, t);
  w.unary("vln", dst, dst);
  w.scalar("vmuls", dst, dst, 0.5);
}

constexpr auto kFunctions = std::to_array<VectorFunction>({
    {"Acos", write_acos, 4},
    {"Acosh", write_acosh, 1},
    {"Asin", write_asin, 4},
    {"Asinh", write_asinh, 1},
    {"Atan", write_atan, 3},
    {"Atanh", write_atanh, 1},
    {"Cos", write_cos, 3},
    {"Cosh", write_cosh, 1},
    {"Sin", write_sin, 3},
    {"Sinh", write_sinh, 1},
    {"Tan", write_tan, 4},
});

}  // namespace

std::span<const VectorFunction> trigonometric_functions() { return kFunctions; }

}  // namespace vinci::graph
