// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <array>

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
  // The Relu is FIXPIPE's, or of the epilogue of a joint core.
  EXPECT_EQ(network.nodes.size(), 3U);
}

// Networks of one product with something behind it, on f16.
struct Behind {
  std::string_view name;
  Value* (*build)(Net& net);
  bool fixpipe = false;  // the split core does it too
};
Value* product(Net& net, const Dims& a, const Dims& b, bool bias = false) {
  std::vector<Value*> operands{net.input(a, DataType::f16)};
  const auto k = static_cast<double>(b[b.size() - 2]);
  if (b.size() > 2) {
    operands.push_back(net.input(b, DataType::f16));
  } else {
    operands.push_back(net.weights(b, k));
  }
  if (bias) operands.push_back(net.weights({b.back()}, 1));
  return net.node("BatchMatMulV2", operands);
}
Value* moved(Net& net, Value* x, const std::vector<i64>& shape, std::vector<i64> perm) {
  return net.node("TransposeD", {net.node("Reshape", {x, net.integers(shape)})}, {{"perm", std::move(perm)}});
}
const std::vector<Behind> kBehind{
    {"relu",
     [](Net& net) {
       return net.node("Relu", {product(net, {70, 64}, {64, 96})});
     },
     true},
    {"gelu",
     [](Net& net) {
       return net.node("Gelu", {product(net, {100, 48}, {48, 208}, true)});
     }},
    {"sum",
     [](Net& net) {
       return net.node("Add", {net.input({2, 50, 96}, DataType::f16), product(net, {2, 50, 64}, {64, 96}, true)});
     }},
    // The operand of the product too.
    {"residual",
     [](Net& net) {
       Value* const x = net.input({83, 96}, DataType::f16);
       return net.node("Add", {net.node("BatchMatMulV2", {x, net.weights({96, 96}, 96)}), x});
     }},
    {"chain",
     [](Net& net) {
       Value* const x = product(net, {45, 64}, {64, 144});
       Value* const gate = net.node("Sigmoid", {x});
       Value* const y = net.node("Mul", {net.node("Mul", {gate, x}), net.input({45, 144}, DataType::f16)});
       return net.node("Maximum", {y, net.number(-0.5)});
     }},
    // Scores: a scale, a bias for each head, a mask for each sentence.
    {"scores",
     [](Net& net) {
       Value* const x = product(net, {2, 3, 20, 32}, {2, 3, 32, 48});
       Value* const y = net.node("Add", {net.node("Mul", {x, net.number(0.2)}), net.input({3, 20, 48}, DataType::f16)});
       return net.node("Add", {y, net.input({2, 1, 1, 48}, DataType::f16)});
     }},
    {"row",
     [](Net& net) {
       return net.node("Mul", {product(net, {50, 64}, {64, 96}), net.input({96}, DataType::f16)});
     }},
    {"heads",
     [](Net& net) {
       return moved(net, product(net, {2, 37, 64}, {64, 96}, true), {2, 37, 3, 32}, {0, 2, 1, 3});
     }},
    {"together",
     [](Net& net) {
       return net.node("TransposeD", {product(net, {2, 3, 21, 32}, {2, 3, 32, 32})},
                       {{"perm", std::vector<i64>{0, 2, 1, 3}}});
     }},
    {"windows",
     [](Net& net) {
       Value* const x = net.node("Relu", {product(net, {96, 32}, {32, 48})});
       return moved(net, x, {2, 4, 3, 4, 48}, {0, 2, 1, 3, 4});
     }},
};

class Epilogues : public MatmulKernels {};

// In one task on a joint core, with each tiling that is offered and with small tiles, which repeat all slots.
TEST_P(Epilogues, AreRightWithEachTiling) {
  for (const Behind& behind : kBehind) {
    SCOPED_TRACE(behind.name);
    Net net;
    net.output(behind.build(net));
    Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    if (joint() || behind.fixpipe) {
      ASSERT_EQ(network.nodes.size(), 1U);
    } else {
      EXPECT_GT(network.nodes.size(), 1U);
      continue;
    }
    CompiledNode& node = network.nodes[0];
    const Group group(*node.node);
    std::vector<Tiling> tilings = node.kernel->tilings(group, network.chip);
    Tiling small = tilings[0];
    small["m"] = 16;
    small["n"] = 32;
    if (small.contains("chunk")) small["chunk"] = 16;
    tilings.push_back(small);
    small.erase("ub");
    tilings.push_back(small);
    for (const Tiling& tiling : tilings) {
      SCOPED_TRACE(text(tiling));
      node.tiling = tiling;
      node.program = node.kernel->build(group, network.chip, tiling);
      EXPECT_LE(node.kernel->footprint(group, network.chip, tiling).ub, network.chip.core.buffers.ub);
      checked(network);
      race_free(network);
    }
  }
}

// A pass that is off leaves the nodes apart.
TEST_P(Epilogues, AreSwitched) {
  for (const Behind& behind : kBehind) {
    SCOPED_TRACE(behind.name);
    Net net;
    net.output(behind.build(net));
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()),
                                    {.switches = {.passes = {{"TbeMatmulElemwiseFusionPass", false},
                                                             {"MatmulConfusiontransposeUbFusion", false}}}});
    EXPECT_GT(network.nodes.size(), 1U);
  }
}

