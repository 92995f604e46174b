// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>
#include <utility>

#include "isa/base/enums.h"
#include "isa/numeric/lane_access.h"

namespace vinci::isa {
namespace {

template <LaneType From, LaneType To, RoundMode Round>
u64 convert_lanes(const LaneBuffer& a, LaneBuffer& out, LaneMode mode) {
  constexpr usize kLanes = 8 * kRepeatBytes / std::max(lane_bits(From), lane_bits(To));
  u64 raised = 0;
  for (usize i = 0; i < kLanes; ++i) {
    Converted<To> r = convert<From, To>(typed_lane<From>(a, i), Round);
    if constexpr (To == LaneType::f16) r.value = saturate_f16(r.value, mode.overflow);
    if constexpr (To == LaneType::bf16) r.value = saturate_bf16(r.value, mode.overflow);
    set_typed_lane<To>(out, i, r.value);
    raised |= r.status;
  }
  return raised;
}

// The kernel that `make` gives for a mode of rounding.
template <class Make>
UnaryKernel by_round(RoundMode mode, Make make) {
  using enum RoundMode;
  switch (mode) {
    case rint: return make.template operator()<rint>();
    case floor: return make.template operator()<floor>();
    case ceil: return make.template operator()<ceil>();
    case round: return make.template operator()<round>();
    case trunc: return make.template operator()<trunc>();
    case odd: return make.template operator()<odd>();
  }
  return nullptr;
}

template <LaneType From, LaneType To>
UnaryKernel select(RoundMode round) {
  return by_round(round, []<RoundMode R>() -> UnaryKernel { return convert_lanes<From, To, R>; });
}
template <LaneType From, LaneType To>
UnaryKernel exact() {
  return convert_lanes<From, To, RoundMode::rint>;
}

template <LaneType From>
UnaryKernel from_float(LaneType to, RoundMode round) {
  switch (to) {
    case LaneType::f16:
      if constexpr (From != LaneType::f16) return select<From, LaneType::f16>(round);
      return nullptr;
    case LaneType::bf16:
      if constexpr (From != LaneType::bf16) return select<From, LaneType::bf16>(round);
      return nullptr;
    case LaneType::f32:
      if constexpr (From == LaneType::f32) return select<From, LaneType::f32>(round);
      return exact<From, LaneType::f32>();
    case LaneType::s4: return select<From, LaneType::s4>(round);
    case LaneType::s8: return select<From, LaneType::s8>(round);
    case LaneType::u8: return select<From, LaneType::u8>(round);
    case LaneType::s16: return select<From, LaneType::s16>(round);
    case LaneType::s32: return select<From, LaneType::s32>(round);
    case LaneType::s64: return select<From, LaneType::s64>(round);
    default: return nullptr;
  }
}

template <LaneType From, LaneType To, RoundMode Round>
u64 wrap_lanes(const LaneBuffer& a, LaneBuffer& out, LaneMode) {
  constexpr LaneType kWide = From == LaneType::s64 ? LaneType::s64 : LaneType::s32;
  constexpr usize kLanes = 8 * kRepeatBytes / std::max(lane_bits(From), lane_bits(To));
  u64 raised = 0;
  for (usize i = 0; i < kLanes; ++i) {
    const LaneValue<From> x = typed_lane<From>(a, i);
    if constexpr (From == kWide) {
      set_typed_lane<To>(out, i, static_cast<LaneValue<To>>(x));
    } else {
      set_typed_lane<To>(out, i, static_cast<LaneValue<To>>(convert<From, kWide>(x, Round).value));
    }
    raised |= convert<From, To>(x, Round).status;
  }
  return raised;
}
template <LaneType From, LaneType To>
UnaryKernel wrapping(RoundMode round) {
  return by_round(round, []<RoundMode R>() -> UnaryKernel { return wrap_lanes<From, To, R>; });
}

// s4, s8 and u8 are exact in every float; so are s16 in f32.
template <LaneType From>
UnaryKernel small_int_to_float(LaneType to) {
  switch (to) {
    case LaneType::f16: return exact<From, LaneType::f16>();
    case LaneType::bf16: return exact<From, LaneType::bf16>();
    case LaneType::f32: return exact<From, LaneType::f32>();
    default: return nullptr;
  }
}
template <LaneType From>
UnaryKernel int_to_float(LaneType to, RoundMode round) {
  switch (to) {
    case LaneType::f16: return select<From, LaneType::f16>(round);
    case LaneType::bf16: return select<From, LaneType::bf16>(round);
    case LaneType::f32: return select<From, LaneType::f32>(round);
    default: return nullptr;
  }
}

}  // namespace

UnaryKernel wrapping_convert_kernel(LaneType from, LaneType to, RoundMode round) {
  using enum LaneType;
  switch (from) {
    case f16:
      return to == s16  ? wrapping<f16, s16>(round)
             : to == s8 ? wrapping<f16, s8>(round)
             : to == u8 ? wrapping<f16, u8>(round)
                        : nullptr;
    case f32: return to == s16 ? wrapping<f32, s16>(round) : nullptr;
    case s64: return to == s32 ? wrapping<s64, s32>(round) : nullptr;
    case s32: return to == s16 ? wrapping<s32, s16>(round) : nullptr;
    default: return nullptr;
  }
}

namespace detail {

UnaryKernel portable_convert_kernel(LaneType from, LaneType to, RoundMode round) {
  using enum LaneType;
  switch (from) {
    case f16: return from_float<f16>(to, round);
    case bf16: return from_float<bf16>(to, round);
    case f32: return from_float<f32>(to, round);
    case s4: return small_int_to_float<s4>(to);
    case s8: return to == s16 ? exact<s8, s16>() : to == s32 ? exact<s8, s32>() : small_int_to_float<s8>(to);
    case u8: return to == s16 ? exact<u8, s16>() : to == s32 ? exact<u8, s32>() : small_int_to_float<u8>(to);
    case s16:
      switch (to) {
        case s8: return exact<s16, s8>();
        case u8: return exact<s16, u8>();
        case s32: return exact<s16, s32>();
        default: return int_to_float<s16>(to, round);
      }
    case s32:
      switch (to) {
        case s4: return exact<s32, s4>();
        case s8: return exact<s32, s8>();
        case u8: return exact<s32, u8>();
        case s16: return exact<s32, s16>();
        case s64: return exact<s32, s64>();
        default: return int_to_float<s32>(to, round);
      }
    case s64: return to == s32 ? exact<s64, s32>() : int_to_float<s64>(to, round);
    default: return nullptr;
  }
}

}  // namespace detail
}  // namespace vinci::isa
