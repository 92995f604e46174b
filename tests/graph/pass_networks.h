// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "tests/graph/network_fixture.h"

// Small networks in which, together, each pass finds its pattern. Measures of passes run over all of them.
namespace vinci::graph {

struct PassNetwork {
  std::string_view name;
  void (*build)(MapNet& net);
};

// A residual block with a classifier, the head of the map merged.
inline void residual_network(MapNet& net) {
  Value* const x = net.node("Relu", {net.batch_norm(net.conv(net.input({1, 16, 16, 16}), 32, 3, 1, 1))});
  Value* const y = net.node("Relu", {net.batch_norm(net.conv(x, 32, 3, 1, 1))});
  Value* const sum = net.node("Relu", {net.node("Add", {net.batch_norm(net.conv(y, 32, 3, 1, 1)), x})});
  Value* const pooled =
      net.node("MaxPool", {sum}, {{"kernel_shape", std::vector<i64>{2, 2}}, {"strides", std::vector<i64>{2, 2}}});
  const Attributes by_rows{{"transB", i64{1}}};
  Value* const flat = net.node("FlattenV2", {net.conv(pooled, 16, 3, 2, 1)});
  net.output(net.node("GEMM", {flat, net.weights({10, 256}, 256), net.weights({10}, 1)}, by_rows));
  Value* const mean = net.node("FlattenV2", {net.node("GlobalAveragePool", {pooled})});
  net.output(net.node("GEMM", {mean, net.weights({10, 32}, 32), net.weights({10}, 1)}, by_rows));
}

// Biases and norms apart from their convolutions, groups, maps of one axis, transposed convolution, padding as wide as
// its window, a window that moves far.
inline void map_network(MapNet& net) {
  Value* const x = net.input({1, 32, 12, 12});
  Value* const biased = net.node("Add", {net.conv(x, 32, 3, 1, 1), net.weights({32, 1, 1}, 1)});
  Value* const norm = net.batch_norm(net.node("MaxPool", {biased}, {{"kernel_shape", std::vector<i64>{1, 1}}}));
  Value* const depthwise = net.node("Conv2D", {norm, net.weights({32, 1, 3, 3}, 9)},
                                    {{"group", i64{32}}, {"pads", std::vector<i64>{1, 1, 1, 1}}});
  Value* const up =
      net.node("Conv2DTranspose", {depthwise, net.weights({32, 16, 2, 2}, 128)}, {{"strides", std::vector<i64>{2, 2}}});
  // Channels behind merged pixels, as a transformer takes them.
  Value* const tokens = net.node("Reshape", {up, net.integers({1, 16, 576})});
  net.output(net.node("TransposeD", {tokens}, {{"perm", std::vector<i64>{0, 2, 1}}}));
  net.output(net.conv(depthwise, 16, 1, 1, 1));
  Value* const row = net.node("Reshape", {depthwise, net.integers({1, 32, 144})});
  net.output(net.node("Conv2D", {row, net.weights({16, 32, 3}, 96)}, {{"pads", std::vector<i64>{1, 1}}}));
  net.output(net.node("Conv2D", {row, net.weights({16, 32, 80}, 2560)}, {{"strides", std::vector<i64>{64}}}));
}

inline Value* layer_norm_nodes(Net& net, Value* x, i64 width) {
  Value* const axes = net.integers({-1});
  Value* const d = net.node("Sub", {x, net.node("ReduceMean", {x, axes})});
  Value* const variance = net.node("ReduceMean", {net.node("Pow", {d, net.number(2)}), axes});
  Value* const y = net.node("RealDiv", {d, net.node("Sqrt", {net.node("Add", {variance, net.number(1e-5)})})});
  return net.node("Add", {net.node("Mul", {y, net.positive({width}, 0.5)}), net.weights({width}, 1)});
}

// A layer of an encoder of `tokens` rows, as exporters write it.
inline void encoder_network(MapNet& net, i64 tokens) {
  constexpr i64 kWidth = 64, kHeads = 2;
  Value* const x = net.input({1, tokens, kWidth});
  const auto linear = [&](Value* v, i64 from, i64 to) {
    Value* const product = net.node("BatchMatMulV2", {v, net.weights({from, to}, static_cast<double>(from))});
    return net.node("Add", {net.weights({to}, 1), product});
  };
  const auto heads = [&](std::vector<i64> perm) {
    Value* const y =
        net.node("Reshape", {linear(x, kWidth, kWidth), net.integers({1, tokens, kHeads, kWidth / kHeads})});
    return net.node("TransposeD", {y}, {{"perm", std::move(perm)}});
  };
  Value *const queries = heads({0, 2, 1, 3}), *const keys = heads({0, 2, 3, 1}), *const values = heads({0, 2, 1, 3});
  Value* const scores =
      net.node("RealDiv", {net.node("BatchMatMulV2", {queries, keys}), net.number(std::sqrt(kWidth / kHeads))});
  Value* const weights = net.node("SoftmaxV2", {scores}, {{"axis", i64{-1}}});
  Value* const sums =
      net.node("TransposeD", {net.node("BatchMatMulV2", {weights, values})}, {{"perm", std::vector<i64>{0, 2, 1, 3}}});
  Value* const together = linear(net.node("Reshape", {sums, net.integers({1, tokens, kWidth})}), kWidth, kWidth);
  Value* const first = layer_norm_nodes(net, net.node("Add", {together, x}), kWidth);
  Value* const inner = linear(first, kWidth, 4 * kWidth);
  Value* const erf = net.node("Erf", {net.node("RealDiv", {inner, net.number(std::sqrt(2.0))})});
  Value* const gelu =
      net.node("Mul", {net.node("Mul", {inner, net.node("Add", {erf, net.number(1)})}), net.number(0.5)});
  Value* const y = linear(gelu, 4 * kWidth, kWidth);
  net.output(layer_norm_nodes(net, net.node("Add", {y, first}), kWidth));
}
inline void encoder_of_blocks(MapNet& net) { encoder_network(net, 48); }
inline void encoder_of_197(MapNet& net) { encoder_network(net, 37); }

// A product with Relu, one whose rows end inside a block, axes that are not the last ones, rows that are taken apart, a
// constant that such rows share, many of them, and such rows of a table.
inline void product_network(MapNet& net) {
  Value* const x = net.input({32, 64});
  Value* const wide = net.node("Relu", {net.node("BatchMatMulV2", {x, net.weights({64, 48}, 64)})});
  net.output(net.node("BatchMatMulV2", {wide, net.weights({48, 10}, 48)}));
  net.output(net.node("SoftmaxV2", {wide}, {{"axis", i64{0}}}));
  net.output(net.node("ReduceMean", {wide, net.integers({0})}));
  net.output(net.node("Abs", {net.node("GatherV2", {wide, net.integers({1, 3, 5})})}));
  net.output(net.node("Mul", {net.input({4, 9, 5}), net.weights({9, 5}, 1)}));
  net.output(net.node("SoftmaxV2", {net.input({300, 10})}, {{"axis", i64{-1}}}));
  net.output(net.node("GatherV2", {net.input({40, 10}), net.input({700}, DataType::i64)}, {{"axis", i64{0}}}));
}

// What folds away, and what is there twice.
inline void redundant_network(MapNet& net) {
  Value* const x = net.input({8, 16, 32});
  const auto same_type = static_cast<i64>(enum_index(DataType::f32));
  Value* y = net.node("Cast", {net.node("Dropout", {net.node("Identity", {x})})}, {{"to", same_type}});
  y = net.node("Mul", {net.node("Add", {y, net.number(0)}), net.number(1)});
  y = net.node("TransposeD", {y}, {{"perm", std::vector<i64>{0, 1, 2}}});
  Value* const to = net.node("GatherV2", {net.node("Shape", {y}), net.integers({1, 0, 2})});
  y = net.node("Reshape", {net.node("Reshape", {y, to}), net.integers({16, 8, 32})});
  y = net.node("TransposeD", {net.node("TransposeD", {y}, {{"perm", std::vector<i64>{1, 2, 0}}})},
               {{"perm", std::vector<i64>{1, 0, 2}}});
  const auto turned = [&](std::vector<i64> perm) { return net.node("TransposeD", {y}, {{"perm", std::move(perm)}}); };
  Value* const pair = net.node("TransposeD", {turned({1, 2, 0})}, {{"perm", std::vector<i64>{2, 0, 1}}});
  net.node("Exp", {net.node("Neg", {x})});  // dead
  Value* const none = net.graph.add_constant("none", Tensor(Array(DataType::f32, {32, 0, 16})));
  Value* const joined = net.node("ConcatD", {pair, none}, {{"axis", i64{1}}});
  Value* const twice = net.node("Add", {net.node("Exp", {joined}), net.node("Exp", {joined})});
  const Array equal(DataType::f32, {16}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7});
  Value* const sum = net.node("Add", {twice, net.graph.add_constant("c", Tensor(equal))});
  Value* const scaled = net.node("Mul", {sum, net.graph.add_constant("d", Tensor(equal))});
  const auto cast = [&](Value* v, DataType type) {
    return net.node("Cast", {v}, {{"to", static_cast<i64>(enum_index(type))}});
  };
  net.output(net.node("Mul", {x, net.node("BroadcastTo", {net.input({16, 1}), net.integers({8, 16, 32})})}));
  Value* const half = net.input({48}, DataType::f16);
  net.output(net.node("Abs", {cast(cast(half, DataType::f32), DataType::f16)}));
  Value* const yes = net.graph.add_constant("yes", Tensor(Array(DataType::boolean, {}, {1})));
  Value* const condition = net.graph.add_input("condition", DataType::boolean, Shape());
  for (Value* const which : {yes, condition}) {
    Node* const node = net.graph.add_node("If", "if", {which, scaled});
    for (const char* const type : {"Neg", "Abs"}) {
      auto& body = node->bodies.emplace_back(std::make_unique<Graph>(type));
      Value* const in = body->add_input("in", DataType::f32, scaled->shape);
      body->outputs = {body->add_node(type, type, {in})->output()};
    }
    infer(*node);
    net.output(node->output());
  }
  Node* const loop = net.graph.add_node("While", "loop", {net.integers({2}), nullptr, scaled});
  loop->attributes["carried"] = i64{1};
  auto& turn = loop->bodies.emplace_back(std::make_unique<Graph>("turn"));
  turn->add_input("turn", DataType::i64, Shape());
  Value* const go = turn->add_input("go", DataType::boolean, Shape());
  Value* const in = turn->add_input("in", DataType::f32, scaled->shape);
  turn->outputs = {go, turn->add_node("Sin", "sin", {in})->output()};
  infer(*loop);
  net.output(loop->output());
}

