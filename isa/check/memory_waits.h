// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "isa/check/gm_shadow.h"
#include "isa/check/present.h"
#include "isa/check/record.h"
#include "isa/check/vector_clock.h"
#include "isa/check/wait_loops.h"

namespace vinci::isa::check {

class CoreChecker;

// Waits through global memory: a loop of the program reads a word, by a scalar load or by a copy and a load, until
// another core has written it. What that core had finished before it wrote happens before what follows the loop.
//
// Conflicts in global memory come here first. Those that such a wait may yet order are held back until it is known.
class MemoryWaits {
 public:
  using Pieces = std::vector<std::pair<u64, u64>>;
  using TaskOf = std::function<u32(u32 actor)>;
  using Report = std::function<void(const Record& other, bool other_writes, const Present& now, const Access& access,
                                    u64 begin, u64 end)>;

  // `records` and `shadow` are those of global memory.
  MemoryWaits(const Records& records, GmShadow& shadow, TaskOf task_of, Report report)
      : records_(records), shadow_(shadow), task_of_(std::move(task_of)), report_(std::move(report)) {}

  // Whether the program waits for what the load at `pc` has read, in a loop that begins at `first` or earlier.
  WaitLoops::Kind waits(const Code& code, u32 pc, u32 first) { return loops_.waits(code, pc, first); }
  // A core has waited for these bytes: it comes after their writers of other blocks of its task, of which it may have
  // gone past some before. In a recording, whose loops are gone, the write may come later in this run than the load:
  // then what the core does from `issued` on is compared when it comes.
  void waited(CoreChecker& core, u32 issued, const Pieces& read, WaitLoops::Kind kind);
  // What a copy has read, which turns out to be a part of such a loop: no access conflicts with it any more. Nothing
  // where it read no global memory, or much of it.
  Pieces take_copy(const Record& copy);
  // A block ends: its copies are no part of a loop.
  void settle_copies(u32 actor);
  // An access, before it enters the shadow.
  void note(const Present& now, const Footprint& footprint);
  // Reports a conflict at once, when a wait turns out not to order it, or never.
  void conflict(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin, u64 end);
  // The run is over: what is still held back is reported.
  void finish();

 private:
  // Bytes that an access may have to count as one of a word: no more than a few blocks of 32 B.
  static constexpr u64 kWordBytes = 512;
  // What a pipe had finished when it wrote a word.
  struct Release {
    VectorClock clock;
    u32 actor = 0;
  };
  // A conflict with a copy that may be a part of a loop.
  struct Pending {
    Record other, now;
    bool other_writes = false;
    std::optional<Issued> inst;
    Access access;
    u64 begin = 0, end = 0;
  };
  struct Copy {
    Pieces read;  // of global memory
    std::vector<Pending> conflicts;
  };
  // A wait whose write has not come yet in this run, and conflicts with what its core did behind it.
  struct OpenWait {
    CoreChecker* core = nullptr;
    u32 actor = 0, issued = 0;
    Pieces read;
    VectorClock before;  // of an earlier write of these bytes that the core has waited for
    std::vector<Pending> conflicts;
  };
  // One whose write has come: what its actor did from `issued` on comes after `clock`.
  struct ClosedWait {
    u32 actor = 0, issued = 0;
    VectorClock clock;
  };
  struct Passed {
    u32 record = 0;
    VectorClock clock;
  };
  static u64 key_of(const Record& r) { return u64{r.actor} << 32 | r.position; }
  VectorClock full(const Release& release) const;
  void note_copy(const Present& now, const Footprint& footprint);
  void note_release(const Present& now, const Footprint& footprint);
  void hold_or_report(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin,
                      u64 end);
  static Pending pending(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin,
                         u64 end);
  void take_up(const Pending& p);
  // Conflicts of a wait that comes after `clock`: those that it orders are none.
  void close_wait(const OpenWait& wait, const VectorClock& clock);
  void close_waits(const Release& release, const Pieces& written);

  const Records& records_;
  GmShadow& shadow_;
  TaskOf task_of_;
  Report report_;
  WaitLoops loops_;
  std::unordered_map<u32, Release> releases_;  // of small writes, by record
  // Small copies of PIPE_MTE2 from global memory of blocks that have not ended, and those that were parts of loops.
  std::unordered_map<u64, Copy> copies_;
  std::unordered_map<u32, std::vector<u64>> copies_of_;  // by actor
  std::unordered_set<u64> polls_;
  std::vector<OpenWait> open_waits_;
  std::vector<ClosedWait> closed_waits_;
  std::map<std::pair<u32, u64>, Passed> passed_;  // the latest write that an actor has waited for, by address
};

}  // namespace vinci::isa::check
