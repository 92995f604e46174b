// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/scalar_f32.h"

#include <cmath>

#include "isa/numeric/convert.h"

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
  const Converted<LaneType::s32> r = convert<LaneType::f32, LaneType::s32>(a, mode);
  raised |= finite(raised, a) ? r.status : status::kFloatOverflow;
  return static_cast<u64>(i64{r.value});
}

u32 from_s32(u32 a) { return std::bit_cast<u32>(static_cast<float>(static_cast<i32>(a))); }

u32 to_f16(u32 a, RoundMode mode, OverflowMode overflow, u64& raised) {
  finite(raised, a);
  const RoundedF16 r = round_f32_to_f16(a, mode);
  if (r.overflow) raised |= status::kFloatOverflow;
  return saturate_f16(r.bits, overflow);
}

}  // namespace vinci::isa::scalar_f32
