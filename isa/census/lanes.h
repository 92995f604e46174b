// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <span>

#include "isa/census/census.h"
#include "isa/census/classify.h"
#include "isa/census/lane_masks.h"
#include "isa/numeric/lanes.h"

namespace vinci::isa {

// The rule of a lane kernel; that of a form with relu is the one of what is computed before.
LaneRule lane_rule(UnaryOp op);
LaneRule lane_rule(BinaryOp op);
LaneRule lane_rule(TernaryOp op);

// One repeat as the census sees it: all lanes that are active, of all buffers.
struct LaneResults {
  LaneRule rule = LaneRule::moved;
  LaneType src = LaneType::f16, dst = LaneType::f16;
  const LaneBuffer* a = nullptr;
  const LaneBuffer* b = nullptr;     // null: the rule has one operand
  LaneType second = LaneType::f16;   // the type of b
  const LaneBuffer* old = nullptr;   // of madd and mla
  const LaneBuffer* ieee = nullptr;  // the results without relu and saturation; those of integers as they are
  RoundMode round = RoundMode::rint;
  bool relu = false;       // follows
  bool saturates = false;  // infinite and NaN results are replaced, or integer results stop at the limits
  bool wraps = false;      // of a cast to integers: it keeps the low bits
  u64 raised = 0;          // STATUS of the repeat
  u32 lanes = 0;
  LaneBits active{~u64{0}, ~u64{0}};
};

// Whether a lane may have an event; quick, and never false where one has.
bool may_have_events(const LaneResults& r);

// The same question for repeats that were computed in place, in floats of `bytes` a repeat; nothing: each may.
std::optional<Screen> screen_of(LaneRule rule, LaneType dst, RoundMode round, u64 raised, const Repeats& job,
                                usize bytes);

// A word for each 64 lanes.
using LaneEvents = std::array<EventMasks, 2>;
LaneEvents events_of(const LaneResults& r);

u64 count_active(u32 lanes, const LaneBits& active);

// Operands of a result, for a report.
struct NamedLanes {
  std::string_view name;
  LaneType type = LaneType::f16;
  const LaneBuffer* lanes = nullptr;
};
// Counts the active lanes as results and their events.
void report(CensusPoint& point, const LaneEvents& events, u32 lanes, const LaneBits& active, u64 first_element,
            std::span<const NamedLanes> operands, const NamedLanes& result);

// The events of a sum whose IEEE 754 result is `sum`.
NumericEvents sum_events(double a, double b, double sum, LaneType type, bool saturates);

// The same of a product.
NumericEvents product_events(double a, double b, double product, LaneType type, bool saturates);

// The events of one result that is an operand.
NumericEvents moved_events(double value, LaneType type, bool saturates);

// The events of one float that was rounded to the IEEE 754 result `result`; `value` is the exact one.
NumericEvents cast_events(double value, double result, LaneType to, bool saturates);

// What a class says of one value, in bit 0.
FloatClass class_of(double value, LaneType type);

// The value of lane i; exact for all types but s64, which is rounded.
double lane_value(LaneType type, const LaneBuffer& lanes, u32 i);

}  // namespace vinci::isa
