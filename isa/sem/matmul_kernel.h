// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <vector>

#include "isa/base/enums.h"
#include "isa/base/types.h"
#include "isa/numeric/hf32.h"
#include "isa/table/exec.h"

// The inner loops of `mad` on the bytes of L0A, L0B and L0C, in vector code chosen at run time. The bits do not depend
// on the host: each element of C takes its products in ascending k with one rounding each. A product of two f16 is
// exact in f32, so that fused and separate multiply-add agree; products of bf16 and f32 are rounded before they are
// added, except with Accumulation::fused and fractal.
namespace vinci::isa {

// Elements of A and B; s4 is packed, the lower nibble first.
enum class MatmulType : u8 { f16, bf16, f32, s8, u8, u8s8, s4 };
constexpr u32 element_bits(MatmulType t) {
  constexpr auto kBits = enum_table<MatmulType, u32>({{MatmulType::f16, 16},
                                                      {MatmulType::bf16, 16},
                                                      {MatmulType::f32, 32},
                                                      {MatmulType::s8, 8},
                                                      {MatmulType::u8, 8},
                                                      {MatmulType::u8s8, 8},
                                                      {MatmulType::s4, 4}});
  return kBits[static_cast<usize>(t)];
}
constexpr u32 matmul_k0(MatmulType t) { return 256 / element_bits(t); }
constexpr bool is_float(MatmulType t) { return t <= MatmulType::f32; }

struct MatmulTile {
  const std::byte* a = nullptr;  // zZ fractals [m1][a_k1][16][k0], or k plain elements (gemv)
  const std::byte* b = nullptr;  // nZ fractals [k1][n1][16][k0]
  const u8* b_turned = nullptr;  // whether each fractal of B is zZ instead; f16 and s8 alone; null: none is
  std::byte* c = nullptr;        // zN fractals [n1][m1][16][16]; only m x n elements are written
  u32 m = 0, k = 0, n = 0;
  u32 a_k1 = 0;       // fractals in a row of A, at least k1
  bool init = false;  // C starts at zero
  bool gemv = false;  // m is 1 and A a plain row
};

struct MatmulMode {
  Accumulation accumulation = Accumulation::sequential;
  Hf32 hf32 = Hf32::off;
  bool saturate = false;       // integers, and f16 results, stop at the limits
  bool unsigned_sums = false;  // integers: C is u32
};

struct MatmulResult {
  bool overflow = false;    // finite elements gave an infinite one, or an integer left the range of C
  bool underflow = false;   // f16 results: a sum that is not zero became zero; bf16 and f32: a product did
  bool non_finite = false;  // an element of A, B or C was infinite or NaN

  friend bool operator==(const MatmulResult&, const MatmulResult&) = default;
};

// C f32 or s32 (+)= A * B. A NaN in C is 0x7fc00000. The sum of integer products is exact; adding it to C wraps, or
// saturates.
MatmulResult matmul(const MatmulTile& t, MatmulType type, const MatmulMode& mode);

// For each element of C, row by row, whether one that it comes from is infinite or NaN; before the product, of
// floating-point types. C is f32.
std::vector<bool> special_results(const MatmulTile& t, MatmulType type, const MatmulMode& mode);

// C f16 (+)= A f16 * B f16. Accumulates in f32 from the f16 value of C and rounds once, to nearest even, at the end.
MatmulResult matmul_f16_f16(const MatmulTile& t, const MatmulMode& mode);

}  // namespace vinci::isa
