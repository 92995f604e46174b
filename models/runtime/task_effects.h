// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "isa/census/origins.h"
#include "isa/check/checker.h"
#include "isa/shadow/shadow.h"
#include "models/check/task_checker.h"
#include "models/runtime/collectives.h"
#include "models/runtime/task_numbers.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

// What tasks do to memory and to the float status of the device, the same timed and untimed, and what the checker of
// the run is told of them.
class TaskEffects {
 public:
  // `checker` may be null.
  TaskEffects(const task::TaskStream& stream, const config::LinksConfig& links, task::RunMemory& memory,
              isa::check::Checker* checker);

  // Takes over what the task stream has gained at its end: streams and tasks.
  void append();

  // Counts from now on what reductions in memory do.
  void count(isa::Census* census) {
    census_ = census;
    collectives_.count(census, *numbers_);
  }
  isa::check::Checker* checker() const { return checker_; }
  // The number of a task for the census and the checker.
  u32 number(u32 stream, u32 task) const { return numbers_->number(stream, task); }
  const TaskNumbers& numbers() const { return *numbers_; }
  // A kernel starts. Returns the task for CoreChecker::begin, 0 without a checker.
  u32 begin_kernel(u32 stream, u32 task);
  // The effect of a task that is no kernel. Faults carry the place of the task. One that the memory refuses is left out
  // and reported, with a checker.
  void perform(u32 stream, u32 task);
  // A kernel of a stream is finished: all its blocks together raised these bits of STATUS.
  void end_kernel(u32 stream, u64 status);
  // A stream comes to a task that may have to wait for an event or a notify; its effect follows with perform().
  void reach(u32 stream, u32 task);
  // The same of a host thread that synchronizes with an event.
  void host_reaches(u32 thread, u32 event);
  void host_passes(u32 thread, u32 event);
  // What one does from now on happens after all that the other has done so far: streams, a host thread that waits for a
  // stream, a host thread that adds to a semaphore, and one that takes from it.
  void follow(u32 stream, u32 earlier) { order(of_stream(stream), of_stream(earlier)); }
  void host_follows(u32 thread, u32 stream) { order(thread, of_stream(stream)); }
  void posts(u32 thread, u32 semaphore) { order(of_semaphore(semaphore), thread); }
  void takes(u32 thread, u32 semaphore) { order(thread, of_semaphore(semaphore)); }
  // A host thread enqueues the next task of a stream, which happens after all that the thread has done so far; the
  // stream comes to that task.
  void enqueue(u32 stream, u32 thread);
  void dequeue(u32 stream);

  // A stream comes to its collective, as Collectives::arrive(); the effect follows with perform().
  const Collectives::Call* arrive(u32 stream, u32 task);
  const Collectives& collectives() const { return collectives_; }

  // What tasks that steer read from device memory: whether a comparison holds, and an index.
  bool holds(u32 stream, u32 task) const;
  u32 index(u32 stream, u32 task, const task::Slice& slice) const;
  // Ends the run: what the task asks for cannot be. Fault::Program, and a finding of the checker.
  [[noreturn]] void refuse(u32 stream, u32 task, const std::string& message);
  // How long each block of an AICPU task takes, in seconds, on a processor of such bandwidth in bytes per second.
  double aicpu_seconds(const task::CpuKernelLaunch& op, double bandwidth) const;

 private:
  // Of a task that runs: its stream, its position there, and its number for the checker.
  struct Run {
    u32 stream = 0;
    u32 position = 0;
    u32 task = 0;
  };

  // For the checker, host threads, semaphores and streams are one list. Only streams can be appended to it.
  u32 of_semaphore(u32 index) const { return threads_ + index; }
  u32 of_stream(u32 stream) const { return threads_ + semaphores_ + stream; }
  void order(u32 later, u32 earlier);
  u32 begin(u32 stream, u32 task);
  void check_arguments(u32 stream, u32 task) const;
  bool touch(Run run, const task::Slice& slice, u64 bytes, std::string_view what, bool write);
  // Whether a task may touch its described parts: with a checker, a part that it may not touch is reported.
  template <class Op>
  bool touch_parts(const Op& op, Run run);
  // The effect of an operation on memory and on the device, behind touch_parts().
  template <class Op>
  void perform(const Op& op, Run run);
  // For the checker: a task records a signal, or is past its wait for it.
  void record(const task::Signal& signal, Run run);
  void pass(const task::Signal& signal, Run run);
  const std::string& name_of(const task::Signal& signal) const;
  template <class Op>
  void reduce_with_shadow(const Op& op, u32 task, isa::CensusPoint& point);
  // Special values that a copy takes along.
  void follow(const task::MemcpyAsync& op, Run run);
  template <class F>
  void for_each_shadow(F f) const {
    if (census_ == nullptr || census_->shadow == nullptr) return;
    f(*census_->shadow);
    if (census_->what_if != nullptr) f(*census_->what_if);
  }
  isa::RefSpace& references(isa::Shadow& shadow, const task::Slice& s) const;
  void clear_references(const task::Slice& s, u64 bytes) const;
  isa::Origins* marked() const;  // null where no special value is followed
  isa::Origins::Place place(const task::Slice& s) const;
  void check(const task::MemcpyAsync& op, u32 task);
  bool alive(u32 buffer, u32 task, std::string_view what);

  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  isa::check::Checker* checker_;
  std::optional<TaskChecker> tasks_;  // with a checker
  isa::Census* census_ = nullptr;
  Collectives collectives_;
  std::vector<bool> float_overflow_;  // the float status by device: sticky until a task clears it
  u32 threads_, semaphores_;          // of the host
  // Shared with the checker, which may outlive the run.
  std::shared_ptr<TaskNumbers> numbers_;
  std::vector<usize> checked_;  // by stream: tasks whose arguments are known to be right
  // The wait that was reached and has not begun, by stream.
  std::vector<std::optional<u32>> reached_;
  std::vector<u32> host_reached_;  // the same, by host thread
};

}  // namespace vinci::models
