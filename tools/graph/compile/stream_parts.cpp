// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/stream_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "isa/mem/global_memory.h"
#include "tools/graph/compile/recorded.h"
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
  for (const char* const own : {"weights", "features", "control", "weights_host", "control_host"})
    names.add(own);
  isa::GlobalMemory memory;  // which gives the addresses that a run gives
  const auto device = [&](const std::string& name, u64 bytes, task::CacheHint l2 = task::CacheHint::normal) {
    addresses_.push_back(memory.allocate(bytes, name));
    return stream.device(name, bytes, 0, l2);
  };
  for (const Value* const v : network.graph->inputs)
    inputs_.push_back(device(names.add("in_" + v->name), allocated_bytes(*v)));
  weights_ = device("weights", std::max(network.memory.weights, kLineBytes));
  features_ = device("features", std::max(network.memory.features, kLineBytes), network.execution.intermediates);
  if (network.memory.control > 0) control_ = device("control", network.memory.control);
  for (const CompiledNode& n : network.nodes) {
    if (!n.program.recorded) continue;
    const auto& all = n.program.recorded->memory;
    for (usize i = n.node->inputs().size() + n.node->outputs().size(); i < all.size(); ++i)
      own_[n.node].push_back(device(names.add(n.node->name + "_workspace"), all[i].bytes));
  }
}

task::BufferRef DeviceBuffers::at(const Value* value) const {
  const MemoryPlan::Place& place = network_.memory.places.at(storage_of(value));
  switch (place.area) {
    case MemoryPlan::Area::input: return inputs_[place.offset];
    case MemoryPlan::Area::weights: return weights_ + place.offset;
    case MemoryPlan::Area::control: return control_ + place.offset;
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

std::vector<u64> DeviceBuffers::addresses(const CompiledNode& node) const {
  std::vector<u64> out;
  for (const Value* const v : node.node->inputs())
    out.push_back(address(at(v)));
  for (const Value* const v : node.node->outputs())
    out.push_back(address(at(v)));
  if (const auto own = own_.find(node.node); own != own_.end()) {
    for (const task::BufferRef& buffer : own->second)
      out.push_back(address(buffer));
  }
  return out;
}

void DeviceBuffers::load_weights(task::StreamBuilder& builder, task::StreamRef& stream) const {
  using enum MemoryPlan::Area;
  const MemoryPlan& plan = network_.memory;
  stream.memcpy(weights_,
                builder.host({.name = "weights_host", .data = stored(weights, std::max(plan.weights, kLineBytes))}));
  if (plan.control > 0)
    stream.memcpy(control_, builder.host({.name = "control_host", .data = stored(control, plan.control)}));
}

std::vector<std::byte> DeviceBuffers::stored(MemoryPlan::Area area, u64 size) const {
  std::vector<std::byte> bytes(size);
  for (const auto& [value, place] : network_.memory.places) {
    if (place.area != area || !value->constant) continue;
    const std::vector<std::byte> stored = stored_constant(*value);
    std::ranges::copy(stored, bytes.begin() + static_cast<std::ptrdiff_t>(place.offset));
  }
  return bytes;
}

namespace {

// Numbers of ge::DataType.
u64 ge_type(DataType type) {
  switch (type) {
    case DataType::f32: return 0;
    case DataType::f16: return 1;
    case DataType::i8: return 2;
    case DataType::i32: return 3;
    case DataType::u8: return 4;
    case DataType::i16: return 6;
    case DataType::u16: return 7;
    case DataType::u32: return 8;
    case DataType::i64: return 9;
    case DataType::u64: return 10;
    case DataType::f64: return 11;
    case DataType::boolean: return 12;
    case DataType::bf16: break;
  }
  return 27;
}

}  // namespace

void NodeTasks::add_recorded(task::StreamRef& stream, const CompiledNode& node, const std::string& name) {
  const RecordedKernel& recorded = *node.program.recorded;
  const std::vector<u64> addresses = buffers_.addresses(node);
  const auto add = [&](const task::Kernel& kernel) {
    task::Kernel placed = placed_kernel(kernel, recorded, addresses, node.node->name);
    placed.name = names_.add(node.node->name);
    return builder_.kernel(placed);
  };
  const task::KernelRef kernel = add(recorded.kernel);
  if (recorded.aiv) {
    stream.launch_mix(kernel, add(*recorded.aiv), recorded.aivs, recorded.blocks, buffers_.arguments(*node.node), name);
  } else {
    stream.launch(kernel, recorded.blocks, buffers_.arguments(*node.node), name);
  }
}

void NodeTasks::add(task::StreamRef& stream, const CompiledNode& node) {
  const Node& n = *node.node;
  const std::string name = task_name(n.name);
  if (node.program.recorded) return add_recorded(stream, node, name);
  if (node.kernel != nullptr) {
    const auto [at, added] = kernels_.try_emplace(&node);
    if (added) at->second = builder_.kernel(names_.add(n.name), node.program.type, node.program.program);
    stream.launch(at->second, node.program.blocks, buffers_.arguments(n), name);
    return;
  }
  const task::BufferRef from = buffers_.at(n.input(0)), to = buffers_.at(n.output());
  const u64 count = n.input(0)->shape.elements();
  if (n.type == "Cast") {
    stream.launch_cpu("Cast", {from, to, count, ge_type(n.input(0)->type), ge_type(n.output()->type)}, 1, 0, name);
  } else if (n.type == "MapIndex") {
    stream.launch_cpu("MapIndex", {from, buffers_.at(n.input(1)), to, count, n.input(1)->shape.elements() / count}, 1,
                      0, name);
  } else {
    stream.memcpy(to, from, stored_bytes(*n.input(0)), name);
  }
}

}  // namespace vinci::graph
