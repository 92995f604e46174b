// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/functional.h"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "isa/check/core_checker.h"
#include "isa/machine/machine.h"
#include "isa/machine/waits.h"
#include "models/core/core_spec.h"
#include "models/runtime/host_threads.h"
#include "models/runtime/streams.h"
#include "models/soc/block_runner.h"
#include "models/soc/block_shape.h"
#include "models/soc/kernel_codes.h"
#include "sim/task/run_memory.h"

namespace vinci::models {
namespace {

// Runs kernels on reference machines, one for each core that is needed.
class KernelRunner {
 public:
  KernelRunner(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
               const Options& options, TaskEffects& effects)
      : chip_(chip),
        stream_(stream),
        memory_(memory),
        options_(options),
        effects_(effects),
        budget_(options.max_cycles),
        codes_(decode_kernels(stream)) {}

  // Runs a kernel. A block that pauses may poll what another block has to write, so others get turns then, too.
  // `finished` is called for each core that has ended its part of a block.
  void launch(const task::KernelLaunch& op, u32 stream, u32 task, const std::function<void()>& finished) {
    const task::Task& t = stream_.streams[stream].tasks[task];
    const u32 task_id = effects_.begin_kernel(stream, task);
    const BlockShape shape(chip_, stream_, op);
    const isa::Launch all{
        .task = effects_.number(stream, task), .block_num = op.block_dim, .args = memory_.arguments(op)};
    if (stream_.kernels[op.kernel].opaque()) return;  // nothing but time
    isa::CrossCoreFlags flags(shape.task());
    device_ = stream_.streams[stream].device;
    std::deque<Running> slots;  // machines keep references into it
    BlockRunner(op.block_dim, shape.slots(), BlockRunner::Opening::all)
        .run(
            [&](u32 slot, u32 block) {
              if (slot == slots.size()) slots.emplace_back();
              begin(slots[slot], shape, slot, block, all, flags, task_id);
            },
            [&](u32 slot) { return advance(t, shape, slots[slot], finished); },
            [&](u32 not_begun) { report_deadlock(t, slots, not_begun); });
    for (const Running& r : slots)
      effects_.end_kernel(stream, r.status);
  }

  u64 instructions() const {
    u64 sum = 0;
    for (const auto& [key, core] : cores_)
      sum += core.machine.executed();
    return sum;
  }

 private:
  struct Core {
    isa::Machine machine;
    isa::check::CoreChecker* watch = nullptr;

    Core(const isa::CoreSpec& spec, isa::GlobalMemory& gm, u32 id, const Options& options, std::string name)
        : machine(spec, gm, id, options.census) {
      if (options.checker == nullptr) return;
      watch = &options.checker->add_core(spec, std::move(name), true);
      machine.set_observer(watch);
    }
  };

  // A block that has begun, on the cores of its slot.
  struct Running {
    struct Core {
      BlockShape::Part part;
      isa::Launch launch;
      KernelRunner::Core* on = nullptr;
      isa::Machine::State state = isa::Machine::State::paused;
    };
    std::array<Core, 1 + isa::kMaxVectorCoresPerBlock> cores;
    u32 left = 0;    // cores that have not reached their end
    u64 status = 0;  // STATUS of all blocks that ended here, together
  };

  void begin(Running& r, const BlockShape& shape, u32 slot, u32 block, const isa::Launch& all,
             isa::CrossCoreFlags& flags, u32 task_id) {
    r.left = shape.parts();
    for (u32 n = 0; n < shape.parts(); ++n) {
      Running::Core& c = r.cores[n];
      c.part = shape.part(slot, block, n);
      c.launch = shape.launch(all, c.part);
      c.on = &core(c.part.kind, c.part.core);
      c.state = isa::Machine::State::paused;
      if (c.on->watch != nullptr) c.on->watch->begin(task_id, block, *codes_[c.part.kernel]);
      c.on->machine.start(*codes_[c.part.kernel], c.launch, &flags, c.part.self);
    }
  }

