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

// The network as a task stream: weights and inputs go to the device, the model is executed as Network::execution says,
// the outputs come back. Outputs are files <name>.npy.
struct StreamOptions {
  // Of the inputs of the network, in their order; those that are not there get random contents.
  std::vector<Array> inputs = {};
  // How often the model is executed. The second execution finds caches as the first one left them.
  u32 executions = 1;
  // Where the host launches each task, it works so long in front of each.
  double host_seconds = 0;
  // Gets the places of the tasks in the stream of the model.
  struct Positions {
    std::vector<u32> tasks = {};  // of each of Network::nodes, in the first execution
    u32 apart = 0;                // from an execution to the next one; 0 where the model is sunk
    u32 end = 0;                  // behind the last execution
  };
  Positions* positions = nullptr;
};
task::BuiltStream to_task_stream(const Network& network, const std::string& name, const StreamOptions& options = {});

}  // namespace vinci::graph
