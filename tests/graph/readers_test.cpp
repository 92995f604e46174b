// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/readers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>

#include "isa/base/error.h"
#include "isa/base/random.h"
#include "tests/graph/network_fixture.h"
#include "tools/graph/import/import.h"
#include "tools/graph/ops/run.h"

// Operators that are read as several nodes: their value is that of the formula in ONNX's or onnxruntime's documents.
namespace vinci::graph {
namespace {

using namespace std::string_literals;

struct OneNode {
  std::string domain, op;
  std::vector<Array> inputs;  // one without elements is absent
  Attributes attributes = {};
  usize outputs = 1;
  i64 opset = 21;
};

Array random_array(Dims dims, u64 seed, DataType type = DataType::f32) {
  Random random(seed);
  Array a(type, std::move(dims));
  for (double& v : a.values)
    v = is_float(type) ? static_cast<double>(random.uniform()) : std::floor(random.uniform() * 100);
  a.round();
  return a;
}
const Array kAbsent(DataType::f32, {0});

Model model_of(const OneNode& node) {
  Model model;
  model.opsets[""] = node.opset;
  model.opsets["com.microsoft"] = 1;
  model.graph.name = "g";
  ModelNode n{.name = "n",
              .domain = node.domain,
              .op = node.op,
              .inputs = {},
              .outputs = {},
              .attributes = node.attributes,
              .bodies = {}};
  for (usize i = 0; i < node.inputs.size(); ++i) {
    const Array& a = node.inputs[i];
    n.inputs.push_back(a.size() == 0 ? "" : "x" + std::to_string(i));
    if (a.size() == 0) continue;
    model.graph.inputs.push_back({.name = n.inputs.back(), .type = a.type, .shape = Shape(a.dims)});
  }
  for (usize i = 0; i < node.outputs; ++i) {
    n.outputs.push_back(node.outputs > 2 && (i == 1 || i == 2) ? "" : "y" + std::to_string(i));
    if (!n.outputs.back().empty()) model.graph.outputs.push_back({.name = n.outputs.back()});
  }
  model.graph.nodes = {n};
  return model;
}
std::vector<Array> value_of(const OneNode& node) {
  std::vector<Array> given;
  std::ranges::copy_if(node.inputs, std::back_inserter(given), [](const Array& a) { return a.size() != 0; });
  return run(*import_model(model_of(node)), given);
}

void expect_near(const Array& got, const Dims& dims, const std::function<double(usize)>& wanted) {
  ASSERT_EQ(got.dims, dims);
  for (usize i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.values[i], wanted(i), 1e-5 * (1 + std::abs(wanted(i)))) << i;
}

double gelu(double v) { return v * (1 + std::erf(v / std::sqrt(2.0))) / 2; }
double tanh_gelu(double v) {
  return v / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v)));
}
double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

TEST(Readers, FunctionsOfAnElement) {
  const Array x = random_array({3, 8}, 1), b = random_array({8}, 2);
  const auto at = [&](usize i) { return x.values[i]; };
  const auto sum = [&](usize i) { return x.values[i] + b.values[i % 8]; };
  struct Case {
    OneNode node;
    std::function<double(usize)> wanted;
  };
  for (const Case& c : {
           Case{{"", "Gelu", {x}}, [&](usize i) { return gelu(at(i)); }},
           Case{{"", "Gelu", {x}, {{"approximate", std::string("tanh")}}}, [&](usize i) { return tanh_gelu(at(i)); }},
           Case{{"", "Mish", {x}}, [&](usize i) { return at(i) * std::tanh(std::log1p(std::exp(at(i)))); }},
           Case{{"", "Swish", {x}}, [&](usize i) { return at(i) * sigmoid(at(i)); }},
           Case{{"com.microsoft", "Gelu", {x}}, [&](usize i) { return gelu(at(i)); }},
           Case{{"com.microsoft", "FastGelu", {x, b}}, [&](usize i) { return tanh_gelu(sum(i)); }},
           Case{{"com.microsoft", "BiasGelu", {x, b}}, [&](usize i) { return gelu(sum(i)); }},
           Case{{"com.microsoft", "QuickGelu", {x}}, [&](usize i) { return at(i) * sigmoid(1.702 * at(i)); }},
       }) {
    SCOPED_TRACE(c.node.op);
    expect_near(value_of(c.node)[0], x.dims, c.wanted);
  }
  EXPECT_THROW(value_of({"", "Gelu", {x}, {{"approximate", std::string("cubic")}}}), Error);
}

