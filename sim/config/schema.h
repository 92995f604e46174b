// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

namespace vinci::config {

// The JSON Schema (draft 2020-12) of chip files, with which editors complete and check them.
std::string chip_schema();

}  // namespace vinci::config
