// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/lane_samples.h"

// Every SIMD kernel against the portable one, value and STATUS, on every vector instruction set of this machine.
namespace vinci::isa {
namespace {

constexpr std::array kTypes{LaneType::f16, LaneType::f32, LaneType::s16, LaneType::u16,  LaneType::s32, LaneType::u32,
                            LaneType::s8,  LaneType::u8,  LaneType::s4,  LaneType::bf16, LaneType::s64};
constexpr std::array kRounds{RoundMode::rint,  RoundMode::floor, RoundMode::ceil,
                             RoundMode::round, RoundMode::trunc, RoundMode::odd};

void expect_same(const LaneBuffer& got, const LaneBuffer& want, u64 got_status, u64 want_status,
                 const std::string& what) {
  ASSERT_EQ(got_status, want_status) << what;
  ASSERT_EQ(std::memcmp(got.bytes.data(), want.bytes.data(), kRepeatBytes), 0) << what;
}

void compare_unary(UnaryKernel fast, UnaryKernel portable, LaneType from, const std::string& what, u32& compared) {
  if (fast == portable) return;
  ++compared;
  const auto in = samples(from, 11, 480);
  for (const LaneMode& mode : kModes) {
    for (const LaneBuffer& a : in) {
      LaneBuffer got{}, want{};
      const u64 got_status = fast(a, got, mode);
      expect_same(got, want, got_status, portable(a, want, mode), what);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Simd, Unary) {
  each_target([&] {
    u32 compared = 0;
    for (const UnaryOp op : {UnaryOp::relu, UnaryOp::abs, UnaryOp::exp, UnaryOp::ln, UnaryOp::rec, UnaryOp::sqrt,
                             UnaryOp::rsqrt, UnaryOp::not_}) {
      for (const LaneType type : kTypes) {
        compare_unary(unary_kernel(op, type), unary_kernel(op, type, Path::portable), type,
                      std::string(name(type)) + " op " + std::to_string(static_cast<int>(op)), compared);
      }
    }
    EXPECT_GE(compared, 6u);
  });
}

TEST(Simd, Convert) {
  each_target([&] {
    u32 compared = 0;
    for (const LaneType from : kTypes) {
      for (const LaneType to : kTypes) {
        for (const RoundMode round : kRounds) {
          compare_unary(convert_kernel(from, to, round), convert_kernel(from, to, round, Path::portable), from,
                        std::string(name(from)) + " to " + std::string(name(to)) + ' ' + std::string(name(round)),
                        compared);
        }
      }
    }
    EXPECT_GE(compared, 60u);
  });
}

void compare_binary(BinaryKernel fast, BinaryKernel portable, LaneType src, LaneType dst, const std::string& what,
                    u32& compared) {
  if (fast == portable) return;
  ++compared;
  const auto a = samples(src, 12, 240, 12, 1);
  const auto b = samples(src, 13, 240, 12, 3);
  const auto held = samples(dst, 14, 240, 12, 7);
  for (const LaneMode& mode : kModes) {
    for (usize i = 0; i < a.size(); ++i) {
      LaneBuffer got = held[i % held.size()], want = got;
      const u64 got_status = fast(a[i], b[i], got, mode);
      expect_same(got, want, got_status, portable(a[i], b[i], want, mode), what);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Simd, Binary) {
  each_target([&] {
    u32 compared = 0;
    for (int op = 0; op <= static_cast<int>(BinaryOp::shr_round); ++op) {
      for (const LaneType type : kTypes) {
        const BinaryOp o = static_cast<BinaryOp>(op);
        compare_binary(binary_kernel(o, type), binary_kernel(o, type, Path::portable), type, type,
                       std::string(name(type)) + " op " + std::to_string(op), compared);
      }
    }
    EXPECT_GE(compared, 26u);
  });
}

TEST(Simd, Ternary) {
  each_target([&] {
    u32 compared = 0;
    for (const TernaryOp op : {TernaryOp::madd, TernaryOp::madd_relu, TernaryOp::mla}) {
      for (const LaneType dst : {LaneType::f16, LaneType::f32}) {
        for (const LaneType src : {LaneType::f16, LaneType::f32}) {
          compare_binary(ternary_kernel(op, dst, src), ternary_kernel(op, dst, src, Path::portable), src, dst,
                         std::string(name(dst)) + " op " + std::to_string(static_cast<int>(op)), compared);
        }
      }
    }
    EXPECT_GE(compared, 4u);
  });
}

TEST(Simd, Compare) {
  each_target([&] {
    for (const LaneType type : {LaneType::f16, LaneType::f32, LaneType::s16, LaneType::s32}) {
      const auto a = samples(type, 15, 240, 12, 1);
      const auto b = samples(type, 16, 240, 12, 3);
      for (int op = 0; op < 6; ++op) {
        const CompareOp o = static_cast<CompareOp>(op);
        const CompareKernel fast = compare_kernel(o, type);
        const CompareKernel portable = compare_kernel(o, type, Path::portable);
        ASSERT_NE(fast, portable);
        for (usize i = 0; i < a.size(); ++i) {
          LaneBits got{~u64{0}, ~u64{0}}, want{};
          ASSERT_EQ(fast(a[i], b[i], got), portable(a[i], b[i], want))
              << name(type) << ' ' << kCompareOpNames[static_cast<usize>(op)];
          ASSERT_EQ(got, want) << name(type) << ' ' << kCompareOpNames[static_cast<usize>(op)];
        }
      }
    }
  });
}

}  // namespace
}  // namespace vinci::isa
