// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <limits>

#include "isa/numeric/scalar_f32.h"
#include "tests/unit/isa/numeric_oracle.h"

namespace vinci::isa {
namespace {

using namespace scalar_f32;
using oracle::Rounder;

// f32 bits that meet the corners often: exponents over the whole range, few or many ones in the fraction.
u32 sample(oracle::Random& random) {
  const u64 r = random.next();
  switch (r % 4) {
    case 0: return static_cast<u32>(r >> 32);
    case 1: return static_cast<u32>(r >> 32) & 0x807fffff;                   // subnormal, zero
    case 2: return (static_cast<u32>(r >> 32) & 0xff800000) | (r >> 8 & 3);  // near a power of two, infinite, NaN
    default: return (static_cast<u32>(r >> 32) & 0x80ffffff) | 0x3f000000;   // around one
  }
}

u32 bits_of(double exact) { return std::isnan(exact) ? kF32Nan : std::bit_cast<u32>(static_cast<float>(exact)); }

TEST(ScalarF32, ArithmeticIsCorrectlyRounded) {
  Rounder rounder = Rounder::to_f32();
  oracle::Random random(1);
  u64 raised = 0;
  const auto square_root = [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr, mpfr_rnd_t round) {
    return mpfr_sqrt(r, x, round);
  };
  for (int i = 0; i < 20000; ++i) {
    const u32 a = sample(random), b = sample(random);
    const double x = oracle::f32(a), y = oracle::f32(b);
    ASSERT_EQ(add(a, b, raised), bits_of(rounder.binary(mpfr_add, x, y))) << a << " " << b;
    ASSERT_EQ(sub(a, b, raised), bits_of(rounder.binary(mpfr_sub, x, y))) << a << " " << b;
    ASSERT_EQ(mul(a, b, raised), bits_of(rounder.binary(mpfr_mul, x, y))) << a << " " << b;
    ASSERT_EQ(div(a, b, raised), bits_of(rounder.binary(mpfr_div, x, y))) << a << " " << b;
    ASSERT_EQ(scalar_f32::sqrt(a, raised), bits_of(rounder.binary(square_root, x, 0))) << a;
  }
}

TEST(ScalarF32, ComparisonsAndSelectionFollowTheValues) {
  oracle::Random random(2);
  u64 raised = 0;
  for (int i = 0; i < 20000; ++i) {
    const u32 a = sample(random), b = i % 5 == 0 ? a : sample(random);
    const double x = oracle::f32(a), y = oracle::f32(b);
    ASSERT_EQ(eq(a, b, raised), u32{x == y});
    ASSERT_EQ(ne(a, b, raised), u32{!(x == y)});
    ASSERT_EQ(lt(a, b, raised), u32{x < y});
    ASSERT_EQ(le(a, b, raised), u32{x <= y});
    if (std::isnan(x) || std::isnan(y)) {
      ASSERT_EQ(scalar_f32::min(a, b, raised), kF32Nan);
      ASSERT_EQ(scalar_f32::max(a, b, raised), kF32Nan);
    } else {
      ASSERT_EQ(oracle::f32(scalar_f32::min(a, b, raised)), std::fmin(x, y));
      ASSERT_EQ(oracle::f32(scalar_f32::max(a, b, raised)), std::fmax(x, y));
      ASSERT_EQ(oracle::f32(scalar_f32::abs(a, raised)), std::fabs(x));
      ASSERT_EQ(neg(a, raised), bits_of(-x));
    }
  }
  EXPECT_EQ(scalar_f32::min(0x80000000, 0, raised), 0x80000000u);
  EXPECT_EQ(scalar_f32::max(0x80000000, 0, raised), 0u);
}

// x as s32 by MPFR; half away from zero has a function of its own.
i64 nearest(mpfr_t work, double x, RoundMode mode) {
  mpfr_set_d(work, x, MPFR_RNDN);
  mpfr_t r;
  mpfr_init2(r, 200);
  switch (mode) {
    case RoundMode::rint: mpfr_rint_roundeven(r, work, MPFR_RNDN); break;
    case RoundMode::floor: mpfr_floor(r, work); break;
    case RoundMode::ceil: mpfr_ceil(r, work); break;
    case RoundMode::round: mpfr_round(r, work); break;
    default: mpfr_trunc(r, work); break;
  }
  const double v = mpfr_get_d(r, MPFR_RNDN);  // at most 2^128: exact
  mpfr_clear(r);
  if (v < -2147483648.0) return std::numeric_limits<i32>::min();
  if (v > 2147483647.0) return std::numeric_limits<i32>::max();
  return static_cast<i64>(v);
}

TEST(ScalarF32, ToS32InEveryMode) {
  oracle::Random random(3);
  mpfr_t work;
  mpfr_init2(work, 53);
  for (int i = 0; i < 20000; ++i) {
    // Mostly where the fraction matters: magnitudes up to 2^33, and many ties.
    u32 a = sample(random);
    if (i % 4 != 0) a = (a & 0x80000000) | static_cast<u32>(random.next() % ((127 + 33) << 23));
    if (i % 4 == 1) a = std::bit_cast<u32>(static_cast<float>(static_cast<i32>(random.next() % 4001) - 2000) / 2);
    const double x = oracle::f32(a);
    for (const RoundMode mode :
         {RoundMode::rint, RoundMode::floor, RoundMode::ceil, RoundMode::round, RoundMode::trunc}) {
      u64 raised = 0;
      const i64 expected = std::isnan(x) ? 0 : nearest(work, x, mode);
      ASSERT_EQ(static_cast<i64>(to_s32(a, mode, raised)), expected) << a << " " << name(mode);
    }
  }
  mpfr_clear(work);
}

TEST(ScalarF32, OfS32IsCorrectlyRounded) {
  Rounder rounder = Rounder::to_f32();
  oracle::Random random(4);
  for (int i = 0; i < 20000; ++i) {
    const auto v = static_cast<i32>(random.next() >> (32 + i % 32));
    ASSERT_EQ(from_s32(static_cast<u32>(v)), bits_of(rounder.value(v, MPFR_RNDN))) << v;
  }
}

TEST(ScalarF32, StatusSaysWhatHappened) {
  const auto raised_by = [](auto f) {
    u64 raised = 0;
    f(raised);
    return raised;
  };
  constexpr u32 kMax = 0x7f7fffff, kOne = kF32One;
  EXPECT_EQ(raised_by([](u64& r) { add(kOne, kOne, r); }), 0u);
  EXPECT_EQ(raised_by([](u64& r) { add(kMax, kMax, r); }), status::kFloatOverflow);
  EXPECT_EQ(raised_by([](u64& r) { div(kOne, 0, r); }), status::kFloatOverflow);
  EXPECT_EQ(raised_by([](u64& r) { scalar_f32::sqrt(kOne | 0x80000000, r); }), status::kFloatOverflow);
  EXPECT_EQ(raised_by([](u64& r) { add(kF32Inf, kOne, r); }), status::kScalarNanInf);
  EXPECT_EQ(raised_by([](u64& r) { lt(kF32Nan, kOne, r); }), status::kScalarNanInf);
  EXPECT_EQ(raised_by([](u64& r) { to_s32(0x4f000000, RoundMode::rint, r); }), status::kFloatOverflow);  // 2^31
  EXPECT_EQ(raised_by([](u64& r) { to_s32(0xcf000000, RoundMode::rint, r); }), 0u);                      // -2^31
  for (const u32 special : {kF32Inf, kF32Inf | 0x80000000, kF32Nan}) {
    EXPECT_EQ(raised_by([=](u64& r) { to_s32(special, RoundMode::rint, r); }),
              status::kScalarNanInf | status::kFloatOverflow);
  }
  EXPECT_EQ(raised_by([](u64& r) { to_f16(0x477ff000, RoundMode::rint, OverflowMode::inf_nan, r); }),
            status::kFloatOverflow);  // 65520
}

}  // namespace
}  // namespace vinci::isa
