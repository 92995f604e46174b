// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/kernel_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/base/error.h"
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

// Writes `bytes` of whole lines, each block a part.
isa::BuiltProgram fill_program(u64 bytes, u64 blocks, isa::Arch arch) {
  constexpr u64 kTile = 32768;
  const u64 part = bytes / blocks / kTile * kTile;
  isa::ProgramBuilder p("fill", arch);
  const isa::Reg base = p.arg("base"), block = p.reg("block");
  p.get_block_idx(block);
  const isa::Reg at = p.reg("at"), end = p.reg("end"), dst = p.reg("dst");
  p.mul(at, block, part);
  p.add(end, at, part);
  const isa::Target loop = p.here("loop");
  p.add(dst, base, at);
  p.copy_ubuf_to_gm(dst, 0, 0, 1, kTile / 32, 0, 0);
  p.add(at, at, kTile);
  p.blt(at, end, loop);
  p.pipe_barrier(PipeId::ALL);
  p.end();
  return p.finish();
}

task::KernelType type_of(const KernelStream& k, bool split) {
  if (!split) return task::KernelType::AI_CORE;
  return k.cube || k.aivs > 0 ? task::KernelType::AIC_ONLY : task::KernelType::AIV_ONLY;
}

// A kernel with its vector part, and its launches.
class Launched {
 public:
  Launched(task::StreamBuilder& s, const std::string& name, const KernelStream& k, bool split)
      : k_(k), kernel_(s.kernel(name, type_of(k, split), k.code)) {
    if (k.aivs > 0) aiv_ = s.kernel(name + "_aiv", task::KernelType::AIV_ONLY, k.aiv_code);
  }
  void launch(task::StreamRef& stream, const std::vector<task::LaunchArg>& args) const {
    if (k_.aivs > 0) {
      stream.launch_mix(kernel_, aiv_, k_.aivs, k_.blocks, args);
    } else {
      stream.launch(kernel_, k_.blocks, args);
    }
  }

 private:
  const KernelStream& k_;
  task::KernelRef kernel_, aiv_;
};

}  // namespace

task::BuiltStream kernel_stream(const KernelStream& k, const config::ChipConfig& chip) {
  const bool split = chip.vector_cores > 0;
  task::StreamBuilder s("kernel", chip.arch);
  std::vector<task::LaunchArg> args;
  for (usize i = 0; i < k.buffers.size(); ++i) {
    args.emplace_back(s.device(fmt::format("b{}", i), k.buffers[i].bytes, 0,
                               k.buffers[i].bypass_l2 ? task::CacheHint::bypass : task::CacheHint::normal));
  }
  task::StreamRef main = s.stream("main");
  if (k.l2 == L2State::dirty) {
    const u64 bytes = chip.memory.l2.size + chip.memory.l2.size / 4;
    const u32 cores = split ? chip.vector_cores : chip.ai_cores;
    const task::KernelRef fill = s.kernel("fill", split ? task::KernelType::AIV_ONLY : task::KernelType::AI_CORE,
                                          fill_program(bytes, cores, chip.arch));
    main.launch(fill, cores, {s.device("others", bytes)});
  }
  if (k.l2 == L2State::prefetched) Launched(s, "prefetch", k, split).launch(main, args);
  const Launched kernel(s, "kernel", k, split);
  kernel.launch(main, args);
  if (k.l2 == L2State::own) kernel.launch(main, args);
  return s.finish();
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
  return last_kernel_times(kernel_stream(kernel, chip).stream(), chip, "kernel");
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
