// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// SIMD kernels, compiled once for each instruction set that Highway knows and chosen at run time. The conversions of
// Highway are used only where they are one hardware instruction with an explicit rounding mode (F16C); elsewhere its
// f32 -> f16 drops bits instead of rounding, so the conversion is done here with integers.
#include "isa/numeric/lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/numeric/lanes_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct Format;
template <>
struct Format<u16> {
  using Signed = i16;
  static constexpr i16 kMagnitude = 0x7fff, kInf = kF16Inf, kNan = kF16Nan;
};
template <>
struct Format<u32> {
  using Signed = i32;
  static constexpr i32 kMagnitude = 0x7fffffff, kInf = kF32Inf, kNan = kF32Nan;
};

template <class T>
HWY_INLINE const T* lanes_of(const LaneBuffer& buffer) {
  return reinterpret_cast<const T*>(buffer.bytes.data());
}
template <class T>
HWY_INLINE T* lanes_of(LaneBuffer& buffer) {
  return reinterpret_cast<T*>(buffer.bytes.data());
}

#if !defined(HWY_DISABLE_F16C) && (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL)

template <class DF, class V16>
HWY_INLINE hn::Vec<DF> widen_lanes(DF df, V16 bits) {
  return hn::PromoteTo(df, hn::BitCast(hn::Rebind<hwy::float16_t, DF>(), bits));
}
template <class DF>
HWY_INLINE hn::Vec<hn::Rebind<i16, DF>> narrow_lanes(DF, hn::Vec<DF> v) {
  return hn::BitCast(hn::Rebind<i16, DF>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), v));
}

#else

template <class DF, class V16>
HWY_INLINE hn::Vec<DF> widen_lanes(DF df, V16 bits) {
  const hn::RebindToSigned<DF> di;
  const auto wide = hn::PromoteTo(di, bits);
  const auto sign = hn::And(wide, hn::Set(di, static_cast<i32>(0x80000000)));
  const auto magnitude = hn::And(wide, hn::Set(di, 0x7fff));
  // A subnormal is an integer times 2^-24; the product is exact.
  const auto small = hn::BitCast(di, hn::Mul(hn::ConvertTo(df, magnitude), hn::Set(df, 0x1p-24f)));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  const auto normal = hn::Add(shifted, hn::Set(di, (127 - 15) << 23));
  const auto special = hn::Or(shifted, hn::Set(di, static_cast<i32>(kF32Inf)));
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x400)), small, normal);
  const auto value = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, i32{kF16Inf})), finite, special);
  return hn::BitCast(df, hn::Or(sign, value));
}

// Round to nearest even.
template <class DF>
HWY_INLINE hn::Vec<hn::Rebind<i16, DF>> narrow_lanes(DF df, hn::Vec<DF> v) {
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::BitCast(di, v);
  const auto magnitude = hn::And(bits, hn::Set(di, 0x7fffffff));
  const auto sign =
      hn::And(hn::BitCast(di, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<DF>(), bits))), hn::Set(di, 0x8000));
  // Below 2^-14: added to 0.5, whose last bit is 2^-24, the value is rounded by the addition.
  const auto half = hn::Set(df, 0.5f);
  const auto small = hn::Sub(hn::BitCast(di, hn::Add(hn::BitCast(df, magnitude), half)), hn::BitCast(di, half));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, odd), hn::Set(di, 0xfff - ((127 - 15) << 23))));
  const auto special = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, static_cast<i32>(kF32Inf))),
                                      hn::Set(di, i32{kF16Nan}), hn::Set(di, i32{kF16Inf}));
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, (127 - 14) << 23)), small, normal);
  const auto value = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, (127 + 16) << 23)), finite, special);
  const hn::Rebind<u16, DF> du16;
  return hn::BitCast(hn::Rebind<i16, DF>(), hn::DemoteTo(du16, hn::Or(sign, value)));
}

#endif