  Core& core(isa::CoreKind kind, u32 id) {
    const std::tuple key{device_, kind, id};
    auto it = cores_.find(key);
    if (it != cores_.end()) return it->second;
    std::string called = core_name(kind, id);
    if (stream_.devices > 1) called = fmt::format("npu{}.{}", device_, called);
    Core& core =
        cores_.try_emplace(key, core_spec(chip_, kind), memory_.gm(), id, options_, std::move(called)).first->second;
    core.machine.count_changes(changes_);
    return core;
  }

  // Gives each core of a block its turn. A core that repeats for ever what changes nothing does not move.
  // The error of a core, with its task and block.
  static Error of_block(const Error& e, const task::Task& t, const Running::Core& c, std::string_view limit = "") {
    const bool mix = std::get<task::KernelLaunch>(t.op).mix();
    return Error(e.fault(),
                 fmt::format("{}\n  task '{}', {}{}", e.message(), t.name, block_text(c.part.self, mix), limit),
                 e.location());
  }

  BlockRunner::Turn advance(const task::Task& t, const BlockShape& shape, Running& r,
                            const std::function<void()>& finished) {
    bool paused = false;
    for (u32 n = 0; n < shape.parts(); ++n) {
      Running::Core& c = r.cores[n];
      if (c.state == isa::Machine::State::done) continue;
      try {
        c.state = take_turn(c.on->machine);
      } catch (const Error& e) {
        const std::string limit = e.fault() == Fault::Limit && budget_ == 0
                                      ? fmt::format(", after {} instructions of all cores", options_.max_cycles)
                                      : std::string();
        throw of_block(e, t, c, limit);
      }
      paused = paused || (c.state == isa::Machine::State::paused && !c.on->machine.spins());
      if (c.state != isa::Machine::State::done) continue;
      r.status |= c.on->machine.status();
      --r.left;
      finished();
    }
    using Turn = BlockRunner::Turn;
    if (r.left == 0) return Turn::done;
    if (paused) return Turn::paused;
    return std::exchange(changes_seen_, changes_) != changes_ ? Turn::moved : Turn::waits;
  }

  // Lets a core run for a while, in pieces that are short enough for an interruption.
  isa::Machine::State take_turn(isa::Machine& machine) {
    constexpr u64 kTurn = 1 << 16, kPiece = 64;  // instructions; they decide nothing but speed
    for (u64 left = kTurn; left > 0; left -= kPiece) {
      if (options_.interrupted && options_.interrupted())
        fail(Fault::Limit, "interrupted after {} instructions of all cores", instructions());
      const isa::Machine::State state = machine.advance(budget_, kPiece);
      if (state != isa::Machine::State::paused) return state;
    }
    return isa::Machine::State::paused;
  }

  [[noreturn]] static void report_deadlock(const task::Task& t, const std::deque<Running>& slots, u32 not_begun) {
    Waits waits{.not_begun = not_begun, .task = fmt::format("task '{}'", t.name)};
    for (const Running& r : slots) {
      for (const Running::Core& c : r.cores) {
        if (r.left == 0 || c.on == nullptr || c.state == isa::Machine::State::done) continue;
        try {
          c.on->machine.fail_at_fault();
        } catch (const Error& e) {
          throw of_block(e, t, c);
        }
        waits.cores.push_back(c.on->machine.waits_for());
      }
    }
    throw deadlock(waits);
  }

