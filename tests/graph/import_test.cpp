// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/import.h"

#include <gmock/gmock.h>

#include "isa/base/error.h"
#include "tools/graph/import/lists.h"
#include "tools/graph/import/readers.h"
#include "tools/graph/ir/text.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/ops/run.h"
#include "tools/graph/passes/optimise.h"

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
  EXPECT_THAT(message(model_of("StringNormalizer")), HasSubstr("node n (StringNormalizer)"));
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

ModelNode model_node(const std::string& op, std::vector<std::string> inputs, std::vector<std::string> outputs,
                     Attributes attributes = {}) {
  return {.name = op,
          .domain = "",
          .op = op,
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = std::move(attributes),
          .bodies = {}};
}

// s = [x], then x + x and so on: each turn appends to a list, and the list is joined behind the loop.
Model appending_loop(const Attributes& join, bool appends = true) {
  Model model = model_of("Loop");
  model.graph.inputs[0].shape = {2, 3};
  Array turns(DataType::i64, {});
  turns.values = {3};
  model.graph.constants.emplace("turns", Tensor(turns));
  ModelGraph body;
  body.inputs = {{.name = "turn", .type = DataType::i64, .shape = Shape()},
                 {.name = "go", .type = DataType::boolean, .shape = Shape()},
                 {.name = "list", .is_sequence = true},
                 {.name = "v", .type = DataType::f32}};
  body.nodes = {model_node("Add", {"v", "v"}, {"twice"}), model_node("Identity", {"go"}, {"goes"})};
  if (appends) body.nodes.push_back(model_node("SequenceInsert", {"list", "v"}, {"longer"}));
  body.outputs = {{.name = "goes"}, {.name = appends ? "longer" : "list"}, {.name = "twice"}};
  ModelNode loop = model_node("Loop", {"turns", "", "empty", "x"}, {"whole", "last"});
  loop.bodies["body"] = body;
  model.graph.nodes = {model_node("SequenceEmpty", {}, {"empty"}), loop,
                       model_node("ConcatFromSequence", {"whole"}, {"y"}, join)};
  return model;
}

TEST(Import, ListsThatALoopAppendsToAreStacked) {
  struct Case {
    Attributes join;
    Dims shape;
    std::vector<double> begin;
  };
  for (const Case& c : {Case{{{"new_axis", i64{1}}, {"axis", i64{0}}}, {3, 2, 3}, {1, 2, 3, 4, 5, 6, 2, 4}},
                        Case{{{"new_axis", i64{1}}, {"axis", i64{-1}}}, {2, 3, 3}, {1, 2, 4, 2, 4, 8}},
                        Case{{{"axis", i64{0}}}, {6, 3}, {1, 2, 3, 4, 5, 6, 2, 4}},
                        Case{{{"axis", i64{1}}}, {2, 9}, {1, 2, 3, 2, 4, 6, 4, 8}}}) {
    Model model = appending_loop(c.join);
    stack_lists(model.graph);
    const auto graph = import_model(model);
    Array x(DataType::f32, {2, 3});
    x.values = {1, 2, 3, 4, 5, 6};
    const Array y = run(*graph, {x}).at(0);
    EXPECT_EQ(y.dims, c.shape);
    EXPECT_THAT(std::vector(y.values.begin(), y.values.begin() + std::ssize(c.begin)),
                ::testing::ElementsAreArray(c.begin));
  }
}

// Exporters write a branch for each extent that an axis may have; the other one does not fit the shape.
TEST(Import, ABranchThatShapesChooseNeedNotFitOthers) {
  for (const i64 extent : {1, 3}) {
    Model model = model_of("Relu");
    model.graph.inputs[0].shape = {2, extent};
    const Array one(DataType::i64, {1}, {1});
    model.graph.constants.emplace("one", Tensor(one));
    ModelGraph squeezed, as_it_is;
    squeezed.constants.emplace("axis", Tensor(one));
    squeezed.nodes = {model_node("Squeeze", {"r", "axis"}, {"out"})};
    squeezed.outputs = {{.name = "out"}};
    as_it_is.outputs = {{.name = "r"}};
    ModelNode choice = model_node("If", {"is_one"}, {"y"});
    choice.bodies = {{"then_branch", squeezed}, {"else_branch", as_it_is}};
    model.graph.nodes = {model_node("Relu", {"x"}, {"r"}), model_node("Shape", {"r"}, {"extents"}),
                         model_node("Gather", {"extents", "one"}, {"last"}, {{"axis", i64{0}}}),
                         model_node("Equal", {"last", "one"}, {"is_one"}), choice};
    const auto graph = import_model(model);
    Array x(DataType::f32, {2, extent});
    x.values.assign(x.values.size(), 3);
    const Array y = run(*graph, {x}).at(0);
    EXPECT_EQ(y.dims, extent == 1 ? Dims{2} : (Dims{2, 3}));
    EXPECT_EQ(y.values, x.values);
  }
}

