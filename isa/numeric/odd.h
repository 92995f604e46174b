// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <bit>

#include "isa/base/types.h"

// Results in binary64 whose last bit says "inexact" (round to odd): a second rounding to binary32 or less gives what
// one rounding of the exact value would give, because 53 >= 24 + 2 (Boldo, Melquiond: Emulation of FMA and Correctly
// Rounded Sums). Additions and multiplications of the host only, each one IEEE 754 operation.
namespace vinci::isa {

// high + low rounded to odd; |low| is at most half of the last bit of high, and high is finite and not zero.
inline double join_to_odd(double high, double low) {
  const i64 bits = std::bit_cast<i64>(high);
  const i64 away = static_cast<i64>(low > 0) - static_cast<i64>(low < 0);
  return std::bit_cast<double>(bits + (~bits & 1) * (bits < 0 ? -away : away));
}

// a + b rounded to odd.
inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!(sum - sum == 0)) return sum;  // infinite or NaN
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  return error == 0 ? sum : join_to_odd(sum, error);
}

// 2^n, for -1022 <= n <= 1023.
inline double power_of_two(int n) { return std::bit_cast<double>(static_cast<u64>(1023 + n) << 52); }

}  // namespace vinci::isa
