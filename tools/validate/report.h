// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "tools/validate/validate.h"

// What validation found, as text.
namespace vinci::validate {

// A line for each group and metric, then ratios, faults, and what could not be expressed.
std::string summary(const std::vector<GroupOutcome>& groups);
// A line for each value.
std::string detail(const std::vector<GroupOutcome>& groups);
// The same for other programs: group, case, point, metric, unit, measured, simulated, error in percent, fault.
std::string csv(const std::vector<GroupOutcome>& groups);

}  // namespace vinci::validate
