// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>

#include <cmath>

#include "isa/base/error.h"
#include "tests/graph/net.h"
#include "tools/graph/ir/text.h"
#include "tools/graph/ops/run.h"
#include "tools/graph/passes/optimise.h"

// Each pass alone, on a graph with its pattern: what is left, and that the network still gives the same.
namespace vinci::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct PassNet : Net {
  Value* weights(Dims dims) { return positive(std::move(dims), 0.1); }
  Value* number(double v) { return graph.add_constant("c", Tensor(Array(DataType::f32, {}, {v}))); }
  Value* integers(const std::vector<double>& values) {
    return graph.add_constant("i", Tensor(Array(DataType::i64, {std::ssize(values)}, values)));
  }

  std::vector<std::string> types() const {
    std::vector<std::string> out;
    for (const auto& n : graph.nodes())
      out.push_back(n->type);
    return out;
  }
  std::vector<Array> outputs() const { return run(graph, random_inputs(graph, 3), {.rounded = false}); }
  // Runs the passes; the outputs must stay, up to the rounding of constants to f32.
  std::vector<PassRecord> optimised(const OptimiseOptions& options = {}) {
    const std::vector<Array> before = outputs();
    std::vector<PassRecord> records = optimise(graph, options);
    const std::vector<Array> after = outputs();
    EXPECT_EQ(before.size(), after.size());
    for (usize i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].dims, after[i].dims);
      for (usize e = 0; e < before[i].size(); ++e)
        EXPECT_NEAR(before[i].values[e], after[i].values[e], 2e-6 * (1 + std::abs(before[i].values[e])));
    }
    return records;
  }
};

Effect effect_of(const std::vector<PassRecord>& records, std::string_view pass) {
  for (const PassRecord& r : records) {
    if (r.pass->name == pass) return r.effect;
  }
  return {};
}

TEST(Passes, BroadcastInFrontOfWhatRepeatsAnyway) {
  PassNet n;
  Value* const x = n.input({2, 3, 4});
  Value* const wide = n.node("BroadcastTo", {n.input({3, 1}), n.integers({2, 3, 4})});
  n.graph.outputs = {n.node("Mul", {x, wide})};
  EXPECT_EQ(effect_of(n.optimised(), "BroadcastRemovePass").changes, 1U);
  EXPECT_THAT(n.types(), ElementsAre("Mul"));
  // Here the result would be smaller.
  PassNet other;
  Value* const repeated = other.node("BroadcastTo", {other.input({3, 1}), other.integers({2, 3, 4})});
  other.graph.outputs = {other.node("Mul", {other.input({3, 4}), repeated})};
  EXPECT_EQ(effect_of(other.optimised(), "BroadcastRemovePass").changes, 0U);
}

TEST(Passes, ShapesOfConstantsFoldUntilNothingIsLeft) {
  PassNet n;
  Value* const x = n.input({2, 3, 4});
  Value* const shape = n.node("Shape", {x});
  Value* const last = n.node("GatherV2", {shape, n.integers({2})});
  Value* const to = n.node("ConcatD", {last, n.integers({-1})}, {{"axis", i64{0}}});
  n.output(n.node("Relu", {n.node("Reshape", {x, to})}));
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Reshape", "Relu"));
  EXPECT_EQ(n.graph.outputs[0]->shape, Shape({4, 6}));
}

TEST(Passes, WithoutFoldingShapesStayUnknown) {
  PassNet n;
  Value* const x = n.input({8, 16, 32, 64});
  Value* const to = n.node("GatherV2", {n.node("Shape", {x}), n.integers({1, 0, 2, 3})});
  n.output(n.node("Relu", {n.node("Reshape", {x, to})}));
  n.optimised({.switches = {.passes = {{"ConstantFoldingPass", false}, {"DimensionComputePass", false}}}});
  EXPECT_THAT(n.types(), ElementsAre("Shape", "GatherV2", "Reshape", "Relu"));
  EXPECT_FALSE(n.graph.outputs[0]->shape.known());
}

TEST(Passes, NodesThatDoNothingAreRemoved) {
  PassNet n;
  Value* const x = n.input({2, 3});
  Value* y = n.node("Identity", {x});
  y = n.node("Cast", {y}, {{"to", static_cast<i64>(enum_index(DataType::f32))}});
  y = n.node("Dropout", {y});
  y = n.node("Add", {y, n.number(0)});
  y = n.node("Mul", {n.number(1), y});
  y = n.node("TransposeD", {y}, {{"perm", std::vector<i64>{0, 1}}});
  y = n.node("Reshape", {y, n.integers({2, 3})});
  n.output(n.node("Relu", {y}));
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Relu"));
}

