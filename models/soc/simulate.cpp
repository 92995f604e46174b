// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/simulate.h"

#include "models/soc/soc.h"
#include "sim/kernel/context.h"
#include "sim/kernel/run.h"

namespace vinci::models {

Result simulate(const config::ChipConfig& config, const task::TaskStream& stream, task::RunMemory& memory,
                const Options& options) {
  sim::Context context;
  Soc soc(config, stream, memory, options, sim::Clock(config.clock), nullptr);
  sim::Env& env = soc.env();
  std::function<void()> look;
  if (options.progress) {
    look = [&] {
      options.progress({.instructions = env.instructions, .cycles = env.agenda.now(), .fraction = soc.done_fraction()});
    };
  }
  try {
    sim::run(
        env, {.max_cycles = options.max_cycles, .interrupted = options.interrupted}, [&] { return soc.finished(); },
        look);
  } catch (const Error& e) {
    soc.finish_data();  // a fault of what has retired before came first
    if (options.checker != nullptr && e.fault() == Fault::Deadlock) options.checker->finish();
    throw;
  }
  if (options.checker != nullptr) options.checker->finish();
  return soc.take_result();
}

}  // namespace vinci::models