std::string refusal(const OneNode& node) {
  try {
    value_of(node);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Readers, RefuseOperandsAndWordsThatTheOperatorDoesNotHave) {
  const Array x = random_array({1, 2, 6, 6}, 1), two = random_array({2}, 2);
  const Array filters = random_array({3, 2, 3, 3}, 3), one(DataType::i64, {1}, {-1}), none(DataType::i64, {0});
  const Array far(DataType::f32, {4}, {1, 1, 1, std::numeric_limits<double>::infinity()});
  const Array nan(DataType::f32, {4}, {1, 1, 1, std::numeric_limits<double>::quiet_NaN()});
  const Array pads(DataType::i64, {8}, {0, 0, 1, 1, 0, 0, 1, 1}), sizes(DataType::i64, {4}, {1, 2, -6, 6});
  struct Case {
    OneNode node;
    std::string message;
  };
  for (const Case& c : {
           Case{{"", "Add", {x}}, "n (Add): input 1 is missing"},
           Case{{"", "Relu", {x, x}}, "n (Relu): it has 2 inputs, at most 1 are known"},
           Case{{"", "Concat", {}}, "n (Concat): input 0 is missing"},
           Case{{"", "Compress", {x, kAbsent}}, "n (Compress): input 1 is missing"},
           Case{{"com.microsoft", "QLinearAdd", {x, two}}, "n (QLinearAdd): input 2 is missing"},
           Case{{"", "Pad", {x, pads}, {{"mode", "reflekt"s}}},
                "n (Pad): there is no mode 'reflekt'; did you mean 'reflect'?"},
           Case{{"", "Conv", {x, filters}, {{"auto_pad", "SAME"s}}}, "n (Conv): there is no auto_pad 'SAME'"},
           Case{{"", "Conv", {x, filters, two}}, "n (Conv2D): a bias of [2] for 3 output channels"},
           Case{{"", "Resize", {x, kAbsent, far}}, "n (Resize): a scale of inf for an extent of 6"},
           Case{{"", "Resize", {x, kAbsent, nan}}, "n (Resize): a scale of nan for an extent of 6"},
           Case{{"", "Resize", {x, kAbsent, kAbsent, sizes}}, "n (Resize): a size of -6"},
           Case{{"", "Resize", {x, kAbsent, kAbsent, pads}}, "n (Resize): 8 sizes"},
           Case{{"",
                 "Resize",
                 {x, kAbsent, random_array({4}, 4)},
                 {{"coordinate_transformation_mode", "tf_crop_and_resize"s}}},
                "n (Resize): a region of 0 numbers for 4 axes"},
           Case{{"", "Split", {x}, {{"num_outputs", i64{3}}, {"axis", i64{3}}}, 2},
                "n (Split): it has 2 outputs, and num_outputs is 3"},
           Case{{"", "Gather", {x, Array(DataType::i64, {2}, {0, 6})}, {{"axis", i64{3}}}},
                "index 6 is not in [-6, 5]"},
           Case{{"", "GatherND", {x, Array(DataType::i64, {1, 2}, {0, -3})}}, "index -3 is not in [-2, 1]"},
           Case{{"", "TopK", {x, one}, {}, 2}, "n (TopKV2): its k is -1"},
       }) {
    SCOPED_TRACE(c.message);
    EXPECT_THAT(refusal(c.node), ::testing::HasSubstr(c.message));
  }
}

TEST(Readers, IntegersWrapExactly) {
  const Array x(DataType::i32, {3}, {2147483647, -2147483648.0, 46341}), u(DataType::u32, {1}, {4294967295.0});
  const std::vector<double> squares = value_of({"", "Mul", {x, x}})[0].values;
  EXPECT_EQ(squares, (std::vector<double>{1, 0, -2147479015}));
  EXPECT_EQ(value_of({"", "Mul", {u, u}})[0].values, std::vector<double>{1});
}

struct Moments {
  double mean = 0, variance = 0, squares = 0;
};
Moments moments_of(const Array& a, usize from, usize count) {
  Moments m;
  for (usize i = from; i < from + count; ++i)
    m.mean += a.values[i] / static_cast<double>(count);
  for (usize i = from; i < from + count; ++i) {
    m.variance += (a.values[i] - m.mean) * (a.values[i] - m.mean) / static_cast<double>(count);
    m.squares += a.values[i] * a.values[i] / static_cast<double>(count);
  }
  return m;
}

// Scale and offset are those of groups before version 21, of channels from then on.
TEST(Readers, GroupNormalization) {
  const Array x = random_array({2, 6, 4, 3}, 3);
  for (const bool by_group : {true, false}) {
    const Array scale = random_array({by_group ? 3 : 6}, 4), offset = random_array({by_group ? 3 : 6}, 5);
    const OneNode node{"", "GroupNormalization", {x, scale, offset}, {{"num_groups", i64{3}}, {"epsilon", 1e-3}}};
    expect_near(value_of(node)[0], x.dims, [&](usize i) {
      const usize group = i / 24, channel = i / 12 % 6, which = by_group ? channel / 2 : channel;
      const Moments m = moments_of(x, group * 24, 24);
      return (x.values[i] - m.mean) / std::sqrt(m.variance + 1e-3) * scale.values[which] + offset.values[which];
    });
  }
  const Array three = random_array({3}, 4);
  EXPECT_THROW(value_of({"", "GroupNormalization", {x, three, three}, {{"num_groups", i64{4}}}}), Error);
}

TEST(Readers, NormsOfRows) {
  const Array x = random_array({2, 5, 8}, 6), skip = random_array({2, 5, 8}, 7);
  const Array scale = random_array({8}, 8), offset = random_array({8}, 9), bias = random_array({8}, 10);
  Array sum = x, biased = x;
  for (usize i = 0; i < x.size(); ++i) {
    sum.values[i] += skip.values[i];
    biased.values[i] = sum.values[i] + bias.values[i % 8];
  }
  const auto rms = [&](const Array& a, usize i, double epsilon) {
    return a.values[i] / std::sqrt(moments_of(a, i / 8 * 8, 8).squares + epsilon) * scale.values[i % 8];
  };
  for (const char* const op : {"RMSNormalization", "SimplifiedLayerNormalization"})
    expect_near(value_of({"", op, {x, scale}})[0], x.dims, [&](usize i) { return rms(x, i, 1e-5); });
  const std::vector<Array> simple =
      value_of({"com.microsoft", "SkipSimplifiedLayerNormalization", {x, skip, scale}, {{"epsilon", 1e-4}}, 4});
  expect_near(simple[0], x.dims, [&](usize i) { return rms(sum, i, 1e-4); });
  expect_near(simple[1], x.dims, [&](usize i) { return sum.values[i]; });
  const std::vector<Array> full =
      value_of({"com.microsoft", "SkipLayerNormalization", {x, skip, scale, offset, bias}, {{"epsilon", 1e-4}}, 4});
  expect_near(full[0], x.dims, [&](usize i) {
    const Moments m = moments_of(biased, i / 8 * 8, 8);
    return (biased.values[i] - m.mean) / std::sqrt(m.variance + 1e-4) * scale.values[i % 8] + offset.values[i % 8];
  });
  expect_near(full[1], x.dims, [&](usize i) { return biased.values[i]; });
}

TEST(Readers, FusedProducts) {
  const Array a = random_array({3, 4}, 11), b = random_array({5, 3}, 12), c = random_array({5}, 13);
  const auto product = [&](usize i) {  // a' * b'
    double sum = 0;
    for (usize k = 0; k < 3; ++k)
      sum += a.values[k * 4 + i / 5] * b.values[i % 5 * 3 + k];
    return sum;
  };
  expect_near(
      value_of({"com.microsoft", "FusedMatMul", {a, b}, {{"transA", i64{1}}, {"transB", i64{1}}, {"alpha", 0.5}}})[0],
      {4, 5}, [&](usize i) { return product(i) / 2; });
  expect_near(value_of({"com.microsoft",
                        "FusedGemm",
                        {a, b, c},
                        {{"transA", i64{1}},
                         {"transB", i64{1}},
                         {"activation", std::string("LeakyRelu")},
                         {"activation_alpha", 0.1}}})[0],
              {4, 5}, [&](usize i) {
                const double v = product(i) + c.values[i % 5];
                return v < 0 ? 0.1 * v : v;
              });
  const Array map = random_array({1, 2, 3, 3}, 14), weights = random_array({2, 2, 1, 1}, 15);
  expect_near(value_of({"com.microsoft", "FusedConv", {map, weights}, {{"activation", std::string("Relu")}}})[0],
              {1, 2, 3, 3}, [&](usize i) {
                return std::max(0.0, map.values[i % 9] * weights.values[i / 9 * 2] +
                                         map.values[9 + i % 9] * weights.values[i / 9 * 2 + 1]);
              });
  EXPECT_THROW(value_of({"com.microsoft", "FusedGemm", {a, b, c}, {{"activation", std::string("Cosine")}}}), Error);
}

Array number(DataType type, double v) { return Array(type, {}, {v}); }

TEST(Readers, QuantisedNodes) {
  const Array a = random_array({4, 6}, 16, DataType::u8), b = random_array({4, 6}, 17, DataType::u8);
  const auto scale = [](double v) { return number(DataType::f32, v); };
  const auto zero = [](double v) { return number(DataType::u8, v); };
  const std::vector<Array> in{a, scale(0.5), zero(3), b, scale(0.25), zero(7), scale(0.125), zero(100)};
  const auto quantised = [](double v) { return std::clamp(std::nearbyint(v / 0.125) + 100, 0.0, 255.0); };
  expect_near(value_of({"com.microsoft", "QLinearAdd", in})[0], a.dims,
              [&](usize i) { return quantised((a.values[i] - 3) * 0.5 + (b.values[i] - 7) * 0.25); });
  const Array rows = random_array({3, 4}, 18, DataType::u8), weights = random_array({4, 5}, 19, DataType::i8);
  const Array bias = random_array({5}, 20);
  expect_near(value_of({"com.microsoft",
                        "MatMulIntegerToFloat",
                        {rows, weights, scale(0.5), scale(0.25), zero(9), kAbsent, bias}})[0],
              {3, 5}, [&](usize i) {
                double sum = 0;
                for (usize k = 0; k < 4; ++k)
                  sum += (rows.values[i / 5 * 4 + k] - 9) * weights.values[k * 5 + i % 5];
                return sum * 0.125 + bias.values[i % 5];
              });
}

// With the bias in units of both scales, and f32 where there is no scale of the result.
TEST(Readers, QuantisedGemm) {
  const Array rows = random_array({3, 4}, 30, DataType::u8), weights = random_array({5, 4}, 31, DataType::i8);
  const Array bias = random_array({5}, 32, DataType::i32), scales(DataType::f32, {5}, {0.25, 0.5, 0.125, 1, 0.75});
  const Array zeros(DataType::i8, {5});
  const auto scale = [](double v) { return number(DataType::f32, v); };
  const auto zero = [](double v) { return number(DataType::u8, v); };
  const auto sum = [&](usize i) {
    double products = bias.values[i % 5];
    for (usize k = 0; k < 4; ++k)
      products += (rows.values[i / 5 * 4 + k] - 9) * weights.values[i % 5 * 4 + k];
    return 2 * 0.5 * scales.values[i % 5] * products;
  };
  OneNode node{"com.microsoft",
               "QGemm",
               {rows, scale(0.5), zero(9), weights, scales, zeros, bias},
               {{"transB", i64{1}}, {"alpha", 2.0}}};
  expect_near(value_of(node)[0], {3, 5}, sum);
  node.inputs.insert(node.inputs.end(), {scale(64), zero(100)});
  expect_near(value_of(node)[0], {3, 5},
              [&](usize i) { return std::clamp(std::nearbyint(sum(i) / 64) + 100, 0.0, 255.0); });
}

TEST(Readers, NormsOfMaps) {
  const Array x = random_array({2, 3, 4, 5}, 33);
  for (const i64 p : {1, 2, 3}) {
    expect_near(value_of({"", "GlobalLpPool", {x}, {{"p", p}}})[0], {2, 3, 1, 1}, [&](usize i) {
      double sum = 0;
      for (usize e = 0; e < 20; ++e)
        sum += std::pow(std::abs(x.values[i * 20 + e]), static_cast<double>(p));
      return std::pow(sum, 1 / static_cast<double>(p));
    });
  }
}

// How many tokens of each sentence count, as EmbedLayerNormalization gives it to Attention.
TEST(Readers, LengthsOfSentences) {
  Array ids(DataType::i32, {2, 4}), mask(DataType::i32, {2, 4}, {1, 1, 1, 1, 1, 1, 0, 0});
  for (usize i = 0; i < 8; ++i)
    ids.values[i] = static_cast<double>(i % 5);
  const Array words = random_array({5, 6}, 34), places = random_array({4, 6}, 35),
              ones(DataType::f32, {6}, {1, 1, 1, 1, 1, 1});
  const Array zeros(DataType::f32, {6});
  const OneNode embed{
      "com.microsoft", "EmbedLayerNormalization", {ids, kAbsent, words, places, kAbsent, ones, zeros, mask}, {}, 2};
  const std::vector<Array> got = value_of(embed);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[1].values, (std::vector<double>{4, 2}));
  const Array weights = random_array({6, 18}, 36);
  const OneNode by_length{"com.microsoft",
                          "Attention",
                          {got[0], weights, Array(DataType::f32, {18}), Array(DataType::i32, {2}, {4, 2})},
                          {{"num_heads", i64{2}}}};
  OneNode by_mask = by_length;
  by_mask.inputs[3] = mask;
  const Array wanted = value_of(by_mask)[0];
  expect_near(value_of(by_length)[0], {2, 4, 6}, [&](usize i) { return wanted.values[i]; });
  OneNode others = by_length;
  others.inputs[3] = Array(DataType::i32, {4}, {4, 2, 0, 0});
  EXPECT_THROW(value_of(others), Error);
}

