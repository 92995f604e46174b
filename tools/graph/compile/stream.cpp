// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isa/base/error.h"
#include "models/soc/functional.h"
#include "sim/task/run_memory.h"
#include "tools/graph/compile/network.h"
#include "tools/graph/ops/run.h"

namespace vinci::graph {
namespace {

// Names of buffers and files: letters, digits and the like of a name of the model.
std::string plain_name(std::string_view name) {
  std::string out(name);
  std::ranges::replace_if(
      out, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '-'; },
      '_');
  return out.empty() ? "value" : out;
}

std::vector<u64> extents(const Value& value) { return {value.shape.dims().begin(), value.shape.dims().end()}; }

// The buffers of a network on the device.
class DeviceBuffers {
 public:
  DeviceBuffers(const Network& network, task::StreamBuilder& stream) : network_(network) {
    for (const Value* const v : network.graph->inputs)
      inputs_.push_back(stream.device("in_" + plain_name(v->name), align_up<u64>(stored_bytes(*v) + 32, 512)));
    weights_ = stream.device("weights", std::max<u64>(network.memory.weights, 512));
    features_ = stream.device("features", std::max<u64>(network.memory.features, 512));
  }

  task::BufferRef at(const Value* value) const {
    const MemoryPlan::Place& place = network_.memory.places.at(storage_of(value));
    switch (place.area) {
      case MemoryPlan::Area::input: return inputs_[place.offset];
      case MemoryPlan::Area::weights: return weights_ + place.offset;
      case MemoryPlan::Area::features: break;
    }
    return features_ + place.offset;
  }

  // The area of constants as the host has it.
  std::vector<std::byte> weights() const {
    std::vector<std::byte> bytes(std::max<u64>(network_.memory.weights, 512));
    for (const auto& [value, place] : network_.memory.places) {
      if (place.area != MemoryPlan::Area::weights) continue;
      const std::vector<std::byte> stored = stored_constant(*value);
      std::ranges::copy(stored, bytes.begin() + static_cast<std::ptrdiff_t>(place.offset));
    }
    return bytes;
  }
  task::BufferRef weights_on_device() const { return weights_; }

  std::vector<task::LaunchArg> arguments(const Node& node) const {
    std::vector<task::LaunchArg> args;
    const Group group(node);
    for (const Value* const v : group.inputs())
      args.emplace_back(at(v));
    for (const Value* const v : group.outputs())
      args.emplace_back(at(v));
    return args;
  }

 private:
  const Network& network_;
  std::vector<task::BufferRef> inputs_;
  task::BufferRef weights_, features_;
};

// A kernel for each node; nodes may have one name.
class Kernels {
 public:
  explicit Kernels(task::StreamBuilder& stream) : stream_(stream) {}
  task::KernelRef add(const CompiledNode& n) {
    std::string name = plain_name(n.node->name);
    if (const u32 before = names_[name]++; before > 0) name += fmt::format("_{}", before);
    return stream_.kernel(name, n.program.type, n.program.program);
  }

 private:
  task::StreamBuilder& stream_;
  std::map<std::string, u32> names_;
};

task::BufferRef weights_on_host(task::StreamBuilder& s, const DeviceBuffers& buffers) {
  return s.host({.name = "weights_host", .data = buffers.weights()});
}

}  // namespace

