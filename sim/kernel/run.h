// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <limits>

#include "sim/kernel/env.h"

namespace vinci::sim {

struct Limits {
  u64 max_cycles = std::numeric_limits<u64>::max();
  std::function<bool()> interrupted = {};  // asked from time to time; true ends the run with Fault::Limit
};

// Runs the modules of the present context until nothing is left to happen, or until one of them pauses the agenda;
// after Agenda::resume() another call goes on. When nothing is left, either `finished` holds, or everything waits for
// something that never comes: Fault::Deadlock, with a line for each waiter. Errors of processes are rethrown with their
// type; a limit that is reached is Fault::Limit. `look` is called from time to time, for progress.
void run(Env& env, const Limits& limits, const std::function<bool()>& finished, const std::function<void()>& look);

// Throws the Fault::Deadlock of run(), for who runs modules as a part of a larger simulation.
[[noreturn]] void report_deadlock(const Env& env);

// Nothing moves any more: whether something happens all the same (Env::last_resorts). Throws what that may throw.
bool go_on_anyway(Env& env);

}  // namespace vinci::sim
