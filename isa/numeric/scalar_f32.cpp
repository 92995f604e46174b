// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/scalar_f32.h"

#include <cmath>

namespace vinci::isa::scalar_f32 {
namespace {

float value(u32 bits) { return std::bit_cast<float>(bits); }

// Notes the operands; false when one is infinite or NaN.
template <class... A>
bool finite(u64& raised, A... operands) {
  const bool all = (f32_finite(operands) && ...);
  if (!all) raised |= status::kScalarNanInf;
  return all;
}

template <class F, class... A>
u32 arithmetic(u64& raised, F f, A... operands) {
  const bool all_finite = finite(raised, operands...);
  const u32 result = std::bit_cast<u32>(canonical_f32(f(value(operands)...)));
  if (all_finite && !f32_finite(result)) raised |= status::kFloatOverflow;
  return result;
}

}  // namespace

u32 add(u32 a, u32 b, u64& raised) {
  return arithmetic(
      raised, [](float x, float y) { return x + y; }, a, b);
}
u32 sub(u32 a, u32 b, u64& raised) {
  return arithmetic(
      raised, [](float x, float y) { return x - y; }, a, b);
}
u32 mul(u32 a, u32 b, u64& raised) {
  return arithmetic(
      raised, [](float x, float y) { return x * y; }, a, b);
}
u32 div(u32 a, u32 b, u64& raised) {
  return arithmetic(
      raised, [](float x, float y) { return x / y; }, a, b);
}
u32 sqrt(u32 a, u64& raised) {
  return arithmetic(
      raised, [](float x) { return std::sqrt(x); }, a);  // IEEE 754: correctly rounded
}

u32 neg(u32 a, u64& raised) {
  finite(raised, a);
  return f32_nan(a) ? kF32Nan : a ^ 0x80000000;
}
u32 abs(u32 a, u64& raised) {
  finite(raised, a);
  return f32_abs(a);
}
u32 min(u32 a, u32 b, u64& raised) {
  finite(raised, a, b);
  return f32_min(a, b);
}
u32 max(u32 a, u32 b, u64& raised) {
  finite(raised, a, b);
  return f32_max(a, b);
}

u32 eq(u32 a, u32 b, u64& raised) {
  finite(raised, a, b);
  return value(a) == value(b);
}
u32 ne(u32 a, u32 b, u64& raised) {
  finite(raised, a, b);
  return value(a) != value(b);
}
u32 lt(u32 a, u32 b, u64& raised) {
  finite(raised, a, b);
  return value(a) < value(b);
}
u32 le(u32 a, u32 b, u64& raised) {
  finite(raised, a, b);
  return value(a) <= value(b);
}

u64 to_s32(u32 a, RoundMode mode, u64& raised) {
  constexpr i64 kLow = -(i64{1} << 31), kHigh = (i64{1} << 31) - 1;
  finite(raised, a);
  const bool negative = (a >> 31) != 0;
  const int exponent = static_cast<int>(a >> 23 & 0xff) - 150;  // of the last bit of the fraction
  const auto limit = [&] {
    raised |= status::kFloatOverflow;
    return static_cast<u64>(negative ? kLow : kHigh);
  };
  if (f32_nan(a)) {
    raised |= status::kFloatOverflow;
    return 0;
  }
  if (exponent > 8) return limit();  // 2^32 and beyond, and infinity
  const u64 fraction = (a & 0x7fffff) | ((a >> 23 & 0xff) != 0 ? 0x800000u : 0u);
  u64 kept = 0;
  if (exponent >= 0) {
    kept = fraction << exponent;
  } else {
    const int shift = std::min(-exponent, 63);
    kept = fraction >> shift;
    const u64 cut = fraction & ((u64{1} << shift) - 1), half = u64{1} << (shift - 1);
    bool up = false;
    switch (mode) {
      case RoundMode::rint: up = cut > half || (cut == half && (kept & 1) != 0); break;
      case RoundMode::floor: up = negative && cut != 0; break;
      case RoundMode::ceil: up = !negative && cut != 0; break;
      case RoundMode::round: up = cut >= half; break;
      case RoundMode::trunc: break;
      case RoundMode::odd: up = cut != 0 && (kept & 1) == 0; break;
    }
    kept += up;
  }
  const i64 result = negative ? -static_cast<i64>(kept) : static_cast<i64>(kept);
  return result < kLow || result > kHigh ? limit() : static_cast<u64>(result);
}

u32 from_s32(u32 a) { return std::bit_cast<u32>(static_cast<float>(static_cast<i32>(a))); }

u32 to_f16(u32 a, RoundMode mode, OverflowMode overflow, u64& raised) {
  finite(raised, a);
  const RoundedF16 r = round_f32_to_f16(a, mode);
  if (r.overflow) raised |= status::kFloatOverflow;
  return saturate_f16(r.bits, overflow);
}

}  // namespace vinci::isa::scalar_f32
