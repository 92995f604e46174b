// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/cube.h"

#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "isa/insns/load2d.h"
#include "isa/mem/layout.h"
#include "isa/numeric/float16.h"
#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using insn::Mad;

constexpr u32 kUntouched = 0xabababab;
constexpr u64 kNanInf = status::kCubeNanInf;

// A core with matrices of 16-bit or 8-bit elements placed as `mad` wants them; padding holds what must not matter.
struct Cube : TestCore {
  Cube(u16 m_, u16 k_, u16 n_, u8 type_ = Mad::f162f32, Arch arch = Arch::c100,
       OverflowMode mode = OverflowMode::inf_nan)
      : TestCore(arch, mode), m(m_), k(k_), n(n_), type(type_), gemv(m_ == 1 && arch == Arch::c220) {
    const u16 padding = type == Mad::s8 ? 0x7f7f : kF16Nan;
    for (const BufId b : {BufId::L0A, BufId::L0B}) {
      for (u64 i = 0; i < mem[b].size(); i += 2)
        mem[b].store<u16>(i, padding);
    }
    for (u64 i = 0; i < mem[BufId::L0C].size(); i += 4)
      mem[BufId::L0C].store<u32>(i, kUntouched);
  }
  u64 a_at(u32 i, u32 kk) const { return gemv ? kk : layout_offset(Layout::zZ, {m, k}, Mad::k0(type), i, kk); }
  u64 b_at(u32 kk, u32 j) const { return layout_offset(Layout::nZ, {k, n}, Mad::k0(type), kk, j); }
  u64 c_at(u32 i, u32 j) const { return layout_offset(Layout::zN, {m, n}, 16, i, j); }
  void a(u32 i, u32 kk, u16 bits) { mem[BufId::L0A].store(2 * a_at(i, kk), bits); }
  void b(u32 kk, u32 j, u16 bits) { mem[BufId::L0B].store(2 * b_at(kk, j), bits); }
  u32 c(u32 i, u32 j) const { return mem[BufId::L0C].load<u32>(4 * c_at(i, j)); }
  float cf(u32 i, u32 j) const { return std::bit_cast<float>(c(i, j)); }
  void set_c(u32 i, u32 j, u32 bits) { mem[BufId::L0C].store(4 * c_at(i, j), bits); }
  u16 c16(u32 i, u32 j) const { return mem[BufId::L0C].load<u16>(2 * c_at(i, j)); }
  void set_c16(u32 i, u32 j, u16 bits) { mem[BufId::L0C].store(2 * c_at(i, j), bits); }
  void fill_a(u16 bits) {
    for (u32 i = 0; i < m; ++i)
      for (u32 kk = 0; kk < k; ++kk)
        a(i, kk, bits);
  }
  void fill_b(u16 bits) {
    for (u32 kk = 0; kk < k; ++kk)
      for (u32 j = 0; j < n; ++j)
        b(kk, j, bits);
  }
  void mad(bool init) { run<Mad>({.c = 0, .a = 0, .b = 0, .m = m, .k = k, .n = n, .init = init, .type = type}); }

  u16 m, k, n;
  u8 type;
  bool gemv;
};

TEST(Mad, TwoByThreeByTwoAndOnlyThatIsWritten) {
  Cube t(2, 3, 2);
  const float a[2][3] = {{1, 2, 3}, {-4, 0.5, 6}};
  const float b[3][2] = {{7, 8}, {9, -10}, {0.25, 12}};
  for (u32 i = 0; i < 2; ++i)
    for (u32 kk = 0; kk < 3; ++kk)
      t.a(i, kk, f16_bits(a[i][kk]));
  for (u32 kk = 0; kk < 3; ++kk)
    for (u32 j = 0; j < 2; ++j)
      t.b(kk, j, f16_bits(b[kk][j]));
  t.mad(true);
  EXPECT_EQ(t.cf(0, 0), 25.75f);
  EXPECT_EQ(t.cf(0, 1), 24.0f);
  EXPECT_EQ(t.cf(1, 0), -22.0f);
  EXPECT_EQ(t.cf(1, 1), 35.0f);
  t.mad(false);
  EXPECT_EQ(t.cf(0, 0), 51.5f);
  EXPECT_EQ(t.cf(1, 1), 70.0f);
  u32 touched = 0;
  for (u64 i = 0; i < 1024; i += 4)
    touched += t.mem[BufId::L0C].load<u32>(i) != kUntouched;
  EXPECT_EQ(touched, 4u);
  EXPECT_EQ(t.status, 0u);  // the NaN around the matrices are not inputs
}

