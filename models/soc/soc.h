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
  Soc(const config::ChipConfig& config, const task::TaskStream& stream, task::RunMemory& memory, const Options& options,
      const sim::Clock& clock, HostLink* host_link);

  sim::Env& env() { return env_; }
  // Whether all tasks are done, once nothing moves by itself any more. Throws what an instruction threw whose data had
  // still to move.
  bool finished();
  // Moves the data of all that has retired; throws what one of these instructions throws.
  void finish_data();
  const std::vector<std::unique_ptr<Chip>>& chips() const { return chips_; }
  double done_fraction() const { return scheduler_->done_fraction(); }
  // Once, after it has finished.
  Result take_result();

 private:
  void task(const TaskRecord& record) override;

  sim::Env env_;
  stats::Group stats_;
  Result result_;
  TaskSink* next_sink_;
  sim::Crew crew_;
  std::vector<std::unique_ptr<Chip>> chips_;  // by device
  std::unique_ptr<TaskScheduler> scheduler_;
};

}  // namespace vinci::models
