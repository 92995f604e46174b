// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>

#include "isa/numeric/events.h"

// The events of floating-point results, 64 at once: bit i is result i. Vector instructions ask for whole repeats,
// others for one result, in bit 0. This is the one definition that the table in docs/numerics.md describes.
namespace vinci::isa {

// What the exact value of a result is, as far as the census must know.
enum class LaneRule : u8 {
  moved,     // nothing is computed (max, relu), or rounded to an integral value
  sum,       // a + b
  sub,       // a - b
  product,   // a * b
  quotient,  // a / b
  nonzero,   // a function that is not zero for finite operands: e^a
  function,  // another function of one operand
  madd,      // old * a + b, where old is what the destination held
  mla,       // old + a * b
  convert,   // a, in another type
};
constexpr bool is_fused(LaneRule rule) { return rule == LaneRule::madd || rule == LaneRule::mla; }

// Which values are what.
struct FloatClass {
  u64 nan = 0, inf = 0, zero = 0, subnormal = 0;

  u64 special() const { return nan | inf; }
};

struct FloatResults {
  LaneRule rule = LaneRule::moved;
  bool saturates = false;      // the overflow mode replaces infinities and NaN of this type
  FloatClass a{}, b{}, old{};  // operands that a rule does not have: nothing is set
  FloatClass r{};              // the IEEE 754 result, before relu and saturation
  u64 to_zero = 0;             // results that relu makes zero
  u64 to_largest = 0;          // beyond the largest value, which the rounding mode returns
  u64 is_addend = 0;   // the result equals an addend: a, b (of a difference -b), of a fused form the one outside
  u64 is_product = 0;  // of a fused form: the result equals the exact product
  u64 is_exact = 0;    // of a fused form: a result that is zero is exact
};

// The results of which each event is true.
struct EventMasks : std::array<u64, kNumericEvents> {
  u64& operator[](NumericEvent e) { return at(static_cast<usize>(e)); }
  u64 operator[](NumericEvent e) const { return at(static_cast<usize>(e)); }
  NumericEvents of(unsigned i) const {
    NumericEvents out = 0;
    for (usize e = 0; e < kNumericEvents; ++e)
      out = static_cast<NumericEvents>(out | (at(e) >> i & 1) << e);
    return out;
  }
  EventMasks& operator|=(const EventMasks& other) {
    for (usize e = 0; e < kNumericEvents; ++e)
      at(e) |= other.at(e);
    return *this;
  }
};

EventMasks classify(const FloatResults& r);

}  // namespace vinci::isa