// The rows that a loop appends change what an If in it chooses: the first turn negates, the others do not.
TEST(Import, ABranchInALoopIsChosenInEachTurn) {
  Model model = model_of("Loop");
  model.graph.inputs[0].shape = {1, 3};
  model.graph.constants.emplace("turns", Tensor(Array(DataType::i64, {}, {3})));
  const Array zero(DataType::i64, {}, {0}), one(DataType::i64, {}, {1});
  ModelGraph body, negated, as_it_is;
  negated.nodes = {model_node("Neg", {"v"}, {"negated"})};
  negated.outputs = {{.name = "negated"}};
  as_it_is.outputs = {{.name = "v"}};
  ModelNode choice = model_node("If", {"is_one"}, {"w"});
  choice.bodies = {{"then_branch", negated}, {"else_branch", as_it_is}};
  body.constants = {{"zero", Tensor(zero)}, {"one", Tensor(one)}};
  body.inputs = {{.name = "turn", .type = DataType::i64, .shape = Shape()},
                 {.name = "go", .type = DataType::boolean, .shape = Shape()},
                 {.name = "v", .type = DataType::f32}};
  body.nodes = {model_node("Shape", {"v"}, {"extents"}),
                model_node("Gather", {"extents", "zero"}, {"rows"}),
                model_node("Equal", {"rows", "one"}, {"is_one"}),
                choice,
                model_node("Concat", {"w", "x"}, {"longer"}, {{"axis", i64{0}}}),
                model_node("Identity", {"go"}, {"goes"})};
  body.outputs = {{.name = "goes"}, {.name = "longer"}};
  ModelNode loop = model_node("Loop", {"turns", "", "x"}, {"y"});
  loop.bodies["body"] = body;
  model.graph.nodes = {loop};
  const auto graph = import_model(model);
  Array x(DataType::f32, {1, 3});
  x.values = {1, 2, 3};
  optimise(*graph, {});
  EXPECT_THAT(run(*graph, {x}).at(0).values, ::testing::ElementsAre(-1, -2, -3, 1, 2, 3, 1, 2, 3, 1, 2, 3));
}

// Sums of the slices along an axis, from either end, stacked along an axis in either order.
TEST(Import, AScanIsALoopOverSlices) {
  for (const i64 axis : {0, 1}) {
    for (const i64 backwards : {0, 1}) {
      Model model = model_of("Scan");
      model.graph.inputs[0].shape = {2, 3};
      const i64 turns = axis == 0 ? 2 : 3, width = 5 - turns;
      model.graph.constants.emplace("zeros", Tensor(Array(DataType::f32, {width})));
      ModelGraph body;
      body.inputs = {{.name = "sum", .type = DataType::f32}, {.name = "slice", .type = DataType::f32}};
      body.nodes = {model_node("Add", {"sum", "slice"}, {"more"}), model_node("Neg", {"more"}, {"less"})};
      body.outputs = {{.name = "more"}, {.name = "less"}};
      using L = std::vector<i64>;
      ModelNode scan = model_node("Scan", {"zeros", "x"}, {"last", "y"},
                                  {{"num_scan_inputs", i64{1}},
                                   {"scan_input_axes", L{axis}},
                                   {"scan_output_axes", L{axis - 2}},
                                   {"scan_input_directions", L{backwards}},
                                   {"scan_output_directions", L{backwards}}});
      scan.bodies["body"] = body;
      model.graph.nodes = {scan};
      const auto graph = import_model(model);
      Array x(DataType::f32, {2, 3});
      x.values = {1, 2, 3, 4, 5, 6};
      optimise(*graph, {});
      EXPECT_TRUE(std::ranges::none_of(graph->nodes(), [](const auto& n) { return n->type == "While"; }));
      const Array y = run(*graph, {x}).at(0);
      EXPECT_EQ(y.dims, (Dims{2, 3}));
      for (i64 row = 0; row < 2; ++row) {
        for (i64 column = 0; column < 3; ++column) {
          double sum = 0;
          const i64 place = axis == 0 ? row : column;
          for (i64 t = backwards != 0 ? place : 0; t <= (backwards != 0 ? turns - 1 : place); ++t)
            sum += x.values[static_cast<usize>(axis == 0 ? t * 3 + column : row * 3 + t)];
          EXPECT_EQ(y.values[static_cast<usize>(row * 3 + column)], -sum) << axis << backwards << row << column;
        }
      }
    }
  }
}

TEST(Import, OtherSequencesAreRefusedByName) {
  Model model = appending_loop({{"axis", i64{0}}}, false);
  try {
    stack_lists(model.graph);
    FAIL() << "not refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Unsupported);
    EXPECT_THAT(e.what(), HasSubstr("'list' is a sequence"));
  }
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
