// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "tests/graph/pass_networks.h"

// Quantised networks: products of bytes on the cube, as a whole and by node.
namespace vinci::graph {
namespace {

class Quantised : public NetworkTest {
 protected:
  static bool joint() { return config::load_chip(GetParam()).vector_cores == 0; }
  // Nodes are right, and outputs are within `allowed` of the largest element of those of the network as it was.
  static Network expect_right(Net& net, double allowed, PrecisionMode precision = PrecisionMode::force_fp16) {
    const std::unique_ptr<Graph> before = net.graph.clone();
    Network network = compile(std::move(net.owned), config::load_chip(GetParam()), {.precision = precision});
    checked(network);
    race_free(network);
    const std::vector<Array> in = random_inputs(*before, 3);
    const std::vector<Array> wanted = run(*before, in), got = run_on_device(network, in).outputs;
    for (usize i = 0; i < wanted.size(); ++i) {
      double most = 0;
      for (const double w : wanted[i].values)
        most = std::max(most, std::abs(w));
      for (usize e = 0; e < wanted[i].size(); ++e) {
        if (std::abs(got[i].values[e] - wanted[i].values[e]) <= allowed * most) continue;
        ADD_FAILURE() << "output " << i << " has " << got[i].values[e] << " for " << wanted[i].values[e] << " at " << e;
        break;
      }
    }
    return network;
  }
  // Products whose sums are i32.
  static usize products_of_bytes(const Network& network) {
    return static_cast<usize>(std::ranges::count_if(network.nodes, [](const CompiledNode& n) {
      if (n.kernel == nullptr) return false;
      const Group group(*n.node);
      const bool product = n.kernel->name == "matmul" || n.kernel->name == "convolution";
      return product && info(group.inputs()[0]->type).bytes == 1;
    }));
  }
};

TEST_P(Quantised, ANetworkOfBlocksAndAClassifier) {
  MapNet net;
  quantised_network(net);
  const Network network = expect_right(net, 0.03);
  EXPECT_EQ(products_of_bytes(network), 3U);
  // FIXPIPE quantises what the next convolution reads.
  const auto requantised = std::ranges::count_if(network.nodes, [](const CompiledNode& n) {
    const Group group(*n.node);
    return std::ranges::any_of(group.nodes(), [](const Node* node) { return node->type == "AscendRequant"; });
  });
  EXPECT_EQ(requantised, joint() ? 0 : 2);
}

TEST_P(Quantised, OriginTypesKeepTheProductsOfTheModel) {
  if (joint()) return;
  MapNet net;
  quantised_network(net);
  EXPECT_EQ(products_of_bytes(expect_right(net, 1e-4, PrecisionMode::must_keep_origin_dtype)), 0U);
}

// Extents that fill no blocks: 37 columns, depth 45; zero points of both kinds of bytes.
TEST_P(Quantised, MatricesThatFillNoBlocks) {
  for (const DataType type : {DataType::i8, DataType::u8}) {
    MapNet net;
    QuantisedNet q{net};
    Value* const x = q.bytes(net.input({3, 7, 45}), 0.01, type, type == DataType::u8 ? 120 : -7);
    net.output(net.node("BatchMatMulV2", {x, q.filters({45, 37}, 1)}));
    EXPECT_EQ(products_of_bytes(expect_right(net, 2e-2)), 1U);
  }
}

// Weights of u8 that take copies of the map, behind a convolution whose FIXPIPE stores bytes.
TEST_P(Quantised, CopiesOfAMapOfBytes) {
  for (const i64 channels : {20, 32}) {
    MapNet net;
    QuantisedNet q{net};
    Value* const x = q.bytes(net.input({1, 16, 6, 6}), 0.01, DataType::u8, 100);
    Value* const y = q.bytes(net.node("Relu", {q.conv(x, channels, 3, 1)}), 0.02, DataType::u8, 0);
    Array weights(DataType::u8, {24, channels, 3, 3});
    for (double& v : weights.values)
      v = std::floor((net.random.uniform() + 1) * 127);
    Value* const filters = net.node("AscendDequantV2", {net.graph.add_constant("w", Tensor(weights)),
                                                        net.number(0.0005), q.zero(DataType::u8, 90)});
    net.output(net.node("Conv2D", {y, filters}, {{"pads", std::vector<i64>{1, 1, 1, 1}}}));
    EXPECT_EQ(products_of_bytes(expect_right(net, 3e-2)), 2U);
  }
}

// As dynamic quantisation has it: the zero point is a tensor, the sums are scaled behind the product.
// Weights of u8 whose zero point is far from 128 do not fit i8: they are summed in parts.
TEST_P(Quantised, SumsOfMatMulInteger) {
  struct Case {
    bool dynamic;
    double zero;  // of the weights
  };
  for (const Case& c : {Case{false, 128}, Case{true, 128}, Case{false, 10}, Case{true, 200}, Case{false, 0}}) {
    SCOPED_TRACE(c.zero);
    Net net;
    const auto cast = [&](Value* v, DataType to) {
      return net.node("Cast", {v}, {{"to", static_cast<i64>(enum_index(to))}});
    };
    Value* const a = net.input({5, 64}, DataType::u8);
    Value* const zero = c.dynamic ? net.input(Shape(), DataType::u8)
                                  : net.graph.add_constant("zero", Tensor(Array(DataType::u8, {}, {131})));
    Array weights(DataType::f32, {64, 48});
    for (double& v : weights.values)
      v = std::floor((net.random.uniform() + 1) * 128) - c.zero;
    weights.values[0] = 255 - c.zero;
    Value* const left = net.node("Sub", {cast(a, DataType::f32), cast(zero, DataType::f32)});
    Value* const y = net.node("BatchMatMulV2", {left, net.graph.add_constant("w", Tensor(weights))});
    net.output(cast(y, DataType::i32));
    EXPECT_EQ(products_of_bytes(expect_right(net, 0)), 1U) << "sums are exact";
  }
}

// Sums of 768 products of bytes are far beyond f16, their product with the scale is not: as dynamic quantisation writes
// it, with a scale that is a product itself.
TEST_P(Quantised, SumsAreScaledInF32) {
  Net net;
  const auto cast = [&](Value* v, DataType to) {
    return net.node("Cast", {v}, {{"to", static_cast<i64>(enum_index(to))}});
  };
  Value* const x = net.input({8, 768}, DataType::u8);
  Value* const zero = net.graph.add_constant("zero", Tensor(Array(DataType::u8, {}, {3})));
  Array w(DataType::f32, {768, 32});
  for (usize i = 0; i < w.size(); ++i)
    w.values[i] = static_cast<double>(i * 37 % 251) - 90;
  Value* const left = net.node("Sub", {cast(x, DataType::f32), cast(zero, DataType::f32)});
  Value* const sums = cast(net.node("BatchMatMulV2", {left, net.graph.add_constant("w", Tensor(w))}), DataType::i32);
  Value* const wide = cast(sums, DataType::f32);
  Value* const scale = net.node("Mul", {net.node("Sigmoid", {net.input({1})}), net.constant({1}, [] { return 2e-5; })});
  net.output(net.node("Relu", {net.node("Mul", {wide, scale})}));
  const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
  for (const NodeCheck& row : checked(network))
    EXPECT_EQ(row.overflowed, 0U) << row.node->node->name;
  for (const Array& out : run_on_device(network, random_inputs(*network.graph, 3)).outputs) {
    for (const double v : out.values)
      ASSERT_LT(std::abs(v), 1e3);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, Quantised, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
