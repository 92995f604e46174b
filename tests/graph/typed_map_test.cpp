// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <array>

#include "tests/graph/network_fixture.h"

// Maps of other types than f16, by node: convolutions, TransData, quantisation.
namespace vinci::graph {
namespace {

class TypedMaps : public NetworkTest {
 protected:
  static bool joint() { return config::load_chip(GetParam()).vector_cores == 0; }
  // As it is, without passes that change types.
  static Network compiled(TypedNet& net, Value* output) {
    net.graph.outputs = {output};
    return compile(std::move(net.owned), config::load_chip(GetParam()),
                   {.precision = PrecisionMode::must_keep_origin_dtype});
  }
  static void expect_right(TypedNet& net, Value* output, const std::vector<std::string_view>& wanted) {
    const Network network = compiled(net, output);
    checked(network);
    race_free(network);
    EXPECT_EQ(kernels(network), wanted);
  }
};

struct Shape4 {
  i64 channels, height, width, filters, kernel, stride, pad;
};
constexpr auto kShapes = std::to_array<Shape4>({{32, 8, 8, 32, 3, 1, 1},
                                                {3, 17, 13, 20, 3, 2, 1},
                                                {40, 9, 7, 24, 1, 1, 0},
                                                {72, 14, 14, 136, 3, 1, 1},
                                                {8, 33, 31, 10, 5, 2, 2},
                                                {256, 7, 7, 64, 3, 1, 1}});
std::string text(const Shape4& s) {
  return fmt::format("{} channels of {} x {}, {} filters of {}, stride {}, pad {}", s.channels, s.height, s.width,
                     s.filters, s.kernel, s.stride, s.pad);
}

Value* conv(TypedNet& net, Value* map, const Shape4& s, DataType weights, DataType bias, Attributes attributes = {}) {
  attributes["strides"] = std::vector<i64>{s.stride, s.stride};
  attributes["pads"] = std::vector<i64>{s.pad, s.pad, s.pad, s.pad};
  const i64 groups = attributes.contains("group") ? std::get<i64>(attributes["group"]) : 1;
  return net.node(
      "Conv2D",
      {map, net.typed({s.filters, s.channels / groups, s.kernel, s.kernel}, weights), net.typed({s.filters}, bias)},
      attributes);
}

TEST_P(TypedMaps, ConvolutionsOfFloats) {
  for (const DataType type : {DataType::bf16, DataType::f32}) {
    for (const Shape4& s : kShapes) {
      SCOPED_TRACE(fmt::format("{}: {}", info(type).name, text(s)));
      TypedNet net;
      Value* const y = conv(net, net.input({2, s.channels, s.height, s.width}, type), s, type, DataType::f32);
      if (joint()) {
        EXPECT_THROW(compiled(net, y), Error);
        continue;
      }
      expect_right(net, y, {"trans_data", "convolution", "trans_data"});
      TypedNet relu;
      expect_right(
          relu,
          relu.node("Relu", {conv(relu, relu.input({1, s.channels, s.height, s.width}, type), s, type, DataType::f32)}),
          {"trans_data", "convolution", "trans_data"});
    }
  }
}

// Maps of f32 stay in NC1HWC0 between convolutions, with what is added to them.
TEST_P(TypedMaps, ABlockOfF32) {
  if (joint()) return;
  TypedNet net;
  const Shape4 s{24, 10, 10, 24, 3, 1, 1};
  Value* const x = net.input({1, 24, 10, 10});
  Value* const y = net.node("Relu", {conv(net, x, s, DataType::f32, DataType::f32)});
  Value* const z = net.node("Add", {conv(net, y, s, DataType::f32, DataType::f32), y});
  expect_right(net, net.node("Relu", {z}), {"trans_data", "convolution", "convolution", "elementwise", "trans_data"});
}

TEST_P(TypedMaps, GroupsOfF32) {
  if (joint()) return;
  for (const i64 groups : {2, 24}) {
    TypedNet net;
    const Shape4 s{24, 10, 10, 48, 3, 1, 1};
    expect_right(net, conv(net, net.input({1, 24, 10, 10}), s, DataType::f32, DataType::f32, {{"group", groups}}),
                 {"trans_data", "convolution", "trans_data"});
  }
}

TEST_P(TypedMaps, QuantisedAndBack) {
  for (const DataType type : {DataType::i8, DataType::u8}) {
    for (const Shape& shape : {Shape{1, 64, 8, 8}, Shape{2, 3, 17, 13}, Shape{1, 40, 31, 33}, Shape{1, 16, 50, 50}}) {
      SCOPED_TRACE(vinci::graph::text(shape));
      TypedNet net;
      const double offset = type == DataType::u8 ? 100 : -3;
      Value* const q = net.node("AscendQuant", {net.input(shape, DataType::f16)},
                                {{"scale", 90.0}, {"offset", offset}, {"dtype", static_cast<i64>(enum_index(type))}});
      expect_right(net, net.node("AscendAntiQuant", {q}, {{"scale", 1.0 / 90}, {"offset", -offset}}),
                   {"trans_data", "quantise", "quantise", "trans_data"});
    }
  }
}

// Bytes times bytes, and what becomes of the sums.
TEST_P(TypedMaps, ConvolutionsOfBytes) {
  for (const DataType type : {DataType::i8, DataType::u8}) {
    for (const Shape4& s : kShapes) {
      SCOPED_TRACE(fmt::format("{}: {}", info(type).name, text(s)));
      const double scale = 0.5 / static_cast<double>(s.channels * s.kernel * s.kernel);
      const auto sums = [&](TypedNet& net) {
        Value* const q = net.node("AscendQuant", {net.input({2, s.channels, s.height, s.width}, DataType::f16)},
                                  {{"scale", 90.0}, {"offset", 7.0}, {"dtype", static_cast<i64>(enum_index(type))}});
        return conv(net, q, s, DataType::i8, DataType::i32, {{"offset_x", i64{7}}});
      };
      // The c100 does not transpose maps of 32 bits.
      if (config::load_chip(GetParam()).arch != isa::Arch::c100) {
        TypedNet plain;
        expect_right(plain, sums(plain), {"trans_data", "quantise", "convolution", "trans_data"});
      }
      TypedNet scaled;
      expect_right(scaled,
                   scaled.node("Relu", {scaled.node("AscendDequant",
                                                    {sums(scaled), scaled.parameters(s.filters, scale, 0, false)},
                                                    {{"axis", i64{1}}})}),
                   {"trans_data", "quantise", "convolution", "trans_data"});
      if (joint() || (s.filters + 15) / 16 % 2 != 0) continue;
      TypedNet bytes;
      Value* const y = bytes.node("AscendRequant", {sums(bytes), bytes.parameters(s.filters, scale, -3, true)},
                                  {{"axis", i64{1}}, {"relu_flag", i64{1}}});
      expect_right(bytes, bytes.node("AscendAntiQuant", {y}, {{"scale", 0.25}}),
                   {"trans_data", "quantise", "convolution", "quantise", "trans_data"});
    }
  }
}

TEST_P(TypedMaps, GroupsOfBytes) {
  for (const i64 groups : {2, 64}) {
    TypedNet net;
    const Shape4 s{64, 10, 10, 128, 3, 1, 1};
    Value* const q = net.node("AscendQuant", {net.input({1, 64, 10, 10}, DataType::f16)}, {{"scale", 90.0}});
    Value* const y = conv(net, q, s, DataType::i8, DataType::i32, {{"group", groups}});
    expect_right(net, net.node("AscendDequant", {y, net.parameters(128, 1e-3, 0, false)}, {{"axis", i64{1}}}),
                 {"trans_data", "quantise", "convolution", "trans_data"});
  }
}

// Behind a map, planes whose ends fill no blocks of 32 B, by all cores where a plane has 16 positions.
TEST_P(TypedMaps, PlanesThatFillNoBlocks) {
  for (const auto& [height, width] : std::to_array<std::array<i64, 2>>(
           {{1, 2}, {1, 3}, {5, 3}, {1, 17}, {4, 6}, {7, 7}, {31, 33}, {45, 47}, {1, 4003}, {97, 121}})) {
    SCOPED_TRACE(fmt::format("{} x {}", height, width));
    const Shape4 s{20, height, width, 40, 1, 1, 0};
    TypedNet net;
    Value* const x = net.input({2, s.channels, height, width}, DataType::f16);
    const Network network = compiled(net, conv(net, x, s, DataType::f16, DataType::f16));
    checked(network);
    race_free(network);
    EXPECT_EQ(kernels(network).back(), "trans_data");
    EXPECT_EQ(network.nodes.back().program.blocks == 1, joint() && height * width < 16);
    if (config::load_chip(GetParam()).arch == isa::Arch::c100) continue;
    TypedNet sums;
    Value* const q = sums.node("AscendQuant", {sums.input({2, s.channels, height, width}, DataType::f16)},
                               {{"scale", 90.0}, {"offset", 7.0}});
    expect_right(sums, conv(sums, q, s, DataType::i8, DataType::i32, {{"offset_x", i64{7}}}),
                 {"trans_data", "quantise", "convolution", "trans_data"});
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, TypedMaps, ::testing::Values("ascend-910b1", "ascend-310p3", "ascend-910a"));

}  // namespace
}  // namespace vinci::graph
