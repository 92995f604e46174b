// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "isa/numeric/float16.h"

// Scaling of values that leave L0C. A quantisation parameter has 64 bits:
//   [31:0]   scale, f32
//   [35:32]  shift - 1
//   [36]     MCB: an s32 is first shifted right by `shift` and becomes s16
//   [45:37]  offset, two's complement
//   [46]     8-bit results are signed
//   [47]     relu (L0C to UB only)
// Source: published documentation of DataCopy (deqValue), Fixpipe (QUANT_PRE); where a value is rounded is not public:
// here an s32 when it becomes f32, the product, and the result, each to nearest even.
namespace vinci::isa {

struct QuantParameter {
  float scale = 1;
  unsigned shift = 1;
  bool shift_first = false;
  i32 offset = 0;
  bool is_signed = false;
  bool relu = false;
};

constexpr QuantParameter quant_parameter(u64 bits) {
  return {.scale = std::bit_cast<float>(static_cast<u32>(bits)),
          .shift = static_cast<unsigned>(bits >> 32 & 15) + 1,
          .shift_first = (bits >> 36 & 1) != 0,
          .offset = static_cast<i32>(static_cast<u32>(bits >> 37) << 23) >> 23,
          .is_signed = (bits >> 46 & 1) != 0,
          .relu = (bits >> 47 & 1) != 0};
}

// What FIXPIPE keeps of a factor: (1, 8, 10) bits.
constexpr float fixpipe_factor(u32 bits) { return std::bit_cast<float>(bits & ~0x1fffu); }

constexpr i32 shifted_s16(i32 value, unsigned shift) { return std::clamp(value >> shift, -0x8000, 0x7fff); }

constexpr bool clips_s16(i32 value, unsigned shift) { return shifted_s16(value, shift) != value >> shift; }

// An s32 of L0C as the factor meets it.
constexpr float dequant_input(i32 value, const QuantParameter& p) {
  return static_cast<float>(p.shift_first ? shifted_s16(value, p.shift) : value);
}

struct IntRange {
  i32 least, most;
};
constexpr IntRange range_b8(bool is_signed) { return is_signed ? IntRange{-128, 127} : IntRange{0, 255}; }
inline constexpr IntRange kRangeS4{-8, 7};

// clamp(clamp(round(value), -256, 255) + offset); NaN counts as 0.
inline i32 quantise(float value, i32 offset, IntRange range) {
  const float bounded = value != value ? 0 : std::clamp(value, -256.0f, 255.0f);
  return std::clamp(static_cast<i32>(std::nearbyint(bounded)) + offset, range.least, range.most);
}

// Whether that limits the value, or makes something of a NaN.
inline bool clips(float value, i32 offset, IntRange range) {
  const float rounded = std::nearbyint(value);
  if (!(rounded >= -256 && rounded <= 255)) return true;
  const i32 sum = static_cast<i32>(rounded) + offset;
  return sum < range.least || sum > range.most;
}

}  // namespace vinci::isa
