// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/base/types.h"

namespace vinci::run {

// run-info.json: what is not the same in each run, so that it stays out of stats.json.
std::string run_info_json(const std::string& task_file, double wall_seconds, u64 instructions, u64 equal_launches);

}  // namespace vinci::run
