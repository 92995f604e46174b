// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cmath>

#include "isa/base/error.h"
#include "isa/base/types.h"
#include "sim/kernel/systemc.h"

namespace vinci::sim {

// The one clock of a chip: simulated time is counted in its cycles. A period is a whole number of femtoseconds, which
// is the time resolution, so that converting back and forth is exact. Cycle 0 begins at `epoch`.
class Clock {
 public:
  explicit Clock(double hertz, const sc_core::sc_time& epoch = sc_core::SC_ZERO_TIME)
      : hertz_(hertz),
        period_fs_(static_cast<u64>(std::llround(1e15 / hertz))),
        last_(~u64{0} / 2 / period_fs_),
        epoch_(epoch) {}

  u64 now() const { return cycle_of(sc_core::sc_time_stamp()); }
  u64 cycle_of(const sc_core::sc_time& t) const { return (t - epoch_).value() / period_fs_; }
  sc_core::sc_time begin_of(u64 cycle) const { return epoch_ + cycles(cycle); }
  // The last cycle that it counts, after 9,223 seconds: half of what 64 bits of femtoseconds can count.
  u64 last() const { return last_; }
  // Throws Fault::Limit beyond the last cycle.
  void check(u64 cycle) const {
    if (cycle > last_) fail(Fault::Limit, "the simulated time leaves 9,223 seconds");
  }
  sc_core::sc_time cycles(u64 n) const {
    check(n);
    return sc_core::sc_time::from_value(n * period_fs_);
  }

  double hertz() const { return hertz_; }
  double seconds(u64 n) const { return static_cast<double>(n) / hertz_; }
  // Cycles that cover a duration.
  u64 cover(double seconds) const { return static_cast<u64>(std::ceil(seconds * hertz_ - 1e-9)); }

 private:
  double hertz_;
  u64 period_fs_;
  u64 last_;
  sc_core::sc_time epoch_;
};

}  // namespace vinci::sim
