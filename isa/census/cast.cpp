// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/cast.h"

#include <array>
#include <bit>
#include <cstring>

#include "isa/census/lanes.h"
#include "isa/numeric/bfloat16.h"

namespace vinci::isa {

void CastCensus::add(float value) {
  if (point_ == nullptr) return;
  const u32 bits = std::bit_cast<u32>(value);
  const double result =
      to_ == LaneType::f16 ? f16_value(f32_to_f16(bits)) : std::bit_cast<float>(u32{f32_to_bf16(bits)} << 16);
  const NumericEvents events = cast_events(value, result, to_, saturate_);
  if (events != 0) point_->add(events, element_, std::array{NumericOperand{"src", value}}, result);
  point_->add_results(1);
  ++element_;
}

void CastCensus::add(std::span<const std::byte> values, bool relu) {
  if (point_ == nullptr) return;
  for (usize i = 0; i < values.size() / sizeof(float); ++i) {
    float v = 0;
    std::memcpy(&v, &values[i * sizeof v], sizeof v);
    add(relu && v < 0 ? 0 : v);
  }
}

}  // namespace vinci::isa