  const config::ChipConfig& chip_;
  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  const Options& options_;
  TaskEffects& effects_;
  u64 budget_;
  u64 changes_ = 0;       // that the machines have made, besides scalar work
  u64 changes_seen_ = 0;  // until the end of the latest turn
  u32 device_ = 0;        // of the present kernel
  KernelCodes codes_;
  std::map<std::tuple<u32, isa::CoreKind, u32>, Core> cores_;  // made when first needed; buffers outlive blocks
};

// Streams and host threads without time: a host thread goes on as far as it can, then every stream does.
class Run final : public Carrier {
 public:
  Run(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory, const Options& options)
      : options_(options),
        effects_(stream, chip.links, memory, options.checker),
        kernels_(chip, stream, memory, options, effects_),
        streams_(stream, chip, effects_, *this),
        host_(stream, streams_, effects_, *this) {
    effects_.count(options.census);
    for (u32 thread = 0; thread < host_.count(); ++thread)
      wake_host(thread);
  }

  u64 run() {
    while (!awake_.empty()) {
      const u32 thread = awake_.front();
      awake_.pop_front();
      while (host_.go_on(thread)) {
        if (host_.in_loop(thread)) count_repeated();
        if (++host_steps_ % 4096 == 0 && options_.interrupted && options_.interrupted())
          fail(Fault::Limit, "interrupted after {} steps of the host", host_steps_);
      }
      streams_.run();
    }
    if (!streams_.idle() || !host_.finished()) report_deadlock();
    return kernels_.instructions();
  }

  u64 now() const override { return 0; }
  bool begin(u32 stream) override {
    ++executed_;
    if (streams_.present(stream).iteration > 0) count_repeated();
    if (executed_ % 1024 == 0 && options_.interrupted && options_.interrupted())
      fail(Fault::Limit, "interrupted after {} tasks", executed_);
    if (const auto* op = std::get_if<task::KernelLaunch>(&streams_.task(stream).op)) {
      kernels_.launch(*op, stream, streams_.present(stream).task, [this] { progress(); });
      return true;
    }
    progress();
    if (std::holds_alternative<task::Hccl>(streams_.task(stream).op)) return meet(stream);
    return true;
  }
  void ended(u32) override {}
  void wake_host(u32 thread) override { awake_.push_back(thread); }
  bool host_waits() const override { return awake_.empty(); }
  bool timed() const override { return false; }

 private:
  // A collective is over for all ranks when the last one comes.
  bool meet(u32 stream) {
    const Collectives::Call* call = effects_.arrive(stream, streams_.present(stream).task);
    if (call == nullptr) return false;
    std::vector<u32> others;
    for (const Collectives::Rank& r : call->ranks) {
      if (r.stream != stream) others.push_back(r.stream);
    }
    for (const u32 other : others)
      streams_.done(other);
    return true;
  }

  // Of what a short task stream can have without end.
  void count_repeated() {
    if (++repeated_ <= options_.max_cycles) return;
    fail(Fault::Limit,
         "the limit of {} is reached: so many tasks of models and steps of loops of the host were executed",
         options_.max_cycles);
  }

  void progress() {
    ++done_units_;
    if (!options_.progress) return;
    options_.progress(
        {.instructions = kernels_.instructions(),
         .fraction = std::min(1.0, static_cast<double>(done_units_) / std::max(1.0, host_.planned_units()))});
  }

  [[noreturn]] void report_deadlock() const {
    Waits waits;
    waits.circle = streams_.report(waits.lines);
    effects_.collectives().report(waits.lines);
    host_.report(waits.lines);
    throw deadlock(waits);
  }

  const Options& options_;
  TaskEffects effects_;
  KernelRunner kernels_;
  Streams streams_;
  HostThreads host_;
  std::deque<u32> awake_;  // host threads that can go on
  u64 executed_ = 0, repeated_ = 0, host_steps_ = 0, done_units_ = 0;
};

}  // namespace

u64 run_functional(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                   const Options& options) {
  check_fit(chip, stream);
  Run run(chip, stream, memory, options);
  try {
    const u64 instructions = run.run();
    if (options.checker != nullptr) options.checker->finish();
    return instructions;
  } catch (const Error& e) {
    if (options.checker != nullptr && e.fault() == Fault::Deadlock) options.checker->finish();
    throw;
  }
}

}  // namespace vinci::models
