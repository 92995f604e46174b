// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/simulate.h"

#include "models/soc/chip.h"
#include "sim/kernel/context.h"
#include "sim/kernel/run.h"

namespace vinci::models {
namespace {

PipeTime pipe_time(const Core& core, isa::PipeId pipe, const Occupation& o) {
  PipeTime out{.core = core.name(),
               .pipe = pipe,
               .busy = o.cycles(Doing::busy),
               .idle = o.cycles(Doing::idle),
               .wait_flag = o.cycles(Doing::wait_flag),
               .barrier = o.cycles(Doing::barrier),
               .queue_full = o.cycles(Doing::queue_full),
               .drain = o.cycles(Doing::drain)};
  out.stalled = out.wait_flag + out.barrier + out.queue_full + out.drain;
  return out;
}

}  // namespace

Result simulate(const config::ChipConfig& config, const task::TaskStream& stream, task::RunMemory& memory,
                const Options& options) {
  sim::Context context;
  sim::Env env{.clock = sim::Clock(config.clock), .trace = options.trace};
  stats::Group stats;
  Chip chip(env, config, stream, memory, stats, {.census = options.census, .checker = options.checker});
  const TaskScheduler& scheduler = chip.scheduler();

  std::function<void()> look;
  if (options.progress) {
    look = [&] {
      const auto all = static_cast<double>(std::max<u64>(1, scheduler.all_units()));
      options.progress({.instructions = env.instructions,
                        .cycles = env.clock.now(),
                        .fraction = static_cast<double>(scheduler.done_units()) / all});
    };
  }
  try {
    sim::run(
        env, {.max_cycles = options.max_cycles, .interrupted = options.interrupted},
        [&] { return scheduler.finished(); }, look);
  } catch (const Error& e) {
    if (options.checker != nullptr && e.fault() == Fault::Deadlock) options.checker->finish();
    throw;
  }
  if (options.checker != nullptr) options.checker->finish();

  Result result;
  result.cycles = scheduler.end();
  result.seconds = env.clock.seconds(result.cycles);
  result.instructions = env.instructions;
  for (const auto& core : chip.cores()) {
    core->settle(result.cycles);
    result.pipes.push_back(pipe_time(*core, isa::PipeId::S, core->scalar().occupation()));
    for (usize p = 1; p < isa::kPipeCount; ++p) {
      const auto id = static_cast<isa::PipeId>(p);
      if (const Pipe* pipe = core->pipe(id)) {
        result.pipes.push_back(pipe_time(*core, id, pipe->occupation()));
        if (id == isa::PipeId::M) result.cube_macs += pipe->macs();
      }
    }
  }
  for (const TaskRecord& r : scheduler.records()) {
    result.tasks.push_back({.name = r.name,
                            .kind = std::string(r.kind),
                            .stream = stream.streams[r.stream].name,
                            .blocks = r.blocks,
                            .bytes = r.bytes,
                            .enqueued = r.enqueued,
                            .start = r.start,
                            .end = r.end});
  }
  result.stats = stats::to_json(stats);
  return result;
}

}  // namespace vinci::models