TEST(Passes, TransposesInARowBecomeOneOrNothing) {
  PassNet n;
  Value* const x = n.input({2, 3, 4});
  const auto transpose = [&](Value* v, std::vector<i64> perm) { return n.node("TransposeD", {v}, {{"perm", perm}}); };
  n.output(n.node("Relu", {transpose(transpose(x, {1, 2, 0}), {2, 0, 1})}));
  n.output(n.node("Abs", {transpose(transpose(x, {1, 2, 0}), {1, 2, 0})}));
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Relu", "TransposeD", "Abs"));
}

TEST(Passes, CastsThatLoseNothingGoInPairs) {
  const auto cast = [](Net& n, Value* v, DataType to) {
    return n.node("Cast", {v}, {{"to", static_cast<i64>(enum_index(to))}});
  };
  PassNet n;
  Value* const x = n.input({4});
  Value* const half = cast(n, x, DataType::f16);
  n.output(n.node("Relu", {cast(n, half, DataType::f32)}));  // not undone: it rounds
  n.output(n.node("Abs", {cast(n, cast(n, half, DataType::f32), DataType::f16)}));
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Cast", "Cast", "Relu", "Abs"));
}

TEST(Passes, WithoutPruningDeadNodesStay) {
  for (const bool on : {true, false}) {
    PassNet n;
    Value* const x = n.input({4});
    n.node("Exp", {n.node("Neg", {x})});
    n.output(n.node("Relu", {x}));
    n.optimised({.switches = {.passes = {{"PrunePass", on}}}});
    EXPECT_EQ(n.types().size(), on ? 1U : 3U);
  }
}

TEST(Passes, AnOutputKeepsItsName) {
  PassNet n;
  Value* const y = n.node("Identity", {n.node("Relu", {n.input({2})})});
  n.output(y);
  const std::string name = y->name;
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Relu"));
  EXPECT_EQ(n.graph.outputs[0]->name, name);
}

TEST(Passes, ChainsOfReshapesBecomeOne) {
  PassNet n;
  Value* const x = n.input({2, 3, 1, 4});
  Value* y = n.node("FlattenV2", {x}, {{"axis", i64{1}}});
  y = n.node("Reshape", {y, n.integers({4, 6})});
  y = n.node("Unsqueeze", {y, n.integers({0})});
  n.output(n.node("Relu", {y}));
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Reshape", "Relu"));
}

TEST(Passes, AConditionThatIsConstantLeavesItsBranch) {
  PassNet n;
  Value* const x = n.input({3});
  Value* const yes = n.graph.add_constant("yes", Tensor(Array(DataType::boolean, {}, {1})));
  Node* const node = n.graph.add_node("If", "if", {yes, x});
  for (const char* const type : {"Neg", "Abs"}) {
    auto& body = node->bodies.emplace_back(std::make_unique<Graph>(type));
    Value* const in = body->add_input("in", DataType::f32, {3});
    body->outputs = {body->add_node(type, type, {in})->output()};
  }
  infer(*node);
  n.output(node->output());
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Neg"));
}

TEST(Passes, ConvolutionTakesOverBiasAndBatchNorm) {
  PassNet n;
  Value* y = n.node("Conv2D", {n.input({1, 3, 8, 8}), n.weights({16, 3, 3, 3})});
  y = n.node("Add", {y, n.weights({16, 1, 1})});
  y = n.node("BatchNorm", {y, n.weights({16}), n.weights({16}), n.weights({16}), n.weights({16})});
  n.output(n.node("Relu", {y}));
  const auto records = n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Conv2D", "Relu"));
  EXPECT_EQ(effect_of(records, "AABiasaddConvFusion").changes, 1U);
  EXPECT_EQ(effect_of(records, "ConvBatchnormFusionPass").changes, 1U);
  EXPECT_THAT(n.graph.nodes().front()->origins, ElementsAre("Conv2D", "Add", "BatchNorm"));
}

TEST(Passes, AConvolutionWithTwoUsersKeepsItsWeights) {
  PassNet n;
  Value* const y = n.node("Conv2D", {n.input({1, 3, 8, 8}), n.weights({4, 3, 3, 3})});
  n.output(n.node("BatchNorm", {y, n.weights({4}), n.weights({4}), n.weights({4}), n.weights({4})}));
  n.output(n.node("Relu", {y}));
  const auto records = n.optimised();
  EXPECT_EQ(effect_of(records, "ConvBatchnormFusionPass").matches, 1U);
  EXPECT_EQ(effect_of(records, "ConvBatchnormFusionPass").changes, 0U);
  EXPECT_THAT(n.types(), ElementsAre("Conv2D", "Mul", "Add", "Relu")) << "BatchNorm alone is x * scale + offset";
}

