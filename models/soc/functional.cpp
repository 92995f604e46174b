// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/functional.h"

#include <map>

#include "isa/machine.h"
#include "models/core/core_spec.h"

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
        while (next[s] < tasks.size() && execute(tasks[next[s]], task::position(stream_, s, next[s]))) {
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
  bool execute(const task::Task& t, u32 position) {
    if (const auto* op = std::get_if<task::KernelLaunch>(&t.op)) {
      launch(t, *op, position);
      return true;
    }
    if (const auto* op = std::get_if<task::StreamWaitEvent>(&t.op); op != nullptr && !recorded_[op->event])
      return false;
    if (const auto* op = std::get_if<task::EventRecord>(&t.op)) recorded_[op->event] = true;
    if (const auto* op = std::get_if<task::MemcpyAsync>(&t.op)) memory_.copy(*op);
    if (const auto* op = std::get_if<task::MemsetAsync>(&t.op)) memory_.fill(*op);
    ++done_units_;
    return true;
  }

  void launch(const task::Task& t, const task::KernelLaunch& op, u32 position) {
    const isa::CoreKind kind = core_kind(stream_.kernels[op.kernel].type);
    auto it = machines_.find(kind);
    if (it == machines_.end()) {
      it = machines_.try_emplace(kind, core_spec(chip_, kind), memory_.gm(), 0, options_.census).first;
    }
    isa::Launch block{.task = position, .block_num = op.block_dim, .args = memory_.arguments(op)};
    for (; block.block_idx < op.block_dim; ++block.block_idx) {
      try {
        it->second.run(codes_[op.kernel], block, budget_);
      } catch (const Error& e) {
        throw Error(e.fault(), fmt::format("{}\n  task '{}', block {}", e.message(), t.name, block.block_idx),
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
  u64 budget_;
  std::vector<isa::Code> codes_;
  std::vector<bool> recorded_;
  std::map<isa::CoreKind, isa::Machine> machines_;
  u64 done_units_ = 0, all_units_ = 0;
};

}  // namespace

u64 run_functional(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                   const Options& options) {
  check_fit(chip, stream);
  return Device(chip, stream, memory, options).run();
}

}  // namespace vinci::models
