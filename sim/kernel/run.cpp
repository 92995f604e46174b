// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/run.h"

#include <algorithm>
#include <chrono>

#include "isa/base/error.h"

namespace vinci::sim {
namespace {

Waits all_waits(const Env& env) {
  Waits out;
  for (const auto& ask : env.waiters)
    ask(out);
  return out;
}

[[noreturn]] void report_limit(const Env& env, u64 max_cycles) {
  throw Error(Fault::Limit, below(fmt::format("the limit of {} cycles is reached ({:.3f} us simulated)", max_cycles,
                                              env.clock.seconds(max_cycles) * 1e6),
                                  all_waits(env).text()));
}

}  // namespace

bool go_on_anyway(Env& env) {
  return std::ranges::any_of(env.last_resorts, [](const auto& resort) { return resort(); });
}

void report_deadlock(const Env& env) {
  const Waits waits = all_waits(env);
  u64 now = env.agenda.now();
  for (const auto& unit : waits.units)
    now = std::max(now, unit.since.value_or(0));  // a unit may have gone on ahead of the clock until it had to wait
  throw deadlock(waits, now);
}

void run(Env& env, const Limits& limits, const std::function<bool()>& finished, const std::function<void()>& look) {
  using WallClock = std::chrono::steady_clock;
  // Simulated time goes on in slices, only so that limits and progress are looked at; how long a slice is changes
  // nothing in the simulation.
  u64 slice = 10'000;
  env.agenda.pause_when(limits.interrupted);
  env.alone = true;
  while (sc_core::sc_pending_activity() || (!finished() && go_on_anyway(env))) {
    const u64 now = env.agenda.now();
    if (now >= limits.max_cycles) {
      if (finished()) return;  // no task waits for what is pending
      report_limit(env, limits.max_cycles);
    }
    const auto before = WallClock::now();
    const u64 next = std::min(now + std::min(slice, limits.max_cycles - now), env.clock.last());
    const sc_core::sc_time end =
        std::max(env.clock.begin_of(next), sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity());
    env.agenda.run_ahead_to(env.clock.cycle_of(end));
    sc_core::sc_start(end - sc_core::sc_time_stamp(), sc_core::SC_EXIT_ON_STARVATION);
    if (env.error) std::rethrow_exception(env.error);
    if (env.agenda.paused()) return;
    const auto took = WallClock::now() - before;
    if (took < std::chrono::milliseconds(20)) slice = std::min<u64>(slice * 2, 1'000'000'000);
    if (took > std::chrono::milliseconds(80)) slice = std::max<u64>(slice / 2, 1'000);
    if (limits.interrupted && limits.interrupted()) {
      fail(Fault::Limit, "interrupted at cycle {}", env.agenda.now());
    }
    if (look) look();
  }
  if (!finished()) report_deadlock(env);
}

}  // namespace vinci::sim
