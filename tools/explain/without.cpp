// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/explain/without.h"

namespace vinci::explain {
namespace {

using models::CostKind;

constexpr double kEndless = 1e18;  // bytes a second

// An instruction takes the one cycle that each takes at least.
void make_free(config::ChipConfig& chip, const std::set<std::string>& instructions) {
  auto& lines = chip.core.instructions;
  for (const std::string& name : instructions) {
    std::erase_if(lines, [&](const auto& line) { return line.first.starts_with(name + "."); });
    lines[name] = config::CostLine{};
  }
}

}  // namespace

std::optional<config::ChipConfig> without(const config::ChipConfig& chip, CostKind kind,
                                          const std::set<std::string>& instructions) {
  config::ChipConfig out = chip;
  config::SchedulerConfig& s = out.scheduler;
  config::CostLine &sync = out.core.line("scalar.sync"_cost), &cross_core = out.core.line("scalar.cross_core"_cost);
  config::MemoryConfig& m = out.memory;
  const config::Seconds none(0);
  switch (kind) {
    case CostKind::launch:
      s.task_start = s.task_completion = s.block_dispatch = s.block_interval = s.mix_block_interval = none;
      break;
    case CostKind::cold_start: s.first_start = s.first_start_per_core = none; break;
    case CostKind::program_start: s.program_start = none; break;
    case CostKind::scalar_load:
      out.core.line("scalar.load"_cost) = out.core.line("scalar.store"_cost) = config::CostLine{};
      break;
    case CostKind::issue: sync = config::CostLine{.tail = sync.tail}; break;
    case CostKind::cube:
    case CostKind::vector:
    case CostKind::mte1:
    case CostKind::mte2:
    case CostKind::mte3:
    case CostKind::fixpipe: make_free(out, instructions); break;
    case CostKind::l2:
      m.noc.latency = config::Cycles(0);
      m.l2.hit_latency = config::Cycles(0);
      break;
    case CostKind::l2_busy:
      m.l2.slice_read = m.l2.slice_write = config::BytesPerCycle(0);
      m.l2.atomic = config::Cycles(0);
      break;
    case CostKind::hbm_latency: m.hbm.latency = config::Cycles(0); break;
    case CostKind::hbm_busy:
      m.hbm.bandwidth = config::BytesPerSecond(kEndless);
      m.hbm.activate = m.hbm.precharge = m.hbm.turn_around = m.hbm.refresh_time = none;
      m.l2.fetches = 1 << 12;
      break;
    case CostKind::port: m.noc.port_read = m.noc.port_write = config::BytesPerCycle(0); break;
    case CostKind::flag: sync.tail = 0; break;
    case CostKind::cross_core_flag:
      cross_core.tail = 0;
      s.cross_core_flag = none;
      break;
    // What recordings charge for scalar code is in the program, not in the chip.
    case CostKind::scalar:
    case CostKind::other_kernel:
    case CostKind::opaque:
    case CostKind::other: return std::nullopt;
  }
  return out;
}

}  // namespace vinci::explain
