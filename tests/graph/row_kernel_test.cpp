// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <cmath>
#include <limits>

#include "tests/graph/network_fixture.h"

// Kernels on whole rows by node: reductions, Softmax, LayerNorm.
namespace vinci::graph {
namespace {

class RowKernels : public NetworkTest {
 protected:
  // One node with `type` on each shape.
  void check_all(std::string_view type, const std::vector<Shape>& shapes, const Attributes& attributes = {},
                 const std::vector<i64>& axes = {}) {
    for (const Shape& shape : shapes) {
      SCOPED_TRACE(std::string(type) + " of " + text(shape));
      Net net;
      std::vector<Value*> inputs{net.node("Add", {net.input(shape), net.number(type == "ReduceLogSum" ? 2 : 0.125)})};
      if (!axes.empty()) inputs.push_back(net.integers(axes));
      const Network network = compiled(net, net.node(type, inputs, attributes));
      checked(network);
      race_free(network);
    }
  }
};

const std::vector<Shape> kShapes{{2, 64},  {3, 5},    {1, 1},    {70, 100}, {2, 3, 128},
                                 {5, 768}, {300, 17}, {2, 5000}, {33, 2048}};

TEST_P(RowKernels, Softmax) {
  check_all("SoftmaxV2", kShapes);
  check_all("LogSoftmaxV2", kShapes);
}

// Logits of a vocabulary, attention over long sequences, groups of a map: a row does not fit UB.
const std::vector<Shape> kLongShapes{{3, 32000}, {18, 40962}, {1, 128256}, {2, 65537}};

TEST_P(RowKernels, SoftmaxOfLongRows) {
  check_all("SoftmaxV2", kLongShapes);
  check_all("LogSoftmaxV2", {{3, 32003}, {1, 128256}});
}

TEST_P(RowKernels, ReductionsOfLongRows) {
  for (const char* const type :
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceSumSquare"})
    check_all(type, {{3, 32000}, {18, 40962}, {1, 300000}}, {}, {-1});
  check_all("ReduceMean", kLongShapes, {}, {-1});
}

TEST_P(RowKernels, LayerNormOfLongRows) {
  for (const Shape& shape : {Shape{5, 8192}, Shape{2, 12289}, Shape{18, 20000}}) {
    SCOPED_TRACE(text(shape));
    for (const bool affine : {false, true}) {
      Net net;
      std::vector<Value*> inputs{net.node("Add", {net.input(shape), net.number(0.5)})};
      if (affine) inputs.insert(inputs.end(), {net.weights({shape[1]}, 1), net.weights({shape[1]}, 1)});
      const Network network = compiled(net, net.node("LayerNorm", inputs, {{"axis", i64{-1}}, {"epsilon", 1e-5}}));
      checked(network);
      race_free(network);
    }
  }
}

// The mean of a large map, as GlobalAveragePool and the gates of a network for large images have it.
TEST_P(RowKernels, MeansOfLargeMaps) {
  for (const Shape& shape : {Shape{1, 40, 112, 112}, Shape{2, 16, 333, 97}}) {
    Net net;
    Value* const map = net.node("MaxPool", {net.input(shape)}, {{"kernel_shape", std::vector<i64>{1, 1}}});
    const Network network = compiled(net, net.node("GlobalAveragePool", {map}));
    checked(network);
    race_free(network);
    EXPECT_EQ(std::ranges::count(kernels(network), "map_reduction"), 1);
  }
}

// In f32, which a joint core cannot repeat for many rows at a time.
TEST_P(RowKernels, RowsOfF32) {
  for (const char* const type : {"SoftmaxV2", "LayerNorm"}) {
    for (const Shape& shape : {Shape{5, 200}, Shape{2, 40000}}) {
      Net net;
      Value* const y = net.node(type, {net.node("Add", {net.input(shape), net.number(0.5)})},
                                {{"axis", i64{-1}}, {"epsilon", 1e-5}});
      net.graph.outputs = {y};
      const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                      {.precision = PrecisionMode::must_keep_origin_dtype});
      checked(network);
      race_free(network);
    }
  }
}

// Rows become one without a transpose: tokens of a sentence, branches of a block.
TEST_P(RowKernels, RowsBecomeOne) {
  struct Case {
    Shape in;
    std::vector<i64> axes;
  };
  for (const Case& c :
       {Case{{3, 197, 96}, {1}}, Case{{2, 2, 64, 10, 24}, {1}}, Case{{40, 5008}, {0}}, Case{{2, 7, 9, 48}, {1, 2}}}) {
    for (const char* const type :
         {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"}) {
      for (const auto precision : {PrecisionMode::force_fp16, PrecisionMode::must_keep_origin_dtype}) {
        SCOPED_TRACE(fmt::format("{} {}", type, text(c.in)));
        Net net;
        Value* x = net.input(c.in);
        if (std::string_view(type) == "ReduceLogSum") x = net.node("Exp", {x});
        net.output(net.node(type, {x, net.integers(c.axes)}));
        const Network network = compile(std::move(net.owned), config::load_chip(GetParam()), {.precision = precision});
        EXPECT_THAT(kernels(network), testing::Contains("axis_reduction"));
        checked(network);
        race_free(network);
      }
    }
  }
}

// A number of f32 for each row, or for each map: a joint core has no instruction that repeats it.
TEST_P(RowKernels, NumbersOfF32ForEachRow) {
  for (const auto& [in, one] : {std::pair{Shape{6, 7, 40}, Shape{1, 7, 1}}, std::pair{Shape{300, 17}, Shape{300, 1}},
                                std::pair{Shape{4, 2000}, Shape{1}}, std::pair{Shape{3, 70, 5}, Shape{3, 1, 1}}}) {
    SCOPED_TRACE(text(in));
    Net net;
    net.output(net.node("Mul", {net.input(in), net.input(one)}));
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                    {.precision = PrecisionMode::must_keep_origin_dtype});
    EXPECT_EQ(kernels(network), std::vector<std::string_view>{"elementwise"});
    checked(network);
    race_free(network);
  }
}

// Each tile ends with a block that the scalar unit puts together, so that all cores of a joint chip store.
TEST_P(RowKernels, RowsThatFillNoBlocksGoToAllCores) {
  const auto spread = [](Net& net, Value* x, const Shape& one) {
    return net.node("Mul", {x, net.input(one, DataType::f16)});
  };
  struct Case {
    std::string_view type;
    Shape in, one;
  };
  for (const Case& c :
       {Case{"SoftmaxV2", {1000, 5}, {}}, Case{"SoftmaxV2", {300, 197}, {}}, Case{"SoftmaxV2", {4096, 2}, {}},
        Case{"Mul", {500, 85}, {500, 1}}, Case{"Mul", {70, 33, 3}, {70, 1, 3}}, Case{"ReduceSum", {4000, 3}, {}},
        Case{"Mul", {2000, 20}, {1, 20}}}) {
    SCOPED_TRACE(fmt::format("{} {}", c.type, text(c.in)));
    Net net;
    Value* const x = net.input(c.in, DataType::f16);
    net.output(c.type == "Mul"         ? spread(net, x, c.one)
               : c.type == "ReduceSum" ? net.node(c.type, {x, net.integers({-1})})
                                       : net.node(c.type, {x}, {{"axis", i64{-1}}}));
    const config::ChipConfig chip = config::load_chip(GetParam());
    const Network network = compile(std::move(net.owned), chip);
    for (const CompiledNode& node : network.nodes) {
      const bool moves = node.node->type != c.type;
      EXPECT_TRUE(moves || node.program.blocks > vector_cores(chip) / 2) << node.kernel->name;
    }
    checked(network);
    race_free(network);
    right_end_to_end(network, random_inputs(*network.graph, 9));
  }
}

// Many rows that fill no blocks get elements that do not change the result, also where all others are infinite.
TEST_P(RowKernels, FilledRows) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const config::ChipConfig chip = config::load_chip(GetParam());
  for (const char* const type : {"SoftmaxV2", "ReduceMax", "ReduceMin", "ReduceSum"}) {
    for (const Shape& shape : {Shape{300, 19}, Shape{2, 150, 3}, Shape{256, 511}}) {
      SCOPED_TRACE(fmt::format("{} {}", type, text(shape)));
      const bool softmax = std::string_view(type) == "SoftmaxV2";
      Net net;
      Value* const x = net.input(shape, DataType::f16);
      net.output(softmax ? net.node(type, {x}, {{"axis", i64{-1}}}) : net.node(type, {x, net.integers({-1})}));
      const std::unique_ptr<Graph> model = net.graph.clone();
      const Network network = compile(std::move(net.owned), chip);
      EXPECT_EQ(network.nodes.size(), !is_joint(chip) ? 1U : softmax ? 3U : 2U);
      checked(network);
      race_free(network);
      std::vector<Array> in = random_inputs(*model, 9);
      const auto width = static_cast<usize>(shape.dims().back());
      const bool least = std::string_view(type) == "ReduceMin";
      std::fill_n(in[0].values.begin() + static_cast<i64>(5 * width), width, least ? kInfinity : -kInfinity);
      in[0].values[7 * width] = -kInfinity;
      const Array wanted = run(*model, in)[0], got = run(*network.graph, in)[0];
      for (usize i = 0; i < wanted.size(); ++i) {
        if (std::isnan(wanted.values[i])) {
          EXPECT_TRUE(std::isnan(got.values[i])) << i;
        } else {
          EXPECT_EQ(got.values[i], wanted.values[i]) << i;
        }
      }
    }
  }
}

// Rows of f32 that fill no blocks, by all cores except on c100. Numbers that f16 does not hold are repeated exactly.
TEST_P(RowKernels, SoftmaxOfF32) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  for (const char* const type : {"SoftmaxV2", "LogSoftmaxV2"}) {
    for (const Shape& shape : {Shape{1000, 5}, Shape{300, 197}, Shape{40, 64}}) {
      for (const double far : {0.0, -1e9, 3e7}) {
        SCOPED_TRACE(fmt::format("{} of {} and {}", type, text(shape), far));
        Net net;
        net.output(net.node(type, {net.node("Add", {net.input(shape), net.number(far)})}));
        const Network network =
            compile(std::move(net.owned), chip, {.precision = PrecisionMode::must_keep_origin_dtype});
        EXPECT_EQ(std::ranges::count(kernels(network), "softmax"), network.chip.arch == isa::Arch::c100 ? 0 : 1);
        checked(network);
        race_free(network);
      }
    }
  }
}

