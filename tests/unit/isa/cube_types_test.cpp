// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors

// `mad` on every type but f16, its orders of accumulation, its bias and what it refuses.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "isa/insns/cube.h"
#include "isa/mem/layout.h"
#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/numeric_oracle.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using insn::Mad;
using oracle::Random;

constexpr u32 kUntouched = 0xabababab;

// The value of an element of A or B from its bits.
i64 int_value(u8 type, bool of_a, u32 bits) {
  switch (type) {
    case Mad::s8: return static_cast<i8>(bits);
    case Mad::u8u8: return static_cast<u8>(bits);
    case Mad::u8s8: return of_a ? i64{static_cast<u8>(bits)} : i64{static_cast<i8>(bits)};
    default: return static_cast<i64>(bits & 15) - ((bits & 8) != 0 ? 16 : 0);
  }
}

float float_value(u8 type, u32 bits) {
  switch (type) {
    case Mad::bf162f32: return std::bit_cast<float>(bits << 16);
    case Mad::f322f32: return std::bit_cast<float>(bits);
    default: return static_cast<float>(oracle::f16(static_cast<u16>(bits)));
  }
}

// A core with A and B drawn at random, placed as `mad` wants them; all ones around them.
struct Product : TestCore {
  Product(Mad::Args x, Arch arch, const std::function<u32(bool of_a)>& draw)
      : TestCore(arch), args(x), a(usize{x.m} * x.k), b(usize{x.k} * x.n) {
    for (const BufId buffer : {BufId::L0A, BufId::L0B, BufId::BT}) {
      for (u64 i = 0; i < mem[buffer].size(); i += 4)
        mem[buffer].store<u32>(i, 0xffffffff);
    }
    for (u64 i = 0; i < mem[BufId::L0C].size(); i += 4)
      mem[BufId::L0C].store<u32>(i, kUntouched);
    for (u32 i = 0; i < x.m; ++i) {
      for (u32 k = 0; k < x.k; ++k)
        set_a(i, k, draw(true));
    }
    for (u32 k = 0; k < x.k; ++k) {
      for (u32 j = 0; j < x.n; ++j)
        set_b(k, j, draw(false));
    }
  }
  void set_a(u32 i, u32 k, u32 bits) {
    a[i * args.k + k] = bits;
    const bool aligned = args.kDirectionAlign != 0 && args.type == Mad::f322f32;
    const u32 columns = aligned ? align_up<u32>(args.k, 16) : args.k;
    const bool plain = args.m == 1 && context.arch == Arch::c220;
    store(BufId::L0A, plain ? k : layout_offset(Layout::zZ, {args.m, columns}, Mad::k0(args.type), i, k), bits);
  }
  void set_b(u32 k, u32 j, u32 bits) {
    b[k * args.n + j] = bits;
    store(BufId::L0B, layout_offset(Layout::nZ, {args.k, args.n}, Mad::k0(args.type), k, j), bits);
  }
  u64 c_at(u32 i, u32 j) const { return 4 * layout_offset(Layout::zN, {args.m, args.n}, 16, i, j); }
  u32 c(u32 i, u32 j) const { return mem[BufId::L0C].load<u32>(c_at(i, j)); }
  void set_c(u32 i, u32 j, u32 bits) { mem[BufId::L0C].store(c_at(i, j), bits); }
  void mad() { run<Mad>(args); }
  void each_c(const std::function<void(u32, u32)>& f) {
    for (u32 i = 0; i < args.m; ++i) {
      for (u32 j = 0; j < args.n; ++j)
        f(i, j);
    }
  }
  void expect_nothing_else_written() const {
    for (u32 i = 0; i < align_up<u32>(args.m, 16); ++i) {
      for (u32 j = 0; j < align_up<u32>(args.n, 16); ++j) {
        if (i < args.m && j < args.n) continue;
        ASSERT_EQ(c(i, j), kUntouched) << i << " " << j;
      }
    }
  }

  Mad::Args args;
  std::vector<u32> a, b;  // bits, row by row

 private:
  void store(BufId buffer, u64 element, u32 bits) {
    switch (Mad::input_bits(args.type)) {
      case 4: {
        const u64 at = element / 2;
        const unsigned shift = element % 2 * 4;
        const u32 old = mem[buffer].load<u8>(at);
        mem[buffer].store(at, static_cast<u8>((old & ~(15u << shift)) | (bits & 15) << shift));
        return;
      }
      case 8: return mem[buffer].store(element, static_cast<u8>(bits));
      case 16: return mem[buffer].store(2 * element, static_cast<u16>(bits));
      default: return mem[buffer].store(4 * element, bits);
    }
  }
};

