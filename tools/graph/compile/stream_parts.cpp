// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/stream_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/graph/compile/storage.h"

namespace vinci::graph {

std::string plain_name(std::string_view name) {
  std::string out(name);
  std::ranges::replace_if(
      out, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-'; },
      '_');
  return out.empty() ? "value" : out;
}

DeviceBuffers::DeviceBuffers(const Network& network, task::StreamBuilder& stream) : network_(network) {
  for (const Value* const v : network.graph->inputs)
    inputs_.push_back(stream.device("in_" + plain_name(v->name), allocated_bytes(*v)));
  weights_ = stream.device("weights", std::max(network.memory.weights, kLineBytes));
  features_ = stream.device("features", std::max(network.memory.features, kLineBytes));
}

task::BufferRef DeviceBuffers::at(const Value* value) const {
  const MemoryPlan::Place& place = network_.memory.places.at(storage_of(value));
  switch (place.area) {
    case MemoryPlan::Area::input: return inputs_[place.offset];
    case MemoryPlan::Area::weights: return weights_ + place.offset;
    case MemoryPlan::Area::features: break;
  }
  return features_ + place.offset;
}

std::vector<task::LaunchArg> DeviceBuffers::arguments(const Node& node) const {
  std::vector<task::LaunchArg> args;
  const Group group(node);
  for (const Value* const v : group.inputs())
    args.emplace_back(at(v));
  for (const Value* const v : group.outputs())
    args.emplace_back(at(v));
  return args;
}

void DeviceBuffers::load_weights(task::StreamBuilder& builder, task::StreamRef& stream) const {
  stream.memcpy(weights_, builder.host({.name = "weights_host", .data = stored_weights()}));
}

std::vector<std::byte> DeviceBuffers::stored_weights() const {
  std::vector<std::byte> bytes(std::max(network_.memory.weights, kLineBytes));
  for (const auto& [value, place] : network_.memory.places) {
    if (place.area != MemoryPlan::Area::weights) continue;
    const std::vector<std::byte> stored = stored_constant(*value);
    std::ranges::copy(stored, bytes.begin() + static_cast<std::ptrdiff_t>(place.offset));
  }
  return bytes;
}

task::KernelRef NodeKernels::add(const CompiledNode& node) {
  std::string name = plain_name(node.node->name);
  if (const u32 before = names_[name]++; before > 0) name += fmt::format("_{}", before);
  return stream_.kernel(name, node.program.type, node.program.program);
}

}  // namespace vinci::graph
