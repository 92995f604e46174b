// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/exp.h"

#include <algorithm>
#include <cmath>

#include "isa/numeric/exp_table.h"
#include "isa/numeric/odd.h"

namespace vinci::isa {

double exp_to_odd(double x) {
  using namespace exp_table;
  x = std::clamp(x, -200.0, 200.0);
  const int k = static_cast<int>(x * kInverse + std::copysign(0.5, x));
  // r = x - k * ln2 / 32 in two parts: the first difference is exact, the second is kept with its error.
  const double r_high = x - k * kLn2High;
  const double correction = k * kLn2Low;
  const double r = r_high - correction;
  const double r_low = (r_high - r) - correction;
  // e^r - 1 - r; the first term left out, r^8 / 8!, is below 2^-67.
  const double tail =
      r * r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040))))));
  const Power& p = kPowers[static_cast<usize>(k & (kSteps - 1))];
  const double rest = p.low + p.high * (r + (tail + r_low));
  // The sum high + low carries about 58 bits, and its scaling by a power of two is exact.
  const double high = p.high + rest;
  const double low = rest - (high - p.high);
  return join_to_odd(high, low) * power_of_two((k - (k & (kSteps - 1))) / kSteps);
}

}  // namespace vinci::isa
