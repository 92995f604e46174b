// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "isa/machine/waits.h"
#include "sim/kernel/agenda.h"
#include "sim/trace/trace.h"

namespace vinci::sim {

// What every part of one simulation shares; passed down, so that two chips can live in one process.
struct Env {
  Clock clock;
  trace::Sink* trace = nullptr;   // null: there is no trace
  u64 instructions = 0;           // that have been issued, scalar ones included
  u64 changes = 0;                // acts of modules; of scalar units, what they do besides scalar work
  bool alone = false;             // nothing but these modules lives in the simulation
  std::exception_ptr error = {};  // the first exception that left a process; the run rethrows it with its type
  Agenda agenda{clock};
  // Called when no module waits to be woken any more, and when an error is kept: what else goes on in the simulation
  // does not matter to these modules.
  std::function<void()> quiet = {};
  // Adds what waits, or where it is, for the reports of deadlocks and limits; in order of construction.
  std::vector<std::function<void(Waits&)>> waiters = {};
  // What may still happen where nothing moves any more, before that is a deadlock; false: nothing does.
  std::vector<std::function<bool()>> last_resorts = {};
};

}  // namespace vinci::sim
