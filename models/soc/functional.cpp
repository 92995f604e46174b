// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/functional.h"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <tuple>

#include "isa/check/core_checker.h"
#include "isa/machine.h"
#include "models/core/core_spec.h"
#include "models/runtime/host_threads.h"
#include "models/runtime/streams.h"
#include "models/soc/block_shape.h"
#include "models/soc/kernel_codes.h"
#include "sim/kernel/waits.h"

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

  // Runs the blocks one after the other on the first slot, as long as each reaches its end by itself. When the blocks
  // that have begun can only wait, or when one runs for long, because it may poll what another block has to write, the
  // other slots are opened: then blocks take turns, as many at once as the chip holds.
  // `finished` is called for each core that has ended its part of a block.
  void launch(const task::KernelLaunch& op, u32 stream, u32 task, const std::function<void()>& finished) {
    const task::Task& t = stream_.streams[stream].tasks[task];
    const u32 task_id = effects_.begin_kernel(stream, task);
    const BlockShape shape(chip_, stream_, op);
    const isa::Launch all{
        .task = effects_.position(stream, task), .block_num = op.block_dim, .args = memory_.arguments(op)};
    if (stream_.kernels[op.kernel].opaque()) return;  // nothing but time
    isa::CrossCoreFlags flags(shape.task());
    device_ = stream_.streams[stream].device;
    std::deque<Running> slots(1);  // machines keep references into it
    u32 next = 0, done = 0;
    while (done < op.block_dim) {
      const u64 before = budget_;
      bool paused = false;
      for (u32 s = 0; s < slots.size(); ++s) {
        Running& r = slots[s];
        while (r.left > 0 || next < op.block_dim) {
          if (r.left == 0) begin(r, shape, s, next++, all, flags, task_id);
          if (!advance(t, op, shape, r, paused, finished)) break;
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
      watch = &options.checker->add_core(spec, std::move(name));
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
    return cores_.try_emplace(key, core_spec(chip_, kind), memory_.gm(), id, options_, std::move(called)).first->second;
  }

  // Gives each core of a block its turn; true when the block is done.
  bool advance(const task::Task& t, const task::KernelLaunch& op, const BlockShape& shape, Running& r, bool& paused,
               const std::function<void()>& finished) {
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
      finished();
    }
    return r.left == 0;
  }

  [[noreturn]] static void report_deadlock(const task::Task& t, const std::deque<Running>& slots, u32 not_begun) {
    std::vector<std::string> lines;
    for (const Running& r : slots) {
      for (const Running::Core& c : r.cores) {
        if (r.left > 0 && c.on != nullptr && c.state == isa::Machine::State::waits)
          lines.push_back(c.on->machine.waits_for());
      }
    }
    std::string text = sim::below("nothing can move:", lines);
    if (not_begun > 0) text += fmt::format("\n  {} blocks have no core to begin on", not_begun);
    fail(Fault::Deadlock, "{}\n  task '{}'", text, t.name);
  }

  const config::ChipConfig& chip_;
  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  const Options& options_;
  TaskEffects& effects_;
  u64 budget_;
  u32 device_ = 0;  // of the present kernel
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
    for (u32 thread = 0; thread < host_.count(); ++thread)
      wake_host(thread);
  }

  u64 run() {
    while (!awake_.empty()) {
      const u32 thread = awake_.front();
      awake_.pop_front();
      while (host_.go_on(thread)) {
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
    if (streams_.present(stream).iteration > 0 && ++repeated_ > options_.max_cycles)
      fail(Fault::Limit, "the limit of {} is reached: so many tasks were executed again", options_.max_cycles);
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

  void progress() {
    ++done_units_;
    if (!options_.progress) return;
    options_.progress(
        {.instructions = kernels_.instructions(),
         .fraction = std::min(1.0, static_cast<double>(done_units_) / std::max(1.0, host_.planned_units()))});
  }

  [[noreturn]] void report_deadlock() const {
    sim::Waits waits;
    waits.circle = streams_.report(waits.lines);
    effects_.collectives().report(waits.lines);
    host_.report(waits.lines);
    throw Error(Fault::Deadlock, sim::below(sim::deadlock_title(waits, std::nullopt), waits.text()));
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