// QuantizeLinear and DequantizeLinear, as exporters of quantised networks put them around products.
struct QuantisedNet {
  MapNet& net;

  Value* quantised(DataType type, Dims dims, i64 most) {
    Array a(type, std::move(dims));
    for (double& v : a.values)
      v = std::floor(net.random.uniform() * static_cast<double>(most));
    a.round();
    return net.graph.add_constant("q", Tensor(a));
  }
  Value* zero(DataType type, double v) { return net.graph.add_constant("zero", Tensor(Array(type, {}, {v}))); }
  // To bytes and back.
  Value* bytes(Value* x, double scale, DataType type, double point) {
    Value* const q = net.node("AscendQuantV2", {x, net.number(scale), zero(type, point)});
    return net.node("AscendDequantV2", {q, net.number(scale), zero(type, point)});
  }
  Value* filters(Dims dims, i64 axis) {
    Value* const q = quantised(DataType::i8, dims, 127);
    Array scales(DataType::f32, {dims[static_cast<usize>(axis)]});
    for (usize i = 0; i < scales.size(); ++i)
      scales.values[i] = 0.002 * (1 + static_cast<double>(i % 5) / 4);
    scales.round();
    return net.node("AscendDequantV2", {q, net.graph.add_constant("scales", Tensor(scales))}, {{"axis", axis}});
  }
  Value* conv(Value* x, i64 count, i64 kernel, i64 pad) {
    const i64 channels = x->shape[1];
    return net.node("Conv2D", {x, filters({count, channels, kernel, kernel}, 0), net.weights({count}, 1)},
                    {{"pads", std::vector<i64>{pad, pad, pad, pad}}});
  }
};

