// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "models/soc/simulate.h"

namespace vinci::results {

// stats.json: every number of a timed run. Modes full and timing give the same, so the mode is not among them.
std::string stats_json(const config::ChipConfig& chip, const task::TaskStream& stream, const models::Result& result);

}  // namespace vinci::results
