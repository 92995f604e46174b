// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// SIMD kernels of the functions of isa/numeric/approx.h on f32, compiled once for each instruction set that Highway
// knows and chosen at run time. Each does the binary64 operations of its portable counterpart in the same order.
#include "isa/numeric/exp_table.h"
#include "isa/numeric/lanes.h"
#include "isa/numeric/log_table.h"
#include "isa/sem/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/numeric/lanes_simd_function.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "isa/numeric/lanes_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::HWY_NAMESPACE {

using DD = hn::CappedTag<double, 8>;
using DI64 = hn::RebindToSigned<DD>;
using DU64 = hn::RebindToUnsigned<DD>;
using VD = hn::Vec<DD>;
using VU64 = hn::Vec<DU64>;

HWY_INLINE VD value(double x) { return hn::Set(DD(), x); }
HWY_INLINE VU64 bits_of(VD x) { return hn::BitCast(DU64(), x); }
HWY_INLINE VD power_of_two(VU64 biased_exponent) { return hn::BitCast(DD(), hn::ShiftLeft<52>(biased_exponent)); }
HWY_INLINE VU64 exponent_field(VU64 bits) { return hn::And(hn::ShiftRight<52>(bits), hn::Set(DU64(), 0x7ffu)); }
// The significand, from 1 to 2.
HWY_INLINE VD significand(VU64 bits) {
  const DU64 d;
  return hn::BitCast(DD(), hn::Or(hn::And(bits, hn::Set(d, 0xfffffffffffffu)), hn::Set(d, u64{1023} << 52)));
}
HWY_INLINE VD table(const double* from, VU64 index) { return hn::GatherIndex(DD(), from, hn::BitCast(DI64(), index)); }

// isa/numeric/odd.h
HWY_INLINE VD join_to_odd(VD high, VD low) {
  const DI64 d;
  const auto mask = [&](auto m) { return hn::BitCast(d, hn::VecFromMask(DD(), m)); };
  const auto zero = value(0);
  const auto away = hn::Sub(mask(hn::Lt(low, zero)), mask(hn::Gt(low, zero)));
  const auto sign = mask(hn::Lt(high, zero));
  const auto bits = hn::BitCast(d, high);
  const auto even = hn::Sub(hn::And(bits, hn::Set(d, 1)), hn::Set(d, 1));  // all ones where the last bit is 0
  return hn::BitCast(DD(), hn::Add(bits, hn::And(even, hn::Sub(hn::Xor(away, sign), sign))));
}

// The functions: on binary64 lanes, and what becomes of operands that have no value there, on the bits of f32.
struct ExpOp {
  static constexpr bool kCanVanish = true;
  static HWY_INLINE VD apply(VD x) {
    using namespace exp_table;
    const DU64 du;
    x = hn::Min(hn::Max(x, value(-200)), value(200));
    const auto k = hn::Trunc(hn::Add(hn::Mul(x, value(kInverse)), hn::CopySign(value(0.5), x)));
    // k as an integer, 1023 * 32 added to be positive.
    const auto whole = hn::Sub(bits_of(hn::Add(k, value(0x1p52 + 1023 * kSteps))), bits_of(value(0x1p52)));
    const auto index = hn::ShiftLeft<1>(hn::And(whole, hn::Set(du, u64{kSteps - 1})));
    const auto r_high = hn::Sub(x, hn::Mul(k, value(kLn2High)));
    const auto correction = hn::Mul(k, value(kLn2Low));
    const auto r = hn::Sub(r_high, correction);
    const auto r_low = hn::Sub(hn::Sub(r_high, r), correction);
    auto sum = value(1.0 / 5040);
    for (const double c : {1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2})
      sum = hn::Add(value(c), hn::Mul(r, sum));
    const auto tail = hn::Mul(hn::Mul(r, r), sum);
    const auto p_high = table(&kPowers[0].high, index);
    const auto p_low = table(&kPowers[0].low, index);
    const auto rest = hn::Add(p_low, hn::Mul(p_high, hn::Add(r, hn::Add(tail, r_low))));
    const auto high = hn::Add(p_high, rest);
    const auto low = hn::Sub(rest, hn::Sub(high, p_high));
    return hn::Mul(join_to_odd(high, low), power_of_two(hn::ShiftRight<5>(whole)));
  }
  template <class D, class V>
  static HWY_INLINE V special(D, V, V r) {
    return r;
  }
};

