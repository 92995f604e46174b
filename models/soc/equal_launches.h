// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "models/runtime/task_sink.h"
#include "models/soc/chip.h"
#include "models/soc/kernel_codes.h"
#include "sim/task/task.h"

namespace vinci::models {

// Whether kernels of a device overlap neither each other nor tasks that free memory, whatever the times are: all are in
// one stream, or in models that one stream executes, each with all of them in one of its streams.
bool launches_follow_one_another(const task::TaskStream& stream, u32 device);

// Launches that begin with a chip in the state in which an equal launch found it, of a device whose launches follow one
// another. The time of such a launch is known, and what it leaves behind: it is not simulated again. Only where L2
// serves all requests, because the device memory is refreshed at times of its own (docs/performance.md). For runs
// without data.
class EqualLaunches {
 public:
  // None is taken over that would end after `last_cycle`.
  EqualLaunches(sim::Env& env, Chip& chip, const KernelCodes& codes, u64 last_cycle);

  // What a dispatcher knows of a launch that has ended.
  struct Outcome {
    std::array<CoreSums, 3> cores{};  // by CoreKind
    u64 next_start = 0;               // of a block of another launch, earliest
  };

  // A launch begins at the present cycle, all cores free since earlier cycles. Returns the cycle in which its last
  // block ends, where that is known; then end() follows in that cycle. Else it is simulated.
  std::optional<u64> begin(const task::KernelLaunch& op, const std::vector<u64>& args);
  // A launch that was simulated ends. How it went is noted where begin() was called for it.
  void simulated(const Outcome& outcome);
  // The latest launch that began was not simulated, and ends.
  Outcome end();
  // Memory has been freed: how launches went says no longer whether they are legal.
  void forget() { ++memory_changes_; }

  u64 count() const { return count_; }          // of launches that were not simulated
  u64 cube_macs() const { return cube_macs_; }  // of these

 private:
  // What decides how a launch goes, besides the state of the chip.
  struct Key {
    u32 kernel, aiv_kernel, aivs, block_dim;
    std::vector<u64> args;
    auto operator<=>(const Key&) const = default;
  };
  // How a launch went. Times are from its beginning on.
  struct Past {
    u64 cycles = 0;
    Outcome outcome;
    std::vector<u64> counts;
    u64 instructions = 0;
    std::vector<Journal::Sums> sums;  // by core
    MemorySystem::Served served;
    u64 ffts = 0;  // in ticks
  };
  // The state at the beginning of a launch, to see what it changes.
  struct Watched {
    std::vector<u64> counts;
    u64 instructions = 0;
    std::vector<Journal::Sums> sums;
    u64 moment = 0, not_served = 0;  // of the memory system
  };
  struct Known {
    bool depends_on_time = false;  // its program reads a clock, or what is left from before
    u64 memory_changes = 0;        // before `past`
    std::optional<Past> past = {};
  };

  void note(Key key, const task::KernelLaunch& op);
  bool depends_on_time(const task::KernelLaunch& op) const;
  Watched watch() const;
  Past past_since(const Watched& before, const Outcome& outcome) const;
  std::vector<u64> counts() const;
  void settle();

  sim::Env& env_;
  Chip& chip_;
  const KernelCodes& codes_;
  u64 last_cycle_;
  std::vector<stats::Group*> counters_;  // of what launches count
  std::map<Key, Known> known_;
  u64 memory_changes_ = 0;
  u64 noted_ = 0;  // bytes of arguments and lines in them
  Known* latest_ = nullptr;
  u64 begin_ = 0;                   // of the latest one
  std::optional<Watched> watched_;  // the latest one
  u64 count_ = 0, cube_macs_ = 0;
};

}  // namespace vinci::models
