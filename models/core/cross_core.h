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
#include "sim/kernel/module.h"

namespace vinci::models {

class Core;

// Cross-core flags in time: what a core sets reaches the others `delay` cycles later.
class CrossCore : public sim::Module {
 public:
  CrossCore(sim::Env& env, u64 delay) : Module(env), delay_(delay) {}
  void connect(std::vector<Core*> cores) { cores_ = std::move(cores); }

  // A core executes ffts_cross_core_sync now, on the pipe that shows itself on `track`.
  void set(const Core& from, const isa::Issued& inst, trace::TrackId track);

 private:
  // An increment on its way.
  struct Increment {
    u64 at = 0;
    std::shared_ptr<isa::CrossCoreFlags> flags;  // of a task that may have ended by then
    isa::TaskCore to;
    u32 flag = 0;
    const Core* from = nullptr;  // where it was set, for messages
    isa::TaskCore setter;
    const isa::Code* code = nullptr;
    u32 pc = 0;
    trace::TrackId track = 0;
  };

  void act() override;
  void deliver(const Increment& i);

  u64 delay_;
  std::vector<Core*> cores_;
  std::deque<Increment> under_way_;  // the delay is constant: first in, first out
};

}  // namespace vinci::models
