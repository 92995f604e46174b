// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/float16.h"
#include "isa/table/exec.h"

// The functions of one operand that hardware computes by tables: e^x, ln x, 1/x, sqrt(x), 1/sqrt(x). All are made of
// additions, multiplications, divisions and square roots of the host, each one IEEE 754 operation, so the bits are the
// same on every machine. Subnormal operands and results are kept, a NaN is the canonical one.
//
// Documented (CANN documentation of the vector interfaces): exp, ln and sqrt err by at most one unit of the last place;
// rec and rsqrt miss "double per mille" (f16) and "double per ten thousand" (f32): more than 1 in 1000 (10000) results
// err by more than that. vrec of the largest f32 is 2.938736e-39. Tables and algorithms are not public. Ours:
//   exp, ln, sqrt   correctly rounded, for both values of Precision
//   rec, rsqrt      Precision::high_precision: correctly rounded.
//                   Precision::high_performance: the chord of the function between the ends of the step that x is
//                   in, rounded to nearest even; exact in powers of two (rsqrt: of four). 16 steps from 1 to 2 (rec),
//                   8 steps from 1 to 2 and 8 from 2 to 4 (rsqrt). The chord is never below the function, and before
//                   the last rounding its relative error is at most
//                   kRecError, kRsqrtError.
// Special operands as IEEE 754-2019 has them: exp(-inf) = +0; ln(+-0) = -inf, ln(x < 0) = NaN; rec(+-0) = +-inf,
// rec(+-inf) = +-0; sqrt(-0) = -0, sqrt(x < 0) = NaN; rsqrt(+-0) = +-inf, rsqrt(inf) = +0, rsqrt(x < 0) = NaN.
namespace vinci::isa {

inline constexpr double kRecError = 1.0 / 1088;  // 9.2e-4
inline constexpr double kRsqrtError = 1.302e-3;

u16 f16_exp(u16 x);
u16 f16_ln(u16 x);
u16 f16_sqrt(u16 x);
u16 f16_rec(u16 x, Precision precision);
u16 f16_rsqrt(u16 x, Precision precision);

u32 f32_exp(u32 x);
u32 f32_ln(u32 x);
u32 f32_sqrt(u32 x);
u32 f32_rec(u32 x, Precision precision);
u32 f32_rsqrt(u32 x, Precision precision);

}  // namespace vinci::isa
