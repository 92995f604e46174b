// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/functional.h"

#include <array>
#include <deque>
#include <map>

#include "isa/check/core_checker.h"
#include "isa/machine.h"
#include "models/core/core_spec.h"
#include "models/soc/block_shape.h"
#include "models/soc/task_effects.h"

namespace vinci::models {
namespace {

// The device as far as results go: events, and a reference machine for each core that is needed.
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
    return instructions();
  }

 private:
  u64 instructions() const {
    u64 sum = 0;
    for (const auto& [key, core] : cores_)
      sum += core.machine.executed();
    return sum;
  }

  static u64 units(const task::Task& t) {
    const auto* launch = std::get_if<task::KernelLaunch>(&t.op);
    return launch != nullptr ? u64{launch->block_dim} * (1 + launch->aivs) : 1;
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

    Core(const isa::CoreSpec& spec, isa::GlobalMemory& gm, u32 id, const Options& options)
        : machine(spec, gm, id, options.census) {
      if (options.checker == nullptr) return;
      watch = &options.checker->add_core(spec, fmt::format("{}{}", name(spec.kind), id));
      machine.set_observer(watch);
    }
  };

  // A block that has begun, on the cores of its slot.
  struct Running {
    struct Core {
      BlockShape::Part part;
      isa::Launch launch;
      Device::Core* on = nullptr;
      isa::Machine::State state = isa::Machine::State::paused;
    };
    std::array<Core, 1 + isa::kMaxVectorCoresPerBlock> cores;
    u32 left = 0;    // cores that have not reached their end
    u64 status = 0;  // STATUS of all blocks that ended here, together
  };

  // Runs the blocks one after the other on the first slot, as long as each reaches its end by itself. When the blocks
  // that have begun can only wait, or when one runs for long, because it may poll what another block has to write, the
  // other slots are opened: then blocks take turns, as many at once as the chip holds.
  void launch(const task::KernelLaunch& op, u32 stream, usize task) {
    const task::Task& t = stream_.streams[stream].tasks[task];
    const u32 task_id = effects_.begin_kernel(stream, task);
    const BlockShape shape(chip_, stream_, op);
    const isa::Launch all{
        .task = task::position(stream_, stream, task), .block_num = op.block_dim, .args = memory_.arguments(op)};
    isa::CrossCoreFlags flags(shape.task());
    std::deque<Running> slots(1);  // machines keep references into it
    u32 next = 0, done = 0;
    while (done < op.block_dim) {
      const u64 before = budget_;
      bool paused = false;
      for (u32 s = 0; s < slots.size(); ++s) {
        Running& r = slots[s];
        while (r.left > 0 || next < op.block_dim) {
          if (r.left == 0) begin(r, shape, s, next++, all, flags, task_id);
          if (!advance(t, op, shape, r, paused)) break;
          ++done;
        }
      }
      const bool stuck = budget_ == before && done < op.block_dim;
      if (!stuck && !paused) continue;
      if (slots.size() < shape.slots() && next < op.block_dim) {
        slots.resize(std::min<usize>(shape.slots(), slots.size() + op.block_dim - next));
      } else if (stuck) {
        report_deadlock(t, slots, op.block_dim - next);
      }
    }
    for (const Running& r : slots)
      effects_.end_kernel(stream, r.status);
  }

  void begin(Running& r, const BlockShape& shape, u32 slot, u32 block, const isa::Launch& all,
             isa::CrossCoreFlags& flags, u32 task_id) {
    r.left = shape.parts();
    for (u32 n = 0; n < shape.parts(); ++n) {
      Running::Core& c = r.cores[n];
      c.part = shape.part(slot, block, n);
      c.launch = shape.launch(all, c.part);
      c.on = &core(c.part.kind, c.part.core);
      c.state = isa::Machine::State::paused;
      if (c.on->watch != nullptr) c.on->watch->begin(task_id, block, codes_[c.part.kernel]);
      c.on->machine.start(codes_[c.part.kernel], c.launch, &flags, c.part.self);
    }
  }

  Core& core(isa::CoreKind kind, u32 id) {
    const std::pair key{kind, id};
    auto it = cores_.find(key);
    if (it == cores_.end()) it = cores_.try_emplace(key, core_spec(chip_, kind), memory_.gm(), id, options_).first;
    return it->second;
  }

  // Gives each core of a block its turn; true when the block is done.
  bool advance(const task::Task& t, const task::KernelLaunch& op, const BlockShape& shape, Running& r, bool& paused) {
    constexpr u64 kTurn = 1 << 16;  // instructions; how long decides nothing but speed
    for (u32 n = 0; n < shape.parts(); ++n) {
      Running::Core& c = r.cores[n];
      if (c.state == isa::Machine::State::done) continue;
      try {
        c.state = c.on->machine.advance(budget_, kTurn);
      } catch (const Error& e) {
        const std::string limit = e.fault() == Fault::Limit && budget_ == 0
                                      ? fmt::format(", after {} instructions of all cores", options_.max_cycles)
                                      : std::string();
        throw Error(e.fault(),
                    fmt::format("{}\n  task '{}', {}{}", e.message(), t.name, block_text(c.part.self, op.mix()), limit),
                    e.location());
      }
      paused = paused || c.state == isa::Machine::State::paused;
      if (c.state != isa::Machine::State::done) continue;
      r.status |= c.on->machine.status();
      --r.left;
      ++done_units_;
      if (options_.progress) {
        options_.progress(
            {.instructions = instructions(),
             .fraction = static_cast<double>(done_units_) / static_cast<double>(std::max<u64>(1, all_units_))});
      }
    }
    return r.left == 0;
  }

  [[noreturn]] static void report_deadlock(const task::Task& t, const std::deque<Running>& slots, u32 not_begun) {
    constexpr usize kShown = 20;
    std::vector<std::string> lines;
    for (const Running& r : slots) {
      for (const Running::Core& c : r.cores) {
        if (r.left > 0 && c.on != nullptr && c.state == isa::Machine::State::waits)
          lines.push_back(c.on->machine.waits_for());
      }
    }
    std::string text = "nothing can move:";
    for (usize i = 0; i < std::min(kShown, lines.size()); ++i)
      text += "\n  " + lines[i];
    if (lines.size() > kShown) text += fmt::format("\n  and {} more", lines.size() - kShown);
    if (not_begun > 0) text += fmt::format("\n  {} blocks have no core to begin on", not_begun);
    fail(Fault::Deadlock, "{}\n  task '{}'", text, t.name);
  }

  const config::ChipConfig& chip_;
  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  const Options& options_;
  TaskEffects effects_;
  u64 budget_;
  std::vector<isa::Code> codes_;
  std::vector<bool> recorded_;
  std::map<std::pair<isa::CoreKind, u32>, Core> cores_;  // made when first needed; buffers outlive blocks
  u64 done_units_ = 0, all_units_ = 0;
};

}  // namespace

u64 run_functional(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                   const Options& options) {
  check_fit(chip, stream);
  Device device(chip, stream, memory, options);
  try {
    const u64 instructions = device.run();
    if (options.checker != nullptr) options.checker->finish();
    return instructions;
  } catch (const Error& e) {
    if (options.checker != nullptr && e.fault() == Fault::Deadlock) options.checker->finish();
    throw;
  }
}

}  // namespace vinci::models
