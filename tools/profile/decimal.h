// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "isa/base/types.h"

namespace vinci::profile {

inline constexpr std::string_view kMissing = "N/A";

// A number with three decimals, "1234.567", or N/A. Prints from integers straight into the buffer: a profile has a
// dozen for each of millions of tasks.
struct Decimal {
  u64 thousandths = 0;
  bool known = true;
};

// A time in nanoseconds as the vendor's files print it: microseconds with three decimals.
constexpr Decimal microseconds(u64 ns) { return {ns}; }
constexpr Decimal microseconds(std::optional<u64> ns) { return {ns.value_or(0), ns.has_value()}; }
// Of a number that is not negative and below 2^53 / 1000; halves are rounded up.
constexpr Decimal decimal(double x) { return {static_cast<u64>(x * 1000 + 0.5)}; }

}  // namespace vinci::profile

template <>
struct fmt::formatter<vinci::profile::Decimal> {
  constexpr auto parse(format_parse_context& ctx) { return ctx.begin(); }
  template <class Context>
  auto format(const vinci::profile::Decimal& d, Context& ctx) const {
    if (!d.known) return std::copy(vinci::profile::kMissing.begin(), vinci::profile::kMissing.end(), ctx.out());
    char text[24];  // from the right
    char* const end = text + sizeof text;
    char* at = end;
    vinci::u64 left = d.thousandths;
    for (int digits = 0; left != 0 || digits < 4; ++digits, left /= 10) {
      if (digits == 3) *--at = '.';
      *--at = static_cast<char>('0' + left % 10);
    }
    return std::copy(at, end, ctx.out());
  }
};
