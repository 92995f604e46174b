// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/soc/simulate.h"

namespace vinci::models {

// Runs a task stream without time on the untimed reference machine: the same bits as simulate(). Of the options,
// max_cycles counts instructions here, and trace is not used. Returns the number of instructions.
u64 run_functional(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                   const Options& options);

}  // namespace vinci::models