// Two heads of 3 elements, 4 tokens; the last one is masked in the second sentence.
TEST(Readers, Attention) {
  constexpr usize kTokens = 4, kHeads = 2, kWidth = 3, kAll = kHeads * kWidth;
  const Array q = random_array({2, 4, 6}, 21), k = random_array({2, 4, 6}, 22), v = random_array({2, 4, 6}, 23);
  Array mask(DataType::i32, {2, 4}, {1, 1, 1, 1, 1, 1, 1, 0});
  const auto wanted = [&](usize i) {
    const usize batch = i / (kTokens * kAll), row = i / kAll % kTokens, head = i % kAll / kWidth, element = i % kWidth;
    const auto at = [&](const Array& a, usize token, usize e) {
      return a.values[(batch * kTokens + token) * kAll + head * kWidth + e];
    };
    double total = 0, sum = 0;
    for (usize t = 0; t < kTokens; ++t) {
      double score = mask.values[batch * kTokens + t] == 0 ? -10000 : 0;
      for (usize e = 0; e < kWidth; ++e)
        score += at(q, row, e) * at(k, t, e) / std::sqrt(3.0);
      total += std::exp(score);
      sum += std::exp(score) * at(v, t, element);
    }
    return sum / total;
  };
  expect_near(value_of({"com.microsoft", "MultiHeadAttention", {q, k, v, kAbsent, mask}, {{"num_heads", i64{2}}}})[0],
              q.dims, wanted);
  // The same from one tensor: the weights pick its thirds.
  Array x(DataType::f32, {2, 4, 18}), pick(DataType::f32, {18, 18});
  for (usize row = 0; row < 8; ++row) {
    for (usize e = 0; e < 6; ++e) {
      x.values[row * 18 + e] = q.values[row * 6 + e];
      x.values[row * 18 + 6 + e] = k.values[row * 6 + e];
      x.values[row * 18 + 12 + e] = v.values[row * 6 + e];
    }
  }
  for (usize i = 0; i < 18; ++i)
    pick.values[i * 19] = 1;
  expect_near(
      value_of({"com.microsoft", "Attention", {x, pick, Array(DataType::f32, {18}), mask}, {{"num_heads", i64{2}}}})[0],
      q.dims, wanted);
}

