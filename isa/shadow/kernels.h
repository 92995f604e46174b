// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>

#include "isa/shadow/shadow.h"

// The loops of shadow execution over lanes, in vector code chosen at run time. `count` is at most kShadowLanes; arrays
// have room for that many, and what follows `count` has no effect.
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
u64 decode(u32 element_bytes, const PlanesFrom& planes, const double* values, double* to, usize count);
void encode(u32 element_bytes, const double* from, const PlanesTo& planes, usize count);

// Lanes as doubles: what the program has, and their references.
void lane_doubles(LaneType type, const LaneBuffer& lanes, u32 count, DoubleLanes& to);

// Rounds to nearest even in a format of such a range, with its subnormals and infinities, behind a factor of 2^scale.
// The array may end behind `count`.
void round_to(FloatRange range, int scale, double* values, usize count);

// References from which on an error has a relative one, so that its square is finite.
inline constexpr double kLeastRelative = 0x1p-300;
// Errors of finite values; `errors` are those of total, made, come_in. Returns how many are wrong, and in `worst` a
// lane with the largest total error in ulp.
struct Tally {
  std::array<ErrorSums, 3> errors;
  u64 wrong = 0;
  double worst_ulp = 0;  // of this call
};
void tally(FloatRange range, const double* value, const double* exact, const double* reference, usize count, Tally& to);

// Up to four rows of A, `k` apart, times 16 columns of B, which are side by side for each k, in ascending k.
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

// Sums x + y, and what they are exactly and by the references.
struct Sums {
  const double* x;
  const double* y;
  const double* exact;
  const double* reference;
};
// Sums that lost at least half of their bits, and whose operands had errors: more than an ulp comes in.
u64 cancellations(FloatRange range, const Sums& sums, usize count);

// Decisions follow the simulated values; where these are equal, the references. They return how many the references
// would take otherwise.

// Two operands, and their references.
struct Terms {
  const double* a;
  const double* b;
  const double* ra;
  const double* rb;
};
// relu of what was computed, in place.
u64 keep_positive(double* exact, double* reference, usize count);
// a, or a * b where a is negative.
u64 scale_negative(const Terms& v, double* exact, double* reference, usize count);
// The larger or the smaller of a and b.
u64 choose(bool largest, const Terms& v, double* exact, double* reference, usize count);

// Repeats of an operation on floats of one type whose lanes are side by side: what the program has, and where the words
// of their references are.
struct RepeatsJob {
  const Repeats& values;  // with the results
  // Of the first repeat; nothing: values are their own references.
  std::optional<PlanesFrom> a = std::nullopt, b = std::nullopt;
  usize a_stride = 0, b_stride = 0;  // bytes
  PlanesTo out;                      // repeats are as far apart as the results
};
struct RepeatsResult {
  bool finite = true;  // all errors are; if not, `tally` is empty
  Tally tally;
  u64 restarted = 0, decided = 0, cancelled = 0;
};
// Computes the references, and stores them block by block; null where there is no such function.
using RepeatsFunction = void (*)(const RepeatsJob& job, RepeatsResult& result);
RepeatsFunction repeats_function(BinaryOp op, LaneType type);

enum class Math : u8 { add, sub, mul, div, mul_add, exp, ln, rec, sqrt, rsqrt, abs };  // mul_add: a * b + c
void apply(Math op, const double* a, const double* b, const double* c, double* to, usize count);

}  // namespace vinci::isa::shadow_kernels
