// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <compare>
#include <span>
#include <string>
#include <vector>

#include "isa/arch.h"

// Flags between the cores of one task, by the FFTS of the split architectures: no time. Source: published documentation
// of CrossCoreSetFlag and CrossCoreWaitFlag.
namespace vinci::isa {

inline constexpr u32 kCrossCoreFlags = 16;     // ids, each a counter of every core
inline constexpr u32 kMaxCrossCoreCount = 15;  // a counter has 4 bits
inline constexpr u32 kMaxVectorCoresPerBlock = 2;

// A core of a task: of its block the AIC (part 0), or an AIV (part 1 and 2). Blocks of one core have one part.
struct TaskCore {
  u32 block = 0;
  u32 part = 0;

  friend auto operator<=>(const TaskCore&, const TaskCore&) = default;
};

// What the cores of a task are.
struct TaskShape {
  u32 blocks = 1;
  bool cube = true;      // part 0 exists
  u32 vector_cores = 0;  // of a block
  u32 resident = 1;      // blocks that the chip can hold at once

  bool mix() const { return cube && vector_cores > 0; }
};

// The second operand of ffts_cross_core_sync: 0x1 | mode << 4 | flag << 8.
//
// A pair is an addition of ours: mode 2 between the AIC of a block and one of its AIVs alone, with the number of the
// AIV from 1 in bits 12 and 13. It represents a word in global memory that one writes and the other polls, which a
// program without data cannot do; recordings of Ascend C have it (docs/ascendc.md). Each AIV takes flags of its own for
// it.
struct CrossCoreSet {
  // 0: all cores of one kind in the task; 1: the AIVs of a block; 2: from the AIC of a block to its AIVs, or back; 3: a
  // pair.
  u32 mode = 0;
  u32 flag = 0;
  u32 aiv = 0;  // of a pair, from 1

  static constexpr u32 kPair = 3, kModes = 4;

  static CrossCoreSet parse(u64 config);  // throws Fault::Program, for later modes Fault::Unsupported
};

// The counters. In modes with several setters, a round is complete when each has set; sets beyond that count for the
// next rounds. Counters of all cores are 0 when a task begins; what is left over when it ends is dropped.
class CrossCoreFlags {
 public:
  explicit CrossCoreFlags(const TaskShape& shape) : shape_(shape) {}

  // A core sets. Returns the cores whose counter is to be incremented, none while other setters are missing; valid
  // until the next call. Throws Fault::Program where the task has no such partners, or a block that would have to take
  // part cannot be resident; and where a core sets further ahead of its partners than a counter can count.
  std::span<const TaskCore> set(const TaskCore& core, const CrossCoreSet& what);
  // Whether this set would find a counter full: a run without time then lets other cores go first.
  bool full(const TaskCore& core, const CrossCoreSet& what);
  // Throws Fault::Program, with the name of the hardware error, when the counter is full.
  void increment(const TaskCore& core, u32 flag);
  // wait_flag_dev: false while the counter is 0, else decrements it.
  bool take(const TaskCore& core, u32 flag);

  // What is missing for a counter of this core to leave 0, for messages.
  std::string missing(const TaskCore& core, u32 flag) const;
  // "AIV1 of block 3"
  std::string name(const TaskCore& core) const;

 private:
  using Counts = std::array<u8, kCrossCoreFlags>;
  struct CoreState {
    Counts count{};
    std::array<Counts, CrossCoreSet::kModes> ahead{};  // sets of rounds that are not complete
  };

  CoreState& state(const TaskCore& core) { return states_[index(core)]; }
  usize index(const TaskCore& core) const { return usize{core.block} * (1 + kMaxVectorCoresPerBlock) + core.part; }
  void list_setters(const TaskCore& core, u32 mode, std::vector<TaskCore>& out) const;
  void list_vector_cores(u32 block, std::vector<TaskCore>& out) const;

  TaskShape shape_;
  std::vector<CoreState> states_;  // empty until the first set
  std::vector<TaskCore> setters_, released_;
};

}  // namespace vinci::isa
