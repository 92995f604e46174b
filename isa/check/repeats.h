// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>

#include "isa/table/insn.h"

namespace vinci::isa::check {

// What is wrong with the operands of one vector instruction among themselves.
struct RepeatFault {
  bool later = false;  // dst of a repeat meets src of a later one; else dst and src of one repeat
  const Access* src = nullptr;
  const Access* dst = nullptr;
  u32 repeat = 0;          // that writes, from 0
  u32 src_repeat = 0;      // that reads
  u64 begin = 0, end = 0;  // the first block that both touch
};

// Within one repeat, dst and a src are the same blocks or have none in common; over repeats, dst must not meet a later
// src, except where it is the accumulator of the instruction (Access::Repeats::accumulator). Source: documentation of
// the vector intrinsics on overlapping addresses, mindspore-ai/akg.
std::optional<RepeatFault> find_repeat_fault(const Footprint& footprint);

}  // namespace vinci::isa::check
