// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/base/types.h"

namespace vinci::config {

// A number with a unit: implicit as a number, explicit to make, so that a size never lands where a rate belongs.
template <class Tag, class Rep>
struct Quantity {
  Rep value{};

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep v) : value(v) {}
  constexpr operator Rep() const { return value; }  // NOLINT(google-explicit-constructor)
  friend constexpr bool operator==(const Quantity&, const Quantity&) = default;
};

using Bytes = Quantity<struct BytesTag, u64>;                       // 512KiB
using Hertz = Quantity<struct HertzTag, double>;                    // 1.85GHz
using BytesPerCycle = Quantity<struct BytesPerCycleTag, double>;    // 256B/cycle
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;  // 1.8TB/s; 1 GB/s is 1e9 B/s
using Seconds = Quantity<struct SecondsTag, double>;                // 2.5us
using Share = Quantity<struct ShareTag, double>;                    // 0.5
using Cycles = Quantity<struct CyclesTag, u64>;                     // 170, of the core clock

}  // namespace vinci::config
