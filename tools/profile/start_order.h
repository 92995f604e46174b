// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <queue>
#include <tuple>
#include <vector>

#include "models/runtime/task_sink.h"

namespace vinci::profile {

// Tasks arrive as they end and are passed on as they started. Of bounded memory: a task during which more than `room`
// others end is passed on late, everything else in order.
class StartOrder final : public models::TaskSink {
 public:
  StartOrder(models::TaskSink& next, usize room) : next_(next), room_(room) {}

  void task(const models::TaskRecord& record) override {
    held_.push({record, arrived_++});
    if (held_.size() > room_) pass_on();
  }
  void flush() {
    while (!held_.empty())
      pass_on();
  }

 private:
  struct Held {
    models::TaskRecord record;
    u64 arrived = 0;
    // The first to pass on is the top of the heap.
    bool operator<(const Held& o) const { return key() > o.key(); }
    std::tuple<u64, u32, u32, u64> key() const { return {record.start, record.device, record.stream_id, arrived}; }
  };
  void pass_on() {
    next_.task(held_.top().record);
    held_.pop();
  }

  models::TaskSink& next_;
  usize room_;
  u64 arrived_ = 0;
  std::priority_queue<Held> held_;
};

}  // namespace vinci::profile
