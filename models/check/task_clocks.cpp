// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/check/task_clocks.h"

#include <algorithm>
#include <utility>

namespace vinci::models {

TaskClocks::Stream& TaskClocks::stream(u32 index) {
  if (index >= streams_.size()) streams_.resize(index + 1);
  return streams_[index];
}

void TaskClocks::reach(u32 index) {
  const Stream& s = stream(index);
  tasks_.push_back({.stream = index, .position = s.begun, .time = s.time});
}

bool TaskClocks::happens_before(u32 earlier, u32 later) const {
  const Task& a = tasks_[earlier];
  const Task& b = tasks_[later];
  if (a.stream == b.stream) return a.position < b.position;
  return a.stream < b.time->size() && (*b.time)[a.stream] > a.position;
}

TaskClocks::Time TaskClocks::release(u32 index) {
  const Stream& s = stream(index);
  Time out = *s.time;
  if (out.size() <= index) out.resize(index + 1);
  out[index] = s.begun;
  return out;
}

void TaskClocks::acquire(u32 index, const Time& time) {
  Stream& s = stream(index);
  auto joined = std::make_shared<Time>(*s.time);
  joined->resize(std::max(joined->size(), time.size()));
  for (usize i = 0; i < time.size(); ++i)
    (*joined)[i] = std::max((*joined)[i], time[i]);
  s.time = std::move(joined);
}

void TaskClocks::enqueue(u32 index, u32 host_thread) {
  stream(std::max(index, host_thread));  // grows the list first, so that the references stay valid
  Stream& host = stream(host_thread);
  const u32 own = host.time->size() > host_thread ? (*host.time)[host_thread] : 0;
  if (own != host.begun) host.time = std::make_shared<Time>(release(host_thread));
  stream(index).enqueued.push_back(host.time);
}

void TaskClocks::dequeue(u32 index) {
  Stream& s = stream(index);
  if (s.enqueued.empty()) return;
  if (s.enqueued.front() != s.acquired) acquire(index, *s.enqueued.front());
  s.acquired = std::move(s.enqueued.front());
  s.enqueued.pop_front();
}

}  // namespace vinci::models
