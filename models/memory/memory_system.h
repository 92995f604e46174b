// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "models/memory/l2_tags.h"
#include "models/memory/timeline.h"
#include "sim/config/chip_config.h"
#include "sim/stats/stats.h"

namespace vinci::models {

// Everything between the ports of the cores and the memory cells: L2 slices with tags, and HBM channels. It answers
// only when: a request reserves the servers on its way and gets the cycle of its completion. Requests must be made at
// their own simulated time, not ahead of it; then requests of all cores contend in the right order.
class MemorySystem {
 public:
  MemorySystem(const config::MemoryConfig& config, double hertz, stats::Group& stats);

  // One request inside one L2 line, made at cycle `now`. For a read: the cycle in which the data are back at the core;
  // for a write: the cycle in which the L2 has taken it.
  u64 access(u64 now, u64 address, u32 bytes, bool write);

  u64 line_bytes() const { return line_bytes_; }

 private:
  u64 fetch(u64 now, u64 line);  // a line from HBM; all times here in ticks

  u64 line_bytes_;
  u64 hit_latency_;
  u64 hbm_latency_;
  double slice_ticks_per_byte_;
  u64 channel_line_ticks_;  // one line on one channel
  L2Tags tags_;
  std::vector<Timeline> slices_;
  std::vector<Timeline> channels_;

  u64 l2_read_bytes_ = 0, l2_write_bytes_ = 0, l2_hits_ = 0, l2_misses_ = 0;
  u64 hbm_read_bytes_ = 0, hbm_write_bytes_ = 0;
};

}  // namespace vinci::models
