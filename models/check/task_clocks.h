// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "isa/check/checker.h"

namespace vinci::models {

// The happens-before relation of tasks, by vector clocks. Each stream of tasks has a clock: for each stream, how many
// of its tasks are finished when the next task begins. Host threads and semaphores are streams, too. Events, notifies
// and the like carry clocks from one stream to another: acquire() joins the clock that release() gave.
class TaskClocks final : public isa::check::TaskOrder {
 public:
  using Time = std::vector<u32>;  // by stream: tasks that are finished

  // The next task of a stream, which the stream has reached. Tasks are numbered from 0 in the order of these calls.
  void reach(u32 stream);
  // The task begins: the clock of its stream ticks.
  void begin(u32 task) { ++streams_[tasks_[task].stream].begun; }

  bool happens_before(u32 earlier, u32 later) const override;

  u32 stream_of(u32 task) const { return tasks_[task].stream; }
  // The time at the end of the present task of a stream.
  Time release(u32 stream);
  // What a stream does from now on happens after that time.
  void acquire(u32 stream, const Time& time);

  // A host thread enqueues the next task of a stream: with its time, which the stream acquires when it comes to that
  // task.
  void enqueue(u32 stream, u32 host_thread);
  void dequeue(u32 stream);

 private:
  using SharedTime = std::shared_ptr<const Time>;  // of many tasks, because it changes rarely
  struct Task {
    u32 stream = 0, position = 0;
    SharedTime time;  // at its beginning
  };
  struct Stream {
    u32 begun = 0;
    SharedTime time = std::make_shared<Time>();
    std::deque<SharedTime> enqueued = {};  // with each task that the stream has not come to
    SharedTime acquired = {};              // the latest of them
  };
  Stream& stream(u32 index);

  std::vector<Task> tasks_;
  std::vector<Stream> streams_;
};

}  // namespace vinci::models
