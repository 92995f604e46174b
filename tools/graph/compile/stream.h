// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>

#include "sim/task/stream_builder.h"
#include "tools/graph/compile/network.h"

namespace vinci::graph {

// The stream of the model's tasks in the task stream.
inline constexpr std::string_view kModelStream = "network";

// The network as a task stream: weights and inputs go to the device, one task executes the model, the outputs come
// back. Inputs are host buffers of random contents; outputs are files <name>.npy.
task::BuiltStream to_task_stream(const Network& network, const std::string& name);

}  // namespace vinci::graph