Value* layer_norm_nodes(PassNet& n, Value* x, bool affine) {
  Value* const axes = n.integers({-1});
  Value* const d = n.node("Sub", {x, n.node("ReduceMean", {x, axes})});
  Value* const variance = n.node("ReduceMean", {n.node("Pow", {d, n.number(2)}), axes});
  Value* y = n.node("RealDiv", {d, n.node("Sqrt", {n.node("Add", {variance, n.number(1e-5)})})});
  if (!affine) return y;
  return n.node("Add", {n.node("Mul", {y, n.weights({8})}), n.weights({8})});
}

TEST(Passes, LayerNormIsFound) {
  for (const bool affine : {false, true}) {
    PassNet n;
    n.output(n.node("Relu", {layer_norm_nodes(n, n.input({4, 8}), affine)}));
    n.optimised();
    EXPECT_THAT(n.types(), ElementsAre("LayerNorm", "Relu"));
    EXPECT_EQ(n.graph.nodes().front()->inputs().size(), affine ? 3U : 1U);
  }
}

TEST(Passes, GeluIsFoundInBothForms) {
  for (const bool divided : {false, true}) {
    PassNet n;
    Value* const x = n.input({4, 8});
    Value* const scaled = divided ? n.node("RealDiv", {x, n.number(1.4142135381698608)})
                                  : n.node("Mul", {x, n.number(0.7071067690849304)});
    Value* const sum = n.node("Add", {n.node("Erf", {scaled}), n.number(1)});
    n.output(divided ? n.node("Mul", {n.node("Mul", {x, sum}), n.number(0.5)})
                     : n.node("Mul", {n.node("Mul", {x, n.number(0.5)}), sum}));
    n.optimised();
    EXPECT_THAT(n.types(), ElementsAre("Gelu"));
  }
}

TEST(Passes, GemmBecomesAProductWithBias) {
  PassNet n;
  n.output(n.node("GEMM", {n.input({4, 8}), n.weights({5, 8}), n.weights({5})}, {{"transB", i64{1}}}));
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("BatchMatMulV2"));
  EXPECT_EQ(n.graph.nodes().front()->inputs().size(), 3U);
}

TEST(Passes, GemmWithFactorsKeepsThem) {
  PassNet n;
  n.output(n.node("GEMM", {n.input({4, 8}), n.weights({8, 5}), n.input({4, 5})}, {{"alpha", 0.5}, {"beta", 0.25}}));
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("BatchMatMulV2", "Mul", "Mul", "Add"));
}

TEST(Passes, ABiasOfAProductIsTakenOver) {
  PassNet n;
  n.output(n.node("Add", {n.weights({6}), n.node("BatchMatMulV2", {n.input({2, 4, 8}), n.weights({8, 6})})}));
  n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("BatchMatMulV2"));
}

TEST(Passes, EqualNodesBecomeOneButNotConvolutions) {
  PassNet n;
  Value* const x = n.input({1, 3, 8, 8});
  Value* const w = n.weights({4, 3, 3, 3});
  Value* sum = n.node("Add", {n.node("Conv2D", {x, w}), n.node("Conv2D", {x, w})});
  Value* const a = n.node("Mul", {x, n.number(3)});
  Value* const b = n.node("Mul", {x, n.number(3)});
  n.output(sum);
  n.output(n.node("Add", {a, b}));
  const auto records = n.optimised();
  EXPECT_THAT(n.types(), ElementsAre("Conv2D", "Conv2D", "Add", "Mul", "Add"));
  EXPECT_EQ(effect_of(records, "CommonSubexpressionEliminationPass").changes, 1U);
  EXPECT_EQ(effect_of(records, "RemoveSameConstPass").changes, 1U);
}

TEST(Switches, TurnPassesOff) {
  PassNet n;
  n.output(n.node("Relu", {n.node("Identity", {n.input({2})})}));
  const auto records = n.optimised({.switches = parse_switches("# a comment\nIdentityPass : off\n", "switches.cfg")});
  EXPECT_THAT(n.types(), ElementsAre("Identity", "Relu"));
  EXPECT_EQ(effect_of(records, "IdentityPass").matches, 0U);
}

