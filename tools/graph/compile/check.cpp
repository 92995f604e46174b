// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "models/soc/functional.h"
#include "sim/task/run_memory.h"
#include "tools/graph/compile/storage.h"
#include "tools/graph/compile/stream_parts.h"
#include "tools/graph/ops/run.h"
#include "tools/graph/passes/match.h"

namespace vinci::graph {
namespace {

constexpr double kLargest = 65504;  // of f16

// What a chip in mode saturation has in place of infinity and NaN of f16 (docs/numerics.md).
void saturate(const Value&, Array& results) {
  if (results.type != DataType::f16) return;
  for (double& v : results.values)
    v = std::isnan(v) ? 0 : std::clamp(v, -kLargest, kLargest);
}

// Each value of a graph and of all branches in it, the ones that are not taken as well.
void observe(const Graph& graph, const std::vector<Array>& inputs, RunOptions& options,
             std::map<const Value*, Array>& values) {
  options.observe = [&](const Value& v, const Array& a) { values[&v] = a; };
  run(graph, inputs, options);
  for (const auto& node : graph.nodes()) {
    if (!node->branches()) continue;
    std::vector<Array> in;
    for (usize i = 1; i < node->inputs().size(); ++i)
      in.push_back(node->input(i)->constant ? node->input(i)->constant->array() : values.at(node->input(i)));
    for (usize branch = 0; branch < node->bodies.size(); ++branch)
      observe(*node->bodies[branch], branch_inputs(*node, branch, in), options, values);
  }
}

// By how much a result may differ because a value that the group computes is rounded to the whole number next to
// the one of the reference: 1, times the numbers that it is multiplied by.
double whole_step(const Group& group) {
  double step = 0;
  for (usize i = 1; i < group.nodes().size(); ++i) {
    const Node& node = *group.nodes()[i];
    if (node.type == "Round") step = 1;
    const auto factor = scalar_operand(node);
    if (node.type == "Mul" && factor) step *= std::abs(factor->scalar);
  }
  return step;
}

// How many elements of a result exceed f16; 0 where an operand exceeds it already.
usize overflows(const CompiledNode& node, const Array& wanted, const std::function<Array(const Value*)>& value_of) {
  const auto outside = [](double v) { return !(std::abs(v) < kLargest); };
  if (wanted.type != DataType::f16) return 0;
  const auto count = static_cast<usize>(std::ranges::count_if(wanted.values, outside));
  if (count == 0) return 0;
  for (const Value* const v : node.node->inputs()) {
    if (v == nullptr || !is_float(v->type)) continue;
    if (std::ranges::any_of(value_of(v).values, outside)) return 0;
  }
  return count;
}

}  // namespace

std::vector<NodeCheck> check_nodes(const Network& network, const std::vector<Array>& inputs) {
  const Graph& graph = *network.graph;
  // The reference, with each value rounded to the type that it has in memory.
  std::map<const Value*, Array> reference;
  RunOptions options{.rounded = true, .adjust = {}, .observe = {}};
  const bool saturates = network.chip.numerics.overflow_mode == isa::OverflowMode::saturation;
  if (saturates) options.adjust = saturate;
  observe(graph, inputs, options, reference);
  const auto value_of = [&](const Value* v) { return v->constant ? v->constant->array() : reference.at(v); };

  task::StreamBuilder s("check", network.chip.arch);
  PlainNames names;
  const DeviceBuffers buffers(network, s, names);
  task::StreamRef main = s.stream("main");
  buffers.load_weights(s, main);
  std::vector<std::pair<NodeCheck, task::BufferRef>> checks;
  NodeTasks tasks(s, buffers);
  for (const CompiledNode& n : network.nodes) {
    const Group group(*n.node);
    for (const Value* const v : group.inputs()) {
      if (v->constant) continue;
      const Value* const stored = storage_of(v);
      std::vector<std::byte> bytes = to_storage(*stored, value_of(stored));
      const u64 count = bytes.size();
      const task::BufferRef host = s.host({.name = names.add("host_" + v->name), .data = std::move(bytes)});
      main.memcpy(buffers.at(v), host, count);
    }
    tasks.add(main, n);
    for (const Value* const v : group.outputs()) {
      const task::BufferRef host = s.host({.name = names.add("out_" + v->name), .bytes = stored_bytes(*v)});
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
      const double x = got.values[i], r = wanted.values[i], difference = std::abs(x - r);
      if (std::isfinite(r)) most = std::max(most, std::abs(r));
      if (x == r || (std::isnan(x) && std::isnan(r))) continue;
      if (saturates && std::isinf(x) && r == std::copysign(kLargest, x)) continue;  // it was copied
      error = std::isfinite(difference) ? std::max(error, difference) : HUGE_VAL;
    }
    check.largest = most;
    check.overflowed = overflows(*check.node, wanted, value_of);
    check.error = error == 0 ? 0 : error / most;
    check.allowed = check.output->type == DataType::f32 ? 1e-4 : is_float(check.output->type) ? 1e-2 : 0;
    // What is read in f16 has its precision, HF32 a fraction of 11 bits.
    const Group group(*check.node->node);
    for (const Node* const inner : group.nodes()) {
      // A scale may be rounded, so that a quantised value is the next one.
      if (inner->type == "AscendQuant" || inner->type == "AscendRequant") check.allowed = most > 0 ? 1 / most : 0;
      if (inner->integer("enable_hf32") != 0) check.allowed = std::max(check.allowed, 1e-3);
      if (inner->output()->type == DataType::f16 || group.resolve(inner->input(0))->type == DataType::f16)
        check.in_f16 = true;
    }
    if (check.in_f16) check.allowed = std::max(check.allowed, 1e-2);
    if (most > 0) check.allowed += whole_step(group) / most;
    out.push_back(check);
  }
  return out;
}

}  // namespace vinci::graph
