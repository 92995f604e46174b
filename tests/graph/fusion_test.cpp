// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/graph/pass_networks.h"

// What each fusion says: the nodes that it joined, what that saves, and why it left nodes apart.
namespace vinci::graph {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Of all stages of the pass.
Effect effect_of(const std::vector<PassRecord>& records, std::string_view pass) {
  for (const PassRecord& r : by_name(records)) {
    if (r.pass->name == pass) return r.effect;
  }
  return {};
}

std::vector<std::string> reasons(const Effect& effect) {
  std::vector<std::string> out;
  for (const Refusal& refusal : effect.refusals)
    out.push_back(refusal.reason);
  return out;
}

std::vector<std::string> types(const std::vector<NamedNode>& nodes) {
  std::vector<std::string> out;
  for (const NamedNode& node : nodes)
    out.push_back(node.type);
  return out;
}

std::vector<PassRecord> compiled(void (*build)(MapNet& net), const char* chip) {
  MapNet net;
  build(net);
  return compile(std::move(net.owned), config::load_chip(chip)).passes;
}

// A network in which a fusion finds its pattern and a condition does not hold.
struct Apart {
  std::string_view pass, chip;  // "": none
  std::string_view reason;
  void (*build)(TypedNet& net);
};

Value* other_map(TypedNet& net) { return net.conv(net.input({1, 16, 8, 8}), 16, 1, 1, 0); }
Value* turned(TypedNet& net, Value* v, std::vector<i64> perm) {
  return net.node("TransposeD", {v}, {{"perm", std::move(perm)}});
}

const std::vector<Apart> kApart{
    {"QuantizedProductPass", "ascend-910b1", "the weights without their zero point do not fit i8",
     [](TypedNet& net) {
       const auto cast = [&](Value* v, DataType type) {
         return net.node("Cast", {v}, {{"to", static_cast<i64>(enum_index(type))}});
       };
       Value* const x = cast(net.input({4, 32}, DataType::u8), DataType::f32);
       Value* const weights = net.constant({32, 16}, [] { return 600.0; });
       net.output(cast(net.node("BatchMatMulV2", {x, weights}), DataType::i32));
     }},
    {"DecompositionPass", "ascend-910b1", "an extent is not known",
     [](TypedNet& net) {
       net.output(net.node("LRN", {net.input({-1, 16, 8, 8})}, {{"size", i64{3}}}));
     }},
    {"GatherToSliceFusionPass", "", "its positions are not equally far apart",
     [](TypedNet& net) {
       net.output(net.node("GatherV2", {net.input({5, 4}), net.integers({0, 1, 3})}));
     }},
    {"BroadcastRemovePass", "", "the other operands do not have the extents of the result",
     [](TypedNet& net) {
       Value* const wide = net.node("BroadcastTo", {net.input({3, 1}), net.integers({2, 3, 4})});
       net.output(net.node("Mul", {net.input({3, 4}), wide}));
     }},
    {"AABiasaddConvFusion", "", "the other operand is no constant with a number for each channel",
     [](TypedNet& net) {
       net.output(net.node("Add", {other_map(net), net.input({1, 16, 8, 8})}));
     }},
    {"ConvBatchnormFusionPass", "", "the value in between has other uses",
     [](TypedNet& net) {
       Value* const y = other_map(net);
       net.output(net.batch_norm(y));
       net.output(net.node("Relu", {y}));
     }},
    {"BatchNormBnInferFusionPass", "", "an operand of the normalisation is no constant",
     [](TypedNet& net) {
       Value *const x = net.input({1, 4, 8, 8}), *const gamma = net.input({4});
       net.output(net.node("BatchNorm", {x, gamma, net.weights({4}, 1), net.weights({4}, 1), net.positive({4}, 0.5)}));
     }},
    {"Globalavgpoolpass", "", "the rank is not known",
     [](TypedNet& net) { net.output(net.node("GlobalAveragePool", {net.input(Shape::unranked())})); }},
    {"LayerNormONNXFusionPass", "", "its means are not over the last axes, which stay with the extent 1",
     [](TypedNet& net) {
       Value *const x = net.input({8, 16}), *const axes = net.integers({0});
       Value* const d = net.node("Sub", {x, net.node("ReduceMean", {x, axes})});
       Value* const variance = net.node("ReduceMean", {net.node("Pow", {d, net.number(2)}), axes});
       net.output(net.node("RealDiv", {d, net.node("Sqrt", {net.node("Add", {variance, net.number(1e-5)})})}));
     }},
    {"TransOpSymmetryEliminationPass", "", "its output and its input both have names that stay",
     [](TypedNet& net) {
       net.output(turned(net, turned(net, net.input({3, 4}), {1, 0}), {1, 0}));
     }},
    {"GeluONNXFusionPass", "", "the value in between has other uses",
     [](TypedNet& net) {
       Value* const x = net.input({8, 16});
       Value* const erf = net.node("Erf", {net.node("RealDiv", {x, net.number(std::sqrt(2.0))})});
       Value* const twice = net.node("Mul", {x, net.node("Add", {erf, net.number(1)})});
       net.output(net.node("Mul", {twice, net.number(0.5)}));
       net.output(net.node("Abs", {twice}));
     }},
    {"MatMulBiasAddFusionPass", "", "the other operand is no constant",
     [](TypedNet& net) {
       Value* const product = net.node("BatchMatMulV2", {net.input({4, 8}), net.weights({8, 6}, 8)});
       net.output(net.node("Add", {product, net.input({4, 6})}));
     }},
    {"TransposeBatchMatMulFusionPass", "", "the value in between has other uses",
     [](TypedNet& net) {
       Value* const b = turned(net, net.input({6, 8}), {1, 0});
       net.output(net.node("BatchMatMulV2", {net.input({4, 8}), b}));
       net.output(net.node("Abs", {b}));
     }},
    {"RealDiv2MulsFusionPass", "", "it divides by zero",
     [](TypedNet& net) {
       net.output(net.node("RealDiv", {net.input({4}), net.number(0)}));
     }},
    {"MatmulToFullyConnectionPass", "", "each of several images would read all weights",
     [](TypedNet& net) {
       Value* const rows = net.node("Reshape", {net.input({2, 4, 3, 3}), net.integers({2, 36})});
       net.output(net.node("BatchMatMulV2", {rows, net.weights({36, 10}, 36)}));
     }},
    {"FillRowsPass", "ascend-310p3", "a product behind it fills its rows",
     [](TypedNet& net) {
       Value* const rows = net.node("SoftmaxV2", {net.input({4, 100, 37}, DataType::f16)}, {{"axis", i64{-1}}});
       net.output(net.node("BatchMatMulV2", {rows, net.input({4, 37, 16}, DataType::f16)}));
     }},
    {"FillRowsPass", "ascend-310p3", "it has few rows",
     [](TypedNet& net) {
       net.output(net.node("SoftmaxV2", {net.input({100, 37}, DataType::f16)}, {{"axis", i64{-1}}}));
     }},
    {"FillRowsPass", "ascend-310p3", "its elements have one byte",
     [](TypedNet& net) {
       net.output(net.node("GatherV2", {net.input({40, 10}, DataType::i8), net.input({700}, DataType::i64)},
                           {{"axis", i64{0}}}));
     }},
    {"FillRowsPass", "ascend-310p3", "it gathers few elements",
     [](TypedNet& net) {
       net.output(net.node("GatherV2", {net.input({40, 10}, DataType::f16), net.input({9}, DataType::i64)},
                           {{"axis", i64{0}}}));
     }},
    {"FillRowsPass", "ascend-310p3", "its table is much larger than what it gathers",
     [](TypedNet& net) {
       net.output(net.node("GatherV2", {net.input({100000, 10}, DataType::f16), net.input({70}, DataType::i64)},
                           {{"axis", i64{0}}}));
     }},
    {"FillRowsPass", "ascend-310p3", "its table has more rows than are worth a constant",
     [](TypedNet& net) {
       net.output(net.node("GatherV2", {net.input({800000, 10}, DataType::f16), net.input({90000}, DataType::i64)},
                           {{"axis", i64{0}}}));
     }},
    {"TbeConvDequantFusionPass", "ascend-910b1", "the value in between is an output",
     [](TypedNet& net) {
       Value* const x = net.input({32, 64}, DataType::i8);
       Value* const sums = net.node("BatchMatMulV2", {x, net.typed({48, 64}, DataType::i8)}, {{"adj_x2", i64{1}}});
       net.output(sums);
       net.output(net.node("AscendDequant", {sums, net.parameters(48, 0.01, 0, false)}));
     }},
    {"TbeConv2DEltwiseFusionPass", "ascend-910b1",
     "the kernel convolution does not take the joined nodes: FIXPIPE applies no epilogue but Relu",
     [](TypedNet& net) { net.output(net.node("Abs", {other_map(net)})); }},
    {"TbeMatmulElemwiseFusionPass", "ascend-910b1",
     "the kernel matmul does not take the joined nodes: its epilogue is more than Relu",
     [](TypedNet& net) {
       net.output(net.node("Abs", {net.node("BatchMatMulV2", {net.input({32, 64}), net.weights({64, 48}, 64)})}));
     }},
    {"TbeMatmulElemwiseFusionPass", "ascend-310p3",
     "the kernel matmul does not take the joined nodes: an operand is repeated in a way that tiles do not have",
     [](TypedNet& net) {
       Value* const product = net.node("BatchMatMulV2", {net.input({32, 64}), net.weights({64, 48}, 64)});
       net.graph.add_input("row_factors", DataType::f32, {32, 1});
       net.output(net.node("Mul", {product, net.graph.inputs.back()}));
     }},
    {"MatmulConfusiontransposeUbFusion", "ascend-910b1", "on a split core FIXPIPE stores rows in their order",
     [](TypedNet& net) {
       Value* const product = net.node("BatchMatMulV2", {net.input({32, 64}), net.weights({64, 48}, 64)});
       net.output(turned(net, net.node("Reshape", {product, net.integers({32, 3, 16})}), {1, 0, 2}));
     }},
    {"MatmulConfusiontransposeUbFusion", "ascend-310p3",
     "the kernel matmul does not take the joined nodes: its transpose does not keep blocks of 16 columns together",
     [](TypedNet& net) {
       Value* const product = net.node("BatchMatMulV2", {net.input({32, 64}), net.weights({64, 48}, 64)});
       net.output(turned(net, net.node("Reshape", {product, net.integers({32, 6, 8})}), {1, 0, 2}));
     }},
    {"TbeEltwiseFusionPass", "ascend-910b1", "the value in between has other uses",
     [](TypedNet& net) {
       Value* const y = net.node("Abs", {net.input({4, 64}, DataType::f16)});
       net.output(net.node("Relu", {y}));
       net.output(net.node("SoftmaxV2", {y}, {{"axis", i64{-1}}}));
     }},
    {"TbeEltwiseFusionPass", "ascend-910b1", "SoftmaxV2 is not element-wise: no vector instructions for SoftmaxV2",
     [](TypedNet& net) {
       net.output(net.node("Abs", {net.node("SoftmaxV2", {net.input({4, 64})}, {{"axis", i64{-1}}})}));
     }},
    {"TbeEltwiseFusionPass", "ascend-910b1", "a Reshape is between them",
     [](TypedNet& net) {
       Value* const y = net.node("Reshape", {net.node("Abs", {net.input({4, 64})}), net.integers({8, 32})});
       net.output(net.node("Relu", {y}));
     }},
};

TEST(Fusion, EachSaysWhyItDoesNotApply) {
  std::set<std::string_view> seen;
  for (const Apart& c : kApart) {
    SCOPED_TRACE(c.pass);
    const config::ChipConfig chip = config::load_chip(c.chip.empty() ? "ascend-910b1" : std::string(c.chip));
    TypedNet net;
    c.build(net);
    const auto records = optimise(net.graph, {.target = {.chip = c.chip.empty() ? nullptr : &chip}});
    const Effect effect = effect_of(records, c.pass);
    EXPECT_THAT(reasons(effect), Contains(c.reason));
    EXPECT_THAT(reasons(effect), Not(Contains(HasSubstr("Reshape is not")))) << "it is no task";
    EXPECT_THAT(fusion_table(records), HasSubstr(fmt::format(" x {}: ", c.reason)));
    EXPECT_THAT(fusion_result(records), HasSubstr(fmt::format("\"reason\": \"{}\"", c.reason)));
    seen.insert(c.pass);
  }
  // Those of which each pattern becomes something else.
  for (const std::string_view always :
       {"TransOpWithoutReshapeFusionPass", "ReshapeTransposeFusionPass", "GemmToMatmulFusionPass"})
    seen.insert(always);
  for (const Pass& pass : all_passes()) {
    const bool fusion = pass.stage == Stage::OptimizeOriginalGraph || pass.stage == Stage::UbFusion;
    EXPECT_TRUE(!fusion || seen.contains(pass.name)) << pass.name;
  }
}

TEST(Fusion, WhatAPassSaysHasNodesAndAReason) {
  for (const char* const chip : {"ascend-910b1", "ascend-310p3", "ascend-910a"}) {
    for (const PassNetwork& network : pass_networks()) {
      for (const PassRecord& r : compiled(network.build, chip)) {
        for (const Refusal& refusal : r.effect.refusals) {
          EXPECT_FALSE(refusal.reason.empty()) << r.pass->name;
          EXPECT_FALSE(refusal.nodes.empty()) << r.pass->name;
        }
        for (const Join& join : r.effect.joins)
          EXPECT_FALSE(join.nodes.empty()) << r.pass->name;
      }
    }
  }
}

TEST(Fusion, OfAResidualBlock) {
  const auto split = compiled(residual_network, "ascend-910b1"), joint = compiled(residual_network, "ascend-310p3");
  // Three norms become part of their convolutions: maps of 32 channels and 16 x 16 in f16.
  const u64 map = 32 * 16 * 16 * 2;
  for (const auto* const records : {&split, &joint}) {
    const Effect norms = effect_of(*records, "ConvBatchnormFusionPass");
    ASSERT_EQ(norms.joins.size(), 3U);
    for (const Join& join : norms.joins) {
      EXPECT_THAT(types(join.nodes), ElementsAre("Conv2D", "BatchNorm"));
      EXPECT_EQ(join.tasks, 1U);
      EXPECT_EQ(join.written_bytes, map);
      EXPECT_EQ(join.read_bytes, map);
    }
  }
  const Effect by_fixpipe = effect_of(split, "TbeConv2DEltwiseFusionPass");
  EXPECT_EQ(by_fixpipe.joins.size(), 2U);
  EXPECT_THAT(reasons(by_fixpipe),
              ElementsAre("the kernel convolution does not take the joined nodes: FIXPIPE applies no epilogue but Relu",
                          "the value in between has other uses"));
  EXPECT_THAT(types(by_fixpipe.refusals[0].nodes), ElementsAre("Conv2D", "Add"));
  const Effect of_sum = effect_of(split, "TbeEltwiseFusionPass");
  ASSERT_EQ(of_sum.joins.size(), 1U);
  EXPECT_THAT(types(of_sum.joins[0].nodes), ElementsAre("Add", "Relu"));
  // On a joint core the sum and its Relu are in the convolution, in two steps.
  const Effect in_ub = effect_of(joint, "TbeConv2DEltwiseFusionPass");
  EXPECT_EQ(in_ub.changes, 4U);
  ASSERT_EQ(in_ub.joins.size(), 3U);
  EXPECT_THAT(types(in_ub.joins[2].nodes), ElementsAre("Conv2D", "Add", "Relu"));
  EXPECT_EQ(in_ub.joins[2].tasks, 2U);
  EXPECT_EQ(in_ub.joins[2].written_bytes, 2 * map);
  EXPECT_EQ(in_ub.joins[2].read_bytes, 2 * map);
  EXPECT_THAT(fusion_table(joint), HasSubstr("    1 x Conv2D + Add + Relu, 32768 B not written, 32768 B not read: "
                                             "Conv2D + Add + Relu\n"));
}

TEST(Fusion, OfALayerOfAnEncoder) {
  const auto split = compiled(encoder_of_blocks, "ascend-910b1"), joint = compiled(encoder_of_blocks, "ascend-310p3");
  const Effect norms = effect_of(split, "LayerNormONNXFusionPass");
  ASSERT_EQ(norms.joins.size(), 2U);
  const u64 rows = u64{48} * 64 * 2, numbers = u64{48} * 2;
  for (const Join& join : norms.joins) {
    EXPECT_THAT(types(join.nodes),
                ElementsAre("ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "RealDiv", "Mul", "Add"));
    EXPECT_EQ(join.tasks, 8U);
    EXPECT_EQ(join.written_bytes, 4 * rows + 4 * numbers);
    // Two tasks read x and two read x - mean(x).
    EXPECT_EQ(join.read_bytes, 6 * rows + 4 * numbers);
  }
  EXPECT_EQ(effect_of(split, "GeluONNXFusionPass").joins.at(0).tasks, 4U);
  const Effect transposes = effect_of(split, "MatmulConfusiontransposeUbFusion");
  EXPECT_THAT(transposes.joins, IsEmpty());
  EXPECT_THAT(reasons(transposes), Contains("on a split core FIXPIPE stores rows in their order").Times(4));
  EXPECT_THAT(fusion_table(split), HasSubstr("    4 x on a split core FIXPIPE stores rows in their order: "
                                             "BatchMatMulV2 + TransposeD; BatchMatMulV2 + TransposeD; "
                                             "BatchMatMulV2 + TransposeD; ...\n"));
  EXPECT_THAT(reasons(effect_of(joint, "MatmulConfusiontransposeUbFusion")), IsEmpty());
  EXPECT_EQ(effect_of(joint, "MatmulConfusiontransposeUbFusion").joins.size(), 4U);
}

// Fields of CANN stay as they are; what is new comes behind them.
TEST(Fusion, ResultHasTheSameAsTheTable) {
  const auto records = compiled(residual_network, "ascend-910b1");
  const auto file = nlohmann::json::parse(fusion_result(records))[0]["session_and_graph_id_0_0"];
  const auto& ub = file["ub_fusion"]["TbeConv2DEltwiseFusionPass"];
  EXPECT_EQ(ub["effect_times"], "2");
  EXPECT_EQ(ub["repository_hit_times"], "0");
  EXPECT_EQ(ub["tasks_fewer"], 2);
  EXPECT_EQ(ub["bytes_not_written"], 32768);
  EXPECT_EQ(ub["applied"].size(), 2U);
  EXPECT_EQ(ub["applied"][0]["types"], nlohmann::json({"Conv2D", "Relu"}));
  EXPECT_EQ(ub["not_applied"][0]["count"], 1);
  u64 written = 0, read = 0, tasks = 0;
  for (const char* const part : {"graph_fusion", "ub_fusion"}) {
    for (const auto& row : file[part]) {
      if (!row.contains("applied")) continue;
      written += row["bytes_not_written"].get<u64>();
      read += row["bytes_not_read"].get<u64>();
      tasks += row["tasks_fewer"].get<u64>();
    }
  }
  const std::string table = fusion_table(records);
  EXPECT_THAT(table,
              HasSubstr(fmt::format("{:<36} {:>7} {:>11} {:>15} {:>15}\n", "(all passes)", "", tasks, written, read)));
  EXPECT_THAT(table, Not(HasSubstr("IdentityPass")));
}

}  // namespace
}  // namespace vinci::graph
