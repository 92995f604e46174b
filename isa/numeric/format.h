// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <bit>
#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"

// Binary floating-point formats as bits, and the rounding of exact values into them and into integers. Integer work
// only, so the bits are the same on every machine; everything that narrows a value in this project ends here or in one
// IEEE 754 operation of the host.
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
inline constexpr auto kRoundModeNames = enum_names<RoundMode>;
constexpr std::string_view name(RoundMode m) { return kRoundModeNames[static_cast<usize>(m)]; }

// An IEEE 754 interchange format, or one built like them.
template <class B, int FractionBits, int ExponentBits>
struct BinaryFormat {
  static_assert(1 + FractionBits + ExponentBits == 8 * sizeof(B));
  using Bits = B;
  static constexpr int kFractionBits = FractionBits;
  static constexpr int kMostExponent = (1 << (ExponentBits - 1)) - 1;        // of the leading bit; also the bias
  static constexpr int kLastBitExponent = 1 - kMostExponent - FractionBits;  // of the least subnormal
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(B) - 1));
  static constexpr Bits kMagnitude = static_cast<Bits>(kSign - 1);
  static constexpr Bits kFraction = static_cast<Bits>((Bits{1} << FractionBits) - 1);
  static constexpr Bits kInf = static_cast<Bits>(kMagnitude & ~kFraction);
  static constexpr Bits kNan = static_cast<Bits>(kInf | (Bits{1} << (FractionBits - 1)));  // the canonical one
  static constexpr Bits kMax = static_cast<Bits>(kInf - 1);
  static constexpr Bits kOne = static_cast<Bits>(static_cast<Bits>(kMostExponent) << FractionBits);

  static constexpr bool negative(Bits x) { return (x & kSign) != 0; }
  static constexpr bool finite(Bits x) { return (x & kInf) != kInf; }
  static constexpr bool nan(Bits x) { return (x & kMagnitude) > kInf; }
  static constexpr bool zero(Bits x) { return (x & kMagnitude) == 0; }
};
using Binary16 = BinaryFormat<u16, 10, 5>;
using Bfloat16 = BinaryFormat<u16, 7, 8>;
using Binary32 = BinaryFormat<u32, 23, 8>;
using Binary64 = BinaryFormat<u64, 52, 11>;

// +-(magnitude * 2^exponent)
struct Exact {
  bool negative = false;
  u64 magnitude = 0;
  int exponent = 0;
};

// The value of finite bits.
template <class F>
constexpr Exact exact_of(typename F::Bits x) {
  const int field = static_cast<int>((x & F::kInf) >> F::kFractionBits);
  const u64 fraction = x & F::kFraction;
  return {F::negative(x), field == 0 ? fraction : fraction | (u64{1} << F::kFractionBits),
          (field == 0 ? 1 : field) - 1 + F::kLastBitExponent};
}
constexpr Exact exact_of_int(i64 x) { return {x < 0, x < 0 ? u64{0} - static_cast<u64>(x) : static_cast<u64>(x), 0}; }

// magnitude * 2^-shift as an integer; the caller knows that it fits. The sign decides about floor and ceil.
constexpr u64 round_magnitude(u64 magnitude, int shift, bool negative, RoundMode mode) {
  if (shift <= 0) return magnitude << -shift;
  const u64 kept = shift > 63 ? 0 : magnitude >> shift;
  const u64 cut = shift > 63 ? magnitude : magnitude & ((u64{1} << shift) - 1);
  if (cut == 0) return kept;
  // Beyond 64 bits everything is less than half of the last bit.
  const u64 half = shift > 64 ? 0 : u64{1} << (shift - 1);
  const bool above = half != 0 && cut > half;
  const bool tie = half != 0 && cut == half;
  switch (mode) {
    case RoundMode::rint: return kept + (above || (tie && (kept & 1) != 0));
    case RoundMode::floor: return kept + negative;
    case RoundMode::ceil: return kept + !negative;
    case RoundMode::round: return kept + (above || tie);
    case RoundMode::trunc: return kept;
    case RoundMode::odd: return kept | 1;
  }
  return kept;
}

