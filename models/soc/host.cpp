// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/host.h"

namespace vinci::models {

Host::Host(sim::Env& env, const config::ChipConfig& chip, const task::TaskStream& stream, TaskScheduler& scheduler,
           stats::Group& stats)
    : Module("host", env),
      stream_(stream),
      scheduler_(scheduler),
      launch_cycles_(env.clock.cover(chip.host.launch)),
      enqueue_cycles_(env.clock.cover(chip.host.enqueue)) {
  usize longest = 0;
  for (const task::Stream& s : stream.streams)
    longest = std::max(longest, s.tasks.size());
  for (u32 t = 0; t < longest; ++t) {
    for (u32 s = 0; s < stream.streams.size(); ++s) {
      if (t < stream.streams[s].tasks.size()) steps_.push_back({s, t});
    }
  }
  stats.add("busy", busy_, "cycles", "time of the host thread spent on enqueueing");
  if (env_.trace != nullptr) track_ = env_.trace->track("host", "enqueue");
  if (!steps_.empty()) wake();
}

void Host::act() {
  const u64 t = now();
  const auto cost = [&] {
    const Step& step = steps_[next_];
    const task::Task& task = stream_.streams[step.stream].tasks[step.task];
    return std::holds_alternative<task::KernelLaunch>(task.op) ? launch_cycles_ : enqueue_cycles_;
  };
  if (working_) {
    const Step& step = steps_[next_];
    if (env_.trace != nullptr) {
      const task::Task& task = stream_.streams[step.stream].tasks[step.task];
      const u64 begin = t - cost();
      env_.trace->span({.track = track_,
                        .name = task.name,
                        .queued = begin,
                        .begin = begin,
                        .end = t,
                        .done = t,
                        .detail = stream_.streams[step.stream].name});
    }
    scheduler_.enqueued(step.stream);
    ++next_;
    working_ = false;
  }
  if (next_ == steps_.size()) return;
  working_ = true;
  busy_ += cost();
  wake_at(t + cost());
}

}  // namespace vinci::models
