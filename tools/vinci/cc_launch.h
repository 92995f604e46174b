// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "sim/io/temp_folder.h"

namespace vinci::cli {

// Headers that the vendor's build makes for host code: aclrtlaunch_NAME.h has a function of that name, which launches
// the kernel NAME, and ACLRT_LAUNCH_KERNEL. Writes those that a source includes, and returns their folder; "" where it
// includes none.
std::string write_launch_headers(const std::string& source, const io::TempFolder& scratch);

}  // namespace vinci::cli
