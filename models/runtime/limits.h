// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/config/chip_config.h"
#include "sim/task/task.h"

namespace vinci::models {

// Throws Fault::Limit where a device of the task stream needs more streams, events, notifies, models or labels than the
// chip has, or where a stream of a model has more tasks than a stream holds: they all stay in its queue.
void check_limits(const config::ChipConfig& chip, const task::TaskStream& stream);

}  // namespace vinci::models
