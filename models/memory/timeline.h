// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <cmath>

#include "isa/base/types.h"

namespace vinci::models {

// Time inside the memory system, in 1/1024 of a cycle: rates such as 30.4 bytes a cycle stay exact enough, and integers
// keep results the same everywhere.
inline constexpr u64 kTicksPerCycle = 1024;
constexpr u64 to_ticks(u64 cycles) { return cycles * kTicksPerCycle; }
constexpr u64 to_cycles(u64 ticks) { return (ticks + kTicksPerCycle - 1) / kTicksPerCycle; }
inline u64 ticks_per(double units, double units_per_cycle) {
  return static_cast<u64>(std::llround(units / units_per_cycle * kTicksPerCycle));
}
// A duration, for a clock of `hertz`.
inline u64 ticks_of(double seconds, double hertz) { return ticks_per(seconds * hertz, 1); }

// How long so many bytes take; most requests are whole lines, whose time is known.
class Rate {
 public:
  Rate(double ticks_per_byte, u64 line_bytes)
      : ticks_per_byte_(ticks_per_byte), line_bytes_(line_bytes), line_ticks_(rounded(line_bytes)) {}

  u64 ticks(u64 bytes) const { return bytes == line_bytes_ ? line_ticks_ : rounded(bytes); }

 private:
  // By way of signed numbers, which the host's floating-point unit knows.
  u64 rounded(u64 bytes) const {
    return static_cast<u64>(static_cast<i64>(static_cast<double>(static_cast<i64>(bytes)) * ticks_per_byte_ + 0.5));
  }

  double ticks_per_byte_;
  u64 line_bytes_, line_ticks_;
};

// A server that serves one request after the other, in the order in which they are made. Pure numbers.
class Timeline {
 public:
  // Serves for `length` from `now` or from when it is free; returns when the service ends.
  u64 reserve(u64 now, u64 length) {
    free_ = std::max(now, free_) + length;
    return free_;
  }

  u64 free_at() const { return free_; }
  void reserve_until(u64 at) { free_ = std::max(free_, at); }

 private:
  u64 free_ = 0;
};

}  // namespace vinci::models
