// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/census/classify.h"
#include "isa/numeric/lanes.h"

// What the census asks of all lanes of a repeat, in vector code chosen at run time. Lanes are those of floats of 16 or
// 32 bits; the answer has a bit for each.
namespace vinci::isa {

// Of 128 lanes: a class for each 64.
using LaneClasses = std::array<FloatClass, 2>;
LaneClasses classify_lanes(LaneType type, const LaneBuffer& lanes);
// The same of operands of results that are finite: only zeros matter.
LaneClasses zero_lanes(LaneType type, const LaneBuffer& lanes);

// Lanes whose bits are equal after those of `flip` are changed in y.
LaneBits equal_lanes(LaneType type, const LaneBuffer& x, const LaneBuffer& y, u32 flip = 0);

// Lanes in which x * y rounded to f32, or exact for f16, is the value of r.
LaneBits equal_products(LaneType type, const LaneBuffer& x, const LaneBuffer& y, const LaneBuffer& r);

// Repeats that may have events: those with a result that is infinite, NaN, subnormal, with `zeros` zero, or an addend.
struct Screen {
  LaneType type = LaneType::f16;
  usize bytes = kRepeatBytes;  // of the results of a repeat
  bool zeros = false;
  u32 flip = 0;  // bits that are changed in y before
  Repeats::Source r;
  Repeats::Source x, y;  // addends; null: not asked for
  u32 count = 1;
};
// The first of them from `from` on; `count`: none.
u32 next_with_events(const Screen& screen, u32 from);

}  // namespace vinci::isa
