// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/lane_masks.h"

#include <cstring>

#include "isa/sem/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/census/lane_masks.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vinci::isa {
namespace {  // of this file: other kernels may use the same names
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A format as signed integers, whose comparisons every host has.
template <class I>
struct Bits {
  I infinity, normal;  // the first magnitudes that are infinite, and that are normal
  static constexpr I kMagnitude = static_cast<I>(static_cast<std::make_unsigned_t<I>>(~I{0}) >> 1);
};

template <class I>
using Lanes = hn::CappedTag<I, kRepeatBytes / sizeof(I)>;

template <class I>
HWY_INLINE hn::Vec<Lanes<I>> load(const LaneBuffer& lanes, usize i) {
  return hn::LoadU(Lanes<I>(), reinterpret_cast<const I*>(lanes.bytes.data()) + i);
}

// Sets the bits of the lanes from i on.
template <class I, class M>
HWY_INLINE void put(LaneBits& to, usize i, M mask) {
  const Lanes<I> d;
  std::uint8_t bytes[16] = {};
  hn::StoreMaskBits(d, mask, bytes);
  u64 bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  to[i / 64] |= bits << (i % 64);
}

template <class I>
LaneClasses classify_as(const LaneBuffer& lanes, Bits<I> format) {
  const Lanes<I> d;
  const auto infinity = hn::Set(d, format.infinity);
  const auto normal = hn::Set(d, format.normal);
  const auto zero = hn::Zero(d);
  LaneBits nan{}, inf{}, zeros{}, subnormal{};
  for (usize i = 0; i < kRepeatBytes / sizeof(I); i += hn::Lanes(d)) {
    const auto magnitude = hn::And(load<I>(lanes, i), hn::Set(d, Bits<I>::kMagnitude));
    put<I>(nan, i, hn::Gt(magnitude, infinity));
    put<I>(inf, i, hn::Eq(magnitude, infinity));
    put<I>(zeros, i, hn::Eq(magnitude, zero));
    put<I>(subnormal, i, hn::And(hn::Gt(magnitude, zero), hn::Lt(magnitude, normal)));
  }
  return {{{nan[0], inf[0], zeros[0], subnormal[0]}, {nan[1], inf[1], zeros[1], subnormal[1]}}};
}

template <class I>
LaneClasses zeros_as(const LaneBuffer& lanes) {
  const Lanes<I> d;
  LaneBits zeros{};
  for (usize i = 0; i < kRepeatBytes / sizeof(I); i += hn::Lanes(d)) {
    const auto magnitude = hn::And(load<I>(lanes, i), hn::Set(d, Bits<I>::kMagnitude));
    put<I>(zeros, i, hn::Eq(magnitude, hn::Zero(d)));
  }
  LaneClasses out{};
  out[0].zero = zeros[0];
  out[1].zero = zeros[1];
  return out;
}

template <class I>
LaneBits equal_as(const LaneBuffer& x, const LaneBuffer& y, I flip) {
  const Lanes<I> d;
  LaneBits out{};
  for (usize i = 0; i < kRepeatBytes / sizeof(I); i += hn::Lanes(d))
    put<I>(out, i, hn::Eq(load<I>(x, i), hn::Xor(load<I>(y, i), hn::Set(d, flip))));
  return out;
}

LaneBits equal_products_f32(const LaneBuffer& x, const LaneBuffer& y, const LaneBuffer& r) {
  LaneBits out{};
  for (usize i = 0; i < kRepeatBytes / sizeof(float); i += hn::Lanes(Lanes<float>()))
    put<float>(out, i, hn::Eq(hn::Mul(load<float>(x, i), load<float>(y, i)), load<float>(r, i)));
  return out;
}

LaneBits equal_products_f16(const LaneBuffer& x, const LaneBuffer& y, const LaneBuffer& r) {
  const Lanes<float> d;
  const hn::Rebind<hwy::float16_t, Lanes<float>> half;
  const auto wide = [&](const LaneBuffer& lanes, usize i) HWY_ATTR {
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(lanes.bytes.data()) + i));
  };
  LaneBits out{};
  for (usize i = 0; i < kRepeatBytes / 2; i += hn::Lanes(d))
    put<float>(out, i, hn::Eq(hn::Mul(wide(x, i), wide(y, i)), wide(r, i)));
  return out;
}

