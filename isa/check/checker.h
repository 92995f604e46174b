// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa/check/clock.h"
#include "isa/check/cross_rounds.h"
#include "isa/check/finding.h"
#include "isa/check/gm_shadow.h"
#include "isa/check/task_order.h"
#include "isa/code.h"
#include "isa/issue.h"

namespace vinci::isa::check {

class CoreChecker;

// The checker of one run: what is known about tasks and global memory, and all findings. A CoreChecker for each core
// feeds it. docs/checker.md says how it works.
class Checker {
 public:
  // `gm` gives allocations their names.
  explicit Checker(const GlobalMemory& gm);
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // A core of the run; lives as long as the checker.
  CoreChecker& add_core(const CoreSpec& spec, std::string name);

  // Where tasks stand, by number, for reports; "" where nowhere.
  void set_places(std::function<std::string(u32 number)> place_of) { place_of_ = std::move(place_of); }

  // Tasks. `number` orders them for reports whatever the schedule; tasks of one stream begin in their order. Returns
  // the task for the calls below and for CoreChecker::begin.
  u32 begin_task(u32 stream, u32 number, std::string name);
  // The same in two steps, for a task that may have to wait: its stream has come to it, and it begins.
  u32 reach_task(u32 stream, u32 number, std::string name);
  void begin_reached(u32 task) { ++stream(tasks_[task].stream).begun; }
  // The host hands a stream its next task, which comes after all that the host thread has come after so far; the stream
  // comes to it.
  void hand_over(u32 stream, u32 host_thread);
  void come_to_handed(u32 stream);
  // What tasks do to events and notifies, to be called when they have begun, and before that of waits when they are
  // reached. `name` of the event or the notify is for reports.
  void record_event(u32 task, u32 event, std::string_view name);
  void reach_event_wait(u32 task, u32 event, std::string_view name) { order_.event_wait(task, event, name); }
  void wait_event(u32 task, u32 event);
  void reset_event(u32 task, u32 event, std::string_view name);
  void record_notify(u32 task, u32 notify, std::string_view name);
  void reach_notify_wait(u32 task, u32 notify, std::string_view name) { order_.notify_wait(task, notify, name); }
  void wait_notify(u32 task, u32 notify);
  // A collective is reached: of a communicator on a device, which are a group. `name` of the group is for reports.
  void reach_collective(u32 task, u64 group, std::string_view name) { order_.collective(task, group, name); }
  // What a stream does from now on comes after all that another one has done so far.
  void follow(u32 stream, u32 earlier);
  // What a task that is no kernel does to global memory.
  void task_access(u32 task, u64 address, u64 bytes, bool write);
  void task_frees(u32 task, u64 address, u64 bytes);
  void task_fault(u32 task, FaultId id, const std::string& message);

  // Whether the free of these bytes of global memory comes before a task; false: it may also come after it.
  bool freed_before(u32 task, u64 address) const;

  // Nothing can move any more, because all is done or because nothing can: blocks that have not ended are stuck.
  void finish();

  const Findings& findings() const { return findings_; }

  // For CoreChecker and TaskOrder -------------------------------------------------------------------------------------

  // An instruction that touches memory, and what is known when it starts.
  struct Present {
    Record record;
    const Clock& clock;
    const Issued* inst;  // null: a task
    u32 number = 0;      // of the record, in the shadow at hand
  };
  CrossRounds& cross_rounds() { return cross_rounds_; }
  u32 new_actor(u32 task, u32 block, const Code& code, const std::string& core);
  void touch_gm(Present present, const Footprint& footprint);
  // Whether `earlier` is finished before `now` starts, or need not be.
  bool ordered(const Record& earlier, bool earlier_writes, const Present& now, const Access& access) const;
  void conflict(const Record& other, bool other_writes, const Present& now, const Access& access, u64 begin, u64 end);
  void undefined(const Present& now, const Access& access, u64 begin, u64 end);
  // Whether a task is finished before another one begins, and its number.
  bool task_before(u32 earlier, u32 later) const { return task_before(tasks_[earlier], tasks_[later]); }
  u32 number_of(u32 task) const { return tasks_[task].number; }
  // A finding about two tasks that nothing orders.
  void report_unordered(FaultId id, u32 one, u32 other, std::string message);
  // A finding about one instruction, or about it and another of its block. Of `f`, all but sites, count and suggestion
  // is filled in by the caller.
  void report(Finding f, const Record& at, const Issued* inst, const Record* other = nullptr,
              bool other_writes = false);

 private:
  static constexpr u32 kNoBlock = ~u32{0};
  struct Task {
    std::string name = {};
    u32 stream = 0, position = 0, number = 0;
    std::shared_ptr<const std::vector<u32>> knows = {};  // by stream: so many of its tasks are finished before
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
  struct Stream {
    u32 begun = 0;
    std::shared_ptr<const std::vector<u32>> knows = std::make_shared<std::vector<u32>>();
    std::deque<std::shared_ptr<const std::vector<u32>>> handed = {};  // with each task that the stream has not come to
    std::shared_ptr<const std::vector<u32>> learned = {};             // the latest of them that it has come to
  };

  bool task_before(const Task& earlier, const Task& later) const;
  Stream& stream(u32 index);
  std::vector<u32> known_after(u32 stream);
  void learn(Stream& stream, const std::vector<u32>& known);
  Site site(const Record& r, const Issued* inst, bool write) const;
  u64 site_key(const Record& r) const;
  Findings::Moment moment(const Record& r) const;
  std::string suggestion(FaultId id, const Site& at, const Site& other) const;
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
  std::vector<Stream> streams_;
  using Signals = std::unordered_map<u32, std::vector<u32>>;
  Signals events_, notifies_;  // that are up: what all records of the event, the first of the notify know
  TaskOrder order_{*this};
  std::function<std::string(u32)> place_of_;
  CrossRounds cross_rounds_;
  Records records_;
  GmShadow shadow_{records_};
  Findings findings_;
};

}  // namespace vinci::isa::check