// A residual block between quantised maps, and a classifier.
inline void quantised_network(MapNet& net) {
  QuantisedNet q{net};
  using enum DataType;
  Value* const x = q.bytes(net.input({2, 24, 10, 10}), 0.01, u8, 100);
  Value* const y = q.bytes(net.node("Relu", {q.conv(x, 32, 3, 1)}), 0.02, u8, 0);
  Value* const z = q.bytes(q.conv(y, 24, 3, 1), 0.03, i8, -5);
  Value* const sum = net.node("Relu", {net.node("Add", {z, x})});
  Value* const mean = net.node("FlattenV2", {net.node("GlobalAveragePool", {sum})});
  Value* const rows = q.bytes(mean, 0.01, i8, 3);
  net.output(net.node("GEMM", {rows, q.filters({20, 24}, 0), net.weights({20}, 1)}, {{"transB", vinci::i64{1}}}));
}

inline const std::vector<PassNetwork>& pass_networks() {
  static const std::vector<PassNetwork> list{{"residual", residual_network},  {"maps", map_network},
                                             {"encoder", encoder_of_blocks},  {"encoder of 37", encoder_of_197},
                                             {"products", product_network},   {"redundant", redundant_network},
                                             {"quantised", quantised_network}};
  return list;
}

}  // namespace vinci::graph
