// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <bit>
#include <string_view>

#include "isa/base/types.h"
#include "isa/exec.h"

// binary16 as bits: conversions, arithmetic, saturation. Everything is integer work or one IEEE 754 operation of the
// host in binary32, so the bits are the same on every machine. A NaN that a function returns is the canonical one.
namespace vinci::isa {

// How a result that does not fit is rounded; CAST_<NAME> of the Ascend C Cast documentation.
enum class RoundMode : u8 {
  rint,   // to nearest, ties to even
  floor,  // toward -infinity
  ceil,   // toward +infinity
  round,  // to nearest, ties away from zero
  trunc,  // toward zero
  odd,    // inexact: the neighbour with the odd last bit (von Neumann)
};
inline constexpr std::array<std::string_view, 6> kRoundModeNames{"rint", "floor", "ceil", "round", "trunc", "odd"};
constexpr std::string_view name(RoundMode m) { return kRoundModeNames[static_cast<usize>(m)]; }

inline constexpr u16 kF16Inf = 0x7c00;
inline constexpr u16 kF16Nan = 0x7e00;
inline constexpr u16 kF16Max = 0x7bff;  // 65504
inline constexpr u16 kF16One = 0x3c00;
inline constexpr u32 kF32Inf = 0x7f800000;
inline constexpr u32 kF32Nan = 0x7fc00000;
inline constexpr u32 kF32One = 0x3f800000;

constexpr bool f16_finite(u16 bits) { return (bits & kF16Inf) != kF16Inf; }
constexpr bool f16_nan(u16 bits) { return (bits & 0x7fff) > kF16Inf; }
constexpr bool f16_zero(u16 bits) { return (bits & 0x7fff) == 0; }
constexpr bool f32_finite(u32 bits) { return (bits & kF32Inf) != kF32Inf; }
constexpr bool f32_nan(u32 bits) { return (bits & 0x7fffffff) > kF32Inf; }
constexpr bool f32_zero(u32 bits) { return (bits & 0x7fffffff) == 0; }

// A narrowed value, and what the narrowing did to a finite one.
struct RoundedF16 {
  u16 bits = 0;
  bool overflow = false;   // too large for a finite f16, also where the mode returns +-65504
  bool underflow = false;  // not zero, but became zero