// A narrowed value, and what the narrowing did to a finite one.
template <class F>
struct Rounded {
  typename F::Bits bits = 0;
  bool overflow = false;   // too large for a finite value, also where the mode returns the largest one
  bool underflow = false;  // not zero, but became zero

  friend bool operator==(const Rounded&, const Rounded&) = default;
};

// Rounded once into a format. Beyond the largest finite value only modes that round away from zero on this side give
// infinity.
template <class F>
constexpr Rounded<F> round_to(const Exact& x, RoundMode mode) {
  using Bits = typename F::Bits;
  const Bits sign = x.negative ? F::kSign : 0;
  const bool to_max =
      mode == RoundMode::trunc || mode == RoundMode::odd || mode == (x.negative ? RoundMode::ceil : RoundMode::floor);
  const Rounded<F> overflowed{static_cast<Bits>(sign | (to_max ? F::kMax : F::kInf)), true, false};
  if (x.magnitude == 0) return {sign};
  const int top = 63 - std::countl_zero(x.magnitude) + x.exponent;  // exponent of the leading bit
  if (top > F::kMostExponent) return overflowed;
  // Exponent of the last bit kept.
  const int last = top - F::kFractionBits < F::kLastBitExponent ? F::kLastBitExponent : top - F::kFractionBits;
  const u64 kept = round_magnitude(x.magnitude, last - x.exponent, x.negative, mode);
  // The leading bit of `kept` counts as one in the exponent field, and so does a carry out of the fraction.
  const u64 bits = (static_cast<u64>(last - F::kLastBitExponent) << F::kFractionBits) + kept;
  if (bits >= F::kInf) return overflowed;
  return {static_cast<Bits>(sign | bits), false, bits == 0};
}

// A value as an integer of a range.
struct RoundedInt {
  i64 value = 0;
  bool clamped = false;  // it lay outside of the range and became its end

  friend bool operator==(const RoundedInt&, const RoundedInt&) = default;
};
constexpr RoundedInt round_to_int(const Exact& x, RoundMode mode, i64 least, i64 most) {
  if (x.magnitude == 0) return {};
  const RoundedInt beyond{x.negative ? least : most, true};
  const int top = 63 - std::countl_zero(x.magnitude) + x.exponent;
  if (top > 63) return beyond;
  const u64 kept = round_magnitude(x.magnitude, -x.exponent, x.negative, mode);
  if (kept > (x.negative ? u64{0} - static_cast<u64>(least) : static_cast<u64>(most))) return beyond;
  return {static_cast<i64>(x.negative ? u64{0} - kept : kept), false};
}

// Larger and smaller of two values without saturation: NaN wins, -0 < +0.
template <class F>
constexpr typename F::Bits max_of(typename F::Bits a, typename F::Bits b) {
  if (F::nan(a) || F::nan(b)) return F::kNan;
  if (F::negative(a) != F::negative(b)) return F::negative(a) ? b : a;
  return (a > b) != F::negative(a) ? a : b;
}
template <class F>
constexpr typename F::Bits min_of(typename F::Bits a, typename F::Bits b) {
  if (F::nan(a) || F::nan(b)) return F::kNan;
  return max_of<F>(a, b) == a ? b : a;
}

// max(x, +0): NaN stays NaN, -0 and everything negative become +0.
template <class F>
constexpr typename F::Bits relu_of(typename F::Bits x) {
  return F::nan(x) ? F::kNan : F::negative(x) ? typename F::Bits{0} : x;
}
template <class F>
constexpr typename F::Bits abs_of(typename F::Bits x) {
  return F::nan(x) ? F::kNan : static_cast<typename F::Bits>(x & F::kMagnitude);
}

}  // namespace vinci::isa
