// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>

#include "isa/base/error.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/ops/run.h"

// What the node tests of ONNX do not cover: unknown shapes and messages.
namespace vinci::graph {
namespace {

using ::testing::HasSubstr;

constexpr i64 kUnknown = Shape::kUnknown;

Shape inferred(std::string_view type, const std::vector<Shape>& shapes, const Attributes& attributes = {}) {
  Graph graph;
  std::vector<Value*> inputs;
  for (const Shape& s : shapes)
    inputs.push_back(graph.add_input("x", DataType::f32, s));
  Node* const node = graph.add_node(type, "node", inputs);
  node->attributes = attributes;
  infer(*node);
  return node->output()->shape;
}

std::string message(std::string_view type, const std::vector<Shape>& shapes, const Attributes& attributes = {}) {
  try {
    inferred(type, shapes, attributes);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Ops, UnknownExtentsSpread) {
  EXPECT_EQ(inferred("Add", {{kUnknown, 3}, {1, 3}}), Shape({kUnknown, 3}));
  EXPECT_EQ(inferred("Add", {{kUnknown, 3}, {4, 1}}), Shape({4, 3}));
  EXPECT_EQ(inferred("Add", {Shape::unranked(), {4}}), Shape::unranked());
  EXPECT_EQ(inferred("Conv2D", {{kUnknown, 3, 8, kUnknown}, {16, 3, 3, 3}}), Shape({kUnknown, 16, 6, kUnknown}));
  EXPECT_EQ(inferred("BatchMatMulV2", {{kUnknown, 4, 5}, {5, 6}}), Shape({kUnknown, 4, 6}));
  EXPECT_EQ(inferred("ConcatD", {{2, kUnknown}, {2, 3}}, {{"axis", i64{1}}}), Shape({2, kUnknown}));
  EXPECT_EQ(inferred("ConcatD", {{kUnknown, 4}, {2, 3}}, {{"axis", i64{1}}}), Shape({2, 7}));
}

TEST(Ops, RefuseWhatDoesNotFitWithTheNameOfTheNode) {
  EXPECT_THAT(message("Add", {{2, 3}, {2, 4}}), HasSubstr("node (Add): [2, 3] and [2, 4] do not broadcast"));
  EXPECT_THAT(message("BatchMatMulV2", {{2, 3}, {4, 5}}), HasSubstr("do not multiply"));
  EXPECT_THAT(message("Conv2D", {{1, 4, 8, 8}, {16, 3, 3, 3}}), HasSubstr("4 input channels"));
  EXPECT_THAT(message("Conv2D", {{1, 3, 2, 2}, {16, 3, 3, 3}}), HasSubstr("does not fit"));
  EXPECT_THAT(message("TransposeD", {{2, 3}}, {{"perm", std::vector<i64>{0, 0}}}), HasSubstr("twice"));
  EXPECT_THAT(message("Nothing", {{2}}), HasSubstr("there is no operator 'Nothing'"));
}

TEST(Ops, EveryOperatorHasShapesAndAValue) {
  for (const Op* const op : all_ops()) {
    EXPECT_NE(op->infer, nullptr) << op->type;
    EXPECT_NE(op->evaluate, nullptr) << op->type;
  }
}

}  // namespace
}  // namespace vinci::graph