template <class I>
u32 next_with_events_as(const Screen& s, Bits<I> format, u32 from) {
  const Lanes<I> d;
  const auto finite = hn::Set(d, static_cast<I>(format.infinity - 1));
  const auto normal = hn::Set(d, format.normal);
  const auto least = hn::Set(d, static_cast<I>(s.zeros ? -1 : 0));
  const auto flip = hn::Set(d, static_cast<I>(s.flip));
  const auto at = [](const Repeats::Source& source, u32 repeat) {
    return source.first == nullptr ? nullptr : reinterpret_cast<const I*>(source.at(repeat));
  };
  for (u32 repeat = from; repeat < s.count; ++repeat) {
    const I *r = at(s.r, repeat), *x = at(s.x, repeat), *y = at(s.y, repeat);
    auto seen = hn::MaskFromVec(hn::Zero(d));
    for (usize i = 0; i < s.bytes / sizeof(I); i += hn::Lanes(d)) {
      const auto result = hn::LoadU(d, r + i);
      const auto magnitude = hn::And(result, hn::Set(d, Bits<I>::kMagnitude));
      seen =
          hn::Or(seen, hn::Or(hn::Gt(magnitude, finite), hn::And(hn::Gt(magnitude, least), hn::Lt(magnitude, normal))));
      if (x != nullptr) seen = hn::Or(seen, hn::Eq(result, hn::LoadU(d, x + i)));
      if (y != nullptr) seen = hn::Or(seen, hn::Eq(result, hn::Xor(hn::LoadU(d, y + i), flip)));
    }
    if (!hn::AllFalse(d, seen)) return repeat;
  }
  return s.count;
}

constexpr Bits<i16> kHalf{0x7c00, 0x400}, kBrain{0x7f80, 0x80};
constexpr Bits<i32> kSingle{0x7f800000, 0x800000};

LaneClasses classify_any(LaneType type, const LaneBuffer& lanes) {
  if (type == LaneType::f32) return classify_as<i32>(lanes, kSingle);
  return classify_as<i16>(lanes, type == LaneType::f16 ? kHalf : kBrain);
}

LaneClasses zeros_any(LaneType type, const LaneBuffer& lanes) {
  return type == LaneType::f32 ? zeros_as<i32>(lanes) : zeros_as<i16>(lanes);
}

LaneBits equal_any(LaneType type, const LaneBuffer& x, const LaneBuffer& y, u32 flip) {
  return type == LaneType::f32 ? equal_as<i32>(x, y, static_cast<i32>(flip))
                               : equal_as<i16>(x, y, static_cast<i16>(flip));
}

LaneBits equal_products_any(LaneType type, const LaneBuffer& x, const LaneBuffer& y, const LaneBuffer& r) {
  return type == LaneType::f32 ? equal_products_f32(x, y, r) : equal_products_f16(x, y, r);
}

u32 next_with_events_any(const Screen& s, u32 from) {
  if (s.type == LaneType::f32) return next_with_events_as<i32>(s, kSingle, from);
  return next_with_events_as<i16>(s, s.type == LaneType::f16 ? kHalf : kBrain, from);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace vinci::isa
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vinci::isa {

namespace {
HWY_EXPORT(classify_any);
HWY_EXPORT(zeros_any);
HWY_EXPORT(equal_any);
HWY_EXPORT(equal_products_any);
HWY_EXPORT(next_with_events_any);
}  // namespace

LaneClasses classify_lanes(LaneType type, const LaneBuffer& lanes) {
  return HWY_DYNAMIC_DISPATCH(classify_any)(type, lanes);
}
LaneClasses zero_lanes(LaneType type, const LaneBuffer& lanes) { return HWY_DYNAMIC_DISPATCH(zeros_any)(type, lanes); }
LaneBits equal_lanes(LaneType type, const LaneBuffer& x, const LaneBuffer& y, u32 flip) {
  return HWY_DYNAMIC_DISPATCH(equal_any)(type, x, y, flip);
}
LaneBits equal_products(LaneType type, const LaneBuffer& x, const LaneBuffer& y, const LaneBuffer& r) {
  return HWY_DYNAMIC_DISPATCH(equal_products_any)(type, x, y, r);
}
u32 next_with_events(const Screen& screen, u32 from) {
  return HWY_DYNAMIC_DISPATCH(next_with_events_any)(screen, from);
}

}  // namespace vinci::isa
#endif
