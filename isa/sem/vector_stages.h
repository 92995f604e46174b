// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/sem/vector_ops.h"

// Forms whose results go through two operations with a rounding after each: sums that are converted, products that are
// added.
namespace vinci::isa::insn {

// The rule and the types of one of the two.
struct Stage {
  LaneRule rule;
  LaneType src, dst;
  BinaryKernel before_relu = nullptr;
};

LaneMode unsaturated(LaneMode mode);

LaneEvents operator|(LaneEvents a, const LaneEvents& b);

// The events of a stage whose IEEE 754 results are `ieee`.
LaneEvents stage_events(const ExecContext& c, const Stage& stage, const LaneBuffer& a, const LaneBuffer* b,
                        const LaneBuffer& ieee, u64 raised, u32 lanes, const LaneBits& active);

// Computes without saturation and relu; the events of that.
LaneEvents first_stage_events(const ExecContext& c, const Stage& stage, BinaryKernel compute, const LaneBuffer& a,
                              const LaneBuffer& b, u32 lanes, const LaneBits& active);

// `middle`, the floats that the first stage made of `a` and `b`, as the second sees it for STATUS: an infinity that was
// made counts as the largest value, so that both overflow modes raise the same; lanes with an operand that is infinite
// or NaN raise nothing more.
LaneBuffer finite_between(LaneType type, const LaneBuffer& a, const LaneBuffer& b, const LaneBuffer& middle);

}  // namespace vinci::isa::insn
