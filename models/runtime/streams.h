// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "models/runtime/limits.h"
#include "models/runtime/task_effects.h"
#include "models/runtime/turns.h"
#include "sim/config/chip_config.h"
#include "sim/task/task.h"

namespace vinci::models {

// Carries out what streams and host threads ask for: in time on the units of the chips, or at once.
class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual u64 now() const = 0;
  // Starts the present task of a stream. True: it is over already; else Streams::done() follows. What the task does to
  // memory and to other streams, Streams and TaskEffects carry out; of kernels the carrier does.
  virtual bool begin(u32 stream) = 0;
  // The present task of a stream is over, and its effect is visible.
  virtual void ended(u32 stream) = 0;
  // Something has happened that a host thread watches.
  virtual void wake_host(u32 thread) = 0;
  // Whether no host thread goes on unless a task wakes it.
  virtual bool host_waits() const = 0;
  // Whether time passes while tasks run; else streams that repeat for ever leave the turn to others.
  virtual bool timed() const = 0;
};

// The streams of all devices without time: queues of limited depth, events, notifies, models and labels. It says which
// task goes ahead; a Carrier says how long that takes. Both the timed and the untimed runner are carriers, so streams
// mean the same in both. No stream is looked at unless something happened to it.
class Streams {
 public:
  // Throws Fault::Limit where the task stream needs more than the chip has.
  Streams(const task::TaskStream& stream, const config::ChipConfig& chip, TaskEffects& effects, Carrier& carrier);
  // Takes over what the task stream has gained at its end: streams, their tasks, and what tasks refer to.
  void append();

  // The host hands over a task of a stream; false while its queue is full. `turn` is that of the host thread, and goes
  // on with it (Turns).
  bool enqueue(u32 stream, u32 task, u64& turn);
  // Tasks of a stream that were handed over, and how many of them are over.
  u64 handed(u32 stream) const { return states_[stream].handed; }
  u64 completed(u32 stream) const { return states_[stream].completed; }
  // Whether a host thread gets past its wait for an event: it is up, or was recorded while the thread waited.
  bool passes(u32 thread, u32 event) { return host_granted_.erase(thread) != 0 || events_[event].set; }
  // Wakes a host thread once, when a task of the stream is over, or when the event is recorded.
  void watch_stream(u32 stream, u32 thread) { states_[stream].watchers.push_back(thread); }
  void watch_event(u32 event, u32 thread) { events_[event].waiters.push_back(host_waiter(thread)); }

  // The carrier has finished the present task of a stream.
  void done(u32 stream);
  // Lets every stream go on that can, the most urgent first, in order of becoming ready.
  void run();
  // Nothing runs and nothing waits.
  bool idle() const { return busy_ == 0; }

  // The task that a stream executes or comes to next.
  struct Present {
    u32 task = 0;       // position in its stream
    u64 enqueued = 0;   // cycle in which the device knew of it
    u64 started = 0;    // cycle in which the stream came to it
    u64 iteration = 0;  // executions before
    u64 turn = 0;       // of the model or of the host thread (Turns)
  };
  const Present& present(u32 stream) const { return states_[stream].present; }
  const task::Task& task(u32 stream) const { return stream_.streams[stream].tasks[states_[stream].present.task]; }

  // A line for each stream that waits, with what could help it, and for each circle of them: true if there is one.
  bool report(std::vector<std::string>& lines) const;

 private:
  enum class State : u8 { resting, ready, waiting, running };
  struct Handed {
    u32 task = 0;
    u64 at = 0;
    u64 turn = 0;
  };
  struct Past {           // of a task
    u64 executions = 0;   // that are over
    u64 latest_turn = 0;  // of the latest one + 1 (Turns)
  };
  struct StreamState {
    std::vector<Past> past;    // by task
    std::deque<Handed> queue;  // of a stream that the host feeds; the present task is its front
    u32 next = 0;              // of a stream of a model: the task after the present one
    u64 activated = 0;         // the same: since when it runs
    u64 turn = 0;              // the same: of the model, from 0 in its first execution
    State state = State::resting;
    bool active = false;   // the same: between its activation and its end
    bool again = false;    // the same: to be activated again when it has ended
    bool reached = false;  // `present` is set
    bool granted = false;  // what the present task waited for was handed to it
    u64 handed = 0, completed = 0;
    u64 idle = 0;        // tasks without work that led to the present one since `idle_since`
    u64 idle_since = 0;  // a value of work_
    u64 again_idle = 0;  // `idle` of an activation that is to come
    Present present;
    std::vector<u32> watchers;
  };
  struct Flag {  // an event or a notify
    bool set = false;
    std::deque<u32> waiters;
  };
  Flag& flag_of(const task::Signal& signal) { return (signal.is_notify() ? notifies_ : events_)[signal.index]; }
  struct ModelState {
    std::vector<u32> streams;
    bool running = false;
    u32 executor = 0;  // stream that executes it
    u32 active = 0;    // its streams that have not ended
    u64 turns = 0;     // in all executions so far
    std::deque<u32> waiters;
  };
  struct Ready {
    u8 priority = 0;
    u64 order = 0;
    u32 stream = 0;
    bool operator>(const Ready& o) const { return std::pair(priority, order) > std::pair(o.priority, o.order); }
  };

  struct Recorder;
  std::string why(u32 stream, const Recorder* recorder) const;
  bool report_circles(const std::vector<u32>& next, std::vector<std::string>& lines) const;
  // Among those that wait for an event, host threads are told from streams by a bit.
  static constexpr u32 kHost = u32{1} << 31;
  static u32 host_waiter(u32 thread) { return kHost | thread; }
  void make_ready(u32 stream);
  void wake(u32 waiter);
  void advance(u32 stream);
  void count_idle(u32 stream);
  bool goes_round(const StreamState& s) const;
  void check_livelock() const;
  bool reach(u32 stream);
  bool admit(u32 stream);
  bool settle(u32 stream);
  void complete(u32 stream);
  void control(u32 stream);
  void record(const task::Signal& signal);
  void rest(u32 stream);
  void activate(u32 stream, u32 by, u64 turn);
  void jump(u32 stream, u32 label);
  void start_model(u32 model, u32 executor);
  void end_model(u32 model);

  const task::TaskStream& stream_;
  u32 depth_;  // of a queue
  TaskEffects& effects_;
  Carrier& carrier_;
  std::vector<StreamState> states_;
  std::vector<Flag> events_, notifies_;
  std::set<u32> host_granted_;  // threads for whose event a record has come
  std::vector<ModelState> models_;
  std::vector<u32> label_at_;  // by label: position of its label_set
  Limits limits_;
  u64 tasks_ = 0;  // of all streams
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  u64 order_ = 0;
  u64 busy_ = 0;     // streams that do not rest
  u64 work_ = 0;     // tasks that do work and have begun or ended, and those that the host has handed over
  u64 working_ = 0;  // tasks that do work and run
};

}  // namespace vinci::models
