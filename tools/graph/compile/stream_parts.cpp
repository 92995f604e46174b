// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/stream_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

#include "isa/mem/global_memory.h"
#include "tools/graph/compile/recorded.h"
#include "tools/graph/compile/storage.h"
#include "tools/graph/ops/op.h"

namespace vinci::graph {

namespace {

constexpr usize kLongestName = 100;  // of a file system there are 255, and endings come behind it
constexpr usize kMostAxes = 8;       // of NonZero on the AICPU

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
  for (const char* const own :
       {"weights", "features", "control", "found", "host_words", "weights_host", "control_host"})
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
  const auto selecting = std::ranges::count_if(network.nodes, [](const CompiledNode& n) { return selects(*n.node); });
  if (selecting > 0) {
    task::BufferRef next = device("found", static_cast<u64>(selecting) * kLineBytes);
    for (const CompiledNode& n : network.nodes) {
      if (!selects(*n.node)) continue;
      found_[n.node] = next;
      next = next + kLineBytes;
    }
  }
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

// Arguments as models/runtime/aicpu_selection.cpp has them.
void NodeTasks::add_selection(task::StreamRef& stream, const Node& node, const std::string& name) {
  const auto at = [&](const Value* v) { return task::LaunchArg(buffers_.at(v)); };
  const Value& in = *node.input(0);
  const task::LaunchArg type = ge_type(in.type), found = buffers_.found(node);
  const auto extent = [](const Value* v, usize axis) { return static_cast<u64>(v->shape[axis]); };
  const bool along = node.has("axis");
  const Dims dims = along ? in.shape.dims() : Dims{static_cast<i64>(in.shape.elements())};
  const usize axis = along ? axis_of(node, node.integer("axis"), dims.size()) : 0;
  std::vector<task::LaunchArg> args;
  if (node.type == "NonZero") {
    args = {at(&in), at(node.output()), found, type, extent(node.output(), 1), in.shape.rank()};
    if (in.shape.rank() > kMostAxes) fail(Fault::Unsupported, "{}: it has {} axes", node.name, in.shape.rank());
    for (usize a = 0; a < kMostAxes; ++a)
      args.emplace_back(a < in.shape.rank() ? extent(&in, a) : u64{1});
  } else if (node.type == "Compress") {
    const AroundAxis a = around_axis(dims, axis);
    args = {at(&in),
            at(node.input(1)),
            at(node.output()),
            found,
            a.outer,
            a.extent,
            a.inner * info(in.type).bytes,
            node.input(1)->shape.elements(),
            extent(node.output(), axis)};
  } else if (node.type == "Unique") {
    const AroundAxis a = around_axis(dims, axis);
    args = {at(&in),
            at(node.output(0)),
            at(node.output(1)),
            at(node.output(2)),
            at(node.output(3)),
            found,
            a.outer,
            a.extent,
            a.inner,
            static_cast<u64>(node.integer("sorted", 1)),
            type,
            extent(node.output(0), axis)};
  } else {
    const auto number = [&](usize i, double otherwise) {
      const Value* const v = node.input(i);
      if (v == nullptr) return otherwise;
      if (!v->constant) fail(Fault::Unsupported, "{} ({}): {} is no constant", node.name, node.type, v->name);
      return v->constant->array().values.at(0);
    };
    const auto bits = [&](usize i, double otherwise) {
      return u64{std::bit_cast<u32>(static_cast<float>(number(i, otherwise)))};
    };
    const Value* const scores = node.input(1);
    args = {at(&in),
            at(scores),
            at(node.output()),
            found,
            extent(scores, 0),
            extent(scores, 1),
            extent(scores, 2),
            static_cast<u64>(std::max(0.0, number(2, 0))),
            bits(3, 0),
            bits(4, -HUGE_VAL),
            static_cast<u64>(node.integer("center_point_box")),
            type,
            extent(node.output(), 0)};
  }
  stream.launch_cpu(node.type, std::move(args), 1, 0, name);
}

// Arguments as models/runtime/aicpu_functions.cpp has them.
void NodeTasks::add_roi_align(task::StreamRef& stream, const Node& node, const std::string& name) {
  std::vector<task::LaunchArg> args;
  for (const Value* const v : {node.input(0), node.input(1), node.input(2), node.output()})
    args.emplace_back(buffers_.at(v));
  for (const usize axis : {0, 1, 2, 3})
    args.emplace_back(static_cast<u64>(node.input(0)->shape[axis]));
  for (const usize axis : {0, 2, 3})
    args.emplace_back(static_cast<u64>(node.output()->shape[axis]));
  args.emplace_back(static_cast<u64>(node.integer("sampling_ratio")));
  args.emplace_back(u64{std::bit_cast<u32>(static_cast<float>(node.number("spatial_scale", 1)))});
  args.emplace_back(u64{node.string("coordinate_transformation_mode", "half_pixel") == "half_pixel"});
  args.emplace_back(u64{node.string("mode", "avg") == "max"});
  for (const usize i : {0, 1, 2})
    args.emplace_back(ge_type(node.input(i)->type));
  stream.launch_cpu(node.type, std::move(args), 1, 0, name);
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
  if (selects(n)) return add_selection(stream, n, name);
  if (n.type == "ROIAlign") return add_roi_align(stream, n, name);
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
