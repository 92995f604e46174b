// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/log.h"

#include "isa/numeric/log_table.h"
#include "isa/numeric/odd.h"

namespace vinci::isa {
double log_to_odd(double x) {
  using namespace log_table;
  const u64 bits = std::bit_cast<u64>(x);
  const usize j = bits >> 45 & (kSteps - 1);
  const int halved = j >= kFirstHalved ? 1 : 0;
  const int k = static_cast<int>(bits >> 52) - 1023 + halved;
  const double m = std::bit_cast<double>((bits & 0xfffffffffffff) | static_cast<u64>(1023 - halved) << 52);
  const Step& step = kTable[j];
  const double r = m * (step.inverse * kInverseUnit) - 1;
  // |r| <= 2^-7 is a multiple of 2^-33: r^2 is exact. The first term left out, r^11 / 11, is below 2^-73 * |r|.
  const double square = r * r;
  const double tail =
      square * r *
      (1.0 / 3 -
       r * (1.0 / 4 - r * (1.0 / 5 - r * (1.0 / 6 - r * (1.0 / 7 - r * (1.0 / 8 - r * (1.0 / 9 - r * (1.0 / 10))))))));
  const double u = r - square / 2;
  const double u_low = (r - u) - square / 2;
  const double a = k * kLn2High + step.high;
  const double rest = tail + (u_low + (k * kLn2Low + step.low));
  // Either a is 0, or it is the larger one.
  const double s = a + u;
  const double s_low = a == 0 ? 0 : (a - s) + u;
  const double high = s + (s_low + rest);
  const double low = (s - high) + (s_low + rest);
  return high == 0 ? 0 : join_to_odd(high, low);
}

}  // namespace vinci::isa
