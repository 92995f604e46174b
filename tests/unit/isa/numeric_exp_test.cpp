// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <cstdlib>

#include "isa/numeric/approx.h"
#include "isa/numeric/exp.h"
#include "tests/unit/isa/numeric_oracle.h"

namespace vinci::isa {
namespace {

TEST(Exp, EveryF16IsCorrectlyRounded) {
  auto rounder = oracle::Rounder::to_f16();
  for (u32 i = 0; i < 65536; ++i) {
    const u16 h = static_cast<u16>(i);
    ASSERT_EQ(f16_exp(h), oracle::f16_encode(rounder.exp(oracle::f16(h)))) << std::hex << i;
  }
}

// Golden vector of the CANN documentation of INF_NAN_MODE_ENABLE.
TEST(Exp, TwelveOverflowsF16) {
  EXPECT_EQ(f16_exp(f16_bits(12)), kF16Inf);
  EXPECT_EQ(saturate_f16(f16_exp(f16_bits(12)), OverflowMode::saturation), kF16Max);
}

void expect_correct_f32(oracle::Rounder& rounder, u32 bits) {
  const double want = rounder.exp(oracle::f32(bits));
  const u32 want_bits = std::isnan(want) ? kF32Nan : std::bit_cast<u32>(static_cast<float>(want));
  ASSERT_EQ(f32_exp(bits), want_bits) << std::hex << bits;
}

TEST(Exp, F32IsCorrectlyRoundedOnASample) {
  auto rounder = oracle::Rounder::to_f32();
  oracle::Random random(4);
  for (int i = 0; i < 400'000; ++i) {
    const u64 r = random.next();
    // A third over all bits, a third uniform in the range of finite results, a third where results are subnormal.
    const float range = static_cast<float>(static_cast<double>(r >> 11) * 0x1p-53 * 193 - 104);
    const float low = static_cast<float>(static_cast<double>(r >> 11) * 0x1p-53 * 17 - 104);
    const u32 bits = i % 3 == 0 ? static_cast<u32>(r) : std::bit_cast<u32>(i % 3 == 1 ? range : low);
    expect_correct_f32(rounder, bits);
    if (HasFatalFailure()) return;
  }
}

// Before its last rounding the result has all bits of a double: every entry of the table and every coefficient counts.
TEST(Exp, DoubleIsWithinOneUnitOfItsLastPlace) {
  mpfr_t r;
  mpfr_init2(r, 53);
  for (int i = -150 * 64; i <= 150 * 64; ++i) {
    const double x = static_cast<float>(i) / 64 + (i % 7) * 0x1p-12f;
    mpfr_set_d(r, x, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    const i64 distance = std::bit_cast<i64>(exp_to_odd(x)) - std::bit_cast<i64>(mpfr_get_d(r, MPFR_RNDN));
    EXPECT_LE(std::abs(distance), 1) << x;
  }
  mpfr_clear(r);
}

// Of all inputs with a normal result, the one whose result lies nearest to the middle between two f32 values (by
// search).
TEST(Exp, HardestF32Input) {
  auto rounder = oracle::Rounder::to_f32();
  expect_correct_f32(rounder, 0xc16912cd);
}

TEST(Exp, F32LimitsAndSpecials) {
  auto rounder = oracle::Rounder::to_f32();
  for (const float x :
       {0.0f, -0.0f, 88.72283f, 88.72284f, 89.0f, 1e30f, -87.33654f, -87.33655f, -103.97207f, -103.97208f, -104.0f,
        -1e30f, 0x1p-149f, -0x1p-149f, 0x1p-24f, -0x1p-25f, HUGE_VALF, -HUGE_VALF}) {
    for (int step = -2; step <= 2; ++step) {
      expect_correct_f32(rounder, std::bit_cast<u32>(x) + static_cast<u32>(step));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(f32_exp(0xffffffff), kF32Nan);
}

}  // namespace
}  // namespace vinci::isa
