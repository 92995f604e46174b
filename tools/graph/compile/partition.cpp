// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/partition.h"

#include <algorithm>
#include <map>

#include "tools/graph/compile/storage.h"

namespace vinci::graph {
namespace {

// Whether the host launches a node. What a pass has inserted runs with the node in front of it, or with the one behind
// it where there is none.
bool on_host(const Graph& graph, const Node& node) {
  if (!node.origins.empty()) return graph.unknown_shape(node);
  const Node* const before = node.inputs().empty() || node.input(0) == nullptr ? nullptr : node.input(0)->producer();
  if (before != nullptr) return on_host(graph, *before);
  for (const Value* const v : node.outputs()) {
    for (const Use& use : v->uses()) {
      if (!use.node->origins.empty() && graph.unknown_shape(*use.node)) return true;
    }
  }
  return false;
}

// The number of the part of each node: even ones are sunk. A sunk node behind one of the host begins a new part.
std::map<const Node*, u32> part_numbers(const Graph& graph) {
  std::map<const Node*, u32> out;
  for (const auto& node : graph.nodes())
    out[node.get()] = on_host(graph, *node) ? 1 : 0;
  // Nodes of values that the host reads may come behind the reader in the list: until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& node : graph.nodes()) {
      u32& number = out.at(node.get());
      u32 least = number;
      for (const Value* const v : node->inputs()) {
        if (v == nullptr || v->producer() == nullptr) continue;
        const u32 before = out.at(v->producer());
        least = std::max(least, before % 2 == number % 2 ? before : before + 1);
      }
      for (const Value* const v : host_reads(graph, *node)) {
        if (v->producer() != nullptr) least = std::max(least, out.at(v->producer()) / 2 * 2 + 2 + number % 2);
      }
      changed = changed || least != number;
      number = least;
    }
  }
  return out;
}

}  // namespace

std::vector<const Value*> host_reads(const Graph& graph, const Node& node) {
  std::vector<const Value*> out;
  const usize first = graph.outputs.size() - graph.host_reads.size();
  for (usize i = 0; i < graph.host_reads.size(); ++i) {
    if (std::ranges::find(node.origins, graph.host_reads[i]) != node.origins.end())
      out.push_back(graph.outputs[first + i]);
  }
  return out;
}

void order_parts(Graph& graph) {
  if (!graph.unknown_shapes.empty()) graph.sort_nodes(part_numbers(graph));
}

std::vector<Part> parts_of(const Network& network) {
  const Graph& graph = *network.graph;
  const bool split = network.execution.sunk && !graph.unknown_shapes.empty();
  std::map<const Node*, u32> numbers;
  if (split) numbers = part_numbers(graph);
  std::vector<Part> out;
  u32 last = 0;
  for (const auto& node : graph.nodes()) {
    if (is_alias(*node)) continue;
    const u32 number = split ? numbers.at(node.get()) : 0;
    if (out.empty() || number != last)
      out.push_back({.sunk = split ? number % 2 == 0 : network.execution.sunk, .nodes = {}});
    last = number;
    out.back().nodes.push_back(node.get());
  }
  return out;
}

}  // namespace vinci::graph