// 2^25 + 1 - 2^25, in this order, is 0 in f32; any tree gives 1.
TEST(Mad, ProductsAreAddedInAscendingK) {
  each_target([] {
    Cube t(16, 3, 16);
    t.fill_a(kF16One);
    t.fill_b(kF16One);
    t.a(5, 0, f16_bits(32768));
    t.b(0, 7, f16_bits(1024));
    t.a(5, 2, f16_bits(-32768));
    t.b(2, 7, f16_bits(1024));
    t.mad(true);
    EXPECT_EQ(t.cf(5, 7), 0.0f);
    EXPECT_EQ(t.cf(4, 4), 3.0f);
  });
}

enum class Values { ordinary, subnormal, huge, any };

u16 draw(std::minstd_rand& random, Values v) {
  const u32 r = random() >> 8;
  switch (v) {
    case Values::ordinary: return static_cast<u16>(0x3000 + r % 0x1400 + (r >> 19 << 15));
    case Values::subnormal: return static_cast<u16>((r & 0x83ff) + (r % 7 == 0 ? 0x400 : 0));
    case Values::huge: return static_cast<u16>(0x7000 + r % 0xc00 + (r >> 19 << 15));
    case Values::any: return r % 29 == 0 ? static_cast<u16>(r >> 4) : static_cast<u16>(r % 0x7c00);
  }
  return 0;
}

void against_triple_loop(u16 m, u16 k, u16 n, Values values, bool init, Arch arch) {
  SCOPED_TRACE(fmt::format("m {} k {} n {} values {} init {}", m, k, n, static_cast<int>(values), init));
  Cube t(m, k, n, Mad::f162f32, arch);
  std::minstd_rand random(m * 31u + k * 7u + n + static_cast<u32>(values));
  std::vector<float> a(usize{m} * k), b(usize{k} * n), c(usize{m} * n);
  bool special = false;
  const auto input = [&](float& into) {
    const u16 bits = draw(random, values);
    into = f16_value(bits);
    special |= !f16_finite(bits);
    return bits;
  };
  for (u32 i = 0; i < m; ++i)
    for (u32 kk = 0; kk < k; ++kk)
      t.a(i, kk, input(a[i * k + kk]));
  for (u32 kk = 0; kk < k; ++kk)
    for (u32 j = 0; j < n; ++j)
      t.b(kk, j, input(b[kk * n + j]));
  for (u32 i = 0; i < m; ++i) {
    for (u32 j = 0; j < n; ++j) {
      float sum = init ? 0.0f : static_cast<float>(i) - 0.3f * static_cast<float>(j);
      if (!init) t.set_c(i, j, std::bit_cast<u32>(sum));
      for (u32 kk = 0; kk < k; ++kk) {
        const float product = a[i * k + kk] * b[kk * n + j];
        sum = sum + product;
      }
      c[i * n + j] = canonical_f32(sum);
    }
  }
  t.mad(init);
  for (u32 i = 0; i < m; ++i) {
    for (u32 j = 0; j < n; ++j) {
      ASSERT_EQ(t.c(i, j), std::bit_cast<u32>(c[i * n + j])) << i << " " << j;
    }
  }
  EXPECT_EQ(t.status, special ? kNanInf : 0u);
  for (u32 i = 0; i < align_up<u32>(m, 16); ++i) {
    for (u32 j = 0; j < align_up<u32>(n, 16); ++j) {
      const u64 at = layout_offset(Layout::zN, {m, n}, 16, i, j) * 4;
      if (i < m && j < n) continue;
      ASSERT_EQ(t.mem[BufId::L0C].load<u32>(at), kUntouched) << i << " " << j;
    }
  }
}

