// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "models/soc/simulate.h"

namespace vinci::run {

// What a timed run says at a glance: time, tasks, pipe utilisation, achieved rate against peak, memory traffic, and how
// much of the chip file is assumed. Deterministic. Times of kernels are warm, and the cold start is a row of its own;
// `cold`: they contain it.
std::string summary(const config::ChipConfig& chip, const task::TaskStream& stream, const models::Result& result,
                    std::string_view mode, bool cold = false);

}  // namespace vinci::run
