// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/format.h"
#include "isa/table/exec.h"

// binary16 and binary32 as bits: conversions, arithmetic, saturation. A NaN that a function returns is the canonical
// one.
namespace vinci::isa {

inline constexpr u16 kF16Inf = Binary16::kInf;
inline constexpr u16 kF16Nan = Binary16::kNan;
inline constexpr u16 kF16Max = Binary16::kMax;  // 65504
inline constexpr u16 kF16One = Binary16::kOne;
inline constexpr u32 kF32Inf = Binary32::kInf;
inline constexpr u32 kF32Nan = Binary32::kNan;
inline constexpr u32 kF32One = Binary32::kOne;

constexpr bool f16_finite(u16 bits) { return Binary16::finite(bits); }
constexpr bool f16_nan(u16 bits) { return Binary16::nan(bits); }
constexpr bool f16_zero(u16 bits) { return Binary16::zero(bits); }
constexpr bool f32_finite(u32 bits) { return Binary32::finite(bits); }
constexpr bool f32_nan(u32 bits) { return Binary32::nan(bits); }
constexpr bool f32_zero(u32 bits) { return Binary32::zero(bits); }

using RoundedF16 = Rounded<Binary16>;

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

// One format to a narrower one, rounded once. Infinity stays, NaN becomes the canonical one; neither counts as
// overflow.
template <class To, class From>
constexpr Rounded<To> narrow_bits(typename From::Bits bits, RoundMode mode) {
  if (From::nan(bits)) return {To::kNan};
  if (!From::finite(bits)) return {static_cast<typename To::Bits>((From::negative(bits) ? To::kSign : 0) | To::kInf)};
  return round_to<To>(exact_of<From>(bits), mode);
}
constexpr RoundedF16 round_f32_to_f16(u32 bits, RoundMode mode = RoundMode::rint) {
  return narrow_bits<Binary16, Binary32>(bits, mode);
}
// Not by way of f32, which would round twice.
constexpr RoundedF16 round_f64_to_f16(u64 bits, RoundMode mode = RoundMode::rint) {
  return narrow_bits<Binary16, Binary64>(bits, mode);
}

constexpr u16 f32_to_f16(u32 bits, RoundMode mode = RoundMode::rint) { return round_f32_to_f16(bits, mode).bits; }
constexpr u16 f64_to_f16(u64 bits, RoundMode mode = RoundMode::rint) { return round_f64_to_f16(bits, mode).bits; }

// The same on host types, for text, tests and tools.
inline float f16_value(u16 bits) { return std::bit_cast<float>(f16_to_f32(bits)); }
inline u16 f16_bits(double value, RoundMode mode = RoundMode::rint) {
  return f64_to_f16(std::bit_cast<u64>(value), mode);
}

// The post-pass of a result of 16 bits: in saturation mode infinity becomes the largest finite value and NaN +0.
template <class F>
constexpr typename F::Bits saturate(typename F::Bits bits, OverflowMode mode) {
  if (mode == OverflowMode::inf_nan || F::finite(bits)) return bits;
  return F::nan(bits) ? typename F::Bits{0} : static_cast<typename F::Bits>(bits - 1);
}
constexpr u16 saturate_f16(u16 bits, OverflowMode mode) { return saturate<Binary16>(bits, mode); }

// f32 results are never saturated; their NaN is made canonical.
inline float canonical_f32(float value) { return value != value ? std::bit_cast<float>(kF32Nan) : value; }

// + - * / on f16, round to nearest even, without saturation. One binary32 operation and one narrowing give the
// correctly rounded result, because 24 >= 2 * 11 + 2.
inline u16 f16_add(u16 a, u16 b) { return f32_to_f16(std::bit_cast<u32>(f16_value(a) + f16_value(b))); }
inline u16 f16_sub(u16 a, u16 b) { return f32_to_f16(std::bit_cast<u32>(f16_value(a) - f16_value(b))); }
inline u16 f16_mul(u16 a, u16 b) { return f32_to_f16(std::bit_cast<u32>(f16_value(a) * f16_value(b))); }
inline u16 f16_div(u16 a, u16 b) { return f32_to_f16(std::bit_cast<u32>(f16_value(a) / f16_value(b))); }

constexpr u16 f16_max(u16 a, u16 b) { return max_of<Binary16>(a, b); }
constexpr u16 f16_min(u16 a, u16 b) { return min_of<Binary16>(a, b); }
constexpr u32 f32_max(u32 a, u32 b) { return max_of<Binary32>(a, b); }
constexpr u32 f32_min(u32 a, u32 b) { return min_of<Binary32>(a, b); }
constexpr u16 f16_relu(u16 bits) { return relu_of<Binary16>(bits); }
constexpr u32 f32_relu(u32 bits) { return relu_of<Binary32>(bits); }
constexpr u16 f16_abs(u16 bits) { return abs_of<Binary16>(bits); }
constexpr u32 f32_abs(u32 bits) { return abs_of<Binary32>(bits); }

}  // namespace vinci::isa
