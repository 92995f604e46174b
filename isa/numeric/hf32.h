// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/float16.h"

// HF32: a binary32 whose fraction keeps its upper 11 bits, 1 + 8 + 11. The cube rounds f32 operands to it before it
// multiplies: to the nearest, where two are as near to the even one or to the one nearer to zero. Source: CANN
// documentation of HFloat32 and SetHF32TransMode; that both modes are to the nearest, PTO's test of TMATMUL on A2/A3.
// Not on 910, 310P.
namespace vinci::isa {

inline constexpr int kHf32FractionBits = 11;

// f32 elements as they are, or rounded to HF32.
enum class Hf32 : u8 { off, ties_to_even, ties_to_zero, ties_away };

// f32 bits to the nearest HF32, as f32 bits. What rounds beyond the largest HF32 becomes infinity; NaN becomes kF32Nan.
constexpr u32 round_to_hf32(u32 bits, Hf32 mode) {
  if (mode == Hf32::off) return bits;
  if (f32_nan(bits)) return kF32Nan;
  if (!f32_finite(bits)) return bits;
  constexpr u32 kCut = Binary32::kFractionBits - kHf32FractionBits;
  constexpr u32 kCutMask = (u32{1} << kCut) - 1;
  // A carry out of the fraction counts one up in the exponent field, up to infinity.
  const u32 tie = mode == Hf32::ties_away ? 1 : mode == Hf32::ties_to_even ? bits >> kCut & 1 : 0;
  const u32 up = (kCutMask >> 1) + tie;
  return (bits + up) & ~kCutMask;
}

}  // namespace vinci::isa
