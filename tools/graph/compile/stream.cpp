// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "tools/graph/compile/partition.h"
#include "tools/graph/compile/storage.h"
#include "tools/graph/compile/stream_parts.h"
#include "tools/graph/compile/streams.h"
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

// The tasks of nodes in order, and around branches the jumps.
class ModelTasks {
 public:
  ModelTasks(const Network& network, task::StreamBuilder& builder, const DeviceBuffers& buffers)
      : places(network.nodes.size()), builder_(builder), buffers_(buffers), tasks_(builder, buffers) {
    for (const CompiledNode& n : network.nodes)
      compiled_[n.node] = &n;
    first_ = network.nodes.data();
  }

  void add(task::StreamRef& stream, const std::string& name, const Node& node) {
    if (is_alias(node)) return;
    if (node.branches()) return add_branches(stream, name, node);
    const CompiledNode& compiled = *compiled_.at(&node);
    places[static_cast<usize>(&compiled - first_)].push_back({name, stream.size()});
    tasks_.add(stream, compiled);
  }

  std::vector<std::vector<StreamOptions::Place>> places;

 private:
  void add_branches(task::StreamRef& stream, const std::string& stream_name, const Node& node) {
    const std::string name = names_.add(node.name);
    std::vector<u32> labels;
    for (usize i = 0; i < node.bodies.size(); ++i)
      labels.push_back(builder_.label(fmt::format("{}/branch{}", name, i)).index);
    const u32 end = builder_.label(name + "/end").index;
    // The condition of If is 1 for its first branch.
    std::vector<u32> targets = labels;
    if (node.type == "If") std::ranges::reverse(targets);
    stream.add(task::LabelSwitch{.index = task::Slice(buffers_.at(node.input(0))), .labels = targets}, name);
    for (usize i = 0; i < node.bodies.size(); ++i) {
      stream.add(task::LabelSet{labels[i]});
      for (const auto& inner : node.bodies[i]->nodes())
        add(stream, stream_name, *inner);
      if (i + 1 < node.bodies.size()) stream.add(task::LabelGoto{end});
    }
    stream.add(task::LabelSet{end});
  }

  task::StreamBuilder& builder_;
  const DeviceBuffers& buffers_;
  NodeTasks tasks_;
  std::map<const Node*, const CompiledNode*> compiled_;
  const CompiledNode* first_ = nullptr;
  PlainNames names_;  // of labels
};

// What the host does between the tasks of the main stream: runs of tasks that it enqueues, with work or a wait in front
// of them.
class HostSteps {
 public:
  explicit HostSteps(task::StreamRef main) : main_(main) {}

  // The next tasks come behind what the host computes meanwhile, and behind the end of all tasks so far.
  void compute(double seconds) { begin({.seconds = seconds}); }
  void synchronize() { begin({.waits = true}); }
  bool empty() const { return steps_.empty(); }

  void write(task::ThreadRef host) const {
    u32 first = 0;
    for (usize i = 0; i <= steps_.size(); ++i) {
      const u32 end = i < steps_.size() ? steps_[i].first : main_.size();
      if (end > first) host.enqueue(main_, first, end - first);
      first = end;
      if (i == steps_.size()) break;
      if (steps_[i].waits) host.synchronize(main_);
      if (steps_[i].seconds > 0) host.compute(steps_[i].seconds, "prepare");
    }
  }

 private:
  struct Step {
    u32 first = 0;  // of the main stream, that it is in front of
    bool waits = false;
    double seconds = 0;
  };
  void begin(Step step) {
    step.first = main_.size();
    steps_.push_back(step);
  }

  task::StreamRef main_;
  std::vector<Step> steps_;
};

// Adds the executions of a network to the main stream.
class Executions {
 public:
  Executions(const Network& network, task::StreamBuilder& builder, task::StreamRef& main, const DeviceBuffers& buffers,
             double host_seconds)
      : tasks(network, builder, buffers),
        steps(main),
        network_(network),
        builder_(builder),
        main_(main),
        buffers_(buffers),
        host_seconds_(host_seconds),
        parts_(parts_of(network)) {
    const StreamPlaces places = assign_streams(network);
    for (const Part& part : parts_) {
      if (part.sunk) add_model(part, places);
    }
  }

  void add(u32 times) {
    const bool sunk = std::ranges::all_of(parts_, &Part::sunk);
    for (u32 i = 0; i < times; ++i) {
      // Each execution is a request: the host launches nothing of it before.
      if (!sunk) steps.synchronize();
      usize model = 0;
      read_.clear();
      for (const Part& part : parts_) {
        if (part.sunk) {
          main_.execute(models_[model++]);
        } else {
          for (const Node* const node : part.nodes)
            launch(*node);
        }
      }
    }
  }

  ModelTasks tasks;
  HostSteps steps;

