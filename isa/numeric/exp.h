// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/float16.h"

// e^x from additions and multiplications only: no libm, so the bits do not depend on its version.
namespace vinci::isa {

// e^x for x not NaN, as a double whose last bit says "inexact" (rounded to odd), so that a second rounding to f32 or
// f16 gives what one rounding of the exact value would give. |x| > 200 is cut off, far beyond what f32 can hold.
double exp_to_odd(double x);

// Correctly rounded e^x as bits, to nearest even: NaN stays NaN, e^-inf = +0, e^inf = inf. The unit test compares every
// f16 with MPFR. Every f32 from 2^-31 up was run once (below, e^x rounds to 1): results within 2^-47 of a rounding
// boundary were compared with MPFR (290 thousand, no difference), and the nearest one is 2^-50 away, far more than the
// error here.
u32 f32_exp(u32 bits);
u16 f16_exp(u16 bits);

}  // namespace vinci::isa
