// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/config/load.h"

namespace vinci::run {
namespace {

constexpr usize kShownTasks = 30;

double percent(u64 part, u64 whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// A counter of the chip, of all devices together.
u64 counter(const task::TaskStream& stream, const models::Result& r, const char* group, const char* name) {
  if (stream.devices == 1) return r.stats[group][name].get<u64>();
  u64 sum = 0;
  for (u32 d = 0; d < stream.devices; ++d)
    sum += r.stats[fmt::format("npu{}", d)][group][name].get<u64>();
  return sum;
}

// Durations without the cold starts, which have a column of their own; `cold`: with them.
std::string tasks(const models::Result& r, double hertz, bool devices, bool cold) {
  const auto us = [&](u64 cycles) { return static_cast<double>(cycles) / hertz * 1e6; };
  const bool column = !cold && r.cold_cycles > 0;
  std::string out =
      fmt::format("\n{:<24} {:<22} {}{:<10} {:>7} {:>13} {:>13}{}\n", "task", "type", devices ? "device " : "",
                  "stream", "blocks", "start(us)", "duration(us)", column ? "  cold start(us)" : "");
  for (usize i = 0; i < std::min(kShownTasks, r.tasks.size()); ++i) {
    const models::TaskTime& t = r.tasks[i];
    out += fmt::format("{:<24} {:<22} {}{:<10} {:>7} {:>13.3f} {:>13.3f}{}\n", t.name, t.kind,
                       devices ? fmt::format("{:>6} ", t.device) : "", t.stream, t.blocks, us(t.start),
                       us(cold ? t.end - t.start : t.warm()),
                       column && t.cold > 0 ? fmt::format(" {:>15.3f}", us(t.cold)) : "");
  }
  if (r.task_count > kShownTasks) {
    out += fmt::format(
        "... and {} more of {} tasks: task_time_*.csv has all (but with --profile=off), stats.json the first {}\n",
        r.task_count - kShownTasks, r.task_count, models::Result::kTasksKept);
  }
  return out;
}

// What else than kernels took time: copies by direction, collectives, AICPU functions.
std::string other_work(const models::Result& r, double hertz) {
  struct Line {
    std::string_view what, kind, direction;
  };
  constexpr std::array kLines{Line{"host to device", "MEMCPY_ASYNC", "host to device"},
                              Line{"device to host", "MEMCPY_ASYNC", "device to host"},
                              Line{"device to device", "MEMCPY_ASYNC", "device to device"},
                              Line{"memset", "MEMSET_ASYNC", ""},
                              Line{"reductions", "REDUCE_ASYNC", ""},
                              Line{"collectives", "COMMUNICATION", ""},
                              Line{"AICPU", "KERNEL_AICPU", ""}};
  std::string out;
  for (const Line& l : kLines) {
    const auto it = r.sums.find({l.kind, l.direction});
    if (it == r.sums.end()) continue;
    const models::TaskSums& s = it->second;
    const double seconds = static_cast<double>(s.cycles) / hertz;
    out +=
        fmt::format("{:<19} {} {}, {:.3f} us in sum", l.what, s.count, s.count == 1 ? "task" : "tasks", seconds * 1e6);
    if (s.bytes > 0) out += fmt::format(", {} B", s.bytes);
    if (s.bytes > 0 && s.cycles > 0) out += fmt::format(", {:.1f} GB/s", static_cast<double>(s.bytes) / seconds * 1e-9);
    out += '\n';
  }
  return out;
}

// What each pipe did while kernels ran, averaged over the cores that had work.
std::string pipes(const models::Result& r, u64 kernel_cycles) {
  struct Sum {
    u64 cores = 0, busy = 0, wait_flag = 0, barrier = 0, queue_full = 0, drain = 0;
  };
  std::map<std::pair<std::string, isa::PipeId>, Sum> sums;  // by core kind and pipe
  std::map<std::string, bool> used;
  for (const models::PipeTime& p : r.pipes)
    used[p.core] |= p.busy > 0;
  for (const models::PipeTime& p : r.pipes) {
    if (!used[p.core]) continue;
    Sum& s = sums[{p.core.substr(p.core.rfind('.') + 1), p.pipe}];
    ++s.cores;
    s.busy += p.busy;
    s.wait_flag += p.wait_flag;
    s.barrier += p.barrier;
    s.queue_full += p.queue_full;
    s.drain += p.drain;
  }
  std::string out = fmt::format(
      "\nwhat the pipes did while kernels ran ({} cycles), in %, mean of the cores that had work\n"
      "{:<14} {:>6} {:>8} {:>10} {:>9} {:>11} {:>8} {:>8}\n",
      kernel_cycles, "pipe", "cores", "busy", "wait_flag", "barrier", "queue_full", "drain", "idle");
  for (const auto& [key, s] : sums) {
    const u64 whole = kernel_cycles * s.cores;
    const u64 accounted = s.busy + s.wait_flag + s.barrier + s.queue_full + s.drain;
    out += fmt::format("{:<14} {:>6} {:>8.1f} {:>10.1f} {:>9.1f} {:>11.1f} {:>8.1f} {:>8.1f}\n",
                       key.first + "." + std::string(isa::name(key.second)), s.cores, percent(s.busy, whole),
                       percent(s.wait_flag, whole), percent(s.barrier, whole), percent(s.queue_full, whole),
                       percent(s.drain, whole), percent(whole - std::min(whole, accounted), whole));
  }
  return out;
}

// What automatic synchronisation has added to the programs, and the lines where it cost most.
std::string inserted(const models::Result& r) {
  if (r.inserted.empty()) return {};
  constexpr usize kShown = 10;
  u64 barriers = 0, flags = 0, cycles = 0;
  for (const models::InsertedAt& i : r.inserted) {
    (i.what.starts_with("pipe_barrier") ? barriers : flags) += i.count;
    cycles += i.cycles;
  }
  std::vector<models::InsertedAt> lines = r.inserted;
  std::ranges::stable_sort(lines, std::ranges::greater(), &models::InsertedAt::cycles);
  std::string out = fmt::format(
      "\ninserted by --cce-auto-sync: {} pipe_barrier, {} set_flag with wait_flag, {} cycles of all cores\n"
      "{:<24} {:>9} {:>11}  {}\n",
      barriers, flags, cycles, "what", "count", "cycles", "before");
  for (usize i = 0; i < std::min(kShown, lines.size()); ++i)
    out += fmt::format("{:<24} {:>9} {:>11}  {}\n", lines[i].what, lines[i].count, lines[i].cycles, lines[i].place);
  if (lines.size() > kShown) out += fmt::format("... and at {} more lines: stats.json\n", lines.size() - kShown);
  return out;
}

// Scalar code that runs natively, and the lines that it takes longest at.
std::string native_code(const models::Result& r) {
  constexpr usize kShown = 10;
  u64 own = 0, api = 0, busy = 0;
  for (const models::NativeAt& n : r.native) {
    own += n.own;
    api += n.api;
  }
  if (own + api == 0) return {};
  for (const models::PipeTime& p : r.pipes)
    busy += p.pipe == isa::PipeId::S ? p.busy : 0;
  std::vector<models::NativeAt> lines = r.native;
  std::ranges::stable_sort(lines, std::ranges::greater(), [](const auto& n) { return n.own + n.api; });
  std::string out = fmt::format(
      "\nscalar code: {} cycles of all cores in the program's own code, {} inside the API, {:.1f} % and {:.1f} % of "
      "what\n"
      "the scalar units are busy\n{:>11} {:>11}  {}\n",
      own, api, percent(own, busy), percent(api, busy), "own", "API", "at");
  for (usize i = 0; i < std::min(kShown, lines.size()); ++i)
    out += fmt::format("{:>11} {:>11}  {}\n", lines[i].own, lines[i].api, lines[i].place);
  if (lines.size() > kShown) out += fmt::format("... and at {} more lines: stats.json\n", lines.size() - kShown);
  return out;
}

// What kernels moved through L2 and HBM.
std::string memory(const config::ChipConfig& chip, const task::TaskStream& stream, const models::Result& r,
                   double seconds) {
  const auto rate = [&](u64 bytes) { return static_cast<double>(bytes) / seconds; };
  const u64 hits = counter(stream, r, "l2", "hits"), misses = counter(stream, r, "l2", "misses");
  const u64 l2_read = counter(stream, r, "l2", "read_bytes"), l2_write = counter(stream, r, "l2", "write_bytes");
  const u64 hbm_read = counter(stream, r, "hbm", "read_bytes"), hbm_write = counter(stream, r, "hbm", "write_bytes");
  return fmt::format("L2                  {} B read, {} B written, {:.1f} GB/s in kernels, {:.1f} % of requests hit\n",
                     l2_read, l2_write, rate(l2_read + l2_write) * 1e-9, percent(hits, hits + misses)) +
         fmt::format("HBM                 {} B read, {} B written, {:.1f} GB/s in kernels, {:.1f} % of its peak\n",
                     hbm_read, hbm_write, rate(hbm_read + hbm_write) * 1e-9,
                     100 * rate(hbm_read + hbm_write) / (chip.memory.hbm.bandwidth * stream.devices));
}

}  // namespace

std::string summary(const config::ChipConfig& chip, const task::TaskStream& stream, const models::Result& r,
                    std::string_view mode, bool cold) {
  const u64 kernel_cycles = cold ? r.kernel_cycles : r.warm_cycles();
  const bool programs = kernel_cycles > 0 && r.instructions > 0;  // not only opaque kernels
  const double kernel_seconds = static_cast<double>(kernel_cycles) / chip.clock;
  std::string out = fmt::format("{} on {} ({}), mode {}\n\n", stream.name, chip.name, chip.product, mode);
  out += fmt::format("simulated time      {:.3f} us, {} cycles of {:g} GHz\n", r.seconds * 1e6, r.cycles,
                     chip.clock / 1e9);
  if (kernel_cycles > 0) {
    const double first = static_cast<double>(r.kernel_cycles - r.warm_cycles()) / chip.clock;
    out += fmt::format("kernels             {:.3f} us", kernel_seconds * 1e6);
    if (r.cold_cycles > 0 && cold) {
      out += fmt::format(", of which {:.3f} us are the cold start", first * 1e6);
    } else if (r.cold_cycles > 0) {
      out += fmt::format(" warm\ncold start          {:.3f} us more, the first time that a core runs a program",
                         first * 1e6);
    }
    out += '\n';
  }
  if (programs) out += fmt::format("instructions        {}\n", r.instructions);
  if (r.cube_macs > 0 && kernel_cycles > 0) {
    const double achieved = 2 * static_cast<double>(r.cube_macs) / kernel_seconds * 1e-12;
    const double peak = config::peak_operations(chip) * 1e-12 * stream.devices;
    out += fmt::format("cube                {:.2f} TFLOPS in kernels, {:.1f} % of the FP16 peak of {:.1f}\n", achieved,
                       100 * achieved / peak, peak);
  }
  if (programs) out += memory(chip, stream, r, kernel_seconds);
  out += other_work(r, chip.clock);
  const config::Assumptions a = config::assumptions(chip);
  out +=
      fmt::format("calibration         {} of {} parameter groups of this chip are assumed, the others have a source\n",
                  a.assumed.size(), a.total);
  out += tasks(r, chip.clock, stream.devices > 1, cold);
  if (programs) out += pipes(r, kernel_cycles) + inserted(r) + native_code(r);
  return out;
}

}  // namespace vinci::run
