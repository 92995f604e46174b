// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "models/soc/simulate.h"

// The machine-readable files of a run, as text.
namespace vinci::cli {

// stats.json: every number of a timed run. Modes full and timing give the same, so the mode is not among them.
std::string stats_json(const config::ChipConfig& chip, const task::TaskStream& stream, const models::Result& result);

// run-info.json: what is not the same in each run, so that it stays out of stats.json.
std::string run_info_json(const std::string& task_file, double wall_seconds, u64 instructions);

}  // namespace vinci::cli
