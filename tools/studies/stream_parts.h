// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "models/soc/simulate.h"
#include "sim/config/chip_config.h"
#include "sim/task/stream_builder.h"

// Task streams of studies that are about streams, models and the host, in which kernels may be opaque.
namespace vinci::studies {

// Stated times are whole nanoseconds.
double whole_nanoseconds(double seconds);

// A kernel of cube cores where they are apart, else of AI cores; launch_all() has a block for each of them.
task::KernelRef opaque_kernel(task::StreamBuilder& s, std::string name, const config::ChipConfig& chip, double seconds);
void launch_all(task::StreamRef stream, const config::ChipConfig& chip, task::KernelRef kernel);

// Those tasks of a run, in the order in which they ended, that `test` chooses.
template <class F>
std::vector<models::TaskTime> tasks_where(const models::Result& result, const F& test) {
  std::vector<models::TaskTime> out;
  for (const models::TaskTime& t : result.tasks)
    if (test(t)) out.push_back(t);
  return out;
}

}  // namespace vinci::studies
