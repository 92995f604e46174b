// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "tools/graph/compile/network.h"

namespace vinci::graph {

// A task of a network in time.
struct NodeTime {
  const CompiledNode* node = nullptr;
  double microseconds = 0;                // from the start of the first block to the end of the last one
  double cube_use = 0;                    // part of the time of all cube units of the chip in which they multiply
  u64 read_bytes = 0, written_bytes = 0;  // of global memory
};

struct NetworkTime {
  std::vector<NodeTime> nodes;            // in order
  double microseconds = 0;                // from the start of the first task of the model to the end of the last one
  u64 read_bytes = 0, written_bytes = 0;  // of global memory, all tasks
};

// Simulates one execution of the model without data.
NetworkTime time_network(const Network& network);

// A line for each node: name, kernel, tiling, blocks, time and share, use of the cube units, traffic of global memory,
// nodes of the model.
std::string node_table(const Network& network, const NetworkTime& time);

}  // namespace vinci::graph
