// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>

#include "isa/base/enums.h"
#include "isa/table/exec.h"

// What can happen to a result, and which bits of STATUS follow from it. The table in docs/numerics.md says when each
// event occurs in each family of instructions.
namespace vinci::isa {

enum class NumericEvent : u8 {
  overflow,   // finite operands, but the result rounded without a limit of the exponent is beyond the largest value
  nan,        // no operand is NaN, but the IEEE 754 result is
  saturated,  // the result was replaced: infinity by the largest value, NaN by 0, an integer by its limit
  subnormal,  // the result is subnormal
  flushed,    // the result is zero, but the exact value is not
  absorbed,   // an addend other than zero changed nothing: x + y == x with y != 0
  wrapped,    // an integer result that does not fit lost its high bits
  clipped,    // a requantised value was limited to its 4, 8 or 16 bits
};
inline constexpr usize kNumericEvents = enum_count<NumericEvent>;
inline constexpr auto kNumericEventNames = enum_names<NumericEvent>;
constexpr std::string_view name(NumericEvent e) { return kNumericEventNames[static_cast<usize>(e)]; }

// A set of events, as a bit mask.
using NumericEvents = u8;
static_assert(kNumericEvents <= 8);
constexpr NumericEvents bit(NumericEvent e) { return static_cast<NumericEvents>(1u << static_cast<unsigned>(e)); }
constexpr bool has(NumericEvents set, NumericEvent e) { return (set & bit(e)) != 0; }

// The bits of STATUS of one unit.
struct StatusBits {
  u64 overflow = 0, underflow = 0;
  u64 special = 0;  // an operand is infinite or NaN
};
inline constexpr StatusBits kVectorStatus{status::kFloatOverflow, status::kFloatUnderflow, status::kVectorNanInf};
inline constexpr StatusBits kScalarStatus{status::kFloatOverflow, 0, status::kScalarNanInf};
inline constexpr StatusBits kCopyStatus{status::kL0cToUbOverflow, status::kL0cToUbUnderflow, 0};

inline constexpr NumericEvents kOutOfRange = bit(NumericEvent::overflow) | bit(NumericEvent::nan) |
                                             bit(NumericEvent::saturated) | bit(NumericEvent::wrapped) |
                                             bit(NumericEvent::clipped);

// What the events of one result raise. An operand that is infinite or NaN hides them.
constexpr u64 status_of(NumericEvents events, bool special_operand, const StatusBits& unit = kVectorStatus) {
  if (special_operand) return unit.special;
  return ((events & kOutOfRange) != 0 ? unit.overflow : 0) | (has(events, NumericEvent::flushed) ? unit.underflow : 0);
}

}  // namespace vinci::isa
