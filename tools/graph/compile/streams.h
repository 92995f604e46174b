// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <vector>

#include "tools/graph/compile/network.h"

// On which streams of a model its nodes run, and the events between them.
namespace vinci::graph {

// As Execution::streams says. By GE's rule (AssignByDependencyPass) a node runs on the stream of a producer, where one
// engine computes both, and all nodes here are of one: so what no value joins gets a stream of its own.
StreamPlaces assign_streams(const Network& network);

// An event that `before` records behind its task and `after` waits for; both are numbers in a list of nodes.
struct StreamEvent {
  usize before = 0, after = 0;
};
// One for each value that goes from a stream to another one, less those whose end another wait implies: a later event
// of the same stream, or an earlier wait for it.
std::vector<StreamEvent> stream_events(std::span<const Node* const> nodes, const StreamPlaces& places);

}  // namespace vinci::graph
