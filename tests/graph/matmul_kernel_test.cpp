// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include "tests/graph/network_fixture.h"

// Products of matrices by node.
namespace vinci::graph {
namespace {

class MatmulKernels : public NetworkTest {
 protected:
  static bool joint() { return config::load_chip(GetParam()).vector_cores == 0; }
  void check(Net& net, Value* out) {
    const Network network = compiled(net, out);
    EXPECT_EQ(std::ranges::count(kernels(network), "matmul"), 1);
    checked(network);
    race_free(network);
  }
};

TEST_P(MatmulKernels, MatricesOfManyShapes) {
  struct Case {
    i64 m, k, n;
  };
  for (const Case& c : {Case{16, 16, 16}, Case{128, 768, 768}, Case{1, 64, 48}, Case{100, 304, 16}, Case{33, 1040, 512},
                        Case{7, 5, 3}, Case{65, 33, 130}, Case{17, 4097, 10}}) {
    if (joint() && (c.k % 16 != 0 || c.n % 16 != 0)) continue;
    SCOPED_TRACE(fmt::format("{} x {} x {}", c.m, c.k, c.n));
    Net net;
    const auto k = static_cast<double>(c.k);
    check(net, net.node("BatchMatMulV2", {net.input({c.m, c.k}), net.weights({c.k, c.n}, k)}));
    Net biased;
    check(biased, biased.node("BatchMatMulV2",
                              {biased.input({c.m, c.k}), biased.weights({c.k, c.n}, k), biased.weights({c.n}, 1)}));
    Net turned;
    check(turned, turned.node("BatchMatMulV2", {turned.input({c.m, c.k}), turned.weights({c.n, c.k}, k)},
                              {{"adj_x2", i64{1}}}));
  }
}

TEST_P(MatmulKernels, Batches) {
  struct Case {
    Shape a, b;
  };
  for (const Case& c :
       {Case{{3, 20, 32}, {32, 48}}, Case{{3, 20, 32}, {3, 32, 48}}, Case{{2, 3, 16, 64}, {2, 3, 64, 32}},
        Case{{2, 3, 16, 64}, {3, 64, 32}}, Case{{2, 3, 16, 64}, {2, 1, 64, 32}}, Case{{16, 64}, {4, 64, 32}},
        Case{{1, 12, 128, 64}, {1, 12, 64, 128}}, Case{{64}, {5, 64, 32}}}) {
    SCOPED_TRACE(text(c.a) + " and " + text(c.b));
    Net net;
    Value* const a = net.input(c.a);
    check(net, net.node("BatchMatMulV2", {a, net.input(c.b)}));
    Dims turned = c.b.dims();
    std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
    Net other;
    Value* const x = other.input(c.a);
    check(other, other.node("BatchMatMulV2", {x, other.input(turned)}, {{"adj_x2", i64{1}}}));
  }
}

// One tensor as both operands.
TEST_P(MatmulKernels, ATensorWithItself) {
  Net net;
  Value* const x = net.input({48, 80});
  check(net, net.node("BatchMatMulV2", {x, x}, {{"adj_x2", i64{1}}}));
}

TEST_P(MatmulKernels, ABiasThatIsAddedBehind) {
  Net net;
  Value* const product = net.node("BatchMatMulV2", {net.input({2, 24, 64}), net.weights({64, 96}, 64)});
  const Network network = compiled(net, net.node("Relu", {net.node("Add", {net.weights({96}, 1), product})}));
  checked(network);
  race_free(network);
  // The Relu is FIXPIPE's, or with the Cast behind it a task of its own.
  EXPECT_EQ(network.nodes.size(), 3U);
}

// Rows of 17 and 33 elements between two products: on a joint core they keep the columns that fill their blocks.
TEST_P(MatmulKernels, AttentionOverRowsThatFillNoBlocks) {
  for (const i64 tokens : {17, 33}) {
    SCOPED_TRACE(tokens);
    Net net;
    Value* const queries = net.input({2, 3, 20, 32});
    Value* const keys = net.input({2, 3, 32, tokens});
    Value* const values = net.input({2, 3, tokens, 16});
    Value* scores = net.node("Mul", {net.node("BatchMatMulV2", {queries, keys}), net.number(0.2)});
    scores = net.node("Add", {scores, net.weights({1, 3, 20, tokens}, 1)});
    scores =
        net.node("Add", {net.node("Reshape", {scores, net.integers({1, 2, 3, 20, tokens})}), net.input({1, tokens})});
    scores = net.node("Reshape", {scores, net.integers({2, 3, 20, tokens})});
    Value* const weights = net.node("SoftmaxV2", {scores}, {{"axis", i64{-1}}});
    net.output(net.node("BatchMatMulV2", {weights, values}));
    const std::unique_ptr<Graph> before = net.graph.clone();
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    checked(network);
    race_free(network);
    const std::vector<Array> in = random_inputs(*before, 3);
    const Array wanted = run(*before, in)[0], got = run(*network.graph, in)[0];
    ASSERT_EQ(got.dims, wanted.dims);
    for (usize i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(got.values[i], wanted.values[i], 5e-3) << i;
    // Neither a cut nor zeros behind the rows of Softmax.
    for (const CompiledNode& n : network.nodes) {
      EXPECT_NE(n.node->type, "StridedSliceV2");
      if (n.node->type == "SoftmaxV2" && joint()) {
        EXPECT_EQ(n.node->output()->shape.dims().back() % 16, 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, MatmulKernels, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
