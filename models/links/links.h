// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <utility>

#include "models/memory/timeline.h"
#include "sim/config/chip_config.h"
#include "sim/kernel/clock.h"

namespace vinci::models {

// The wires between devices in time. Inside a node each ordered pair of devices has an HCCS link of its own; between
// nodes each device has one RoCE port, which all its transfers of a direction share. A transfer occupies its wires for
// bytes / bandwidth and is over a latency later.
class Links {
 public:
  Links(const config::LinksConfig& config, const sim::Clock& clock) : config_(config), clock_(clock) {}

  struct Transfer {
    u64 start = 0;  // cycle in which its first byte leaves
    u64 end = 0;    // cycle in which it has arrived
  };
  Transfer transfer(u64 now, u32 from, u32 to, u64 bytes);

 private:
  const config::LinksConfig& config_;
  const sim::Clock& clock_;
  std::map<std::pair<u32, u32>, Timeline> hccs_;  // by ordered pair of devices
  std::map<u32, Timeline> sending_, receiving_;   // RoCE ports by device
};

}  // namespace vinci::models
