// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S14: a network of 40 nodes with work for each pass of the Graph Engine: all passes, none, and all but one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "isa/numeric/float16.h"
#include "tools/graph/compile/stream.h"
#include "tools/graph/ops/run.h"
#include "tools/studies/graph_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

using graph::Array, graph::DataType, graph::GraphBuilder, graph::Network, graph::Tensor, graph::Value;

// Each part hangs on the inputs alone, so that what a pass is worth in one part is seen.
struct Recipe : GraphBuilder {
  i64 rows, columns;
  Value *x, *y, *map;

  Recipe(i64 rows_, i64 columns_, i64 channels, i64 edge)
      : rows(rows_),
        columns(columns_),
        x(input({rows_, columns_}, DataType::f16)),
        y(input({rows_, columns_}, DataType::f16)),
        map(input({1, channels, edge, edge}, DataType::f16)) {
    // The first of two equal products is an output, so that nothing fuses it.
    output(branches(*this, "If", studies::number(*this, DataType::boolean, 1), {moved(y), twin(x, folded())},
                    {{"ConcatD", "TransposeD", "SoftmaxV2"}, {"ConcatD", "SoftmaxV2", "TransposeD", "SoftmaxV2"}})
               ->output());
    output(reshaped(twin(x, studies::number(*this, DataType::f16, 1.5))));
    output(convolved(convolved(twin(map, studies::number(*this, DataType::f16, 2.5)))));
    output(node("Add", {x, row(DataType::f16, 0.75)}));
    output(node("Add", {y, row(DataType::f16, 0.75)}));
    dead();
  }

 private:
  Value* row(DataType type, double v) {
    Array a(type, {columns});
    std::ranges::fill(a.values, v);
    return graph.add_constant("row", Tensor(a));
  }
  Value* half(Value* v) {
    Array a = v->constant->array();
    a.type = DataType::f16;
    return graph.add_constant("half", Tensor(a));
  }
  Value* cast(Value* v) { return node("Cast", {v}, {{"to", static_cast<i64>(enum_index(DataType::f16))}}); }

  // Six nodes of constants.
  Value* folded() {
    Value* v = node("Add", {row(DataType::f32, 1), row(DataType::f32, 0.5)});
    v = node("Mul", {v, row(DataType::f32, 0.25)});
    v = node("Sub", {v, row(DataType::f32, 0.125)});
    v = node("Maximum", {v, row(DataType::f32, 0.0625)});
    return node("Reshape", {cast(v), integers({1, columns})});
  }
  Value* reshaped(Value* v) {
    Value* const turned = node("GatherV2", {node("Shape", {v}), integers({1, 0})});
    return node("Reshape", {v, turned});
  }
  Value* twin(Value* v, Value* factor) {
    output(node("Mul", {v, factor}));
    return node("Mul", {v, factor});
  }
  void dead() {
    Value* v = x;
    for (const char* const type : {"SoftmaxV2", "TransposeD", "SoftmaxV2", "TransposeD"})
      v = node(type, {v});
  }
  // Five nodes that do nothing.
  Value* moved(Value* v) {
    v = node("Identity", {v});
    v = cast(v);
    v = node("Dropout", {v});
    for (int i = 0; i < 2; ++i)
      v = node("TransposeD", {v}, {{"perm", std::vector<i64>{1, 0}}});
    return v;
  }
  Value* convolved(Value* v) {
    const i64 c = v->shape[1];
    v = node("Conv2D", {v, half(weights({c, c, 3, 3}, static_cast<double>(9 * c)))},
             {{"pads", std::vector<i64>{1, 1, 1, 1}}});
    v = node("BatchNorm",
             {v, half(positive({c}, 0.5)), half(weights({c}, 1)), half(weights({c}, 1)), half(positive({c}, 0.5))});
    return node("Relu", {v});
  }
};

graph::CompileOptions options(graph::Switches switches, bool reuse = true, bool sunk = true) {
  return {.switches = std::move(switches),
          .precision = graph::PrecisionMode::must_keep_origin_dtype,
          .reuse_memory = reuse,
          .execution = {.sunk = sunk}};
}

// The largest difference of elements of f16 in any output, as a part of the largest element of that output; 0 where all
// bits are equal.
double difference(const std::vector<std::vector<std::byte>>& a, const std::vector<std::vector<std::byte>>& b) {
  double out = 0;
  for (usize i = 0; i < a.size(); ++i) {
    double most = 0, largest = 0;
    for (usize at = 0; at + 1 < a[i].size(); at += 2) {
      u16 bits[2];
      std::memcpy(&bits[0], &a[i][at], 2);
      std::memcpy(&bits[1], &b[i][at], 2);
      const double x = isa::f16_value(bits[0]), r = isa::f16_value(bits[1]);
      largest = std::max(largest, std::abs(r));
      if (bits[0] != bits[1]) most = std::max(most, std::abs(x - r));
    }
    if (most > 0) out = std::max(out, most / largest);
  }
  return out;
}

}  // namespace

