// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "tools/graph/compile/storage.h"
#include "tools/graph/compile/stream_parts.h"
#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {
namespace {

// What the input that chooses a bin is without a value: the row of MapIndex's table with the largest product.
std::optional<std::vector<std::byte>> largest_bin(const Value& value) {
  if (value.uses().empty() || value.uses()[0].node->type != "MapIndex") return std::nullopt;
  const Array table = value.uses()[0].node->input(1)->constant->array();
  const usize count = value.shape.elements();
  Array best(DataType::i32, value.shape.dims());
  double most = 0;
  for (usize row = 0; row < table.size(); row += count) {
    const std::span bin(table.values.begin() + static_cast<std::ptrdiff_t>(row), count);
    const double product = std::accumulate(bin.begin(), bin.end(), 1.0, std::multiplies<>());
    if (product <= most) continue;
    most = product;
    best.values.assign(bin.begin(), bin.end());
  }
  const Tensor tensor(best);
  return std::vector<std::byte>(tensor.bytes().begin(), tensor.bytes().end());
}

// The tasks of the model: those of a graph in order, and around branches the jumps.
class ModelTasks {
 public:
  ModelTasks(const Network& network, task::StreamBuilder& builder, task::StreamRef& stream,
             const DeviceBuffers& buffers)
      : builder_(builder), stream_(stream), buffers_(buffers), tasks_(builder, buffers) {
    for (const CompiledNode& n : network.nodes)
      compiled_[n.node] = &n;
    positions.resize(network.nodes.size());
    first_ = network.nodes.data();
  }

  void add(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (is_alias(*node)) continue;
      if (node->branches()) {
        add_branches(*node);
        continue;
      }
      const CompiledNode& compiled = *compiled_.at(node.get());
      positions[static_cast<usize>(&compiled - first_)] = stream_.size();
      tasks_.add(stream_, compiled);
    }
  }

  std::vector<u32> positions;  // of the task of each compiled node in the stream

 private:
  void add_branches(const Node& node) {
    const std::string name = names_.add(node.name);
    std::vector<u32> labels;
    for (usize i = 0; i < node.bodies.size(); ++i)
      labels.push_back(builder_.label(fmt::format("{}/branch{}", name, i)).index);
    const u32 end = builder_.label(name + "/end").index;
    // The condition of If is 1 for its first branch.
    std::vector<u32> targets = labels;
    if (node.type == "If") std::ranges::reverse(targets);
    stream_.add(task::LabelSwitch{.index = task::Slice(buffers_.at(node.input(0))), .labels = targets}, name);
    for (usize i = 0; i < node.bodies.size(); ++i) {
      stream_.add(task::LabelSet{labels[i]});
      add(*node.bodies[i]);
      if (i + 1 < node.bodies.size()) stream_.add(task::LabelGoto{end});
    }
    stream_.add(task::LabelSet{end});
  }

  task::StreamBuilder& builder_;
  task::StreamRef& stream_;
  const DeviceBuffers& buffers_;
  NodeTasks tasks_;
  std::map<const Node*, const CompiledNode*> compiled_;
  const CompiledNode* first_ = nullptr;
  PlainNames names_;  // of labels
};

// Of a file; NumPy has no bf16, whose bits are written.
std::string dtype_of(const Value& value) {
  const std::string_view name = info(value.type).npy;
  return std::string(name.empty() ? info(DataType::u16).npy : name);
}

// Kernels copy whole blocks, from any element on: what is behind the last one must be there.
void fill_behind(const Value& value, const DeviceBuffers& buffers, task::StreamRef& stream) {
  if (value.format == isa::Format::ND) stream.memset(buffers.at(&value) + stored_bytes(value), 0, 32);
}

}  // namespace

task::BuiltStream to_task_stream(const Network& network, const std::string& name, const StreamOptions& options) {
  const Graph& graph = *network.graph;
  task::StreamBuilder s(name, network.chip.arch, 1, fmt::format("{}, compiled for {}", graph.name, network.chip.name));
  PlainNames names, files;
  const DeviceBuffers buffers(network, s, names);
  const bool sunk = network.execution.sunk;
  task::StreamRef main = s.stream(sunk ? "main" : std::string(kModelStream));
  buffers.load_weights(s, main);
  for (usize i = 0; i < graph.inputs.size(); ++i) {
    const Value* const v = graph.inputs[i];
    task::Buffer contents{.name = names.add(v->name), .dtype = dtype_of(*v), .shape = stored_extents(*v)};
    if (i < options.inputs.size()) {
      contents.data = to_storage(*v, options.inputs[i]);
    } else if (const auto bin = largest_bin(*v)) {
      contents.data = *bin;
    } else {
      contents.random = true;
    }
    const task::BufferRef host = s.host(std::move(contents));
    main.memcpy(buffers.at(v), host, stored_bytes(*v));
    fill_behind(*v, buffers, main);
  }
  for (const CompiledNode& n : network.nodes) {
    for (const Value* const v : n.node->outputs())
      fill_behind(*v, buffers, main);
  }
  u32 first = 0, last = 0;  // tasks that the host launches one by one
  const auto add_tasks = [&](task::StreamRef stream, u32 times) {
    ModelTasks tasks(network, s, stream, buffers);
    const u32 begin = stream.size();
    tasks.add(graph);
    const u32 apart = stream.size() - begin;
    if (options.positions != nullptr)
      *options.positions = {.tasks = tasks.positions, .apart = sunk ? 0 : apart, .end = begin + times * apart};
    for (u32 i = 1; i < times; ++i)
      tasks.add(graph);
  };
  if (sunk) {
    const task::ModelRef model = s.model("network");
    for (u32 i = 0; i < options.executions; ++i)
      main.execute(model);
    add_tasks(s.stream(std::string(kModelStream), {.model = model}), 1);
  } else {
    first = main.size();
    add_tasks(main, options.executions);
    last = main.size();
  }
  for (const Value* const v : graph.outputs) {
    const task::BufferRef host = s.host({.name = names.add("out_" + v->name),
                                         .output = files.add(v->name) + ".npy",
                                         .dtype = dtype_of(*v),
                                         .shape = stored_extents(*v)});
    main.memcpy(host, buffers.at(v), stored_bytes(*v));
  }
  if (!sunk && last > first && (options.host_seconds > 0 || options.executions > 1)) {
    // Each execution is a request: the host launches nothing of it before.
    task::ThreadRef host = s.thread("main");
    host.enqueue(main, 0, first).synchronize(main);
    const u32 each = (last - first) / options.executions;
    for (u32 i = first; i < last; ++i) {
      if (options.host_seconds > 0) host.compute(options.host_seconds, "prepare");
      host.enqueue(main, i, 1);
      if ((i - first) % each == each - 1 && i + 1 < last) host.synchronize(main);
    }
    host.enqueue(main, last);
  }
  return s.finish();
}

}  // namespace vinci::graph
