// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/chip.h"

namespace vinci::models {

Chip::Chip(sim::Env& env, const config::ChipConfig& config, const task::TaskStream& stream, task::RunMemory& memory,
           stats::Group& stats, const Observers& observers)
    : costs_(config.core),
      memory_(config.memory, config.clock, stats),
      cross_(env, whole_cycles(config.core.scalar.cross_core.tail)) {
  check_fit(config, stream);
  stats::Group& device = stats.group("device");
  stats::Group& host = stats.group("host");
  const Core::Setup setup{.env = env,
                          .chip = config,
                          .costs = costs_,
                          .memory = memory_,
                          .cross = cross_,
                          .gm = memory.gm(),
                          .stats = stats,
                          .with_data = memory.with_data(),
                          .census = observers.census,
                          .checker = observers.checker};
  const bool split = config.vector_cores > 0;
  for (u32 i = 0; i < config.ai_cores; ++i) {
    cores_.push_back(std::make_unique<Core>(setup, split ? isa::CoreKind::cube : isa::CoreKind::joint, i));
  }
  for (u32 i = 0; i < config.vector_cores; ++i) {
    cores_.push_back(std::make_unique<Core>(setup, isa::CoreKind::vector, i));
  }
  std::vector<Core*> all;
  for (const auto& core : cores_)
    all.push_back(core.get());
  cross_.connect(all);
  scheduler_ = std::make_unique<TaskScheduler>(env, config, stream, memory, std::move(all), device, observers.checker);
  host_ = std::make_unique<Host>(env, config, stream, *scheduler_, host);
}

}  // namespace vinci::models