// The largest element is far from the others: exponentials must not overflow.
TEST_P(RowKernels, SoftmaxOfLargeNumbers) {
  Net net;
  checked(compiled(net, net.node("SoftmaxV2", {net.node("Mul", {net.input({9, 200}), net.number(3000)})})));
}

TEST_P(RowKernels, Reductions) {
  for (const char* const type :
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "ReduceSumSquare"})
    check_all(type, kShapes, {}, {-1});
}

TEST_P(RowKernels, ReductionsOfSeveralAxes) {
  for (const char* const type : {"ReduceMax", "ReduceSum"}) {
    check_all(type, {{4, 3, 20}, {40, 5, 7}}, {{"keepdims", i64{0}}}, {1, 2});
    check_all(type, {{4, 3, 20}}, {}, {0, 1, 2});
  }
}

TEST_P(RowKernels, AxesThatAreNotTheLastOnes) {
  for (const i64 keep : {0, 1}) {
    check_all("ReduceSum", {{3, 20, 32}, {5, 7, 9}}, {{"keepdims", keep}}, {1});
    check_all("ReduceMax", {{3, 4, 5, 6}}, {{"keepdims", keep}}, {0, -2});
  }
  check_all("SoftmaxV2", {{3, 20, 32}, {2, 7, 5}}, {{"axis", i64{1}}});
}

