// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/streams.h"

#include <gmock/gmock.h>

#include "tests/graph/network_fixture.h"

// Models of several streams: which node runs where, the events between them, memory that streams do not share.
namespace vinci::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

class StreamsOfModels : public NetworkTest {
 protected:
  static Network compiled_with(Net& net, Streams streams) {
    return compile(std::move(net.owned), config::load_chip(GetParam()), {.execution = {.streams = streams}});
  }
  // Streams of the model, each with its number of kernels.
  static std::vector<usize> kernels_of(const Network& network) {
    const task::BuiltStream built = to_task_stream(network, "net");
    std::vector<usize> out;
    for (const task::Stream& s : built.stream().streams) {
      if (!s.name.starts_with("network")) continue;
      out.push_back(static_cast<usize>(std::ranges::count_if(
          s.tasks, [](const task::Task& t) { return std::holds_alternative<task::KernelLaunch>(t.op); })));
    }
    return out;
  }
  static void right(const Network& network) {
    checked(network);
    race_free(network);
    right_end_to_end(network, random_inputs(*network.graph, 3));
  }
};

// Two chains that share weights alone.
void two_towers(Net& net) {
  Value* const w = net.weights({64, 64}, 64);
  for (int tower = 0; tower < 2; ++tower) {
    Value* x = net.input({48, 64}, DataType::f16);
    for (int i = 0; i < 2; ++i)
      x = net.node("SoftmaxV2", {net.node("BatchMatMulV2", {x, w})}, {{"axis", i64{-1}}});
    net.output(x);
  }
}

TEST_P(StreamsOfModels, WhatNoValueJoinsHasItsOwn) {
  Net net, one_net;
  two_towers(net);
  two_towers(one_net);
  const Network network = compiled_with(net, Streams::by_dependency), one = compiled_with(one_net, Streams::one);
  EXPECT_EQ(kernels_of(network).size(), 2U);
  EXPECT_EQ(kernels_of(one).size(), 1U);
  // Blocks are reused on one stream alone.
  EXPECT_GT(network.memory.features, one.memory.features);
  right(network);
  right(one);
}

TEST_P(StreamsOfModels, KindsOfCores) {
  Net net;
  Value* const w = net.weights({64, 64}, 64);
  Value* const x = net.input({48, 64}, DataType::f16);
  Value* const left = net.node("SoftmaxV2", {net.node("BatchMatMulV2", {x, w})}, {{"axis", i64{-1}}});
  Value* const straight = net.node("BatchMatMulV2", {net.node("BatchMatMulV2", {x, net.weights({64, 64}, 64)}), w});
  net.output(net.node("BatchMatMulV2", {net.node("Add", {left, straight}), w}));
  const Network network = compiled_with(net, Streams::cube_and_vector);
  EXPECT_EQ(kernels_of(network).size(), is_joint(network.chip) ? 1U : 2U);
  right(network);
  // The events are down again for the second execution.
  EXPECT_GT(time_network(network, 2).microseconds, 0);
}

// A stream holds so many tasks: another one goes on behind it.
TEST_P(StreamsOfModels, LongOnesAreCut) {
  Net net;
  Value* x = net.input({5, 40}, DataType::f16);
  for (int i = 0; i < 8; ++i)
    x = net.node("ReduceMax", {net.node("SoftmaxV2", {x}, {{"axis", i64{-1}}}), net.integers({0})},
                 {{"keepdims", i64{1}}});
  net.output(x);
  config::ChipConfig chip = config::load_chip(GetParam());
  chip.limits.stream_depth = 12;
  const Network network = compile(std::move(net.owned), chip);
  EXPECT_GT(kernels_of(network).size(), 1U);
  right(network);
  EXPECT_GT(time_network(network, 2).microseconds, 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, StreamsOfModels, ::testing::Values("ascend-910b1", "ascend-310p3"));

// p0 and p1 run on stream 0, their users on stream 1 in this order: the wait for p1 implies p0 for later nodes.
TEST(StreamEvents, OneThatAnotherImpliesIsLeftOut) {
  Net net;
  Value* const x = net.input({16});
  Value *const p0 = net.node("Relu", {x}), *const p1 = net.node("Abs", {p0});
  Value *const first = net.node("Exp", {p1}), *const second = net.node("Neg", {p0}),
               *const third = net.node("Exp", {second});
  Value* const back = net.node("Add", {third, p1});
  net.output(first);
  net.output(back);
  std::vector<const Node*> nodes;
  StreamPlaces places;
  for (const auto& node : net.graph.nodes())
    nodes.push_back(node.get());
  for (usize i = 0; i < nodes.size(); ++i)
    places[nodes[i]] = {.stream = i >= 2 && i <= 4 ? 1U : 0U};
  const auto event = [](usize before, usize after) {
    return testing::AllOf(Field(&StreamEvent::before, before), Field(&StreamEvent::after, after));
  };
  EXPECT_THAT(stream_events(nodes, places), ElementsAre(event(1, 2), event(4, 5)));
}

}  // namespace
}  // namespace vinci::graph
