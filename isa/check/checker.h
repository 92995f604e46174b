// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/check/cross_rounds.h"
#include "isa/check/finding.h"
#include "isa/check/gm_shadow.h"
#include "isa/check/vector_clock.h"
#include "isa/check/wait_loops.h"
#include "isa/code.h"
#include "isa/issue.h"

namespace vinci::isa::check {

class CoreChecker;

// The order of tasks, which the runtime decides (models/check).
class TaskOrder {
 public:
  virtual ~TaskOrder() = default;
  // Whether a task is finished before another one begins, whatever the schedule.
  virtual bool happens_before(u32 earlier, u32 later) const = 0;
};

// The checker of one run: accesses to global memory, flags between cores, and all findings. Each core has a
// CoreChecker. docs/checker.md says how it works.
class Checker {
 public:
  // `gm` gives allocations their names.
  explicit Checker(const GlobalMemory& gm);
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // A core of the run; lives as long as the checker.
  CoreChecker& add_core(const CoreSpec& spec, std::string name);

  // Where tasks are in their file, by number, for reports; "" where nowhere.
  void set_places(std::function<std::string(u32 number)> place_of) { place_of_ = std::move(place_of); }

  // Which tasks are ordered; must live as long as tasks touch memory. Without it, no task happens before another one.
  void set_task_order(const TaskOrder* order) { order_ = order; }

  // Tasks. `number` orders them for reports whatever the schedule. Returns the task for the calls below and for
  // CoreChecker::begin.
  u32 add_task(u32 number, std::string name);
  u32 number_of(u32 task) const { return tasks_[task].number; }
  // What a task that is no kernel does to global memory.
  void task_access(u32 task, u64 address, u64 bytes, bool write);
  void task_frees(u32 task, u64 address, u64 bytes);
  void task_fault(u32 task, FaultId id, const std::string& message);
  // A finding about two tasks that nothing orders.
  void report_unordered(FaultId id, u32 one, u32 other, std::string message);

  // Whether the free of these bytes of global memory comes before a task; false: it may also come after it.
  bool freed_before(u32 task, u64 address) const;

  // Nothing can move any more, because all is done or because nothing can: blocks that have not ended are stuck.
  void finish();

  const Findings& findings() const { return findings_; }

  // For CoreChecker ---------------------------------------------------------------------------------------------------

  // An instruction that touches memory, and what is known when it starts.
  struct Present {
    Record record;
    const VectorClock& clock;
    const Issued* inst;  // null: a task
    u32 number = 0;      // of the record, in the shadow at hand
    u32 before = 0;      // position of what its pipe did before it, apart from flags and barriers
  };
  CrossRounds& cross_rounds() { return cross_rounds_; }
  u32 new_actor(u32 task, u32 block, const Code& code, const std::string& core);
  void touch_gm(Present present, const Footprint& footprint);
  // Whether `earlier` is finished before `now` starts, or need not be.
  bool ordered(const Record& earlier, bool earlier_writes, const Present& now, const Access& access) const;
  void conflict(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin, u64 end);
  void undefined(const Present& now, const Access& access, u64 begin, u64 end);

  // Waits through global memory: a loop of the program reads a word, by a scalar load or by a copy and a load, until
  // another core has written it. What that core had finished before it wrote happens before what follows the loop.
  //
  // Whether the program waits for what the load at `pc` has read, in a loop that begins at `first` or earlier.
  using Pieces = std::vector<std::pair<u64, u64>>;
  WaitLoops::Kind waits(const Code& code, u32 pc, u32 first) { return wait_loops_.waits(code, pc, first); }
  // A core has waited for these bytes: it comes after their writers of other blocks of its task, of which it may have
  // gone past some before. In a recording, whose loops are gone, the write may come later in this run than the load:
  // then what the core does from `issued` on is compared when it comes.
  void waited(CoreChecker& core, u32 issued, const Pieces& read, WaitLoops::Kind kind);
  // What a copy has read, which turns out to be a part of such a loop: no access conflicts with it any more. Nothing
  // where it read no global memory, or much of it.
  Pieces take_copy(const Record& copy);
  // A block ends: its copies are no part of a loop.
  void settle_copies(u32 actor);
  // A finding about one instruction, or about it and another of its block. Of `f`, all but sites, count and suggestion
  // is filled in by the caller.
  void report(Finding f, const Record& at, const Issued* inst, const Record* other = nullptr,
              bool other_writes = false);

 private:
  static constexpr u32 kNoBlock = ~u32{0};
  struct Task {
    std::string name = {};
    u32 number = 0;
    bool frees = false;
  };
  struct Freed {
    u64 begin = 0, end = 0;
    u32 task = 0;
  };
  struct Actor {
    u32 task = 0;
    u32 block = kNoBlock;
    u32 code = 0;  // index into codes_
    const std::string* core = nullptr;
  };

  // Bytes of global memory that an access may have to count as one of a word for waits: no more than a few blocks of 32
  // B.
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
  void close_wait(OpenWait wait, const VectorClock& clock);
  void close_waits(const Release& release, const Pieces& written);
  void report_conflict(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin,
                       u64 end);

  bool happens_before(u32 earlier, u32 later) const {
    return order_ != nullptr && order_->happens_before(earlier, later);
  }
  Site site(const Record& r, const Issued* inst, bool write) const;
  u64 site_key(const Record& r) const;
  Findings::Moment moment(const Record& r) const;
  void name_allocation(Finding& f) const;
  void report_cross_waits();
  void report_unpaired_cross_sets();

  const GlobalMemory& gm_;
  std::deque<std::unique_ptr<CoreChecker>> cores_;
  std::vector<Task> tasks_;
  std::vector<Freed> freed_;
  std::vector<Actor> actors_;
  std::vector<const Code*> codes_;
  std::unordered_map<const Code*, u32> code_index_;
  const TaskOrder* order_ = nullptr;
  std::function<std::string(u32)> place_of_;
  CrossRounds cross_rounds_;
  Records records_;
  GmShadow shadow_{records_};
  WaitLoops wait_loops_;
  std::unordered_map<u32, Release> releases_;  // of small writes, by record
  // Small copies of PIPE_MTE2 from global memory of blocks that have not ended, and those that were parts of loops.
  std::unordered_map<u64, Copy> copies_;
  std::unordered_map<u32, std::vector<u64>> copies_of_;  // by actor
  std::unordered_set<u64> polls_;
  std::vector<OpenWait> open_waits_;
  std::vector<ClosedWait> closed_waits_;
  std::map<std::pair<u32, u64>, Passed> passed_;  // the latest write that an actor has waited for, by address
  Findings findings_;
};

}  // namespace vinci::isa::check
