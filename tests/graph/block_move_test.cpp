// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/graph/network_fixture.h"

// Nodes that move blocks of channels between convolutions: maps stay in NC1HWC0.
namespace vinci::graph {
namespace {

class BlockMoves : public NetworkTest {
 protected:
  // Compiles and checks; the number of TransData nodes, of which one is in front of each input and one behind the
  // output.
  static i64 conversions(Net& net, Value* out) {
    const Network network = compiled(net, out);
    checked(network);
    race_free(network);
    return std::ranges::count(kernels(network), "trans_data");
  }
};

TEST_P(BlockMoves, PiecesOfChannels) {
  struct Case {
    i64 first, second, conversions;
  };
  // Only the last piece may end inside of a block. Else the pieces and their sum are converted.
  for (const Case& c : {Case{32, 16, 2}, Case{16, 24, 2}, Case{24, 16, 5}}) {
    SCOPED_TRACE(c.first);
    MapNet net;
    Value* const x = net.input({2, 16, 7, 9});
    Value* const both =
        net.node("ConcatD", {net.conv(x, c.first, 3, 1, 1), net.conv(x, c.second, 1, 1, 0)}, {{"axis", i64{1}}});
    EXPECT_EQ(conversions(net, net.conv(both, 16, 3, 1, 1)), c.conversions);
  }
}

TEST_P(BlockMoves, PiecesOfRowsAndColumns) {
  for (const i64 axis : {2, 3}) {
    MapNet net;
    Value* const y = net.conv(net.input({1, 16, 6, 6}), 24, 3, 1, 1);
    EXPECT_EQ(conversions(net, net.conv(net.node("ConcatD", {y, y}, {{"axis", axis}}), 16, 1, 1, 0)), 2);
  }
}

TEST_P(BlockMoves, Slices) {
  struct Case {
    std::vector<i64> starts, ends, axes, steps;
    i64 conversions;
  };
  for (const Case& c : {Case{{1, 2}, {8, 9}, {2, 3}, {1, 1}, 2}, Case{{0, 1}, {9, 9}, {2, 3}, {2, 3}, 2},
                        Case{{-1}, {-100}, {3}, {-1}, 2}, Case{{16}, {40}, {1}, {1}, 2}, Case{{16}, {32}, {1}, {1}, 2},
                        Case{{0}, {24}, {1}, {1}, 4}, Case{{8}, {40}, {1}, {1}, 4}}) {
    SCOPED_TRACE(fmt::format("from {} along {}", c.starts[0], c.axes[0]));
    MapNet net;
    Value* const y = net.conv(net.input({2, 16, 9, 9}), 40, 1, 1, 0);
    Value* const part = net.node("StridedSliceV2", {y, net.integers(c.starts), net.integers(c.ends),
                                                    net.integers(c.axes), net.integers(c.steps)});
    EXPECT_EQ(conversions(net, net.conv(part, 16, 1, 1, 0)), c.conversions);
  }
}

// Small maps are read again for each repetition, larger ones are stored several times.
TEST_P(BlockMoves, RepeatedPixels) {
  for (const i64 side : {5, 40}) {
    for (const auto& [down, across] : {std::pair{2.0, 3.0}, {1.0, 2.0}, {4.0, 1.0}}) {
      SCOPED_TRACE(fmt::format("{} times {} x {}", side, down, across));
      MapNet net;
      Value* const y = net.conv(net.input({1, 16, side, side}), 24, 1, 1, 0);
      Value* const scales =
          net.graph.add_constant("s", Tensor(Array(DataType::f32, {4}, std::vector<double>{1, 1, down, across})));
      Value* const wide = net.node("Resize", {y, nullptr, scales},
                                   {{"mode", std::string("nearest")},
                                    {"nearest_mode", std::string("floor")},
                                    {"coordinate_transformation_mode", std::string("asymmetric")}});
      EXPECT_EQ(conversions(net, net.conv(wide, 16, 3, 1, 1)), 2);
    }
  }
}

// A factor that is no whole number: runs of positions.
TEST_P(BlockMoves, PixelsByPositions) {
  for (const auto& [side, wide] : {std::pair{15, 31}, {9, 8}, {6, 13}}) {
    SCOPED_TRACE(wide);
    MapNet net;
    Value* const y = net.conv(net.input({1, 16, side, side}), 24, 1, 1, 0);
    Value* const sizes = net.integers({1, 24, wide, wide});
    Value* const other = net.node("Resize", {y, nullptr, nullptr, sizes},
                                  {{"mode", std::string("nearest")},
                                   {"nearest_mode", std::string("floor")},
                                   {"coordinate_transformation_mode", std::string("asymmetric")}});
    EXPECT_EQ(conversions(net, net.conv(other, 16, 3, 1, 1)), 2);
  }
}

// Planes of an odd number of pixels that are larger than UB.
TEST_P(BlockMoves, LargeMapsAtTheBorder) {
  for (const i64 channels : {1, 18}) {
    MapNet net;
    EXPECT_EQ(conversions(net, net.conv(net.input({2, 3, 67, 61}), channels, 1, 1, 0)), 2);
  }
}

TEST_P(BlockMoves, ATransposedConvolution) {
  for (const i64 stride : {2, 3}) {
    MapNet net;
    Value* const y = net.conv(net.input({2, 16, 5, 7}), 32, 1, 1, 0);
    Value* const wide =
        net.node("Conv2DTranspose", {y, net.weights({32, 16, stride, stride}, 32), net.weights({16}, 1)},
                 {{"strides", std::vector<i64>{stride, stride}}});
    EXPECT_EQ(conversions(net, net.conv(wide, 16, 3, 1, 1)), 2);
  }
}

TEST_P(BlockMoves, PixelsBecomeChannels) {
  MapNet net;
  Value* const y = net.conv(net.input({2, 16, 6, 8}), 32, 1, 1, 0);
  EXPECT_EQ(conversions(net, net.conv(net.node("SpaceToDepth", {y}, {{"blocksize", i64{2}}}), 16, 1, 1, 0)), 2);
}

// Channels behind the pixels and back: neither side is converted for it.
TEST_P(BlockMoves, ChannelsLastAndFirst) {
  MapNet net;
  Value* const y = net.conv(net.input({2, 16, 6, 7}), 48, 1, 1, 0);
  Value* const last = net.node("TransposeD", {y}, {{"perm", std::vector<i64>{0, 2, 3, 1}}});
  Value* const tokens = net.node("Tanh", {last});
  Value* const first = net.node("TransposeD", {tokens}, {{"perm", std::vector<i64>{0, 3, 1, 2}}});
  EXPECT_EQ(conversions(net, net.conv(first, 16, 1, 1, 0)), 2);
}

TEST_P(BlockMoves, Borders) {
  MapNet net;
  Value* const y = net.conv(net.input({1, 16, 6, 7}), 32, 1, 1, 0);
  Value* const wide = net.node("PadV3", {y, net.integers({0, 0, 2, 1, 0, 0, 0, 3}), net.number(0.5)});
  EXPECT_EQ(conversions(net, net.conv(wide, 16, 3, 1, 1)), 2);
}

// A window of an input with a border: blocks from the input on, where little of it is cut off.
TEST_P(BlockMoves, AWindowOfAnInput) {
  for (const i64 end : {8, 2}) {
    SCOPED_TRACE(end);
    MapNet net;
    Value* const wide = net.node("PadV3", {net.input({1, 16, 9, 7}), net.integers({0, 0, 1, 2, 0, 0, 1, 2})});
    Value* const rows = net.node("StridedSliceV2", {wide, net.integers({0}), net.integers({end}), net.integers({2})});
    EXPECT_EQ(conversions(net, net.conv(rows, 16, 3, 1, 1)), 2);
    MapNet cut;
    Value* const part = cut.node("StridedSliceV2",
                                 {cut.input({1, 16, 9, 7}), cut.integers({0}), cut.integers({end}), cut.integers({2})});
    const Network network = compiled(cut, cut.conv(part, 16, 3, 1, 1));
    // Behind the Cast of the input.
    EXPECT_EQ(kernels(network).at(1) == "trans_data", end == 8);
    checked(network);
    race_free(network);
  }
}

// Sigmoid makes 0.5 of the channels that only fill a block; pieces with other fillings are not joined in blocks.
TEST_P(BlockMoves, FillingsThatDiffer) {
  MapNet net;
  Value* const y = net.conv(net.input({1, 16, 6, 6}), 24, 1, 1, 0);
  Value* const both = net.node("ConcatD", {net.node("Sigmoid", {y}), net.conv(y, 24, 1, 1, 0)}, {{"axis", i64{2}}});
  EXPECT_EQ(conversions(net, net.conv(both, 16, 1, 1, 0)), 5);
}

// A filter for each channel that another part of the network makes, against the definition.
TEST_P(BlockMoves, CrossCorrelation) {
  for (const auto& [channels, pad, stride] : {std::tuple{i64{32}, i64{0}, i64{1}}, {i64{24}, i64{1}, i64{2}}}) {
    SCOPED_TRACE(channels);
    MapNet net;
    Value* const x = net.conv(net.input({1, 16, 9, 8}), channels, 1, 1, 0);
    Value* const filters = net.conv(net.input({1, 16, 3, 3}), channels, 1, 1, 0);
    Value* const y =
        net.node("Conv2D", {x, net.node("Reshape", {filters, net.integers({channels, 1, 3, 3})})},
                 {{"group", channels}, {"pads", std::vector<i64>(4, pad)}, {"strides", std::vector<i64>(2, stride)}});
    net.output(y);
    const std::unique_ptr<Graph> before = net.graph.clone();
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    checked(network);
    race_free(network);
    const std::vector<Array> in = random_inputs(*before, 3);
    const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
    for (usize i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(got.values[i], wanted.values[i], 0.02) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, BlockMoves, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
