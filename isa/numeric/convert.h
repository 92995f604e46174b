// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <limits>
#include <type_traits>

#include "isa/numeric/bfloat16.h"
#include "isa/numeric/lane_type.h"

// One value of one lane type as another, rounded once, in any of the six modes. Source: CANN documentation of Cast and
// vconv, published boundary tables of the Ascend C vector interfaces.
//   float to float      IEEE 754; f32 to f32 rounds to an integral value, and every zero becomes +0
//   float to integer    rounded, then clamped to the range of the type; infinity becomes the end of the range, NaN 0
//   integer to float    rounded
//   integer to integer  clamped to the range of the type
namespace vinci::isa {

namespace detail {

template <class F>
struct FloatLane {
  using Bits = typename F::Bits;
  using Format = F;
  static constexpr bool kFloat = true;
};
template <class T, i64 Least = std::numeric_limits<T>::min(), i64 Most = std::numeric_limits<T>::max()>
struct IntLane {
  using Bits = T;
  static constexpr bool kFloat = false;
  static constexpr i64 kLeast = Least, kMost = Most;
};
template <LaneType>
struct Lane;
// clang-format off
template <> struct Lane<LaneType::f16> : FloatLane<Binary16> {};
template <> struct Lane<LaneType::bf16> : FloatLane<Bfloat16> {};
template <> struct Lane<LaneType::f32> : FloatLane<Binary32> {};
template <> struct Lane<LaneType::s4> : IntLane<i8, -8, 7> {};
template <> struct Lane<LaneType::s8> : IntLane<i8> {};
template <> struct Lane<LaneType::u8> : IntLane<u8> {};
template <> struct Lane<LaneType::s16> : IntLane<i16> {};
template <> struct Lane<LaneType::u16> : IntLane<u16> {};
template <> struct Lane<LaneType::s32> : IntLane<i32> {};
template <> struct Lane<LaneType::u32> : IntLane<u32> {};
template <> struct Lane<LaneType::s64> : IntLane<i64> {};
// clang-format on

}  // namespace detail

// A value of a lane: the bits of a float, or the integer itself (s4: an i8 from -8 to 7).
template <LaneType T>
using LaneValue = typename detail::Lane<T>::Bits;

template <LaneType T>
struct Converted {
  LaneValue<T> value = 0;
  u64 status = 0;  // as in isa/numeric/lanes.h

  friend bool operator==(const Converted&, const Converted&) = default;
};

// Without saturation of f16 and bf16 results.
template <LaneType From, LaneType To>
constexpr Converted<To> convert(LaneValue<From> x, RoundMode mode) {
  using Source = detail::Lane<From>;
  using Target = detail::Lane<To>;
  using Value = LaneValue<To>;
  Exact exact;
  if constexpr (Source::kFloat) {
    using S = typename Source::Format;
    if (!S::finite(x)) {
      if constexpr (Target::kFloat) {
        using T = typename Target::Format;
        return {S::nan(x) ? T::kNan : static_cast<Value>(T::kInf | (S::negative(x) ? T::kSign : 0)),
                status::kVectorNanInf};
      } else {
        return {static_cast<Value>(S::nan(x)        ? 0
                                   : S::negative(x) ? Target::kLeast
                                                    : Target::kMost),
                status::kVectorNanInf};
      }
    }
    exact = exact_of<S>(x);
  } else {
    exact = exact_of_int(static_cast<i64>(x));
  }
  if constexpr (!Target::kFloat) {
    const RoundedInt r = round_to_int(exact, mode, Target::kLeast, Target::kMost);
    const bool negative_to_unsigned = Target::kLeast == 0 && exact.negative && exact.magnitude != 0;
    return {static_cast<Value>(r.value), negative_to_unsigned ? status::kNegativeToUnsigned
                                         : r.clamped          ? status::kFloatOverflow
                                                              : 0};
  } else {
    if constexpr (From == LaneType::f32 && To == LaneType::f32) {
      const u64 whole =
          exact.exponent >= 0 ? 0 : round_magnitude(exact.magnitude, -exact.exponent, exact.negative, mode);
      if (exact.exponent < 0) exact = {exact.negative && whole != 0, whole, 0};
      return {round_to<Binary32>(exact, mode).bits, 0};
    } else {
      const Rounded<typename Target::Format> r = round_to<typename Target::Format>(exact, mode);
      return {r.bits, (r.overflow ? status::kFloatOverflow : 0) | (r.underflow ? status::kFloatUnderflow : 0)};
    }
  }
}

}  // namespace vinci::isa