struct LnOp {
  static constexpr bool kCanVanish = false;
  static HWY_INLINE VD apply(VD x) {
    using namespace log_table;
    const DD d;
    const DU64 du;
    const auto bits = bits_of(x);
    const auto j = hn::And(hn::ShiftRight<45>(bits), hn::Set(du, u64{kSteps - 1}));
    const auto halved = hn::Ge(significand(bits), value(1 + kFirstHalved / static_cast<double>(kSteps)));
    // The exponent as a number: its bits under those of 2^52.
    const auto biased = hn::BitCast(d, hn::Or(exponent_field(bits), bits_of(value(0x1p52))));
    const auto k = hn::Add(hn::Sub(biased, value(0x1p52 + 1023)), hn::IfThenElseZero(halved, value(1)));
    const auto m = hn::Mul(significand(bits), hn::IfThenElse(halved, value(0.5), value(1)));
    const auto index = hn::Add(j, hn::ShiftLeft<1>(j));
    const auto r = hn::Sub(hn::Mul(m, hn::Mul(table(&kTable[0].inverse, index), value(kInverseUnit))), value(1));
    const auto square = hn::Mul(r, r);
    auto sum = value(1.0 / 10);
    for (const double c : {1.0 / 9, 1.0 / 8, 1.0 / 7, 1.0 / 6, 1.0 / 5, 1.0 / 4, 1.0 / 3})
      sum = hn::Sub(value(c), hn::Mul(r, sum));
    const auto tail = hn::Mul(hn::Mul(square, r), sum);
    const auto half = hn::Mul(square, value(0.5));
    const auto u = hn::Sub(r, half);
    const auto u_low = hn::Sub(hn::Sub(r, u), half);
    const auto a = hn::Add(hn::Mul(k, value(kLn2High)), table(&kTable[0].high, index));
    const auto step_low = hn::Add(hn::Mul(k, value(kLn2Low)), table(&kTable[0].low, index));
    const auto rest = hn::Add(tail, hn::Add(u_low, step_low));
    const auto s = hn::Add(a, u);
    const auto s_low = hn::IfThenZeroElse(hn::Eq(a, value(0)), hn::Add(hn::Sub(a, s), u));
    const auto high = hn::Add(s, hn::Add(s_low, rest));
    const auto low = hn::Add(hn::Sub(s, high), hn::Add(s_low, rest));
    return hn::IfThenZeroElse(hn::Eq(high, value(0)), join_to_odd(high, low));
  }
  template <class D, class V>
  static HWY_INLINE V special(D d, V x, V r) {
    const auto inf = hn::Set(d, static_cast<i32>(kF32Inf));
    r = hn::IfThenElse(hn::Eq(x, inf), inf, r);
    r = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, static_cast<i32>(kF32Nan)), r);
    return hn::IfThenElse(hn::Eq(magnitude_of(d, x), hn::Zero(d)), hn::Set(d, static_cast<i32>(0xff800000)), r);
  }
};

struct RecChordOp {
  static constexpr bool kCanVanish = false;
  static HWY_INLINE VD apply(VD x) {
    constexpr double kSteps = 16;
    const auto bits = bits_of(x);
    const auto m = significand(bits);
    const auto step = hn::Trunc(hn::Mul(hn::Sub(m, value(1)), value(kSteps)));
    const auto a = hn::Add(value(1), hn::Mul(step, value(1 / kSteps)));
    const auto b = hn::Add(a, value(1 / kSteps));
    const auto chord = hn::Div(hn::Sub(hn::Add(a, b), m), hn::Mul(a, b));
    const auto scale = power_of_two(hn::Sub(hn::Set(DU64(), u64{2046}), exponent_field(bits)));
    return hn::CopySign(hn::Mul(chord, scale), x);
  }
  template <class D, class V>
  static HWY_INLINE V special(D d, V x, V r) {
    const auto inf = hn::Set(d, static_cast<i32>(kF32Inf));
    const auto magnitude = magnitude_of(d, x);
    const auto sign = hn::AndNot(hn::Set(d, 0x7fffffff), x);
    r = hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), hn::Or(sign, inf), r);
    return hn::IfThenElse(hn::Eq(magnitude, inf), sign, r);
  }
};

// Of negative operands the root is NaN; of -0 it is -0, and the quotient -inf.
struct RsqrtOp {
  static constexpr bool kCanVanish = false;
  static HWY_INLINE VD apply(VD x) { return hn::Div(value(1), hn::Sqrt(x)); }
  template <class D, class V>
  static HWY_INLINE V special(D, V, V r) {
    return r;
  }
};

