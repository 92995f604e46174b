// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>

#include "isa/census/census.h"
#include "isa/numeric/lane_type.h"

namespace vinci::isa {

// The census of the way out of L0C: values that are rounded to nearest even to f16 or bf16, in the order in which they
// leave. Does nothing without a point.
class CastCensus {
 public:
  CastCensus(CensusPoint* point, LaneType to, bool saturate) : point_(point), to_(to), saturate_(saturate) {}

  explicit operator bool() const { return point_ != nullptr; }
  void add(float value);
  // f32 values as bytes; relu makes negative ones zero first.
  void add(std::span<const std::byte> values, bool relu);

 private:
  CensusPoint* point_;
  LaneType to_;
  bool saturate_;
  u64 element_ = 0;
};

}  // namespace vinci::isa
