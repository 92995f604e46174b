// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/cast.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "isa/census/lanes.h"
#include "isa/numeric/bfloat16.h"

namespace vinci::isa {
namespace {

constexpr usize kScreened = 16;  // values at once

// Whether no value has an event, from their bits alone: each is zero, or a normal number of the type that no rounding
// makes infinite. False where it is not known.
bool is_quiet(std::span<const std::byte> values, LaneType to) {
  if (values.size() != kScreened * sizeof(u32)) return false;
  const u32 least = to == LaneType::f16 ? 0x38800000 : 0x00800000;     // 2^-14, 2^-126
  const u32 infinite = to == LaneType::f16 ? 0x477ff000 : 0x7f7f8000;  // the least value that rounds to infinity
  std::array<u32, kScreened> bits;
  std::memcpy(bits.data(), values.data(), sizeof bits);
  u32 found = 0;
  for (const u32 b : bits) {
    const u32 magnitude = b & 0x7fffffff;
    const u32 other = magnitude != 0, outside = magnitude - least >= infinite - least;
    found |= other & outside;
  }
  return found == 0;
}

}  // namespace

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
  for (usize begin = 0; begin < values.size(); begin += kScreened * sizeof(float)) {
    const auto some = values.subspan(begin, std::min(values.size() - begin, kScreened * sizeof(float)));
    if (is_quiet(some, to_)) {
      point_->add_results(some.size() / sizeof(float));
      element_ += some.size() / sizeof(float);
      continue;
    }
    for (usize i = 0; i < some.size(); i += sizeof(float)) {
      float v = 0;
      std::memcpy(&v, &some[i], sizeof v);
      const bool dropped = relu && v < 0;
      add(v, dropped ? 0 : 1, dropped ? 0 : v);
    }
  }
}

void CastCensus::add_integer(double src, bool clipped, double result) {
  if (point_ == nullptr) return;
  if (clipped) point_->add(bit(NumericEvent::clipped), element_, std::array{NumericOperand{"src", src}}, result);
  point_->add_results(1);
  ++element_;
}

}  // namespace vinci::isa