TEST(Readers, RotaryEmbedding) {
  constexpr usize kTokens = 3, kHeads = 2, kWidth = 4;
  const Array x = random_array({1, 3, 8}, 24), cosines = random_array({5, 2}, 25), sines = random_array({5, 2}, 26);
  const Array positions(DataType::i64, {1, 3}, {4, 0, 2});
  for (const bool interleaved : {false, true}) {
    const OneNode node{"com.microsoft",
                       "RotaryEmbedding",
                       {x, positions, cosines, sines},
                       {{"num_heads", i64{2}}, {"interleaved", i64{interleaved}}}};
    expect_near(value_of(node)[0], x.dims, [&](usize i) {
      const usize token = i / (kHeads * kWidth) % kTokens, e = i % kWidth, base = i - e;
      const usize pair = interleaved ? e / 2 : e % 2, side = interleaved ? e % 2 : e / 2;
      const auto angle = static_cast<usize>(positions.values[token]) * 2 + pair;
      const double a = x.values[base + (interleaved ? 2 * pair : pair)];
      const double b = x.values[base + (interleaved ? 2 * pair + 1 : pair + 2)];
      return side == 0 ? a * cosines.values[angle] - b * sines.values[angle]
                       : a * sines.values[angle] + b * cosines.values[angle];
    });
  }
}

