// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/cast.h"

#include <array>
#include <bit>
#include <cstring>

#include "isa/census/lanes.h"
#include "isa/numeric/bfloat16.h"

namespace vinci::isa {

void CastCensus::add(double src, double factor, float scaled) {
  if (point_ == nullptr) return;
  const u32 bits = std::bit_cast<u32>(scaled);
  const double result = to_ == LaneType::f16 ? f16_value(f32_to_f16(bits)) : bf16_value(f32_to_bf16(bits));
  // A factor must be a normal number, so that one that is not is to blame for what it makes.
  const NumericEvents events = classify({.rule = LaneRule::product,
                                         .saturates = saturates_,
                                         .a = class_of(src, LaneType::f32),
                                         .b = {.zero = factor == 0},
                                         .r = class_of(result, to_)})
                                   .of(0);
  if (events != 0) {
    point_->add(events, element_, std::array{NumericOperand{"src", src}, NumericOperand{"factor", factor}}, result);
  }
  point_->add_results(1);
  ++element_;
}

void CastCensus::add(std::span<const std::byte> values, bool relu) {
  if (point_ == nullptr) return;
  for (usize i = 0; i < values.size() / sizeof(float); ++i) {
    float v = 0;
    std::memcpy(&v, &values[i * sizeof v], sizeof v);
    const bool dropped = relu && v < 0;
    add(v, dropped ? 0 : 1, dropped ? 0 : v);
  }
}

void CastCensus::add_integer(double src, bool clipped, double result) {
  if (point_ == nullptr) return;
  if (clipped) point_->add(bit(NumericEvent::clipped), element_, std::array{NumericOperand{"src", src}}, result);
  point_->add_results(1);
  ++element_;
}

}  // namespace vinci::isa
