// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>

#include "isa/base/error.h"
#include "tests/graph/network_fixture.h"
#include "tools/graph/compile/bins.h"

// Networks with branches: the device decides, and both branches are right.
namespace vinci::graph {
namespace {

class Control : public NetworkTest {
 protected:
  // A branch on maps of `x`: the nodes in a row.
  static void branch(Node& node, const std::vector<std::string_view>& types, const Shape& shape) {
    auto& body = node.bodies.emplace_back(std::make_unique<Graph>("branch"));
    Value* v = body->add_input("in", DataType::f32, shape);
    for (const std::string_view type : types)
      v = body->add_node(type, type, {v})->output();
    body->outputs = {v};
  }
  static std::vector<Array> with_condition(const Network& network, double condition) {
    std::vector<Array> inputs = random_inputs(*network.graph, 7);
    inputs.at(1).values = {condition};
    return inputs;
  }
};

TEST_P(Control, IfRunsOneOfItsBranches) {
  Net net;
  const Shape shape{3, 50};
  Value* const x = net.input(shape);
  Value* const condition = net.graph.add_input("condition", DataType::boolean, Shape());
  Node* const node = net.graph.add_node("If", "if", {condition, net.node("Relu", {x})});
  branch(*node, {"Exp", "Sqrt"}, shape);
  branch(*node, {}, shape);  // hands on what it gets
  infer(*node);
  const Network network = compiled(net, net.node("Abs", {node->output()}));
  checked(network);
  race_free(network);
  for (const double c : {0.0, 1.0})
    right_end_to_end(network, with_condition(network, c));
}

TEST_P(Control, CaseTakesTheLastBranchForNumbersThatAreNone) {
  Net net;
  const Shape shape{70};
  Value* const x = net.input(shape);
  Value* const number = net.graph.add_input("number", DataType::i32, Shape());
  Node* const node = net.graph.add_node("Case", "case", {number, x});
  branch(*node, {"Exp"}, shape);
  branch(*node, {"Relu", "Exp", "Sqrt"}, shape);
  branch(*node, {"Neg"}, shape);
  infer(*node);
  const Network network = compiled(net, net.node("Abs", {node->output()}));
  checked(network);
  for (const double n : {0, 1, 2, 3, 100, -1})
    right_end_to_end(network, with_condition(network, n));
}

// The network computes its condition.
TEST_P(Control, AConditionThatAKernelMakes) {
  Net net;
  Value* const x = net.input({1});
  Value* const y = net.input({40});
  Value* const number =
      net.node("Cast", {net.node("Relu", {x})}, {{"to", static_cast<i64>(enum_index(DataType::i32))}});
  Node* const node = net.graph.add_node("Case", "case", {number, y});
  branch(*node, {"Exp"}, {40});
  branch(*node, {"Neg"}, {40});
  infer(*node);
  const Network network = compiled(net, node->output());
  EXPECT_GT(time_network(network).microseconds, 0);
  std::vector<Array> inputs = random_inputs(*network.graph, 7);
  for (const double v : {-3.0, 1.5}) {
    inputs[0].values = {v};
    right_end_to_end(network, inputs);
  }
}

// Values of the branch that is not taken may be in the same memory.
TEST_P(Control, BranchesShareMemory) {
  Net net;
  const Shape shape{64 * 1024};
  Value* const x = net.input(shape, DataType::f16);
  Value* const number = net.graph.add_input("number", DataType::i32, Shape());
  Node* const node = net.graph.add_node("Case", "case", {number, x});
  for (int i = 0; i < 4; ++i) {
    auto& body = node->bodies.emplace_back(std::make_unique<Graph>("branch"));
    Value* const in = body->add_input("in", DataType::f16, shape);
    Value* const a = body->add_node("Exp", "a", {in})->output();
    Value* const b = body->add_node("Sqrt", "b", {a})->output();
    body->outputs = {body->add_node("Add", "sum", {a, b})->output()};
  }
  infer(*node);
  net.graph.outputs = {node->output()};
  const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                  {.switches = {.passes = {{"TbeEltwiseFusionPass", false}}}});
  checked(network);
  EXPECT_LE(network.memory.features, 3 * (allocated_bytes(*network.graph->outputs[0]) + 64));
  EXPECT_GE(network.memory.without_reuse, 9 * 2 * 64 * 1024U);
}

// A convolution and a product behind it, for batches of 1, 2 and 5.
TEST_P(Control, BinsHaveABranchEach) {
  Net net;
  Value* const x = net.input({-1, 16, 6, 6});
  Value* const y = net.node("Conv2D", {x, net.weights({16, 16, 3, 3}, 144)}, {{"pads", std::vector<i64>{1, 1, 1, 1}}});
  net.output(net.node("Relu", {y}));
  const Network one = compile(clone_for_bins(*net.owned, {{1}, {2}}), config::load_chip(GetParam()));
  const Network network = compile(clone_for_bins(*net.owned, {{1}, {2}, {5}}), config::load_chip(GetParam()));
  EXPECT_EQ(network.graph->inputs[0]->shape, Shape({5, 16, 6, 6}));
  EXPECT_EQ(network.graph->inputs[1]->name, kBinInput);
  EXPECT_EQ(one.memory.weights, network.memory.weights) << "each weight is there once";
  checked(network);
  race_free(network);
  std::vector<Array> inputs = random_inputs(*network.graph, 3);
  for (const double batch : {1.0, 2.0, 5.0}) {
    inputs[1].values = {batch};
    right_end_to_end(network, inputs);
    EXPECT_THAT(run_on_device(network, inputs).findings, ::testing::IsEmpty()) << batch;
  }
}

TEST(Bins, RefuseWhatTheInputsDoNotHave) {
  Net net;
  Value* const x = net.input({-1, 4, -1});
  net.output(net.node("Relu", {x}));
  const auto message = [&](const std::vector<std::vector<i64>>& bins) {
    try {
      clone_for_bins(net.graph, bins);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  EXPECT_EQ(message({{1, 2}, {2, 3}}), "");
  EXPECT_THAT(message({{1}}), ::testing::HasSubstr("E10035"));
  EXPECT_THAT(message(std::vector<std::vector<i64>>(101, {1})), ::testing::HasSubstr("E10036"));
  EXPECT_THAT(message({{1, 2, 3}, {1, 2, 4}}),
              ::testing::HasSubstr("E10045: a bin has 3 values, but the inputs have 2"));
  EXPECT_THAT(message({{1}, {2}}), ::testing::HasSubstr("E10045: a bin has 1 values, but the inputs have 2"));
  EXPECT_THAT(message({{1, 2}, {1}}), ::testing::HasSubstr("E10037"));
  EXPECT_THAT(message({{1, 0}, {1, 1}}), ::testing::HasSubstr("E10038"));
  EXPECT_THAT(message({{1, 2}, {1, 2}}), ::testing::HasSubstr("E10039: the bin 1,2 is there twice"));
}

INSTANTIATE_TEST_SUITE_P(Chips, Control, ::testing::Values("ascend-910b1", "ascend-310p3"));

}  // namespace
}  // namespace vinci::graph
