// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S18: constants with equal bytes, in one shape, in another, in another type: what the host and the device hold.
#include <algorithm>
#include <set>

#include "tools/graph/compile/stream.h"
#include "tools/graph/ops/run.h"
#include "tools/studies/graph_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using graph::Array, graph::DataType, graph::Dims, graph::GraphBuilder, graph::Tensor, graph::Value;

// Constants of one size: four equal ones, two with their bytes in another shape, two that differ. Each is added to an
// input of its shape.
GraphBuilder constants_network(u64 bytes) {
  GraphBuilder net;
  const i64 elements = static_cast<i64>(bytes / 2);
  const Dims shape{elements / 256, 256}, other{elements / 128, 128};
  const auto filled = [&](const Dims& dims, double v) {
    Array a(DataType::f16, dims);
    std::ranges::fill(a.values, v);
    return net.graph.add_constant("w", Tensor(a));
  };
  Value* const x = net.input(shape, DataType::f16);
  Value* const y = net.input(other, DataType::f16);
  for (int i = 0; i < 4; ++i)
    net.output(net.node("Add", {net.node("Relu", {x}), filled(shape, 1.5)}));
  for (int i = 0; i < 2; ++i)
    net.output(net.node("Add", {net.node("Relu", {y}), filled(other, 1.5)}));
  for (const double v : {2.5, 3.5})
    net.output(net.node("Add", {net.node("Relu", {x}), filled(shape, v)}));
  return net;
}

u64 host_bytes(const graph::Graph& graph) {
  std::set<const Value*> seen;
  u64 out = 0;
  for (const auto& node : graph.nodes()) {
    for (const Value* const v : node->inputs()) {
      if (v != nullptr && v->constant && seen.insert(v).second) out += v->constant->bytes().size();
    }
  }
  return out;
}

}  // namespace

void constant_sharing(Study& study) {
  const u64 bytes = study.whole("bytes");
  const auto compiled = [&](graph::Switches switches) {
    switches.passes.insert_or_assign("TbeEltwiseFusionPass", false);
    return graph::compile(std::move(constants_network(bytes).owned), study.chip(), {.switches = std::move(switches)});
  };
  const graph::Network shared = compiled({}), apart = compiled(without({"RemoveSameConstPass"}));
  const auto units = [](u64 n, u64 unit) {
    const u64 whole = n / unit;
    return static_cast<double>(whole);
  };
  study.measured("constants_before", units(host_bytes(*apart.graph), bytes));
  study.measured("constants_on_host", units(host_bytes(*shared.graph), bytes));
  study.measured("constants_on_device", units(shared.memory.weights, bytes));

  // Equal bytes of two types.
  GraphBuilder types;
  Value* const x = types.input({1024}, DataType::f32);
  Value* const n = types.input({1024}, DataType::i32);
  types.output(types.node("Add", {x, types.graph.add_constant("f", Tensor(Array(DataType::f32, {1024})))}));
  types.output(types.node("Add", {n, types.graph.add_constant("i", Tensor(Array(DataType::i32, {1024})))}));
  graph::optimise(types.graph);
  study.measured("types_on_host", units(host_bytes(types.graph), 4096));
  study.measured("types_on_device", units(graph::plan_memory(types.graph, true).weights, 4096));

  const std::vector<Array> inputs = graph::random_inputs(*shared.graph, 18);
  const auto outputs = [&](std::string_view name, const graph::Network& network) {
    return outputs_of(network, study.run(name, graph::to_task_stream(network, std::string(name), {.inputs = inputs})));
  };
  study.measured("different_results", outputs("shared", shared) == outputs("apart", apart) ? 0 : 1);
}

}  // namespace vinci::studies
