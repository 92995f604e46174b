// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/kernel_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <sstream>

#include "isa/base/error.h"
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
  std::string s = fmt::format("  {}:\n    type: {}\n    code: |2\n", name, type);
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);)
    s += "      " + line + "\n";
  return s;
}

// Writes `bytes` of whole lines, each block a part.
std::string fill_text(u64 bytes, u64 blocks) {
  constexpr u64 kTile = 32768;
  return fmt::format(R"(  ld_arg X0, 0
  get_block_idx X1
  mul X2, X1, {0}
  add X3, X2, {0}
loop:
  add X4, X0, X2
  copy_ubuf_to_gm X4, 0, 0, 1, {1}, 0, 0
  add X2, X2, {2}
  blt X2, X3, loop
  pipe_barrier PIPE_ALL
  end
)",
                     bytes / blocks / kTile * kTile, kTile / 32, kTile);
}

}  // namespace

std::string kernel_yaml(const KernelStream& k, const config::ChipConfig& chip) {
  const bool split = chip.vector_cores > 0;
  std::string s = fmt::format("vinci: 1\nname: kernel\narch: {}\n", isa::name(chip.arch));
  std::string args;
  if (!k.buffers.empty() || k.l2 == L2State::dirty) s += "buffers:\n";
  for (usize i = 0; i < k.buffers.size(); ++i) {
    s += fmt::format("  b{}: {{place: device, bytes: {}, l2: {}}}\n", i, k.buffers[i].bytes,
                     k.buffers[i].bypass_l2 ? "bypass" : "normal");
    args += fmt::format("{}b{}", i == 0 ? "" : ", ", i);
  }
  const u64 fill = chip.memory.l2.size + chip.memory.l2.size / 4;
  const u32 fillers = split ? chip.vector_cores : chip.ai_cores;
  if (k.l2 == L2State::dirty) s += fmt::format("  others: {{place: device, bytes: {}}}\n", fill);
  s += "kernels:\n";
  if (k.l2 == L2State::dirty) s += kernel_text("fill", split ? "AIV_ONLY" : "AI_CORE", fill_text(fill, fillers));
  std::string launches;
  const auto launch = [&](std::string_view name) {
    const std::string mix = k.aivs > 0 ? fmt::format("type: MIX_AIC_1_{}, aiv_kernel: {}_aiv, ", k.aivs, name) : "";
    launches +=
        fmt::format("    - kernel_launch: {{kernel: {}, {}block_dim: {}, args: [{}]}}\n", name, mix, k.blocks, args);
  };
  const auto add_kernel = [&](std::string_view name) {
    s += kernel_text(name, !split ? "AI_CORE" : k.cube || k.aivs > 0 ? "AIC_ONLY" : "AIV_ONLY", k.code);
    if (k.aivs > 0) s += kernel_text(fmt::format("{}_aiv", name), "AIV_ONLY", k.aiv_code);
    launch(name);
  };
  if (k.l2 == L2State::prefetched) add_kernel("prefetch");
  add_kernel("kernel");
  if (k.l2 == L2State::own) launch("kernel");
  s += "streams:\n  main:\n";
  if (k.l2 == L2State::dirty)
    s += fmt::format("    - kernel_launch: {{kernel: fill, block_dim: {}, args: [others]}}\n", fillers);
  return s + launches;
}

std::vector<Metric> kernel_metrics() {
  return {{"task", "us", "from start to end of the task"},
          {"core", "us", "mean over the cores, from when they are given a block to its end"},
          {"scalar", "us", "mean busy time of the scalar unit"},
          {"vec", "us", "of the vector unit"},
          {"mac", "us", "of the cube"},
          {"mte1", "us", "of MTE1"},
          {"mte2", "us", "of MTE2; of a MIX task, of its cube cores"},
          {"mte3", "us", "of MTE3"},
          {"fixpipe", "us", "of FIXPIPE"},
          {"aiv", "us", "core of the vector cores of a MIX task"},
          {"aiv_scalar", "us", "scalar of these"},
          {"aiv_mte2", "us", "mte2 of these"}};
}

Parameter l2_parameter(std::string_view fallback) {
  return {"l2", "", fallback,
          "at the start: empty, what a run before left (own), the same for a program that has not run (prefetched), or "
          "results of others to be written back (dirty)"};
}

L2State l2_state(const Params& p) {
  const std::string& text = p.text("l2");
  if (text == "empty") return L2State::empty;
  if (text == "own") return L2State::own;
  if (text == "prefetched") return L2State::prefetched;
  if (text != "dirty") fail_at(Fault::Input, p.place(), "l2 is empty, own, prefetched or dirty, not '{}'", text);
  return L2State::dirty;
}

Values kernel_times(const KernelStream& kernel, const config::ChipConfig& chip) {
  const std::string text = kernel_yaml(kernel, chip);
  return last_kernel_times(task::parse_task_stream(std::as_bytes(std::span(text)), "kernel", task::MemoryFiles()), chip,
                           "kernel");
}

Values last_kernel_times(task::TaskStream stream, const config::ChipConfig& chip, const std::string& place) {
  const TimedRun run = run_timed(chip, std::move(stream));
  const auto has_blocks = [](const models::CoreSums& cores) { return cores.blocks > 0; };
  const auto last = std::find_if(run.records.rbegin(), run.records.rend(),
                                 [&](const models::TaskRecord& r) { return std::ranges::any_of(r.cores, has_blocks); });
  if (last == run.records.rend()) fail_at(Fault::Input, place, "the task stream has no kernel");
  const models::TaskRecord& task = *last;
  Values out{{"task", run.us(task.end - task.start)}};
  for (const models::CoreSums& cores : task.cores) {  // cube cores come first
    if (cores.blocks == 0) continue;
    const auto mean = [&](u64 cycles) { return run.us(cycles) / static_cast<double>(cores.blocks); };
    const bool aiv = out.contains("core");  // of a MIX task
    out.insert({aiv ? "aiv" : "core", mean(cores.cycles)});
    for (const PipeMetric& m : kPipes) {
      const u64 busy = cores.busy[static_cast<usize>(m.pipe)];
      const bool of_both = m.pipe == PipeId::S || m.pipe == PipeId::MTE2;
      if (busy > 0) out.insert({(aiv && of_both ? "aiv_" : "") + std::string(m.name), mean(busy)});
    }
  }
  return out;
}

}  // namespace vinci::validate
