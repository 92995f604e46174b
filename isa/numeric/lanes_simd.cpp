// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// SIMD kernels of arithmetic, compiled once for each instruction set that Highway knows and chosen at
// run time.
#include "isa/numeric/lanes.h"
#include "isa/sem/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/numeric/lanes_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "isa/numeric/lanes_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::HWY_NAMESPACE {

// kCanVanish: a result of operands that are not zero can be zero; kVanishesWithB: it is zero where b is; kHidesB: b can
// be infinite or NaN where the result is finite.
struct AddOp {
  static constexpr BinaryOp kPortableOp = BinaryOp::add_relu;  // what it is with Relu
  static constexpr bool kCanVanish = false, kVanishesWithB = false, kHidesB = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Add(a, b);
  }
};
struct SubOp {
  static constexpr BinaryOp kPortableOp = BinaryOp::sub_relu;
  static constexpr bool kCanVanish = false, kVanishesWithB = false, kHidesB = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Sub(a, b);
  }
};
struct MulOp {
  static constexpr BinaryOp kPortableOp = BinaryOp::mul;
  static constexpr bool kCanVanish = true, kVanishesWithB = true, kHidesB = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};
struct DivOp {
  static constexpr BinaryOp kPortableOp = BinaryOp::div;
  static constexpr bool kCanVanish = true, kVanishesWithB = false, kHidesB = true;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Div(a, b);
  }
};

// a < 0 ? a * b : a
struct LreluOp {
  static constexpr BinaryOp kPortableOp = BinaryOp::lrelu;
  static constexpr bool kCanVanish = true, kVanishesWithB = true, kHidesB = true;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    const hn::DFromV<V> d;
    return hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Mul(a, b), a);
  }
};

// The STATUS rules of isa/numeric/lanes.h on vectors of bits; `r` is the result before saturation.
template <class Op, class D>
HWY_INLINE void collect(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> r, hn::Vec<D>& bad_input, hn::Vec<D>& overflow,
                        hn::Vec<D>& underflow) {
  const auto bad = hn::Or(nonfinite(d, a), nonfinite(d, b));
  bad_input = hn::Or(bad_input, bad);
  overflow = hn::Or(overflow, hn::AndNot(bad, nonfinite(d, r)));
  if constexpr (Op::kCanVanish) {
    auto exact = hn::Or(bad, is_zero(d, a));
    if constexpr (Op::kVanishesWithB) exact = hn::Or(exact, is_zero(d, b));
    underflow = hn::Or(underflow, hn::AndNot(exact, is_zero(d, r)));
  }
}

// Every case, without assumptions.
template <class Op>
HWY_NOINLINE u64 careful_f16(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI16 d;
  const auto saturate = hn::Set(d, static_cast<i16>(mode.overflow == OverflowMode::saturation ? -1 : 0));
  auto bad_input = hn::Zero(d), overflow = hn::Zero(d), underflow = hn::Zero(d);
  for (usize i = 0; i < kLanes16; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<i16>(a) + i);
    const auto y = hn::LoadU(d, lanes_of<i16>(b) + i);
    const auto r = canonical(d, narrow_lanes(df, Op::apply(widen_lanes(df, x), widen_lanes(df, y))));
    collect<Op>(d, x, y, r, bad_input, overflow, underflow);
    hn::StoreU(saturate_lanes(d, r, saturate), d, lanes_of<i16>(out) + i);
  }
  return raised(d, bad_input, overflow, underflow);
}

template <class Op>
HWY_NOINLINE u64 careful_f32(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode) {
  const DF df;
  const DI32 d;
  auto bad_input = hn::Zero(d), overflow = hn::Zero(d), underflow = hn::Zero(d);
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<i32>(a) + i);
    const auto y = hn::LoadU(d, lanes_of<i32>(b) + i);
    const auto r = canonical(d, hn::BitCast(d, Op::apply(hn::BitCast(df, x), hn::BitCast(df, y))));
    collect<Op>(d, x, y, r, bad_input, overflow, underflow);
    hn::StoreU(r, d, lanes_of<i32>(out) + i);
  }
  return raised(d, bad_input, overflow, underflow);
}

