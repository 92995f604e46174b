// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/streams.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "tools/graph/compile/partition.h"
#include "tools/graph/compile/storage.h"

namespace vinci::graph {
namespace {

// The nodes that make the operands of a node.
template <class Visit>
void for_each_producer(const Node& node, const Visit& visit) {
  for (const Value* const v : node.inputs()) {
    if (v == nullptr) continue;
    if (const Node* const producer = storage_of(v)->producer(); producer != nullptr) visit(*producer);
  }
}

// The number of the set of each node, where values join nodes; sets are counted in the order of their first nodes.
std::vector<u32> joined(std::span<const Node* const> nodes) {
  std::unordered_map<const Node*, usize> number;
  std::vector<usize> root(nodes.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](usize i) {
    while (root[i] != i)
      i = root[i];
    return i;
  };
  for (usize i = 0; i < nodes.size(); ++i) {
    number[nodes[i]] = i;
    for_each_producer(*nodes[i], [&](const Node& producer) {
      const auto at = number.find(&producer);
      if (at == number.end()) return;
      const usize a = find(i), b = find(at->second);
      root[std::max(a, b)] = std::min(a, b);
    });
  }
  std::map<usize, u32> streams;
  std::vector<u32> out;
  for (usize i = 0; i < nodes.size(); ++i)
    out.push_back(streams.emplace(find(i), static_cast<u32>(streams.size())).first->second);
  return out;
}

void place(const Node& node, StreamPlace at, StreamPlaces& out) {
  out[&node] = at;
  if (!node.branches()) return;
  for (const auto& body : node.bodies) {
    for (const auto& inner : body->nodes())
      place(*inner, at, out);
  }
}

}  // namespace

StreamPlaces assign_streams(const Network& network) {
  std::map<const Node*, bool> vector;  // whether vector cores alone compute it
  for (const CompiledNode& n : network.nodes)
    vector[n.node] = n.kernel != nullptr && n.program.type == task::KernelType::AIV_ONLY;
  StreamPlaces out;
  u32 number = 0;
  for (const Part& part : parts_of(network)) {
    std::vector<u32> streams(part.nodes.size());
    if (part.sunk && network.execution.streams == Streams::by_dependency) streams = joined(part.nodes);
    for (usize i = 0; i < part.nodes.size(); ++i) {
      const Node& node = *part.nodes[i];
      if (part.sunk && network.execution.streams == Streams::cube_and_vector)
        streams[i] = !node.branches() && vector.at(&node) ? 1 : 0;
      place(node, {.part = number, .stream = streams[i]}, out);
    }
    ++number;
  }
  return out;
}

std::vector<StreamEvent> stream_events(std::span<const Node* const> nodes, const StreamPlaces& places) {
  std::unordered_map<const Node*, usize> number;
  // By stream that waits and stream that is waited for: behind which node.
  std::map<std::pair<u32, u32>, usize> waited;
  std::vector<StreamEvent> out;
  for (usize i = 0; i < nodes.size(); ++i) {
    number[nodes[i]] = i;
    const u32 here = places.at(nodes[i]).stream;
    std::map<u32, usize> last;  // producer on each other stream
    for_each_producer(*nodes[i], [&](const Node& producer) {
      const auto at = number.find(&producer);
      if (at == number.end()) return;
      const u32 there = places.at(&producer).stream;
      if (there != here) last[there] = std::max(last[there], at->second);
    });
    for (const auto& [there, before] : last) {
      const auto at = waited.find({here, there});
      if (at != waited.end() && at->second >= before) continue;
      waited[{here, there}] = before;
      out.push_back({.before = before, .after = i});
    }
  }
  return out;
}

}  // namespace vinci::graph