TEST(Readers, EllipsesOfEinsum) {
  const Array a = random_array({2, 1, 3, 4}, 41), b = random_array({5, 3, 4}, 42);
  // Axes in front of the letters are the last ones of both, and an extent of 1 is repeated.
  const auto sum = [&](usize i, usize row, usize column) {
    const usize batch = i / 45 % 2, middle = i / 9 % 5;
    double total = 0;
    for (usize k = 0; k < 4; ++k)
      total += a.values[(batch * 3 + row) * 4 + k] * b.values[(middle * 3 + column) * 4 + k];
    return total;
  };
  const auto einsum = [&](const std::string& equation) {
    return value_of({"", "Einsum", {a, b}, {{"equation", equation}}})[0];
  };
  expect_near(einsum("...ij,...kj->...ik"), {2, 5, 3, 3}, [&](usize i) { return sum(i, i / 3 % 3, i % 3); });
  expect_near(einsum("...ij,...kj"), {2, 5, 3, 3}, [&](usize i) { return sum(i, i / 3 % 3, i % 3); });
  EXPECT_THROW(einsum("...ij,...kj->...i.k"), Error);
}

TEST(Readers, CompressByAConstant) {
  // The condition is an input here, and a constant in a model: both choose the same.
  const Array x = random_array({3, 4}, 43), condition(DataType::boolean, {3}, {1, 0, 1});
  const Array wanted = value_of({"", "Compress", {x, condition}, {{"axis", i64{1}}}})[0];
  Model model;
  model.opsets[""] = 21;
  model.graph.name = "g";
  model.graph.inputs.push_back({.name = "x", .type = DataType::f32, .shape = Shape(x.dims)});
  model.graph.outputs.push_back({.name = "y"});
  model.graph.constants["condition"] = Tensor(condition);
  model.graph.nodes.push_back({.name = "n",
                               .domain = "",
                               .op = "Compress",
                               .inputs = {"x", "condition"},
                               .outputs = {"y"},
                               .attributes = {{"axis", i64{1}}},
                               .bodies = {}});
  const std::unique_ptr<Graph> graph = import_model(model);
  EXPECT_EQ(graph->outputs[0]->shape, Shape({3, 2}));
  expect_near(run(*graph, {x})[0], wanted.dims, [&](usize i) { return wanted.values[i]; });
}

