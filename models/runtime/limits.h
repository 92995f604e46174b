// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <set>
#include <vector>

#include "sim/config/chip_config.h"
#include "sim/task/task.h"

namespace vinci::models {

// What the devices of a task stream have to hold, compared with what the chip has: streams, events, notifies, models,
// labels, and tasks of a stream of a model, which all stay in its queue.
class Limits {
 public:
  Limits(const config::ChipConfig& chip, const task::TaskStream& stream)
      : chip_(chip), stream_(stream), devices_(stream.devices) {}

  // Adds what the task stream has gained at its end since the latest call. Throws Fault::Limit where that is too much.
  void append();

 private:
  // Of one device: indices of what its streams use.
  struct Needs {
    u64 streams = 0;
    std::set<u32> events, notifies, models, labels;

    void add(const task::Task& task);
  };

  void add(u32 stream);
  void check(u32 device) const;

  const config::ChipConfig& chip_;
  const task::TaskStream& stream_;
  std::vector<Needs> devices_;
  std::vector<usize> known_;  // by stream: tasks that are added
};

}  // namespace vinci::models
