// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/check/task_checker.h"

#include <algorithm>
#include <utility>

namespace vinci::models {

u32 TaskChecker::reach(u32 stream, u32 number, std::string name) {
  clocks_.reach(stream);
  return checker_.add_task(number, std::move(name));
}

void TaskChecker::order(u32 stream, u32 earlier) {
  if (stream == earlier) return;
  const TaskClocks::Time time = clocks_.release(earlier);
  clocks_.acquire(stream, time);
}

// An event stays recorded until it is reset. A wait for it happens after one of its records, and which one depends on
// the schedule; so the wait acquires the part that all of them have in common. One wait takes a notify; a record of one
// that is up is lost.
void TaskChecker::record(u32 task, const task::Signal& signal, std::string_view name) {
  if (!order_.record(task, signal, name)) return;
  const TaskClocks::Time after = clocks_.release(clocks_.stream_of(task));
  if (signal.is_notify()) {
    notifies_.insert_or_assign(signal.index, after);
    return;
  }
  const auto [it, first] = events_.try_emplace(signal.index, after);
  if (first) return;
  TaskClocks::Time& common = it->second;
  common.resize(std::min(common.size(), after.size()));
  for (usize i = 0; i < common.size(); ++i)
    common[i] = std::min(common[i], after[i]);
}

void TaskChecker::pass_wait(u32 task, const task::Signal& signal) {
  order_.pass(task, signal);
  const Times& known = times(signal);
  if (const auto it = known.find(signal.index); it != known.end()) clocks_.acquire(clocks_.stream_of(task), it->second);
}

void TaskChecker::reset(u32 task, u32 event, std::string_view name) {
  order_.reset(task, event, name, events_.erase(event) != 0);
}

}  // namespace vinci::models
