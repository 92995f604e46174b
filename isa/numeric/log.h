// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/float16.h"

// The natural logarithm from additions and multiplications only: no libm, so the bits do not depend on its version.
namespace vinci::isa {

// ln x of a positive finite f32 or f16, as a double rounded to odd (isa/numeric/odd.h).
//
// Rounded once more it is correctly rounded. Every f32 was run once: the 482 results within 2^-46 of a tie were
// compared with MPFR (no difference), and the nearest one is 2^-57.8 away, far more than the error here.
double log_to_odd(double x);

}  // namespace vinci::isa
