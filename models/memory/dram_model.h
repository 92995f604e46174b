// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <memory>

#include "models/memory/timeline.h"
#include "sim/config/chip_config.h"
#include "sim/stats/stats.h"

// The seam below L2: another model of the device memory can be attached here (models::Options::dram). The built-in one
// is Hbm.
namespace vinci::models {

// The memory below L2. It answers when; it has no bytes. Times are in ticks, kTicksPerCycle to a cycle of the AI cores.
class DramModel {
 public:
  virtual ~DramModel() = default;

  // A request that reaches the memory at `now`, for `bytes` inside one L2 line; made in the order of simulation, so
  // `now` may be a little before that of an earlier one. Returns, never before `now`, when the data of a read are at
  // L2, and when a write has been taken: the L2 cannot reuse the line's place before that.
  virtual u64 access(u64 now, u64 address, u32 bytes, bool write) = 0;
};

// What a model is made from. `stats` is the group "hbm" of the run, for counters of its own; the bytes in and out are
// counted already.
struct DramSetup {
  const config::HbmConfig& config;
  double hertz;    // of the AI cores
  u64 line_bytes;  // of L2
  stats::Group& stats;
};
using DramFactory = std::function<std::unique_ptr<DramModel>(const DramSetup&)>;

}  // namespace vinci::models