TEST(Mad, EqualsATripleLoopOnEveryTarget) {
  int targets = 0;
  each_target([&] {
    ++targets;
    for (const Values v : {Values::ordinary, Values::subnormal, Values::huge, Values::any}) {
      against_triple_loop(16, 16, 16, v, true, Arch::c100);
      against_triple_loop(31, 35, 69, v, false, Arch::c100);
      against_triple_loop(1, 40, 20, v, true, Arch::c100);
      against_triple_loop(7, 20, 15, v, true, Arch::c220);
    }
    for (u16 n = 16; n <= 112; n = static_cast<u16>(n + 16)) {
      against_triple_loop(9, 17, n, Values::ordinary, false, Arch::c100);
    }
    against_triple_loop(128, 64, 256, Values::ordinary, false, Arch::c100);
  });
  RecordProperty("targets", targets);
}

TEST(Mad, ASingleRowIsPlainOnTheSplitCore) {
  each_target([] {
    against_triple_loop(1, 300, 40, Values::ordinary, true, Arch::c220);
    against_triple_loop(1, 17, 16, Values::any, false, Arch::c220);
  });
  const Mad::Args args{.c = 0, .a = 0, .b = 0, .m = 1, .k = 300, .n = 40, .init = 1, .type = Mad::f162f32};
  EXPECT_EQ(Mad::footprint(args, {}, Arch::c220).begin()->len, 2 * 512u);
  EXPECT_EQ(Mad::footprint(args, {}, Arch::c100).begin()->len, 19 * 512u);
}

// What one does and another would undo stays undone (FractalOrder): a tile of B that was loaded transposed gives the
// bits of one whose fractals were exchanged element by element.
TEST(Mad, TakesBAsItWasLoadedTransposed) {
  struct Case {
    u8 type;
    u16 k, n;
  };
  each_target([] {
    for (const Case& x : {Case{Mad::f162f32, 33, 53},
                          {Mad::f162f32, 16, 128},
                          {Mad::f162f16, 20, 37},
                          {Mad::s8, 64, 50},
                          {Mad::s4, 64, 32}}) {
      SCOPED_TRACE(fmt::format("type {} k {} n {}", x.type, x.k, x.n));
      const Arch arch = x.type == Mad::s4 ? Arch::m200 : Arch::c100;
      Cube loaded(18, x.k, x.n, x.type, arch), stored(18, x.k, x.n, x.type, arch);
      std::minstd_rand random(x.k * 64u + x.n);
      for (u64 i = 0; i < stored.mem[BufId::L0A].size(); i += 2) {
        const u16 bits = draw(random, Values::ordinary);
        loaded.mem[BufId::L0A].store(i, bits);
        stored.mem[BufId::L0A].store(i, bits);
      }
      const u32 fractals = ceil_div<u32>(x.k, Mad::k0(x.type)) * ceil_div<u32>(x.n, 16);
      for (u64 i = 0; i < u64{fractals} * 256; ++i) {
        const u16 bits = draw(random, Values::ordinary);
        const u64 fractal = i / 256, row = i / 16 % 16, column = i % 16;
        loaded.mem[BufId::L1].store(2 * i, bits);
        stored.mem[BufId::L0B].store(2 * (fractal * 256 + column * 16 + row), bits);
      }
      // All but one in two steps, so that some fractals are in order and others are not.
      const auto load = [&](u16 first, u8 repeat, u8 transpose) {
        loaded.run<insn::LoadCbufToCb>({.dst = first * 512u,
                                        .src = 0,
                                        .baseIdx = first,
                                        .srcStride = 1,
                                        .dstGap = 0,
                                        .repeat = repeat,
                                        .sid = 0,
                                        .transpose = transpose});
      };
      load(0, static_cast<u8>(fractals), 1);
      for (u64 i = 0; i < 256; ++i)
        loaded.mem[BufId::L1].store(512 + 2 * i, stored.mem[BufId::L0B].load<u16>(512 + 2 * i));
      load(1, 1, 0);
      for (const bool init : {true, false}) {
        loaded.mad(init);
        stored.mad(init);
      }
      EXPECT_EQ(loaded.status, stored.status);
      for (const BufId b : {BufId::L0C, BufId::L0B}) {
        const u64 bytes = b == BufId::L0B ? fractals * 512u : stored.mem[b].size();
        for (u64 i = 0; i < bytes; i += 4)
          ASSERT_EQ(loaded.mem[b].load<u32>(i), stored.mem[b].load<u32>(i)) << name(b) << " " << i;
      }
    }
  });
}

