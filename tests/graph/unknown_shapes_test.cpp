// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>

#include "isa/base/error.h"
#include "tests/graph/network_fixture.h"
#include "tools/graph/compile/partition.h"
#include "tools/graph/import/import.h"

// Networks whose shapes follow from data: what is bound at import, which parts the host launches, and that the device
// computes what the reference does.
namespace vinci::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model that is put together node by node; each node is called by its output.
struct TestModel {
  Model model;

  TestModel() {
    model.opsets[""] = 13;
    model.graph.name = "g";
  }
  TestModel& input(const std::string& name, Shape shape) {
    model.graph.inputs.push_back({.name = name, .type = DataType::f32, .shape = std::move(shape)});
    return *this;
  }
  TestModel& constant(const std::string& name, const Array& array) {
    model.graph.constants.emplace(name, Tensor(array));
    return *this;
  }
  TestModel& integers(const std::string& name, Dims dims, std::vector<double> values) {
    return constant(name, Array(DataType::i64, std::move(dims), std::move(values)));
  }
  TestModel& node(const std::string& op, std::vector<std::string> inputs, std::vector<std::string> outputs,
                  Attributes attributes = {}) {
    model.graph.nodes.push_back({.name = outputs[0],
                                 .domain = "",
                                 .op = op,
                                 .inputs = std::move(inputs),
                                 .outputs = outputs,
                                 .attributes = std::move(attributes),
                                 .bodies = {}});
    model.graph.outputs = {{.name = outputs[0]}};
    return *this;
  }
};

std::vector<Array> seeded(const Graph& graph) { return random_inputs(graph, 5); }

class UnknownShapes : public NetworkTest {
 protected:
  static Network compiled(const TestModel& m, const ImportOptions& options = {.data = seeded}) {
    return compile(import_model(m.model, options), config::load_chip(GetParam()));
  }
  // Each node, the whole as a task stream, and its time.
  static void right(const Network& network) {
    checked_nodes(network);
    const std::vector<Array> inputs = seeded(*network.graph);
    const DeviceRun device = run_on_device(network, inputs);
    EXPECT_THAT(device.findings, ElementsAre());
    EXPECT_GT(time_network(network, {.inputs = inputs}).microseconds, 0);
    const std::vector<Array> wanted = run(*network.graph, inputs);
    for (usize i = 0; i < device.outputs.size(); ++i) {
      const Array& got = device.outputs[i];
      ASSERT_EQ(got.size(), wanted[i].size());
      for (usize e = 0; e < got.size(); ++e)
        ASSERT_NEAR(got.values[e], wanted[i].values[e], 1e-2 * (1 + std::abs(wanted[i].values[e]))) << e;
    }
  }
  static void checked_nodes(const Network& network) {
    for (const NodeCheck& row : check_nodes(network, seeded(*network.graph)))
      EXPECT_TRUE(row.right()) << row.node->node->name << ": " << row.error << " of " << row.allowed;
  }
  // "sunk Relu Greater | host NonZero", by types of nodes.
  static std::vector<std::string> parts(const Network& network) {
    std::vector<std::string> out;
    for (const Part& part : parts_of(network)) {
      std::string& text = out.emplace_back(part.sunk ? "sunk" : "host");
      for (const Node* const node : part.nodes)
        text += node->origins.empty() ? "" : " " + node->origins.back();
    }
    return out;
  }
};

// Rows that data choose, a product of them, and their mean, whose extents are known again.
TestModel chosen_rows() {
  TestModel m;
  m.input("x", {96, 32}).input("m", {96}).integers("axis", {1}, {1});
  m.constant("zero", Array(DataType::f32, {}, {0})).constant("w", [] {
    Array w(DataType::f32, {32, 32});
    for (usize i = 0; i < w.size(); ++i)
      w.values[i] = static_cast<double>(i % 7) / 16 - 0.2;
    w.round();
    return w;
  }());
  m.node("Relu", {"x"}, {"relu"}).node("Greater", {"m", "zero"}, {"greater"}).node("NonZero", {"greater"}, {"found"});
  m.node("Transpose", {"found"}, {"turned"}).node("Squeeze", {"turned", "axis"}, {"index"});
  m.node("Gather", {"relu", "index"}, {"rows"}, {{"axis", i64{0}}}).node("MatMul", {"rows", "w"}, {"product"});
  m.node("ReduceMean", {"product"}, {"mean"}, {{"axes", std::vector<i64>{0}}, {"keepdims", i64{1}}});
  m.node("MatMul", {"mean", "w"}, {"y"});
  return m;
}

