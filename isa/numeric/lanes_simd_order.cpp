// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
//
// SIMD kernels of max, min and comparison, compiled once for each instruction set that Highway knows and chosen at
// run time.
#include "isa/numeric/lanes.h"
#include "isa/sem/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/numeric/lanes_simd_order.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "isa/numeric/lanes_simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vinci::isa::HWY_NAMESPACE {

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

template <class D, bool Max>
u64 extreme_int(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode) {
  using T = hn::TFromD<D>;
  const D d;
  for (usize i = 0; i < kRepeatBytes / sizeof(T); i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, lanes_of<T>(a) + i);
    const auto y = hn::LoadU(d, lanes_of<T>(b) + i);
    hn::StoreU(Max ? hn::Max(x, y) : hn::Min(x, y), d, lanes_of<T>(out) + i);
  }
  return 0;
}

// magnitude, negative where x is.
template <class D>
HWY_INLINE hn::Vec<D> with_sign(D, hn::Vec<D> magnitude, hn::Vec<D> x) {
  const auto sign = hn::BroadcastSignBit(x);
  return hn::Sub(hn::Xor(magnitude, sign), sign);
}

// Comparison as integers: the magnitude with the sign of the value, so that -0 is +0. NaN is not in order with
// anything.
template <class D, bool Float, CompareOp Op>
u64 compare(const LaneBuffer& a, const LaneBuffer& b, LaneBits& out) {
  using T = hn::TFromD<D>;
  const D d;
  constexpr usize kLanes = kRepeatBytes / sizeof(T);
  std::array<u8, 24> bytes{};  // room for what StoreMaskBits writes
  auto most = hn::Zero(d);
  const usize step = hn::Lanes(d);
  for (usize i = 0; i < kLanes; i += step) {
    auto x = hn::LoadU(d, lanes_of<T>(a) + i);
    auto y = hn::LoadU(d, lanes_of<T>(b) + i);
    auto ordered = hn::Eq(x, x);
    if constexpr (Float) {
      const auto mx = magnitude_of(d, x);
      const auto my = magnitude_of(d, y);
      most = hn::Max(most, hn::Max(mx, my));
      const auto inf = hn::Set(d, Format<hwy::MakeUnsigned<T>>::kInf);
      ordered = hn::Not(hn::Or(hn::Gt(mx, inf), hn::Gt(my, inf)));
      x = with_sign(d, mx, x);
      y = with_sign(d, my, y);
    }
    auto r = ordered;
    switch (Op) {
      case CompareOp::eq: r = hn::Eq(x, y); break;
      case CompareOp::ne: r = hn::Ne(x, y); break;
      case CompareOp::lt: r = hn::Lt(x, y); break;
      case CompareOp::le: r = hn::Not(hn::Gt(x, y)); break;
      case CompareOp::gt: r = hn::Gt(x, y); break;
      case CompareOp::ge: r = hn::Not(hn::Lt(x, y)); break;
    }
    r = hn::And(r, ordered);
    if (step >= 8) {
      hn::StoreMaskBits(d, r, bytes.data() + i / 8);
    } else {
      std::array<u8, 8> few{};
      hn::StoreMaskBits(d, r, few.data());
      bytes[i / 8] |= static_cast<u8>((few[0] & ((1u << step) - 1)) << i % 8);
    }
  }
  hwy::CopyBytes<sizeof(LaneBits)>(bytes.data(), out.data());
  if constexpr (!Float) return 0;
  const auto inf = hn::Set(d, Format<hwy::MakeUnsigned<T>>::kInf);
  return hn::AllTrue(d, hn::Lt(most, inf)) ? 0 : status::kVectorNanInf;
}

template <class D, bool Float>
CompareKernel select_compare(CompareOp op) {
  switch (op) {
    case CompareOp::eq: return compare<D, Float, CompareOp::eq>;
    case CompareOp::ne: return compare<D, Float, CompareOp::ne>;
    case CompareOp::lt: return compare<D, Float, CompareOp::lt>;
    case CompareOp::le: return compare<D, Float, CompareOp::le>;
    case CompareOp::gt: return compare<D, Float, CompareOp::gt>;
    case CompareOp::ge: return compare<D, Float, CompareOp::ge>;
  }
  return nullptr;
}

BinaryKernel find_order(BinaryOp op, LaneType type) {
  const bool max = op == BinaryOp::max;
  switch (type) {
    case LaneType::f16: return max ? extreme<DI16Full, true> : extreme<DI16Full, false>;
    case LaneType::f32: return max ? extreme<DI32, true> : extreme<DI32, false>;
    case LaneType::s16: return max ? extreme_int<DI16Full, true> : extreme_int<DI16Full, false>;
    case LaneType::s32: return max ? extreme_int<DI32, true> : extreme_int<DI32, false>;
    default: return nullptr;
  }
}

CompareKernel find_compare(CompareOp op, LaneType type) {
  switch (type) {
    case LaneType::f16: return select_compare<DI16Full, true>(op);
    case LaneType::f32: return select_compare<DI32, true>(op);
    case LaneType::s16: return select_compare<DI16Full, false>(op);
    case LaneType::s32: return select_compare<DI32, false>(op);
    default: return nullptr;
  }
}

}  // namespace vinci::isa::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa {

HWY_EXPORT(find_order);
HWY_EXPORT(find_compare);

namespace detail {

BinaryKernel simd_order_kernel(BinaryOp op, LaneType type) { return HWY_DYNAMIC_DISPATCH(find_order)(op, type); }
CompareKernel simd_compare_kernel(CompareOp op, LaneType type) { return HWY_DYNAMIC_DISPATCH(find_compare)(op, type); }

}  // namespace detail
}  // namespace vinci::isa
#endif  // HWY_ONCE