TEST(Switches, ReadTheFormOfCann) {
  const Switches s = parse_switches(
      R"({"Switch": {"GraphFusion": {"ALL": "off", "GeluONNXFusionPass": "on"}, "UBFusion": {"ALL": "off"}}})",
      "f.json");
  EXPECT_TRUE(s.passes.at("GeluONNXFusionPass"));
  EXPECT_FALSE(s.passes.at("LayerNormONNXFusionPass"));
  EXPECT_FALSE(s.passes.contains("ConstantFoldingPass"));
}

TEST(Switches, RefuseWhatDoesNotExist) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      parse_switches(text, "f.cfg");
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message("GeluONNXFusionPas:off"), HasSubstr("did you mean 'GeluONNXFusionPass'?"));
  EXPECT_THAT(message("PrunePass:maybe"), HasSubstr("neither on nor off"));
  EXPECT_THAT(message("PrunePass"), HasSubstr("f.cfg:1"));
  EXPECT_THAT(message("{\"Switch\": 3}"), HasSubstr("f.cfg"));
}

TEST(Passes, EachHasOneWayToRunAndADescription) {
  for (const Pass& pass : all_passes()) {
    const int ways =
        (pass.node != nullptr) + (pass.graph != nullptr) + (pass.node_for != nullptr) + (pass.graph_for != nullptr);
    EXPECT_EQ(ways, 1) << pass.name;
    EXPECT_FALSE(pass.doc.empty()) << pass.name;
  }
}

TEST(Passes, FusionResultHasTheFormOfCann) {
  PassNet n;
  n.output(n.node("Relu", {n.node("Identity", {n.input({2})})}));
  EXPECT_THAT(fusion_result(n.optimised()), HasSubstr(R"("IdentityPass": {
                    "effect_times": "1",
                    "match_times": "1"
                })"));
}

TEST(Passes, PositionsThatAreEquallyFarApartAreASlice) {
  struct Case {
    Dims extents;  // of the positions
    std::vector<double> positions;
    std::string_view type;
  };
  for (const Case& c :
       {Case{{}, {1}, "StridedSliceV2"}, Case{{}, {-2}, "StridedSliceV2"}, Case{{2}, {1, 3}, "StridedSliceV2"},
        Case{{3}, {4, 2, 0}, "StridedSliceV2"}, Case{{1, 2}, {-1, -2}, "StridedSliceV2"},
        Case{{3}, {0, 1, 3}, "GatherV2"}, Case{{2}, {1, 1}, "GatherV2"}}) {
    PassNet n;
    Value* const positions = n.graph.add_constant("i", Tensor(Array(DataType::i64, c.extents, c.positions)));
    n.output(n.node("GatherV2", {n.input({2, 5, 3}), positions}, {{"axis", i64{1}}}));
    n.optimised();
    EXPECT_EQ(n.types().front(), c.type) << c.positions[0];
  }
}

TEST(Passes, ChannelsOfAMapGoBehindMergedPixels) {
  for (const auto& [extents, first] : {std::pair{Dims{2, 6, 20}, "TransposeD"}, {Dims{2, 30, 4}, "Reshape"}}) {
    PassNet n;
    const std::vector<double> dims(extents.begin(), extents.end());
    Value* const pixels = n.node("Reshape", {n.input({2, 6, 5, 4}), n.integers(dims)});
    n.output(n.node("TransposeD", {pixels}, {{"perm", std::vector<i64>{0, 2, 1}}}));
    n.optimised();
    EXPECT_EQ(n.types().front(), first);
    EXPECT_EQ(n.types().size(), 2U);
  }
}

TEST(Passes, CastsOfBooleansAndBroadcastsThatRepeatNothing) {
  Net net;
  const auto cast = [&](Value* v, DataType type) {
    return net.node("Cast", {v}, {{"to", static_cast<i64>(enum_index(type))}});
  };
  Value* const mask = cast(cast(net.input({4, 8}, DataType::boolean), DataType::i64), DataType::f32);
  net.output(net.node("Relu", {net.node("BroadcastTo", {mask, net.integers({4, 8})})}));
  optimise(net.graph, {});
  ASSERT_EQ(net.graph.nodes().size(), 2U);
  const Node& first = *net.graph.nodes().front();
  EXPECT_EQ(first.type, "Cast");
  EXPECT_EQ(first.input(0)->type, DataType::boolean);
  EXPECT_EQ(first.output()->type, DataType::f32);
  EXPECT_EQ(net.graph.nodes().back()->type, "Relu");
}

}  // namespace
}  // namespace vinci::graph
