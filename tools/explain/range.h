// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "sim/config/ranges.h"
#include "tools/explain/explain.h"

// How far off the time of a run may be by what its chip assumes (docs/explain.md).
namespace vinci::explain {

// The times of one simulation, in cycles.
struct Times {
  u64 kernels = 0;  // in which kernels ran, without their cold starts
  u64 all = 0;      // the whole run

  friend bool operator==(const Times&, const Times&) = default;
};

// An assumed cost, and the times with its smallest and its largest value, all others as they are.
struct Contribution {
  config::AssumedCost cost;
  Times low, high;
};

struct TimeRange {
  Times as_is;
  Times low, high;                          // with all of them at their smallest, or at their largest
  std::vector<Contribution> contributions;  // that change a time, the largest first
  std::vector<std::string> without_effect;  // keys of the others
};

// Simulates again with each assumed cost of the chip at both ends of its range, `jobs` simulations at a time, each in a
// process of its own; 1: in this one. Of a recording `core.scalar.api` and `core.scalar.code` change its nop.
TimeRange time_range(const config::ChipConfig& chip, const task::TaskStream& stream, const Options& options,
                     unsigned jobs);

// For terminals.
std::string range_text(const TimeRange& range, double hertz);
// range.json.
std::string range_json(const TimeRange& range, double hertz);

}  // namespace vinci::explain