TEST_P(UnknownShapes, TheHostLaunchesWhatFollowsFromData) {
  const Network network = compiled(chosen_rows());
  const std::vector<Array> inputs = seeded(*network.graph);
  const auto positive = std::ranges::count_if(inputs[1].values, [](double v) { return v > 0; });
  const auto found = std::ranges::find(network.nodes, "found", [](const CompiledNode& n) { return n.node->name; });
  ASSERT_NE(found, network.nodes.end());
  EXPECT_EQ(found->node->output()->shape, (Shape{1, positive}));
  const std::vector<std::string> all = parts(network);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], ::testing::StartsWith("sunk"));
  EXPECT_THAT(all[1], ::testing::StartsWith("host found"));
  EXPECT_THAT(all[1], HasSubstr("product"));
  EXPECT_EQ(all[2].substr(0, 6), "sunk y");
  right(network);
}

TEST_P(UnknownShapes, WithoutDataTheShapeIsNotKnown) {
  try {
    compiled(chosen_rows(), {});
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Unsupported);
    EXPECT_THAT(e.what(), HasSubstr("found"));
  }
}

// The positions that an operator in front of a TopK counts: the host reads k.
TEST_P(UnknownShapes, TheHostReadsWhatStatesAnExtent) {
  TestModel m;
  m.input("x", {256}).constant("zero", Array(DataType::f32, {}, {0})).integers("axis", {1}, {0});
  m.integers("one", {1}, {1});
  m.node("Relu", {"x"}, {"relu"}).node("Greater", {"x", "zero"}, {"greater"});
  m.node("Cast", {"greater"}, {"number"}, {{"to", i64{6}}});
  m.node("ReduceSum", {"number", "axis"}, {"sum"}, {{"keepdims", i64{0}}})
      .node("Cast", {"sum"}, {"wide"}, {{"to", i64{7}}});
  m.node("Reshape", {"wide", "one"}, {"k"}).node("TopK", {"relu", "k"}, {"top", "where"}, {{"axis", i64{0}}});
  m.node("ReduceSum", {"top", "axis"}, {"total"}, {{"keepdims", i64{1}}}).node("Neg", {"total"}, {"y"});
  const Network network = compiled(m);
  ASSERT_THAT(network.graph->host_reads, ElementsAre("top"));
  const std::vector<std::string> all = parts(network);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[1], ::testing::StartsWith("host top"));
  EXPECT_EQ(all[2], "sunk y");
  const std::vector<Array> inputs = seeded(*network.graph);
  const auto positive = std::ranges::count_if(inputs[0].values, [](double v) { return v > 0; });
  const auto top = std::ranges::find(network.nodes, "top", [](const CompiledNode& n) { return n.node->name; });
  ASSERT_NE(top, network.nodes.end());
  EXPECT_EQ(top->node->output()->shape, Shape{positive});
  right(network);
}

// Branches of different shapes: the host reads the condition, and launches the branch.
TEST_P(UnknownShapes, TheHostReadsTheConditionOfBranches) {
  for (const double least : {-1e3, 1e3}) {
    TestModel m;
    m.input("x", {16, 32}).constant("least", Array(DataType::f32, {}, {least})).integers("axes", {2}, {0, 1});
    m.node("Relu", {"x"}, {"relu"}).node("ReduceSum", {"x", "axes"}, {"sum"}, {{"keepdims", i64{0}}});
    m.node("Greater", {"sum", "least"}, {"greater"}).node("If", {"greater"}, {"branch"});
    TestModel once, twice;
    once.node("Neg", {"relu"}, {"negative"}).node("Sigmoid", {"negative"}, {"same"});
    twice.node("Concat", {"relu", "relu"}, {"both"}, {{"axis", i64{0}}});
    m.model.graph.nodes.back().bodies = {{"then_branch", once.model.graph}, {"else_branch", twice.model.graph}};
    m.node("Exp", {"branch"}, {"y"});
    const Network network = compiled(m);
    EXPECT_THAT(network.graph->host_reads, ElementsAre("branch"));
    EXPECT_EQ(network.graph->outputs[0]->shape, (Shape{least < 0 ? 16 : 32, 32}));
    const std::vector<std::string> all = parts(network);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_THAT(all[0], ::testing::StartsWith("sunk"));
    EXPECT_THAT(all[1], ::testing::StartsWith("host"));
    right(network);
  }
}

