// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "isa/builder/program_builder.h"
#include "models/soc/simulate.h"

// What families run: a task stream in mode timing, and loops as benchmarks of single instructions have them.
namespace vinci::validate {

// A run with a record of each of its tasks, in the order in which they ended.
struct TimedRun {
  task::TaskStream stream;  // the records name its tasks
  models::Result result;
  std::vector<models::TaskRecord> records;
  double hertz = 0;

  double us(u64 cycles) const { return static_cast<double>(cycles) / hertz * 1e6; }
};
TimedRun run_timed(const config::ChipConfig& chip, task::TaskStream stream,
                   u64 max_cycles = std::numeric_limits<u64>::max());

// A benchmark of one instruction: `setup` once, then `body` again and again, on one core or at once on several.
struct Loop {
  // Writes instructions; `data` has the address of a buffer in global memory.
  using Write = std::function<void(isa::ProgramBuilder& p, isa::Reg data)>;

  bool cube = false;    // on a cube core where these are apart
  u64 gm_bytes = 1024;  // of the buffer
  Write setup = {};     // may be null
  Write body;
  u32 instructions = 1;  // that are measured in `body`
  u32 cores = 1;
};
// Cycles that each instruction adds when many go back to back: the difference of a long and of a short run, so that
// nothing which happens once counts.
double steady_cycles(const config::ChipConfig& chip, const Loop& loop);

}  // namespace vinci::validate
