// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "isa/base/enums.h"
#include "models/links/links.h"
#include "models/memory/timeline.h"
#include "sim/config/chip_config.h"
#include "sim/kernel/clock.h"
#include "sim/stats/stats.h"
#include "sim/task/task.h"

namespace vinci::models {

// The engines of a chip other than its cores, in time: the PCIe DMA of each direction, the SDMA, and the AICPU threads.
// A job occupies its engine in the order in which jobs are given.
class Engines {
 public:
  Engines(const config::ChipConfig& chip, const sim::Clock& clock, const task::TaskStream& stream, Links& links);
  void register_in(stats::Group& stats);

  // What the timeline shows as a lane: each works on one job at a time.
  enum class Lane : u8 { h2d, d2h, sdma };
  static constexpr auto kLaneNames = enum_table<Lane, std::string_view>(
      {{Lane::h2d, "DMA host to device"}, {Lane::d2h, "DMA device to host"}, {Lane::sdma, "SDMA"}});
  struct Job {
    u64 start = 0;                  // cycle in which the engine begins
    u64 end = 0;                    // cycle in which the effect is visible
    std::optional<Lane> lane = {};  // none: a link or AICPU threads
    u64 free = 0;                   // of a lane: cycle in which the engine can take the next job
  };
  Job copy(u64 now, const task::MemcpyAsync& op);
  Job run(u64 now, const task::SdmaWork& work);
  // `seconds` of each block, which AICPU threads share.
  struct ThreadJob {
    u32 thread = 0;
    u64 start = 0, end = 0;
  };
  // Adds to `threads`, if there is one, what each thread does, by block.
  Job aicpu(u64 now, u32 blocks, double seconds, std::vector<ThreadJob>* threads = nullptr);

 private:
  Job sdma(u64 now, u64 written, u64 moved);

  const config::ChipConfig& chip_;
  const sim::Clock& clock_;
  const task::TaskStream& stream_;
  Links& links_;
  Timeline h2d_, d2h_, sdma_;
  std::vector<Timeline> aicpu_;
  u64 h2d_bytes_ = 0, d2h_bytes_ = 0, d2d_bytes_ = 0;
};

}  // namespace vinci::models