  friend bool operator==(const RoundedF16&, const RoundedF16&) = default;
};

namespace detail {

// What a finite value beyond +-65504 becomes. Only modes that round away from zero on this side give infinity.
constexpr RoundedF16 overflowed_f16(bool negative, RoundMode mode) {
  const bool to_max =
      mode == RoundMode::trunc || mode == RoundMode::odd || mode == (negative ? RoundMode::ceil : RoundMode::floor);
  return {static_cast<u16>((negative ? 0x8000 : 0) | (to_max ? kF16Max : kF16Inf)), true, false};
}

// +-(magnitude * 2^exponent), rounded once; magnitude < 2^63.
constexpr RoundedF16 round_to_f16(bool negative, u64 magnitude, int exponent, RoundMode mode) {
  const u16 sign = negative ? 0x8000 : 0;
  if (magnitude == 0) return {sign};
  const int top = 63 - std::countl_zero(magnitude) + exponent;  // exponent of the leading bit
  if (top > 15) return overflowed_f16(negative, mode);
  const int last = top - 10 < -24 ? -24 : top - 10;  // exponent of the last bit kept; subnormals keep 2^-24
  const int shift = last - exponent;
  u64 kept = 0;
  bool inexact = false;
  int half = -1;  // sign of (what is cut off - half of the last bit)
  if (shift <= 0) {
    kept = magnitude << -shift;
  } else if (shift > 63) {
    inexact = true;
  } else {
    kept = magnitude >> shift;
    const u64 cut = magnitude & ((u64{1} << shift) - 1);
    const u64 limit = u64{1} << (shift - 1);
    inexact = cut != 0;
    half = cut < limit ? -1 : (cut == limit ? 0 : 1);
  }
  if (inexact) {
    switch (mode) {
      case RoundMode::rint: kept += half > 0 || (half == 0 && (kept & 1) != 0); break;
      case RoundMode::floor: kept += negative; break;
      case RoundMode::ceil: kept += !negative; break;
      case RoundMode::round: kept += half >= 0; break;
      case RoundMode::trunc: break;
      case RoundMode::odd: kept |= 1; break;
    }
  }
  // The leading bit of `kept` counts as one in the exponent field, and so does a carry out of the fraction.
  const u64 bits = (static_cast<u64>(last + 24) << 10) + kept;
  if (bits >= kF16Inf) return overflowed_f16(negative, mode);
  return {static_cast<u16>(sign | bits), false, bits == 0};
}

}  // namespace detail

// f16 to f32, exact. NaN becomes kF32Nan.
constexpr u32 f16_to_f32(u16 bits) {
  const u32 sign = u32{bits & 0x8000u} << 16;
  const u32 magnitude = bits & 0x7fffu;
  if (magnitude > kF16Inf) return kF32Nan;
  if (magnitude == kF16Inf) return sign | kF32Inf;
  if (magnitude >= 0x400) return sign | ((magnitude << 13) + (u32{127 - 15} << 23));
  if (magnitude == 0) return sign;
  const int top = 31 - std::countl_zero(magnitude);  // subnormal: magnitude * 2^-24
  return sign | (static_cast<u32>(127 - 24 + top) << 23) | ((magnitude << (23 - top)) & 0x7fffff);
}

// f32 to f16, rounded once. Infinity stays, NaN becomes kF16Nan; neither counts as overflow.
constexpr RoundedF16 round_f32_to_f16(u32 bits, RoundMode mode = RoundMode::rint) {
  const bool negative = (bits >> 31) != 0;
  if (f32_nan(bits)) return {kF16Nan};
  if (!f32_finite(bits)) return {static_cast<u16>((negative ? 0x8000 : 0) | kF16Inf)};
  const int field = static_cast<int>((bits >> 23) & 0xff);
  const u32 fraction = bits & 0x7fffff;
  return detail::round_to_f16(negative, field == 0 ? fraction : fraction | 0x800000, (field == 0 ? 1 : field) - 150,
                              mode);
}

// f64 to f16, rounded once (not by way of f32, which would round twice).
constexpr RoundedF16 round_f64_to_f16(u64 bits, RoundMode mode = RoundMode::rint) {
  const bool negative = (bits >> 63) != 0;
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  const u64 fraction = bits & ((u64{1} << 52) - 1);
  if (field == 0x7ff) return {fraction != 0 ? kF16Nan : static_cast<u16>((negative ? 0x8000 : 0) | kF16Inf)};
  return detail::round_to_f16(negative, field == 0 ? fraction : fraction | (u64{1} << 52),
                              (field == 0 ? 1 : field) - 1075, mode);
}

constexpr u16 f32_to_f16(u32 bits, RoundMode mode = RoundMode::rint) { return round_f32_to_f16(bits, mode).bits; }
constexpr u16 f64_to_f16(u64 bits, RoundMode mode = RoundMode::rint) { return round_f64_to_f16(bits, mode).bits; }

// The same on host types, for text, tests and tools.
inline float f16_value(u16 bits) { return std::bit_cast<float>(f16_to_f32(bits)); }
inline u16 f16_bits(double value, RoundMode mode = RoundMode::rint) {
  return f64_to_f16(std::bit_cast<u64>(value), mode);
}

// The post-pass of an f16 result: in saturation mode infinity becomes +-65504 and NaN becomes +0.
constexpr u16 saturate_f16(u16 bits, OverflowMode mode) {
  if (mode == OverflowMode::inf_nan || f16_finite(bits)) return bits;
  return f16_nan(bits) ? 0 : static_cast<u16>(bits - 1);
}

// f32 results are never saturated; their NaN is made canonical.
inline float canonical_f32(float value) { return value != value ? std::bit_cast<float>(kF32Nan) : value; }

// + - * / on f16, round to nearest even, without saturation. One binary32 operation and one narrowing give the
// correctly rounded result, because 24 >= 2 * 11 + 2.
inline u16 f16_add(u16 a, u16 b) { return f32_to_f16(std::bit_cast<u32>(f16_value(a) + f16_value(b))); }
inline u16 f16_sub(u16 a, u16 b) { return f32_to_f16(std::bit_cast<u32>(f16_value(a) - f16_value(b))); }
inline u16 f16_mul(u16 a, u16 b) { return f32_to_f16(std::bit_cast<u32>(f16_value(a) * f16_value(b))); }
inline u16 f16_div(u16 a, u16 b) { return f32_to_f16(std::bit_cast<u32>(f16_value(a) / f16_value(b))); }

// Larger and smaller of two values as bits of an IEEE format, without saturation: NaN wins, -0 < +0.
template <class Bits, Bits Inf, Bits Nan>
constexpr Bits ieee_max(Bits a, Bits b) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  if ((a & kMagnitude) > Inf || (b & kMagnitude) > Inf) return Nan;
  const bool a_negative = a > kMagnitude;
  if (a_negative != (b > kMagnitude)) return a_negative ? b : a;
  return (a > b) != a_negative ? a : b;
}
template <class Bits, Bits Inf, Bits Nan>
constexpr Bits ieee_min(Bits a, Bits b) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  if ((a & kMagnitude) > Inf || (b & kMagnitude) > Inf) return Nan;
  return ieee_max<Bits, Inf, Nan>(a, b) == a ? b : a;
}
constexpr u16 f16_max(u16 a, u16 b) { return ieee_max<u16, kF16Inf, kF16Nan>(a, b); }
constexpr u16 f16_min(u16 a, u16 b) { return ieee_min<u16, kF16Inf, kF16Nan>(a, b); }
constexpr u32 f32_max(u32 a, u32 b) { return ieee_max<u32, kF32Inf, kF32Nan>(a, b); }
constexpr u32 f32_min(u32 a, u32 b) { return ieee_min<u32, kF32Inf, kF32Nan>(a, b); }

// max(x, +0): NaN stays NaN, -0 and everything negative become +0.
constexpr u16 f16_relu(u16 bits) { return f16_nan(bits) ? kF16Nan : (bits & 0x8000) != 0 ? u16{0} : bits; }
constexpr u32 f32_relu(u32 bits) { return f32_nan(bits) ? kF32Nan : (bits >> 31) != 0 ? 0 : bits; }

constexpr u16 f16_abs(u16 bits) { return f16_nan(bits) ? kF16Nan : static_cast<u16>(bits & 0x7fff); }
constexpr u32 f32_abs(u32 bits) { return f32_nan(bits) ? kF32Nan : bits & 0x7fffffff; }

}  // namespace vinci::isa
