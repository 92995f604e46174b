// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "isa/numeric/lanes.h"
#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/numeric_oracle.h"

namespace vinci::isa {
namespace {

constexpr std::array kOverflowModes{OverflowMode::saturation, OverflowMode::inf_nan};
constexpr std::array kUnaryOps{UnaryOp::relu, UnaryOp::abs, UnaryOp::exp};

template <class T>
LaneBuffer buffer_of(const std::vector<T>& lanes) {
  LaneBuffer b{};
  std::memcpy(b.bytes.data(), lanes.data(), std::min<usize>(lanes.size() * sizeof(T), kRepeatBytes));
  return b;
}
template <class T>
T lane(const LaneBuffer& b, usize i) {
  T x;
  std::memcpy(&x, b.bytes.data() + i * sizeof(T), sizeof(T));
  return x;
}

// Operands cut into repeats.
template <class T>
std::vector<LaneBuffer> repeats_of(const std::vector<T>& values) {
  constexpr usize kLanes = kRepeatBytes / sizeof(T);
  std::vector<LaneBuffer> out;
  for (usize i = 0; i < values.size(); i += kLanes) {
    std::vector<T> part(values.begin() + static_cast<std::ptrdiff_t>(i),
                        values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), i + kLanes)));
    part.resize(kLanes, part.front());
    out.push_back(buffer_of(part));
  }
  return out;
}

std::vector<u16> all_f16() {
  std::vector<u16> out(65536);
  for (usize i = 0; i < out.size(); ++i)
    out[i] = static_cast<u16>(i);
  return out;
}

