// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "sim/task/path.h"

namespace vinci::task {

// Where a part of a task stream file is, as messages say it: "gemm.yaml:31:5", of a .vts "gemm.vts: buffers[0]". Reads
// the file again, so it is for messages only.
std::string locate(const std::string& path, const Path& part);

}  // namespace vinci::task