TEST(Mad, NanIsCanonicalAndSeen) {
  each_target([] {
    Cube t(16, 16, 32);
    t.fill_a(kF16One);
    t.fill_b(kF16One);
    t.a(3, 4, 0xfc00);  // -inf * 0
    t.b(4, 20, 0x0000);
    t.mad(true);
    EXPECT_EQ(t.c(3, 20), kF32Nan);
    EXPECT_EQ(t.c(3, 0), 0xff800000u);
    EXPECT_EQ(t.cf(2, 20), 15.0f);
    EXPECT_EQ(t.status, kNanInf);
  });
}

TEST(Mad, TheLargestInputsDoNotOverflow) {
  Cube t(16, 2000, 16);
  t.fill_a(kF16Max);
  t.fill_b(kF16Max);
  t.set_c(0, 0, std::bit_cast<u32>(std::numeric_limits<float>::max()));
  for (u32 i = 1; i < 256; ++i)
    t.set_c(i / 16, i % 16, 0);
  t.mad(false);
  EXPECT_EQ(t.cf(0, 0), std::numeric_limits<float>::max());
  EXPECT_EQ(t.status, 0u);
}

TEST(MadF16, RoundsOnceAtTheEnd) {
  each_target([] {
    Cube t(17, 4, 18, Mad::f162f16);
    t.fill_a(kF16One);
    t.fill_b(0x1000);  // 2^-11: half of the last bit of 1.0
    for (u32 i = 0; i < 17; ++i)
      for (u32 j = 0; j < 18; ++j)
        t.set_c16(i, j, kF16One);
    t.mad(false);
    EXPECT_EQ(t.c16(16, 17), 0x3c02);  // 1 + 4 * 2^-11; rounding each step would stay at 1
    EXPECT_EQ(t.c16(0, 0), 0x3c02);
    EXPECT_EQ(t.mem[BufId::L0C].load<u16>(2 * layout_offset(Layout::zN, {17, 18}, 16, 16, 17) + 2), 0xabab);
    EXPECT_EQ(t.mem[BufId::L0C].load<u16>(2 * layout_offset(Layout::zN, {32, 18}, 16, 17, 0)), 0xabab);
    EXPECT_EQ(t.status, 0u);
  });
}

TEST(MadF16, OverflowSaturatesOrIsInfinite) {
  for (const OverflowMode mode : {OverflowMode::saturation, OverflowMode::inf_nan}) {
    Cube t(3, 2, 3, Mad::f162f16, Arch::c100, mode);
    t.fill_a(f16_bits(256));
    t.fill_b(f16_bits(16));
    t.a(1, 0, f16_bits(-60000));
    t.mad(true);
    EXPECT_EQ(t.c16(0, 0), f16_bits(8192));
    EXPECT_EQ(t.c16(1, 2), mode == OverflowMode::saturation ? 0xfbff : 0xfc00);
    EXPECT_EQ(t.status, status::kCubeOverflow);
  }
}

TEST(MadF16, InfiniteAndTinyResults) {
  Cube t(1, 1, 2, Mad::f162f16, Arch::m200, OverflowMode::saturation);
  t.a(0, 0, 0x0001);
  t.b(0, 0, 0x0001);
  t.b(0, 1, kF16Inf);
  t.mad(true);
  EXPECT_EQ(t.c16(0, 0), 0);
  EXPECT_EQ(t.c16(0, 1), kF16Max);
  EXPECT_EQ(t.status, status::kCubeUnderflow | status::kCubeNanInf);
}

TEST(MadS8, ExactWithTails) {
  each_target([] {
    for (const u16 k : {u16{1}, u16{33}, u16{64}, u16{301}}) {
      Cube t(19, k, 37, Mad::s8);
      std::minstd_rand random(k);
      std::vector<i32> a(19u * k), b(37u * k);
      for (u32 i = 0; i < 19; ++i) {
        for (u32 kk = 0; kk < k; ++kk) {
          a[i * k + kk] = static_cast<i8>(random() >> 8);
          t.mem[BufId::L0A].store(t.a_at(i, kk), static_cast<i8>(a[i * k + kk]));
        }
      }
      for (u32 kk = 0; kk < k; ++kk) {
        for (u32 j = 0; j < 37; ++j) {
          b[kk * 37 + j] = static_cast<i8>(random() >> 8);
          t.mem[BufId::L0B].store(t.b_at(kk, j), static_cast<i8>(b[kk * 37 + j]));
        }
      }
      t.mad(true);
      t.mad(false);
      for (u32 i = 0; i < 19; ++i) {
        for (u32 j = 0; j < 37; ++j) {
          i32 sum = 0;
          for (u32 kk = 0; kk < k; ++kk)
            sum += a[i * k + kk] * b[kk * 37 + j];
          ASSERT_EQ(static_cast<i32>(t.c(i, j)), 2 * sum) << k << " " << i << " " << j;
        }
      }
      EXPECT_EQ(t.status, 0u);
    }
  });
}

