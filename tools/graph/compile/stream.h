// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "sim/task/stream_builder.h"
#include "tools/graph/compile/network.h"

namespace vinci::graph {

// The network as a task stream: weights and inputs go to the device, its parts are executed as models or launched by
// the host (partition.h), the outputs come back. Outputs are files <name>.npy.
struct StreamOptions {
  // Of the inputs of the network, in their order; those that are not there get random contents.
  std::vector<Array> inputs = {};
  // How often the model is executed. The second execution finds caches as the first one left them.
  u32 executions = 1;
  // Where the host launches a task, it works so long in front of it: shapes, tiling.
  double host_seconds = 0;
  // Gets where the tasks of each of Network::nodes are: one place, or one for each execution.
  struct Place {
    std::string stream;
    u32 task = 0;  // its position there

    auto operator<=>(const Place&) const = default;
  };
  std::vector<std::vector<Place>>* places = nullptr;
};
task::BuiltStream to_task_stream(const Network& network, const std::string& name, const StreamOptions& options = {});

}  // namespace vinci::graph
