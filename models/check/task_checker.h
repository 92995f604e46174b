// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "isa/check/checker.h"
#include "models/check/signal_order.h"
#include "models/check/task_clocks.h"
#include "sim/task/ops.h"

namespace vinci::models {

// The part of the checker that knows streams, events, notifies and collectives: it orders tasks for
// isa::check::Checker, which checks what they touch, and reports tasks whose order decides where a run goes. Streams
// are those of TaskClocks.
class TaskChecker {
 public:
  explicit TaskChecker(isa::check::Checker& checker) : checker_(checker), order_(checker, clocks_) {
    checker_.set_task_order(&clocks_);
  }
  ~TaskChecker() { checker_.set_task_order(nullptr); }
  TaskChecker(const TaskChecker&) = delete;
  TaskChecker& operator=(const TaskChecker&) = delete;

  // A stream reaches its next task, which begins later where it has to wait. Returns the task for isa::check::Checker.
  u32 reach(u32 stream, u32 number, std::string name);
  void begin(u32 task) { clocks_.begin(task); }

  // A host thread enqueues the next task of a stream; the stream comes to it.
  void enqueue(u32 stream, u32 host_thread) { clocks_.enqueue(stream, host_thread); }
  void dequeue(u32 stream) { clocks_.dequeue(stream); }
  // What a stream does from now on happens after all that another one has done so far.
  void order(u32 stream, u32 earlier);

  // What tasks do to events and notifies, when they have begun. A wait is reached first. `name` is for reports.
  void record(u32 task, const task::Signal& signal, std::string_view name);
  void reach_wait(u32 task, const task::Signal& signal, std::string_view name) { order_.reach(task, signal, name); }
  void pass_wait(u32 task, const task::Signal& signal);
  void reset(u32 task, u32 event, std::string_view name);
  // A collective is reached: of a communicator on a device, which are a group. `name` of the group is for reports.
  void reach_collective(u32 task, u64 group, std::string_view name) { order_.collective(task, group, name); }

 private:
  using Times = std::unordered_map<u32, TaskClocks::Time>;
  Times& times(const task::Signal& signal) { return signal.is_notify() ? notifies_ : events_; }

  isa::check::Checker& checker_;
  TaskClocks clocks_;
  SignalOrder order_;
  // Of those that are up: the time that is common to all records of an event, that of the first record of a notify.
  Times events_, notifies_;
};

}  // namespace vinci::models
