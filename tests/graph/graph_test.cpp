// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/ir/graph.h"

#include <gmock/gmock.h>

#include "tools/graph/ir/text.h"
#include "tools/graph/ops/run.h"

namespace vinci::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = Relu(x + c)
struct Small {
  Graph graph{"small"};
  Value* x = graph.add_input("x", DataType::f32, {2, 2});
  Value* c = graph.add_constant("c", Tensor(Array(DataType::f32, {2}, {1, -2})));
  Node* add = graph.add_node("Add", "add", {x, c});
  Node* relu = graph.add_node("Relu", "relu", {add->output()});

  Small() {
    graph.outputs = {relu->output()};
    infer(graph);
  }
};

TEST(Graph, KnowsProducersAndUses) {
  const Small s;
  EXPECT_EQ(s.relu->output()->producer(), s.relu);
  EXPECT_THAT(s.c->uses(), ElementsAre(Use{s.add, 1}));
  EXPECT_EQ(s.graph.sole_user(s.add->output()), s.relu);
  EXPECT_EQ(s.graph.sole_user(s.relu->output()), nullptr) << "it is an output of the graph";
}

TEST(Graph, ReplacesAValueInNodesAndOutputs) {
  Small s;
  s.graph.replace(s.relu->output(), s.add->output());
  EXPECT_THAT(s.graph.outputs, ElementsAre(s.add->output()));
  s.graph.erase(s.relu);
  EXPECT_EQ(s.graph.size(), 1U);
  EXPECT_TRUE(s.add->output()->uses().empty());
}

TEST(Graph, PrunesWhatNoOutputDependsOn) {
  Small s;
  Node* const dead = s.graph.add_node("Neg", "dead", {s.x});
  s.graph.add_node("Abs", "deader", {dead->output()});
  EXPECT_EQ(s.graph.prune(), 2U);
  EXPECT_EQ(s.graph.size(), 2U);
  EXPECT_THAT(s.x->uses(), ElementsAre(Use{s.add, 0}));
}

TEST(Graph, InsertsBeforeANode) {
  Small s;
  Node* const neg = s.graph.add_node("Neg", "neg", {s.add->output()}, 1, s.relu);
  s.relu->set_input(0, neg->output());
  std::vector<std::string> names;
  for (const auto& node : s.graph.nodes())
    names.push_back(node->name);
  EXPECT_THAT(names, ElementsAre("add", "neg", "relu"));
}

TEST(Graph, ACloneIsEqualAndIndependent) {
  Small s;
  const auto copy = s.graph.clone();
  EXPECT_EQ(to_text(*copy), to_text(s.graph));
  s.graph.outputs = {s.add->output()};
  s.graph.prune();
  EXPECT_EQ(copy->size(), 2U);
  const std::vector<Array> out = run(*copy, {Array(DataType::f32, {2, 2}, {0, 1, 2, 3})});
  EXPECT_THAT(out.at(0).values, ElementsAre(1, 0, 3, 1));
}

TEST(Graph, TextShowsTypesShapesAndSmallConstants) {
  const Small s;
  EXPECT_EQ(to_text(s.graph),
            "graph small(%x: f32[2, 2])\n"
            "  %c: f32[2] = Const {1, -2}\n"
            "  %add: f32[2, 2] = Add(%x, %c)\n"
            "  %relu: f32[2, 2] = Relu(%add)\n"
            "  return %relu\n");
  EXPECT_THAT(to_dot(s.graph), HasSubstr("\"add\" -> \"relu\" [label=\"f32[2, 2]\"];"));
}

TEST(Tensor, RoundsToItsType) {
  EXPECT_EQ(round_to(DataType::f16, 1 + 0x1p-11), 1);
  EXPECT_EQ(round_to(DataType::bf16, 1 + 0x1p-7), 1 + 0x1p-7);
  EXPECT_EQ(round_to(DataType::i8, 200), -56);
  EXPECT_EQ(round_to(DataType::i64, 1e300), 0x1p63);
  const Tensor t(Array(DataType::i32, {2}, {-5, 7}));
  EXPECT_EQ(t.bytes().size(), 8U);
  EXPECT_THAT(t.array().values, ElementsAre(-5, 7));
}

}  // namespace
}  // namespace vinci::graph
