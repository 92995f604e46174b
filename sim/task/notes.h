// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "sim/task/task.h"

namespace vinci::task {

// What a sound task stream has and no run uses: kernels, models and streams. A line for each.
std::vector<std::string> notes(const TaskStream& stream);

}  // namespace vinci::task
