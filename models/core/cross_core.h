// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "isa/machine/cross_core.h"
#include "isa/machine/issue.h"
#include "models/core/block.h"
#include "models/memory/timeline.h"
#include "sim/kernel/later.h"

namespace vinci::models {

// Cross-core flags in time: what a core sets reaches the others `delay` cycles later. There is one FFTS for all cores,
// which takes a flag each `interval` ticks; those that come faster queue up. Pairs are no flags of hardware and pass it
// by.
class CrossCore {
 public:
  // What it knows of a core.
  class Party {
   public:
    // The block that it runs; null: none.
    virtual const Block* running() const = 0;
    // That one or, where there is none, the one before.
    virtual const Block& latest() const = 0;
    // An instruction of that block has led to a fault.
    virtual void failed(u32 pc, const Error& e) const = 0;
    // A flag has been counted up.
    virtual void flag_arrived() = 0;
    // Where its scalar unit shows itself.
    virtual trace::TrackId track() const = 0;

   protected:
    ~Party() = default;
  };

  CrossCore(sim::Env& env, u64 delay, u64 interval)
      : env_(env), delay_(delay), interval_(interval), under_way_(env, *this) {}
  void connect(std::vector<Party*> cores) { cores_ = std::move(cores); }

  // A core executes ffts_cross_core_sync now, on the pipe that shows itself on `track`.
  // `node` is the instruction in the log of its block, if there is one.
  void set(const Party& from, const isa::Issued& inst, trace::TrackId track, u32 node);

  // In ticks, when the FFTS takes the next flag without a delay.
  const Timeline& ffts() const { return ffts_; }
  Timeline& ffts() { return ffts_; }

 private:
  // An increment on its way.
  struct Increment {
    u64 set_at = 0;
    std::shared_ptr<isa::CrossCoreFlags> flags;  // of a task that may have ended by then
    isa::TaskCore to;
    u32 flag = 0;
    const Party* from = nullptr;  // where it was set, for messages
    isa::TaskCore setter;
    const isa::Code* code = nullptr;
    u32 pc = 0;
    trace::TrackId track = 0;
    const BlockLog* log = nullptr;
    u32 node = 0;
  };
  using Increments = sim::Later<Increment, CrossCore>;
  friend Increments;

  bool happen(const Increment& i);  // it arrives

  sim::Env& env_;
  u64 delay_, interval_;
  Timeline ffts_;
  std::vector<Party*> cores_;
  Increments under_way_;
};

}  // namespace vinci::models
