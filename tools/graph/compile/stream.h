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
// back. Outputs are files <name>.npy.
struct StreamOptions {
  // Of the inputs of the network, in their order; those that are not there get random contents.
  std::vector<Array> inputs = {};
  // One task of the host executes the model; else the host launches each task, and works so long in front of it.
  bool sunk = true;
  // How often the model is executed, where it is sunk. The second execution finds caches as the first one left them.
  u32 executions = 1;
  double host_seconds = 0;
  // Gets the place of the task of each of Network::nodes in the stream of the model.
  std::vector<u32>* positions = nullptr;
};
task::BuiltStream to_task_stream(const Network& network, const std::string& name, const StreamOptions& options = {});

}  // namespace vinci::graph
