// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>

#include "models/runtime/streams.h"

namespace vinci::models {

// The host program without time: threads that hand tasks to streams, compute, and wait for the device and for each
// other. A task stream without a host program has one thread, which enqueues a task of each stream in turn and waits
// for the end. The caller decides how long a step takes.
class HostThreads {
 public:
  // With an open program, steps may be appended: a thread that comes to the end of its steps is out of steps, not at
  // its end.
  enum class Program : u8 { complete, open };
  HostThreads(const task::TaskStream& stream, Streams& streams, TaskEffects& effects, Carrier& carrier,
              Program program = Program::complete);
  // Takes over the steps that the task stream has gained, without a host program those for tasks that streams have
  // gained. Returns the threads that had ended: they are to go on.
  std::vector<u32> append();
  // From now on threads end where their steps end; append() makes the program what it was.
  void complete() { program_ = Program::complete; }

  // What a thread spends its time on.
  enum class Work : u8 { launch, enqueue, synchronize, compute };
  struct Step {
    Work work = Work::enqueue;
    double seconds = 0;     // of computing
    std::string name = {};  // task, computation or stream, for the timeline
    std::string detail = {};
    u32 stream = task::kNone;  // that a task is handed to
  };

  u32 count() const { return static_cast<u32>(threads_.size()); }
  const std::string& name(u32 thread) const { return program(thread).name; }
  // Lets a thread go on until it has to spend time, which is returned: call again when it has passed. Nothing: the
  // thread has ended, or is out of steps, or waits; then Carrier::wake_host() says when to call again.
  std::optional<Step> go_on(u32 thread);
  // Whether go_on() has left the thread at the end of the steps of an open program: call it again when there are more.
  bool out_of_steps(u32 thread) const { return threads_[thread].out; }

  // Whether the step that go_on() returned is one of a loop.
  bool in_loop(u32 thread) const { return !threads_[thread].loops.empty(); }

  // All threads have ended.
  bool finished() const { return ended_ == threads_.size(); }
  // Of the kernel blocks and other tasks of all that is enqueued.
  double planned_units() const;
  // A line for each thread that waits, with its place and, of a semaphore, who would post it.
  void report(std::vector<std::string>& lines) const;

 private:
  std::string who_posts(u32 semaphore) const;

  enum class Phase : u8 { begin, paid, handed };
  struct Loop {
    u32 begin = 0, end = 0;
    u64 left = 0;
  };
  struct Thread {
    u32 step = 0;
    Phase phase = Phase::begin;                // of the step, of an enqueue of its task
    u32 task = 0;                              // of an enqueue
    u64 ticket = 0;                            // the thread waits until so many tasks of the stream are over
    std::vector<std::pair<u32, u64>> tickets;  // the same of several streams
    std::vector<Loop> loops;
    u64 turn = 0;  // of what it has enqueued (Turns)
    bool ended = false, waits = false, out = false;
    bool granted = false;  // a semaphore was handed to it
  };
  struct Semaphore {
    u64 count = 0;
    std::deque<u32> waiters;
  };
  using Outcome = std::optional<Step>;  // of a step that has not come to its end: time to spend, or nothing: it waits

  const task::HostThread& program(u32 thread) const {
    return stream_.host.threads.empty() ? default_ : stream_.host.threads[thread];
  }
  void extend_default();
  double units(const std::vector<task::HostStep>& steps, usize begin, usize end) const;
  u32 end_of(const task::HostEnqueue& op) const;
  const task::Task& task_of(u32 stream, u32 task) const { return stream_.streams[stream].tasks[task]; }
  // Waits until `ticket` tasks of a stream are over; true when they are.
  bool reached(u32 thread, u32 stream, u64 ticket);
  bool pageable(const task::Task& task) const;

  bool carry_on(u32 thread, Outcome& out);
  // Each carries a step on; true when it is done, else `out` says what the thread does.
  bool carry(u32 thread, const task::HostEnqueue& op, Outcome& out);
  bool carry(u32 thread, const task::HostCompute& op, Outcome& out);
  bool carry(u32 thread, const task::SynchronizeStream& op, Outcome& out);
  bool carry(u32 thread, const task::SynchronizeEvent& op, Outcome& out);
  bool carry(u32 thread, const task::SynchronizeDevice& op, Outcome& out);
  bool carry(u32 thread, const task::HostPost& op, Outcome& out);
  bool carry(u32 thread, const task::HostWait& op, Outcome& out);
  bool carry(u32 thread, const task::HostRepeat& op, Outcome& out);
  bool synchronize(u32 thread, std::string_view name, Outcome& out);

  const task::TaskStream& stream_;
  Streams& streams_;
  TaskEffects& effects_;
  Carrier& carrier_;
  Program first_program_, program_;
  task::HostThread default_;
  std::vector<u32> enqueued_by_default_;  // by stream: tasks
  std::vector<Thread> threads_;
  std::vector<Semaphore> semaphores_;
  usize ended_ = 0;
  mutable std::optional<double> planned_units_;  // none: to be counted again
};

// Kernel blocks, of a MIX task for each core of a block; a task without blocks is one.
u64 units_of(const task::Task& task);

}  // namespace vinci::models
