// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S20: a chain that no output needs, with an input of its own.
#include "tools/graph/compile/stream.h"
#include "tools/graph/compile/timing.h"
#include "tools/studies/graph_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using graph::DataType, graph::GraphBuilder, graph::Value;

GraphBuilder dead_network(const Study& study) {
  GraphBuilder net;
  const i64 rows = static_cast<i64>(study.whole("rows")), columns = 512;
  Value* const x = net.input({rows, columns}, DataType::f16);
  Value* unused = net.input({rows, columns}, DataType::f16);
  for (u64 i = 0; i < study.whole("dead"); ++i)
    unused = net.node(i % 2 == 0 ? "SoftmaxV2" : "Exp", {unused});
  net.output(net.node("SoftmaxV2", {net.node("Relu", {x})}));
  return net;
}

}  // namespace

void pruning(Study& study) {
  const auto compiled = [&](const graph::Switches& switches) {
    return graph::compile(std::move(dead_network(study).owned), study.chip(), {.switches = switches});
  };
  const graph::Network pruned = compiled({}), whole = compiled(without({"PrunePass"}));
  study.measured("nodes_removed", static_cast<double>(dead_network(study).graph.size() - pruned.graph->size()) -
                                      static_cast<double>(study.whole("dead")));
  study.measured("inputs", static_cast<double>(pruned.graph->inputs.size()));
  usize dead = 0;
  const task::BuiltStream stream = graph::to_task_stream(pruned, "pruned");
  for (const task::Kernel& kernel : stream.stream().kernels)
    dead += kernel.name.starts_with("Exp") ? 1 : 0;
  study.measured("dead_kernels", static_cast<double>(dead));
  const double with = graph::time_network(pruned).microseconds, plain = graph::time_network(whole).microseconds;
  study.fact("time with the dead chain", plain, "us");
  study.fact("time without it", with, "us");
  study.measured("gain", plain / with);
}

}  // namespace vinci::studies
