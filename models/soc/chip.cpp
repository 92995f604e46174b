// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/chip.h"

#include "sim/task/run_memory.h"

namespace vinci::models {

Chip::Chip(sim::Env& env, const config::ChipConfig& config, stats::Group& stats, const std::string& name,
           const DramFactory& dram)
    : env_(env),
      config_(config::in_core_cycles(config)),
      stats_(stats),
      name_(name),
      costs_(config_.core),
      memory_(config_.memory, config_.clock, config_.ai_cores + config_.vector_cores, stats, dram),
      cross_(env, whole_cycles(config_.core.line("scalar.cross_core"_cost).tail),
             ticks_of(config_.scheduler.cross_core_flag, config_.clock)),
      resolved_{ResolvedTable(costs_, config_.arch), ResolvedTable(costs_, config_.arch),
                ResolvedTable(costs_, config_.arch)} {
  stats.group("device");  // before the cores, because reports show counters in this order
}

void Chip::build_cores(task::RunMemory& memory, const Observers& observers, ThreadPool& pool,
                       DeferredAccesses& accesses) {
  const Core::Setup setup{.env = env_,
                          .chip = config_,
                          .costs = costs_,
                          .memory = memory_,
                          .cross = cross_,
                          .resolved = resolved_,
                          .gm = memory.gm(),
                          .stats = stats_,
                          .with_data = memory.with_data(),
                          .census = observers.census,
                          .checker = observers.checker,
                          .pool = pool,
                          .accesses = accesses,
                          .chip_name = name_};
  const bool split = config_.vector_cores > 0;
  for (u32 i = 0; i < config_.ai_cores; ++i) {
    cores_.push_back(std::make_unique<Core>(setup, split ? isa::CoreKind::cube : isa::CoreKind::joint, i));
  }
  for (u32 i = 0; i < config_.vector_cores; ++i) {
    cores_.push_back(std::make_unique<Core>(setup, isa::CoreKind::vector, i));
  }
  std::vector<CrossCore::Party*> parties;
  for (const auto& core : cores_)
    parties.push_back(&core->cross_core_party());
  cross_.connect(std::move(parties));
}

bool Chip::at_rest(u64 cycle) const { return memory_.at_rest(cycle) && cross_.ffts().free_at() <= to_ticks(cycle); }

std::vector<stats::Group*> Chip::launch_counters() {
  std::vector<stats::Group*> out;
  for (const char* part : {"l2", "hbm"})  // "noc" shows numbers of "l2"
    out.push_back(&stats_.group(part));
  for (const auto& core : cores_)
    out.push_back(&stats_.group(core->counters()));
  return out;
}

std::vector<Core*> Chip::all_cores() const {
  std::vector<Core*> out;
  for (const auto& core : cores_)
    out.push_back(core.get());
  return out;
}

}  // namespace vinci::models
