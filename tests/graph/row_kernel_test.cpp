// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
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
