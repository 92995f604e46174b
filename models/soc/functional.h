// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>

#include "models/soc/simulate.h"

namespace vinci::models {

// Runs a task stream without time on the untimed reference machine: the same bits as simulate(), a block after the
// other. Limits are in instructions here. Returns the number of instructions.
u64 run_functional(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                   u64 max_instructions, const std::function<void(const Progress&)>& progress);

}  // namespace vinci::models
