// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>

#include "isa/census/census.h"
#include "isa/numeric/lanes.h"

namespace vinci::isa {

// What the exact value of a result is, as far as the census must know.
enum class LaneRule : u8 {
  moved,     // nothing is computed (max, and, a selection)
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

// The rule of a lane kernel.
LaneRule lane_rule(UnaryOp op);
LaneRule lane_rule(BinaryOp op);
LaneRule lane_rule(TernaryOp op);

// One repeat as the census sees it: all lanes that are active, of all buffers.
struct LaneResults {
  LaneRule rule = LaneRule::moved;
  LaneType src = LaneType::f16, dst = LaneType::f16;
  const LaneBuffer* a = nullptr;
  const LaneBuffer* b = nullptr;                 // null: the rule has one operand
  const LaneBuffer* old = nullptr;               // of madd and mla
  const LaneBuffer* ieee = nullptr;              // the results without saturation; those of integers as they are
  std::span<const std::string_view> names = {};  // of a, b, old
  RoundMode round = RoundMode::rint;             // of a cast to an integer
  bool saturate = false;                         // float results are saturated, or integer results are
  u32 lanes = 0;
  LaneBits active{~u64{0}, ~u64{0}};
  u64 first_element = 0;
};
void census_of(const LaneResults& r, CensusPoint& point);

// What an addition to `sum`, the IEEE 754 result, did.
NumericEvents sum_events(double a, double b, double sum, LaneType type, bool saturate);

// What a cast of `value` to a floating-point type did, whose IEEE 754 result is `result`.
NumericEvents cast_events(double value, double result, LaneType to, bool saturate);

// The value of lane i; exact for all types but s64, which is rounded.
double lane_value(LaneType type, const LaneBuffer& lanes, u32 i);

}  // namespace vinci::isa
