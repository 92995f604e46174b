// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "isa/code.h"
#include "isa/cross_core.h"
#include "isa/issue.h"
#include "models/memory/timeline.h"
#include "sim/kernel/module.h"

namespace vinci::models {

class BlockLog;
class Core;

// Cross-core flags in time: what a core sets reaches the others `delay` cycles later. There is one FFTS for all cores,
// which takes a flag each `interval` ticks; those that come faster queue up. Pairs are no flags of hardware and pass it
// by.
class CrossCore : public sim::Module {
 public:
  CrossCore(sim::Env& env, u64 delay, u64 interval) : Module(env), delay_(delay), interval_(interval) {}
  void connect(std::vector<Core*> cores) { cores_ = std::move(cores); }

  // A core executes ffts_cross_core_sync now, on the pipe that shows itself on `track`.
  // `node` is the instruction in the log of its block, if there is one.
  void set(const Core& from, const isa::Issued& inst, trace::TrackId track, u32 node);

 private:
  // An increment on its way.
  struct Increment {
    u64 set_at = 0, at = 0;
    std::shared_ptr<isa::CrossCoreFlags> flags;  // of a task that may have ended by then
    isa::TaskCore to;
    u32 flag = 0;
    const Core* from = nullptr;  // where it was set, for messages
    isa::TaskCore setter;
    const isa::Code* code = nullptr;
    u32 pc = 0;
    trace::TrackId track = 0;
    const BlockLog* log = nullptr;
    u32 node = 0;
  };

  using Queue = std::deque<Increment>;  // first in, first out

  void act() override;
  void deliver_due(Queue& queue, u64 t);
  void deliver(const Increment& i);
  void wake_for_next();

  u64 delay_, interval_;
  Timeline ffts_;
  std::vector<Core*> cores_;
  Queue flags_, pairs_;  // under way
};

}  // namespace vinci::models