task::BuiltStream to_task_stream(const Network& network, const std::string& name) {
  const Graph& graph = *network.graph;
  task::StreamBuilder s(name, network.chip.arch, 1, fmt::format("{}, compiled for {}", graph.name, network.chip.name));
  const DeviceBuffers buffers(network, s);
  task::StreamRef main = s.stream("main");
  main.memcpy(buffers.weights_on_device(), weights_on_host(s, buffers));
  for (const Value* const v : graph.inputs) {
    const task::BufferRef host = s.host(
        {.name = plain_name(v->name), .dtype = std::string(info(v->type).npy), .shape = extents(*v), .random = true});
    main.memcpy(buffers.at(v), host, v->shape.elements() * info(v->type).bytes);
  }
  const task::ModelRef model = s.model("network");
  main.execute(model);
  task::StreamRef body = s.stream(std::string(kModelStream), {.model = model});
  Kernels kernels(s);
  for (const CompiledNode& n : network.nodes)
    body.launch(kernels.add(n), n.program.blocks, buffers.arguments(*n.node), n.node->name);
  for (const Value* const v : graph.outputs) {
    const task::BufferRef host = s.host({.name = "out_" + plain_name(v->name),
                                         .output = plain_name(v->name) + ".npy",
                                         .dtype = std::string(info(v->type).npy),
                                         .shape = extents(*v)});
    main.memcpy(host, buffers.at(v), v->shape.elements() * info(v->type).bytes);
  }
  return s.finish();
}

std::vector<NodeCheck> check_nodes(const Network& network, const std::vector<Array>& inputs) {
  const Graph& graph = *network.graph;
  // The reference, with each value rounded to the type that it has in memory.
  std::map<const Value*, Array> reference;
  run(graph, inputs, {.rounded = true, .observe = [&](const Value& v, const Array& a) { reference[&v] = a; }});
  const auto value_of = [&](const Value* v) { return v->constant ? v->constant->array() : reference.at(v); };

  task::StreamBuilder s("check", network.chip.arch);
  const DeviceBuffers buffers(network, s);
  task::StreamRef main = s.stream("main");
  main.memcpy(buffers.weights_on_device(), weights_on_host(s, buffers));
  std::vector<std::pair<NodeCheck, task::BufferRef>> checks;
  Kernels kernels(s);
  for (const CompiledNode& n : network.nodes) {
    const Group group(*n.node);
    for (const Value* const v : group.inputs()) {
      if (v->constant) continue;
      const Value* const stored = storage_of(v);
      std::vector<std::byte> bytes = to_storage(*stored, value_of(stored));
      const u64 count = bytes.size();
      const task::BufferRef host =
          s.host({.name = fmt::format("in_{}_{}", checks.size(), plain_name(v->name)), .data = std::move(bytes)});
      main.memcpy(buffers.at(v), host, count);
    }
    main.launch(kernels.add(n), n.program.blocks, buffers.arguments(*n.node), n.node->name);
    for (const Value* const v : group.outputs()) {
      const task::BufferRef host = s.host({.name = fmt::format("out_{}", checks.size()), .bytes = stored_bytes(*v)});
      main.memcpy(host, buffers.at(v), stored_bytes(*v));
      checks.push_back({{.node = &n, .output = v}, host});
    }
  }
  const task::BuiltStream stream = s.finish();
  task::RunMemory memory(stream.stream(), true);
  models::run_functional(network.chip, stream.stream(), memory, {});

  std::vector<NodeCheck> out;
  for (auto& [check, host] : checks) {
    const Array got = from_storage(*check.output, memory.host(host.index)), wanted = value_of(check.output);
    double most = 0, error = 0;
    for (usize i = 0; i < got.size(); ++i) {
      const double difference = std::abs(got.values[i] - wanted.values[i]);
      most = std::max(most, std::abs(wanted.values[i]));
      if (got.values[i] == wanted.values[i]) continue;
      error = std::isnan(difference) ? HUGE_VAL : std::max(error, difference);
    }
    check.error = error == 0 ? 0 : error / most;
    check.allowed = check.output->type == DataType::f32 ? 1e-4 : is_float(check.output->type) ? 1e-2 : 0;
    // What is read in f16 has its precision.
    const Group group(*check.node->node);
    for (const Node* const inner : group.nodes()) {
      if (inner->output()->type == DataType::f16 || group.resolve(inner->input(0))->type == DataType::f16)
        check.allowed = std::max(check.allowed, 1e-2);
    }
    out.push_back(check);
  }
  return out;
}

}  // namespace vinci::graph