// What tiles do not have stays a task.
TEST_P(Epilogues, LeaveWhatTheyCannotDo) {
  const std::vector<Behind> cases{
      {"a number for each row",
       [](Net& net) {
         return net.node("Mul", {product(net, {48, 64}, {64, 96}), net.input({48, 1}, DataType::f16)});
       }},
      {"columns apart",
       [](Net& net) {
         return net.node("TransposeD", {product(net, {48, 64}, {64, 96})}, {{"perm", std::vector<i64>{1, 0}}});
       }},
      {"two users", [](Net& net) {
         Value* const x = product(net, {48, 64}, {64, 96});
         net.output(x);
         return net.node("Relu", {x});
       }}};
  for (const Behind& behind : cases) {
    SCOPED_TRACE(behind.name);
    Net net;
    net.output(behind.build(net));
    const Network network = compile(std::move(net.owned), config::load_chip(GetParam()));
    EXPECT_GT(network.nodes.size(), 1U);
    checked(network);
  }
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

INSTANTIATE_TEST_SUITE_P(Chips, Epilogues, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));
class TypedMatmuls : public MatmulKernels {
 protected:
  // As it is, without passes that change types.
  static Network compiled(TypedNet& net, Value* output) {
    net.graph.outputs = {output};
    return compile(std::move(net.owned), config::load_chip(GetParam()),
                   {.precision = PrecisionMode::must_keep_origin_dtype});
  }
  static void expect_right(TypedNet& net, Value* output, usize tasks) {
    const Network network = compiled(net, output);
    checked(network);
    race_free(network);
    EXPECT_EQ(network.nodes.size(), tasks);
  }
};

constexpr auto kShapes =
    std::to_array<std::array<i64, 3>>({{16, 32, 16}, {100, 768, 304}, {1, 64, 48}, {40, 3072, 256}});
constexpr auto kRaggedShapes =
    std::to_array<std::array<i64, 3>>({{7, 5, 3}, {65, 33, 130}, {17, 1031, 20}, {30, 8, 9}});

TEST_P(TypedMatmuls, FloatsOfTheSplitCore) {
  using enum DataType;
  for (const DataType type : {bf16, f32}) {
    if (joint()) {
      TypedNet net;
      Value* const x = net.node("BatchMatMulV2", {net.input({16, 16}, type), net.typed({16, 16}, type)});
      EXPECT_THROW(compiled(net, x), Error);
      continue;
    }
    for (const auto* const list : {&kShapes, &kRaggedShapes}) {
      for (const auto& [m, k, n] : *list) {
        SCOPED_TRACE(fmt::format("{} {} x {} x {}", info(type).name, m, k, n));
        TypedNet net;
        expect_right(net, net.node("BatchMatMulV2", {net.input({m, k}, type), net.typed({k, n}, type)}), 1);
        TypedNet biased;
        expect_right(
            biased,
            biased.node("Relu",
                        {biased.node("BatchMatMulV2",
                                     {biased.input({m, k}, type), biased.typed({n, k}, type), biased.typed({n}, f32)},
                                     {{"adj_x2", vinci::i64{1}}})}),
            1);
      }
    }
    TypedNet batch;
    expect_right(
        batch, batch.node("BatchMatMulV2", {batch.input({2, 3, 20, 40}, type), batch.input({2, 3, 40, 24}, type)}), 1);
  }
}

TEST_P(TypedMatmuls, Hf32HasElevenBits) {
  if (joint()) return;
  TypedNet net;
  Value* const y = net.node("BatchMatMulV2", {net.input({64, 512}), net.typed({512, 64}, DataType::f32)},
                            {{"enable_hf32", vinci::i64{1}}});
  const Network network = compiled(net, y);
  const std::vector<NodeCheck> rows = checked(network);
  EXPECT_GT(rows[0].error, 1e-5) << "f32 is closer";
}

TEST_P(TypedMatmuls, Bytes) {
  using enum DataType;
  for (const DataType type : {i8, u8}) {
    for (const auto* const list : {&kShapes, &kRaggedShapes}) {
      for (const auto& [rows, inner, columns] : *list) {
        const auto m = rows, k = inner, n = columns;
        if (joint() && (k % 32 != 0 || n % 16 != 0)) continue;
        SCOPED_TRACE(fmt::format("{} {} x {} x {}", info(type).name, m, k, n));
        const auto product = [&](TypedNet& net, bool bias) {
          std::vector<Value*> operands{net.input({m, k}, type), net.typed({n, k}, i8)};
          if (bias) operands.push_back(net.typed({n}, i32));
          return net.node("BatchMatMulV2", operands, {{"adj_x2", vinci::i64{1}}});
        };
        TypedNet plain;
        expect_right(plain, product(plain, false), 1);
        const double scale = 0.5 / static_cast<double>(k);
        TypedNet scaled;
        expect_right(scaled,
                     scaled.node("AscendDequant", {product(scaled, true), scaled.parameters(n, scale, 0, false)}), 1);
        TypedNet relu;
        expect_right(
            relu,
            relu.node("Relu", {relu.node("AscendDequant", {product(relu, true), relu.parameters(n, scale, 0, false)})}),
            1);
        if (joint()) continue;
        for (const DataType to : {i8, u8}) {
          TypedNet bytes;
          expect_right(
              bytes,
              bytes.node("AscendRequant",
                         {product(bytes, true), bytes.parameters(n, scale, to == i8 ? -3 : 120, to == i8)},
                         {{"dtype", static_cast<vinci::i64>(enum_index(to))}, {"relu_flag", vinci::i64{to == i8}}}),
              1);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, TypedMatmuls, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));
INSTANTIATE_TEST_SUITE_P(Chips, MatmulKernels, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
