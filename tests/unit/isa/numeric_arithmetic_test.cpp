// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "isa/numeric/lanes.h"
#include "tests/unit/isa/numeric_oracle.h"

// Operations of two and three operands, through the portable kernels: floats against MPFR, integers against wider ones.
namespace vinci::isa {
namespace {

template <class T>
LaneBuffer fill(const std::array<T, kRepeatBytes / sizeof(T)>& lanes) {
  LaneBuffer b{};
  std::memcpy(b.bytes.data(), lanes.data(), kRepeatBytes);
  return b;
}
template <class T>
std::array<T, kRepeatBytes / sizeof(T)> lanes_of(const LaneBuffer& b) {
  std::array<T, kRepeatBytes / sizeof(T)> lanes;
  std::memcpy(lanes.data(), b.bytes.data(), kRepeatBytes);
  return lanes;
}

// f32 operands: any bits; few bits and close exponents, where ties and cancellation are frequent; tiny and huge ones.
u32 operand_f32(oracle::Random& random, usize kind) {
  const u64 r = random.next();
  const u32 sign = static_cast<u32>(r >> 63) << 31;
  switch (kind % 4) {
    case 0: return static_cast<u32>(r);
    case 1: return sign | (120 + static_cast<u32>(r >> 40) % 14) << 23 | (static_cast<u32>(r) & 0x7ff) << 12;
    case 2: return sign | (static_cast<u32>(r >> 40) % 80) << 23 | (static_cast<u32>(r) & 0x7fffff);
    default: return sign | (178 + static_cast<u32>(r >> 40) % 77) << 23 | (static_cast<u32>(r) & 0x7ff) << 12;
  }
}

struct BinaryF32 {
  BinaryOp op;
  oracle::Rounder::Operation oracle;
};
class ArithmeticF32 : public testing::TestWithParam<BinaryF32> {};

// A million pairs; pairs of kinds meet in all combinations.
TEST_P(ArithmeticF32, MatchesMpfr) {
  const BinaryKernel kernel = binary_kernel(GetParam().op, LaneType::f32, Path::portable);
  auto rounder = oracle::Rounder::to_f32();
  oracle::Random random(oracle::seed(31));
  for (usize round = 0; round < 1'000'000 / 64; ++round) {
    std::array<u32, 64> a, b;
    for (usize i = 0; i < 64; ++i) {
      a[i] = operand_f32(random, i);
      b[i] = operand_f32(random, i / 4);
    }
    LaneBuffer out{};
    kernel(fill<u32>(a), fill<u32>(b), out, {OverflowMode::saturation});  // f32 is never saturated
    const auto got = lanes_of<u32>(out);
    for (usize i = 0; i < 64; ++i) {
      ASSERT_EQ(got[i], oracle::f32_encode(rounder.binary(GetParam().oracle, oracle::f32(a[i]), oracle::f32(b[i]))))
          << std::hex << a[i] << ' ' << b[i];
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Operations, ArithmeticF32,
                         testing::Values(BinaryF32{BinaryOp::add, mpfr_add}, BinaryF32{BinaryOp::sub, mpfr_sub},
                                         BinaryF32{BinaryOp::mul, mpfr_mul}, BinaryF32{BinaryOp::div, mpfr_div}));

// ---------------------------------------------------------------------------------------------------------------------
// x * y + z with one rounding

struct Fused {
  TernaryOp op;
  LaneType dst, src;
};
class FusedForms : public testing::TestWithParam<Fused> {};

u32 encode(LaneType type, double x) { return type == LaneType::f16 ? oracle::f16_encode(x) : oracle::f32_encode(x); }
double decode(LaneType type, u32 bits) {
  return type == LaneType::f16 ? oracle::f16(static_cast<u16>(bits)) : oracle::f32(bits);
}
u32 lane(const LaneBuffer& b, LaneType type, usize i) {
  u32 bits = 0;
  std::memcpy(&bits, b.bytes.data() + i * lane_bytes(type), lane_bytes(type));
  return bits;
}
void set_lane(LaneBuffer& b, LaneType type, usize i, u32 bits) {
  std::memcpy(b.bytes.data() + i * lane_bytes(type), &bits, lane_bytes(type));
}

TEST_P(FusedForms, MatchMpfrOnAMillionTriples) {
  const auto [op, dst, src] = GetParam();
  const TernaryKernel kernel = ternary_kernel(op, dst, src, Path::portable);
  ASSERT_NE(kernel, nullptr);
  auto rounder = dst == LaneType::f16 ? oracle::Rounder::to_f16() : oracle::Rounder::to_f32();
  oracle::Random random(oracle::seed(32));
  const usize lanes = kRepeatBytes / lane_bytes(dst);
  for (usize round = 0; round < 1'000'000 / lanes; ++round) {
    LaneBuffer a{}, b{}, held{};
    for (usize i = 0; i < lanes; ++i) {
      const auto operand = [&](LaneType type, usize kind) {
        return type == LaneType::f16 ? static_cast<u32>(random.next() & 0xffff) : operand_f32(random, kind);
      };
      set_lane(a, src, i, operand(src, i));
      set_lane(b, src, i, operand(src, i / 4));
      set_lane(held, dst, i, operand(dst, i / 16));
      if (i % 5 == 0) {
        // An addend near the negative of the product: cancellation, exact zeros, underflow.
        const double x = op == TernaryOp::mla ? decode(src, lane(b, src, i)) : decode(dst, lane(held, dst, i));
        const u32 near = encode(dst, static_cast<double>(static_cast<float>(-x * decode(src, lane(a, src, i)))));
        const u32 bits = dst == LaneType::f16 ? f16_bits(-x * decode(src, lane(a, src, i))) : near;
        const u32 moved = bits + static_cast<u32>(random.next() % 3) - 1;
        op == TernaryOp::mla ? set_lane(held, dst, i, moved) : set_lane(b, src, i, moved);
      }
    }
    LaneBuffer out = held;
    u64 want_status = 0;
    const u64 got_status = kernel(a, b, out, {});
    for (usize i = 0; i < lanes; ++i) {
      const double p = decode(src, lane(a, src, i)), q = decode(src, lane(b, src, i));
      const double h = decode(dst, lane(held, dst, i));
      const double x = op == TernaryOp::mla ? q : h, z = op == TernaryOp::mla ? h : q;
      double want = rounder.fma(x, p, z);
      if (!std::isfinite(p) || !std::isfinite(q) || !std::isfinite(h)) {
        want_status |= status::kVectorNanInf;
      } else if (!std::isfinite(want)) {
        want_status |= status::kFloatOverflow;
      } else if (want == 0 && x * p != -z) {  // in binary64 the product is exact
        want_status |= status::kFloatUnderflow;
      }
      if (op == TernaryOp::madd_relu && (want < 0 || want == 0)) want = 0;
      ASSERT_EQ(lane(out, dst, i), encode(dst, want)) << x << " * " << p << " + " << z;
    }
    ASSERT_EQ(got_status, want_status);
  }
}
INSTANTIATE_TEST_SUITE_P(Operations, FusedForms,
                         testing::Values(Fused{TernaryOp::mla, LaneType::f16, LaneType::f16},
                                         Fused{TernaryOp::madd, LaneType::f16, LaneType::f16},
                                         Fused{TernaryOp::madd_relu, LaneType::f16, LaneType::f16},
                                         Fused{TernaryOp::mla, LaneType::f32, LaneType::f32},
                                         Fused{TernaryOp::madd, LaneType::f32, LaneType::f32},
                                         Fused{TernaryOp::madd_relu, LaneType::f32, LaneType::f32},
                                         Fused{TernaryOp::mla, LaneType::f32, LaneType::f16}));

// By way of f32, or of f64 and then f32, this would be 7872.
TEST(Fused, F16IsNotRoundedTwice) {
  for (const Path path : {Path::fastest, Path::portable}) {
    LaneBuffer a{}, b{}, out{};
    set_lane(a, LaneType::f16, 5, 0xd31c);
    set_lane(b, LaneType::f16, 5, 0xe100);
    set_lane(out, LaneType::f16, 5, 0x953b);
    EXPECT_EQ(ternary_kernel(TernaryOp::mla, LaneType::f16, LaneType::f16, path)(a, b, out, {}), 0u);
    EXPECT_EQ(lane(out, LaneType::f16, 5), 0x7871u);
    EXPECT_EQ(lane(out, LaneType::f16, 4), 0u);
  }
}

TEST(Fused, SaturatesAfterTheRelu) {
  LaneBuffer a{}, b{}, out{};
  for (const usize i : {0u, 1u, 2u})
    set_lane(a, LaneType::f16, i, 0x7bff);
  set_lane(out, LaneType::f16, 0, 0x7bff);
  set_lane(out, LaneType::f16, 1, 0xfbff);
  set_lane(out, LaneType::f16, 2, kF16Nan);
  const LaneBuffer held = out;
  const TernaryKernel kernel = ternary_kernel(TernaryOp::madd_relu, LaneType::f16, LaneType::f16);
  EXPECT_EQ(kernel(a, b, out, {OverflowMode::saturation}), status::kFloatOverflow | status::kVectorNanInf);
  EXPECT_EQ(lane(out, LaneType::f16, 0), kF16Max);
  EXPECT_EQ(lane(out, LaneType::f16, 1), 0u);
  EXPECT_EQ(lane(out, LaneType::f16, 2), 0u);
  out = held;
  kernel(a, b, out, {});
  EXPECT_EQ(lane(out, LaneType::f16, 0), kF16Inf);
  EXPECT_EQ(lane(out, LaneType::f16, 2), kF16Nan);
}

// ---------------------------------------------------------------------------------------------------------------------
// relu of sums, leaky relu

TEST(Relu, OfSumsAndLeaky) {
  const auto one = [](BinaryOp op, LaneType type, u32 x, u32 y, LaneMode mode) {
    LaneBuffer a{}, b{}, out{};
    set_lane(a, type, 3, x);
    set_lane(b, type, 3, y);
    const u64 raised = binary_kernel(op, type, Path::portable)(a, b, out, mode);
    return std::pair(lane(out, type, 3), raised);
  };
  const LaneMode ieee{}, saturating{OverflowMode::saturation, true};
  using Result = std::pair<u32, u64>;
  const auto h = [](double x) { return u32{f16_bits(x)}; };
  EXPECT_EQ(one(BinaryOp::add_relu, LaneType::f16, h(2), h(-3), ieee), (Result{0, 0}));
  EXPECT_EQ(one(BinaryOp::sub_relu, LaneType::f16, h(2), h(-3), ieee), (Result{h(5), 0}));
  EXPECT_EQ(one(BinaryOp::add_relu, LaneType::f16, h(-60000), h(-60000), ieee), (Result{0, status::kFloatOverflow}));
  EXPECT_EQ(one(BinaryOp::add_relu, LaneType::f16, h(60000), h(60000), saturating),
            (Result{kF16Max, status::kFloatOverflow}));
  EXPECT_EQ(one(BinaryOp::add_relu, LaneType::f32, kF32Nan, kF32One, saturating),
            (Result{kF32Nan, status::kVectorNanInf}));
  EXPECT_EQ(one(BinaryOp::sub_relu, LaneType::f32, 0x80000000, 0, ieee), (Result{0, 0}));  // -0 - +0 = -0
  EXPECT_EQ(one(BinaryOp::add_relu, LaneType::s16, 0x7fff, 1, saturating), (Result{0x7fff, status::kFloatOverflow}));
  EXPECT_EQ(one(BinaryOp::add_relu, LaneType::s16, 0x7fff, 1, ieee), (Result{0, status::kFloatOverflow}));
  EXPECT_EQ(one(BinaryOp::sub_relu, LaneType::s16, 5, 3, ieee), (Result{2, 0}));
  EXPECT_EQ(one(BinaryOp::lrelu, LaneType::f16, h(-2), h(0.25), ieee), (Result{h(-0.5), 0}));
  EXPECT_EQ(one(BinaryOp::lrelu, LaneType::f16, h(2), h(0.25), ieee), (Result{h(2), 0}));
  EXPECT_EQ(one(BinaryOp::lrelu, LaneType::f16, 0x8000, h(0.25), ieee), (Result{0x8000, 0}));
  EXPECT_EQ(one(BinaryOp::lrelu, LaneType::f16, 0x8001, h(0.25), ieee), (Result{0x8000, status::kFloatUnderflow}));
  EXPECT_EQ(one(BinaryOp::lrelu, LaneType::f32, 0xffc00000, kF32One, ieee), (Result{kF32Nan, status::kVectorNanInf}));
  EXPECT_EQ(one(BinaryOp::lrelu, LaneType::f16, 0xfc00, h(1), saturating),
            (Result{kF16Max | 0x8000, status::kVectorNanInf}));
}

// ---------------------------------------------------------------------------------------------------------------------
// Integers and bits

template <class T>
class Integers : public testing::Test {
 public:
  static constexpr LaneType kType = sizeof(T) == 2 ? (std::is_signed_v<T> ? LaneType::s16 : LaneType::u16)
                                                   : (std::is_signed_v<T> ? LaneType::s32 : LaneType::u32);
};
using IntegerTypes = testing::Types<i16, u16, i32, u32>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

__extension__ typedef __int128 Wide;

// Shifts by every distance, against multiplication and division by powers of two in 128 bits.
TYPED_TEST(Integers, Shifts) {
  using T = TypeParam;
  constexpr usize kLanes = kRepeatBytes / sizeof(T);
  constexpr unsigned kBits = 8 * sizeof(T);
  oracle::Random random(oracle::seed(33));
  for (unsigned distance = 0; distance <= kBits; ++distance) {
    std::array<T, kLanes> x, by;
    for (usize i = 0; i < kLanes; ++i) {
      x[i] = i < 4 ? std::array<T, 4>{0, static_cast<T>(-1), std::numeric_limits<T>::max(),
                                      std::numeric_limits<T>::min()}[i]
                   : static_cast<T>(random.next());
      by[i] = static_cast<T>(distance);
    }
    for (const BinaryOp op : {BinaryOp::shl, BinaryOp::shr, BinaryOp::shr_round}) {
      LaneBuffer out{};
      EXPECT_EQ(binary_kernel(op, TestFixture::kType)(fill<T>(x), fill<T>(by), out, {OverflowMode::inf_nan, true}), 0u);
      const auto got = lanes_of<T>(out);
      for (usize i = 0; i < kLanes; ++i) {
        const Wide wide = x[i];
        const Wide power = Wide{1} << distance;
        Wide want = wide * power;
        if (op != BinaryOp::shl) {
          const Wide rest = ((wide % power) + power) % power;
          want = (wide - rest) / power;
          // Only signed types round: up if the last bit cut off is one, that is from half on.
          if (op == BinaryOp::shr_round && std::is_signed_v<T> && distance > 0 && 2 * rest >= power) ++want;
        }
        ASSERT_EQ(got[i], static_cast<T>(want)) << +x[i] << " by " << distance;
      }
    }
  }
}

Wide exact_result(BinaryOp op, Wide a, Wide b) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::add_relu: return a + b;
    case BinaryOp::sub:
    case BinaryOp::sub_relu: return a - b;
    case BinaryOp::mul: return a * b;
    case BinaryOp::max: return std::max(a, b);
    default: return std::min(a, b);
  }
}

// Sums, products and extremes of s16 and s32, wrapping and stopping at the limits, against 128 bits.
template <class T>
void check_integers(LaneType type) {
  using Limits = std::numeric_limits<T>;
  constexpr usize kLanes = kRepeatBytes / sizeof(T);
  constexpr std::array kEdges{T{0}, T{1}, T{-1}, Limits::max(), Limits::min(), T{Limits::max() - 1}, T{181}, T{-182}};
  oracle::Random random(oracle::seed(35));
  for (int round = 0; round < 200; ++round) {
    std::array<T, kLanes> x, y;
    for (usize i = 0; i < kLanes; ++i) {
      const u64 r = random.next();
      x[i] = round < 8 ? kEdges[i % 8] : static_cast<T>(r >> (round % 2 == 0 ? 0 : 64 - 4 * sizeof(T)));
      y[i] = round < 8 ? kEdges[static_cast<usize>(round)] : static_cast<T>(random.next() >> (round % 3 * 20));
    }
    for (const BinaryOp op : {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::max, BinaryOp::min,
                              BinaryOp::add_relu, BinaryOp::sub_relu}) {
      for (const bool saturate : {false, true}) {
        LaneBuffer out{};
        const u64 got_status =
            binary_kernel(op, type, Path::portable)(fill<T>(x), fill<T>(y), out, {OverflowMode::inf_nan, saturate});
        u64 want_status = 0;
        for (usize i = 0; i < kLanes; ++i) {
          const Wide a = x[i], b = y[i];
          Wide want = exact_result(op, a, b);
          if (want > Limits::max() || want < Limits::min()) {
            want_status = status::kFloatOverflow;
            want = saturate ? (want < 0 ? Limits::min() : Limits::max()) : static_cast<T>(want);
          }
          if (op == BinaryOp::add_relu || op == BinaryOp::sub_relu) want = std::max<Wide>(want, 0);
          ASSERT_EQ(lanes_of<T>(out)[i], static_cast<T>(want)) << x[i] << ' ' << y[i];
        }
        ASSERT_EQ(got_status, want_status);
      }
    }
  }
}
TEST(Integers16, SumsAndProducts) { check_integers<i16>(LaneType::s16); }
TEST(Integers32, SumsAndProducts) { check_integers<i32>(LaneType::s32); }

TEST(Bits, AndOrNot) {
  oracle::Random random(oracle::seed(34));
  std::array<u16, 128> x, y;
  for (usize i = 0; i < 128; ++i) {
    x[i] = static_cast<u16>(random.next());
    y[i] = static_cast<u16>(random.next());
  }
  for (const LaneType type : {LaneType::s16, LaneType::u16}) {
    LaneBuffer both{}, any{}, inverse{};
    EXPECT_EQ(binary_kernel(BinaryOp::and_, type)(fill<u16>(x), fill<u16>(y), both, {}), 0u);
    EXPECT_EQ(binary_kernel(BinaryOp::or_, type)(fill<u16>(x), fill<u16>(y), any, {}), 0u);
    EXPECT_EQ(unary_kernel(UnaryOp::not_, type)(fill<u16>(x), inverse, {}), 0u);
    for (usize i = 0; i < 128; ++i) {
      EXPECT_EQ(lane(both, type, i), u32{x[i]} & y[i]);
      EXPECT_EQ(lane(any, type, i), u32{x[i]} | y[i]);
      EXPECT_EQ(lane(inverse, type, i), 0xffffu ^ x[i]);
    }
  }
  EXPECT_EQ(binary_kernel(BinaryOp::and_, LaneType::s32), nullptr);
  EXPECT_EQ(unary_kernel(UnaryOp::not_, LaneType::f16), nullptr);
}

// ---------------------------------------------------------------------------------------------------------------------
// Comparison

template <class Value, class Decode>
void check_compare(LaneType type, const std::vector<u32>& values, Decode decode) {
  const usize lanes = kRepeatBytes / lane_bytes(type);
  for (const u32 right : values) {
    for (usize from = 0; from < values.size(); from += lanes) {
      LaneBuffer a{}, b{};
      bool finite = true;
      for (usize i = 0; i < lanes; ++i) {
        const u32 left = values[(from + i) % values.size()];
        set_lane(a, type, i, left);
        set_lane(b, type, i, right);
        finite = finite && std::isfinite(static_cast<double>(decode(left)));
      }
      finite = finite && std::isfinite(static_cast<double>(decode(right)));
      for (int op = 0; op < 6; ++op) {
        LaneBits bits{~u64{0}, ~u64{0}};
        const u64 raised = compare_kernel(static_cast<CompareOp>(op), type, Path::portable)(a, b, bits);
        EXPECT_EQ(raised, finite ? 0 : status::kVectorNanInf);
        for (usize i = 0; i < 128; ++i) {
          bool want = false;
          if (i < lanes) {
            const Value x = decode(lane(a, type, i)), y = decode(right);
            // NaN is not even unequal.
            const bool unequal = x < y || x > y;
            want = std::array{x == y, unequal, x<y, x <= y, x> y, x >= y}[static_cast<usize>(op)];
          }
          ASSERT_EQ(bits[i / 64] >> (i % 64) & 1, want) << name(type) << ' ' << op << ' ' << i;
        }
      }
    }
  }
}

TEST(Compare, AllTypes) {
  std::vector<u32> f16, f32, ints;
  for (const u16 x : oracle::f16_specials()) {
    f16.push_back(x);
    f32.push_back(f16_nan(x) ? 0x7fc00001u | u32{x} << 16 : f16_to_f32(x));
    ints.push_back(static_cast<u32>(x) * 0x10001);
  }
  check_compare<double>(LaneType::f16, f16, [](u32 x) { return oracle::f16(static_cast<u16>(x)); });
  check_compare<float>(LaneType::f32, f32, [](u32 x) { return oracle::f32(x); });
  check_compare<int>(LaneType::s16, ints, [](u32 x) { return int{static_cast<i16>(x)}; });
  check_compare<int>(LaneType::s32, ints, [](u32 x) { return static_cast<int>(x); });
  EXPECT_EQ(compare_kernel(CompareOp::eq, LaneType::u8), nullptr);
}

}  // namespace
}  // namespace vinci::isa
