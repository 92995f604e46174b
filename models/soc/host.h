// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/soc/task_scheduler.h"

namespace vinci::models {

// The host program: one thread that enqueues the tasks of all streams, a task of each stream in turn, and pays for
// each.
class Host : public sim::Module {
 public:
  Host(sim::Env& env, const config::ChipConfig& chip, const task::TaskStream& stream, TaskScheduler& scheduler,
       stats::Group& stats);

 private:
  struct Step {
    u32 stream = 0;
    u32 task = 0;
  };
  void act() override;

  const task::TaskStream& stream_;
  TaskScheduler& scheduler_;
  u64 launch_cycles_, enqueue_cycles_;
  std::vector<Step> steps_;  // in the order of enqueueing
  usize next_ = 0;
  bool working_ = false;  // on steps_[next_], until now
  u64 busy_ = 0;
  trace::TrackId track_ = 0;
};

}  // namespace vinci::models
