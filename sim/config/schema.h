// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "sim/config/chip_config.h"

namespace vinci::config {

// The JSON Schema (draft 2020-12) of chip files, with which editors complete and check them.
std::string chip_schema();

// The effective chip as JSON: an object for each group; sizes in bytes, rates in bytes a cycle or a second, times in
// seconds or cycles, frequencies in Hz.
std::string chip_json(const ChipConfig& chip);

}  // namespace vinci::config
