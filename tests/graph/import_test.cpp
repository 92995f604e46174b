// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/import.h"

#include <gmock/gmock.h>

#include "isa/base/error.h"
#include "tools/graph/import/readers.h"
#include "tools/graph/ir/text.h"
#include "tools/graph/ops/op.h"

namespace vinci::graph {
namespace {

using ::testing::HasSubstr;

// y = f(x) with x of [2, ?]
Model model_of(const std::string& op) {
  Model model;
  model.opsets[""] = 13;
  model.graph.name = "g";
  model.graph.inputs = {{.name = "x", .type = DataType::f32, .shape = {2, Shape::kUnknown}}};
  model.graph.outputs = {{.name = "y"}};
  model.graph.nodes = {
      {.name = "n", .domain = "", .op = op, .inputs = {"x"}, .outputs = {"y"}, .attributes = {}, .bodies = {}}};
  return model;
}

std::string message(const Model& model, const ImportOptions& options = {}) {
  try {
    import_model(model, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Import, TakesShapesOfInputs) {
  const auto graph = import_model(model_of("Relu"), {.input_shapes = {{"x", {2, 5}}}});
  EXPECT_EQ(to_text(*graph), "graph g(%x: f32[2, 5])\n  %y: f32[2, 5] = Relu(%x)\n  return %y\n");
}

TEST(Import, RefusesByName) {
  EXPECT_THAT(message(model_of("Unique")), HasSubstr("node n (Unique)"));
  EXPECT_THAT(message(model_of("Relu"), {.input_shapes = {{"X", {2, 5}}}}),
              HasSubstr("no input 'X'; did you mean 'x'?"));
  EXPECT_THAT(message(model_of("Relu"), {.input_shapes = {{"x", {2}}}}), HasSubstr("not [2]"));
  Model dangling = model_of("Relu");
  dangling.graph.nodes[0].inputs = {"z"};
  EXPECT_THAT(message(dangling), HasSubstr("there is no value 'z'"));
  Model twice = model_of("Relu");
  twice.graph.nodes.push_back(twice.graph.nodes[0]);
  EXPECT_THAT(message(twice), HasSubstr("'y' is made twice"));
  Model missing = model_of("Relu");
  missing.graph.outputs[0].name = "w";
  EXPECT_THAT(message(missing), HasSubstr("the output 'w' is not made"));
}

TEST(Import, SupportCoversBodies) {
  Model model = model_of("If");
  model.graph.nodes[0].bodies["then_branch"].nodes = {{.name = "inner",
                                                       .domain = "com.vendor",
                                                       .op = "Relu",
                                                       .inputs = {},
                                                       .outputs = {},
                                                       .attributes = {},
                                                       .bodies = {}}};
  const std::vector<NodeSupport> rows = supported_nodes(model);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].reason, "");
  EXPECT_EQ(rows[1].op, "com.vendor.Relu");
  EXPECT_NE(rows[1].reason, "");
}

TEST(Import, EachReaderMakesAnOperatorThatExists) {
  for (const OpReader& reader : all_readers()) {
    if (reader.type != "Const") {
      EXPECT_NE(find_op(reader.type), nullptr) << reader.op;
    }
  }
}

}  // namespace
}  // namespace vinci::graph