// As exporters write it: extents are computed from those of other values, here of the sequence and of the first state.
TEST(Readers, ExtentsThatFollowFromConstants) {
  constexpr i64 kSteps = 5, kBatch = 2, kWidth = 3, kHidden = 4;
  const Array rows = random_array({kSteps * kBatch, kWidth}, 31), weights = random_array({1, 3 * kHidden, kWidth}, 32),
              recurrence = random_array({1, 3 * kHidden, kHidden}, 33);
  Array sequence = rows;
  sequence.dims = {kSteps, kBatch, kWidth};
  const std::vector<Array> wanted = value_of({"", "GRU", {sequence, weights, recurrence}});

  Model model;
  model.opsets[""] = 21;
  ModelGraph& g = model.graph;
  g.name = "g";
  const auto node = [&](std::string op, std::vector<std::string> inputs, std::string output, Attributes a = {}) {
    g.nodes.push_back({.name = output,
                       .domain = "",
                       .op = std::move(op),
                       .inputs = std::move(inputs),
                       .outputs = {output},
                       .attributes = std::move(a),
                       .bodies = {}});
  };
  const auto constant = [&](const std::string& name, const Array& value) { g.constants[name] = Tensor(value); };
  const auto integers = [&](const std::string& name, std::vector<double> values) {
    const auto n = std::ssize(values);
    constant(name, Array(DataType::i64, {n}, std::move(values)));
  };
  g.inputs.push_back({.name = "rows", .type = DataType::f32, .shape = Shape(rows.dims)});
  g.outputs.push_back({.name = "y"});
  constant("weights", weights);
  constant("recurrence", recurrence);
  constant("zero", Array(DataType::f32, {1, 1, kHidden}));
  integers("one", {1});
  integers("steps", {kSteps});
  integers("batch", {kBatch});
  integers("state", {1, kBatch, kHidden});
  node("Shape", {"rows"}, "extents");
  node("Gather", {"extents", "one"}, "width");
  node("Concat", {"steps", "batch", "width"}, "to", {{"axis", i64{0}}});
  node("Reshape", {"rows", "to"}, "sequence");
  node("Identity", {"sequence"}, "again");
  node("Mul", {"state", "one"}, "extents_of_state");
  node("Expand", {"zero", "extents_of_state"}, "first");
  node("GRU", {"again", "weights", "recurrence", "", "", "first"}, "y");
  const std::vector<Array> got = run(*import_model(model), {rows});
  expect_near(got[0], wanted[0].dims, [&](usize i) { return wanted[0].values[i]; });
}

// A node whose operands behind the first are constants.
Array value_with_constants(const std::string& op, const Array& x, const std::vector<Array>& constants,
                           const Attributes& attributes, i64 opset) {
  Model model;
  model.opsets[""] = opset;
  model.graph.name = "g";
  ModelNode n{
      .name = "n", .domain = "", .op = op, .inputs = {"x"}, .outputs = {"y"}, .attributes = attributes, .bodies = {}};
  for (const Array& c : constants) {
    n.inputs.push_back(c.size() == 0 ? "" : "c" + std::to_string(n.inputs.size()));
    if (c.size() != 0) model.graph.constants[n.inputs.back()] = Tensor(c);
  }
  model.graph.inputs.push_back({.name = "x", .type = x.type, .shape = Shape(x.dims)});
  model.graph.outputs.push_back({.name = "y"});
  model.graph.nodes = {n};
  return run(*import_model(model), {x})[0];
}
Array integer_list(std::vector<double> values) {
  const auto n = std::ssize(values);
  return Array(DataType::i64, {n}, std::move(values));
}
Array ramp(Dims dims) {
  Array a(DataType::f32, std::move(dims));
  for (usize i = 0; i < a.size(); ++i)
    a.values[i] = static_cast<double>(i);
  return a;
}