// f32 values that matter to f16: every f16, every midpoint, their neighbours, the edges of f32, random bits.
std::vector<u32> interesting_f32() {
  std::vector<u32> out{0,          1,          0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
                       0x7fffffff, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000, 0x33000000, 0x33000001};
  for (u32 i = 0; i < 0x7c00; ++i) {
    const float here = static_cast<float>(oracle::f16(static_cast<u16>(i)));
    const u32 bits = std::bit_cast<u32>(here);
    const float next = i == 0x7bff ? 65536.0f : static_cast<float>(oracle::f16(static_cast<u16>(i + 1)));
    const u32 middle = std::bit_cast<u32>((here + next) / 2);
    for (const u32 x : {bits + 1, bits - (i != 0), middle - 1, middle, middle + 1})
      out.push_back(x);
  }
  oracle::Random random(oracle::seed(5));
  for (int i = 0; i < 200'000; ++i)
    out.push_back(static_cast<u32>(random.next()));
  const usize n = out.size();
  for (usize i = 0; i < n; ++i)
    out.push_back(out[i] ^ 0x80000000);
  return out;
}

void expect_same(const LaneBuffer& got, const LaneBuffer& want, usize bytes, u64 got_status, u64 want_status,
                 const std::string& what) {
  ASSERT_EQ(std::memcmp(got.bytes.data(), want.bytes.data(), bytes), 0) << what;
  ASSERT_EQ(got_status, want_status) << what;
}

void compare_unary(UnaryKernel fast, UnaryKernel portable, const std::vector<LaneBuffer>& in, usize bytes,
                   const std::string& what) {
  ASSERT_NE(fast, portable) << what << " has no SIMD kernel";
  for (const OverflowMode mode : kOverflowModes) {
    for (const LaneBuffer& a : in) {
      LaneBuffer got{}, want{};
      const u64 got_status = fast(a, got, {mode});
      expect_same(got, want, 0, got_status, portable(a, want, {mode}), what);
      expect_same(got, want, bytes, 0, 0, what);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Lanes, ConversionsEqualThePortablePathOnEveryTarget) {
  const auto f16 = repeats_of(all_f16());
  const auto f32 = repeats_of(interesting_f32());
  each_target([&] {
    const auto convert = [](LaneType from, LaneType to, Path path) {
      return convert_kernel(from, to, RoundMode::rint, path);
    };
    compare_unary(convert(LaneType::f16, LaneType::f32, Path::fastest),
                  convert(LaneType::f16, LaneType::f32, Path::portable), f16, kRepeatBytes, "widen");
    compare_unary(convert(LaneType::f32, LaneType::f16, Path::fastest),
                  convert(LaneType::f32, LaneType::f16, Path::portable), f32, kRepeatBytes / 2, "narrow");
  });
}

TEST(Lanes, UnaryEqualsThePortablePathOnEveryTarget) {
  const auto f16 = repeats_of(all_f16());
  const auto f32 = repeats_of(interesting_f32());
  each_target([&] {
    for (const UnaryOp op : {UnaryOp::relu, UnaryOp::abs}) {
      const auto compare = [&](LaneType type, const std::vector<LaneBuffer>& in) {
        compare_unary(unary_kernel(op, type), unary_kernel(op, type, Path::portable), in, kRepeatBytes,
                      std::string(name(type)));
      };
      compare(LaneType::f16, f16);
      compare(LaneType::f32, f32);
    }
  });
}

TEST(Lanes, MissingOperationsHaveNoKernel) {
  EXPECT_EQ(binary_kernel(BinaryOp::div, LaneType::s32), nullptr);
  EXPECT_EQ(binary_kernel(BinaryOp::add, LaneType::u16), nullptr);
  EXPECT_EQ(unary_kernel(UnaryOp::exp, LaneType::s32), nullptr);
  for (const UnaryOp op : kUnaryOps)
    EXPECT_NE(unary_kernel(op, LaneType::f16), nullptr);
}

struct StatusCase {
  double a, b;
  u64 status;
  u16 inf_nan, saturated;
};

void check_status(BinaryOp op, const std::vector<StatusCase>& cases) {
  for (const StatusCase& c : cases) {
    for (const Path path : {Path::fastest, Path::portable}) {
      LaneBuffer a = buffer_of(std::vector<u16>(128, kF16One));
      LaneBuffer b = a;
      const u16 x = f16_bits(c.a), y = f16_bits(c.b);
      std::memcpy(a.bytes.data() + 2 * 77, &x, 2);
      std::memcpy(b.bytes.data() + 2 * 77, &y, 2);
      LaneBuffer out{};
      EXPECT_EQ(binary_kernel(op, LaneType::f16, path)(a, b, out, {OverflowMode::inf_nan}), c.status)
          << c.a << ' ' << c.b;
      EXPECT_EQ(lane<u16>(out, 77), c.inf_nan) << c.a << ' ' << c.b;
      EXPECT_EQ(binary_kernel(op, LaneType::f16, path)(a, b, out, {OverflowMode::saturation}), c.status);
      EXPECT_EQ(lane<u16>(out, 77), c.saturated) << c.a << ' ' << c.b;
    }
  }
}

TEST(Lanes, StatusSaysWhatHappenedBeforeSaturation) {
  const double inf = HUGE_VAL;
  const double nan = std::nan("");
  check_status(BinaryOp::add, {{65504, 16, status::kFloatOverflow, 0x7c00, 0x7bff},
                               {65504, 15, 0, 0x7bff, 0x7bff},
                               {-65504, -65504, status::kFloatOverflow, 0xfc00, 0xfbff},
                               {inf, -inf, status::kVectorNanInf, 0x7e00, 0},
                               {inf, 1, status::kVectorNanInf, 0x7c00, 0x7bff},
                               {nan, 1, status::kVectorNanInf, 0x7e00, 0}});
  check_status(BinaryOp::mul, {{256, 256, status::kFloatOverflow, 0x7c00, 0x7bff},
                               {0x1p-24, 0x1p-1, status::kFloatUnderflow, 0, 0},
                               {-0x1p-24, 0x1p-1, status::kFloatUnderflow, 0x8000, 0x8000},
                               {0x1p-24, 0.75, 0, 1, 1},
                               {0, 0x1p-24, 0, 0, 0},
                               {inf, 0, status::kVectorNanInf, 0x7e00, 0}});
  check_status(BinaryOp::div, {{1, 0, status::kFloatOverflow, 0x7c00, 0x7bff},
                               {0, 0, status::kFloatOverflow, 0x7e00, 0},
                               {0x1p-24, 4, status::kFloatUnderflow, 0, 0},
                               {1, -inf, status::kVectorNanInf, 0x8000, 0x8000}});
  check_status(BinaryOp::max,
               {{nan, 1, status::kVectorNanInf, 0x7e00, 0}, {-inf, 1, status::kVectorNanInf, 0x3c00, 0x3c00}});
}

TEST(Lanes, F32ResultsAreNeverSaturated) {
  const LaneBuffer big = buffer_of(std::vector<u32>(64, 0x7f7fffff));
  for (const Path path : {Path::fastest, Path::portable}) {
    LaneBuffer out{};
    EXPECT_EQ(binary_kernel(BinaryOp::add, LaneType::f32, path)(big, big, out, {OverflowMode::saturation}),
              status::kFloatOverflow);
    EXPECT_EQ(lane<u32>(out, 63), kF32Inf);
  }
}

TEST(Lanes, IntegersWrapOrSaturate) {
  const LaneBuffer a = buffer_of(std::vector<i16>{32767, -32768, 300, -5});
  const LaneBuffer b = buffer_of(std::vector<i16>{1, -1, 300, 7});
  LaneBuffer out{};
  EXPECT_EQ(binary_kernel(BinaryOp::add, LaneType::s16)(a, b, out, {}), status::kFloatOverflow);
  EXPECT_EQ(lane<i16>(out, 0), -32768);
  EXPECT_EQ(lane<i16>(out, 1), 32767);
  EXPECT_EQ(lane<i16>(out, 3), 2);
  EXPECT_EQ(binary_kernel(BinaryOp::add, LaneType::s16)(a, b, out, {OverflowMode::inf_nan, true}),
            status::kFloatOverflow);
  EXPECT_EQ(lane<i16>(out, 0), 32767);
  EXPECT_EQ(lane<i16>(out, 1), -32768);
  EXPECT_EQ(binary_kernel(BinaryOp::mul, LaneType::s16)(a, b, out, {}), status::kFloatOverflow);
  EXPECT_EQ(lane<i16>(out, 2), static_cast<i16>(90000 - 65536));
  EXPECT_EQ(lane<i16>(out, 3), -35);
  const LaneBuffer c = buffer_of(std::vector<i32>{-2147483647 - 1, 5, 46341});
  EXPECT_EQ(binary_kernel(BinaryOp::mul, LaneType::s32)(c, c, out, {OverflowMode::inf_nan, true}),
            status::kFloatOverflow);
  EXPECT_EQ(lane<i32>(out, 0), 2147483647);
  EXPECT_EQ(lane<i32>(out, 1), 25);
  EXPECT_EQ(lane<i32>(out, 2), 2147483647);
  EXPECT_EQ(binary_kernel(BinaryOp::max, LaneType::s32)(c, buffer_of(std::vector<i32>(64, 0)), out, {}), 0u);
  EXPECT_EQ(lane<i32>(out, 0), 0);
  EXPECT_EQ(unary_kernel(UnaryOp::relu, LaneType::s32)(c, out, {}), 0u);
  EXPECT_EQ(lane<i32>(out, 0), 0);
  EXPECT_EQ(lane<i32>(out, 2), 46341);
}

TEST(Lanes, ExponentialRaisesStatus) {
  const UnaryKernel exp16 = unary_kernel(UnaryOp::exp, LaneType::f16);
  LaneBuffer out{};
  const auto one = [](double x) { return buffer_of(std::vector<u16>(128, f16_bits(x))); };
  EXPECT_EQ(exp16(one(12), out, {OverflowMode::saturation}), status::kFloatOverflow);
  EXPECT_EQ(lane<u16>(out, 0), kF16Max);
  EXPECT_EQ(exp16(one(12), out, {OverflowMode::inf_nan}), status::kFloatOverflow);
  EXPECT_EQ(lane<u16>(out, 127), kF16Inf);
  EXPECT_EQ(exp16(one(-18), out, {}), status::kFloatUnderflow);
  EXPECT_EQ(exp16(one(-HUGE_VAL), out, {}), status::kVectorNanInf);
  EXPECT_EQ(lane<u16>(out, 1), 0);
  EXPECT_EQ(exp16(one(1), out, {}), 0u);
  EXPECT_EQ(lane<u16>(out, 1), f16_bits(2.718281828));
}

}  // namespace
}  // namespace vinci::isa