// All ones where the lane is infinite or NaN.
template <class D>
HWY_INLINE hn::Vec<D> nonfinite(D d, hn::Vec<D> x) {
  const auto inf = hn::Set(d, Format<hwy::MakeUnsigned<hn::TFromD<D>>>::kInf);
  return hn::VecFromMask(d, hn::Eq(hn::And(x, inf), inf));
}
template <class D>
HWY_INLINE hn::Vec<D> magnitude_of(D d, hn::Vec<D> x) {
  return hn::And(x, hn::Set(d, Format<hwy::MakeUnsigned<hn::TFromD<D>>>::kMagnitude));
}
template <class D>
HWY_INLINE hn::Mask<D> is_nan(D d, hn::Vec<D> x) {
  return hn::Gt(magnitude_of(d, x), hn::Set(d, Format<hwy::MakeUnsigned<hn::TFromD<D>>>::kInf));
}
template <class D>
HWY_INLINE hn::Vec<D> is_zero(D d, hn::Vec<D> x) {
  return hn::VecFromMask(d, hn::Eq(magnitude_of(d, x), hn::Zero(d)));
}
template <class D>
HWY_INLINE hn::Vec<D> canonical(D d, hn::Vec<D> x) {
  return hn::IfThenElse(is_nan(d, x), hn::Set(d, Format<hwy::MakeUnsigned<hn::TFromD<D>>>::kNan), x);
}
// Saturation of canonical f16 lanes, where `saturate` is all ones: infinity steps down to 65504, NaN becomes 0.
template <class D>
HWY_INLINE hn::Vec<D> saturate_lanes(D d, hn::Vec<D> x, hn::Vec<D> saturate) {
  const auto hit = hn::And(nonfinite(d, x), saturate);
  const auto nan = hn::VecFromMask(d, is_nan(d, x));
  return hn::IfThenElse(hn::MaskFromVec(hit), hn::AndNot(nan, hn::Sub(x, hn::Set(d, 1))), x);
}
template <class D>
HWY_INLINE bool any(D d, hn::Vec<D> x) {
  return !hn::AllTrue(d, hn::Eq(x, hn::Zero(d)));
}

struct AddOp {
  static constexpr bool kCanVanish = false, kVanishesWithB = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Add(a, b);
  }
};
struct SubOp {
  static constexpr bool kCanVanish = false, kVanishesWithB = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Sub(a, b);
  }
};
struct MulOp {
  static constexpr bool kCanVanish = true, kVanishesWithB = true;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};
struct DivOp {
  static constexpr bool kCanVanish = true, kVanishesWithB = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Div(a, b);
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
template <class D>
HWY_INLINE u64 raised(D d, hn::Vec<D> bad_input, hn::Vec<D> overflow, hn::Vec<D> underflow) {
  return (any(d, bad_input) ? status::kVectorNanInf : 0) | (any(d, overflow) ? status::kFloatOverflow : 0) |
         (any(d, underflow) ? status::kFloatUnderflow : 0);
}

using DF = hn::CappedTag<float, 16>;  // at most a quarter of a repeat, so that vectors of any width divide it
using DI32 = hn::RebindToSigned<DF>;
using DI16 = hn::Rebind<i16, DF>;
using DI16Full = hn::CappedTag<i16, 32>;
inline constexpr usize kLanes16 = kRepeatBytes / 2;
inline constexpr usize kLanes32 = kRepeatBytes / 4;

template <class Op>
u64 binary_f16(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
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
u64 binary_f32(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode) {
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

// Maximum or minimum as a comparison of integers: flipping the magnitude bits of negative values makes the order of the
// bits the order of the values, with -0 < +0.
template <class D, bool Max>
u64 extreme(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode) {
  using T = hn::TFromD<D>;
  using F = Format<hwy::MakeUnsigned<T>>;
  const D d;
  const auto flip = hn::Set(d, F::kMagnitude);
  const auto saturate =
      hn::Set(d, static_cast<T>(sizeof(T) == 2 && mode.overflow == OverflowMode::saturation ? -1 : 0));
  auto bad_input = hn::Zero(d);
  for (usize i = 0; i < kRepeatBytes / sizeof(T); i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<T>(a) + i);
    const auto y = hn::LoadU(d, lanes_of<T>(b) + i);
    const auto kx = hn::Xor(x, hn::And(hn::BroadcastSignBit(x), flip));
    const auto ky = hn::Xor(y, hn::And(hn::BroadcastSignBit(y), flip));
    const auto best = hn::IfThenElse(Max ? hn::Gt(kx, ky) : hn::Lt(kx, ky), x, y);
    const auto nan = hn::Or(hn::VecFromMask(d, is_nan(d, x)), hn::VecFromMask(d, is_nan(d, y)));
    const auto r = hn::IfThenElse(hn::MaskFromVec(nan), hn::Set(d, F::kNan), best);
    bad_input = hn::Or(bad_input, hn::Or(nonfinite(d, x), nonfinite(d, y)));
    hn::StoreU(saturate_lanes(d, r, saturate), d, lanes_of<T>(out) + i);
  }
  return any(d, bad_input) ? status::kVectorNanInf : 0;
}

// relu and abs change no value that is finite into one that is not.
template <class D, bool Relu>
u64 sign_op(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
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

u64 widen(const LaneBuffer& a, LaneBuffer& out, LaneMode) {
  const DF df;
  const DI32 d32;
  const DI16 d;
  auto bad_input = hn::Zero(d);
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<i16>(a) + i);
    bad_input = hn::Or(bad_input, nonfinite(d, x));
    hn::StoreU(canonical(d32, hn::BitCast(d32, widen_lanes(df, x))), d32, lanes_of<i32>(out) + i);
  }
  return any(d, bad_input) ? status::kVectorNanInf : 0;
}

u64 narrow(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  const DF df;
  const DI32 d32;
  const DI16 d;
  const auto saturate = hn::Set(d, static_cast<i16>(mode.overflow == OverflowMode::saturation ? -1 : 0));
  auto bad_input = hn::Zero(d32), overflow = hn::Zero(d32), underflow = hn::Zero(d32);
  for (usize i = 0; i < kLanes32; i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d32, lanes_of<i32>(a) + i);
    const auto r = canonical(d, narrow_lanes(df, hn::BitCast(df, x)));
    const auto back = hn::PromoteTo(d32, r);
    const auto inf = hn::Set(d32, i32{kF16Inf});
    const auto bad = nonfinite(d32, x);
    bad_input = hn::Or(bad_input, bad);
    overflow = hn::Or(overflow, hn::AndNot(bad, hn::VecFromMask(d32, hn::Eq(hn::And(back, inf), inf))));
    const auto vanished = hn::VecFromMask(d32, hn::Eq(hn::And(back, hn::Set(d32, 0x7fff)), hn::Zero(d32)));
    underflow = hn::Or(underflow, hn::AndNot(is_zero(d32, x), vanished));
    hn::StoreU(saturate_lanes(d, r, saturate), d, lanes_of<i16>(out) + i);
  }
  return raised(d32, bad_input, overflow, underflow);
}