struct RsqrtChordOp {
  static constexpr bool kCanVanish = false;
  static HWY_INLINE VD apply(VD x) {
    constexpr double kSteps = 8;
    const DD d;
    const DU64 du;
    const auto bits = bits_of(x);
    const auto field = exponent_field(bits);
    const auto odd = hn::AndNot(field, hn::Set(du, u64{1}));
    const auto unit = hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(odd, hn::Set(du, u64{1023}))));  // 1 or 2
    const auto width = hn::Mul(unit, value(1 / kSteps));
    const auto m = hn::Mul(significand(bits), unit);
    const auto step = hn::Trunc(hn::Mul(hn::Sub(significand(bits), value(1)), value(kSteps)));
    const auto a = hn::Add(unit, hn::Mul(step, width));
    const auto left = hn::Div(value(1), hn::Sqrt(a));
    const auto right = hn::Div(value(1), hn::Sqrt(hn::Add(a, width)));
    const auto chord = hn::Add(left, hn::Mul(hn::Sub(right, left), hn::Div(hn::Sub(m, a), width)));
    // 1023 - (exponent - odd) / 2
    const auto twice = hn::Sub(hn::Add(hn::Set(du, u64{3069}), odd), field);
    return hn::Mul(chord, power_of_two(hn::ShiftRight<1>(twice)));
  }
  template <class D, class V>
  static HWY_INLINE V special(D d, V x, V r) {
    r = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, static_cast<i32>(kF32Nan)), r);
    const auto rec = RecChordOp::special(d, x, r);  // of +-0 and inf
    const auto inf = hn::Set(d, static_cast<i32>(kF32Inf));
    const auto zero = hn::Eq(magnitude_of(d, x), hn::Zero(d));
    return hn::IfThenElse(hn::Or(zero, hn::Eq(x, inf)), rec, r);
  }
};

template <class Op>
u64 function_f32(const LaneBuffer& a, LaneBuffer& out) {
  const DD dd;
  const hn::Rebind<float, DD> df;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(dd)) {
    const auto x = hn::PromoteTo(dd, hn::LoadU(df, lanes_of<float>(a) + i));
    hn::StoreU(hn::DemoteTo(df, Op::apply(x)), df, lanes_of<float>(out) + i);
  }
  const DI32 d;
  auto bad_input = hn::Zero(d), overflow = hn::Zero(d), underflow = hn::Zero(d);
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<i32>(a) + i);
    auto r = Op::special(d, x, hn::LoadU(d, lanes_of<i32>(out) + i));
    r = hn::IfThenElse(is_nan(d, x), hn::Set(d, static_cast<i32>(kF32Nan)), canonical(d, r));
    hn::StoreU(r, d, lanes_of<i32>(out) + i);
    const auto bad = nonfinite(d, x);
    bad_input = hn::Or(bad_input, bad);
    overflow = hn::Or(overflow, hn::AndNot(bad, nonfinite(d, r)));
    if constexpr (Op::kCanVanish) underflow = hn::Or(underflow, hn::AndNot(bad, is_zero(d, r)));
  }
  return raised(d, bad_input, overflow, underflow);
}

u64 exp_f32(const LaneBuffer& a, LaneBuffer& out, LaneMode) { return function_f32<ExpOp>(a, out); }
u64 ln_f32(const LaneBuffer& a, LaneBuffer& out, LaneMode) { return function_f32<LnOp>(a, out); }
u64 rsqrt_f32(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  return mode.precision == Precision::high_performance ? function_f32<RsqrtChordOp>(a, out)
                                                       : function_f32<RsqrtOp>(a, out);
}

// 1 / x correctly rounded is one operation of the host.
u64 rec_f32(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  if (mode.precision == Precision::high_performance) return function_f32<RecChordOp>(a, out);
  const DF df;
  const DI32 d;
  auto bad_input = hn::Zero(d), overflow = hn::Zero(d);
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<i32>(a) + i);
    const auto r = canonical(d, hn::BitCast(d, hn::Div(hn::Set(df, 1.0f), hn::BitCast(df, x))));
    hn::StoreU(r, d, lanes_of<i32>(out) + i);
    const auto bad = nonfinite(d, x);
    bad_input = hn::Or(bad_input, bad);
    overflow = hn::Or(overflow, hn::AndNot(bad, nonfinite(d, r)));
  }
  return raised(d, bad_input, overflow, hn::Zero(d));
}

UnaryKernel find_function(UnaryOp op) {
  // Without vectors, Highway stops a conversion to f32 at the largest finite value.
  if (HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128) return nullptr;
  switch (op) {
    case UnaryOp::exp: return exp_f32;
    case UnaryOp::ln: return ln_f32;
    case UnaryOp::rec: return rec_f32;
    case UnaryOp::rsqrt: return rsqrt_f32;
    default: return nullptr;
  }
}

}  // namespace vinci::isa::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa {

HWY_EXPORT(find_function);

namespace detail {

UnaryKernel simd_function_kernel(UnaryOp op) { return HWY_DYNAMIC_DISPATCH(find_function)(op); }

}  // namespace detail
}  // namespace vinci::isa
#endif  // HWY_ONCE
