// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <vector>

#include "sim/task/task.h"

namespace vinci::models {

// Numbers of tasks that stay the same when streams grow: the tasks that a task stream has at first count as
// task::position() does, and behind them those of each append, stream by stream.
class TaskNumbers {
 public:
  struct Place {
    u32 stream = 0;
    u32 task = 0;  // position in its stream
  };

  explicit TaskNumbers(const task::TaskStream& stream) : stream_(stream) { append(); }

  // Numbers the tasks that the task stream has gained since the latest call.
  void append();
  u32 number(u32 stream, u32 task) const;
  // The task of a number; none where there is no such task.
  std::optional<Place> place(u32 number) const;
  // Whether a number is task::position(), and the position of a number.
  bool in_order() const { return in_order_; }
  u32 position(u32 number) const;

 private:
  struct Run {  // of tasks that follow each other in one stream
    u32 number = 0;
    Place first;
    u32 count = 0;
  };

  const task::TaskStream& stream_;
  std::vector<Run> runs_;                    // by number
  std::vector<std::vector<u32>> by_stream_;  // indices of runs
  u32 next_ = 0;
  bool in_order_ = true;
};

}  // namespace vinci::models
