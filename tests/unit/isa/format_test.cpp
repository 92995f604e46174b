// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/mem/format.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/isa/format_oracle.h"

namespace vinci::isa {
namespace {

using Shape = std::vector<u64>;
using Index = TensorLayout::Index;

// Calls f for every index of a shape.
void each_index(const Shape& shape, const std::function<void(const Index&)>& f) {
  Index at{};
  u64 count = 1;
  for (const u64 n : shape)
    count *= n;
  for (; count > 0; --count) {
    f(at);
    for (usize i = shape.size(); i-- > 0 && ++at[i] == shape[i];)
      at[i] = 0;
  }
}

// The published formulas, written out. Axes as FormatInfo::axes, e[] their extents.
TEST(Format, OffsetsFollowThePublishedFormulas) {
  struct Case {
    Format format;
    Shape shape;
    std::function<u64(const Index& i, const Shape& e, u64 c0)> offset;
  };
  const auto up = [](u64 a, u64 b) { return (a + b - 1) / b; };
  const Shape matrix{3, 37, 41}, image{18, 35, 3, 5}, volume{17, 33, 2, 3, 5};
  const std::vector<Case> cases{
      {Format::FRACTAL_NZ, matrix,
       [&](const Index& i, const Shape& e, u64 c0) {
         const u64 m1 = up(e[1], 16), n1 = up(e[2], c0);
         return i[0] * m1 * n1 * 16 * c0 + (i[2] / c0 * m1 + i[1] / 16) * 16 * c0 + i[1] % 16 * c0 + i[2] % c0;
       }},
      {Format::FRACTAL_ZZ, matrix,
       [&](const Index& i, const Shape& e, u64 c0) {
         const u64 m1 = up(e[1], 16), k1 = up(e[2], c0);
         return i[0] * m1 * k1 * 16 * c0 + (i[1] / 16 * k1 + i[2] / c0) * 16 * c0 + i[1] % 16 * c0 + i[2] % c0;
       }},
      {Format::nZ, matrix,
       [&](const Index& i, const Shape& e, u64 c0) {
         const u64 k1 = up(e[1], c0), n1 = up(e[2], 16);
         return i[0] * k1 * n1 * 16 * c0 + (i[1] / c0 * n1 + i[2] / 16) * 16 * c0 + i[2] % 16 * c0 + i[1] % c0;
       }},
      {Format::nN, matrix,
       [&](const Index& i, const Shape& e, u64 c0) {
         const u64 k1 = up(e[1], c0), n1 = up(e[2], 16);
         return i[0] * k1 * n1 * 16 * c0 + (i[2] / 16 * k1 + i[1] / c0) * 16 * c0 + i[2] % 16 * c0 + i[1] % c0;
       }},
      {Format::NC1HWC0, image,
       [&](const Index& i, const Shape& e, u64 c0) {
         return (((i[0] * up(e[1], c0) + i[1] / c0) * e[2] + i[2]) * e[3] + i[3]) * c0 + i[1] % c0;
       }},
      {Format::FRACTAL_Z, image,
       [&](const Index& i, const Shape& e, u64 c0) {
         const u64 row = (i[1] / c0 * e[2] + i[2]) * e[3] + i[3];
         return (row * up(e[0], 16) + i[0] / 16) * 16 * c0 + i[0] % 16 * c0 + i[1] % c0;
       }},
      {Format::C1HWNCoC0, image,
       [&](const Index& i, const Shape& e, u64 c0) {
         const u64 co = i[1] % c0;
         return ((((i[1] / c0 * e[2] + i[2]) * e[3] + i[3]) * e[0] + i[0]) * c0 + co) * c0 + i[1] % c0;
       }},
      {Format::NDC1HWC0, volume,
       [&](const Index& i, const Shape& e, u64 c0) {
         return ((((i[0] * e[2] + i[2]) * up(e[1], c0) + i[1] / c0) * e[3] + i[3]) * e[4] + i[4]) * c0 + i[1] % c0;
       }},
      {Format::FRACTAL_Z_3D, volume,
       [&](const Index& i, const Shape& e, u64 c0) {
         const u64 row = ((i[2] * up(e[1], c0) + i[1] / c0) * e[3] + i[3]) * e[4] + i[4];
         return (row * up(e[0], 16) + i[0] / 16) * 16 * c0 + i[0] % 16 * c0 + i[1] % c0;
       }},
  };
  for (const Case& c : cases) {
    for (const u32 c0 : {8u, 16u, 32u, 64u}) {
      const TensorLayout layout(c.format, c.shape, c0);
      u64 wrong = 0;
      each_index(c.shape, [&](const Index& i) { wrong += layout.offset(i) != c.offset(i, c.shape, c0); });
      EXPECT_EQ(wrong, 0u) << name(c.format) << " C0 " << c0;
    }
  }
}

// The same places as a tensor of element numbers that is padded, reshaped and transposed.
TEST(Format, StorageIsPadReshapeTranspose) {
  for (const test::FormatCase& c : test::format_cases()) {
    for (const u32 c0 : {8u, 16u, 32u}) {
      const u32 split = info(c.format).fixed_c0 != 0 ? info(c.format).fixed_c0 : c0;
      const test::Array stored = test::stored(c, test::Array::numbered(c.shape), split);
      const TensorLayout layout(c.format, c.shape, c0);
      ASSERT_EQ(layout.elements(), stored.values.size()) << name(c.format);
      u64 wrong = 0, number = 0;
      each_index(c.shape, [&](const Index& i) { wrong += stored.values[layout.offset(i)] != ++number; });
      EXPECT_EQ(wrong, 0u) << name(c.format) << " C0 " << c0;
      // What is not an element is zero there, and padding here.
      for (u64 at = 0; at < layout.elements(); ++at)
        wrong += (stored.values[at] == 0) == layout.index_at(at).has_value();
      EXPECT_EQ(wrong, 0u) << name(c.format) << " C0 " << c0;
    }
  }
}

TEST(Format, OffsetAndInverseAreInverse) {
  struct Case {
    Shape shape;
    u64 groups;
  };
  for (usize f = 0; f < kFormats.size(); ++f) {
    const Format format = static_cast<Format>(f);
    std::vector<Case> cases;
    if (info(format).axes == "BMN") cases = {{{1, 1, 1}, 1}, {{2, 33, 17}, 1}, {{3, 16, 64}, 1}, {{0, 5, 5}, 1}};
    if (info(format).axes == "NCHW") {
      cases = {{{1, 1, 1, 1}, 1},  {{19, 21, 3, 5}, 1}, {{2, 64, 4, 4}, 1}, {{2, 0, 4, 4}, 1},
               {{24, 3, 3, 2}, 8}, {{32, 16, 1, 3}, 2}, {{21, 5, 2, 2}, 7}};
    }
    if (info(format).axes == "NCDHW")
      cases = {{{1, 1, 1, 1, 1}, 1}, {{17, 19, 2, 3, 5}, 1}, {{2, 32, 3, 1, 4}, 1}, {{12, 5, 2, 2, 3}, 6}};
    ASSERT_FALSE(cases.empty());
    for (const Case& c : cases) {
      for (const u32 c0 : {8u, 16u, 32u}) {
        const TensorLayout layout(format, c.shape, c0, c.groups);
        u64 valid = 0, elements = 0;
        for (u64 at = 0; at < layout.elements(); ++at) {
          const auto index = layout.index_at(at);
          if (!index) continue;
          ++valid;
          ASSERT_EQ(layout.offset(*index), at) << name(format);
        }
        each_index(c.shape, [&](const Index& i) {
          ++elements;
          ASSERT_LT(layout.offset(i), layout.elements()) << name(format);
          ASSERT_EQ(layout.index_at(layout.offset(i)), i) << name(format);
        });
        EXPECT_EQ(valid, elements) << name(format);
        EXPECT_EQ(layout.valid_elements(), elements) << name(format);
      }
    }
  }
}

// Weights of a grouped convolution are the FRACTAL_Z, one after the other, of dense weights whose diagonal blocks are
// the groups.
TEST(Format, GroupedWeightsAreBlocksOnADiagonal) {
  struct Case {
    u64 groups, n, c, merged;  // output and input channels of one group; groups that share fractals (C0 = 16)
  };
  for (const Case& weights :
       {Case{8, 3, 5, 8}, Case{4, 8, 8, 2}, Case{5, 8, 4, 4}, Case{3, 16, 32, 1}, Case{64, 1, 1, 16}}) {
    constexpr u64 kH = 2, kW = 3;
    const u64 groups = weights.groups, n = weights.n, c = weights.c, merged = weights.merged;
    const u64 blocks = (groups + merged - 1) / merged;
    const TensorLayout layout(Format::FRACTAL_Z, Shape{groups * n, c, kH, kW}, 16, groups);
    const Shape dense_shape{merged * n, merged * c, kH, kW};
    const TensorLayout dense(Format::FRACTAL_Z, dense_shape, 16);
    EXPECT_EQ(layout.elements(), blocks * dense.elements());
    EXPECT_EQ(layout.dim(0), blocks * ((merged * c + 15) / 16) * kH * kW);
    each_index({groups * n, c, kH, kW}, [&](const Index& i) {
      const u64 group = i[0] / n, member = group % merged;
      const Index in_block{member * n + i[0] % n, member * c + i[1], i[2], i[3]};
      ASSERT_EQ(layout.offset(i), group / merged * dense.elements() + dense.offset(in_block)) << groups;
    });
  }
  const TensorLayout one(Format::FRACTAL_Z_3D, Shape{8, 4, 2, 1, 1}, 16, 2);  // both groups in one block
  EXPECT_EQ(one.offset(Index{5, 3, 1, 0, 0}), 256 + 5 * 16 + 7u);
}

// A convolution is a product of fractals: img2col of NC1HWC0 (rows: output pixels; columns: c1, kh, kw, c0) times
// FRACTAL_Z as the nZ matrix that it is, with the accumulator read as NC1HWC0.
TEST(Format, ConvolutionIsAFractalGemm) {
  constexpr u64 kN = 21, kC = 19, kH = 6, kW = 10, kKh = 3, kKw = 3, kHo = kH - kKh + 1, kWo = kW - kKw + 1, kC0 = 16;
  static_assert(kHo * kWo % 16 == 0, "else the accumulator has rows of padding that NC1HWC0 has not");
  const TensorLayout image(Format::NC1HWC0, Shape{1, kC, kH, kW}, kC0);
  const TensorLayout weights(Format::FRACTAL_Z, Shape{kN, kC, kKh, kKw}, kC0);
  const u64 k = 2 * kKh * kKw * kC0;  // C1 = 2
  const TensorLayout a(Format::FRACTAL_ZZ, Shape{1, kHo * kWo, k}, kC0), b(Format::nZ, Shape{1, k, kN}, kC0);
  const TensorLayout acc(Format::FRACTAL_NZ, Shape{1, kHo * kWo, kN}, 16);
  const TensorLayout result(Format::NC1HWC0, Shape{1, kN, kHo, kWo}, 16);
  ASSERT_EQ(weights.elements(), b.elements());
  ASSERT_EQ(acc.elements(), result.elements());

  const auto x = [](u64 c, u64 h, u64 w) { return static_cast<int>((c * 31 + h * 7 + w * 3) % 11) - 5; };
  const auto f = [](u64 n, u64 c, u64 h, u64 w) { return static_cast<int>((n * 13 + c * 5 + h * 3 + w) % 7) - 3; };
  std::vector<int> in(image.elements()), weight(weights.elements()), left(a.elements()), out(acc.elements());
  each_index({1, kC, kH, kW}, [&](const Index& i) { in[image.offset(i)] = x(i[1], i[2], i[3]); });
  each_index({kN, kC, kKh, kKw}, [&](const Index& i) { weight[weights.offset(i)] = f(i[0], i[1], i[2], i[3]); });
  for (u64 m = 0; m < kHo * kWo; ++m) {
    for (u64 col = 0; col < k; ++col) {
      const u64 c0 = col % kC0, kw = col / kC0 % kKw, kh = col / kC0 / kKw % kKh, c1 = col / kC0 / kKw / kKh;
      left[a.offset(Index{0, m, col})] = in[((c1 * kH + m / kWo + kh) * kW + m % kWo + kw) * kC0 + c0];
    }
  }
  for (u64 m = 0; m < kHo * kWo; ++m) {
    for (u64 n = 0; n < kN; ++n) {
      for (u64 i = 0; i < k; ++i)
        out[acc.offset(Index{0, m, n})] += left[a.offset(Index{0, m, i})] * weight[b.offset(Index{0, i, n})];
    }
  }
  each_index({1, kN, kHo, kWo}, [&](const Index& i) {
    int sum = 0;
    for (u64 c = 0; c < kC; ++c) {
      for (u64 h = 0; h < kKh; ++h) {
        for (u64 w = 0; w < kKw; ++w)
          sum += x(c, i[2] + h, i[3] + w) * f(i[1], c, h, w);
      }
    }
    ASSERT_EQ(out[result.offset(i)], sum);
  });
}

TEST(Format, SizesComeFromTheElement) {
  EXPECT_EQ(c0_of_bits(16), 16u);
  EXPECT_EQ(c0_of_bits(8), 32u);
  EXPECT_EQ(c0_of_bits(32), 8u);
  EXPECT_EQ(c0_of_bits(4), 64u);
  EXPECT_EQ(TensorLayout(Format::NC1HWC0_C04, Shape{1, 3, 2, 2}, 16).elements(), 16u);
}

TEST(Format, StorageShapes) {
  const auto shape = [](Format f, const Shape& s, u32 c0 = 16) { return storage_shape(tensor_layout(f, s, c0), s); };
  EXPECT_EQ(shape(Format::ND, {2, 3, 4, 5}), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(shape(Format::FRACTAL_NZ, {17, 33}), (Shape{3, 2, 16, 16}));
  EXPECT_EQ(shape(Format::FRACTAL_NZ, {2, 3, 17, 33}, 32), (Shape{2, 3, 2, 2, 16, 32}));
  EXPECT_EQ(shape(Format::nZ, {33, 17}, 32), (Shape{2, 2, 16, 32}));
  EXPECT_EQ(shape(Format::HWCN, {64, 3, 7, 5}), (Shape{7, 5, 3, 64}));
  EXPECT_EQ(shape(Format::NC1HWC0, {2, 17, 4, 5}), (Shape{2, 2, 4, 5, 16}));
  EXPECT_EQ(shape(Format::FRACTAL_Z, {64, 17, 3, 3}), (Shape{18, 4, 16, 16}));
  EXPECT_EQ(shape(Format::FRACTAL_Z_3D, {64, 17, 2, 3, 3}), (Shape{36, 4, 16, 16}));
  EXPECT_EQ(shape(Format::C1HWNCoC0, {1, 17, 3, 3}), (Shape{2, 3, 3, 1, 16, 16}));
  EXPECT_EQ(shape(Format::NDC1HWC0, {2, 17, 3, 4, 5}), (Shape{2, 3, 2, 4, 5, 16}));
}

TEST(Format, EveryNameMeansOneFormat) {
  std::set<std::string> names;
  std::set<int> numbers;
  for (usize i = 0; i < kFormats.size(); ++i) {
    std::string words = std::string(kFormats[i].name) + " " + std::string(kFormats[i].other_names) + " ";
    for (usize at; (at = words.find(' ')) != std::string::npos; words.erase(0, at + 1)) {
      if (at == 0) continue;
      EXPECT_TRUE(names.insert(words.substr(0, at)).second) << words;
      EXPECT_EQ(parse_format(words.substr(0, at)), static_cast<Format>(i));
    }
    const int number = kFormats[i].ge_format;
    EXPECT_TRUE(number < 0 || numbers.insert(number).second) << kFormats[i].name;
  }
  EXPECT_EQ(name(Format::FRACTAL_Z_3D), "FRACTAL_Z_3D");  // the table is in the order of the enumeration
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(fault_name(e.fault())) + ": " + e.what();
  }
  return "accepted";
}

TEST(Format, RefusesWithTheReason) {
  EXPECT_EQ(refusal([] { parse_format("NCWH"); }), "input: no format is called 'NCWH'; did you mean 'NCHW'?");
  EXPECT_EQ(refusal([] { parse_format("FRACTAL_N"); }),
            "input: no format is called 'FRACTAL_N'; did you mean 'FRACTAL_NZ'?");
  EXPECT_EQ(refusal([] {
              tensor_layout(Format::NHWC, Shape{1, 2, 3}, 16);
            }),
            "input: a tensor in NHWC has 4 axes (N,C,H,W), but the shape has 3");
  EXPECT_EQ(refusal([] { tensor_layout(Format::FRACTAL_NZ, Shape{1}, 16); }),
            "input: a tensor in FRACTAL_NZ has at least 2 axes (...,M,N), but the shape has 1");
  EXPECT_EQ(refusal([] {
              tensor_layout(Format::FRACTAL_Z, Shape{10, 2, 1, 1}, 16, 4);
            }),
            "input: N = 10 is no multiple of the 4 groups");
  EXPECT_EQ(refusal([] {
              tensor_layout(Format::FRACTAL_Z, Shape{8, 0, 1, 1}, 16, 4);
            }),
            "input: grouped weights without channels");
  EXPECT_EQ(refusal([] {
              tensor_layout(Format::ND, Shape{8, 8}, 16, 4);
            }),
            "input: ND has no channels that could have groups");
  const u64 big = u64{1} << 62;
  for (const Shape& s : {Shape{big, 4}, Shape{1, big, big}, Shape{~u64{0}, 1}, Shape{big, 8, 1, 1}})
    EXPECT_EQ(refusal([&] { tensor_layout(Format::FRACTAL_NZ, s, 16); }),
              "limit: the tensor has more than 2^63 elements");
}

}  // namespace
}  // namespace vinci::isa