TEST(Readers, AResizeOfSomeAxesOrOneScale) {
  // 12 x 18 into 8 x 30: the smaller scale is 2 / 3, the larger one 5 / 3.
  const Array x = ramp({1, 1, 12, 18});
  const std::vector<Array> sizes{kAbsent, kAbsent, integer_list({30, 8})};
  const std::vector<i64> axes{-1, 2};
  const auto by = [&](const std::string& policy) {
    return value_with_constants("Resize", x, sizes, {{"axes", axes}, {"keep_aspect_ratio_policy", policy}}, 19);
  };
  EXPECT_EQ(by("stretch").dims, (Dims{1, 1, 8, 30}));
  EXPECT_EQ(by("not_larger").dims, (Dims{1, 1, 8, 12}));
  EXPECT_EQ(by("not_smaller").dims, (Dims{1, 1, 20, 30}));
  // Every second column, of each row.
  const Array half =
      value_with_constants("Resize", x, {kAbsent, Array(DataType::f32, {1}, {0.5})},
                           {{"axes", std::vector<i64>{3}}, {"coordinate_transformation_mode", "asymmetric"s}}, 18);
  expect_near(half, {1, 1, 12, 9}, [](usize i) {
    const usize row = i / 9, column = i % 9;
    return static_cast<double>(row * 18 + column * 2);
  });
}

TEST(Readers, AResizeWithAntialiasReadsAllThatItSkips) {
  Array impulse(DataType::f32, {1, 1, 1, 10});
  impulse.values[4] = 1;
  const auto smooth = [&](const std::string& mode) {
    return value_with_constants("Resize", impulse, {kAbsent, Array(DataType::f32, {4}, {1, 1, 1, 0.5})},
                                {{"mode", mode}, {"antialias", i64{1}}}, 18);
  };
  // Element o is at 2 o + 0.5; weights 1 - |d| / 2 at distances d of 0.5 and 1.5 have the sum 2.
  expect_near(smooth("linear"), {1, 1, 1, 5}, [](usize o) { return o == 2 ? 0.375 : o == 1 ? 0.125 : 0; });
  const auto cubic = [](double d) {
    constexpr double a = -0.75;
    d = std::abs(d);
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
  };
  const double all = 2 * (cubic(0.25) + cubic(0.75) + cubic(1.25) + cubic(1.75));
  expect_near(smooth("cubic"), {1, 1, 1, 5},
              [&](usize o) { return cubic((2 * static_cast<double>(o) + 0.5 - 4) / 2) / all; });
}

TEST(Readers, AResizeKeepsTheMiddle) {
  // 4 * 0.6 = 2.4 elements, of which two are made, at 0.666.. and 2.333...
  const Array y =
      value_with_constants("Resize", ramp({1, 1, 1, 4}), {kAbsent, Array(DataType::f32, {4}, {1, 1, 1, 0.6})},
                           {{"mode", "linear"s}, {"coordinate_transformation_mode", "half_pixel_symmetric"s}}, 19);
  expect_near(y, {1, 1, 1, 2}, [](usize o) { return o == 0 ? 2.0 / 3 : 7.0 / 3; });
}

TEST(Readers, AReductionOfNoAxes) {
  const Array x = ramp({2, 3});
  const auto sum = [&](const std::vector<Array>& axes, i64 noop) {
    return value_with_constants("ReduceSum", x, axes, {{"noop_with_empty_axes", noop}}, 18);
  };
  expect_near(sum({}, 1), {2, 3}, [](usize i) { return static_cast<double>(i); });
  expect_near(sum({}, 0), {1, 1}, [](usize) { return 15; });
  expect_near(sum({integer_list({1})}, 1), {2, 1}, [](usize i) { return i == 0 ? 3 : 12; });
}

TEST(Readers, PadsOfSomeAxesAndAround) {
  const Array x = ramp({2, 3});
  const Array around = value_with_constants("Pad", x, {integer_list({0, 2, 1, 4})}, {{"mode", "wrap"s}}, 19);
  expect_near(around, {3, 9}, [](usize i) {
    const usize row = i / 9, column = i % 9;
    return static_cast<double>(row % 2 * 3 + (column + 1) % 3);
  });
  const Array some =
      value_with_constants("Pad", x, {integer_list({1, 1}), kAbsent, integer_list({-1})}, {{"mode", "edge"s}}, 18);
  expect_near(some, {2, 5}, [](usize i) {
    const usize row = i / 5, column = i % 5;
    return static_cast<double>(row * 3 + std::clamp<usize>(column, 1, 3) - 1);
  });
}

// One channel of a map at a place of the grid, by the formulas of ONNX.
struct GridFormula {
  std::string mode, padding;
  bool align;

