// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <limits>

#include "tests/graph/network_fixture.h"

// The first elements of rows, in order: by sorting instructions; joint cores have them for f16.
namespace vinci::graph {
namespace {

class TopKKernels : public NetworkTest {
 protected:
  // Few values, so that many are equal, and some that are infinite.
  static Array scores(DataType type, i64 rows, i64 width) {
    Array a(type, {rows, width});
    for (usize i = 0; i < a.size(); ++i) {
      const u64 draw = (i + 1) * 0x9e3779b97f4a7c15 >> 40;
      a.values[i] = draw % 31 == 0   ? -std::numeric_limits<double>::infinity()
                    : draw % 37 == 0 ? std::numeric_limits<double>::infinity()
                                     : static_cast<double>(draw % 997) - 400;
    }
    return a;
  }
  static void right(const Network& network, const Array& in, std::string_view kernel) {
    EXPECT_EQ(std::ranges::count(kernels(network), kernel), 1) << kernels(network).front();
    for (const NodeCheck& row : check_nodes(network, {in}))
      EXPECT_TRUE(row.right()) << row.output->name << ": " << row.error;
    for (const std::string& finding : run_on_device(network, {in}).findings)
      ADD_FAILURE() << finding;
  }
  static std::string_view kernel(DataType type) {
    return type == DataType::f16 || std::string_view(GetParam()) == "ascend-910b1" ? "top_k" : "scalar";
  }
};

// Rows that fill a tile, that do not, that are sorted together, and that take several tiles.
TEST_P(TopKKernels, FirstElementsOfRows) {
  struct Case {
    i64 rows, width, k;
  };
  for (const Case& c :
       {Case{4, 9, 5}, Case{1000, 8, 2}, Case{37, 32, 32}, Case{3, 100, 7}, Case{130, 130, 33}, Case{5, 500, 500},
        Case{2, 2048, 300}, Case{2, 2049, 1}, Case{1, 4096, 100}, Case{1, 5000, 1024}, Case{3, 8400, 300}}) {
    for (const DataType type : {DataType::f16, DataType::f32}) {
      for (const i64 largest : {0, 1}) {
        if (kernel(type) == "scalar" && c.width > 100) continue;
        SCOPED_TRACE(std::to_string(c.k) + " of " + std::to_string(c.rows) + " x " + std::to_string(c.width));
        Net net;
        Value* const x = net.input({c.rows, c.width}, type);
        Node* const node = net.graph.add_node("TopKV2", "top", {x, net.integers({c.k})}, 2);
        node->attributes = {{"largest", largest}};
        infer(*node);
        net.output(node->output(0));
        net.output(node->output(1));
        const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                        {.precision = PrecisionMode::must_keep_origin_dtype});
        right(network, scores(type, c.rows, c.width), kernel(type));
      }
    }
  }
}

TEST_P(TopKKernels, TheExtremeElement) {
  for (const i64 width : {7, 300, 3000}) {
    for (const char* const type : {"ArgMaxV2", "ArgMin"}) {
      for (const i64 keep : {0, 1}) {
        SCOPED_TRACE(std::string(type) + " of " + std::to_string(width));
        Net net;
        Value* const out = net.node(type, {net.input({6, width})}, {{"axis", i64{-1}}, {"keepdims", keep}});
        right(compiled(net, out), scores(DataType::f16, 6, width), "top_k");
      }
    }
  }
}

// Other axes are transposed: the classes of a map, and of a selection both outputs come back.
TEST_P(TopKKernels, OtherAxes) {
  for (const i64 axis : {1, 2}) {
    Net classes;
    Value* const out =
        classes.node("ArgMaxV2", {classes.input({2, 21, 10, 12})}, {{"axis", axis}, {"keepdims", i64{axis == 1}}});
    Array in = scores(DataType::f16, 42, 120);
    in.dims = {2, 21, 10, 12};
    // In mode saturation, a transpose by the vector unit makes the largest number of infinity.
    for (double& v : in.values)
      v = std::clamp(v, -1000.0, 1000.0);
    right(compiled(classes, out), in, "extreme_rows");

    Net net;
    Node* const node = net.graph.add_node("TopKV2", "top", {net.input({2, 21, 10, 12}), net.integers({3})}, 2);
    node->attributes = {{"axis", axis}};
    infer(*node);
    net.output(node->output(0));
    net.output(node->output(1));
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    right(network, in, "top_k");
    const std::vector<Array> got = run_on_device(network, {in}).outputs, wanted = run(*network.graph, {in});
    for (usize i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(got[i].values, wanted[i].values) << i;
  }
}

// On joint cores the elements of many wide rows are compared with the extreme one of their row.
TEST_P(TopKKernels, ExtremesOfManyWideRows) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  if (!is_joint(chip)) GTEST_SKIP() << "rows are sorted there";
  for (const i64 width : {300, 512, 2048}) {
    for (const i64 variant : {0, 1, 2, 3}) {
      const char* const name = variant % 2 == 0 ? "ArgMaxV2" : "ArgMin";
      SCOPED_TRACE(std::string(name) + " of " + std::to_string(width));
      Net net;
      net.output(net.node(name, {net.input({260, width})}, {{"axis", i64{1}}, {"select_last_index", variant / 2}}));
      const std::unique_ptr<Graph> before = net.graph.clone();
      const Network network = compile(std::move(net.owned), chip);
      EXPECT_EQ(std::ranges::count(kernels(network), "top_k"), 0);
      Array in = scores(DataType::f16, 260, width);
      in.dims = {260, width};
      for (const NodeCheck& row : check_nodes(network, {in}))
        EXPECT_TRUE(row.right()) << row.error;
      const DeviceRun got = run_on_device(network, {in});
      EXPECT_EQ(got.outputs[0].values, run(*before, {in})[0].values);
      for (const std::string& finding : got.findings)
        ADD_FAILURE() << finding;
    }
  }
}

// The rows of all other elements, one after the other; equal elements give the first position, or the last one.
TEST_P(TopKKernels, ExtremesAlongOuterAxes) {
  struct Case {
    Dims in;
    i64 axis;
  };
  for (const Case& c : {Case{{2, 21, 10, 13}, 1}, Case{{1, 256, 40}, 1}, Case{{3, 5, 5000}, 1}, Case{{7, 130}, 0},
                        Case{{301, 21}, 1}, Case{{5, 67, 17}, 2}}) {
    for (const DataType type : {DataType::f16, DataType::f32}) {
      for (const i64 variant : {0, 1, 2, 3}) {
        const char* const name = variant % 2 == 0 ? "ArgMaxV2" : "ArgMin";
        SCOPED_TRACE(std::string(name) + " of " + text(Shape(c.in)) + " " + std::string(info(type).name));
        Net net;
        net.output(net.node(name, {net.input(c.in, type)}, {{"axis", c.axis}, {"select_last_index", variant / 2}}));
        const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                        {.precision = PrecisionMode::must_keep_origin_dtype});
        Array in = scores(type, 1, static_cast<i64>(Shape(c.in).elements()));
        in.dims = c.in;
        // Many rows of few elements are transposed.
        if (c.axis + 1 == static_cast<i64>(c.in.size()))
          std::ranges::for_each(in.values, [](double& v) { v = std::clamp(v, -1000.0, 1000.0); });
        right(network, in, "extreme_rows");
      }
    }
  }
}

TEST_P(TopKKernels, ScoresAlone) {
  Net net;
  Value* const out = net.node("TopKV2", {net.input({3, 50}), net.integers({4})});
  right(compiled(net, out), scores(DataType::f16, 3, 50), "top_k");
}

// 300 of 8400, as detectors have it, took 218 ms on the scalar unit.
TEST_P(TopKKernels, ALongRowTakesMicroseconds) {
  Net net;
  Node* const node = net.graph.add_node("TopKV2", "top", {net.input({1, 8400}), net.integers({300})}, 2);
  infer(*node);
  net.output(node->output(0));
  net.output(node->output(1));
  EXPECT_LT(time_network(compile(std::move(net.owned), config::load_chip(GetParam()))).microseconds, 500);
}

INSTANTIATE_TEST_SUITE_P(Chips, TopKKernels, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
