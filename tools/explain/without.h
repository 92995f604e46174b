// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <set>
#include <string>

#include "models/explain/cost_kind.h"
#include "sim/config/chip_config.h"

namespace vinci::explain {

// The chip on which a cost is as small as the model allows: zero, or one cycle for an instruction. `instructions` are
// the names of those that ran in the pipe that the cost is of. None where no key of a chip sets the cost.
std::optional<config::ChipConfig> without(const config::ChipConfig& chip, models::CostKind kind,
                                          const std::set<std::string>& instructions);

}  // namespace vinci::explain