TEST(MadS8, BeyondS32ItWrapsOrSaturatesByCtrl) {
  each_target([] {
    for (const bool saturate : {false, true}) {
      Cube t(16, 32, 16, Mad::s8);
      if (saturate) t.spr.ctrl = u64{1} << 53;
      t.fill_a(0x0000);
      t.fill_b(0x0000);
      t.mem[BufId::L0A].store<i8>(t.a_at(0, 0), 100);
      t.mem[BufId::L0B].store<i8>(t.b_at(0, 0), 100);
      t.mem[BufId::L0B].store<i8>(t.b_at(0, 1), -100);
      for (u32 i = 0; i < 256; ++i)
        t.set_c(i / 16, i % 16, 5);
      t.set_c(0, 0, 0x7fffffff);
      t.set_c(0, 1, 0x80000000);
      t.mad(false);
      EXPECT_EQ(t.c(0, 0), saturate ? 0x7fffffffu : 0x80000000u + 9999);
      EXPECT_EQ(t.c(0, 1), saturate ? 0x80000000u : 0x80000000u - 10000);
      EXPECT_EQ(t.c(3, 3), 5u);
      EXPECT_EQ(t.status, status::kCubeOverflow);
    }
  });
}

TEST(Mad, NothingToDo) {
  for (const auto [m, k, n] : {std::array<u16, 3>{0, 16, 16}, {16, 0, 16}, {16, 16, 0}}) {
    Cube t(16, 16, 16);
    const Mad::Args args{.c = 0, .a = 0, .b = 0, .m = m, .k = k, .n = n, .init = 1, .type = Mad::f162f32};
    t.run<Mad>(args);
    EXPECT_EQ(t.c(0, 0), kUntouched);
    EXPECT_EQ(Mad::footprint(args, {}, Arch::c100).size(), 0u);
  }
}

TEST(Mad, Footprint) {
  Mad::Args args{.c = 4096, .a = 512, .b = 1024, .m = 33, .k = 17, .n = 20, .init = 1, .type = Mad::f162f32};
  const Footprint written = Mad::footprint(args, {}, Arch::c220);
  ASSERT_EQ(written.size(), 3u);
  EXPECT_EQ(written.begin()[0].bytes(), 3 * 2 * 512u);
  EXPECT_EQ(written.begin()[1].bytes(), 2 * 2 * 512u);
  EXPECT_EQ(written.begin()[2].bytes(), 2 * 3 * 1024u);
  EXPECT_EQ(written.begin()[2].address, 4096u);
  EXPECT_EQ(written.begin()[2].align, 1024u);
  EXPECT_TRUE(written.begin()[2].write);
  args.init = 0;
  args.type = Mad::f162f16;
  const Footprint accumulated = Mad::footprint(args, {}, Arch::c100);
  ASSERT_EQ(accumulated.size(), 4u);
  EXPECT_FALSE(accumulated.begin()[2].write);
  EXPECT_TRUE(accumulated.begin()[3].write);
  EXPECT_EQ(accumulated.begin()[3].align, 512u);
  args.type = Mad::s8;
  EXPECT_EQ(Mad::footprint(args, {}, Arch::c100).begin()[0].bytes(), 3 * 512u);
}

TEST(Mad, OutsideL0cIsAFault) {
  TestCore core;
  EXPECT_EQ(error_of([&] {
              core.run<Mad>({.c = 0x3fc00, .a = 0, .b = 0, .m = 17, .k = 16, .n = 16, .init = 1, .type = Mad::f162f32});
            }),
            "program: L0C[0x3fc00, +2048) is outside its 262144 bytes");
}

}  // namespace
}  // namespace vinci::isa
