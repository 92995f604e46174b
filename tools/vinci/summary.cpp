// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/summary.h"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "sim/config/load.h"

namespace vinci::cli {
namespace {

constexpr usize kShownTasks = 30;

double percent(u64 part, u64 whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string tasks(const models::Result& r, double hertz) {
  const auto us = [&](u64 cycles) { return static_cast<double>(cycles) / hertz * 1e6; };
  std::string out = fmt::format("\n{:<24} {:<18} {:<10} {:>7} {:>13} {:>13}\n", "task", "type", "stream", "blocks",
                                "start(us)", "duration(us)");
  usize shown = 0;
  for (const models::TaskTime& t : r.tasks) {
    if (shown++ == kShownTasks) {
      out += fmt::format("... and {} more (all of them in stats.json)\n", r.tasks.size() - kShownTasks);
      break;
    }
    out += fmt::format("{:<24} {:<18} {:<10} {:>7} {:>13.3f} {:>13.3f}\n", t.name, t.kind, t.stream, t.blocks,
                       us(t.start), us(t.end - t.start));
  }
  return out;
}

// Busy, stalled and idle of each pipe over the time in which kernels ran, averaged over the cores that had a block.
std::string pipes(const models::Result& r, u64 kernel_cycles) {
  struct Sum {
    u64 cores = 0, busy = 0, stalled = 0;
  };
  std::map<std::pair<std::string, isa::PipeId>, Sum> sums;  // by core kind and pipe
  std::map<std::string, bool> used;
  for (const models::PipeTime& p : r.pipes)
    used[p.core] |= p.busy > 0;
  for (const models::PipeTime& p : r.pipes) {
    if (!used[p.core]) continue;
    Sum& s = sums[{p.core.substr(p.core.find('.') + 1), p.pipe}];
    ++s.cores;
    s.busy += p.busy;
    s.stalled += p.stalled;
  }
  std::string out = fmt::format(
      "\npipe utilisation while kernels run ({} cycles), mean of the cores that had work\n{:<12} {:>6} {:>8} {:>10} "
      "{:>8}\n",
      kernel_cycles, "pipe", "cores", "busy %", "stalled %", "idle %");
  for (const auto& [key, s] : sums) {
    const u64 whole = kernel_cycles * s.cores;
    out += fmt::format("{:<12} {:>6} {:>8.1f} {:>10.1f} {:>8.1f}\n",
                       key.first + "." + std::string(isa::name(key.second)), s.cores, percent(s.busy, whole),
                       percent(s.stalled, whole), percent(whole - std::min(whole, s.busy + s.stalled), whole));
  }
  return out;
}

}  // namespace

std::string summary(const config::ChipConfig& chip, const task::TaskStream& stream, const models::Result& r,
                    std::string_view mode) {
  u64 kernel_cycles = 0;
  for (const models::TaskTime& t : r.tasks) {
    if (t.kind.starts_with("KERNEL")) kernel_cycles += t.end - t.start;
  }
  std::string out = fmt::format("{} on {} ({}), mode {}\n\n", stream.name, chip.name, chip.product, mode);
  out += fmt::format("simulated time      {:.3f} us, {} cycles of {:g} GHz\n", r.seconds * 1e6, r.cycles,
                     chip.clock / 1e9);
  out += fmt::format("kernels             {:.3f} us\n", static_cast<double>(kernel_cycles) / chip.clock * 1e6);
  out += fmt::format("instructions        {}\n", r.instructions);
  if (r.cube_macs > 0 && kernel_cycles > 0) {
    const double seconds = static_cast<double>(kernel_cycles) / chip.clock;
    const double achieved = 2 * static_cast<double>(r.cube_macs) / seconds * 1e-12;
    const double peak = config::summarize(chip).peak_fp16_tflops;
    out += fmt::format("cube                {:.2f} TFLOPS in kernels, {:.1f} % of the FP16 peak of {:.1f}\n", achieved,
                       100 * achieved / peak, peak);
  }
  const auto& l2 = r.stats["l2"];
  const u64 hits = l2["hits"], misses = l2["misses"];
  out += fmt::format("L2                  {} B read, {} B written, {:.1f} % hits\n", l2["read_bytes"].get<u64>(),
                     l2["write_bytes"].get<u64>(), percent(hits, hits + misses));
  out += fmt::format("HBM                 {} B read, {} B written\n", r.stats["hbm"]["read_bytes"].get<u64>(),
                     r.stats["hbm"]["write_bytes"].get<u64>());
  const config::Assumptions a = config::assumptions(chip);
  out +=
      fmt::format("calibration         {} of {} parameter groups of this chip are assumed, the others have a source\n",
                  a.assumed.size(), a.total);
  out += tasks(r, chip.clock);
  out += pipes(r, kernel_cycles);
  return out;
}

}  // namespace vinci::cli
