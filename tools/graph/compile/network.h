// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/task/cache_hint.h"
#include "tools/graph/compile/memory_plan.h"
#include "tools/graph/compile/tasks.h"
#include "tools/graph/kernels/kernel.h"
#include "tools/graph/passes/optimise.h"

// A network compiled for a chip: a kernel for each node, and a place in memory for each value.
namespace vinci::graph {

struct CompiledNode {
  const Node* node = nullptr;
  const Kernel* kernel = nullptr;  // null where no core computes it (engine_of)
  Tiling tiling = {};
  KernelProgram program = {};
};

// How many streams a model has: one; one for what no value joins; one for each kind of core.
enum class Streams : u8 { one, by_dependency, cube_and_vector };

// How the device executes a network.
struct Execution {
  bool sunk = true;  // one task of the host executes the model; else the host launches each task
  Streams streams = Streams::by_dependency;
  task::CacheHint intermediates = task::CacheHint::normal;  // what L2 does with values between tasks
};

struct Network {
  std::unique_ptr<Graph> graph;
  config::ChipConfig chip;
  std::vector<PassRecord> passes;
  std::vector<CompiledNode> nodes;  // that are tasks, in order, those of all branches among them
  MemoryPlan memory;
  Execution execution = {};
};

struct CompileOptions {
  Switches switches = {};
  PrecisionMode precision = PrecisionMode::force_fp16;
  bool hf32 = false;  // --allow_hf32
  bool reuse_memory = true;
  Execution execution = {};
  std::function<void(Stage, const Graph&)> dump = {};
  // Runs the user's kernel of a node of type kCustomOp on tensors of its types and shapes.
  std::function<std::shared_ptr<const RecordedKernel>(const Node&, const config::ChipConfig&)> record = {};
};

// What runs the task of a node, for tables: the name of its kernel, or of the unit.
std::string_view unit_name(const CompiledNode& node);

// Throws Fault::Unsupported with the name of the first node that no kernel computes.
Network compile(std::unique_ptr<Graph> graph, const config::ChipConfig& chip, const CompileOptions& options = {});

}  // namespace vinci::graph