  double reflected(double v, i64 extent) const {
    const double least = align ? 0 : -0.5, most = static_cast<double>(extent - 1) - least;
    if (most == least) return 0;
    while (v < least || v > most)
      v = v < least ? 2 * least - v : 2 * most - v;
    return v;
  }
  double inside(double v, i64 extent) const {
    if (padding == "zeros") return v;
    return std::clamp(padding == "reflection" ? reflected(v, extent) : v, 0.0, static_cast<double>(extent - 1));
  }
  // Positions with weights.
  std::vector<std::pair<double, double>> taps(double of_grid, i64 extent) const {
    const auto n = static_cast<double>(extent);
    const double at = align ? (of_grid + 1) / 2 * (n - 1) : ((of_grid + 1) * n - 1) / 2;
    if (mode == "bicubic") {
      std::vector<std::pair<double, double>> out;
      for (const int step : {-1, 0, 1, 2}) {
        constexpr double a = -0.75;
        const double tap = std::floor(at) + step, d = std::abs(at - tap);
        out.emplace_back(inside(tap, extent),
                         d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a);
      }
      return out;
    }
    const double v = inside(at, extent);
    if (mode == "nearest") return {{std::nearbyint(v), 1}};
    return {{std::floor(v), std::floor(v) + 1 - v}, {std::floor(v) + 1, v - std::floor(v)}};
  }
  double value(const double* map, i64 rows, i64 columns, double x, double y) const {
    double sum = 0;
    for (const auto& [row, of_row] : taps(y, rows)) {
      for (const auto& [column, of_column] : taps(x, columns)) {
        if (row < 0 || column < 0 || row >= static_cast<double>(rows) || column >= static_cast<double>(columns))
          continue;
        sum += of_row * of_column * map[static_cast<i64>(row) * columns + static_cast<i64>(column)];
      }
    }
    return sum;
  }
};

// Few points of a large map, and many of a small one; channels that fill blocks, and that do not; maps of one row.
TEST(Readers, GridSample) {
  struct Case {
    Dims map, grid;
  };
  for (const Case& c : {Case{{2, 3, 5, 7}, {2, 4, 6, 2}}, Case{{1, 16, 40, 30}, {1, 2, 2, 2}},
                        Case{{2, 17, 3, 4}, {2, 9, 5, 2}}, Case{{1, 1, 1, 9}, {1, 5, 5, 2}}}) {
    const Array map = random_array(c.map, 81);
    Array grid = random_array(c.grid, 82);
    for (double& v : grid.values)
      v *= 2.2;
    grid.round();
    const i64 pixels = c.map[2] * c.map[3], points = c.grid[1] * c.grid[2];
    for (const char* const mode : {"bilinear", "nearest", "bicubic"}) {
      for (const char* const padding : {"zeros", "border", "reflection"}) {
        for (const bool align : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} of {}", mode, padding, align, text(Shape(c.map))));
          const GridFormula formula{mode, padding, align};
          const Array got = value_of(
              {"",
               "GridSample",
               {map, grid},
               {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", i64{align}}},
               1,
               16})[0];
          expect_near(got, {c.map[0], c.map[1], c.grid[1], c.grid[2]}, [&](usize i) {
            const auto image = static_cast<i64>(i) / points / c.map[1];
            const double* const at =
                &grid.values[static_cast<usize>((image * points + static_cast<i64>(i) % points) * 2)];
            const double* const of_map = &map.values[static_cast<usize>(static_cast<i64>(i) / points * pixels)];
            return formula.value(of_map, c.map[2], c.map[3], at[0], at[1]);
          });
        }
      }
    }
  }
}

// On a device no node goes element by element.
TEST(Readers, GridSampleCopiesPixels) {
  for (const char* const chip : {"ascend-310p3", "ascend-910b1"}) {
    for (const Dims& of_map : {Dims{1, 24, 20, 20}, Dims{2, 3, 9, 11}}) {
      const Array map = random_array(of_map, 83), grid = random_array({of_map[0], 20, 20, 2}, 84);
      for (const char* const mode : {"bilinear", "nearest", "bicubic"}) {
        SCOPED_TRACE(fmt::format("{} of {} on {}", mode, text(Shape(of_map)), chip));
        const Network network =
            compile(import_model(model_of({"", "GridSample", {map, grid}, {{"mode", std::string(mode)}}, 1, 16})),
                    config::load_chip(chip));
        for (const CompiledNode& n : network.nodes)
          EXPECT_NE(n.kernel->name, "scalar") << n.node->type;
        for (const NodeCheck& row : check_nodes(network, {map, grid}))
          EXPECT_TRUE(row.right()) << row.node->node->type << ": " << row.error;
        EXPECT_THAT(run_on_device(network, {map, grid}).findings, ::testing::IsEmpty());
      }
    }
  }
}

}  // namespace
}  // namespace vinci::graph
