// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "isa/numeric/approx.h"
#include "isa/numeric/exp.h"
#include "isa/numeric/lanes.h"
#include "isa/numeric/log.h"
#include "tests/unit/isa/numeric_oracle.h"

namespace vinci::isa {
namespace {

constexpr Precision kFast = Precision::high_performance, kExact = Precision::high_precision;

// ---------------------------------------------------------------------------------------------------------------------
// Correctly rounded functions

int rsqrt(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t round) {
  // MPFR has +inf for -0; IEEE 754-2019 9.2 has -inf.
  if (mpfr_zero_p(x) != 0 && mpfr_signbit(x) != 0) {
    mpfr_set_inf(r, -1);
    return 0;
  }
  return mpfr_rec_sqrt(r, x, round);
}
int rec(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t round) { return mpfr_ui_div(r, 1, x, round); }

struct Function {
  const char* name;
  u16 (*f16)(u16);
  u32 (*f32)(u32);
  oracle::Rounder::Function oracle;
};
class CorrectlyRounded : public testing::TestWithParam<Function> {};

TEST_P(CorrectlyRounded, EveryF16) {
  auto rounder = oracle::Rounder::to_f16();
  for (u32 i = 0; i < 65536; ++i) {
    const u16 h = static_cast<u16>(i);
    ASSERT_EQ(GetParam().f16(h), oracle::f16_encode(rounder.unary(GetParam().oracle, oracle::f16(h)))) << std::hex << i;
  }
}

TEST_P(CorrectlyRounded, F32OnASample) {
  auto rounder = oracle::Rounder::to_f32();
  const auto check = [&](u32 bits) {
    ASSERT_EQ(GetParam().f32(bits), oracle::f32_encode(rounder.unary(GetParam().oracle, oracle::f32(bits))))
        << std::hex << bits;
  };
  // Limits of exp (overflow, subnormal and zero results), one, limits of the format; and their neighbours.
  for (const float x : {0.0f,       1.0f,       4.0f,        88.72283f,   88.72284f,       89.0f,     1e30f,
                        -87.33654f, -87.33655f, -103.97207f, -103.97208f, -104.0f,         0x1p-149f, 0x1p-126f,
                        0x1p-127f,  0x1p-128f,  0x1p-24f,    0x1p-25f,    0x1.fffffep127f, HUGE_VALF}) {
    for (u32 step = 0; step < 5; ++step) {
      check(std::bit_cast<u32>(x) + step - 2);
      check((std::bit_cast<u32>(x) + step - 2) ^ 0x80000000);
    }
  }
  check(0xc16912cd);  // of all operands of exp, the one whose result is nearest to a tie (by search)
  for (u64 bits = 0; oracle::exhaustive() && bits < u64{1} << 32 && !HasFatalFailure(); ++bits)
    check(static_cast<u32>(bits));
  oracle::Random random(oracle::seed(4));
  for (int i = 0; i < 250'000 && !HasFatalFailure(); ++i) {
    const u64 r = random.next();
    // Any bits; where exp is finite; where exp is subnormal; around one, where ln is small.
    const double unit = static_cast<double>(r >> 11) * 0x1p-53;
    const float x = static_cast<float>(i % 4 == 1 ? unit * 193 - 104 : i % 4 == 2 ? unit * 17 - 104 : 0.98 + unit / 25);
    check(i % 4 == 0 ? static_cast<u32>(r) : std::bit_cast<u32>(x));
  }
}
INSTANTIATE_TEST_SUITE_P(Functions, CorrectlyRounded,
                         testing::Values(Function{"exp", f16_exp, f32_exp, mpfr_exp},
                                         Function{"ln", f16_ln, f32_ln, mpfr_log},
                                         Function{"sqrt", f16_sqrt, f32_sqrt, mpfr_sqrt},
                                         Function{"rec", [](u16 x) { return f16_rec(x, kExact); },
                                                  [](u32 x) { return f32_rec(x, kExact); }, rec},
                                         Function{"rsqrt", [](u16 x) { return f16_rsqrt(x, kExact); },
                                                  [](u32 x) { return f32_rsqrt(x, kExact); }, rsqrt}),
                         [](const auto& p) { return std::string(p.param.name); });

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

// The same of the logarithm: around every step of its table, near one and far away.
TEST(Log, DoubleIsWithinOneUnitOfItsLastPlace) {
  mpfr_t r;
  mpfr_init2(r, 53);
  for (int i = 1; i < 128 * 8; ++i) {
    for (const int exponent : {-149, -24, -1, 0, 1, 100}) {
      const double x = std::ldexp(1 + i / 1024.0 + (i % 5) * 0x1p-23, exponent);
      mpfr_set_d(r, x, MPFR_RNDN);
      mpfr_log(r, r, MPFR_RNDN);
      const i64 distance = std::bit_cast<i64>(log_to_odd(x)) - std::bit_cast<i64>(mpfr_get_d(r, MPFR_RNDN));
      ASSERT_LE(std::abs(distance), 1) << x;
    }
  }
  EXPECT_EQ(log_to_odd(1), 0);
  mpfr_clear(r);
}

__extension__ typedef unsigned __int128 u128;

// 1 / sqrt(x) of every significand, in integers: y is right if (2y - 1)^2 * x <= 2^n <= (2y + 1)^2 * x.
TEST(Rsqrt, IsRightForExactIntegers) {
  for (u32 i = 0; i < 2u << 23; ++i) {
    const u32 bits = (127u << 23) + i;  // 1 <= x < 4
    const u32 r = f32_rsqrt(bits, kExact);
    const u64 x = u64{(i & 0x7fffff) | 0x800000} << (i >> 23);        // times 2^-23
    const u32 field = r >> 23;                                        // 126: 0.5 <= r < 1, 127: r = 1
    const u128 y = u128{(r & 0x7fffff) | 0x800000} << (field - 126);  // times 2^-24
    // (y +- 1/2)^2 * 2^-48 * x * 2^-23 against 1, times 4.
    const u128 one = u128{1} << 73;
    ASSERT_LE((2 * y - 1) * (2 * y - 1) * x, one) << std::hex << bits;
    ASSERT_GE((2 * y + 1) * (2 * y + 1) * x, one) << std::hex << bits;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The declared approximations

struct Approximation {
  const char* name;
  u16 (*f16)(u16, Precision);
  u32 (*f32)(u32, Precision);
  double (*exact)(double);
  double error;
  u32 same_period;  // of the exponent, after which the significands repeat
};
class Approximated : public testing::TestWithParam<Approximation> {};

// Within the bound and half a unit of the last place of the result, and never below the function by more than that
// half.
TEST_P(Approximated, F32StaysWithinTheBoundAndComesNearIt) {
  const Approximation& a = GetParam();
  double worst = 0;
  u32 beyond = 0, total = 0;
  for (u32 i = 0; i < a.same_period << 23; i += oracle::exhaustive() ? 1 : 7) {
    const u32 bits = (127u << 23) + i;
    const double want = a.exact(oracle::f32(bits));
    const double error = (oracle::f32(a.f32(bits, kFast)) - want) / want;
    ASSERT_LE(error, a.error + 0x1p-24) << std::hex << bits;
    ASSERT_GE(error, -0x1p-24) << std::hex << bits;
    worst = std::max(worst, error);
    ++total;
    beyond += error > 1e-4;
  }
  EXPECT_GT(worst, a.error * 0.97);
  EXPECT_GT(beyond * 10000.0, total);  // misses "double per ten thousand", as documented
}

TEST_P(Approximated, F16StaysWithinTheBoundAndMissesDoublePerMille) {
  const Approximation& a = GetParam();
  u32 beyond = 0, total = 0;
  for (u32 i = 1; i < 0x7c00; ++i) {
    const double want = a.exact(oracle::f16(static_cast<u16>(i)));
    const double got = oracle::f16(a.f16(static_cast<u16>(i), kFast));
    if (want >= 65504 || want < 0x1p-14) continue;  // overflow; subnormal results have larger units
    ++total;
    const double error = std::fabs(got - want) / want;
    ASSERT_LE(error, a.error + 0x1p-11) << std::hex << i;
    beyond += error > 1e-3;
  }
  EXPECT_GT(beyond * 1000.0, total);
}

// The same significand has the same result in every binade, subnormals included, as far as the format goes.
TEST_P(Approximated, ScalesExactly) {
  const Approximation& a = GetParam();
  for (const float m : {1.0f, 1.03125f, 1.2345678f, 1.9999999f, 2.5f, 3.9999998f}) {
    const double base = oracle::f32(a.f32(std::bit_cast<u32>(m), kFast));
    for (int e = -20; e <= 20; ++e) {
      const int period = static_cast<int>(a.same_period);
      const float x = std::ldexp(m, e * period);
      EXPECT_EQ(oracle::f32(a.f32(std::bit_cast<u32>(x), kFast)), std::ldexp(base, -e)) << x;
    }
    if (m < 2) {
      EXPECT_EQ(a.f32(std::bit_cast<u32>(std::ldexp(m, -126)), kFast),
                std::bit_cast<u32>(static_cast<float>(std::ldexp(base, 126 / static_cast<int>(a.same_period)))));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Functions, Approximated,
                         testing::Values(Approximation{"rec", f16_rec, f32_rec, [](double x) { return 1 / x; },
                                                       kRecError, 1},
                                         Approximation{"rsqrt", f16_rsqrt, f32_rsqrt,
                                                       [](double x) { return 1 / std::sqrt(x); }, kRsqrtError, 2}),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(Approximations, SpecialOperands) {
  for (const Precision p : {kFast, kExact}) {
    EXPECT_EQ(f32_rec(0, p), kF32Inf);
    EXPECT_EQ(f32_rec(0x80000000, p), kF32Inf | 0x80000000);
    EXPECT_EQ(f32_rec(kF32Inf | 0x80000000, p), 0x80000000);
    EXPECT_EQ(f32_rec(0xffc00001, p), kF32Nan);
    EXPECT_EQ(f32_rec(0xc0000000, p), 0xbf000000);  // -2
    EXPECT_EQ(f32_rec(0x00400000, p), 0x7f000000);  // 2^-127
    EXPECT_EQ(f32_rec(0x00200000, p), kF32Inf);     // 2^-128
    EXPECT_EQ(f32_rsqrt(0, p), kF32Inf);
    EXPECT_EQ(f32_rsqrt(0x80000000, p), kF32Inf | 0x80000000);
    EXPECT_EQ(f32_rsqrt(kF32Inf, p), 0u);
    EXPECT_EQ(f32_rsqrt(0xbf800000, p), kF32Nan);
    EXPECT_EQ(f32_rsqrt(kF32Inf | 0x80000000, p), kF32Nan);
    EXPECT_EQ(f16_rec(0x8000, p), 0xfc00);
    EXPECT_EQ(f16_rec(0x0001, p), kF16Inf);
    EXPECT_EQ(f16_rsqrt(0x0001, p), 0x6c00);  // 2^-24 to 2^12
    EXPECT_EQ(f16_rsqrt(0xbc00, p), kF16Nan);
  }
}

// The lane kernels are these functions, with the STATUS of each value.
struct KernelCase {
  UnaryOp op;
  u16 (*f16)(u16, Precision);
  u32 (*f32)(u32, Precision);
};
constexpr std::array kKernels{
    KernelCase{UnaryOp::exp, [](u16 x, Precision) { return f16_exp(x); }, [](u32 x, Precision) { return f32_exp(x); }},
    KernelCase{UnaryOp::ln, [](u16 x, Precision) { return f16_ln(x); }, [](u32 x, Precision) { return f32_ln(x); }},
    KernelCase{UnaryOp::sqrt, [](u16 x, Precision) { return f16_sqrt(x); },
               [](u32 x, Precision) { return f32_sqrt(x); }},
    KernelCase{UnaryOp::rec, f16_rec, f32_rec}, KernelCase{UnaryOp::rsqrt, f16_rsqrt, f32_rsqrt}};

// One value in every lane.
template <class Bits, class F>
void check_kernel(UnaryKernel kernel, UnaryOp op, Bits x, F function, LaneMode mode, bool (*finite)(Bits),
                  Bits (*finish)(Bits, OverflowMode)) {
  LaneBuffer in, out{};
  for (usize i = 0; i < kRepeatBytes; i += sizeof x)
    std::memcpy(in.bytes.data() + i, &x, sizeof x);
  const Bits want = function(x, mode.precision);
  const u64 status = !finite(x)                        ? status::kVectorNanInf
                     : !finite(want)                   ? status::kFloatOverflow
                     : op == UnaryOp::exp && want == 0 ? status::kFloatUnderflow
                                                       : 0;
  ASSERT_EQ(kernel(in, out, mode), status) << std::hex << x;
  Bits got = 0;
  std::memcpy(&got, out.bytes.data() + kRepeatBytes - sizeof got, sizeof got);
  ASSERT_EQ(got, finish(want, mode.overflow)) << std::hex << x;
}

TEST(Kernels, AreTheFunctions) {
  oracle::Random random(oracle::seed(9));
  for (const KernelCase& k : kKernels) {
    for (const Path path : {Path::fastest, Path::portable}) {
      for (const LaneMode& mode :
           {LaneMode{OverflowMode::inf_nan, false, kFast}, LaneMode{OverflowMode::saturation, false, kExact}}) {
        for (u32 x = 0; x < 65536; x += 7)
          check_kernel<u16>(unary_kernel(k.op, LaneType::f16, path), k.op, static_cast<u16>(x), k.f16, mode, f16_finite,
                            saturate_f16);
        for (int i = 0; i < 3000; ++i) {
          const u32 x = i % 256 < 255 ? static_cast<u32>(random.next()) : static_cast<u32>(i << 23);
          check_kernel<u32>(unary_kernel(k.op, LaneType::f32, path), k.op, x, k.f32, mode, f32_finite,
                            [](u32 bits, OverflowMode) { return bits; });
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Golden vectors of the CANN documentation: vrec of the largest f32; exp(12) and sqrt(-1) of f16 in both modes.
TEST(Approximations, DocumentedValues) {
  for (const Precision p : {kFast, kExact}) {
    const float r = oracle::f32(f32_rec(0x7f7fffff, p));
    EXPECT_EQ(r, 2.938736e-39f);
  }
  EXPECT_EQ(f16_exp(f16_bits(12)), kF16Inf);
  EXPECT_EQ(saturate_f16(f16_exp(f16_bits(12)), OverflowMode::saturation), kF16Max);
  EXPECT_EQ(f16_sqrt(f16_bits(-1)), kF16Nan);
  EXPECT_EQ(saturate_f16(f16_sqrt(f16_bits(-1)), OverflowMode::saturation), 0);
}

}  // namespace
}  // namespace vinci::isa