// An input whose first extent the compiler does not know: the host launches all that has it.
TEST_P(UnknownShapes, ExtentsOfInputs) {
  TestModel m;
  m.input("x", {Shape::kUnknown, 64})
      .integers("first", {}, {0})
      .integers("axis", {1}, {0})
      .integers("rest", {2}, {8, 8});
  m.node("Relu", {"x"}, {"relu"}).node("Shape", {"relu"}, {"shape"});
  m.node("Gather", {"shape", "first"}, {"rows"}).node("Unsqueeze", {"rows", "axis"}, {"wide"});
  m.node("Concat", {"wide", "rest"}, {"target"}, {{"axis", i64{0}}}).node("Reshape", {"relu", "target"}, {"maps"});
  m.node("Exp", {"maps"}, {"y"});
  const Network network = compiled(
      m, {.input_shapes = {{"x", {5, 64}}}, .data = seeded, .declared_shapes = {{"x", {Shape::kUnknown, 64}}}});
  EXPECT_EQ(network.graph->outputs[0]->shape, (Shape{5, 8, 8}));
  const std::vector<Part> all = parts_of(network);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0].sunk);
  right(network);
  // The same network with known extents is one model.
  const Network known = compiled(m, {.input_shapes = {{"x", {5, 64}}}, .data = seeded});
  EXPECT_TRUE(known.graph->unknown_shapes.empty());
  ASSERT_EQ(parts_of(known).size(), 1U);
  EXPECT_TRUE(parts_of(known)[0].sunk);
}

TEST_P(UnknownShapes, BoxesThatDoNotOverlap) {
  TestModel m;
  m.input("boxes", {1, 64, 4}).input("scores", {1, 2, 64}).integers("most", {1}, {9}).integers("two", {}, {2});
  m.constant("iou", Array(DataType::f32, {1}, {0.5})).constant("least", Array(DataType::f32, {1}, {0.25}));
  m.node("Sigmoid", {"boxes"}, {"corners"})
      .node("NonMaxSuppression", {"corners", "scores", "most", "iou", "least"}, {"chosen"});
  m.node("Gather", {"chosen", "two"}, {"index"}, {{"axis", i64{1}}});
  m.node("Gather", {"corners", "index"}, {"y"}, {{"axis", i64{1}}});
  right(compiled(m));
}

// Boxes of the network, as many as its data make: parts of a map for each of them.
TEST_P(UnknownShapes, MapsOfBoxes) {
  for (const char* const mode : {"avg", "max"}) {
    for (const i64 sampling : {0, 2}) {
      TestModel m;
      m.input("boxes", {1, 64, 4}).input("scores", {1, 2, 64}).input("map", {1, 16, 12, 20}).integers("most", {1}, {9});
      m.constant("iou", Array(DataType::f32, {1}, {0.5})).constant("least", Array(DataType::f32, {1}, {0.25}));
      m.constant("pixels", Array(DataType::f32, {}, {60})).integers("two", {}, {2}).integers("none", {}, {0});
      m.integers("axis", {1}, {0}).node("Sigmoid", {"boxes"}, {"corners"});
      m.node("NonMaxSuppression", {"corners", "scores", "most", "iou", "least"}, {"chosen"});
      m.node("Gather", {"chosen", "two"}, {"index"}, {{"axis", i64{1}}});
      m.node("Gather", {"chosen", "none"}, {"image"}, {{"axis", i64{1}}});
      m.node("Squeeze", {"corners", "axis"}, {"all"}).node("Gather", {"all", "index"}, {"kept"}, {{"axis", i64{0}}});
      m.node("Mul", {"kept", "pixels"}, {"rois"}).node("Relu", {"map"}, {"features"});
      m.node("RoiAlign", {"features", "rois", "image"}, {"parts"},
             {{"output_height", i64{5}},
              {"output_width", i64{3}},
              {"sampling_ratio", sampling},
              {"spatial_scale", 0.25},
              {"mode", std::string(mode)}});
      m.node("Neg", {"parts"}, {"y"});
      right(compiled(m));
    }
  }
}

