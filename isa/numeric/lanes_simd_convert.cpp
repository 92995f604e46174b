// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// SIMD kernels of casts, compiled once for each instruction set that Highway knows and chosen at run time.
#include "isa/numeric/convert.h"
#include "isa/numeric/lanes.h"
#include "isa/sem/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/numeric/lanes_simd_convert.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "isa/numeric/lanes_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::HWY_NAMESPACE {

u64 widen(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI16 d;
  auto most = hn::Zero(d);
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<i16>(a) + i);
    most = hn::Max(most, magnitude_of(d, x));
    hn::StoreU(widen_lanes(df, x), df, lanes_of<float>(out) + i);
  }
  if (hn::AllTrue(d, hn::Lt(most, hn::Set(d, i16{kF16Inf})))) return 0;
  return detail::portable_convert_kernel(LaneType::f16, LaneType::f32, RoundMode::rint)(a, out, mode);
}

u64 narrow(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI16 d;
  const Extremes::D du;
  Extremes operands;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(df, lanes_of<float>(a) + i);
    operands.see_small(hn::BitCast(du, x));
    hn::StoreU(narrow_lanes(df, x), d, lanes_of<i16>(out) + i);
  }
  if (operands.below(kF16Overflows) && operands.none_up_to(kF16Vanishes)) return 0;
  return detail::portable_convert_kernel(LaneType::f32, LaneType::f16, RoundMode::rint)(a, out, mode);
}

u64 widen_bf16(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  const Extremes::D d;
  const hn::Rebind<u16, Extremes::D> d16;
  Extremes results;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto r = hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(d16, lanes_of<u16>(a) + i)));
    results.see(r);
    hn::StoreU(r, d, lanes_of<u32>(out) + i);
  }
  if (results.below(kF32Inf)) return 0;
  return detail::portable_convert_kernel(LaneType::bf16, LaneType::f32, RoundMode::rint)(a, out, mode);
}

u64 narrow_bf16(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  const Extremes::D d;
  const DI32 di;
  const hn::Rebind<i16, DI32> d16;
  Extremes operands, results;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<u32>(a) + i);
    // A carry out of the fraction counts one up in the exponent field.
    const auto even = hn::And(hn::ShiftRight<16>(x), hn::Set(d, 1u));
    const auto r = hn::Add(x, hn::Add(even, hn::Set(d, 0x7fffu)));
    operands.see_small(x);
    results.see(r);
    hn::StoreU(hn::DemoteTo(d16, hn::ShiftRight<16>(hn::BitCast(di, r))), d16, lanes_of<i16>(out) + i);
  }
  if (operands.below(kF32Inf) && results.below(kF32Inf) && operands.none_up_to(0x8000)) return 0;
  return detail::portable_convert_kernel(LaneType::f32, LaneType::bf16, RoundMode::rint)(a, out, mode);
}

// Rounded to an integral value; finite operands.
template <RoundMode Round, class DF, class V>
HWY_INLINE V round_lanes(DF df, V x) {
  switch (Round) {
    case RoundMode::rint: return hn::Round(x);
    case RoundMode::floor: return hn::Floor(x);
    case RoundMode::ceil: return hn::Ceil(x);
    case RoundMode::trunc: return hn::Trunc(x);
    case RoundMode::round:
    case RoundMode::odd: break;
  }
  const V t = hn::Trunc(x);
  const V rest = hn::Abs(hn::Sub(x, t));
  const V away = hn::Add(t, hn::CopySign(hn::Set(df, 1.0f), x));
  if (Round == RoundMode::round) return hn::IfThenElse(hn::Ge(rest, hn::Set(df, 0.5f)), away, t);
  const V half = hn::Mul(t, hn::Set(df, 0.5f));
  const auto even = hn::Eq(hn::Trunc(half), half);
  return hn::IfThenElse(hn::And(even, hn::Gt(rest, hn::Zero(df))), away, t);
}

// Highway's emulation casts lane by lane, which C++ does not define for NaN; such lanes are left to the portable
// kernel.
template <class D, class V>
HWY_INLINE auto truncate_lanes(D d, V v) {
#if HWY_TARGET == HWY_EMU128
  v = hn::IfThenElseZero(hn::Eq(v, v), v);
#endif
  return hn::ConvertTo(d, v);
}

