// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include "isa/numeric/float16.h"
#include "tests/unit/isa/numeric_oracle.h"

namespace vinci::isa {
namespace {

constexpr std::array kModes{RoundMode::rint,  RoundMode::floor, RoundMode::ceil,
                            RoundMode::round, RoundMode::trunc, RoundMode::odd};

u32 bits_of(float x) { return std::bit_cast<u32>(x); }
u64 bits_of(double x) { return std::bit_cast<u64>(x); }

TEST(Float16, EveryValueWidensExactly) {
  for (u32 i = 0; i < 65536; ++i) {
    const u16 h = static_cast<u16>(i);
    const double want = oracle::f16(h);
    const u32 got = f16_to_f32(h);
    if (std::isnan(want)) {
      ASSERT_EQ(got, kF32Nan) << std::hex << i;
    } else {
      ASSERT_EQ(got, bits_of(static_cast<float>(want))) << std::hex << i;
    }
  }
}

TEST(Float16, EveryValueSurvivesTheRoundTripInEveryMode) {
  for (u32 i = 0; i < 65536; ++i) {
    const u16 h = static_cast<u16>(i);
    for (const RoundMode m : kModes) {
      const RoundedF16 r = round_f32_to_f16(f16_to_f32(h), m);
      ASSERT_EQ(r, (RoundedF16{f16_nan(h) ? kF16Nan : h})) << std::hex << i << ' ' << name(m);
    }
  }
}

// Golden vector of the Ascend C Cast documentation: 0.5 + 2^-12 to half.
TEST(Float16, DocumentedRoundingOfHalfAnUlp) {
  const u32 x = bits_of(0.5f + 0x1p-12f);
  const u16 half = f16_bits(0.5);
  const u16 next = f16_bits(0.5 + 0x1p-11);
  EXPECT_EQ(f32_to_f16(x, RoundMode::rint), half);
  EXPECT_EQ(f32_to_f16(x, RoundMode::floor), half);
  EXPECT_EQ(f32_to_f16(x, RoundMode::trunc), half);
  EXPECT_EQ(f32_to_f16(x, RoundMode::ceil), next);
  EXPECT_EQ(f32_to_f16(x, RoundMode::round), next);
  EXPECT_EQ(f32_to_f16(x, RoundMode::odd), next);
}

// Around every f16 and every midpoint between two: the point itself and its f32 neighbours, both signs, six modes.
TEST(Float16, NarrowingMatchesMpfrAtEveryBoundary) {
  auto rounder = oracle::Rounder::to_f16();
  for (u32 i = 0; i <= 0x7c00; ++i) {
    const double here = i == 0x7c00 ? 65536.0 : oracle::f16(static_cast<u16>(i));
    const double next = i >= 0x7bff ? here + 32 : oracle::f16(static_cast<u16>(i + 1));
    for (const double point : {here, (here + next) / 2}) {
      const u32 center = bits_of(static_cast<float>(point));
      for (u32 bits = center == 0 ? 0 : center - 1; bits <= center + 1; ++bits) {
        for (const u32 signed_bits : {bits, bits | 0x80000000}) {
          const double x = oracle::f32(signed_bits);
          for (const RoundMode m : kModes) {
            ASSERT_EQ(f32_to_f16(signed_bits, m), oracle::round_f16(rounder, x, m)) << x << ' ' << name(m);
          }
        }
      }
    }
  }
}

TEST(Float16, NarrowingMatchesMpfrOnRandomBits) {
  auto rounder = oracle::Rounder::to_f16();
  for (u64 bits = 0; oracle::exhaustive() && bits < u64{1} << 32; ++bits) {
    const u32 b = static_cast<u32>(bits);
    for (const RoundMode m : kModes)
      ASSERT_EQ(f32_to_f16(b, m), oracle::round_f16(rounder, oracle::f32(b), m)) << std::hex << b << name(m);
  }
  oracle::Random random(oracle::seed(1));
  for (int i = 0; i < 300'000; ++i) {
    const u64 r = random.next();
    // Half of the sample over all f32, half where f16 has values.
    const u32 bits = (i & 1) != 0 ? static_cast<u32>(r)
                                  : static_cast<u32>(r & 0x807fffff) | static_cast<u32>((100 + (r >> 40) % 45) << 23);
    for (const RoundMode m : kModes) {
      ASSERT_EQ(f32_to_f16(bits, m), oracle::round_f16(rounder, oracle::f32(bits), m)) << std::hex << bits << name(m);
    }
  }
}

// A double that is above a midpoint by less than f32 can show: by way of f32 it would round the wrong way.
TEST(Float16, DoubleIsRoundedOnce) {
  const double x = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(f64_to_f16(bits_of(x)), 0x3c01);
  EXPECT_EQ(f32_to_f16(bits_of(static_cast<float>(x))), 0x3c00);

  auto rounder = oracle::Rounder::to_f16();
  oracle::Random random(oracle::seed(2));
  for (int i = 0; i < 200'000; ++i) {
    const u64 r = random.next();
    const u32 h = static_cast<u32>(r % 0x7bff);
    const double middle = (oracle::f16(static_cast<u16>(h)) + oracle::f16(static_cast<u16>(h + 1))) / 2;
    const u64 bits = bits_of(middle) + (r >> 32) % 5 - 2;
    for (const RoundMode m : kModes) {
      ASSERT_EQ(f64_to_f16(bits, m), oracle::round_f16(rounder, std::bit_cast<double>(bits), m)) << std::hex << bits;
    }
  }
  for (const double edge : {0x1p-1074, 0x1p-1022, 0x1p-25, 0x1.8p-25, 0x1p1023, 65519.999, 65520.0, 65536.0}) {
    for (const RoundMode m : kModes) {
      ASSERT_EQ(f64_to_f16(bits_of(edge), m), oracle::round_f16(rounder, edge, m)) << edge << ' ' << name(m);
      ASSERT_EQ(f64_to_f16(bits_of(-edge), m), oracle::round_f16(rounder, -edge, m)) << -edge << ' ' << name(m);
    }
  }
}

TEST(Float16, NarrowingReportsOverflowAndUnderflow) {
  EXPECT_EQ(round_f32_to_f16(bits_of(65519.0f)), (RoundedF16{kF16Max, false, false}));
  EXPECT_EQ(round_f32_to_f16(bits_of(65520.0f)), (RoundedF16{kF16Inf, true, false}));
  EXPECT_EQ(round_f32_to_f16(bits_of(65520.0f), RoundMode::trunc), (RoundedF16{kF16Max, false, false}));
  EXPECT_EQ(round_f32_to_f16(bits_of(65536.0f), RoundMode::trunc), (RoundedF16{kF16Max, true, false}));
  EXPECT_EQ(round_f32_to_f16(bits_of(-1e30f), RoundMode::ceil), (RoundedF16{0xfbff, true, false}));
  EXPECT_EQ(round_f32_to_f16(bits_of(-1e30f), RoundMode::floor), (RoundedF16{0xfc00, true, false}));
  EXPECT_EQ(round_f32_to_f16(bits_of(1e30f), RoundMode::odd), (RoundedF16{kF16Max, true, false}));
  EXPECT_EQ(round_f32_to_f16(bits_of(0x1p-25f)), (RoundedF16{0x0000, false, true}));
  EXPECT_EQ(round_f32_to_f16(bits_of(-0x1p-26f)), (RoundedF16{0x8000, false, true}));
  EXPECT_EQ(round_f32_to_f16(bits_of(0x1p-26f), RoundMode::odd), (RoundedF16{0x0001, false, false}));
  EXPECT_EQ(round_f32_to_f16(0x7f800000), (RoundedF16{kF16Inf, false, false}));
  EXPECT_EQ(round_f32_to_f16(0xff800000), (RoundedF16{0xfc00, false, false}));
  EXPECT_EQ(round_f32_to_f16(0xffc12345), (RoundedF16{kF16Nan, false, false}));
}

TEST(Float16, SaturationTouchesOnlyInfinityAndNan) {
  EXPECT_EQ(saturate_f16(kF16Inf, OverflowMode::saturation), kF16Max);
  EXPECT_EQ(saturate_f16(0xfc00, OverflowMode::saturation), 0xfbff);
  EXPECT_EQ(saturate_f16(kF16Nan, OverflowMode::saturation), 0);
  EXPECT_EQ(saturate_f16(0xfe00, OverflowMode::saturation), 0);
  for (u32 i = 0; i < 65536; ++i) {
    const u16 h = static_cast<u16>(i);
    ASSERT_EQ(saturate_f16(h, OverflowMode::inf_nan), h);
    if (f16_finite(h)) {
      ASSERT_EQ(saturate_f16(h, OverflowMode::saturation), h);
    }
  }
}

struct ArithmeticCase {
  const char* name;
  u16 (*ours)(u16, u16);
  oracle::Rounder::Operation theirs;
};
class Float16Arithmetic : public testing::TestWithParam<ArithmeticCase> {};

// All pairs of special values, all 65536 values against every fourth of them, and a seeded sample of 2.5 million pairs;
// with VINCI_EXHAUSTIVE all pairs.
TEST_P(Float16Arithmetic, MatchesMpfr) {
  const ArithmeticCase& c = GetParam();
  const auto specials = oracle::f16_specials();
  auto rounder = oracle::Rounder::to_f16();
  u64 pairs = 0;
  const auto check = [&](u16 a, u16 b) {
    ++pairs;
    const u16 want = oracle::f16_encode(rounder.binary(c.theirs, oracle::f16(a), oracle::f16(b)));
    ASSERT_EQ(c.ours(a, b), want) << std::hex << a << ' ' << b;
  };
  for (const u16 a : specials) {
    for (const u16 b : specials)
      check(a, b);
  }
  for (usize k = 0; k < specials.size(); k += 4) {
    for (u32 i = 0; i < 65536; ++i)
      check(static_cast<u16>(i), specials[k]);
  }
  oracle::Random random(oracle::seed(3));
  const u64 count = oracle::exhaustive() ? u64{1} << 32 : 2'500'000;
  for (u64 i = 0; i < count && !HasFatalFailure(); ++i) {
    const u64 r = oracle::exhaustive() ? i : random.next();
    check(static_cast<u16>(r), static_cast<u16>(r >> 16));
  }
  EXPECT_GE(pairs, 4'000'000u);
}
INSTANTIATE_TEST_SUITE_P(Operations, Float16Arithmetic,
                         testing::Values(ArithmeticCase{"add", f16_add, mpfr_add},
                                         ArithmeticCase{"sub", f16_sub, mpfr_sub},
                                         ArithmeticCase{"mul", f16_mul, mpfr_mul},
                                         ArithmeticCase{"div", f16_div, mpfr_div}),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(Float16, MaxMinReluAbsRules) {
  EXPECT_EQ(f16_max(0x8000, 0x0000), 0x0000);  // -0 < +0, in both orders
  EXPECT_EQ(f16_max(0x0000, 0x8000), 0x0000);
  EXPECT_EQ(f16_min(0x8000, 0x0000), 0x8000);
  EXPECT_EQ(f16_min(0x0000, 0x8000), 0x8000);
  EXPECT_EQ(f16_max(0xfe01, 0x3c00), kF16Nan);  // NaN wins, in both orders, and becomes canonical
  EXPECT_EQ(f16_max(0x3c00, 0x7c01), kF16Nan);
  EXPECT_EQ(f16_min(0x7c01, 0xfc00), kF16Nan);
  EXPECT_EQ(f16_min(0xfc00, 0x3c00), 0xfc00);
  EXPECT_EQ(f32_max(kF32Nan | 1, kF32One), kF32Nan);
  EXPECT_EQ(f32_min(0x80000000, 0), 0x80000000);
  EXPECT_EQ(f16_relu(0xfe00), kF16Nan);
  EXPECT_EQ(f16_relu(0xfc00), 0x0000);
  EXPECT_EQ(f16_relu(0x8000), 0x0000);
  EXPECT_EQ(f16_relu(0x7c00), 0x7c00);
  EXPECT_EQ(f32_relu(0x80000001), 0u);
  EXPECT_EQ(f16_abs(0xfc00), 0x7c00);
  EXPECT_EQ(f16_abs(0xffff), kF16Nan);
  EXPECT_EQ(f32_abs(0x80000001), 1u);
  const auto specials = oracle::f16_specials();
  for (const u16 a : specials) {
    for (const u16 b : specials) {
      if (f16_nan(a) || f16_nan(b)) continue;
      const double x = oracle::f16(a);
      const double y = oracle::f16(b);
      ASSERT_EQ(oracle::f16(f16_max(a, b)), x > y ? x : y);
      ASSERT_EQ(oracle::f16(f16_min(a, b)), x < y ? x : y);
    }
  }
}

}  // namespace
}  // namespace vinci::isa