void graph_optimisation(Study& study) {
  const auto recipe = [&] {
    return Recipe(static_cast<i64>(study.whole("rows")), static_cast<i64>(study.whole("columns")),
                  static_cast<i64>(study.whole("channels")), static_cast<i64>(study.whole("edge")));
  };
  const config::ChipConfig& chip = study.chip();
  study.measured("nodes_before", static_cast<double>(computing_nodes(recipe().graph)));
  const std::vector<Array> inputs = graph::random_inputs(recipe().graph, 14);
  const auto compiled = [&](graph::Switches switches, bool reuse = true, bool sunk = true) {
    return graph::compile(std::move(recipe().owned), chip, options(std::move(switches), reuse, sunk));
  };
  const auto stream = [&](std::string_view name, const Network& network) {
    return graph::to_task_stream(network, std::string(name), {.inputs = inputs});
  };

  // All passes, and what each is worth.
  const Network all = compiled({});
  const usize borders = nodes_of_type(*all.graph, "TransData");
  study.measured("tasks", static_cast<double>(all.nodes.size() - borders));
  study.measured("trans_data", static_cast<double>(borders));
  study.measured("casts", static_cast<double>(nodes_of_type(*all.graph, "Cast")));
  const Run best = study.run("all", stream("all", all));
  const auto wanted = outputs_of(all, best);
  struct Ablation {
    const char* criterion;
    graph::Switches switches;
    bool rounds = false;
  };
  const std::vector<Ablation> ablations{
      // Element-wise fusion would make one node of the constants' nodes.
      {"without_folding", without({"ConstantFoldingPass", "DimensionComputePass", "TbeEltwiseFusionPass"})},
      {"without_cse", without({"CommonSubexpressionEliminationPass"})},
      {"without_pruning", without({"PrunePass"})},
      {"without_branch_removal", without({"CondRemovePass"})},
      {"without_conv_bn", without({"ConvBatchnormFusionPass"}), true},
      {"without_conv_relu", without({"TbeConv2DEltwiseFusionPass"})},
      {"without_identity", without({"IdentityPass"})},
      {"without_cast", without({"CastRemovePass"})},
      {"without_dropout", without({"DropOutPass"})},
      {"without_symmetry", without({"TransOpSymmetryEliminationPass"})},
  };
  struct Ablated {
    double nodes = 0, seconds = 0, difference = 0;
  };
  const auto found = study.variants(ablations.size(), [&](usize i) {
    const Ablation& a = ablations[i];
    Recipe r = recipe();
    const graph::CompileOptions o = options(a.switches);
    graph::optimise(r.graph, {.switches = o.switches, .target = {.chip = &chip, .precision = o.precision}});
    Ablated out{.nodes = static_cast<double>(computing_nodes(r.graph) - nodes_of_type(r.graph, "TransData"))};
    if (i == 0) return out;  // its shapes are not known
    const Network network = compiled(a.switches);
    const Run ablated = study.run(a.criterion, stream(a.criterion, network));
    out.difference = difference(outputs_of(network, ablated), wanted);
    out.seconds = ablated.seconds();
    return out;
  });
  double exact = 0, rounded = 0;
  for (usize i = 0; i < ablations.size(); ++i) {
    study.measured(ablations[i].criterion, found[i].nodes);
    double& largest = ablations[i].rounds ? rounded : exact;
    largest = std::max(largest, found[i].difference);
    if (i > 0) study.fact(fmt::format("{}: time", ablations[i].criterion), found[i].seconds * 1e6, "us");
  }
  study.measured("bits_changed", exact);
  study.measured("rounding_changed", rounded);

  // The parts of the whole: passes, one task in place of many, memory.
  graph::Switches none;
  none.level = graph::Level::O1;
  const Network plain = compiled(none, false, false), launched_all = compiled({}, true, false);
  const auto launched = study.variants(2, [&](usize i) {
    const char* const name = i == 0 ? "none" : "passes";
    return study.time(name, stream(name, i == 0 ? plain : launched_all), chip).seconds();
  });
  const double before = launched[0], passes = launched[1], sunk = best.seconds();
  study.fact("no optimisation: time", before * 1e6, "us");
  study.fact("passes: time saved", (before - passes) * 1e6, "us");
  study.fact("sinking: time saved", (passes - sunk) * 1e6, "us");
  study.fact("no optimisation: buffers", static_cast<double>(plain.memory.features), "B");
  study.fact("memory reuse: buffers", static_cast<double>(all.memory.features), "B");
  study.measured("gain", 100 * (before / sunk - 1));
}

}  // namespace vinci::studies
