// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/approx.h"

#include <array>
#include <cmath>
#include <limits>

#include "isa/numeric/exp.h"
#include "isa/numeric/log.h"
#include "isa/numeric/odd.h"

namespace vinci::isa {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// x = m * 2^exponent with 1 <= m < 2; x is positive and a normal double, as every f32 other than 0 is.
struct Scaled {
  double m;
  int exponent;
};
Scaled scale(double x) {
  const u64 bits = std::bit_cast<u64>(x);
  return {std::bit_cast<double>((bits & 0xfffffffffffff) | u64{1023} << 52), static_cast<int>(bits >> 52) - 1023};
}

// The chord of 1/x from a to b is (a + b - x) / (a * b).
double rec_chord(double x) {
  constexpr int kSteps = 16;
  const Scaled s = scale(std::fabs(x));
  const double a = 1 + static_cast<double>(static_cast<int>((s.m - 1) * kSteps)) / kSteps;
  const double b = a + 1.0 / kSteps;
  return std::copysign((a + b - s.m) / (a * b) * power_of_two(-s.exponent), x);
}

double rsqrt_chord(double x) {
  constexpr int kSteps = 8;
  const Scaled s = scale(x);
  const int odd = s.exponent & 1;
  const double width = (odd + 1) / static_cast<double>(kSteps);
  const double m = s.m * (odd + 1);
  const double a = (odd + 1) + static_cast<double>(static_cast<int>((s.m - 1) * kSteps)) * width;
  const double left = 1 / std::sqrt(a);
  const double right = 1 / std::sqrt(a + width);
  return (left + (right - left) * ((m - a) / width)) * power_of_two(-((s.exponent - odd) / 2));
}

// The functions on a value that is not NaN, as a double that one more rounding makes right.
double exp_of(double x, Precision) { return exp_to_odd(x); }
double ln_of(double x, Precision) { return x == 0 ? -kInf : x < 0 ? kNan : x == kInf ? x : log_to_odd(x); }
double rec_of(double x, Precision precision) {
  if (x == 0 || std::isinf(x)) return 1 / x;
  return precision == Precision::high_performance ? rec_chord(x) : 1 / x;
}
// The correctly rounded root and quotient of two binary64 operations err by less than 2^-52; the unit test
// compares every f32 significand with exact integers: no result is that close to a boundary.
double rsqrt_of(double x, Precision precision) {
  if (x == 0) return 1 / x;
  if (x < 0) return kNan;
  return x < kInf && precision == Precision::high_performance ? rsqrt_chord(x) : 1 / std::sqrt(x);
}

template <double (*Function)(double, Precision)>
u16 on_f16(u16 x, Precision precision) {
  return f16_nan(x) ? kF16Nan : f16_bits(Function(f16_value(x), precision));
}
template <double (*Function)(double, Precision)>
u32 on_f32(u32 x, Precision precision) {
  if (f32_nan(x)) return kF32Nan;
  return std::bit_cast<u32>(canonical_f32(static_cast<float>(Function(std::bit_cast<float>(x), precision))));
}

}  // namespace

u16 f16_exp(u16 x) { return on_f16<exp_of>(x, {}); }
u16 f16_ln(u16 x) { return on_f16<ln_of>(x, {}); }
u16 f16_rec(u16 x, Precision precision) { return on_f16<rec_of>(x, precision); }
u16 f16_rsqrt(u16 x, Precision precision) { return on_f16<rsqrt_of>(x, precision); }
u32 f32_exp(u32 x) { return on_f32<exp_of>(x, {}); }
u32 f32_ln(u32 x) { return on_f32<ln_of>(x, {}); }
u32 f32_rec(u32 x, Precision precision) { return on_f32<rec_of>(x, precision); }
u32 f32_rsqrt(u32 x, Precision precision) { return on_f32<rsqrt_of>(x, precision); }

// A root in binary32 is correctly rounded, and 24 >= 2 * 11 + 2 makes it so for f16.
u32 f32_sqrt(u32 x) { return std::bit_cast<u32>(canonical_f32(std::sqrt(std::bit_cast<float>(x)))); }
u16 f16_sqrt(u16 x) { return f32_to_f16(f32_sqrt(f16_to_f32(x))); }

}  // namespace vinci::isa
