// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// What the SIMD kernels share, once for each instruction set: include between HWY_BEFORE_NAMESPACE and the kernels. The
// conversions of Highway are used only where they are one hardware instruction with an explicit rounding mode (F16C);
// elsewhere its f32 -> f16 drops bits instead of rounding, so the conversion is done here with integers.
#if defined(VINCI_ISA_NUMERIC_LANES_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VINCI_ISA_NUMERIC_LANES_SIMD_INL
#undef VINCI_ISA_NUMERIC_LANES_SIMD_INL
#else
#define VINCI_ISA_NUMERIC_LANES_SIMD_INL
#endif

#include <hwy/highway.h>

#include "isa/numeric/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;  // at most a quarter of a repeat, so that vectors of any width divide it
using DI32 = hn::RebindToSigned<DF>;
using DI16 = hn::Rebind<i16, DF>;
using DI16Full = hn::CappedTag<i16, 32>;
[[maybe_unused]] inline constexpr usize kLanes16 = kRepeatBytes / 2;
[[maybe_unused]] inline constexpr usize kLanes32 = kRepeatBytes / 4;

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

template <class D>
HWY_INLINE u64 raised(D d, hn::Vec<D> bad_input, hn::Vec<D> overflow, hn::Vec<D> underflow) {
  return (any(d, bad_input) ? status::kVectorNanInf : 0) | (any(d, overflow) ? status::kFloatOverflow : 0) |
         (any(d, underflow) ? status::kFloatUnderflow : 0);
}

// The common case is that every lane is finite and nothing is reported. Kernels compute as if it were so, note the
// extremes of the magnitudes on the way, and start again on a path that treats every case if they were wrong.
class Extremes {
 public:
  using D = hn::RebindToUnsigned<DF>;
  using V = hn::Vec<D>;

  HWY_INLINE Extremes() : most_(hn::Zero(D())), least_(hn::Set(D(), ~0u)) {}
  HWY_INLINE void see(V bits) {
    const D d;
    const V magnitude = hn::And(bits, hn::Set(d, 0x7fffffffu));
    most_ = hn::Max(most_, magnitude);
  }
  // Also the smallest magnitude other than 0, by way of 0 - 1 being the largest number.
  HWY_INLINE void see_small(V bits) {
    const D d;
    const V magnitude = hn::And(bits, hn::Set(d, 0x7fffffffu));
    most_ = hn::Max(most_, magnitude);
    least_ = hn::Min(least_, hn::Sub(magnitude, hn::Set(d, 1u)));
  }
  HWY_INLINE bool below(u32 limit) const {
    const D d;
    return hn::AllTrue(d, hn::Lt(most_, hn::Set(d, limit)));
  }
  // No magnitude from 1 to limit.
  HWY_INLINE bool none_up_to(u32 limit) const {
    const D d;
    return hn::AllFalse(d, hn::Lt(least_, hn::Set(d, limit)));
  }

 private:
  V most_, least_;
};

// From here an f32 overflows f16; up to here it becomes zero (both to nearest even).
[[maybe_unused]] inline constexpr u32 kF16Overflows = 0x477ff000;  // 65520
[[maybe_unused]] inline constexpr u32 kF16Vanishes = 0x33000000;   // 2^-25

}  // namespace vinci::isa::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