// f16 or f32 to integers. Beyond its ends a range of up to 16 bits is clamped as f32, which holds the ends exactly; s32
// is left to the portable kernel there, and so is everything that is not finite.
template <LaneType From, LaneType To, RoundMode Round>
u64 to_int(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  constexpr bool kUnsigned = To == LaneType::u8;
  constexpr float kLeast = kUnsigned ? 0.0f : To == LaneType::s8 ? -128.0f : To == LaneType::s16 ? -0x1p15f : -0x1p31f;
  constexpr float kMost = kUnsigned ? 255.0f : To == LaneType::s8 ? 127.0f : 32767.0f;
  constexpr usize kLanes = From == LaneType::f16 && To != LaneType::s32 ? kLanes16 : kLanes32;
  const DF df;
  const DI32 di;
  const Extremes::D du;
  Extremes operands, clamped, negatives;
  for (usize i = 0; i < kLanes; i += hn::Lanes(df)) {
    auto x = hn::Zero(df);
    if constexpr (From == LaneType::f16) {
      x = widen_lanes(df, hn::LoadU(DI16(), lanes_of<i16>(a) + i));
    } else {
      x = hn::LoadU(df, lanes_of<float>(a) + i);
    }
    operands.see(hn::BitCast(du, x));
    const auto r = round_lanes<Round>(df, x);
    if constexpr (To == LaneType::s32) {
      hn::StoreU(truncate_lanes(di, r), di, lanes_of<i32>(out) + i);
    } else {
      const auto fits = hn::Min(hn::Max(r, hn::Set(df, kLeast)), hn::Set(df, kMost));
      clamped.see(hn::BitCast(du, hn::Sub(kUnsigned ? hn::Max(r, hn::Zero(df)) : r, fits)));
      if constexpr (kUnsigned) negatives.see(hn::BitCast(du, hn::Min(x, hn::Zero(df))));
      const auto whole = truncate_lanes(di, fits);
      if constexpr (To == LaneType::s16) {
        hn::StoreU(hn::DemoteTo(DI16(), whole), DI16(), lanes_of<i16>(out) + i);
      } else {
        const hn::Rebind<LaneValue<To>, DF> d8;
        hn::StoreU(hn::DemoteTo(d8, whole), d8, lanes_of<LaneValue<To>>(out) + i);
      }
    }
  }
  constexpr u32 kLimit = To == LaneType::s32 ? 0x4f000000 : kF32Inf;  // 2^31
  if (!operands.below(kLimit)) return detail::portable_convert_kernel(From, To, Round)(a, out, mode);
  return (clamped.below(1) ? 0 : status::kFloatOverflow) | (negatives.below(1) ? 0 : status::kNegativeToUnsigned);
}

template <RoundMode Round>
u64 to_integral(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const Extremes::D du;
  Extremes operands;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(df)) {
    const auto x = hn::LoadU(df, lanes_of<float>(a) + i);
    operands.see(hn::BitCast(du, x));
    const auto r = round_lanes<Round>(df, x);
    // Every zero becomes +0.
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(r, hn::Zero(df)), r), df, lanes_of<float>(out) + i);
  }
  if (operands.below(kF32Inf)) return 0;
  return detail::portable_convert_kernel(LaneType::f32, LaneType::f32, Round)(a, out, mode);
}

// Integers of up to 16 bits are exact in f32, so that the rounding to f16 is the only one. None leaves the range.
template <LaneType From, LaneType To>
u64 from_int(const LaneBuffer& a, LaneBuffer& out, LaneMode) {
  constexpr usize kLanes = To == LaneType::f16 ? kLanes16 : kLanes32;
  const DF df;
  const DI32 di;
  for (usize i = 0; i < kLanes; i += hn::Lanes(df)) {
    const hn::Rebind<LaneValue<From>, DF> ds;
    auto whole = hn::Zero(di);
    if constexpr (From == LaneType::s32) {
      whole = hn::LoadU(di, lanes_of<i32>(a) + i);
    } else {
      whole = hn::PromoteTo(di, hn::LoadU(ds, lanes_of<LaneValue<From>>(a) + i));
    }
    const auto x = hn::ConvertTo(df, whole);
    if constexpr (To == LaneType::f16) {
      hn::StoreU(narrow_lanes(df, x), DI16(), lanes_of<i16>(out) + i);
    } else {
      hn::StoreU(x, df, lanes_of<float>(out) + i);
    }
  }
  return 0;
}

template <RoundMode Round>
UnaryKernel rounded(LaneType from, LaneType to) {
  if (from == LaneType::f32) {
    switch (to) {
      case LaneType::f32: return to_integral<Round>;
      case LaneType::s32: return to_int<LaneType::f32, LaneType::s32, Round>;
      case LaneType::s16: return to_int<LaneType::f32, LaneType::s16, Round>;
      default: return nullptr;
    }
  }
  if (from == LaneType::f16) {
    switch (to) {
      case LaneType::s32: return to_int<LaneType::f16, LaneType::s32, Round>;
      case LaneType::s16: return to_int<LaneType::f16, LaneType::s16, Round>;
      case LaneType::s8: return to_int<LaneType::f16, LaneType::s8, Round>;
      case LaneType::u8: return to_int<LaneType::f16, LaneType::u8, Round>;
      default: return nullptr;
    }
  }
  return nullptr;
}

UnaryKernel find_convert(LaneType from, LaneType to, RoundMode round) {
  using enum LaneType;
  if (from == f16 && to == f32) return widen;
  if (from == bf16 && to == f32) return widen_bf16;
  if (from == s8 && to == f16) return from_int<s8, f16>;
  if (from == u8 && to == f16) return from_int<u8, f16>;
  if (from == s16 && to == f32) return from_int<s16, f32>;
  if (round == RoundMode::rint) {
    if (from == f32 && to == f16) return narrow;
    if (from == f32 && to == bf16) return narrow_bf16;
    if (from == s16 && to == f16) return from_int<s16, f16>;
    if (from == s32 && to == f32) return from_int<s32, f32>;
  }
  switch (round) {
    case RoundMode::rint: return rounded<RoundMode::rint>(from, to);
    case RoundMode::floor: return rounded<RoundMode::floor>(from, to);
    case RoundMode::ceil: return rounded<RoundMode::ceil>(from, to);
    case RoundMode::round: return rounded<RoundMode::round>(from, to);
    case RoundMode::trunc: return rounded<RoundMode::trunc>(from, to);
    case RoundMode::odd: return rounded<RoundMode::odd>(from, to);
  }
  return nullptr;
}

}  // namespace vinci::isa::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa {

HWY_EXPORT(find_convert);

namespace detail {

UnaryKernel simd_convert_kernel(LaneType from, LaneType to, RoundMode round) {
  return HWY_DYNAMIC_DISPATCH(find_convert)(from, to, round);
}

}  // namespace detail
}  // namespace vinci::isa
#endif  // HWY_ONCE
