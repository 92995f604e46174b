// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>

#include "isa/census/census.h"
#include "isa/numeric/lane_type.h"

namespace vinci::isa {

// The census of the way out of L0C: values that are scaled and rounded to nearest even to f16 or bf16, or requantised,
// in the order in which they leave. Does nothing without a point.
class CastCensus {
 public:
  CastCensus(CensusPoint* point, LaneType to, bool saturates) : point_(point), to_(to), saturates_(saturates) {}

  explicit operator bool() const { return point_ != nullptr; }
  // A value of L0C, its factor and what is rounded to a float.
  void add(double src, double factor, float scaled);
  // f32 values as bytes, without a factor; relu makes negative ones zero first.
  void add(std::span<const std::byte> values, bool relu);
  // A value that becomes an integer.
  void add_integer(double src, bool clipped, double result);
  // Values that leave but belong to no matrix.
  void skip(u64 count) { element_ += count; }

 private:
  CensusPoint* point_;
  LaneType to_;
  bool saturates_;
  u64 element_ = 0;
};

}  // namespace vinci::isa
