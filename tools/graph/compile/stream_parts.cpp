// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/stream_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/graph/compile/storage.h"

namespace vinci::graph {

namespace {

constexpr usize kLongestName = 100;  // of a file system there are 255, and endings come behind it

}  // namespace

std::string PlainNames::add(std::string_view name) {
  std::string plain(name.empty() ? "value" : name.substr(0, kLongestName));
  std::ranges::replace_if(
      plain,
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-'; }, '_');
  std::string out = plain;
  for (u32 n = 1; !given_.insert(out).second; ++n)
    out = fmt::format("{}_{}", plain, n);
  return out;
}

std::string task_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, '_');
  return name;
}

DeviceBuffers::DeviceBuffers(const Network& network, task::StreamBuilder& stream, PlainNames& names)
    : network_(network) {
  for (const char* const own : {"weights", "features", "weights_host"})
    names.add(own);
  for (const Value* const v : network.graph->inputs)
    inputs_.push_back(stream.device(names.add("in_" + v->name), allocated_bytes(*v)));
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
  return stream_.kernel(names_.add(node.node->name), node.program.type, node.program.program);
}

}  // namespace vinci::graph
