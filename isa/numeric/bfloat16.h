// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/float16.h"

// bfloat16 as bits: the upper half of a binary32.
namespace vinci::isa {

inline constexpr u16 kBf16Inf = Bfloat16::kInf;
inline constexpr u16 kBf16Nan = Bfloat16::kNan;
inline constexpr u16 kBf16Max = Bfloat16::kMax;
inline constexpr u16 kBf16One = Bfloat16::kOne;

using RoundedBf16 = Rounded<Bfloat16>;

// Exact; NaN becomes kF32Nan.
constexpr u32 bf16_to_f32(u16 bits) { return Bfloat16::nan(bits) ? kF32Nan : u32{bits} << 16; }
// Rounded once. Infinity stays, NaN becomes kBf16Nan; neither counts as overflow.
constexpr RoundedBf16 round_f32_to_bf16(u32 bits, RoundMode mode = RoundMode::rint) {
  return narrow_bits<Bfloat16, Binary32>(bits, mode);
}
constexpr u16 f32_to_bf16(u32 bits, RoundMode mode = RoundMode::rint) { return round_f32_to_bf16(bits, mode).bits; }

inline float bf16_value(u16 bits) { return std::bit_cast<float>(bf16_to_f32(bits)); }
inline u16 bf16_bits(double value, RoundMode mode = RoundMode::rint) {
  return narrow_bits<Bfloat16, Binary64>(std::bit_cast<u64>(value), mode).bits;
}

constexpr u16 saturate_bf16(u16 bits, OverflowMode mode) { return saturate<Bfloat16>(bits, mode); }

}  // namespace vinci::isa
