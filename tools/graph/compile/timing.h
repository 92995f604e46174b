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
  double microseconds = 0;  // from the start of the first block to the end of the last one
};

struct NetworkTime {
  std::vector<NodeTime> nodes;  // in order
  double microseconds = 0;      // from the start of the first task of the model to the end of the last one
};

// Simulates one execution of the model without data.
NetworkTime time_network(const Network& network);

// A line for each node: name, kernel, tiling, blocks, time and share, nodes of the model.
std::string node_table(const Network& network, const NetworkTime& time);

}  // namespace vinci::graph
