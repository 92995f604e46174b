// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/float16.h"

// HF32: a binary32 whose fraction keeps its upper 11 bits, 1 + 8 + 11. The cube rounds f32 operands to it before it
// multiplies. Source: CANN documentation of HFloat32, SetHF32TransMode (nearest even or toward zero); not on 910, 310P.
namespace vinci::isa {

inline constexpr int kHf32FractionBits = 11;

// f32 bits to the nearest HF32, as f32 bits. What rounds beyond the largest HF32 becomes infinity; NaN becomes kF32Nan.
constexpr u32 round_to_hf32(u32 bits, bool toward_zero) {
  if (f32_nan(bits)) return kF32Nan;
  if (!f32_finite(bits)) return bits;
  constexpr u32 kCut = Binary32::kFractionBits - kHf32FractionBits;
  constexpr u32 kCutMask = (u32{1} << kCut) - 1;
  // A carry out of the fraction counts one up in the exponent field, up to infinity.
  const u32 up = toward_zero ? 0 : (kCutMask >> 1) + (bits >> kCut & 1);
  return (bits + up) & ~kCutMask;
}

}  // namespace vinci::isa