// With Relu, max(result, 0); lanes that are not plain are left to the portable kernel then.
template <class Op, bool Relu = false>
u64 binary_f16(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI16 d;
  const Extremes::D du;
  Extremes results, others;
  for (usize i = 0; i < kLanes16; i += hn::Lanes(d)) {
    const auto x = widen_lanes(df, hn::LoadU(d, lanes_of<i16>(a) + i));
    const auto y = widen_lanes(df, hn::LoadU(d, lanes_of<i16>(b) + i));
    const auto r = Op::apply(x, y);
    const auto narrow = narrow_lanes(df, r);
    hn::StoreU(Relu ? hn::Max(narrow, hn::Zero(d)) : narrow, d, lanes_of<i16>(out) + i);
    if constexpr (Op::kCanVanish) {
      results.see_small(hn::BitCast(du, r));
    } else {
      results.see(hn::BitCast(du, r));
    }
    if constexpr (Op::kHidesB) others.see(hn::BitCast(du, y));
  }
  const bool plain =
      results.below(kF16Overflows) && (!Op::kCanVanish || results.none_up_to(kF16Vanishes)) && others.below(kF32Inf);
  if (plain) return 0;
  if constexpr (Relu || Op::kPortableOp == BinaryOp::lrelu) {
    return detail::portable_binary_kernel(Op::kPortableOp, LaneType::f16)(a, b, out, mode);
  } else {
    return careful_f16<Op>(a, b, out, mode);
  }
}

template <class Op, bool Relu = false>
u64 binary_f32(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI32 di;
  const Extremes::D du;
  Extremes results, others, vanished;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(df)) {
    const auto x = hn::LoadU(df, lanes_of<float>(a) + i);
    const auto y = hn::LoadU(df, lanes_of<float>(b) + i);
    const auto r = Op::apply(x, y);
    const auto bits = hn::BitCast(di, r);
    hn::StoreU(Relu ? hn::Max(bits, hn::Zero(di)) : bits, di, lanes_of<i32>(out) + i);
    results.see(hn::BitCast(du, r));
    if constexpr (Op::kCanVanish) {
      // Where the result is zero: the smaller operand, or only the dividend.
      const auto operands = Op::kVanishesWithB ? hn::Min(hn::Abs(x), hn::Abs(y)) : x;
      vanished.see(hn::BitCast(du, hn::IfThenElseZero(hn::Eq(r, hn::Zero(df)), operands)));
    }
    if constexpr (Op::kHidesB) others.see(hn::BitCast(du, y));
  }
  const bool plain = results.below(kF32Inf) && vanished.below(1) && others.below(kF32Inf);
  if (plain) return 0;
  if constexpr (Relu || Op::kPortableOp == BinaryOp::lrelu) {
    return detail::portable_binary_kernel(Op::kPortableOp, LaneType::f32)(a, b, out, mode);
  } else {
    return careful_f32<Op>(a, b, out, mode);
  }
}

