// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "models/soc/simulate.h"
#include "tools/explain/explanation.h"

namespace vinci::explain {

struct Options {
  u64 seed = 0;
  bool data = true;  // may be simulated with data, where programs depend on them
  u64 max_cycles = std::numeric_limits<u64>::max();
  u32 limits = 4;   // costs that are simulated again without them; 0: none
  u32 kernels = 5;  // of the names that take longest, whose costs these are
  std::function<bool()> interrupted = {};
  std::function<void(std::string_view)> progress = {};  // "without MTE2"
};

// Simulates a task stream and explains its kernels. Time alone where control flow does not depend on data.
Explanation explain(const config::ChipConfig& chip, const task::TaskStream& stream, const Options& options);
// Adds to what a collector has found what the time of the slowest launches would be without their largest costs.
void add_limits(Explanation& explanation, const config::ChipConfig& chip, const task::TaskStream& stream,
                const Options& options);

// For terminals: the first `kernels` names. Times are warm, with the cold start next to them; `cold`: they contain it.
std::string to_text(const Explanation& explanation, double hertz, usize kernels = 5, bool cold = false);
// explain.json.
std::string to_json(const Explanation& explanation, double hertz);

// "limited by MTE2, 61.2 % of its time: copies from ...; without it at most 12.1 us"
std::string limit_sentence(const KernelExplanation& kernel, double hertz);

}  // namespace vinci::explain
