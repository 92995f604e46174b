// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string>

#include "sim/config/chip_config.h"
#include "sim/task/stream_builder.h"

namespace vinci::studies {

// A loop that the device counts by itself. The result is a task stream with the output loop_cond.npy, which is 0.
struct SunkLoop {
  // Adds kernels, and the tasks of an iteration to the stream.
  std::function<void(task::StreamBuilder& s, task::StreamRef body)> body;
  u64 steps = 1;        // in all, a multiple of `length`
  u64 length = 1;       // for each exchange with the host
  double exchange = 0;  // s of the host
};
task::BuiltStream sunk_loop(std::string name, const config::ChipConfig& chip, const SunkLoop& loop);

}  // namespace vinci::studies