// x * y + z with one rounding, where every value is finite; anything else is left to the portable kernel.
template <TernaryOp Op>
u64 ternary_f16(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI16 d;
  const DI32 di;
  const Extremes::D du;
  const LaneBuffer held = out;
  Extremes results;
  for (usize i = 0; i < kLanes16; i += hn::Lanes(d)) {
    const auto p = widen_lanes(df, hn::LoadU(d, lanes_of<i16>(a) + i));
    const auto q = widen_lanes(df, hn::LoadU(d, lanes_of<i16>(b) + i));
    const auto h = widen_lanes(df, hn::LoadU(d, lanes_of<i16>(held) + i));
    // The product has 22 bits; the sum and its exact error in binary32 (isa/numeric/odd.h), rounded to odd, round once
    // more to f16 because 24 >= 11 + 2.
    const auto product = Op == TernaryOp::mla ? hn::Mul(p, q) : hn::Mul(h, p);
    const auto addend = Op == TernaryOp::mla ? h : q;
    const auto sum = hn::Add(product, addend);
    const auto part = hn::Sub(sum, product);
    const auto error = hn::Add(hn::Sub(product, hn::Sub(sum, part)), hn::Sub(addend, part));
    const auto bits = hn::BitCast(di, sum);
    const auto toward = hn::Or(hn::BroadcastSignBit(hn::Xor(bits, hn::BitCast(di, error))), hn::Set(di, 1));
    const auto even = hn::Eq(hn::And(bits, hn::Set(di, 1)), hn::Zero(di));
    const auto inexact = hn::BitCast(di, hn::VecFromMask(df, hn::Ne(error, hn::Zero(df))));
    const auto step = hn::And(hn::IfThenElseZero(even, toward), inexact);
    const auto odd = hn::Add(bits, step);
    results.see_small(hn::BitCast(du, odd));
    auto r = narrow_lanes(df, hn::BitCast(df, odd));
    if constexpr (Op == TernaryOp::madd_relu) r = hn::Max(r, hn::Zero(d));
    hn::StoreU(r, d, lanes_of<i16>(out) + i);
  }
  if (results.below(kF16Overflows) && results.none_up_to(kF16Vanishes)) return 0;
  out = held;
  return detail::portable_ternary_kernel(Op, LaneType::f16, LaneType::f16)(a, b, out, mode);
}

#if HWY_NATIVE_FMA
template <TernaryOp Op>
u64 ternary_f32(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI32 di;
  const Extremes::D du;
  const LaneBuffer held = out;
  Extremes results, vanished;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(df)) {
    const auto p = hn::LoadU(df, lanes_of<float>(a) + i);
    const auto q = hn::LoadU(df, lanes_of<float>(b) + i);
    const auto h = hn::LoadU(df, lanes_of<float>(held) + i);
    const auto x = Op == TernaryOp::mla ? q : h;
    const auto r = hn::MulAdd(x, p, Op == TernaryOp::mla ? h : q);
    results.see(hn::BitCast(du, r));
    // A zero whose factors are not zero: exact, or too small; the portable kernel knows.
    vanished.see(hn::BitCast(du, hn::IfThenElseZero(hn::Eq(r, hn::Zero(df)), hn::Min(hn::Abs(x), hn::Abs(p)))));
    auto bits = hn::BitCast(di, r);
    if constexpr (Op == TernaryOp::madd_relu) bits = hn::Max(bits, hn::Zero(di));
    hn::StoreU(bits, di, lanes_of<i32>(out) + i);
  }
  if (results.below(kF32Inf) && vanished.below(1)) return 0;
  out = held;
  return detail::portable_ternary_kernel(Op, LaneType::f32, LaneType::f32)(a, b, out, mode);
}
#endif

// out (f32) + a * b (f16): the product is exact, and a sum of two f32 is rounded once and never vanishes.
u64 mla_f32_f16(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI16 d;
  const Extremes::D du;
  const LaneBuffer held = out;
  Extremes results;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(df)) {
    const auto p = widen_lanes(df, hn::LoadU(d, lanes_of<i16>(a) + i));
    const auto q = widen_lanes(df, hn::LoadU(d, lanes_of<i16>(b) + i));
    const auto r = hn::Add(hn::Mul(p, q), hn::LoadU(df, lanes_of<float>(held) + i));
    results.see(hn::BitCast(du, r));
    hn::StoreU(r, df, lanes_of<float>(out) + i);
  }
  if (results.below(kF32Inf)) return 0;
  out = held;
  return detail::portable_ternary_kernel(TernaryOp::mla, LaneType::f32, LaneType::f16)(a, b, out, mode);
}

