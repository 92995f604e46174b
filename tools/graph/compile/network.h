// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/task/stream_builder.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/passes/optimise.h"

// A network compiled for a chip: a kernel for each node, and a place in memory for each value.
namespace vinci::graph {

struct CompiledNode {
  const Node* node = nullptr;
  const Kernel* kernel = nullptr;
  Tiling tiling = {};
  KernelProgram program;
};

// Where values lie in device memory.
struct MemoryPlan {
  enum class Area : u8 { input, weights, features };
  struct Place {
    Area area = Area::features;
    u64 offset = 0;  // in the area; of an input, its number
  };
  std::map<const Value*, Place> places;
  u64 weights = 0;   // bytes of the area of constants
  u64 features = 0;  // of the area of values in between: the peak
  // Of the values in between: the sum of all, and the most that is alive at a time, which no plan can undercut.
  u64 without_reuse = 0, lower_bound = 0;
};

struct Network {
  std::unique_ptr<Graph> graph;
  config::ChipConfig chip;
  std::vector<PassRecord> passes;
  std::vector<CompiledNode> nodes;  // that are tasks, in order
  MemoryPlan memory;
};

struct CompileOptions {
  Switches switches = {};
  PrecisionMode precision = PrecisionMode::force_fp16;
  bool reuse_memory = true;
  std::function<void(Stage, const Graph&)> dump = {};
};

// Throws Fault::Unsupported with the name of the first node that no kernel computes.
Network compile(std::unique_ptr<Graph> graph, const config::ChipConfig& chip, const CompileOptions& options = {});

// Whether a node is no task: its output is its input as it lies in memory.
bool is_alias(const Node& node);
// The value whose memory a value has.
const Value* storage_of(const Value* value);
// A constant as it lies in memory, with zeros up to a whole number of lines of 512 B.
std::vector<std::byte> stored_constant(const Value& value);
// A tensor as it lies in memory, and back.
std::vector<std::byte> to_storage(const Value& value, const Array& array);
Array from_storage(const Value& value, std::span<const std::byte> bytes);

// The stream of the model's tasks in the task stream.
inline constexpr std::string_view kModelStream = "network";

// The network as a task stream: weights and inputs go to the device, one task executes the model, the outputs come
// back. Inputs are host buffers of random contents; outputs are files <name>.npy.
task::BuiltStream to_task_stream(const Network& network, const std::string& name);

// One node as it was computed from the inputs of the reference.
struct NodeCheck {
  const CompiledNode* node = nullptr;
  const Value* output = nullptr;
  double error = 0;  // the largest |x - r| as a part of the largest |r|
  double allowed = 0;
  bool right() const { return error <= allowed; }
};

// Runs each node with the inputs of the reference, rounded to their types, without time. `inputs` are those of the
// network.
std::vector<NodeCheck> check_nodes(const Network& network, const std::vector<Array>& inputs);

}  // namespace vinci::graph
