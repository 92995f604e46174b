// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/vector_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "tools/graph/kernels/vector_trigonometry.h"
#include "tools/graph/passes/match.h"

// Activations and other functions as sequences of vector instructions on f32.
namespace vinci::graph {
namespace {

void write_reciprocal(VectorWriter& w, u64 dst, u64 src, u32, const Node&) {
  w.binary("vdiv", dst, w.number_block(1), src, true);
}

void write_rsqrt(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  w.unary("vsqrt", w.scratch(free), src);
  w.binary("vdiv", dst, w.number_block(1), w.scratch(free), true);
}

void write_sigmoid(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  const u64 t = w.scratch(free);
  w.scalar("vmuls", t, src, -1);
  w.unary("vexp", t, t);
  w.scalar("vadds", t, t, 1);
  w.binary("vdiv", dst, w.number_block(1), t, true);
}

void write_swish(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  write_sigmoid(w, dst, src, free, node);
  w.binary("vmul", dst, dst, src);
}

// 1 - 2 / (e^2x + 1)
void write_tanh(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  const u64 t = w.scratch(free);
  w.scalar("vmuls", t, src, 2);
  w.unary("vexp", t, t);
  w.scalar("vadds", t, t, 1);
  w.binary("vdiv", dst, w.number_block(-2), t, true);
  w.scalar("vadds", dst, dst, 1);
}

// dst = the polynomial of src; the coefficient of the highest power first.
void polynomial(VectorWriter& w, u64 dst, u64 src, std::span<const double> coefficients) {
  w.scalar("vmuls", dst, src, coefficients[0]);
  for (const double c : coefficients.subspan(1, coefficients.size() - 2)) {
    w.scalar("vadds", dst, dst, c);
    w.binary("vmul", dst, dst, src);
  }
  w.scalar("vadds", dst, dst, coefficients.back());
}

// x P(x^2) / Q(x^2) on [-4, 4], the rational approximation of Eigen and XLA; within 3e-7.
void write_erf(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  constexpr std::array kP{-2.72614225801306e-10, 2.77068142495902e-08,  -2.10102402082508e-06, -5.69250639462346e-05,
                          -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02};
  constexpr std::array kQ{-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
                          -1.42647390514189e-02};
  const u64 x = w.scratch(free), square = w.scratch(free + 1), q = w.scratch(free + 2);
  w.scalar("vmins", x, src, 4);
  w.scalar("vmaxs", x, x, -4);
  w.binary("vmul", square, x, x);
  polynomial(w, dst, square, kP);
  polynomial(w, q, square, kQ);
  w.binary("vmul", dst, dst, x);
  w.binary("vdiv", dst, dst, q);
}

// x / (1 + e^(-2 sqrt(2 / pi) (x + 0.044715 x^3))), as CANN's Gelu; within 5e-4.
void write_gelu_by_tanh(VectorWriter& w, u64 dst, u64 src, u32 free) {
  const double slope = -2 * std::sqrt(2 / std::numbers::pi);
  const u64 t = w.scratch(free);
  w.binary("vmul", t, src, src);
  w.scalar("vmuls", t, t, 0.044715 * slope);
  w.scalar("vadds", t, t, slope);
  w.binary("vmul", t, t, src);
  w.unary("vexp", t, t);
  w.scalar("vadds", t, t, 1);
  w.binary("vdiv", dst, src, t);
}

// f16 cannot tell the form with tanh from the one with erf.
void write_gelu(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  if (node.input(0)->type == DataType::f16) return write_gelu_by_tanh(w, dst, src, free);
  const u64 t = w.scratch(free + 3);
  w.scalar("vmuls", t, src, 1 / std::numbers::sqrt2);
  write_erf(w, dst, t, free, node);
  w.scalar("vadds", dst, dst, 1);
  w.binary("vmul", dst, dst, src);
  w.scalar("vmuls", dst, dst, 0.5);
}

// max(x, 0) + ln(1 + e^-|x|)
void write_softplus(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  const u64 t = w.scratch(free);
  w.unary("vabs", t, src);
  w.scalar("vmuls", t, t, -1);
  w.unary("vexp", t, t);
  w.scalar("vadds", t, t, 1);
  w.unary("vln", t, t);
  w.unary("vrelu", dst, src);
  w.binary("vadd", dst, dst, t);
}

void write_softsign(VectorWriter& w, u64 dst, u64 src, u32 free, const Node&) {
  const u64 t = w.scratch(free);
  w.unary("vabs", t, src);
  w.scalar("vadds", t, t, 1);
  w.binary("vdiv", dst, src, t);
}

void clamp_line(VectorWriter& w, u64 dst, u64 src, double alpha, double beta) {
  w.scalar("vmuls", dst, src, alpha);
  w.scalar("vadds", dst, dst, beta);
  w.scalar("vmaxs", dst, dst, 0);
  w.scalar("vmins", dst, dst, 1);
}
void write_hard_sigmoid(VectorWriter& w, u64 dst, u64 src, u32, const Node& node) {
  clamp_line(w, dst, src, node.number("alpha", 0.2), node.number("beta", 0.5));
}
void write_hard_swish(VectorWriter& w, u64 dst, u64 src, u32, const Node&) {
  clamp_line(w, dst, src, 1.0 / 6, 0.5);
  w.binary("vmul", dst, dst, src);
}

// positive * max(x, 0) + negative * min(x, 0)
void two_lines(VectorWriter& w, u64 dst, u64 src, u64 t, double positive, double negative) {
  w.scalar("vmins", t, src, 0);
  w.scalar("vmuls", t, t, negative);
  w.unary("vrelu", dst, src);
  w.scalar("vmuls", dst, dst, positive);
  w.binary("vadd", dst, dst, t);
}
void write_leaky_relu(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  two_lines(w, dst, src, w.scratch(free), 1, node.number("alpha", 0.01));
}

// gamma * (max(x, 0) + alpha * (e^(min(x, 0) / slope) - 1))
void exponential_unit(VectorWriter& w, u64 dst, u64 src, u64 t, double gamma, double alpha, double slope) {
  w.scalar("vmins", t, src, 0);
  w.scalar("vmuls", t, t, 1 / slope);
  w.unary("vexp", t, t);
  w.scalar("vadds", t, t, -1);
  w.scalar("vmuls", t, t, alpha);
  w.unary("vrelu", dst, src);
  w.binary("vadd", dst, dst, t);
  if (gamma != 1) w.scalar("vmuls", dst, dst, gamma);
}
void write_elu(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  exponential_unit(w, dst, src, w.scratch(free), 1, node.number("alpha", 1), 1);
}
void write_selu(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  exponential_unit(w, dst, src, w.scratch(free), node.number("gamma", 1.05070102214813232421875),
                   node.number("alpha", 1.67326319217681884765625), 1);
}
void write_celu(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  const double alpha = node.number("alpha", 1);
  exponential_unit(w, dst, src, w.scratch(free), 1, alpha, alpha);
}

// By s32, as not every chip rounds from f32 to f32. From 2^23 on all numbers of f32 are whole and s32 ends soon: what
// is beyond is added behind the conversion, and is 0 elsewhere.
template <const char* name>
void round_to_whole(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  const bool fits = node.input(0)->type == DataType::f16;
  const u64 near = fits ? src : w.scratch(free);
  if (!fits) {
    w.scalar("vmaxs", near, src, -0x1p23);
    w.scalar("vmins", near, near, 0x1p23);
  }
  w.convert(name, dst, near);
  w.convert("vconv_s322f32", dst, dst);
  if (fits) return;
  w.binary("vsub", near, src, near);
  w.binary("vadd", dst, dst, near);
}
constexpr char kFloor[] = "vconv_f322s32f", kCeil[] = "vconv_f322s32c", kNearest[] = "vconv_f322s32r";

// Each number but 0 becomes 1 or more, also the smallest one, 2^-149; what is more than 1 is cut off.
void write_sign(VectorWriter& w, u64 dst, u64 src, u32, const Node&) {
  w.scalar("vmuls", dst, src, 0x1p100);
  w.scalar("vmuls", dst, dst, 0x1p100);
  w.scalar("vmaxs", dst, dst, -1);
  w.scalar("vmins", dst, dst, 1);
}

// x^n by squaring; other exponents as e^(c ln x), which is NaN for negative x, as x^c is.
void write_power(VectorWriter& w, u64 dst, u64 src, u32 free, const Node& node) {
  const double c = *scalar(node.input(1));
  const double magnitude = std::abs(c);
  if (c == 0) return w.fill(dst, 1);
  if (magnitude == 0.5) {
    w.unary("vsqrt", dst, src);
  } else if (magnitude == std::floor(magnitude) && magnitude <= 64) {
    const u64 square = w.scratch(free);
    w.copy(square, src);
    bool first = true;
    for (auto n = static_cast<u64>(magnitude); n != 0; n >>= 1) {
      if ((n & 1) != 0) {
        first ? w.copy(dst, square) : w.binary("vmul", dst, dst, square);
        first = false;
      }
      if (n > 1) w.binary("vmul", square, square, square);
    }
  } else {
    w.unary("vln", dst, src);
    w.scalar("vmuls", dst, dst, magnitude);
    w.unary("vexp", dst, dst);
  }
  if (c < 0) w.binary("vdiv", dst, w.number_block(1), dst, true);
}
std::string_view constant_exponent(const Node& node) {
  return scalar(node.input(1)) ? "" : "its exponent is no constant number";
}

constexpr auto kVectorFunctions = std::to_array<VectorFunction>({
    {"Ceil", round_to_whole<kCeil>, 1},
    {"CeluV2", write_celu, 1},
    {"Elu", write_elu, 1},
    {"Erf", write_erf, 3},
    {"Floor", round_to_whole<kFloor>, 1},
    {"Gelu", write_gelu, 4},
    {"HardSigmoid", write_hard_sigmoid},
    {"HardSwish", write_hard_swish},
    {"LeakyRelu", write_leaky_relu, 1},
    {"Pow", write_power, 1, constant_exponent},
    {"Reciprocal", write_reciprocal},
    {"Round", round_to_whole<kNearest>, 1},
    {"Rsqrt", write_rsqrt, 1},
    {"Selu", write_selu, 1},
    {"Sigmoid", write_sigmoid, 1},
    {"Sign", write_sign},
    {"Softplus", write_softplus, 1},
    {"Softsign", write_softsign, 1},
    {"Swish", write_swish, 1},
    {"Tanh", write_tanh, 1},
});

}  // namespace

const VectorFunction* find_vector_function(std::string_view type) {
  const auto at = std::ranges::find(kVectorFunctions, type, &VectorFunction::type);
  if (at != kVectorFunctions.end()) return at;
  const std::span<const VectorFunction> more = trigonometric_functions();
  const auto found = std::ranges::find(more, type, &VectorFunction::type);
  return found == more.end() ? nullptr : &*found;
}

}  // namespace vinci::graph
