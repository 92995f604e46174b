// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/shadow/shadow.h"

// The loops of shadow execution over lanes, in vector code chosen at run time. `count` is at most kShadowLanes; arrays
// have room for that many, and what stands behind `count` is of no consequence.
namespace vinci::isa::shadow_kernels {

// A floating-point type: bits of the fraction, exponents of the least and the largest normal numbers.
struct FloatRange {
  int fraction, least, most;
};
constexpr FloatRange range_of(LaneType t) {
  return t == LaneType::f16    ? FloatRange{10, -14, 15}
         : t == LaneType::bf16 ? FloatRange{7, -126, 127}
                               : FloatRange{23, -126, 127};
}

// References from planes; where there is none, the value. Returns how many have ended.
u64 decode(u32 element_bytes, const PlaneLanes& planes, const double* values, double* to, usize count);
void encode(u32 element_bytes, const double* from, PlaneLanes& planes, usize count);

// Lanes as doubles: what the program has, and their references.
void lane_doubles(LaneType type, const LaneBuffer& lanes, u32 count, DoubleLanes& to);

// Rounds to nearest even in a format of such a range, with its subnormals and infinities, behind a factor of 2^scale.
// The array may end behind `count`.
void round_to(FloatRange range, int scale, double* values, usize count);

// Errors of finite values; `errors` are those of total, made, come_in. Returns how many are wrong, and in `worst` a
// lane with the largest total error in ulp.
struct Tally {
  std::array<ErrorSums, 3> errors;
  u64 wrong = 0;
  double worst_ulp = 0;  // of this call
};
void tally(FloatRange range, const double* value, const double* exact, const double* reference, usize count, Tally& to);

// Up to four rows of A, `k` apart, times 16 columns of B, which lie side by side for each k, in ascending k.
struct RowsTimesPanel {
  static constexpr usize kRows = 4;
  const float* a = nullptr;
  const float* b = nullptr;
  usize k = 0, rows = kRows;
  bool exact_products = false;  // in f32
  bool zeros = true;            // products may be zero
};
// Addends other than zero that changed nothing in the sums, and how many there were.
struct Absorbed {
  u64 absorbed = 0, addends = 0;
};
// Adds the products to both, row by row: to `exact` in double, to `sums` in f32 with a rounding each.
Absorbed accumulate(const RowsTimesPanel& job, double* exact, float* sums);
// The same of doubles.
void add_products(const double* a, const double* b, usize k, usize rows, double* c);

enum class Math : u8 { add, sub, mul, div, mul_add, exp, ln, rec, sqrt, rsqrt, abs };  // mul_add: a * b + c
void apply(Math op, const double* a, const double* b, const double* c, double* to, usize count);

}  // namespace vinci::isa::shadow_kernels
