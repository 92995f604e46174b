// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/float16.h"

// e^x from additions and multiplications only: no libm, so the bits do not depend on its version.
namespace vinci::isa {

// e^x for x not NaN, as a double rounded to odd (isa/numeric/odd.h). |x| > 200 is cut off, far beyond what f32 can
// hold.
//
// Rounded once more it is correctly rounded. The unit test compares every f16 with MPFR. Every f32 from 2^-31 up was
// run once (below, e^x rounds to 1): results within 2^-47 of a rounding boundary were compared with MPFR (290 thousand,
// no difference), and the nearest one is 2^-50 away, far more than the error here.
double exp_to_odd(double x);

}  // namespace vinci::isa
