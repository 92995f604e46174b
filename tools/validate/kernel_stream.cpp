// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/kernel_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <sstream>

#include "sim/task/load.h"
#include "tools/validate/timed_run.h"

namespace vinci::validate {
namespace {

using isa::PipeId;

struct PipeMetric {
  std::string_view name;
  PipeId pipe;
};
constexpr PipeMetric kPipes[] = {{"scalar", PipeId::S},   {"vec", PipeId::V},     {"mac", PipeId::M},
                                 {"mte1", PipeId::MTE1},  {"mte2", PipeId::MTE2}, {"mte3", PipeId::MTE3},
                                 {"fixpipe", PipeId::FIX}};

std::string kernel_text(std::string_view name, std::string_view type, const std::string& code) {
  std::string s = fmt::format("  {}:\n    type: {}\n    code: |\n", name, type);
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);)
    s += "      " + line + "\n";
  return s;
}

task::TaskStream to_task_stream(const KernelStream& k, const config::ChipConfig& chip) {
  const bool split = chip.vector_cores > 0;
  std::string s = fmt::format("vinci: 1\nname: kernel\narch: {}\n", isa::name(chip.arch));
  std::string args;
  if (!k.buffers.empty()) s += "buffers:\n";
  for (usize i = 0; i < k.buffers.size(); ++i) {
    s += fmt::format("  b{}: {{place: device, bytes: {}, l2: {}}}\n", i, k.buffers[i].bytes,
                     k.buffers[i].bypass_l2 ? "bypass" : "normal");
    args += fmt::format("{}b{}", i == 0 ? "" : ", ", i);
  }
  s += "kernels:\n";
  s += kernel_text("kernel", !split ? "AI_CORE" : k.cube || k.aivs > 0 ? "AIC_ONLY" : "AIV_ONLY", k.code);
  if (k.aivs > 0) s += kernel_text("aiv", "AIV_ONLY", k.aiv_code);
  s += "streams:\n  main:\n";
  const std::string mix = k.aivs > 0 ? fmt::format("type: MIX_AIC_1_{}, aiv_kernel: aiv, ", k.aivs) : "";
  for (u32 i = 0; i < k.launches; ++i)
    s += fmt::format("    - kernel_launch: {{kernel: kernel, {}block_dim: {}, args: [{}]}}\n", mix, k.blocks, args);
  return task::parse_task_stream(std::as_bytes(std::span(s)), "kernel", task::MemoryFiles());
}

}  // namespace

std::vector<Metric> kernel_metrics() {
  return {{"task", "us", "from start to end of the task"},
          {"core", "us", "mean over the cores, from first instruction to end of block"},
          {"scalar", "us", "mean busy time of the scalar unit"},
          {"vec", "us", "of the vector unit"},
          {"mac", "us", "of the cube"},
          {"mte1", "us", "of MTE1"},
          {"mte2", "us", "of MTE2; of a MIX task, of its cube cores"},
          {"mte3", "us", "of MTE3"},
          {"fixpipe", "us", "of FIXPIPE"}};
}

Values kernel_times(const KernelStream& kernel, const config::ChipConfig& chip) {
  const TimedRun run = run_timed(chip, to_task_stream(kernel, chip));
  const models::TaskRecord& task = run.records.back();
  Values out{{"task", run.us(task.end - task.start)}};
  for (const models::CoreSums& cores : task.cores) {  // cube cores come first
    if (cores.blocks == 0) continue;
    const auto mean = [&](u64 cycles) { return run.us(cycles) / static_cast<double>(cores.blocks); };
    out.insert({"core", mean(cores.cycles)});
    for (const PipeMetric& m : kPipes) {
      const u64 busy = cores.busy[static_cast<usize>(m.pipe)];
      if (busy > 0) out.insert({std::string(m.name), mean(busy)});
    }
  }
  return out;
}

}  // namespace vinci::validate
