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
    usize slot = records_.size();
    if (free_.empty()) {
      records_.push_back(record);
    } else {
      slot = free_.back();
      free_.pop_back();
      records_[slot] = record;
    }
    held_.push({record.start, arrived_++, record.device, record.stream_id, slot});
    if (held_.size() > room_) pass_on();
  }
  void flush() {
    while (!held_.empty())
      pass_on();
  }

 private:
  // A heap moves what it holds: of a record only its place.
  struct Held {
    u64 start = 0, arrived = 0;
    u32 device = 0, stream = 0;
    usize slot = 0;
    // The first to pass on is the top of the heap.
    bool operator<(const Held& o) const { return key() > o.key(); }
    std::tuple<u64, u32, u32, u64> key() const { return {start, device, stream, arrived}; }
  };
  void pass_on() {
    const usize slot = held_.top().slot;
    held_.pop();
    free_.push_back(slot);
    next_.task(records_[slot]);
  }

  models::TaskSink& next_;
  usize room_;
  u64 arrived_ = 0;
  std::priority_queue<Held> held_;
  std::vector<models::TaskRecord> records_;
  std::vector<usize> free_;  // places in it
};

}  // namespace vinci::profile
