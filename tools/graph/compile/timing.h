// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/graph/compile/network.h"
#include "tools/graph/compile/stream.h"

namespace vinci::graph {

// A task of a network in time, in the last execution.
struct NodeTime {
  const CompiledNode* node = nullptr;
  double microseconds = 0;                // from the start of the first block to the end of the last one
  double cube_use = 0;                    // part of the time of all cube units of the chip in which they multiply
  u64 read_bytes = 0, written_bytes = 0;  // of global memory
};

struct NetworkTime {
  std::vector<NodeTime> nodes;            // in order
  double microseconds = 0;                // from the start of the first task of the model to the end of the last one
  double first_microseconds = 0;          // of the first execution, whose caches are cold
  u64 read_bytes = 0, written_bytes = 0;  // of global memory, all tasks
};

// Simulates executions of the model, as a stream with these options. The second one is warm: caches of instructions and
// L2 have what the first one left there. With `profile`, op_summary.csv and op_statistic.csv of the last execution are
// written, as the vendor's profiler has them, into the folder that it names when the simulation has ended.
NetworkTime time_network(const Network& network, const StreamOptions& options,
                         const std::function<std::string()>& profile = {});
NetworkTime time_network(const Network& network, u32 executions = 1);

// A line for each node: name, kernel, tiling, blocks, time and share, use of the cube units, traffic of global memory,
// nodes of the model.
std::string node_table(const Network& network, const NetworkTime& time);

}  // namespace vinci::graph
