// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "models/core/core.h"
#include "models/soc/host.h"
#include "models/soc/task_scheduler.h"

namespace vinci::models {

// Who looks at a run; each may be null.
struct Observers {
  isa::Census* census = nullptr;
  isa::check::Checker* checker = nullptr;
};

// A chip with its host, built from its configuration. Wiring only.
class Chip {
 public:
  Chip(sim::Env& env, const config::ChipConfig& config, const task::TaskStream& stream, task::RunMemory& memory,
       stats::Group& stats, const Observers& observers);

  const TaskScheduler& scheduler() const { return *scheduler_; }
  const std::vector<std::unique_ptr<Core>>& cores() const { return cores_; }

 private:
  CostTable costs_;
  MemorySystem memory_;
  CrossCore cross_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::unique_ptr<TaskScheduler> scheduler_;
  std::unique_ptr<Host> host_;
};

}  // namespace vinci::models
