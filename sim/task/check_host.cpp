// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "sim/task/check_parts.h"
#include "sim/task/load.h"

namespace vinci::task {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

u64 saturating_add(u64 a, u64 b) {
  u64 sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? ~u64{0} : sum;
}

u64 saturating_multiply(u64 a, u64 b) {
  u64 product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~u64{0} : product;
}

// A stream gets its tasks from one thread, in order: read from top to bottom, the steps hand over all its tasks, once
// or several times over. What a repeat repeats is up to it.
class HostChecker {
 public:
  explicit HostChecker(Checks& checks)
      : c_(checks), s_(checks.s), queues_(s_.streams.size()), semaphores_(s_.host.semaphores.size()) {}

  void run() {
    const HostProgram& host = s_.host;
    const Path path = Path{} / "host";
    c_.names("threads", host.threads, path / "threads");
    c_.names("semaphores", host.semaphores, path / "semaphores");
    for (usize i = 0; i < host.semaphores.size(); ++i) {
      const u64 initial = host.semaphores[i].initial;
      if (initial > kMaxSemaphore)
        c_.report(path / "semaphores" / i, "a semaphore = {} is not in [0, {}]", initial, kMaxSemaphore);
      semaphores_[i].posts = initial;
    }
    if (host.threads.empty()) {
      if (!host.semaphores.empty()) c_.report(path, "the host has semaphores but no threads");
      return;
    }
    u64 steps = 0;
    for (const HostThread& thread : host.threads)
      steps += thread.steps.size();
    if (steps > kMaxTasks) {
      c_.report(path / "threads", "{} steps; at most {} are possible", steps, kMaxTasks);
      return;
    }
    for (u32 i = 0; i < host.threads.size(); ++i)
      check_thread(i, path / "threads" / i);
    if (c_.any_problem()) return;
    check_all_enqueued();
    check_semaphores();
  }

 private:
  struct Queue {
    u32 thread = kNone;  // that hands over
    u64 next = 0;        // task
    bool whole = false;  // all tasks have been handed over
  };
  struct Uses {
    u64 posts = 0, waits = 0;  // in all repeats
    Path wait;                 // the first
  };

  void check_thread(u32 index, const Path& path) {
    const std::vector<HostStep>& steps = s_.host.threads[index].steps;
    struct Open {
      u64 end, times;
    };
    std::vector<Open> repeats{{steps.size(), 1}};  // those around the step; times: of all of them together
    for (usize i = 0; i < steps.size(); ++i) {
      while (repeats.back().end <= i)
        repeats.pop_back();
      const u64 times = repeats.back().times;
      const Path at = path / "steps" / i / kHostStepNames[steps[i].index()];
      if (const auto* repeat = std::get_if<HostRepeat>(&steps[i])) {
        if (!check_repeat(*repeat, i + 1, repeats.back().end, repeats.size(), at)) return;
        repeats.push_back({i + 1 + repeat->length, saturating_multiply(times, repeat->times)});
      } else {
        check_step(steps[i], index, times, at);
      }
    }
  }

  // `begin`: its first step; `end`: behind the last step of what is around it.
  bool check_repeat(const HostRepeat& repeat, u64 begin, u64 end, usize nesting, const Path& path) {
    if (repeat.times == 0 || repeat.times > kMaxRepeats) {
      c_.report(path / "times", "times = {} is not in [1, {}]", repeat.times, kMaxRepeats);
    } else if (repeat.length == 0) {
      c_.report(path / "steps", "a repeat without steps");
    } else if (repeat.length > end - begin) {
      c_.report(path / "length", "a repeat of {} steps, but {} follow", repeat.length, end - begin);
    } else if (nesting > kMaxRepeatNesting) {
      c_.report(path, "more than {} repeats inside each other", kMaxRepeatNesting);
    } else {
      return true;
    }
    return false;
  }

  void check_step(const HostStep& step, u32 thread, u64 times, const Path& path) {
    std::visit(Overloaded{
                   [&](const HostEnqueue& op) { check_enqueue(op, thread, path); },
                   [&](const HostCompute& op) { check_compute(op, path); },
                   [&](const SynchronizeStream& op) {
                     if (c_.known(op.stream, s_.streams, "stream", path)) not_of_model(op.stream, path);
                   },
                   [&](const SynchronizeEvent& op) { check_event(op.event, path); },
                   [&](const SynchronizeDevice& op) { c_.known_device(op.device, path); },
                   [&](const HostPost& op) {
                     if (!c_.known(op.semaphore, s_.host.semaphores, "semaphore", path)) return;
                     u64& posts = semaphores_[op.semaphore].posts;
                     posts = saturating_add(posts, times);
                   },
                   [&](const HostWait& op) {
                     if (!c_.known(op.semaphore, s_.host.semaphores, "semaphore", path)) return;
                     Uses& uses = semaphores_[op.semaphore];
                     if (uses.waits == 0) uses.wait = path;
                     uses.waits = saturating_add(uses.waits, times);
                   },
                   [](const HostRepeat&) {},
               },
               step);
  }