// A sum of many numbers of one sign would lose its last addends in f16.
TEST_P(RowKernels, SumsAreF32Inside) {
  Net net;
  Value* const x = net.node("Add", {net.node("Mul", {net.input({4, 6000}), net.number(0.01)}), net.number(1)});
  checked(compiled(net, net.node("ReduceMean", {x, net.integers({1})})));
}

TEST_P(RowKernels, LayerNorm) {
  for (const Shape& shape : kShapes) {
    const i64 width = shape[shape.rank() - 1];
    if (width == 1) continue;
    for (const int affine : {0, 1, 2}) {
      SCOPED_TRACE(text(shape) + " with " + std::to_string(affine) + " operands");
      Net net;
      std::vector<Value*> inputs{net.node("Add", {net.input(shape), net.number(0.5)})};
      if (affine > 0) inputs.push_back(net.weights({width}, 1));
      if (affine > 1) inputs.push_back(net.weights({width}, 1));
      const Network network = compiled(net, net.node("LayerNorm", inputs, {{"axis", i64{-1}}, {"epsilon", 1e-5}}));
      checked(network);
      race_free(network);
    }
  }
  Net net;
  checked(compiled(net, net.node("LayerNorm", {net.input({5, 4, 24}), net.weights({4, 24}, 1)}, {{"axis", i64{1}}})));
}

INSTANTIATE_TEST_SUITE_P(Chips, RowKernels, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
