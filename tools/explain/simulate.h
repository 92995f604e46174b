// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <utility>

#include "isa/base/error.h"
#include "sim/task/run_memory.h"
#include "tools/explain/explain.h"

namespace vinci::explain {

inline models::Result simulate(const config::ChipConfig& chip, const task::TaskStream& stream, const Options& o,
                               bool with_data, models::CauseSink* causes, models::TaskSink* tasks) {
  task::RunMemory memory(stream, with_data, o.seed);
  return models::simulate(chip, stream, memory,
                          {.max_cycles = o.max_cycles, .interrupted = o.interrupted, .tasks = tasks, .causes = causes});
}

// Calls attempt(with_data): without data where that is possible, which is faster. A program that computes with loaded
// data needs them.
template <class F>
void simulate_fastest(const Options& o, F&& attempt) {
  try {
    attempt(false);
  } catch (const Error& e) {
    if (e.fault() != Fault::Unsupported || !o.data) throw;
    attempt(true);
  }
}

}  // namespace vinci::explain
