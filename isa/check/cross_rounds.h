// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <compare>
#include <functional>
#include <map>
#include <vector>

#include "isa/check/record.h"
#include "isa/check/vector_clock.h"
#include "isa/machine/cross_core.h"

namespace vinci::isa::check {

// What cross-core flags carry from core to core. The counters work in rounds: the n-th wait of a core for a flag is
// released by the n-th set of each of its partners, whose clocks are kept here.
class CrossRounds {
 public:
  using Counts = std::array<u32, kCrossCoreFlags>;
  struct Core {
    u32 task = 0, block = 0;
    CoreKind kind = CoreKind::cube;
  };

  // `nth` counts the sets of this core in that mode and for that flag, from 0.
  void set(const Core& core, const CrossCoreSet& what, u32 nth, const VectorClock& released, const Record& by);

  // All that the `nth` wait of a core for a flag comes after, from 0.
  VectorClock wait(const Core& core, u32 flag, u32 nth) const;

  // A core has reached its end, after so many waits for each flag.
  void ended(const Core& core, const Counts& waits) { ended_.push_back({core, waits}); }
  // Calls f(set, flag, core) for each core that has waited less often than it was set a flag, with the first set that
  // it has not waited for. Of pairs nothing is said: who waits need not wait for the last one.
  void each_unpaired(const std::function<void(const Record& set, u32 flag, const Core& core)>& f) const;

 private:
  struct Key {
    u32 task = 0, flag = 0, mode = 0, block = 0;  // block: 0 in mode 0, which joins all
    CoreKind kind = CoreKind::cube;               // of who sets
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Round {
    VectorClock clock;
    Record by;  // the latest that set
  };
  struct Ended {
    Core core;
    Counts waits;
  };
  // Whose sets release a core, by mode.
  static std::array<Key, CrossCoreSet::kModes> releasing(const Core& core, u32 flag);

  std::map<Key, std::vector<Round>> rounds_;
  std::vector<Ended> ended_;
};

}  // namespace vinci::isa::check