BinaryKernel find_binary(BinaryOp op, LaneType type) {
  if (type == LaneType::f16) {
    switch (op) {
      case BinaryOp::add: return binary_f16<AddOp>;
      case BinaryOp::sub: return binary_f16<SubOp>;
      case BinaryOp::mul: return binary_f16<MulOp>;
      case BinaryOp::div: return binary_f16<DivOp>;
      case BinaryOp::max: return extreme<DI16Full, true>;
      case BinaryOp::min: return extreme<DI16Full, false>;
      default: return nullptr;
    }
  }
  if (type == LaneType::f32) {
    switch (op) {
      case BinaryOp::add: return binary_f32<AddOp>;
      case BinaryOp::sub: return binary_f32<SubOp>;
      case BinaryOp::mul: return binary_f32<MulOp>;
      case BinaryOp::div: return binary_f32<DivOp>;
      case BinaryOp::max: return extreme<DI32, true>;
      case BinaryOp::min: return extreme<DI32, false>;
      default: return nullptr;
    }
  }
  return nullptr;
}

UnaryKernel find_unary(UnaryOp op, LaneType type) {
  if (op != UnaryOp::relu && op != UnaryOp::abs) return nullptr;
  const bool relu = op == UnaryOp::relu;
  if (type == LaneType::f16) return relu ? sign_op<DI16Full, true> : sign_op<DI16Full, false>;
  if (type == LaneType::f32) return relu ? sign_op<DI32, true> : sign_op<DI32, false>;
  return nullptr;
}

UnaryKernel find_convert(LaneType from, LaneType to, RoundMode round) {
  if (from == LaneType::f16 && to == LaneType::f32) return widen;
  if (from == LaneType::f32 && to == LaneType::f16 && round == RoundMode::rint) return narrow;
  return nullptr;
}

}  // namespace vinci::isa::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa {

HWY_EXPORT(find_binary);
HWY_EXPORT(find_unary);
HWY_EXPORT(find_convert);

namespace detail {

BinaryKernel simd_binary_kernel(BinaryOp op, LaneType type) { return HWY_DYNAMIC_DISPATCH(find_binary)(op, type); }
UnaryKernel simd_unary_kernel(UnaryOp op, LaneType type) { return HWY_DYNAMIC_DISPATCH(find_unary)(op, type); }
UnaryKernel simd_convert_kernel(LaneType from, LaneType to, RoundMode round) {
  return HWY_DYNAMIC_DISPATCH(find_convert)(from, to, round);
}

}  // namespace detail
}  // namespace vinci::isa
#endif  // HWY_ONCE
