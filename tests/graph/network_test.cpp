// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>

#include "tests/graph/network_fixture.h"

// Small networks from graph to task stream, on a chip with a split and on one with a joint core: each node is right.
namespace vinci::graph {
namespace {

class Networks : public NetworkTest {};

TEST_P(Networks, ElementwiseChainsOfAnyLength) {
  for (const i64 n : {1, 127, 128, 1000, 40000, 1000003}) {
    MapNet net;
    Value* const x = net.input({n});
    Value* const y = net.node("Relu", {net.node("Sub", {net.node("Mul", {x, x}), x})});
    const Network network = compiled(net, y);
    EXPECT_EQ(network.nodes.size(), 1U) << "the Casts at the borders, too";
    checked(network);
    race_free(network);
  }
}

// What the model casts to f32 is f16 inside.
TEST_P(Networks, ACastAtTheBorder) {
  MapNet net;
  Value* const x = net.graph.add_input("x", DataType::f16, {3, 40});
  Value* const wide = net.node("Cast", {x}, {{"to", static_cast<i64>(enum_index(DataType::f32))}});
  EXPECT_EQ(checked(compiled(net, wide)).size(), 1U);
  MapNet sum;
  Value* const y = sum.graph.add_input("y", DataType::f16, {3, 40});
  Value* const cast = sum.node("Cast", {y}, {{"to", static_cast<i64>(enum_index(DataType::f32))}});
  checked(compiled(sum, sum.node("Relu", {cast})));
}

TEST_P(Networks, ConvolutionsOfManyShapes) {
  struct Case {
    Shape in;
    i64 filters, kernel, stride, pad;
    bool bias;
  };
  for (const Case& c : {Case{{1, 16, 8, 8}, 16, 1, 1, 0, false}, Case{{1, 16, 8, 8}, 16, 3, 1, 1, true},
                        Case{{2, 20, 9, 7}, 33, 3, 2, 1, true}, Case{{1, 3, 33, 33}, 64, 7, 2, 3, true},
                        Case{{1, 64, 56, 56}, 64, 3, 1, 1, false}, Case{{1, 128, 7, 7}, 256, 1, 1, 0, true},
                        Case{{3, 32, 1, 1}, 10, 1, 1, 0, true}, Case{{1, 16, 5, 5}, 1, 5, 1, 0, true}}) {
    MapNet net;
    Value* const y = net.conv(net.input(c.in), c.filters, c.kernel, c.stride, c.pad, c.bias);
    SCOPED_TRACE(text(c.in) + " filters " + std::to_string(c.filters) + " kernel " + std::to_string(c.kernel));
    const Network network = compiled(net, net.node("Relu", {y}));
    checked(network);
    race_free(network);
  }
}

TEST_P(Networks, ConvolutionsInGroups) {
  struct Case {
    Shape in;
    i64 filters, groups, kernel, stride, dilation;
  };
  for (const Case& c : {Case{{1, 32, 9, 9}, 32, 32, 3, 1, 1}, Case{{2, 48, 8, 8}, 48, 48, 5, 2, 1},
                        Case{{1, 20, 7, 7}, 40, 20, 3, 1, 1}, Case{{1, 64, 8, 8}, 128, 2, 3, 1, 1},
                        Case{{1, 96, 6, 6}, 96, 3, 1, 1, 1}, Case{{1, 64, 12, 12}, 64, 16, 3, 2, 1},
                        Case{{1, 32, 16, 16}, 32, 32, 3, 1, 2}, Case{{1, 80, 14, 14}, 80, 1, 3, 1, 2},
                        Case{{1, 6, 5, 5}, 9, 3, 3, 1, 1}, Case{{1, 176, 7, 7}, 176, 176, 5, 1, 1}}) {
    SCOPED_TRACE(text(c.in) + " filters " + std::to_string(c.filters) + " groups " + std::to_string(c.groups));
    MapNet net;
    const i64 channels = c.in[1] / c.groups, pad = c.kernel / 2 * c.dilation;
    Value* const weights =
        net.weights({c.filters, channels, c.kernel, c.kernel}, static_cast<double>(channels * c.kernel * c.kernel));
    Value* const y = net.node("Conv2D", {net.input(c.in), weights, net.weights({c.filters}, 1)},
                              {{"group", c.groups},
                               {"strides", std::vector<i64>{c.stride, c.stride}},
                               {"dilations", std::vector<i64>{c.dilation, c.dilation}},
                               {"pads", std::vector<i64>{pad, pad, pad, pad}}});
    const Network network = compiled(net, net.node("Relu", {y}));
    checked(network);
    race_free(network);
  }
}

// Patches of a vision transformer, the first layer of a detector, sound: the map goes through L1 in strips.
TEST_P(Networks, ConvolutionsWhoseRowsDoNotFitL1) {
  struct Case {
    Shape in;
    i64 filters;
    std::vector<i64> kernel, stride, pad, dilation;
    i64 groups = 1;
  };
  for (const Case& c : {Case{{1, 3, 48, 224}, 48, {16, 16}, {16, 16}, {0, 0, 0, 0}, {1, 1}},
                        Case{{2, 3, 64, 1056}, 20, {32, 32}, {32, 32}, {0, 0, 0, 0}, {1, 1}},
                        Case{{1, 3, 21, 1280}, 64, {7, 7}, {2, 2}, {3, 3, 3, 3}, {1, 1}},
                        Case{{1, 3, 9, 4000}, 32, {6, 6}, {2, 2}, {2, 2, 2, 2}, {1, 1}},
                        Case{{1, 20, 3, 6000}, 16, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
                        Case{{1, 32, 2, 9000}, 32, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
                        Case{{1, 5, 20, 900}, 16, {3, 3}, {1, 1}, {12, 12, 12, 12}, {12, 12}},
                        Case{{1, 1, 1, 40000}, 24, {1, 10}, {1, 5}, {0, 4, 0, 3}, {1, 1}}}) {
    SCOPED_TRACE(text(c.in) + " filters " + std::to_string(c.filters));
    MapNet net;
    const i64 channels = c.in[1] / c.groups;
    Value* const weights = net.weights({c.filters, channels, c.kernel[0], c.kernel[1]},
                                       static_cast<double>(channels * c.kernel[0] * c.kernel[1]));
    Value* const y = net.node("Conv2D", {net.input(c.in), weights, net.weights({c.filters}, 1)},
                              {{"group", c.groups}, {"strides", c.stride}, {"pads", c.pad}, {"dilations", c.dilation}});
    const Network network = compiled(net, net.node("Relu", {y}));
    checked(network);
    race_free(network);
  }
}

// What load3d cannot describe: padding wider than 255 or than the window, points that are far from each other, windows
// that move by more than 63 or have more than 255 points.
TEST_P(Networks, ConvolutionsBeyondLoad3d) {
  struct Case {
    Shape in;
    i64 filters;
    std::vector<i64> kernel, stride, pad, dilation;
  };
  for (const Case& c :
       {Case{{1, 16, 1200}, 32, {2}, {1}, {512, 0}, {512}},
        Case{{1, 20, 6, 7}, 16, {1, 1}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
        Case{{1, 16, 4, 300}, 16, {3, 3}, {1, 2}, {1, 300, 1, 260}, {1, 260}},
        Case{{1, 1, 4000}, 24, {400}, {160}, {0, 0}, {1}}, Case{{2, 2, 3000}, 16, {300}, {7}, {50, 43}, {1}},
        Case{{1, 3, 150, 9}, 16, {70, 3}, {70, 2}, {0, 1, 0, 1}, {1, 1}},
        Case{{1, 1, 140, 210}, 16, {66, 100}, {64, 100}, {3, 0, 0, 5}, {1, 1}}}) {
    SCOPED_TRACE(text(c.in));
    MapNet net;
    Dims dims{c.filters, c.in[1]};
    dims.insert(dims.end(), c.kernel.begin(), c.kernel.end());
    Value* const y = net.node(
        "Conv2D",
        {net.input(c.in), net.weights(dims, static_cast<double>(c.in[1] * std::max<i64>(4, element_count(c.kernel)))),
         net.weights({c.filters}, 1)},
        {{"strides", c.stride}, {"pads", c.pad}, {"dilations", c.dilation}});
    net.output(net.node("Relu", {y}));
    const std::unique_ptr<Graph> before = net.graph.clone();
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    checked(network);
    const std::vector<Array> in = random_inputs(*before, 3);
    const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
    for (usize i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(got.values[i], wanted.values[i], 0.02) << i;
  }
}

// Video, volumes: slices become channels.
TEST_P(Networks, ConvolutionsOverThreeAxes) {
  using L = std::vector<i64>;
  for (const Attributes& attributes : {Attributes{}, Attributes{{"strides", L{2, 1, 2}}, {"pads", L{1, 1, 0, 1, 1, 2}}},
                                       Attributes{{"dilations", L{2, 1, 1}}, {"pads", L{2, 1, 1, 2, 1, 1}}}}) {
    MapNet net;
    Value* const x = net.input({2, 5, 6, 7, 8});
    net.output(net.node("Conv2D", {x, net.weights({16, 5, 3, 3, 3}, 135), net.weights({16}, 1)}, attributes));
    const std::unique_ptr<Graph> before = net.graph.clone();
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    checked(network);
    const std::vector<Array> in = random_inputs(*before, 3);
    const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
    for (usize i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(got.values[i], wanted.values[i], 0.02) << i;
  }
}

// A score for each row: the bias is one number.
TEST_P(Networks, ProductsWithOneColumn) {
  for (const bool gemm : {false, true}) {
    MapNet net;
    Value* const x = net.input({20, 64});
    Value *const w = net.weights({64, 1}, 64), *const b = net.weights({1}, 1);
    Value* const y = gemm ? net.node("GEMM", {x, w, b}) : net.node("Add", {net.node("BatchMatMulV2", {x, w}), b});
    const Network network = compiled(net, net.node("Sigmoid", {y}));
    checked(network);
    race_free(network);
  }
}

// Products and windows in f16, all else in f32.
TEST_P(Networks, AllowF32ToF16) {
  MapNet net;
  Value* const x = net.node("Relu", {net.conv(net.input({1, 16, 12, 12}), 32, 3, 1, 1, true)});
  Value* const pooled = net.node("MaxPool", {x}, {{"kernel_shape", std::vector<i64>{1, 1}}});
  Value* const rows = net.node("Reshape", {pooled, net.integers({32, 144})});
  net.output(net.node("SoftmaxV2", {net.node("BatchMatMulV2", {rows, net.weights({144, 48}, 144)})}));
  const Network network =
      compile(std::move(net.owned), config::load_chip(GetParam()), {.precision = PrecisionMode::allow_fp32_to_fp16});
  checked(network);
  race_free(network);
  EXPECT_EQ(network.graph->outputs[0]->type, DataType::f32);
  for (const CompiledNode& n : network.nodes) {
    const DataType type = n.node->output()->type;
    if (n.node->type == "SoftmaxV2") {
      EXPECT_EQ(type, DataType::f32);
    } else if (n.node->type == "BatchMatMulV2") {
      EXPECT_EQ(type, DataType::f16);
    }
  }
}

// What scales a sum stays f32, and so does an output of the network that it is.
TEST_P(Networks, AScaledSumIsAnOutput) {
  Net net;
  Value* const sum = net.input({4, 16}, DataType::i32);
  Value* const wide = net.node("Cast", {sum}, {{"to", static_cast<i64>(enum_index(DataType::f32))}});
  Value* const scaled = net.node("Mul", {wide, net.graph.add_constant("n", Tensor(Array(DataType::f32, {}, {1e-3})))});
  scaled->name = "scaled";
  net.output(scaled);
  net.output(net.node("Relu", {scaled}));
  const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
  EXPECT_EQ(network.graph->outputs[0]->name, "scaled");
  EXPECT_EQ(network.graph->outputs[0]->type, DataType::f32);
  checked(network);
  race_free(network);
}

// A Cast of the model may have any name.
TEST_P(Networks, CastsAreKnownByWhatTheyAre) {
  MapNet net;
  Value* const x = net.graph.add_input("x", DataType::i8, {4, 64});
  Value* const wide = net.node("Cast", {x}, {{"to", static_cast<i64>(enum_index(DataType::f32))}});
  wide->name = "x/Cast";
  checked(compiled(net, net.node("BatchMatMulV2", {wide, net.weights({64, 32}, 64 * 5000)})));
}

// An integer network: quantised, multiplied as f16, and quantised again, without the scalar unit.
TEST_P(Networks, QuantisedTensorsInLanes) {
  for (const DataType type : {DataType::i8, DataType::u8}) {
    MapNet net;
    Value* const x = net.input({3, 1000});
    Value* const scale = net.number(1.0 / 64);
    Value* const zero = net.graph.add_constant("z", Tensor(Array(type, {}, {type == DataType::u8 ? 128.0 : 0.0})));
    Value* const q = net.node("AscendQuantV2", {x, scale, zero});
    const Network network = compiled(net, net.node("AscendDequantV2", {q, scale, zero}));
    checked(network);
    race_free(network);
    for (const std::string_view kernel : kernels(network))
      EXPECT_EQ(kernel, "elementwise");
  }
}

TEST_P(Networks, MapsOfOneAxis) {
  MapNet net;
  Value* const y = net.node("Conv2D", {net.input({2, 16, 40}), net.weights({32, 16, 5}, 80)},
                            {{"strides", std::vector<i64>{2}}, {"pads", std::vector<i64>{2, 1}}});
  const Network network = compiled(net, net.node("MaxPool", {y}, {{"kernel_shape", std::vector<i64>{3}}}));
  checked(network);
  race_free(network);
}

// A factor and an offset for each channel, as constants and as a tensor that the network makes.
TEST_P(Networks, OperandsByChannel) {
  for (const Shape& shape : {Shape{1, 16, 8, 8}, Shape{2, 40, 7, 9}, Shape{1, 64, 28, 28}}) {
    SCOPED_TRACE(text(shape));
    MapNet net;
    const i64 c = shape[1];
    Value* const x = net.node("MaxPool", {net.input(shape)}, {{"kernel_shape", std::vector<i64>{1, 1}}});
    Value* const scaled =
        net.node("Add", {net.node("Mul", {x, net.weights({c, 1, 1}, 1)}), net.weights({1, c, 1, 1}, 1)});
    Value* const gate = net.node("GlobalAveragePool", {scaled});
    const Network network = compiled(net, net.node("Mul", {scaled, gate}));
    checked(network);
    race_free(network);
    EXPECT_EQ(std::ranges::count(kernels(network), "trans_data"), 2) << "at the borders";
  }
}

// The host launches each task, or one task of the host executes the model; what tasks hand to each other is in L2, or
// goes through device memory. Bits are the same.
TEST_P(Networks, DispatchAndResidency) {
  const auto build = [](bool sunk, task::CacheHint intermediates) {
    MapNet net;
    Value* x = net.input({1, 64, 56, 56});
    for (int i = 0; i < 3; ++i)
      x = net.conv(x, 64, 3, 1, 1);
    net.output(x);
    return compile(std::move(net.owned), config::load_chip(GetParam()),
                   {.execution = {.sunk = sunk, .intermediates = intermediates}});
  };
  const Network plain = build(true, task::CacheHint::normal), eager = build(false, task::CacheHint::normal),
                outside = build(true, task::CacheHint::no_allocate);
  const auto inputs = random_inputs(*plain.graph, 3);
  const DeviceRun wanted = run_on_device(plain, inputs);
  EXPECT_EQ(run_on_device(eager, inputs).bytes, wanted.bytes);
  EXPECT_EQ(run_on_device(outside, inputs).bytes, wanted.bytes);

  const NetworkTime sunk_time = time_network(plain, 2), eager_time = time_network(eager, 2);
  EXPECT_GT(eager_time.microseconds, sunk_time.microseconds);
  ASSERT_EQ(eager_time.nodes.size(), sunk_time.nodes.size());
  EXPECT_LT(eager_time.nodes[1].microseconds, 1.2 * sunk_time.nodes[1].microseconds) << "the gaps are not in the tasks";
  EXPECT_LE(eager_time.microseconds, eager_time.first_microseconds) << "the second execution is warm";
  EXPECT_GT(time_network(outside, 2).microseconds, sunk_time.microseconds);
}

TEST_P(Networks, PoolsOfManyShapes) {
  struct Case {
    Shape in;
    i64 kernel, stride, pad;
  };
  for (const Case& c : {Case{{1, 16, 8, 8}, 2, 2, 0}, Case{{1, 64, 112, 112}, 3, 2, 1}, Case{{2, 20, 9, 13}, 3, 1, 1},
                        Case{{1, 16, 7, 7}, 7, 1, 0}, Case{{1, 3, 64, 90}, 5, 3, 2}, Case{{1, 3, 12, 320}, 9, 1, 4}}) {
    SCOPED_TRACE(text(c.in) + " kernel " + std::to_string(c.kernel));
    struct Kind {
      const char* type;
      i64 counts_padding, up;
    };
    for (const Kind& k : {Kind{"MaxPool", 0, 0}, Kind{"AvgPool", 1, 0}, Kind{"AvgPool", 0, 0}, Kind{"AvgPool", 0, 1},
                          Kind{"AvgPool", 1, 1}}) {
      // At its edges a mean has windows of many sizes there.
      if (c.kernel == 9 && k.type == std::string_view("AvgPool")) continue;
      for (const auto precision : {PrecisionMode::force_fp16, PrecisionMode::must_keep_origin_dtype}) {
        const config::ChipConfig chip = config::load_chip(GetParam());
        // On a joint core, maps of f32 have no blocks.
        if (chip.vector_cores == 0 && precision == PrecisionMode::must_keep_origin_dtype) continue;
        MapNet net;
        net.output(net.node(k.type, {net.input(c.in)},
                            {{"kernel_shape", std::vector<i64>{c.kernel, c.kernel}},
                             {"strides", std::vector<i64>{c.stride, c.stride}},
                             {"pads", std::vector<i64>{c.pad, c.pad, c.pad, c.pad}},
                             {"count_include_pad", k.counts_padding},
                             {"ceil_mode", k.up}}));
        const Network network = compile(std::move(net.owned), chip, {.precision = precision});
        EXPECT_EQ(std::ranges::count(kernels(network), "pooling"), 1) << k.type;
        checked(network);
        race_free(network);
      }
    }
  }
}

// A classifier rarely has a multiple of 16 classes.
TEST_P(Networks, ProductsWhoseRowsEndInsideABlock) {
  for (const i64 columns : {10, 1000}) {
    for (const bool by_rows : {false, true}) {
      MapNet net;
      Value* const x = net.input({5, 64});
      Value* const w = net.weights(by_rows ? Dims{columns, 64} : Dims{64, columns}, 64);
      Value* const y = net.node("BatchMatMulV2", {x, w, net.weights({columns}, 1)}, {{"adj_x2", i64{by_rows}}});
      const Network network = compiled(net, y);
      checked(network);
      race_free(network);
      const bool joint = network.chip.vector_cores == 0;
      // Ten columns are less than a block.
      const char* const cut = columns < 16 ? "move_streams" : "move";
      EXPECT_EQ(std::ranges::count(kernels(network), joint ? cut : "matmul"), 1);
    }
  }
}

// 197 tokens of a vision transformer: neither operand is constant.
TEST_P(Networks, ProductsOfTensorsThatFillNoBlocks) {
  for (const bool by_rows : {false, true}) {
    MapNet net;
    Value* const a = net.input({2, 3, 21, 37}, DataType::f16);
    Value* const b = net.input(by_rows ? Shape{2, 3, 19, 37} : Shape{2, 3, 37, 19}, DataType::f16);
    const Network network = compiled(net, net.node("BatchMatMulV2", {a, b}, {{"adj_x2", i64{by_rows}}}));
    checked(network);
    race_free(network);
  }
}

TEST_P(Networks, ProductsWithVectorsAndOfColumns) {
  MapNet vectors;
  Value* const column = vectors.node("BatchMatMulV2", {vectors.weights({17, 33}, 33), vectors.input({33})});
  vectors.output(column);
  vectors.output(vectors.node("BatchMatMulV2", {vectors.node("Relu", {column}), vectors.weights({2, 17, 9}, 17)}));
  MapNet columns;
  Value* const a = columns.input({2, 37, 21}, DataType::f16);
  columns.output(columns.node("BatchMatMulV2", {a, columns.input({2, 37, 19}, DataType::f16)}, {{"adj_x1", i64{1}}}));
  MapNet batches;  // each operand is repeated for axes of the other
  batches.output(batches.node("BatchMatMulV2", {batches.input({2, 1, 3, 7, 20}), batches.input({4, 1, 20, 5})}));
  for (MapNet* const net : {&vectors, &columns, &batches}) {
    const Network network = compile(std::move(net->owned), config::load_chip(GetParam()));
    checked(network);
    race_free(network);
  }
}

TEST_P(Networks, NormsOfAnAxis) {
  for (const i64 axis : {i64{1}, i64{-1}}) {
    for (const i64 p : {1, 2}) {
      SCOPED_TRACE(fmt::format("axis {}, p {}", axis, p));
      MapNet net;
      Value* const x = net.input({2, 5, 3, 33});
      Value* const rows = net.node("Mul", {x, net.node("Cast", {net.node("Greater", {x, net.number(0)})},
                                                       {{"to", static_cast<i64>(enum_index(DataType::f32))}})});
      net.output(net.node("LpNorm", {rows}, {{"axis", axis}, {"p", p}}));
      net.output(net.node("LpNorm", {net.node("Mul", {rows, net.number(0)})}, {{"axis", axis}, {"p", p}}));
      const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
      checked(network);
      race_free(network);
    }
  }
}

// In training mean and variance are those of the batch, and the running ones are outputs.
TEST_P(Networks, NormsOfBatches) {
  for (const Shape& shape : {Shape{3, 20, 6, 7}, Shape{1, 16, 5, 5}, Shape{5, 13}, Shape{2, 8, 30}}) {
    for (const bool training : {false, true}) {
      SCOPED_TRACE(text(shape) + (training ? " in training" : ""));
      MapNet net;
      const Dims c{shape[1]};
      Value* const running = net.graph.add_input("running", DataType::f32, c);
      Node* const norm = net.graph.add_node("BatchNorm", "norm",
                                            {net.input(shape), net.positive(c, 0.5), net.weights(c, 1), running,
                                             net.node("Add", {net.node("Mul", {running, running}), net.number(1)})},
                                            training ? 3 : 1);
      norm->attributes = {{"training_mode", i64{training}}, {"momentum", 0.75}};
      infer(*norm);
      for (Value* const v : norm->outputs())
        net.output(v);
      const std::unique_ptr<Graph> before = net.graph.clone();
      const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
      checked(network);
      race_free(network);
      const std::vector<Array> in = random_inputs(*before, 3);
      const std::vector<Array> wanted = run(*before, in), got = run(*network.graph, in);
      for (usize o = 0; o < wanted.size(); ++o) {
        for (usize i = 0; i < wanted[o].size(); ++i)
          ASSERT_NEAR(got[o].values[i], wanted[o].values[i], 0.02) << "output " << o << " at " << i;
      }
    }
  }
}

// Each stride, padding, dilation and group of a transposed convolution, against its definition.
TEST_P(Networks, TransposedConvolutions) {
  using L = std::vector<i64>;
  for (const Attributes& attributes :
       {Attributes{}, Attributes{{"strides", L{2, 2}}}, Attributes{{"strides", L{2, 3}}, {"pads", L{1, 0, 1, 2}}},
        Attributes{{"strides", L{2, 2}}, {"pads", L{1, 1, 1, 1}}, {"output_padding", L{1, 1}}},
        Attributes{{"dilations", L{2, 2}}, {"strides", L{3, 1}}},
        Attributes{{"group", i64{2}}, {"strides", L{2, 2}}}}) {
    MapNet net;
    const i64 groups = attributes.contains("group") ? 2 : 1;
    Value* const x = net.input({2, 6, 5, 4});
    Value* const y =
        net.node("Conv2DTranspose", {x, net.weights({6, 8 / groups, 3, 3}, 54), net.weights({8}, 1)}, attributes);
    const std::unique_ptr<Graph> before = [&] {
      net.output(y);
      return net.graph.clone();
    }();
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    checked(network);
    const std::vector<Array> in = random_inputs(*before, 3);
    const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
    for (usize i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(got.values[i], wanted.values[i], 0.02) << i;
  }
}

// The same along one axis, as in vocoders.
TEST_P(Networks, TransposedConvolutionsOfLines) {
  using L = std::vector<i64>;
  for (const Attributes& attributes :
       {Attributes{}, Attributes{{"strides", L{3}}, {"pads", L{1, 1}}},
        Attributes{{"strides", L{2}}, {"pads", L{1, 1}}, {"output_padding", L{1}}}, Attributes{{"dilations", L{2}}},
        Attributes{{"group", i64{2}}, {"strides", L{4}}}}) {
    MapNet net;
    const i64 groups = attributes.contains("group") ? 2 : 1;
    Value* const x = net.input({2, 6, 9});
    net.output(net.node("Conv2DTranspose", {x, net.weights({6, 8 / groups, 5}, 30), net.weights({8}, 1)}, attributes));
    const std::unique_ptr<Graph> before = net.graph.clone();
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    checked(network);
    const std::vector<Array> in = random_inputs(*before, 3);
    const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
    for (usize i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(got.values[i], wanted.values[i], 0.02) << i;
  }
}

TEST_P(Networks, ResizesByTaps) {
  for (const char* const mode : {"nearest", "linear", "cubic"}) {
    for (const char* const rule : {"half_pixel", "asymmetric", "align_corners"}) {
      SCOPED_TRACE(std::string(mode) + " " + rule);
      MapNet net;
      Value* const x = net.input({1, 3, 5, 6});
      const Array scales(DataType::f32, {4}, {1, 1, 2, 1.5});
      Value* const y = net.node("Resize", {x, nullptr, net.graph.add_constant("s", Tensor(scales))},
                                {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(rule)}});
      net.output(y);
      const std::unique_ptr<Graph> before = net.graph.clone();
      const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
      checked(network);
      if (mode != std::string_view("nearest")) {
        EXPECT_EQ(std::ranges::count(kernels(network), "scalar"), 0) << "sums are products with a matrix";
      }
      const std::vector<Array> in = random_inputs(*before, 3);
      const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
      for (usize i = 0; i < wanted.size(); ++i)
        ASSERT_NEAR(got.values[i], wanted.values[i], 0.02) << i;
    }
  }
}

// The last window of a row is beyond the map and its padding: it must not see the row below.
TEST_P(Networks, WindowsBeyondThePadding) {
  MapNet net;
  Value* const x = net.input({1, 16, 4, 5});
  Value* const y =
      net.node("MaxPool", {x},
               {{"kernel_shape", std::vector<i64>{2, 2}}, {"strides", std::vector<i64>{2, 2}}, {"ceil_mode", i64{1}}});
  const Network network = compiled(net, y);
  Array in(DataType::f32, {1, 16, 4, 5});
  for (usize i = 0; i < in.size(); ++i)
    in.values[i] = i % 5 == 0 ? 1 : -1;
  for (const NodeCheck& row : check_nodes(network, {in}))
    EXPECT_TRUE(row.right()) << row.node->node->name << ": " << row.error;
}

// The result of the convolution is repeated over a larger map, so it is no epilogue.
TEST_P(Networks, AGateBeforeALargerMap) {
  for (const char* const type : {"Mul", "Add"}) {
    MapNet net;
    Value* const gate = net.conv(net.node("GlobalAveragePool", {net.input({1, 16, 8, 8})}), 16, 1, 1, 0);
    Value* const y = net.node(type, {gate, net.graph.inputs[0]});
    checked(compiled(net, y));
  }
}

// What is behind the last channel is multiplied by zero in a convolution: it must stay a number.
TEST_P(Networks, PaddingOfChannelsStaysFinite) {
  for (const auto& [op, channels, format] :
       {std::tuple{"Reciprocal", i64{3}, isa::Format::ND}, std::tuple{"Reciprocal", i64{32}, isa::Format::NC1HWC0},
        std::tuple{"Exp", i64{3}, isa::Format::NC1HWC0}}) {
    const std::string_view type = op;
    MapNet net;
    Value* const x = net.conv(net.input({1, channels, 6, 6}), channels, 1, 1, 0);
    const Network network = compiled(net, net.conv(net.node(type, {x}), 16, 1, 1, 0));
    const auto node = std::ranges::find_if(network.graph->nodes(), [&](const auto& n) { return n->type == type; });
    if (node == network.graph->nodes().end()) continue;  // in a convolution
    EXPECT_EQ((*node)->output()->format, format) << type << " of " << channels;
  }
}

TEST_P(Networks, ManyInputsAreRefusedAndFusionStopsBefore) {
  MapNet net;
  Value* sum = net.input({64}, DataType::f16);
  for (usize i = 0; i < 40; ++i)
    sum = net.node("Add", {sum, net.input({64}, DataType::f16)});
  const Network network = compiled(net, sum);
  EXPECT_GE(network.nodes.size(), 3U);
  checked(network);
}

TEST_P(Networks, AResidualBlock) {
  MapNet net;
  Value* const x = net.input({1, 16, 32, 32});
  Value* const first = net.node("Relu", {net.batch_norm(net.conv(x, 64, 3, 1, 1))});
  Value* const second = net.batch_norm(net.conv(first, 64, 3, 1, 1));
  Value* const sum = net.node("Relu", {net.node("Add", {second, first})});
  Value* const pooled = net.node("GlobalAveragePool", {sum});
  Value* const flat = net.node("FlattenV2", {pooled});
  Value* const y = net.node("GEMM", {flat, net.weights({10, 64}, 64), net.weights({10}, 1)}, {{"transB", i64{1}}});
  const Network network = compiled(net, y);
  if (network.chip.vector_cores == 0) {
    EXPECT_THAT(kernels(network), ::testing::ElementsAre("elementwise", "trans_data", "convolution", "convolution",
                                                         "map_reduction", "convolution", "elementwise"));
  } else {
    EXPECT_THAT(kernels(network), ::testing::ElementsAre("elementwise", "trans_data", "convolution", "convolution",
                                                         "elementwise", "map_reduction", "convolution", "elementwise"));
  }
  checked(network);
  race_free(network);
  EXPECT_LE(network.memory.lower_bound, network.memory.features);
  EXPECT_LE(network.memory.features, network.memory.without_reuse);
}

// The square is a product of a value with itself.
TEST_P(Networks, ALayerNormOfPlainNodes) {
  Net net;
  Value* const x = net.input({6, 48});
  const Attributes keep{{"keepdims", i64{1}}};
  Value* const axes = net.integers({-1});
  Value* const centred = net.node("Sub", {x, net.node("ReduceMean", {x, axes}, keep)});
  Value* const variance = net.node("ReduceMean", {net.node("Mul", {centred, centred}), axes}, keep);
  Value* const deviation = net.node("Sqrt", {net.node("Add", {variance, net.number(1e-5)})});
  const Network network = compiled(net, net.node("RealDiv", {centred, deviation}));
  checked(network);
  right_end_to_end(network, random_inputs(*network.graph, 3));
}

// Constants of one element are tensors: a token in front of others, a product with one row and column.
TEST_P(Networks, TensorsOfOneElement) {
  Net net;
  Value* const token = net.constant({1, 1}, [] { return 0.5; });
  Value* const longer = net.node("ConcatD", {token, net.input({1, 20})}, {{"axis", i64{1}}});
  const Network network = compiled(
      net, net.node("BatchMatMulV2", {net.node("TransposeD", {longer}, {{"perm", std::vector<i64>{1, 0}}}), token}));
  checked(network);
  race_free(network);
}

TEST_P(Networks, ConstantsOfDoubleBecomeFloat) {
  Net net;
  Value* const x = net.input({6, 48});
  const auto to = [](DataType type) { return Attributes{{"to", static_cast<i64>(enum_index(type))}}; };
  Value* const half = net.graph.add_constant("half", Tensor(Array(DataType::f64, {}, {0.5})));
  Value* const wide = net.node("Mul", {net.node("Cast", {x}, to(DataType::f64)), half});
  const Network network = compiled(net, net.node("Cast", {wide}, to(DataType::f32)));
  checked(network);
  right_end_to_end(network, random_inputs(*network.graph, 3));
}

INSTANTIATE_TEST_SUITE_P(Chips, Networks, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
