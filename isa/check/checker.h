// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa/check/cross_rounds.h"
#include "isa/check/finding.h"
#include "isa/check/gm_shadow.h"
#include "isa/check/memory_waits.h"
#include "isa/check/same_writes.h"
#include "isa/machine/issue.h"
#include "isa/program/code.h"

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

  // A core of the run; lives as long as the checker. `with_data`: its instructions have data to take addresses from, so
  // it says Observer::executed().
  CoreChecker& add_core(const CoreSpec& spec, std::string name, bool with_data);

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

  CrossRounds& cross_rounds() { return cross_rounds_; }
  u32 new_actor(u32 task, u32 block, const Code& code, const std::string& core);
  void touch_gm(Present present, const Footprint& footprint);
  // Whether `earlier` is finished before `now` starts, or need not be.
  bool ordered(const Record& earlier, bool earlier_writes, const Present& now, const Access& access) const;
  void conflict(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin, u64 end);
  void undefined(const Present& now, const Access& access, u64 begin, u64 end);

  MemoryWaits& memory_waits() { return memory_waits_; }
  SameWrites& same_writes() { return same_writes_; }
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
  MemoryWaits memory_waits_{
      records_, shadow_, [this](u32 actor) { return actors_[actor].task; },
      [this](const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin, u64 end) {
        const bool both_write = other_writes && access.write;
        if (!both_write || !same_writes_.hold(other, now, access, begin, end))
          report_conflict(other, other_writes, now, access, begin, end);
      }};
  SameWrites same_writes_{gm_, [this](const Record& other, const Present& now, const Access& access, u64 begin,
                                      u64 end) { report_conflict(other, true, now, access, begin, end); }};
  Findings findings_;
};

}  // namespace vinci::isa::check