 private:
  // At most; a switch has a label for each branch and a jump behind it.
  static usize tasks_of(const Node& node) {
    usize count = 1;
    if (!node.branches()) return count;
    for (const auto& body : node.bodies) {
      count += 2;
      for (const auto& inner : body->nodes())
        count += tasks_of(*inner);
    }
    return count;
  }
  void add_model(const Part& part, const StreamPlaces& places) {
    const std::string name = models_.empty() ? "network" : fmt::format("network_{}", models_.size() + 1);
    models_.push_back(builder_.model(name));
    std::vector<std::string> names;
    std::vector<task::StreamRef> streams;
    u32 extra = 1;  // the number of the latest stream
    for (const Node* const node : part.nodes) {
      while (streams.size() <= places.at(node).stream) {
        names.push_back(streams.empty() ? name : fmt::format("{}.{}", name, ++extra));
        streams.push_back(builder_.stream(names.back(), {.model = models_.back()}));
      }
    }
    // By node: what it waits for, and what it records.
    std::map<usize, std::vector<task::EventRef>> waits, records;
    for (const StreamEvent& event : stream_events(part.nodes, places)) {
      const task::EventRef made = builder_.event(fmt::format("{}/event{}", name, events_++));
      waits[event.after].push_back(made);
      records[event.before].push_back(made);
    }
    for (usize i = 0; i < part.nodes.size(); ++i) {
      const u32 number = places.at(part.nodes[i]).stream;
      // A stream holds so many tasks: behind them another one goes on.
      const usize needed = tasks_of(*part.nodes[i]) + 2 * waits[i].size() + records[i].size() + 1;
      if (streams[number].size() + needed > network_.chip.limits.stream_depth) {
        const task::EventRef end = builder_.event(fmt::format("{}/event{}", name, events_++));
        streams[number].record(end);
        names[number] = fmt::format("{}.{}", name, ++extra);
        streams[number] = builder_.stream(names[number], {.model = models_.back()});
        streams[number].wait(end).reset(end);
      }
      task::StreamRef& stream = streams[number];
      for (const task::EventRef event : waits[i])
        stream.wait(event).reset(event);
      tasks.add(stream, names[number], *part.nodes[i]);
      for (const task::EventRef event : records[i])
        stream.record(event);
    }
  }

  // The host needs data for the shapes of the node, and those that the node makes for the nodes behind it.
  void launch(const Node& node) {
    for (const Value* const v : host_reads(*network_.graph, node)) {
      if (!read_.insert(v).second) continue;  // for another node that the same one of the model became
      read(buffers_.at(v), std::min(stored_bytes(*v), kLineBytes), "read " + v->name);
    }
    if (host_seconds_ > 0) steps.compute(host_seconds_);
    tasks.add(main_, "main", node);
    if (selects(node)) read(buffers_.found(node), sizeof(i64), "read the shape of " + node.name);
  }
  void read(task::BufferRef from, u64 bytes, const std::string& name) {
    if (!host_words_) host_words_ = builder_.host({.name = "host_words", .bytes = kLineBytes});
    main_.memcpy(*host_words_, from, bytes, task_name(name));
    steps.synchronize();
  }

  const Network& network_;
  task::StreamBuilder& builder_;
  task::StreamRef& main_;
  const DeviceBuffers& buffers_;
  const double host_seconds_;
  std::set<const Value*> read_;  // by the host, in this execution
  const std::vector<Part> parts_;
  std::vector<task::ModelRef> models_;  // of the sunk parts
  usize events_ = 0;
  std::optional<task::BufferRef> host_words_;
};

// Of a file; NumPy has no bf16, whose bits are written.
std::string dtype_of(const Value& value) {
  const std::string_view name = info(value.type).npy;
  return std::string(name.empty() ? info(DataType::u16).npy : name);
}

// What is in memory in ND, also as a view of another format, here and in branches.
void find_stored_in_nd(const Graph& graph, std::set<const Value*>& out) {
  for (const auto& node : graph.nodes()) {
    for (const Value* const v : node->outputs()) {
      if (v->format == isa::Format::ND) out.insert({v, storage_of(v)});
    }
    if (!node->branches()) continue;
    for (const auto& body : node->bodies)
      find_stored_in_nd(*body, out);
  }
}

// Kernels copy whole blocks, from any element on: what is behind the last one must be there.
void fill_behind(const Value& value, const DeviceBuffers& buffers, task::StreamRef& stream) {
  stream.memset(buffers.at(&value) + stored_bytes(value), 0, 32);
}

}  // namespace

task::BuiltStream to_task_stream(const Network& network, const std::string& name, const StreamOptions& options) {
  const Graph& graph = *network.graph;
  task::StreamBuilder s(name, network.chip.arch, 1, fmt::format("{}, compiled for {}", graph.name, network.chip.name));
  PlainNames names, files;
  const DeviceBuffers buffers(network, s, names);
  task::StreamRef main = s.stream("main");
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
    if (v->format == isa::Format::ND) fill_behind(*v, buffers, main);
  }
  std::set<const Value*> nd;
  find_stored_in_nd(graph, nd);
  for (const CompiledNode& n : network.nodes) {
    for (const Value* const v : n.node->outputs()) {
      if (nd.contains(v)) fill_behind(*v, buffers, main);
    }
  }
  // A bin leaves what is behind its elements, which is copied with them.
  for (const auto& node : graph.nodes()) {
    if (!node->has(kBins)) continue;
    for (const Value* const v : node->outputs())
      main.memset(buffers.at(v), 0, stored_bytes(*v));
  }
  Executions executions(network, s, main, buffers, options.host_seconds);
  executions.add(options.executions);
  if (options.places != nullptr) *options.places = executions.tasks.places;
  const usize outputs = graph.outputs.size() - graph.host_reads.size();
  // A file has the name of its output where that can be the name of a file, whatever others become.
  std::vector<std::string> names_of_files(outputs);
  for (const bool plain : {true, false}) {
    for (usize i = 0; i < outputs; ++i) {
      const std::string& output = graph.outputs[i]->name;
      if ((PlainNames().add(output) == output) == plain) names_of_files[i] = files.add(output) + ".npy";
    }
  }
  for (usize i = 0; i < outputs; ++i) {
    const Value* const v = graph.outputs[i];
    const task::BufferRef host = s.host({.name = names.add("out_" + v->name),
                                         .output = names_of_files[i],
                                         .dtype = dtype_of(*v),
                                         .shape = stored_extents(*v)});
    main.memcpy(host, buffers.at(v), stored_bytes(*v));
  }
  if (!executions.steps.empty()) executions.steps.write(s.thread("main"));
  return s.finish();
}

}  // namespace vinci::graph
