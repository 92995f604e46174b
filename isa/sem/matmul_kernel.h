// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>

#include "isa/base/types.h"

// The inner loops of `mad` on the bytes of L0A, L0B and L0C, in vector code chosen at run time. The bits do not depend
// on the host: each element of C takes its products in ascending k, one rounding each, and a product of two f16 is
// exact in f32, so that fused and separate multiply-add agree.
namespace vinci::isa {

struct MatmulTile {
  const std::byte* a = nullptr;  // zZ fractals [m1][k1][16][k0], or k plain elements (gemv)
  const std::byte* b = nullptr;  // nZ fractals [k1][n1][16][k0]
  std::byte* c = nullptr;        // zN fractals [n1][m1][16][16]; only m x n elements are written
  u32 m = 0, k = 0, n = 0;
  bool init = false;  // C starts at zero
  bool gemv = false;  // m is 1 and A a plain row
};

// C f32 (+)= A f16 * B f16; k0 = 16. A NaN in C is 0x7fc00000. Returns whether C got an infinite or NaN element.
bool matmul_f16_f32(const MatmulTile& t);

// C f16 (+)= A f16 * B f16. Accumulates in f32 from the f16 value of C and rounds once, to nearest even, at the end.
struct MatmulF16Result {
  bool overflow = false;    // a finite sum became infinite or +-65504
  bool underflow = false;   // a sum that is not zero became zero
  bool non_finite = false;  // a sum was infinite or NaN before it was rounded
};
MatmulF16Result matmul_f16_f16(const MatmulTile& t, bool saturate);

// C s32 (+)= A s8 * B s8; k0 = 32. The sum of the products is exact; adding it to C wraps, or saturates. Returns
// whether that addition left the range of s32.
bool matmul_s8_s32(const MatmulTile& t, bool saturate);

}  // namespace vinci::isa
