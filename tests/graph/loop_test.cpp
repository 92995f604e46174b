// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/graph/network_fixture.h"

// Loops whose number of turns is known become their turns.
namespace vinci::graph {
namespace {

class Loops : public NetworkTest {
 protected:
  // A body that carries a sum and stacks it: sum = sum * factor + turn, where the factor comes from outside.
  static Node* add_loop(Net& net, Value* turns, Value* condition) {
    Value* const x = net.input({2, 32});
    Value* const factor = net.input({2, 32});
    Node* const loop = net.graph.add_node("While", "loop", {turns, condition, x, factor}, 2);
    loop->attributes["carried"] = i64{1};
    Graph& body = *loop->bodies.emplace_back(std::make_unique<Graph>("body"));
    Value* const turn = body.add_input("turn", DataType::i64, Shape());
    Value* const go = body.add_input("go", DataType::boolean, Shape());
    Value* const in = body.add_input("in", DataType::f16, x->shape);
    Value* const by = body.add_input("by", DataType::f16, x->shape);
    Node* const number = body.add_node("Cast", "number", {turn});
    number->attributes["to"] = static_cast<i64>(enum_index(DataType::f16));
    Value* const scaled = body.add_node("Mul", "scaled", {in, by})->output();
    Value* const sum = body.add_node("Add", "sum", {scaled, number->output()})->output();
    body.outputs = {go, sum, sum};
    infer(*loop);
    return loop;
  }
  static usize loops(const Network& network) {
    return static_cast<usize>(
        std::ranges::count_if(network.graph->nodes(), [](const auto& n) { return n->type == "While"; }));
  }
};

TEST_P(Loops, KnownTurnsAreUnrolled) {
  for (const i64 turns : {1, 5}) {
    SCOPED_TRACE(turns);
    Net net;
    Array count(DataType::i64, {});
    count.values = {static_cast<double>(turns)};
    Node* const loop = add_loop(net, net.graph.add_constant("turns", Tensor(count)), nullptr);
    net.output(loop->output(0));
    net.output(loop->output(1));
    const std::vector<Array> inputs = random_inputs(net.graph, 3);
    const std::vector<Array> wanted = run(net.graph, inputs);
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    EXPECT_EQ(loops(network), 0U);
    EXPECT_EQ(network.graph->outputs[1]->shape, Shape({turns, 2, 32})) << "what turns stack has an extent now";
    checked(network);
    const std::vector<Array> got = run_on_device(network, inputs).outputs;
    for (usize i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(got[i].size(), wanted[i].size());
      for (usize e = 0; e < wanted[i].size(); ++e)
        ASSERT_NEAR(got[i].values[e], wanted[i].values[e], 1e-2 * (1 + std::abs(wanted[i].values[e]))) << i << " " << e;
    }
  }
}

// What a loop without turns carries is its input; what it would stack has no elements.
TEST_P(Loops, WithoutTurns) {
  for (const bool stacked : {false, true}) {
    Net net;
    Value* const turns = net.graph.add_constant("turns", Tensor(Array(DataType::i64, {}, {0})));
    Node* const loop = add_loop(net, turns, nullptr);
    net.output(loop->output(0));
    if (stacked) net.output(loop->output(1));
    optimise(net.graph);
    EXPECT_EQ(std::ranges::count_if(net.graph.nodes(), [](const auto& n) { return n->type == "While"; }), stacked);
    if (!stacked) {
      const std::vector<Array> inputs = random_inputs(net.graph, 3);
      EXPECT_EQ(run(net.graph, inputs).at(0).values, inputs[0].values);
    }
  }
}

// An input that says how often, and a condition that is false from the beginning, leave the loop.
TEST_P(Loops, OthersStay) {
  const auto left = [](bool known, double begins) {
    Net net;
    Array count(DataType::i64, {}), go(DataType::boolean, {});
    count.values = {4};
    go.values = {begins};
    Value* const turns =
        known ? net.graph.add_constant("turns", Tensor(count)) : net.graph.add_input("turns", DataType::i64, Shape());
    Node* const loop = add_loop(net, turns, net.graph.add_constant("go", Tensor(go)));
    net.output(loop->output(0));
    optimise(net.graph);
    return std::ranges::count_if(net.graph.nodes(), [](const auto& n) { return n->type == "While"; });
  };
  EXPECT_EQ(left(true, 1), 0);
  EXPECT_EQ(left(false, 1), 1);
  EXPECT_EQ(left(true, 0), 1);
}

INSTANTIATE_TEST_SUITE_P(Chips, Loops, ::testing::Values("ascend-910b1", "ascend-310p3"));

}  // namespace
}  // namespace vinci::graph
