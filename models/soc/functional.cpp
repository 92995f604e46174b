// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/functional.h"

#include <map>

#include "isa/check/core_checker.h"
#include "isa/machine.h"
#include "models/core/core_spec.h"
#include "models/soc/task_effects.h"

namespace vinci::models {
namespace {

// The device as far as results go: events, and one reference machine for each kind of core.
class Device {
 public:
  Device(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
         const Options& options)
      : chip_(chip),
        stream_(stream),
        memory_(memory),
        options_(options),
        effects_(stream, memory, options.checker),
        budget_(options.max_cycles),
        recorded_(stream.events.size()) {
    for (const task::Kernel& k : stream.kernels)
      codes_.emplace_back(k.program);
    for (const task::Stream& s : stream.streams) {
      for (const task::Task& t : s.tasks)
        all_units_ += units(t);
    }
  }

  u64 run() {
    std::vector<usize> next(stream_.streams.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (u32 s = 0; s < next.size(); ++s) {
        const auto& tasks = stream_.streams[s].tasks;
        while (next[s] < tasks.size() && execute(s, next[s])) {
          ++next[s];
          moved = true;
        }
      }
    }
    for (usize s = 0; s < next.size(); ++s) {
      if (next[s] == stream_.streams[s].tasks.size()) continue;
      fail(Fault::Deadlock, "stream '{}' waits in task '{}' for an event that nothing records", stream_.streams[s].name,
           stream_.streams[s].tasks[next[s]].name);
    }
    return options_.max_cycles - budget_;
  }

 private:
  static u64 units(const task::Task& t) {
    const auto* launch = std::get_if<task::KernelLaunch>(&t.op);
    return launch != nullptr ? launch->block_dim : 1;
  }

  // False when the task waits for an event that is not recorded yet.
  bool execute(u32 stream, usize task) {
    const task::Task& t = stream_.streams[stream].tasks[task];
    if (const auto* op = std::get_if<task::KernelLaunch>(&t.op)) {
      launch(*op, stream, task);
      return true;
    }
    if (const auto* op = std::get_if<task::StreamWaitEvent>(&t.op); op != nullptr && !recorded_[op->event])
      return false;
    if (const auto* op = std::get_if<task::EventRecord>(&t.op)) recorded_[op->event] = true;
    effects_.perform(stream, task);
    ++done_units_;
    return true;
  }

  struct Core {
    isa::Machine machine;
    isa::check::CoreChecker* watch = nullptr;

    Core(const isa::CoreSpec& spec, isa::GlobalMemory& gm, const Options& options)
        : machine(spec, gm, 0, options.census) {
      if (options.checker == nullptr) return;
      watch = &options.checker->add_core(spec, fmt::format("{}0", name(spec.kind)));
      machine.set_observer(watch);
    }
  };

  void launch(const task::KernelLaunch& op, u32 stream, usize task) {
    const isa::CoreKind kind = core_kind(stream_.kernels[op.kernel].type);
    auto it = cores_.find(kind);
    if (it == cores_.end()) it = cores_.try_emplace(kind, core_spec(chip_, kind), memory_.gm(), options_).first;
    auto& [machine, watch] = it->second;
    const u32 task_id = effects_.begin_kernel(stream, task);
    isa::Launch block{
        .task = task::position(stream_, stream, task), .block_num = op.block_dim, .args = memory_.arguments(op)};
    for (; block.block_idx < op.block_dim; ++block.block_idx) {
      try {
        if (watch != nullptr) watch->begin(task_id, block.block_idx, codes_[op.kernel]);
        machine.run(codes_[op.kernel], block, budget_);
      } catch (const Error& e) {
        throw Error(e.fault(),
                    fmt::format("{}\n  task '{}', block {}", e.message(), stream_.streams[stream].tasks[task].name,
                                block.block_idx),
                    e.location());
      }
      ++done_units_;
      if (options_.progress) {
        options_.progress(
            {.instructions = options_.max_cycles - budget_,
             .fraction = static_cast<double>(done_units_) / static_cast<double>(std::max<u64>(1, all_units_))});
      }
    }
  }

  const config::ChipConfig& chip_;
  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  const Options& options_;
  TaskEffects effects_;
  u64 budget_;
  std::vector<isa::Code> codes_;
  std::vector<bool> recorded_;
  std::map<isa::CoreKind, Core> cores_;
  u64 done_units_ = 0, all_units_ = 0;
};

}  // namespace

u64 run_functional(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                   const Options& options) {
  check_fit(chip, stream);
  Device device(chip, stream, memory, options);
  try {
    return device.run();
  } catch (const Error& e) {
    if (options.checker != nullptr && e.fault() == Fault::Deadlock) options.checker->finish();
    throw;
  }
}

}  // namespace vinci::models
