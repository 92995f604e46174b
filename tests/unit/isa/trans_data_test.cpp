// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/trans_data.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/unit/isa/format_oracle.h"

namespace vinci::isa {
namespace {

using Shape = std::vector<u64>;

std::vector<std::byte> as_elements(const test::Array& a, u32 bytes) {
  std::vector<std::byte> out(a.values.size() * bytes);
  for (usize i = 0; i < a.values.size(); ++i) {
    // 0 stays zero; other numbers differ from their neighbours in every byte that there is, and are not zero.
    const u64 value = a.values[i] == 0 ? 0 : a.values[i] * 0x0101'0101'0101'0101 | u64{1} << 7;
    std::memcpy(out.data() + i * bytes, &value, bytes);
  }
  return out;
}

u32 c0_for(Format format, u32 bytes) {
  return info(format).fixed_c0 != 0 ? info(format).fixed_c0 : c0_of_bits(8 * bytes);
}

std::vector<std::byte> convert(const TensorLayout& from, const std::vector<std::byte>& in, const TensorLayout& to,
                               u32 bytes) {
  std::vector<std::byte> out(to.elements() * bytes, std::byte{0xee});
  trans_data(from, in, to, out, bytes);
  return out;
}

// Between any two formats of the same axes, for every element size, against pad-reshape-transpose.
TEST(TransData, EveryFormatIntoEveryOther) {
  for (const test::FormatCase& a : test::format_cases()) {
    for (const test::FormatCase& b : test::format_cases()) {
      if (info(a.format).axes != info(b.format).axes) continue;
      for (const u32 bytes : {1u, 2u, 4u, 8u}) {
        const test::Array numbers = test::Array::numbered(a.shape);
        const u32 from_c0 = c0_for(a.format, bytes), to_c0 = c0_for(b.format, bytes);
        const auto in = as_elements(test::stored(a, numbers, from_c0), bytes);
        const auto want = as_elements(test::stored(b, numbers, to_c0), bytes);
        const TensorLayout from(a.format, a.shape, from_c0), to(b.format, b.shape, to_c0);
        EXPECT_TRUE(convert(from, in, to, bytes) == want) << name(a.format) << " -> " << name(b.format) << " " << bytes;
      }
    }
  }
}

// Axes longer than the tiles that are copied at a time, in either place.
TEST(TransData, LongAxes) {
  for (const Shape& shape : {Shape{1, 3, 1, 1100}, Shape{1, 1100, 1, 70}, Shape{700, 2, 3, 5}, Shape{1, 1, 1, 1}}) {
    const test::FormatCase plain{Format::NCHW, shape, {}, {0, 1, 2, 3}};
    const test::FormatCase image{Format::NC1HWC0, shape, {{1, true}}, {0, 1, 3, 4, 2}};
    const test::FormatCase weight{Format::FRACTAL_Z, shape, {{0, false}, {2, true}}, {2, 4, 5, 0, 1, 3}};
    const test::Array numbers = test::Array::numbered(shape);
    for (const auto& c : {image, weight}) {
      const TensorLayout from(Format::NCHW, shape, 16), to(c.format, shape, 16);
      const auto in = as_elements(numbers, 2), out = as_elements(test::stored(c, numbers, 16), 2);
      EXPECT_TRUE(convert(from, in, to, 2) == out) << name(c.format);
      EXPECT_TRUE(convert(to, out, from, 2) == in) << name(c.format);
    }
  }
}

// Grouped weights against the offsets of their elements, both ways.
TEST(TransData, GroupedWeights) {
  struct Case {
    Format plain, fractal;
    Shape shape;
    u64 groups;
  };
  for (const Case& c : {Case{Format::NCHW, Format::FRACTAL_Z, {24, 3, 3, 2}, 8},
                        Case{Format::HWCN, Format::FRACTAL_Z, {35, 5, 1, 2}, 5},
                        Case{Format::NCHW, Format::FRACTAL_Z, {96, 32, 1, 1}, 3},
                        Case{Format::NDHWC, Format::FRACTAL_Z_3D, {40, 8, 2, 3, 1}, 5}}) {
    const TensorLayout plain(c.plain, c.shape, 16, c.groups), fractal(c.fractal, c.shape, 16, c.groups);
    test::Array numbers = test::Array::numbered(Shape{plain.elements()});
    const auto in = as_elements(numbers, 4);
    const auto out = convert(plain, in, fractal, 4);
    test::Array want{{}, std::vector<u64>(fractal.elements())};
    for (u64 i = 0; i < plain.elements(); ++i) {
      const auto index = plain.index_at(i);
      ASSERT_TRUE(index);
      want.values[fractal.offset(*index)] = i + 1;
    }
    EXPECT_TRUE(out == as_elements(want, 4)) << name(c.fractal);
    EXPECT_TRUE(convert(fractal, out, plain, 4) == in) << name(c.plain);
  }
}

TEST(TransData, NothingToConvert) {
  const TensorLayout from(Format::NCHW, Shape{2, 0, 3, 3}, 16), to(Format::FRACTAL_Z, Shape{2, 0, 3, 3}, 16);
  EXPECT_EQ(to.elements(), 0u);
  EXPECT_TRUE(convert(from, {}, to, 2).empty());
}

TEST(TransData, FindsPaddingThatIsNotZero) {
  const TensorLayout layout(Format::FRACTAL_NZ, Shape{1, 3, 5}, 16), plain(Format::ND, Shape{1, 3, 5}, 16);
  std::vector<std::byte> data(layout.elements() * 2);
  const auto set = [&](u64 row, u64 col) { data[(row * 16 + col) * 2 + 1] = std::byte{0x80}; };
  for (u64 row = 0; row < 3; ++row) {
    for (u64 col = 0; col < 5; ++col)
      set(row, col);
  }
  EXPECT_EQ(first_nonzero_padding(layout, data, 2), std::nullopt);
  EXPECT_EQ(count_nonzero(data, 2), 15u);
  set(2, 5);
  set(15, 15);
  EXPECT_EQ(first_nonzero_padding(layout, data, 2), 2 * 16 + 5u);
  EXPECT_EQ(count_nonzero(data, 2), 17u);
  EXPECT_EQ(count_nonzero(convert(layout, data, plain, 2), 2), 15u);
}

}  // namespace
}  // namespace vinci::isa
