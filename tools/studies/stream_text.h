// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/soc/simulate.h"
#include "sim/config/chip_config.h"
#include "tools/gen/stream_folder.h"

// Task streams of studies that are about streams, models and the host: text, in which kernels may be opaque.
namespace vinci::studies {

// The task stream `name` for the architecture of `chip`; `body` is all that follows the head of the file.
gen::StreamFiles stream_text(std::string_view name, const config::ChipConfig& chip, std::string_view body);

// A line under `kernels`: an opaque kernel, that of cube cores where they are apart, and what launches it on all of
// them.
std::string opaque_kernel(std::string_view name, const config::ChipConfig& chip, double seconds);
std::string opaque_launch(std::string_view name, const config::ChipConfig& chip);

// As task streams spell a time and the bytes of a value.
std::string time_text(double seconds);
std::string hex_text(std::span<const std::byte> bytes);

// Those tasks of a run, in the order in which they ended, that `test` chooses.
template <class F>
std::vector<models::TaskTime> tasks_where(const models::Result& result, const F& test) {
  std::vector<models::TaskTime> out;
  for (const models::TaskTime& t : result.tasks)
    if (test(t)) out.push_back(t);
  return out;
}

}  // namespace vinci::studies
