// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>

#include "isa/census/lanes.h"
#include "isa/machine/sequencer.h"

namespace vinci::isa {

// The census of one f32 result of the scalar unit: taken before the instruction runs, and again when it has.
class ScalarCensus {
 public:
  // Of the instruction that comes next, where it is one.
  static std::optional<ScalarCensus> of(Sequencer& front);
  void count(const Sequencer& front, CensusPoint& point) const;

 private:
  LaneRule rule_ = LaneRule::moved;
  LaneType to_ = LaneType::f32;
  RoundMode round_ = RoundMode::rint;
  bool saturates_ = false;
  u8 written_ = 0;
  u8 operands_ = 1;
  u32 a_ = 0, b_ = 0;  // bits of f32
};

}  // namespace vinci::isa
