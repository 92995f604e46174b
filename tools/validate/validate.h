// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/validate/case.h"

// Runs published measurements and says how far the simulator is off.
namespace vinci::validate {

struct Options {
  u64 sample = 0;                      // of a longer curve only so many points, evenly spread; 0: all
  std::string only;                    // cases whose id contains this
  std::vector<std::string> overrides;  // of every chip, on top of those of the cases
  unsigned jobs = 1;                   // processes
  // Hears now and then how many of all points have been begun.
  std::function<void(usize begun, usize all)> progress = {};
};

// One measured value and the simulated one.
struct Outcome {
  const Case* of = nullptr;
  usize point = 0;
  std::string metric;
  double measured = 0, simulated = 0;
  std::string fault;  // why there is no simulated value

  // Relative, in percent, with its sign.
  double error() const { return 100 * (simulated - measured) / measured; }
  // The case, and the parameters that are swept.
  std::string name() const;
};

struct RatioOutcome {
  const Ratio* of = nullptr;
  double measured = 0, simulated = 0;

  // Of 1; where the variants were measured to take the same time, there is no wrong side.
  bool same_side() const { return measured == 1 || (measured < 1) == (simulated < 1); }
  double error() const { return 100 * (simulated - measured) / measured; }
};

struct GroupOutcome {
  const Group* of = nullptr;
  std::vector<Outcome> values;
  std::vector<RatioOutcome> ratios;  // of cases that ran
};

// The mean and the largest of absolute errors, in percent.
struct Errors {
  usize count = 0;
  double mean = 0, worst = 0;
  const Outcome* at = nullptr;  // of the worst
};
// Of one metric; the first `skip` points of each curve are left out.
Errors errors(const GroupOutcome& group, std::string_view metric, u64 skip = 0);

// With the overrides of the case, and then these. What is wrong with the case's own is named with its line.
config::ChipConfig load_chip(const Case& c, const std::vector<std::string>& overrides);

// The groups live as long as the outcome.
std::vector<GroupOutcome> run(const std::vector<Group>& groups, const Options& options);

// Every value could be simulated, and the targets hold; or, for `gates`, the mean errors are within the gates.
bool holds_targets(const std::vector<GroupOutcome>& groups);
bool holds_gates(const std::vector<GroupOutcome>& groups);

}  // namespace vinci::validate
