// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "isa/numeric/convert.h"
#include "isa/numeric/hf32.h"
#include "isa/numeric/lanes.h"
#include "isa/shadow/kernels.h"
#include "tests/unit/isa/numeric_cast_oracle.h"

namespace vinci::isa {
namespace {

constexpr auto f16 = LaneType::f16, bf16 = LaneType::bf16, f32 = LaneType::f32, s4 = LaneType::s4, s8 = LaneType::s8,
               s16 = LaneType::s16, s32 = LaneType::s32, s64 = LaneType::s64, byte = LaneType::u8;
constexpr std::array kModes{RoundMode::rint,  RoundMode::floor, RoundMode::ceil,
                            RoundMode::round, RoundMode::trunc, RoundMode::odd};

// The casts that exist: of every vconv row of a chip, and those of the fixpipe and of deq.
const std::map<LaneType, std::vector<LaneType>> kCasts{{f16, {f32, bf16, s4, s8, byte, s16, s32, s64}},
                                                       {bf16, {f16, f32, s4, s8, byte, s16, s32, s64}},
                                                       {f32, {f16, bf16, f32, s4, s8, byte, s16, s32, s64}},
                                                       {s4, {f16, bf16, f32}},
                                                       {s8, {f16, bf16, f32, s16, s32}},
                                                       {byte, {f16, bf16, f32, s16, s32}},
                                                       {s16, {f16, bf16, f32, s8, byte, s32}},
                                                       {s32, {f16, bf16, f32, s4, s8, byte, s16, s64}},
                                                       {s64, {f16, bf16, f32, s32}}};

// Every value of types of up to 16 bits. Of the others: every power of two and every limit of a narrower type with its
// neighbours, halves and quarters of small integers, everything near a tie of bf16 and f16 (a slice), random bits.
std::vector<u64> inputs(LaneType type) {
  std::vector<u64> out;
  if (lane_bits(type) <= 16) {
    for (u64 i = 0; i < u64{1} << lane_bits(type); ++i)
      out.push_back(i);
    return out;
  }
  oracle::Random random(oracle::seed(21 + static_cast<u64>(type)));
  const auto near = [&](u64 bits) {
    for (u64 d = 0; d < 5; ++d)
      out.push_back(bits + d - 2);
  };
  if (type == f32) {
    for (u32 exponent = 0; exponent < 256; ++exponent)
      near(u64{exponent} << 23);
    for (int i = 0; i < 1100; ++i)
      near(std::bit_cast<u32>(static_cast<float>(i) / 4));
    for (const double x : {32767.5, 32768.5, 0x1p31, 0x1p63, 65504.0, 65519.0, 65520.0, 8388607.5, 0x1.fep127})
      near(std::bit_cast<u32>(static_cast<float>(x)));
    for (u64 i = random.next() % 8; i < 0x7f80; i += 8) {
      near(i << 16 | 0x8000);
      near(u64{0x38000000} + (i << 13 | 0x1000));
    }
    const usize n = out.size();
    for (usize i = 0; i < n; ++i)
      out.push_back((out[i] ^ 0x80000000) & 0xffffffff);
  } else {
    for (unsigned bit = 0; bit < lane_bits(type); ++bit) {
      near(u64{1} << bit);
      near(u64{0} - (u64{1} << bit));
      // Ties of every float format.
      for (const unsigned width : {8u, 11u, 24u}) {
        for (int i = 0; i < 24 && bit > width; ++i) {
          const u64 kept = random.next() >> (64 - width) | u64{1} << (width - 1);
          near((2 * kept + 1) << (bit - width - 1));
          near(u64{0} - ((2 * kept + 1) << (bit - width - 1)));
        }
      }
    }
  }
  for (int i = 0; i < 20'000; ++i)
    out.push_back(random.next() >> (i % 3 == 0 ? random.next() % 64 : 0));
  const u64 mask = lane_bits(type) == 64 ? ~u64{0} : (u64{1} << lane_bits(type)) - 1;
  for (u64& x : out)
    x &= mask;
  return out;
}

// By whole repeats, so that the kernel that is chosen, the packing of lanes and the sum of the STATUS bits count too.
void check_cast(LaneType from, LaneType to, const std::vector<u64>& in, oracle::Cast& cast) {
  const usize lanes = 8 * kRepeatBytes / std::max(lane_bits(from), lane_bits(to));
  for (const RoundMode mode : kModes) {
    const UnaryKernel kernel = convert_kernel(from, to, mode, Path::portable);
    ASSERT_NE(kernel, nullptr);
    for (usize i = 0; i < in.size(); i += lanes) {
      LaneBuffer a{}, out{};
      u64 want_status = 0;
      for (usize j = 0; j < lanes; ++j)
        oracle::set_lane_bits(a, from, j, in[std::min(i + j, in.size() - 1)]);
      const u64 got_status = kernel(a, out, {});
      for (usize j = 0; j < lanes; ++j) {
        const u64 x = in[std::min(i + j, in.size() - 1)];
        const oracle::Cast::Result want = cast(from, x, to, mode);
        want_status |= want.status;
        ASSERT_EQ(oracle::lane_bits_at(out, to, j), want.bits)
            << name(from) << " to " << name(to) << ' ' << name(mode) << std::hex << ' ' << x;
      }
      ASSERT_EQ(got_status, want_status) << name(from) << " to " << name(to) << ' ' << name(mode) << " at " << i;
    }
  }
}

TEST(Convert, EveryCastInEveryModeMatchesMpfr) {
  oracle::Cast cast;
  for (const auto& [from, targets] : kCasts) {
    const std::vector<u64> in = inputs(from);
    for (const LaneType to : targets) {
      check_cast(from, to, in, cast);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Convert, OtherPairsHaveNoKernel) {
  for (int from = 0; from < 11; ++from) {
    for (int to = 0; to < 11; ++to) {
      const auto row = kCasts.find(static_cast<LaneType>(from));
      const bool exists =
          row != kCasts.end() && std::count(row->second.begin(), row->second.end(), static_cast<LaneType>(to)) != 0;
      for (const Path path : {Path::fastest, Path::portable}) {
        EXPECT_EQ(
            convert_kernel(static_cast<LaneType>(from), static_cast<LaneType>(to), RoundMode::ceil, path) != nullptr,
            exists)
            << from << ' ' << to;
      }
    }
  }
}

// STATUS of one value, which the sums above could hide.
TEST(Convert, StatusOfOneValue) {
  const auto f = [](double x) { return std::bit_cast<u32>(static_cast<float>(x)); };
  using S8 = Converted<s8>;
  EXPECT_EQ((convert<f32, s8>(f(127.4), RoundMode::rint)), (S8{127, 0}));
  EXPECT_EQ((convert<f32, s8>(f(127.5), RoundMode::rint)), (S8{127, status::kFloatOverflow}));
  EXPECT_EQ((convert<f32, s8>(f(-128.5), RoundMode::rint)), (S8{-128, 0}));
  EXPECT_EQ((convert<f32, s8>(f(-129), RoundMode::rint)), (S8{-128, status::kFloatOverflow}));
  EXPECT_EQ((convert<f32, s8>(kF32Nan, RoundMode::rint)), (S8{0, status::kVectorNanInf}));
  EXPECT_EQ((convert<f32, s8>(kF32Inf | 0x80000000, RoundMode::rint)), (S8{-128, status::kVectorNanInf}));
  EXPECT_EQ((convert<f32, byte>(f(-0.25), RoundMode::rint)), (Converted<byte>{0, status::kNegativeToUnsigned}));
  EXPECT_EQ((convert<f32, byte>(f(-0.0), RoundMode::floor)), (Converted<byte>{0, 0}));
  EXPECT_EQ((convert<f32, byte>(f(256), RoundMode::rint)), (Converted<byte>{255, status::kFloatOverflow}));
  EXPECT_EQ((convert<f32, s64>(f(0x1p63), RoundMode::rint)), (Converted<s64>{INT64_MAX, status::kFloatOverflow}));
  EXPECT_EQ((convert<f32, s64>(f(-0x1p63), RoundMode::rint)), (Converted<s64>{INT64_MIN, 0}));
  EXPECT_EQ((convert<s64, s32>(int64_t{1} << 31, RoundMode::rint)),
            (Converted<s32>{INT32_MAX, status::kFloatOverflow}));
  EXPECT_EQ((convert<s16, byte>(-1, RoundMode::rint)), (Converted<byte>{0, status::kNegativeToUnsigned}));
  EXPECT_EQ((convert<s32, f16>(65520, RoundMode::rint)), (Converted<f16>{kF16Inf, status::kFloatOverflow}));
  EXPECT_EQ((convert<f32, bf16>(f(0x1p-135), RoundMode::rint)), (Converted<bf16>{0, status::kFloatUnderflow}));
}

// The published boundary tables: half to int16 of 65504 can only be 32767; an f32 -0 becomes +0.
TEST(Convert, DocumentedEdges) {
  EXPECT_EQ((convert<f16, s16>(kF16Max, RoundMode::rint).value), 32767);
  EXPECT_EQ((convert<f32, f32>(0x80000000, RoundMode::rint).value), 0u);
  EXPECT_EQ((convert<f32, f32>(std::bit_cast<u32>(0.5f), RoundMode::ceil).value), kF32One);
  EXPECT_EQ((convert<f32, f32>(std::bit_cast<u32>(0.5f), RoundMode::rint).value), 0u);
}

TEST(Convert, SaturationModeOf16BitFloats) {
  LaneBuffer a{}, out{};
  oracle::set_lane_bits(a, f32, 0, 0x7f7fffff);
  oracle::set_lane_bits(a, f32, 1, 0xff800000);
  oracle::set_lane_bits(a, f32, 2, 0x7f800001);
  for (const Path path : {Path::fastest, Path::portable}) {
    const u64 want = status::kFloatOverflow | status::kVectorNanInf;
    EXPECT_EQ(convert_kernel(f32, bf16, RoundMode::rint, path)(a, out, {OverflowMode::saturation}), want);
    EXPECT_EQ(oracle::lane_bits_at(out, bf16, 0), kBf16Max);
    EXPECT_EQ(oracle::lane_bits_at(out, bf16, 1), kBf16Max | 0x8000u);
    EXPECT_EQ(oracle::lane_bits_at(out, bf16, 2), 0u);
    EXPECT_EQ(convert_kernel(f32, bf16, RoundMode::rint, path)(a, out, {OverflowMode::inf_nan}), want);
    EXPECT_EQ(oracle::lane_bits_at(out, bf16, 0), kBf16Inf);
    EXPECT_EQ(oracle::lane_bits_at(out, bf16, 2), kBf16Nan);
  }
}

TEST(Convert, Bfloat16OnHostTypes) {
  EXPECT_EQ(bf16_value(0x3fc0), 1.5f);
  EXPECT_EQ(bf16_bits(1 + 0x1p-8 + 0x1p-40), 0x3f81);  // not by way of f32
  EXPECT_EQ(f32_to_bf16(0x3f808000), 0x3f80);
  EXPECT_EQ(saturate_bf16(kBf16Inf, OverflowMode::inf_nan), kBf16Inf);
  EXPECT_EQ(bf16_to_f32(0xff81), kF32Nan);
}

TEST(Convert, Hf32MatchesMpfr) {
  auto rounder = oracle::Rounder::to_hf32();
  for (const u64 x : inputs(f32)) {
    const u32 bits = static_cast<u32>(x);
    const double value = oracle::f32(bits);
    const auto expected = [&](mpfr_rnd_t mode) { return oracle::f32_encode(rounder.value(value, mode)); };
    ASSERT_EQ(round_to_hf32(bits, Hf32::ties_to_even), expected(MPFR_RNDN)) << std::hex << bits;
    // MPFR has ties to even only; a tie has the upper one of the 12 bits that go.
    const bool tie = f32_finite(bits) && (bits & 0xfff) == 0x800;
    ASSERT_EQ(round_to_hf32(bits, Hf32::ties_to_zero), expected(tie ? MPFR_RNDZ : MPFR_RNDN)) << std::hex << bits;
    ASSERT_EQ(round_to_hf32(bits, Hf32::ties_away), expected(tie ? MPFR_RNDA : MPFR_RNDN)) << std::hex << bits;
    ASSERT_EQ(round_to_hf32(bits, Hf32::off), bits);
  }
}

TEST(ShadowKernels, RoundToTouchesNothingBehindItsLanes) {
  constexpr double kThird = 1.0 / 3, kRounded = 0x1.554p-2;  // to 10 bits of the fraction
  for (usize count = 0; count <= 20; ++count) {
    std::array<double, 32> values;
    values.fill(kThird);
    shadow_kernels::round_to(shadow_kernels::range_of(f16), 0, values.data(), count);
    for (usize i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], i < count ? kRounded : kThird) << i << " of " << count;
  }
}

}  // namespace
}  // namespace vinci::isa
