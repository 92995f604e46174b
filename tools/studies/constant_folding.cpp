// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S15: a Reshape whose extents are computed from a Shape: folding and inference of shapes one after the other, and in
// turns.
#include "isa/base/error.h"
#include "tools/studies/graph_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using graph::GraphBuilder, graph::Value;

// Shape, Gather and Reshape, and a Relu, so that something is left.
GraphBuilder reshaped_network(const Study& study) {
  GraphBuilder net;
  const auto extent = [&](std::string_view knob) { return static_cast<i64>(study.whole(knob)); };
  Value* const x = net.input({extent("n"), extent("c"), extent("h"), extent("w")}, graph::DataType::f16);
  Value* const turned = net.node("GatherV2", {net.node("Shape", {x}), net.integers({1, 0, 2, 3})});
  net.output(net.node("Relu", {net.node("Reshape", {x, turned})}));
  return net;
}

// Whether the graph can be compiled as it is, with the shapes that are known by now.
bool sinkable(const GraphBuilder& net, const Study& study) {
  try {
    graph::compile(net.graph.clone(), study.chip(),
                   {.switches = without({"InferShapePass", "ConstantFoldingPass", "DimensionComputePass"}),
                    .precision = graph::PrecisionMode::must_keep_origin_dtype});
    return true;
  } catch (const Error& e) {
    if (e.fault() != Fault::Unsupported) throw;
    return false;
  }
}

}  // namespace

void constant_folding(Study& study) {
  const graph::Switches infer_only = without({"ConstantFoldingPass", "DimensionComputePass"});
  const graph::Switches fold_only = without({"InferShapePass"});
  const auto left = [](const GraphBuilder& net) { return static_cast<double>(net.graph.size() - 1); };  // but the Relu
  const auto known = [](const GraphBuilder& net) { return net.graph.outputs[0]->shape.known() ? 1.0 : 0.0; };

  GraphBuilder inferred = reshaped_network(study);
  graph::optimise(inferred.graph, {.switches = infer_only});
  study.measured("infer_only_nodes", left(inferred));
  study.measured("infer_only_known", known(inferred));
  study.measured("infer_only_sinkable", sinkable(inferred, study) ? 1 : 0);

  GraphBuilder once = reshaped_network(study);
  graph::optimise(once.graph, {.switches = infer_only});
  graph::optimise(once.graph, {.switches = fold_only});
  study.measured("fold_once_nodes", left(once));
  study.measured("fold_once_known", known(once));
  study.measured("fold_once_sinkable", sinkable(once, study) ? 1 : 0);

  GraphBuilder turns = reshaped_network(study);
  graph::optimise(turns.graph, {});
  study.measured("alternated_known", known(turns));
  const graph::Network network = graph::compile(std::move(reshaped_network(study).owned), study.chip());
  study.measured("alternated_tasks", static_cast<double>(network.nodes.size()));
}

}  // namespace vinci::studies