u64 sqrt_f16(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI16 d;
  const Extremes::D du;
  Extremes results;
  for (usize i = 0; i < kLanes16; i += hn::Lanes(d)) {
    const auto r = hn::Sqrt(widen_lanes(df, hn::LoadU(d, lanes_of<i16>(a) + i)));
    results.see(hn::BitCast(du, r));
    hn::StoreU(narrow_lanes(df, r), d, lanes_of<i16>(out) + i);
  }
  return results.below(kF32Inf) ? 0 : detail::portable_unary_kernel(UnaryOp::sqrt, LaneType::f16)(a, out, mode);
}

u64 sqrt_f32(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const Extremes::D du;
  Extremes results;
  for (usize i = 0; i < kLanes32; i += hn::Lanes(df)) {
    const auto r = hn::Sqrt(hn::LoadU(df, lanes_of<float>(a) + i));
    results.see(hn::BitCast(du, r));
    hn::StoreU(r, df, lanes_of<float>(out) + i);
  }
  return results.below(kF32Inf) ? 0 : detail::portable_unary_kernel(UnaryOp::sqrt, LaneType::f32)(a, out, mode);
}

// relu and abs change no value that is finite into one that is not.
template <class D, bool Relu>
HWY_NOINLINE u64 careful_sign(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  using T = hn::TFromD<D>;
  const D d;
  const auto saturate =
      hn::Set(d, static_cast<T>(sizeof(T) == 2 && mode.overflow == OverflowMode::saturation ? -1 : 0));
  auto bad_input = hn::Zero(d);
  for (usize i = 0; i < kRepeatBytes / sizeof(T); i += hn::Lanes(d)) {
    const auto x = canonical(d, hn::LoadU(d, lanes_of<T>(a) + i));
    const auto r = Relu ? hn::AndNot(hn::BroadcastSignBit(x), x) : magnitude_of(d, x);
    bad_input = hn::Or(bad_input, nonfinite(d, x));
    hn::StoreU(saturate_lanes(d, r, saturate), d, lanes_of<T>(out) + i);
  }
  return any(d, bad_input) ? status::kVectorNanInf : 0;
}
template <class D, bool Relu>
u64 sign_op(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  using T = hn::TFromD<D>;
  const D d;
  auto most = hn::Zero(d);
  for (usize i = 0; i < kRepeatBytes / sizeof(T); i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<T>(a) + i);
    const auto magnitude = magnitude_of(d, x);
    most = hn::Max(most, magnitude);
    hn::StoreU(Relu ? hn::Max(x, hn::Zero(d)) : magnitude, d, lanes_of<T>(out) + i);
  }
  const auto inf = hn::Set(d, Format<hwy::MakeUnsigned<T>>::kInf);
  return hn::AllTrue(d, hn::Lt(most, inf)) ? 0 : careful_sign<D, Relu>(a, out, mode);
}

