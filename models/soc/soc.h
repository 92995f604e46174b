// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "models/soc/chip.h"
#include "models/soc/simulate.h"
#include "models/soc/task_scheduler.h"

namespace vinci::models {

// All that is simulated of one run: the chips, their streams, the host. It begins to move by itself in cycle 0 of its
// clock; simulate() lets it run alone, models::Npu inside a larger simulation.
class Soc final : private TaskSink {
 public:
  // `host_link` may be null: then copies from and to the host are a matter of `memory` alone. All must outlive it.
  // With an open program, append() takes over what the task stream and the memory have gained.
  Soc(const config::ChipConfig& config, const task::TaskStream& stream, task::RunMemory& memory, const Options& options,
      const sim::Clock& clock, HostLink* host_link, HostThreads::Program program = HostThreads::Program::complete);
  ~Soc() override;
  void append();

  sim::Env& env() { return env_; }
  TaskScheduler& scheduler() { return *scheduler_; }
  // Whether all tasks are done, once nothing moves by itself any more. Throws what an instruction threw whose data had
  // still to move.
  bool finished();
  // Moves the data of all that has retired; throws what one of these instructions throws.
  void finish_data();
  const std::vector<std::unique_ptr<Chip>>& chips() const { return chips_; }
  double done_fraction() const { return scheduler_->done_fraction(); }
  // The result up to the present cycle: of pipes all that they did, of tasks those that have ended.
  Result result();
  // Once, after it has finished.
  Result take_result();

 private:
  void task(const TaskRecord& record) override;
  void add_hints();
  void complete(Result& result, u64 cycles);

  const config::ChipConfig& config_;
  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  std::vector<CacheHint> hints_;  // by buffer, that the memory systems know
  sim::Env env_;
  stats::Group stats_;
  Result result_;
  TaskSink* next_sink_;
  ThreadPool pool_;
  DeferredAccesses accesses_;                 // of all devices
  std::vector<std::unique_ptr<Chip>> chips_;  // by device
  std::unique_ptr<TaskScheduler> scheduler_;
};

}  // namespace vinci::models