// Corners in pixels stay f32: f16 has steps of half a pixel at 600. Up to operator set 15 boxes are not shifted.
TEST_P(UnknownShapes, CornersOfBoxesKeepTheirBits) {
  std::vector<Array> results;
  for (const i64 opset : {10, 16}) {
    TestModel m;
    m.model.opsets[""] = opset;
    m.input("map", {2, 3, 20, 700})
        .constant("rois", Array(DataType::f32, {2, 4}, {600.25, 3.125, 660.25, 11, 0, 0, 9, 4}));
    m.integers("image", {2}, {1, 0}).node("Relu", {"map"}, {"features"});
    m.node("RoiAlign", {"features", "rois", "image"}, {"y"}, {{"output_height", i64{4}}, {"output_width", i64{4}}});
    const Network network = compiled(m);
    right(network);
    for (const CompiledNode& n : network.nodes) {
      if (n.node->type == "ROIAlign") {
        EXPECT_EQ(n.node->input(1)->type, DataType::f32);
      }
    }
    results.push_back(run(*network.graph, seeded(*network.graph)).at(0));
  }
  EXPECT_NE(results[0].values, results[1].values);
}

TEST_P(UnknownShapes, DifferentElementsAndChosenOnes) {
  TestModel m;
  m.input("x", {80}).constant("eight", Array(DataType::f32, {}, {8})).constant("zero", Array(DataType::f32, {}, {0}));
  m.node("Mul", {"x", "eight"}, {"scaled"}).node("Floor", {"scaled"}, {"whole"});
  m.node("Unique", {"whole"}, {"different", "first", "inverse", "counts"})
      .node("Greater", {"different", "zero"}, {"above"});
  m.node("Compress", {"different", "above"}, {"chosen"}, {{"axis", i64{0}}}).node("Neg", {"chosen"}, {"y"});
  const Network network = compiled(m);
  right(network);
}

// A model names the outputs that it uses.
TEST_P(UnknownShapes, DifferentElementsAlone) {
  TestModel m;
  m.input("x", {80}).constant("eight", Array(DataType::f32, {}, {8}));
  m.node("Mul", {"x", "eight"}, {"scaled"}).node("Floor", {"scaled"}, {"whole"});
  m.node("Unique", {"whole"}, {"different"}).node("Neg", {"different"}, {"y"});
  const Network network = compiled(m);
  right(network);
}

// No box is good enough: there is room for one, and found says 0.
TEST_P(UnknownShapes, NothingIsFound) {
  TestModel m;
  m.input("x", {40}).constant("ten", Array(DataType::f32, {}, {10})).integers("axis", {1}, {0});
  m.node("Greater", {"x", "ten"}, {"greater"}).node("NonZero", {"greater"}, {"found"});
  m.node("Squeeze", {"found", "axis"}, {"index"}).node("Gather", {"x", "index"}, {"y"});
  const Network network = compiled(m);
  EXPECT_EQ(network.graph->outputs[0]->shape, Shape{1});
  right(network);
}

INSTANTIATE_TEST_SUITE_P(Chips, UnknownShapes, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

// A result has as many elements as were bound, whatever its data: others are dropped, and zeros fill it.
TEST(BoundShapes, ResultsFitThem) {
  Graph graph;
  Node* const node = graph.add_node("NonZero", "n", {graph.add_input("x", DataType::f32, {6})});
  bind_shape(*node, 0, {1, 3});
  infer(*node);
  EXPECT_EQ(node->output()->shape, (Shape{1, 3}));
  const auto found = [&](std::vector<double> values) {
    const Array x(DataType::f32, {6}, std::move(values));
    return evaluate(*node, {&x}).at(0).values;
  };
  EXPECT_THAT(found({1, 0, 2, 0, 0, 3}), ElementsAre(0, 2, 5));
  EXPECT_THAT(found({0, 0, 0, 0, 0, 3}), ElementsAre(5, 0, 0));
  EXPECT_THAT(found({1, 1, 1, 1, 1, 1}), ElementsAre(0, 1, 2));
}

// NaN has no order; each element still is one of the results.
TEST(Unique, TakesNaN) {
  Graph graph;
  const Node* const node = graph.add_node("Unique", "u", {graph.add_input("x", DataType::f32, {5})}, 4);
  const Array x(DataType::f32, {5}, {2, std::nan(""), 1, std::nan(""), 2});
  const std::vector<Array> out = evaluate(*node, {&x});
  ASSERT_EQ(out[2].size(), 5U);
  for (const double which : out[2].values)
    EXPECT_LT(which, static_cast<double>(out[0].size()));
}

}  // namespace
}  // namespace vinci::graph