// s16 and s32: a result that wrapped has another sign than the exact one, which is then that of a.
template <class D, bool Sub>
u64 sum_int(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  using T = hn::TFromD<D>;
  const D d;
  const auto saturate = hn::Set(d, static_cast<T>(mode.saturate_int ? -1 : 0));
  auto overflow = hn::Zero(d);
  for (usize i = 0; i < kRepeatBytes / sizeof(T); i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<T>(a) + i);
    const auto y = hn::LoadU(d, lanes_of<T>(b) + i);
    const auto r = Sub ? hn::Sub(x, y) : hn::Add(x, y);
    const auto wrapped = hn::BroadcastSignBit(hn::And(hn::Xor(x, r), Sub ? hn::Xor(x, y) : hn::Xor(y, r)));
    const auto limit = hn::Xor(hn::BroadcastSignBit(x), hn::Set(d, hwy::LimitsMax<T>()));
    overflow = hn::Or(overflow, wrapped);
    hn::StoreU(hn::IfVecThenElse(hn::And(wrapped, saturate), limit, r), d, lanes_of<T>(out) + i);
  }
  return any(d, overflow) ? status::kFloatOverflow : 0;
}
template <class D>
BinaryKernel find_int(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return sum_int<D, false>;
    case BinaryOp::sub: return sum_int<D, true>;
    default: return nullptr;
  }
}
BinaryKernel find_binary(BinaryOp op, LaneType type) {
  if (type == LaneType::s16) return find_int<DI16Full>(op);
  if (type == LaneType::s32) return find_int<DI32>(op);
  const bool f16 = type == LaneType::f16;
  if (!f16 && type != LaneType::f32) return nullptr;
  switch (op) {
    case BinaryOp::add: return f16 ? binary_f16<AddOp> : binary_f32<AddOp>;
    case BinaryOp::sub: return f16 ? binary_f16<SubOp> : binary_f32<SubOp>;
    case BinaryOp::mul: return f16 ? binary_f16<MulOp> : binary_f32<MulOp>;
    case BinaryOp::div: return f16 ? binary_f16<DivOp> : binary_f32<DivOp>;
    case BinaryOp::add_relu: return f16 ? binary_f16<AddOp, true> : binary_f32<AddOp, true>;
    case BinaryOp::sub_relu: return f16 ? binary_f16<SubOp, true> : binary_f32<SubOp, true>;
    case BinaryOp::lrelu: return f16 ? binary_f16<LreluOp> : binary_f32<LreluOp>;
    default: return nullptr;
  }
}

UnaryKernel find_unary(UnaryOp op, LaneType type) {
  const bool f16 = type == LaneType::f16;
  if (!f16 && type != LaneType::f32) return nullptr;
  switch (op) {
    case UnaryOp::relu: return f16 ? sign_op<DI16Full, true> : sign_op<DI32, true>;
    case UnaryOp::abs: return f16 ? sign_op<DI16Full, false> : sign_op<DI32, false>;
    case UnaryOp::sqrt: return f16 ? sqrt_f16 : sqrt_f32;
    default: return nullptr;
  }
}

TernaryKernel find_ternary(TernaryOp op, LaneType dst, LaneType src) {
  if (dst == LaneType::f32 && src == LaneType::f16) return op == TernaryOp::mla ? mla_f32_f16 : nullptr;
  if (dst != src || (dst != LaneType::f16 && dst != LaneType::f32)) return nullptr;
#if HWY_NATIVE_FMA
  if (dst == LaneType::f32) {
    switch (op) {
      case TernaryOp::madd: return ternary_f32<TernaryOp::madd>;
      case TernaryOp::madd_relu: return ternary_f32<TernaryOp::madd_relu>;
      case TernaryOp::mla: return ternary_f32<TernaryOp::mla>;
    }
  }
#endif
  if (dst == LaneType::f32) return nullptr;
  switch (op) {
    case TernaryOp::madd: return ternary_f16<TernaryOp::madd>;
    case TernaryOp::madd_relu: return ternary_f16<TernaryOp::madd_relu>;
    case TernaryOp::mla: return ternary_f16<TernaryOp::mla>;
  }
  return nullptr;
}

}  // namespace vinci::isa::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa {

HWY_EXPORT(find_binary);
HWY_EXPORT(find_unary);
HWY_EXPORT(find_ternary);

namespace detail {

BinaryKernel simd_binary_kernel(BinaryOp op, LaneType type) {
  const bool order = op == BinaryOp::max || op == BinaryOp::min;
  return order ? simd_order_kernel(op, type) : HWY_DYNAMIC_DISPATCH(find_binary)(op, type);
}
UnaryKernel simd_unary_kernel(UnaryOp op, LaneType type) {
  const UnaryKernel function = type == LaneType::f32 ? simd_function_kernel(op) : nullptr;
  return function != nullptr ? function : HWY_DYNAMIC_DISPATCH(find_unary)(op, type);
}
TernaryKernel simd_ternary_kernel(TernaryOp op, LaneType dst, LaneType src) {
  return HWY_DYNAMIC_DISPATCH(find_ternary)(op, dst, src);
}
}  // namespace detail
}  // namespace vinci::isa
#endif  // HWY_ONCE