Mad::Args args_of(u8 type, u16 m, u16 k, u16 n, bool init) {
  return {.c = 0, .a = 0, .b = 0, .m = m, .k = k, .n = n, .init = init, .type = type};
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(MadInt, EveryTypeEqualsATripleLoopWithTails) {
  each_target([] {
    for (const u8 type : {Mad::s8, Mad::u8u8, Mad::u8s8, Mad::s4}) {
      for (const u16 k : {u16{1}, u16{31}, u16{33}, u16{64}, u16{65}, u16{130}}) {
        for (const u16 m : {u16{1}, u16{19}}) {
          SCOPED_TRACE(fmt::format("{} m {} k {}", Mad::types[type].name, m, k));
          Random random(k);
          Product t(args_of(type, m, k, 37, false), Arch::c220, [&](bool) { return static_cast<u32>(random.next()); });
          std::vector<u32> before(usize{m} * 37);
          t.each_c([&](u32 i, u32 j) { t.set_c(i, j, before[i * 37 + j] = static_cast<u32>(random.next() >> 40)); });
          t.mad();
          t.each_c([&](u32 i, u32 j) {
            i64 sum = before[i * 37 + j];
            for (u32 kk = 0; kk < k; ++kk)
              sum += int_value(type, true, t.a[i * k + kk]) * int_value(type, false, t.b[kk * 37 + j]);
            ASSERT_EQ(t.c(i, j), static_cast<u32>(sum)) << i << " " << j;
          });
          t.expect_nothing_else_written();
          EXPECT_EQ(t.status, 0u);
        }
      }
    }
  });
}

// 1 x 1 x 1 next to the limits of C: wrapping, saturating.
TEST(MadInt, BeyondTheLimitsOfC) {
  struct Case {
    u8 type;
    Arch arch;
    u32 a, b, before, wrapped, saturated;
  };
  const std::vector<Case> cases{
      {Mad::u8u8, Arch::c100, 255, 255, 0xffff0000, 0xfffffe01, 0xfffffe01},
      {Mad::u8u8, Arch::c100, 255, 255, 0xffff0200, 0x00000001, 0xffffffff},
      {Mad::u8u8, Arch::c100, 255, 255, 0x7fffffff, 0x8000fe00, 0x8000fe00},
      {Mad::u8u8, Arch::m200, 255, 255, 0x7fffffff, 0x8000fe00, 0x7fffffff},
      {Mad::u8u8, Arch::m200, 255, 255, 0xffffffff, 0x0000fe00, 0x0000fe00},
      {Mad::u8s8, Arch::c220, 255, 0x80, 0x80000000, 0x7fff8080, 0x80000000},
      {Mad::s4, Arch::m200, 8, 8, 0x7fffffff, 0x8000003f, 0x7fffffff},
      {Mad::s4, Arch::c220, 8, 7, 0x80000001, 0x7fffffc9, 0x80000000},
  };
  each_target([&] {
    for (const Case& x : cases) {
      for (const bool saturate : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {:#x}", Mad::types[x.type].name, name(x.arch), x.before));
        Product t(args_of(x.type, 1, 1, 1, false), x.arch, [&](bool of_a) { return of_a ? x.a : x.b; });
        t.set_c(0, 0, x.before);
        if (saturate) t.spr.ctrl = ctrl::kSaturateInt;
        t.mad();
        EXPECT_EQ(t.c(0, 0), saturate ? x.saturated : x.wrapped);
        EXPECT_EQ(t.status, x.wrapped != x.saturated ? status::kCubeOverflow : 0u);
      }
    }
  });
}

// ---------------------------------------------------------------------------------------------------------------------

enum class Values { ordinary, small, huge, any };

// Bits of an element of a floating-point type, with all its exponents where `any`.
u32 draw_float(Random& random, u8 type, Values values) {
  const u64 r = random.next();
  const unsigned fraction = type == Mad::bf162f32 ? 7 : type == Mad::f322f32 ? 23 : 10;
  const unsigned bits = Mad::input_bits(type);
  const u32 least = 0, most = (1u << (bits - 1 - fraction)) - 1, middle = most / 2;
  u32 exponent = 0;
  switch (values) {
    case Values::ordinary: exponent = middle - 3 + static_cast<u32>(r % 7); break;
    case Values::small: exponent = least + static_cast<u32>(r % (middle / 2)); break;
    case Values::huge: exponent = middle + static_cast<u32>(r % middle); break;
    case Values::any: exponent = static_cast<u32>(r % (r >> 8 & 31 ? most : most + 1)); break;
  }
  const u32 sign = static_cast<u32>(r >> 20 & 1) << (bits - 1);
  return sign | exponent << fraction | (static_cast<u32>(r >> 32) & ((1u << fraction) - 1));
}

// The definition of HF32: 11 bits of fraction.
u32 hf32(u32 bits, bool ties_to_zero) {
  if (!f32_finite(bits)) return bits;
  const u32 kept = bits & ~0xfffu, cut = bits & 0xfffu;
  const bool up = cut > 0x800 || (cut == 0x800 && !ties_to_zero && (kept & 0x1000) != 0);
  return kept + (up ? 0x1000 : 0);
}

void against_triple_loop(Mad::Args args, Arch arch, Values values, u64 ctrl_value = 0) {
  SCOPED_TRACE(fmt::format("{} m {} k {} n {} values {} ctrl {:#x} align {}", Mad::types[args.type].name, args.m,
                           args.k, args.n, static_cast<int>(values), ctrl_value, args.kDirectionAlign));
  Random random(args.k * 31 + args.m);
  Product t(args, arch, [&](bool) { return draw_float(random, args.type, values); });
  t.spr.ctrl = ctrl_value;
  const auto input = [&](u32 bits) {
    if (args.type == Mad::f322f32 && (ctrl_value & ctrl::kHf32) != 0)
      bits = hf32(bits, (ctrl_value & ctrl::kHf32TiesToZero) != 0);
    return float_value(args.type, bits);
  };
  bool overflow = false, underflow = false, non_finite = false;
  std::vector<u32> expected(usize{args.m} * args.n);
  t.each_c([&](u32 i, u32 j) {
    float sum = args.init ? 0 : std::bit_cast<float>(draw_float(random, Mad::f322f32, values));
    if (!args.init) t.set_c(i, j, std::bit_cast<u32>(sum));
    bool finite = std::isfinite(sum);
    for (u32 k = 0; k < args.k; ++k) {
      const float x = input(t.a[i * args.k + k]), y = input(t.b[k * args.n + j]);
      finite &= std::isfinite(x) && std::isfinite(y);
      const float product = x * y;
      underflow |= product == 0 && x != 0 && y != 0;
      sum = sum + product;
    }
    overflow |= finite && !std::isfinite(sum);
    non_finite |= !finite;
    expected[i * args.n + j] = std::bit_cast<u32>(canonical_f32(sum));
  });
  t.mad();
  t.each_c([&](u32 i, u32 j) { ASSERT_EQ(t.c(i, j), expected[i * args.n + j]) << i << " " << j; });
  t.expect_nothing_else_written();
  EXPECT_EQ(t.status, (overflow ? status::kCubeOverflow : 0) | (underflow ? status::kCubeUnderflow : 0) |
                          (non_finite ? status::kCubeNanInf : 0));
}

TEST(MadFloat, Bf16AndF32EqualATripleLoopOnEveryTarget) {
  each_target([] {
    for (const u8 type : {Mad::bf162f32, Mad::f322f32}) {
      for (const Values v : {Values::ordinary, Values::small, Values::huge, Values::any}) {
        against_triple_loop(args_of(type, 16, 16, 16, true), Arch::c220, v);
        against_triple_loop(args_of(type, 31, 37, 69, false), Arch::c220, v);
        against_triple_loop(args_of(type, 1, 43, 20, false), Arch::c220, v);
        against_triple_loop(args_of(type, 2, 3, 1, true), Arch::c220, v);
      }
    }
  });
}

TEST(MadFloat, Hf32RoundsInputsByCtrl) {
  for (const Values v : {Values::ordinary, Values::any}) {
    against_triple_loop(args_of(Mad::f322f32, 17, 44, 33, false), Arch::c220, v, ctrl::kHf32);
    against_triple_loop(args_of(Mad::f322f32, 17, 44, 33, true), Arch::c220, v, ctrl::kHf32 | ctrl::kHf32TiesToZero);
  }
  // CTRL[47] alone and other types: no rounding.
  against_triple_loop(args_of(Mad::f322f32, 17, 9, 16, true), Arch::c220, Values::ordinary, ctrl::kHf32TiesToZero);
  against_triple_loop(args_of(Mad::bf162f32, 17, 9, 16, true), Arch::c220, Values::ordinary, ctrl::kHf32);
  // Ties go to even or toward zero, and a carry may reach infinity.
  const auto one = [](u32 bits, u64 ctrl_value) {
    Product t(args_of(Mad::f322f32, 2, 1, 1, true), Arch::c220, [&](bool of_a) { return of_a ? bits : kF32One; });
    t.spr.ctrl = ctrl_value;
    t.mad();
    return t.c(0, 0);
  };
  EXPECT_EQ(one(0x3f800800, ctrl::kHf32), 0x3f800000u);
  EXPECT_EQ(one(0x3f801800, ctrl::kHf32), 0x3f802000u);
  EXPECT_EQ(one(0x3f800801, ctrl::kHf32), 0x3f801000u);
  EXPECT_EQ(one(0x7f7fffff, ctrl::kHf32), kF32Inf);
  EXPECT_EQ(one(0x3f801800, ctrl::kHf32 | ctrl::kHf32TiesToZero), 0x3f801000u);
  EXPECT_EQ(one(0x3f801801, ctrl::kHf32 | ctrl::kHf32TiesToZero), 0x3f802000u);
  EXPECT_EQ(one(0x7f7ff800, ctrl::kHf32 | ctrl::kHf32TiesToZero), 0x7f7ff000u);
}

TEST(MadFloat, KDirectionAlignMovesRowsOfFractals) {
  for (const u16 k : {u16{36}, u16{44}, u16{8}, u16{16}}) {
    Mad::Args args = args_of(Mad::f322f32, 40, k, 17, false);
    args.kDirectionAlign = 1;
    against_triple_loop(args, Arch::c220, Values::ordinary);
    const u32 k1 = ceil_div<u32>(k, 8);
    EXPECT_EQ(Mad::footprint(args, {}, Arch::c220).begin()->len, (2 * align_up<u32>(k1, 2) + k1) * 512);
    args.m = 1;  // a plain row has no fractals
    against_triple_loop(args, Arch::c220, Values::ordinary);
  }
  Mad::Args other = args_of(Mad::bf162f32, 40, 20, 17, false);
  other.kDirectionAlign = 1;  // without effect
  against_triple_loop(other, Arch::c220, Values::ordinary);
}

// ---------------------------------------------------------------------------------------------------------------------

// The sum of k0 exact products, rounded once by MPFR.
float mpfr_dot_f32(const std::vector<float>& x, const std::vector<float>& y) {
  mpfr_t sum, product;
  mpfr_init2(product, 48);
  mpfr_init2(sum, 640);  // enough for every product of f32 side by side
  mpfr_set_zero(sum, 1);
  for (usize i = 0; i < x.size(); ++i) {
    mpfr_set_flt(product, x[i], MPFR_RNDN);
    mpfr_t factor;
    mpfr_init2(factor, 24);
    mpfr_set_flt(factor, y[i], MPFR_RNDN);
    EXPECT_EQ(mpfr_mul(product, product, factor, MPFR_RNDN), 0);
    EXPECT_EQ(mpfr_add(sum, sum, product, MPFR_RNDN), 0);
    mpfr_clear(factor);
  }
  const float result = mpfr_get_flt(sum, MPFR_RNDN);
  mpfr_clears(sum, product, static_cast<mpfr_ptr>(nullptr));
  return result;
}

float tree(const std::vector<float>& x, const std::vector<float>& y, usize begin, usize count) {
  if (count == 1) return begin < x.size() ? x[begin] * y[begin] : 0.0f;
  const float left = tree(x, y, begin, count / 2);
  return left + tree(x, y, begin + count / 2, count / 2);
}

class MadOrder : public testing::TestWithParam<u8> {};

TEST_P(MadOrder, StepsEqualTheirDefinition) {
  const u8 type = GetParam();
  const Arch arch = type == Mad::f162f32 ? Arch::c100 : Arch::c220;
  for (const Accumulation order : {Accumulation::fractal, Accumulation::pairwise}) {
    for (const Values v : {Values::ordinary, Values::small, Values::huge, Values::any}) {
      const Mad::Args args = args_of(type, 5, 45, 18, false);
      SCOPED_TRACE(fmt::format("{} {}", name(order), static_cast<int>(v)));
      Random random(static_cast<u64>(v) + 7);
      Product t(args, arch, [&](bool) {
        u32 bits = 0;
        do {
          bits = draw_float(random, type, v);
        } while (!std::isfinite(float_value(type, bits)));
        return bits;
      });
      t.context.numerics.accumulation = order;
      t.each_c([&](u32 i, u32 j) { t.set_c(i, j, std::bit_cast<u32>(static_cast<float>(i) - 0.3f)); });
      t.mad();
      const u32 k0 = Mad::k0(type);
      t.each_c([&](u32 i, u32 j) {
        float sum = static_cast<float>(i) - 0.3f;
        for (u32 k = 0; k < args.k; k += k0) {
          std::vector<float> x, y;
          for (u32 kk = k; kk < std::min<u32>(k + k0, args.k); ++kk) {
            x.push_back(float_value(type, t.a[i * args.k + kk]));
            y.push_back(float_value(type, t.b[kk * args.n + j]));
          }
          sum += order == Accumulation::fractal ? mpfr_dot_f32(x, y) : tree(x, y, 0, k0);
        }
        ASSERT_EQ(t.c(i, j), std::bit_cast<u32>(canonical_f32(sum))) << i << " " << j;
      });
    }
  }
}

// Every order stays within the classical bound of the exact sum, and the three do differ.
TEST_P(MadOrder, AllStayInTheEnvelope) {
  const u8 type = GetParam();
  const Mad::Args args = args_of(type, 16, 333, 16, true);
  std::vector<std::vector<u32>> results;
  for (const Accumulation order : {Accumulation::sequential, Accumulation::fractal, Accumulation::pairwise}) {
    Random random(5);
    Product t(args, Arch::c220, [&](bool) { return draw_float(random, type, Values::ordinary); });
    t.context.numerics.accumulation = order;
    t.mad();
    std::vector<u32> all;
    t.each_c([&](u32 i, u32 j) {
      all.push_back(t.c(i, j));
      double exact = 0, magnitudes = 0;
      for (u32 k = 0; k < args.k; ++k) {
        const double product = double{float_value(type, t.a[i * args.k + k])} * float_value(type, t.b[k * args.n + j]);
        exact += product;
        magnitudes += std::fabs(product);
      }
      ASSERT_LE(std::fabs(double{std::bit_cast<float>(t.c(i, j))} - exact), (args.k + 1) * 0x1p-24 * magnitudes);
    });
    results.push_back(all);
  }
  EXPECT_NE(results[0], results[1]);
  EXPECT_NE(results[1], results[2]);
  EXPECT_NE(results[0], results[2]);
}

INSTANTIATE_TEST_SUITE_P(Types, MadOrder, testing::Values(Mad::f162f32, Mad::bf162f32, Mad::f322f32),
                         [](const auto& p) { return std::string(Mad::types[p.param].name); });

// 2^25 + 1 - 2^25 is 1 when it is added exactly, 0 one by one, and 0 in pairs.
TEST(MadOrders, OneStepThatTellsThemApart) {
  const std::array<float, 3> expected{0.0f, 1.0f, 0.0f};
  for (const Accumulation order : {Accumulation::sequential, Accumulation::fractal, Accumulation::pairwise}) {
    Product t(args_of(Mad::f322f32, 2, 3, 1, true), Arch::c220, [](bool) { return kF32One; });
    t.set_a(0, 0, std::bit_cast<u32>(0x1p25f));
    t.set_a(0, 2, std::bit_cast<u32>(-0x1p25f));
    t.context.numerics.accumulation = order;
    t.mad();
    EXPECT_EQ(std::bit_cast<float>(t.c(0, 0)), expected[static_cast<usize>(order)]);
    EXPECT_EQ(std::bit_cast<float>(t.c(1, 0)), 3.0f);
  }
}

TEST(MadOrders, InfinityAndNanPassThroughEveryOrder) {
  for (const Accumulation order : {Accumulation::sequential, Accumulation::fractal, Accumulation::pairwise}) {
    Product t(args_of(Mad::f322f32, 3, 20, 2, true), Arch::c220, [](bool) { return kF32One; });
    t.set_a(0, 17, kF32Inf);
    t.set_a(1, 3, kF32Inf);
    t.set_a(1, 4, kF32Inf | 0x80000000);
    t.context.numerics.accumulation = order;
    t.mad();
    EXPECT_EQ(t.c(0, 1), kF32Inf);
    EXPECT_EQ(t.c(1, 0), kF32Nan);
    EXPECT_EQ(std::bit_cast<float>(t.c(2, 0)), 20.0f);
    EXPECT_EQ(t.status, status::kCubeNanInf);
  }
}

// (1 + 2^-12)^2 - 1 is 2^-11 + 2^-24 with one rounding, 2^-11 with two.
TEST(MadOrders, FusedSumsRoundOnce) {
  each_target([] {
    for (const Accumulation order : {Accumulation::sequential, Accumulation::fused}) {
      Product t(args_of(Mad::f322f32, 3, 2, 17, true), Arch::c220, [](bool) { return kF32One; });
      t.set_a(1, 0, std::bit_cast<u32>(-1.0f));
      for (u32 j = 0; j < 17; ++j)
        t.set_b(1, j, std::bit_cast<u32>(1 + 0x1p-12f));
      t.set_a(1, 1, std::bit_cast<u32>(1 + 0x1p-12f));
      t.context.numerics.accumulation = order;
      t.mad();
      const float expected = order == Accumulation::fused ? 0x1p-11f + 0x1p-24f : 0x1p-11f;
      for (const u32 j : {0u, 16u})
        EXPECT_EQ(std::bit_cast<float>(t.c(1, j)), expected);
    }
  });
}

TEST(MadOrders, FusedSumsEqualFmaInSequence) {
  each_target([] {
    for (const u8 type : {Mad::bf162f32, Mad::f322f32}) {
      Random random(3);
      Product t(args_of(type, 5, 37, 18, true), Arch::c220,
                [&](bool) { return draw_float(random, type, Values::ordinary); });
      t.context.numerics.accumulation = Accumulation::fused;
      t.mad();
      t.each_c([&](u32 i, u32 j) {
        float sum = 0;
        for (u32 k = 0; k < t.args.k; ++k)
          sum = std::fma(float_value(type, t.a[i * t.args.k + k]), float_value(type, t.b[k * t.args.n + j]), sum);
        ASSERT_EQ(t.c(i, j), std::bit_cast<u32>(canonical_f32(sum))) << i << " " << j;
      });
    }
  });
}

// Rounded after each step of 16 products, 2048 + 1 + 1 stays 2048; at the end it is 2050.
TEST(MadF16, SumsAreRoundedAtTheEndOrAfterEachStep) {
  for (const HalfSums sums : {HalfSums::instruction, HalfSums::step}) {
    Product t(args_of(Mad::f162f16, 3, 40, 17, true), Arch::c100, [](bool) { return 0u; });
    for (u32 j = 0; j < 17; ++j) {
      for (const u32 k : {0u, 16u, 32u})
        t.set_b(k, j, kF16One);
    }
    t.set_a(1, 0, f16_bits(2048));
    t.set_a(1, 16, kF16One);
    t.set_a(1, 32, kF16One);
    t.context.numerics.half_sums = sums;
    t.mad();
    const auto value = [&](u32 i, u32 j) { return f16_value(t.mem[BufId::L0C].load<u16>(t.c_at(i, j) / 2)); };
    for (const u32 j : {0u, 16u}) {
      EXPECT_EQ(value(1, j), sums == HalfSums::step ? 2048.0f : 2050.0f) << j;
      EXPECT_EQ(value(0, j), 0.0f);
    }
    EXPECT_EQ(t.status, 0u);
  }
}

// An infinity that a step makes is an overflow; the next step does not read one.
TEST(MadF16, AStepThatOverflowsIsNoInput) {
  for (const OverflowMode mode : {OverflowMode::inf_nan, OverflowMode::saturation}) {
    Product t(args_of(Mad::f162f16, 1, 32, 1, true), Arch::c100, [](bool) { return 0u; });
    t.context.overflow = mode;
    t.set_a(0, 0, f16_bits(60000));
    t.set_a(0, 1, f16_bits(60000));
    t.set_a(0, 16, f16_bits(-60000));
    for (const u32 k : {0u, 1u, 16u})
      t.set_b(k, 0, kF16One);
    t.context.numerics.half_sums = HalfSums::step;
    t.mad();
    const float c = f16_value(t.mem[BufId::L0C].load<u16>(0));
    EXPECT_EQ(c, mode == OverflowMode::inf_nan ? std::numeric_limits<float>::infinity() : f16_value(f16_bits(5504)));
    EXPECT_EQ(t.status, status::kCubeOverflow);
  }
  Product t(args_of(Mad::f162f16, 2, 32, 1, true), Arch::c100, [](bool) { return u32{kF16One}; });
  t.set_a(1, 20, kF16Inf);
  t.context.numerics.half_sums = HalfSums::step;
  t.mad();
  EXPECT_EQ(t.status, status::kCubeNanInf);
}

// 1 + 2^-12 is as far from 1 as from 1 + 2^-11.
TEST(MadHf32, TiesGoToEvenOrAwayFromZero) {
  for (const Hf32Ties ties : {Hf32Ties::even, Hf32Ties::away}) {
    Product t(args_of(Mad::f322f32, 1, 1, 1, true), Arch::c220, [](bool) { return kF32One; });
    t.set_a(0, 0, std::bit_cast<u32>(-1 - 0x1p-12f));
    t.spr.ctrl |= ctrl::kHf32;
    t.context.numerics.hf32_ties = ties;
    t.mad();
    EXPECT_EQ(std::bit_cast<float>(t.c(0, 0)), ties == Hf32Ties::even ? -1.0f : -1 - 0x1p-11f);
    t.spr.ctrl |= ctrl::kHf32TiesToZero;
    t.mad();
    EXPECT_EQ(std::bit_cast<float>(t.c(0, 0)), -1.0f);
  }
}

TEST(MadOrders, F16ResultsUseThemToo) {
  for (const Accumulation order : {Accumulation::sequential, Accumulation::fractal}) {
    Product t(args_of(Mad::f162f16, 1, 3, 1, true), Arch::c100, [](bool) { return u32{kF16One}; });
    t.set_a(0, 0, f16_bits(32768));
    t.set_b(0, 0, f16_bits(1024));
    t.set_a(0, 2, f16_bits(-32768));
    t.set_b(2, 0, f16_bits(1024));
    t.context.numerics.accumulation = order;
    t.mad();
    EXPECT_EQ(t.mem[BufId::L0C].load<u16>(0), order == Accumulation::fractal ? kF16One : 0);
  }
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(MadStatus, OverflowIsOfFiniteElementsOnly) {
  const auto status_of = [](u32 a0, u32 c0, u32 other) {
    Product t(args_of(Mad::f322f32, 2, 1, 1, false), Arch::c220, [](bool) { return kF32One; });
    t.set_a(0, 0, a0);
    t.set_a(1, 0, other);
    t.set_c(0, 0, c0);
    t.set_c(1, 0, 0);
    t.mad();
    return t.status;
  };
  constexpr u32 kMax = 0x7f7fffff;
  EXPECT_EQ(status_of(kMax, 0, kF32One), 0u);
  EXPECT_EQ(status_of(kMax, kMax, kF32One), status::kCubeOverflow);
  EXPECT_EQ(status_of(kMax, kF32Inf, kF32One), status::kCubeNanInf);
  EXPECT_EQ(status_of(kF32Nan, 0, kF32One), status::kCubeNanInf);
  EXPECT_EQ(status_of(kMax, kMax, kF32Inf), status::kCubeOverflow | status::kCubeNanInf);
}

TEST(MadStatus, UnderflowIsAProductThatVanishes) {
  const auto status_of = [](u32 a, u32 b) {
    Product t(args_of(Mad::f322f32, 2, 1, 1, true), Arch::c220, [&](bool of_a) { return of_a ? a : b; });
    t.mad();
    return t.status;
  };
  EXPECT_EQ(status_of(1, 0x3f000000), status::kCubeUnderflow);  // 2^-150: a tie, to even
  EXPECT_EQ(status_of(1, 0x3f000001), 0u);
  EXPECT_EQ(status_of(1, 0), 0u);
  EXPECT_EQ(status_of(0x00800000, 0x00800000), status::kCubeUnderflow);
}

TEST(MadBias, EveryRowStartsFromTheTable) {
  for (const u8 type : {Mad::f162f32, Mad::bf162f32, Mad::f322f32, Mad::s8}) {
    for (const u16 m : {u16{1}, u16{21}}) {
      Mad::Args args = args_of(type, m, 5, 37, false);
      args.cmatrixSource = 1;
      args.bias = 128;
      Random random(3);
      Product t(args, Arch::c220, [](bool) { return 0u; });
      std::vector<u32> bias(37);
      for (u32 j = 0; j < 37; ++j) {
        bias[j] =
            type == Mad::s8 ? static_cast<u32>(random.next()) : draw_float(random, Mad::f322f32, Values::ordinary);
        t.mem[BufId::BT].store(128 + 4 * j, bias[j]);
      }
      t.mad();
      t.each_c([&](u32 i, u32 j) { ASSERT_EQ(t.c(i, j), bias[j]) << i << " " << j; });
      t.expect_nothing_else_written();
      const Footprint f = Mad::footprint(args, {}, Arch::c220);
      ASSERT_EQ(f.size(), 4u);
      EXPECT_EQ(f.begin()[2].buffer, BufId::BT);
      EXPECT_EQ(f.begin()[2].address, 128u);
      EXPECT_EQ(f.begin()[2].len, 3 * 64u);
      EXPECT_EQ(f.begin()[2].align, 64u);
      EXPECT_FALSE(f.begin()[2].write);
      EXPECT_TRUE(f.begin()[3].write);
    }
  }
}

TEST(MadBias, InitWins) {
  Mad::Args args = args_of(Mad::f322f32, 2, 1, 2, true);
  args.cmatrixSource = 1;
  Product t(args, Arch::c220, [](bool) { return kF32One; });
  t.mad();  // the table holds NaN
  EXPECT_EQ(t.c(1, 1), kF32One);
  EXPECT_EQ(Mad::footprint(args, {}, Arch::c220).size(), 3u);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sparse weights

// A product whose B has at most two elements in each four rows; L0B gets these, IDX where they are.
struct SparseProduct : TestCore {
  SparseProduct(u16 m, u16 k, u16 n)
      : args{.c = 0, .a = 0, .b = 1024, .m = m, .k = k, .n = n, .unitFlag = 0, .cmatrixSource = 0, .init = 1} {
    Random random(u64{m} * k + n);
    a.resize(usize{m} * k);
    b.resize(usize{k} * n);
    for (u32 i = 0; i < m; ++i) {
      for (u32 j = 0; j < k; ++j) {
        a[i * k + j] = static_cast<i8>(random.next());
        mem[BufId::L0A].store(layout_offset(Layout::zZ, {m, k}, 32, i, j), a[i * k + j]);
      }
    }
    const u32 weights = args.weights();
    for (u32 j = 0; j < n; ++j) {
      for (u32 w = 0; w < weights; w += 2) {
        const auto pair = kPairs[random.next() % kPairs.size()];
        for (u32 i = 0; i < 2; ++i) {
          const auto value = static_cast<i8>(random.next());
          const u64 at = layout_offset(Layout::nZ, {weights, n}, 32, w + i, j);
          mem[BufId::L0B].store(1024 + at, value);
          const u64 byte = 1024 / 4 + at / 4;
          const u32 old = mem[BufId::IDX].load<u8>(byte), shift = at % 4 * 2;
          mem[BufId::IDX].store(byte, static_cast<u8>((old & ~(3u << shift)) | pair.index[i] << shift));
          if (w * 2 + pair.row[i] < k) b[(w * 2 + pair.row[i]) * n + j] = value;
        }
      }
    }
  }
  struct Pair {
    std::array<u32, 2> index, row;
  };
  // The encodings of two of four, from the published table.
  static constexpr std::array<Pair, 6> kPairs{
      {{{2, 2}, {2, 3}}, {{1, 2}, {1, 3}}, {{0, 2}, {0, 3}}, {{1, 1}, {1, 2}}, {{0, 1}, {0, 2}}, {{0, 0}, {0, 1}}}};
  i32 expected(u32 i, u32 j) const {
    i32 sum = 0;
    for (u32 k = 0; k < args.k; ++k)
      sum += i32{a[i * args.k + k]} * b[k * args.n + j];
    return sum;
  }
  i32 c(u32 i, u32 j) const {
    return mem[BufId::L0C].load<i32>(4 * layout_offset(Layout::zN, {args.m, args.n}, 16, i, j));
  }

  insn::MadSp::Args args;
  std::vector<i8> a, b;
};

TEST(MadSparse, EqualsATripleLoopOverAllOfB) {
  for (const auto& [m, k, n] : {std::array<u16, 3>{16, 64, 16}, {37, 130, 50}, {128, 256, 33}, {2, 5, 1}}) {
    SparseProduct t(m, k, n);
    t.run<insn::MadSp>(t.args);
    for (u32 i = 0; i < m; ++i) {
      for (u32 j = 0; j < n; ++j)
        ASSERT_EQ(t.c(i, j), t.expected(i, j)) << i << " " << j;
    }
    t.args.init = 0;
    t.run<insn::MadSp>(t.args);
    EXPECT_EQ(t.c(1, 0), 2 * t.expected(1, 0));
  }
}

TEST(MadSparse, TouchesTheIndicesOfItsWeights) {
  const insn::MadSp::Args args{
      .c = 0, .a = 0, .b = 2048, .m = 16, .k = 130, .n = 17, .unitFlag = 0, .cmatrixSource = 0, .init = 1};
  const Footprint f = insn::MadSp::footprint(args, {}, Arch::c220);
  ASSERT_EQ(f.size(), 4u);
  EXPECT_EQ(f.begin()[1].len, 3u * 2 * 512);  // 66 weights of each column: 3 rows of fractals
  EXPECT_EQ(f.begin()[2].buffer, BufId::IDX);
  EXPECT_EQ(f.begin()[2].address, 512u);
  EXPECT_EQ(f.begin()[2].len, 3u * 2 * 128);
  EXPECT_EQ(insn::MadSp::work(args, {}).steps, 3u * 2);
}

TEST(MadSparse, RefusesIndicesThatMeanNothing) {
  SparseProduct t(16, 4, 1);
  t.mem[BufId::IDX].store<u8>(1024 / 4, 3);
  EXPECT_EQ(error_of([&] { t.run<insn::MadSp>(t.args); }),
            "program: the indices 3 and 0 of two weights; indices are 0 to 2");
  t.mem[BufId::IDX].store<u8>(1024 / 4, 1);  // both are the second element: their sum counts
  t.mem[BufId::L0B].store<i8>(1024, 100);
  t.mem[BufId::L0B].store<i8>(1025, 27);
  t.run<insn::MadSp>(t.args);
  EXPECT_EQ(t.c(3, 0), 127 * t.a[3 * 4 + 1]);
  t.mem[BufId::L0B].store<i8>(1025, 28);
  EXPECT_EQ(error_of([&] { t.run<insn::MadSp>(t.args); }),
            "unsupported: two weights of one element, row 1 of column 0, whose sum has more than 8 bits");
  t.args.m = 1;
  EXPECT_EQ(error_of([&] { insn::MadSp::footprint(t.args, {}, Arch::c220); }),
            "unsupported: operand m is 1; mad_sp has no form for a single row");
}

TEST(MadOperands, OfTheSplitCoreAreRefusedElsewhere) {
  using Member = u8 Mad::Args::*;
  const std::pair<Member, std::string> operands[] = {
      {&Mad::Args::unitFlag, "unitFlag"},
      {&Mad::Args::kDirectionAlign, "kDirectionAlign"},
      {&Mad::Args::cmatrixSource, "cmatrixSource"},
  };
  for (const auto& [member, text] : operands) {
    Mad::Args args = args_of(Mad::f162f32, 2, 1, 2, false);
    args.*member = 1;
    const std::string expected = fmt::format("program: operand {} is 1; the cube of c100 has no such operand: 0", text);
    EXPECT_EQ(error_of([&] { Mad::footprint(args, {}, Arch::c100); }), expected);
    EXPECT_EQ(error_of([&] { TestCore(Arch::c100).run<Mad>(args); }), expected);
  }
  Mad::Args args = args_of(Mad::f162f32, 2, 1, 2, false);
  args.unitFlag = 1;
  EXPECT_EQ(error_of([&] { Mad::footprint(args, {}, Arch::c220); }),
            "program: operand unitFlag is 1, which is reserved; 0 is off, 2 keeps, 3 updates");
}

TEST(MadOperands, SizesOfEachType) {
  const auto bytes = [](Mad::Args args, Arch arch, usize operand) {
    const auto footprint = Mad::footprint(args, {}, arch);
    return footprint.begin()[operand].len;
  };
  EXPECT_EQ(bytes(args_of(Mad::s4, 33, 65, 16, true), Arch::c220, 0), 3 * 2 * 512u);
  EXPECT_EQ(bytes(args_of(Mad::s4, 33, 65, 16, true), Arch::c220, 1), 2 * 512u);
  EXPECT_EQ(bytes(args_of(Mad::s4, 1, 1025, 16, true), Arch::c220, 0), 2 * 512u);
  EXPECT_EQ(bytes(args_of(Mad::s4, 1, 1025, 16, true), Arch::m200, 0), 17 * 512u);
  EXPECT_EQ(bytes(args_of(Mad::f322f32, 17, 9, 16, true), Arch::c220, 0), 2 * 2 * 512u);
  EXPECT_EQ(bytes(args_of(Mad::f322f32, 1, 129, 16, true), Arch::c220, 0), 2 * 512u);
  Spr spr;
  EXPECT_EQ(Mad::work(args_of(Mad::f322f32, 16, 64, 32, true), spr).steps, 32u);
  spr.ctrl = ctrl::kHf32;
  EXPECT_EQ(Mad::work(args_of(Mad::f322f32, 16, 64, 32, true), spr).steps, 16u);
  EXPECT_EQ(Mad::work(args_of(Mad::s4, 16, 64, 32, true), spr).steps, 2u);
}

}  // namespace
}  // namespace vinci::isa