  bool not_of_model(u32 stream, const Path& path) {
    const Stream& s = s_.streams[stream];
    if (s.model == kNone) return true;
    if (s.model < s_.models.size())
      c_.report(path, "stream '{}' is bound to model '{}', which runs it", shown(s.name), shown(s_.models[s.model]));
    return false;
  }

  void check_enqueue(const HostEnqueue& op, u32 thread, const Path& path) {
    if (!c_.known(op.stream, s_.streams, "stream", path) || !not_of_model(op.stream, path)) return;
    const Stream& stream = s_.streams[op.stream];
    const u64 tasks = stream.tasks.size();
    const u64 count = op.count == HostEnqueue::kAll ? tasks - std::min<u64>(op.first, tasks) : op.count;
    if (op.first >= tasks || count == 0 || count > tasks - op.first) {
      c_.report(path, "tasks [{}, +{}) of stream '{}', which has {}", op.first, count, shown(stream.name), tasks);
      return;
    }
    Queue& queue = queues_[op.stream];
    if (queue.thread == kNone) queue.thread = thread;
    if (queue.thread != thread) {
      c_.report(path, "stream '{}' gets tasks from threads '{}' and '{}'; one thread has to do it", shown(stream.name),
                shown(s_.host.threads[queue.thread].name), shown(s_.host.threads[thread].name));
      return;
    }
    if (op.first != queue.next % tasks) {
      c_.report(path, "task {} of stream '{}' is handed over where task {} comes next", op.first, shown(stream.name),
                queue.next % tasks);
    }
    queue.next = op.first + count;
    queue.whole = queue.whole || queue.next == tasks;
  }

  void check_compute(const HostCompute& op, const Path& path) {
    if (!(op.seconds >= 0 && op.seconds <= kMaxSeconds)) {
      c_.report(path / "time", "compute: its time must be from 0 to {:.0f}s", kMaxSeconds);
    }
    if (!op.name.empty() && why_bad_name(op.name) != nullptr)
      c_.report(path / "name", "the name of the step {}", why_bad_name(op.name));
  }

  void check_event(u32 event, const Path& path) {
    if (!c_.known(event, s_.events, "event", path)) return;
    if (recorded_.empty()) {
      recorded_.resize(s_.events.size());
      for (const Stream& stream : s_.streams) {
        for (const Task& t : stream.tasks) {
          const auto* record = std::get_if<EventRecord>(&t.op);
          if (record != nullptr && record->event < recorded_.size()) recorded_[record->event] = true;
        }
      }
    }
    if (recorded_[event]) return;
    c_.report(path, "event '{}' is waited for but never recorded", shown(s_.events[event]));
  }

  void check_all_enqueued() {
    for (usize i = 0; i < s_.streams.size(); ++i) {
      const Stream& stream = s_.streams[i];
      if (stream.model != kNone || queues_[i].whole || stream.tasks.empty()) continue;
      const Path path = Path{} / "streams" / i;
      if (queues_[i].next == 0) {
        c_.report(path, "stream '{}' is of no model, and no thread of the host enqueues it", shown(stream.name));
      } else {
        c_.report(path / "tasks" / queues_[i].next, "no thread of the host enqueues stream '{}' from task {} on",
                  shown(stream.name), queues_[i].next);
      }
    }
  }

  void check_semaphores() {
    for (usize i = 0; i < semaphores_.size(); ++i) {
      const Uses& uses = semaphores_[i];
      if (uses.waits <= uses.posts) continue;
      const Semaphore& semaphore = s_.host.semaphores[i];
      c_.report(uses.wait, "semaphore '{}' is waited for {} times, but starts at {} and is posted {} times",
                shown(semaphore.name), uses.waits, semaphore.initial, uses.posts - semaphore.initial);
    }
  }

  Checks& c_;
  const TaskStream& s_;
  std::vector<Queue> queues_;  // by stream
  std::vector<Uses> semaphores_;
  std::vector<bool> recorded_;  // by event; filled at the first question
};

}  // namespace

void check_host(Checks& checks) { HostChecker(checks).run(); }

}  // namespace vinci::task
