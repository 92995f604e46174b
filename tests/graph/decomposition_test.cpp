// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph/network_fixture.h"

// Operators on volumes, borders, pieces, pixels and constant positions as nodes that need no scalar unit.
namespace vinci::graph {
namespace {

using L = std::vector<i64>;

class Decompositions : public NetworkTest {
 protected:
  // Compiles a network of one output; its reference stays, each node is right, and none runs on the scalar unit, or
  // only those of `scalar`.
  static Network same(Net& net, Value* y, const std::vector<std::string>& scalar = {}, std::vector<Array> in = {}) {
    net.graph.outputs = {y};
    const std::unique_ptr<Graph> before = net.graph.clone();
    Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    if (in.empty()) in = random_inputs(*before, 3);
    for (const NodeCheck& row : check_nodes(network, in))
      EXPECT_TRUE(row.right()) << row.output->name << ": " << row.error;
    for (const CompiledNode& n : network.nodes) {
      const bool known = std::ranges::find(scalar, n.node->type) != scalar.end();
      EXPECT_TRUE(known || n.kernel == nullptr || n.kernel->name != "scalar") << n.node->type;
    }
    const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
    EXPECT_EQ(wanted.dims, got.dims);
    for (usize i = 0; i < wanted.size(); ++i) {
      if (std::abs(got.values[i] - wanted.values[i]) > 0.02 * (1 + std::abs(wanted.values[i]))) {
        ADD_FAILURE() << "element " << i << " is " << got.values[i] << ", not " << wanted.values[i];
        break;
      }
    }
    for (const std::string& finding : run_on_device(network, in).findings)
      ADD_FAILURE() << finding;
    return network;
  }
  static Array positions(const Dims& dims, i64 count) {
    Array a(DataType::i64, dims);
    for (usize i = 0; i < a.size(); ++i)
      a.values[i] = static_cast<double>(static_cast<i64>(i * 7 % static_cast<usize>(2 * count)) - count);
    return a;
  }
};

// Positions of a box of a tensor, as `x[:, 2:5] = y` has them.
Value* box_index(Net& net, const Dims& first, const Dims& extent) {
  Dims dims = extent;
  dims.push_back(std::ssize(extent));
  Array index(DataType::i64, dims);
  usize n = 0;
  for_each_index(extent, [&](std::span<const i64> at) {
    for (usize a = 0; a < at.size(); ++a)
      index.values[n++] = static_cast<double>(first[a] + at[a]);
  });
  return net.graph.add_constant("index", Tensor(index));
}

TEST_P(Decompositions, AssignmentsToABox) {
  struct Case {
    Dims data, first, extent;
  };
  for (const Case& c : {Case{{2, 3, 40, 64}, {0, 0, 10}, {2, 3, 16}}, Case{{4, 6, 32}, {1, 2}, {2, 3}},
                        Case{{8, 96}, {0, 32}, {8, 64}}, Case{{5, 32}, {0}, {5}}, Case{{64, 33}, {0, 3}, {64, 20}}}) {
    SCOPED_TRACE(text(Shape(c.data)));
    Net net;
    Dims updates = c.extent;
    updates.insert(updates.end(), c.data.begin() + std::ssize(c.extent), c.data.end());
    Value *const x = net.input(c.data), *const y = net.input(updates);
    same(net, net.node("ScatterNdUpdate", {net.node("Relu", {x}), box_index(net, c.first, c.extent), y}));
  }
}

TEST_P(Decompositions, PositionsThatAreNoBoxStay) {
  Net net;
  Array index(DataType::i64, {3, 1});
  index.values = {1, 0, 2};
  Value* const where = net.graph.add_constant("index", Tensor(index));
  const Network network = same(net, net.node("ScatterNdUpdate", {net.input({5, 32}), where, net.input({3, 32})}));
  EXPECT_EQ(std::ranges::count(kernels(network), "scatter_rows"), 1);
}

// A position for each row of updates, as the sums over neighbours in a graph have it.
TEST_P(Decompositions, ScattersOfRows) {
  for (const char* const how : {"none", "add", "max"}) {
    for (const bool tile : {false, true}) {
      Net net;
      Value *const x = net.input({1, 9, 48}), *const where = net.input({1, 30, 1}, DataType::i64);
      Value* const each = tile ? net.node("Tile", {where, net.integers({1, 1, 48})})
                               : net.node("BroadcastTo", {where, net.integers({1, 30, 48})});
      Value* const updates = net.input({1, 30, 48});
      std::vector<Array> in = random_inputs(net.graph, 3);
      in[1] = positions({1, 30, 1}, 9);
      const Network network =
          same(net, net.node("ScatterElements", {x, each, updates}, {{"axis", i64{1}}, {"reduction", how}}), {}, in);
      EXPECT_EQ(std::ranges::count(kernels(network), "scatter_rows"), 1);
    }
  }
}

// A position for each row, which Expand or Tile repeats along it.
TEST_P(Decompositions, GathersOfRows) {
  for (const bool tile : {false, true}) {
    Net net;
    Value *const x = net.input({2, 3, 9, 32}), *const where = net.input({2, 3, 4, 1}, DataType::i64);
    Value* const each = tile ? net.node("Tile", {where, net.integers({1, 1, 1, 32})})
                             : net.node("BroadcastTo", {where, net.integers({2, 3, 4, 32})});
    const std::vector<Array> in{random_inputs(net.graph, 3)[0], positions({2, 3, 4, 1}, 9)};
    const Network network = same(net, net.node("GatherElements", {x, each}, {{"axis", i64{2}}}), {}, in);
    EXPECT_EQ(std::ranges::count(kernels(network), "gather_rows"), 1);
  }
  // The same rows of all batches, and no batch.
  for (const i64 batch : {1, 3}) {
    Net net;
    Value *const x = net.input({batch, 9, 4, 8}), *const where = net.input({4, 1, 1}, DataType::i64);
    Value* const each = net.node("BroadcastTo", {where, net.integers({batch, 4, 4, 8})});
    const std::vector<Array> in{random_inputs(net.graph, 3)[0], positions({4, 1, 1}, 9)};
    same(net, net.node("GatherElements", {x, each}, {{"axis", i64{1}}}), {}, in);
  }
  // Parts of rows stay as they are.
  Net net;
  Value *const x = net.input({3, 9, 32}), *const where = net.input({3, 4, 1}, DataType::i64);
  Value* const each = net.node("BroadcastTo", {where, net.integers({3, 4, 16})});
  const std::vector<Array> in{random_inputs(net.graph, 3)[0], positions({3, 4, 1}, 9)};
  same(net, net.node("GatherElements", {x, each}, {{"axis", i64{1}}}), {"GatherElements", "BroadcastTo"}, in);
}

TEST_P(Decompositions, PoolsOfVolumes) {
  struct Case {
    Dims in;
    Attributes attributes;
  };
  for (const Case& c :
       {Case{{1, 32, 4, 8, 8}, {{"kernel_shape", L{1, 2, 2}}, {"strides", L{1, 2, 2}}}},
        Case{{2, 5, 6, 7, 9}, {{"kernel_shape", L{2, 2, 2}}, {"strides", L{2, 2, 2}}}},
        Case{{1, 16, 5, 8, 8}, {{"kernel_shape", L{3, 3, 3}}, {"strides", L{2, 2, 2}}, {"pads", L{1, 1, 1, 1, 1, 1}}}},
        Case{{1, 16, 6, 8, 8}, {{"kernel_shape", L{3, 1, 1}}, {"pads", L{1, 0, 0, 1, 0, 0}}}},
        Case{{2, 8, 7, 8, 8}, {{"kernel_shape", L{2, 2, 2}}, {"strides", L{2, 2, 2}}, {"ceil_mode", i64{1}}}},
        Case{{1, 8, 7, 8, 8}, {{"kernel_shape", L{2, 1, 1}}, {"dilations", L{3, 1, 1}}}}}) {
    for (const char* const type : {"MaxPool", "AvgPool"}) {
      for (const i64 counts : {0, 1}) {
        if (counts != 0 && type == std::string("MaxPool")) continue;
        SCOPED_TRACE(std::string(type) + " " + text(Shape(c.in)));
        Net net;
        Attributes attributes = c.attributes;
        if (counts != 0) attributes["count_include_pad"] = counts;
        same(net, net.node(type, {net.input(c.in)}, attributes));
      }
    }
  }
}

TEST_P(Decompositions, BordersOfElements) {
  struct Case {
    Dims in;
    L pads;
  };
  for (const Case& c : {Case{{1, 16, 12, 9}, {0, 0, 3, 2, 0, 0, 1, 3}}, Case{{2, 3, 8, 8}, {0, 0, 1, 1, 0, 0, 1, 1}},
                        Case{{2, 5, 40}, {0, 0, 7, 0, 0, 9}}, Case{{1, 64}, {0, 8, 0, 8}},
                        Case{{2, 4, 3, 6, 8}, {0, 0, 1, 1, 2, 0, 0, 1, 1, 2}}}) {
    for (const char* const mode : {"reflect", "edge", "wrap"}) {
      SCOPED_TRACE(std::string(mode) + " " + text(Shape(c.in)));
      Net net;
      same(net, net.node("PadV3", {net.input(c.in), net.integers(c.pads)}, {{"mode", std::string(mode)}}));
    }
  }
}

// Of f32 columns are pieces; a joint core leaves rows that fill no blocks.
TEST_P(Decompositions, BordersOfF32) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  for (const L& pads : {L{0, 0, 3, 0, 0, 0, 2, 0}, L{0, 0, 1, 3, 0, 0, 1, 2}, L{0, 0, 0, 0, 0, 0, 0, 40}}) {
    Net net;
    Value* const x = net.input({1, 4, 6, 48});
    net.output(net.node("PadV3", {x, net.integers(pads)}, {{"mode", std::string("reflect")}}));
    const Network network = compile(std::move(net.owned), chip, {.precision = PrecisionMode::must_keep_origin_dtype});
    checked(network);
    race_free(network);
    const bool columns = pads[3] + pads[7] != 0, many = pads[7] > 32;
    EXPECT_EQ(std::ranges::count(kernels(network), "scalar"), many || (columns && is_joint(chip)) ? 1 : 0);
  }
}

TEST_P(Decompositions, GroupsOfConvolutionsOfVolumes) {
  for (const auto& [channels, filters, groups] : {std::array<i64, 3>{16, 16, 16}, std::array<i64, 3>{32, 64, 32},
                                                  std::array<i64, 3>{12, 8, 4}, std::array<i64, 3>{64, 32, 2}}) {
    for (const Attributes& more : {Attributes{}, Attributes{{"strides", L{2, 1, 2}}, {"pads", L{1, 1, 1, 1, 1, 1}}}}) {
      MapNet net;
      Attributes attributes = more;
      attributes["group"] = groups;
      const i64 each = channels / groups;
      Value* const x = net.input({2, channels, 5, 6, 8});
      Value* const w = net.weights({filters, each, 3, 3, 3}, static_cast<double>(27 * each));
      same(net, net.node("Conv2D", {x, w, net.weights({filters}, 1)}, attributes));
    }
  }
}

TEST_P(Decompositions, TransposedConvolutionsOfVolumes) {
  for (const Attributes& attributes :
       {Attributes{{"strides", L{2, 2, 2}}}, Attributes{{"strides", L{2, 1, 3}}, {"pads", L{1, 0, 1, 1, 1, 0}}},
        Attributes{{"strides", L{3, 2, 2}}, {"pads", L{1, 1, 1, 1, 1, 1}}, {"output_padding", L{1, 1, 1}}},
        Attributes{{"strides", L{2, 2, 2}}, {"dilations", L{2, 1, 1}}},
        Attributes{{"strides", L{2, 2, 2}}, {"output_shape", L{8, 8, 8}}}}) {
    MapNet net;
    Value* const x = net.input({2, 6, 4, 5, 4});
    same(net, net.node("Conv2DTranspose", {x, net.weights({6, 8, 3, 3, 3}, 162), net.weights({8}, 1)}, attributes));
  }
}

TEST_P(Decompositions, ClassesAsComparisons) {
  for (const i64 axis : {-1, 0, 1}) {
    for (const bool whole : {false, true}) {
      Net net;
      Value* const which = net.input({6, 5}, DataType::i64);
      Array values(whole ? DataType::i64 : DataType::f32, {2});
      values.values = {whole ? 0.0 : -0.5, whole ? 1.0 : 2.0};
      Value* y = net.node("OneHot", {which, net.integers({40}), net.graph.add_constant("v", Tensor(values))},
                          {{"axis", axis}});
      if (whole) y = net.node("Cast", {y}, {{"to", static_cast<i64>(enum_index(DataType::f32))}});
      // Of integers, the scalar unit makes f16 of the few positions.
      Array in = positions({6, 5}, 40);
      in.values[3] = 77;
      const Network network = same(net, y, {"Cast"}, {in});
      EXPECT_LE(std::ranges::count(kernels(network), "scalar"), 1);
    }
  }
}

// More pieces than a kernel takes, and pieces of rows that fill no blocks.
TEST_P(Decompositions, ManyPieces) {
  Net net;
  Value* const x = net.input({4, 24 * 8});
  Node* const split = net.graph.add_node("SplitV", "split", {x, net.integers(std::vector<i64>(8, 24))}, 8);
  split->attributes["axis"] = i64{1};
  infer(*split);
  std::vector<Value*> pieces;
  for (usize i = 0; i < 300; ++i)
    pieces.push_back(split->output(i % 8));
  same(net, net.node("ConcatD", pieces, {{"axis", i64{0}}}));
}

// PixelShuffle behind a convolution moves whole blocks of channels.
TEST_P(Decompositions, PixelsOfAConvolutionAreShuffledByBlocks) {
  Net net;
  Value* const x = net.input({1, 16, 6, 5});
  Value* y = net.node("Conv2D", {x, net.weights({64, 16, 3, 3}, 144), net.weights({64}, 1)},
                      {{"pads", std::vector<i64>{1, 1, 1, 1}}});
  y = net.node("DepthToSpace", {net.node("Relu", {y})}, {{"blocksize", i64{2}}, {"mode", "CRD"}});
  const Network network = same(net, net.node("Conv2D", {y, net.weights({16, 16, 1, 1}, 16)}));
  for (const std::string_view kernel : kernels(network))
    EXPECT_THAT(kernel, testing::AnyOf("convolution", "elementwise", "move", "trans_data"));
}

// Products with triangles of ones; of a long axis, of its blocks.
TEST_P(Decompositions, RunningSums) {
  struct Case {
    Shape in;
    i64 axis, exclusive, reverse;
  };
  for (const Case& c : {Case{{8, 64, 48}, -1, 0, 0}, Case{{8, 64, 48}, 1, 1, 0}, Case{{64, 32}, 0, 0, 1},
                        Case{{3, 2048}, 1, 1, 1}, Case{{2, 1200, 16}, 1, 0, 0}, Case{{30, 150}, 1, 0, 0}}) {
    SCOPED_TRACE(text(c.in));
    Net net;
    Value* const axis = net.graph.add_constant("axis", Tensor(Array(DataType::i64, {}, {static_cast<double>(c.axis)})));
    same(net, net.node("Cumsum", {net.input(c.in), axis}, {{"exclusive", c.exclusive}, {"reverse", c.reverse}}));
  }
}

TEST_P(Decompositions, Triangles) {
  for (const bool upper : {false, true}) {
    for (const i64 diagonal : {-2, 0, 3}) {
      Net net;
      Value* const k = net.graph.add_constant("k", Tensor(Array(DataType::i64, {}, {static_cast<double>(diagonal)})));
      Value* const y = net.node("Trilu", {net.input({3, 20, 17}), k}, {{"upper", i64{upper}}});
      EXPECT_EQ(std::ranges::count(kernels(same(net, y)), "elementwise"), 1);
    }
  }
}

// Thresholds as selections, bytes that are transposed as f16, one pixel that is repeated, borders that are cut and
// filled.
TEST_P(Decompositions, WhatTheScalarUnitWouldDo) {
  Net relu;
  same(relu, relu.node("ThresholdedRelu", {relu.input({7, 33})}, {{"alpha", 0.25}}));
  Net shrink;
  same(shrink, shrink.node("HardShrink", {shrink.input({7, 33})}, {{"lambd", 0.5}, {"bias", 0.125}}));
  Net image;
  Array bytes(DataType::u8, {1, 12, 10, 3});
  for (usize i = 0; i < bytes.size(); ++i)
    bytes.values[i] = static_cast<double>(i * 7 % 256);
  Value* const turned =
      image.node("TransposeD", {image.input(bytes.dims, DataType::u8)}, {{"perm", std::vector<i64>{0, 3, 1, 2}}});
  same(image, turned, {}, {bytes});
  for (const char* const mode : {"linear", "nearest", "cubic"}) {
    Net pixel;
    Value* const x = pixel.input({2, 20, 1, 1});
    Value* const wide = pixel.node("Resize", {x, nullptr, nullptr, pixel.integers({2, 20, 9, 7})}, {{"mode", mode}});
    EXPECT_EQ(std::ranges::count(kernels(same(pixel, wide)), "scalar"), 0);
  }
  Net border;
  Value* const x = border.input({2, 9, 64});
  same(border, border.node("PadV3", {x, border.integers({0, 1, 0, 0, -1, 0})}));
}

// A window that is the whole map is a reduction.
TEST_P(Decompositions, WindowsThatAreMaps) {
  for (const char* const type : {"AvgPool", "MaxPool"}) {
    Net net;
    const Network network =
        same(net, net.node(type, {net.input({2, 20, 33, 35})}, {{"kernel_shape", L{33, 35}}, {"strides", L{4, 4}}}));
    EXPECT_EQ(std::ranges::count(kernels(network), "pooling"), 0) << type;
  }
}

// Negative numbers to the power of whole ones, zeros, and exponents for each column.
TEST_P(Decompositions, PowersOfTensors) {
  const bool saturates = config::load_chip(GetParam()).numerics.overflow_mode == isa::OverflowMode::saturation;
  Array x(DataType::f16, {6, 48}), y(DataType::f16, {48});
  for (usize i = 0; i < x.size(); ++i) {
    const usize row = i / y.size();
    x.values[i] = static_cast<double>(row) - 2;  // -2 to 3, zero among them
  }
  for (usize i = 0; i < y.size(); ++i)
    y.values[i] = static_cast<double>(i % 7) - (saturates ? 0 : 3);
  for (const bool fraction : {false, true}) {
    if (fraction) {  // of positive numbers only
      for (double& v : x.values)
        v = std::abs(v) + 0.25;
      for (double& v : y.values)
        v += 0.375;
    }
    Net net;
    Value* const power = net.node("Pow", {net.input(x.dims), net.input(y.dims)});
    // 0 to a negative power is infinity.
    Value* const finite = net.node("ClipByValue", {power, net.number(-100), net.number(100)});
    same(net, finite, {}, {x, y});
  }
}

// Along the last axis: rows are copied between two transposes, in f16 and where the chip transposes it in f32.
TEST_P(Decompositions, GatherAlongInnerAxes) {
  for (const auto precision : {PrecisionMode::force_fp16, PrecisionMode::must_keep_origin_dtype}) {
    const config::ChipConfig chip = config::load_chip(GetParam());
    if (precision == PrecisionMode::must_keep_origin_dtype && chip.arch == isa::Arch::c100) continue;
    for (const auto& [in, axis] : {std::pair<Shape, i64>{{8, 16, 40}, 2}, {{64, 40, 2}, 1}, {{128, 24}, -1}}) {
      SCOPED_TRACE(text(in));
      Net net;
      Array index = positions({70}, in[static_cast<usize>(axis < 0 ? axis + 2 : axis)]);
      Value* const x = net.node("Relu", {net.input(in)});
      net.output(net.node("GatherV2", {x, net.graph.add_constant("index", Tensor(index))}, {{"axis", axis}}));
      const Network network = compile(std::move(net.owned), chip, {.precision = precision});
      for (const NodeCheck& row : check_nodes(network, random_inputs(*network.graph, 3)))
        EXPECT_TRUE(row.right()) << row.output->name << ": " << row.error;
      for (const CompiledNode& n : network.nodes)
        EXPECT_TRUE(n.kernel->name != "scalar") << n.node->name;
      for (const std::string& finding : run_on_device(network).findings)
        ADD_FAILURE() << finding;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, Decompositions, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
