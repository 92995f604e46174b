// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>

#include "tools/studies/stream_text.h"

namespace vinci::studies {

// A loop that the device counts by itself. The result is a task stream with the output loop_cond.npy, which is 0.
struct SunkLoop {
  std::string kernels;  // lines under `kernels`
  std::string body;     // tasks of an iteration, lines of a stream
  u64 steps = 1;        // in all, a multiple of `length`
  u64 length = 1;       // for each exchange with the host
  double exchange = 0;  // s of the host
};
gen::StreamFiles sunk_loop(std::string_view name, const config::ChipConfig& chip, const SunkLoop& loop);

}  // namespace vinci::studies
