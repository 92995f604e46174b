// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/fixpipe.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "isa/mem/layout.h"
#include "isa/numeric/float16.h"
#include "isa/sem/fractal_kernel.h"
#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/quant_oracle.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using insn::CopyMatrixCcToCbuf;
using insn::CopyMatrixCcToGm;
using oracle::Random;

// f32 patterns around everything that rounding to f16 decides: all exponents, and fractions at and next to ties.
std::vector<u32> patterns() {
  std::vector<u32> v;
  for (u32 high = 0; high < 0x80000; high += 13) {  // sign, exponent, upper fraction
    for (const u32 low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu})
      v.push_back((high << 13) ^ low);
  }
  for (u32 exponent = 90; exponent < 150; ++exponent) {
    for (u32 bit = 0; bit < 23; ++bit) {
      for (const u32 d : {0u, 1u, ~0u})
        v.push_back((exponent << 23) + (1u << bit) + d);
    }
  }
  for (const u32 b : {0x477fe000u, 0x477fefffu, 0x477ff000u, 0x477ff001u, 0x33000000u, 0x33000001u, 0x32ffffffu,
                      0x7f800000u, 0xff800000u, 0x7fc00001u, 0xffc00000u, 0x7f800001u, 0x00000001u, 0x80000000u}) {
    v.push_back(b);
  }
  return v;
}

TEST(FractalKernel, NarrowEqualsTheScalarRoundingOnEveryTarget) {
  const std::vector<u32> in = patterns();
  std::vector<u16> out(in.size());
  each_target([&] {
    const auto* from = reinterpret_cast<const std::byte*>(in.data());
    auto* into = reinterpret_cast<std::byte*>(out.data());
    const Narrowed all = narrow_f32(from, into, in.size(), {});
    EXPECT_TRUE(all.overflow);
    EXPECT_TRUE(all.underflow);
    for (usize i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], f32_to_f16(in[i])) << std::hex << in[i];
    narrow_f32(from, into, in.size(), {.saturate = true});
    for (usize i = 0; i < in.size(); ++i) {
      ASSERT_EQ(out[i], saturate_f16(f32_to_f16(in[i]), OverflowMode::saturation)) << std::hex << in[i];
    }
    narrow_f32(from, into, in.size(), {.relu = true});
    for (usize i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], f32_to_f16(f32_relu(in[i]))) << std::hex << in[i];
    for (usize i = 0; i < in.size(); i += 7) {  // what one element alone reports
      const Narrowed one = narrow_f32(from + 4 * i, into, 1, {});
      const RoundedF16 expected = round_f32_to_f16(in[i]);
      ASSERT_EQ(one.overflow, expected.overflow) << std::hex << in[i];
      ASSERT_EQ(one.underflow, expected.underflow) << std::hex << in[i];
    }
  });
}

TEST(FractalKernel, WidenEqualsTheScalarOneOnEveryTarget) {
  std::vector<u16> in(65536 + 5);
  for (usize i = 0; i < in.size(); ++i)
    in[i] = static_cast<u16>(i);
  std::vector<float> out(in.size());
  each_target([&] {
    widen_f16(reinterpret_cast<const std::byte*>(in.data()), out.data(), in.size());
    for (usize i = 0; i < in.size(); ++i) {
      ASSERT_EQ(std::bit_cast<u32>(canonical_f32(out[i])), f16_to_f32(in[i])) << std::hex << in[i];
    }
  });
}

// ---------------------------------------------------------------------------------------------------------------------

struct Fixpipe : testing::Test {
  static constexpr u32 m = 19, n = 37, rows = 32;  // rows of a block column in L0C
  Fixpipe() {
    out = core.gm.allocate(16384, "out");
    for (u32 i = 0; i < rows; ++i) {
      for (u32 j = 0; j < 48; ++j) {
        core.mem[BufId::L0C].store<float>(1024 + 4 * layout_offset(Layout::zN, {rows, 48}, 16, i, j), value(i, j));
      }
    }
    for (u64 i = 0; i < 16384; i += 4)
      gm_store<u32>(core.gm, out + i, 0xeeeeeeee);
  }
  static float value(u32 i, u32 j) { return (j % 3 == 0 ? -1.0f : 1.0f) * static_cast<float>(i * 64 + j + 1); }
  static CopyMatrixCcToGm::Args args(u64 dst) {
    return {.dst = dst,
            .src = 1024,
            .dstStride = 0,
            .nSize = n,
            .mSize = m,
            .srcStride = rows,
            .sid = 0,
            .unitFlag = 0,
            .quantPre = 0,
            .reluPre = 0,
            .channelSplit = 0,
            .nz2nd = 0};
  }
  TestCore core;
  u64 out = 0;
};

TEST_F(Fixpipe, RowMajorF32) {
  auto a = args(out + 2);  // any byte address
  a.nz2nd = 1;
  a.dstStride = 40;
  core.run<CopyMatrixCcToGm>(a);
  for (u32 i = 0; i < m; ++i) {
    for (u32 j = 0; j < n; ++j)
      ASSERT_EQ(gm_load<float>(core.gm, out + 2 + 4 * (i * 40 + j)), value(i, j));
    EXPECT_EQ(gm_load<u32>(core.gm, out + 2 + 4 * (i * 40 + n)), 0xeeeeeeeeu) << i;
  }
  EXPECT_EQ(gm_load<u32>(core.gm, out + 2 + 4 * (m * 40)), 0xeeeeeeeeu);
  const Footprint f = CopyMatrixCcToGm::footprint(a, {}, Arch::c220);
  EXPECT_EQ(f.begin()[0].bytes(), 3u * m * 64);
  EXPECT_EQ(f.begin()[0].stride[0], rows * 64);
  EXPECT_EQ(f.begin()[1].bytes(), u64{m} * n * 4);
  EXPECT_EQ(f.begin()[1].stride[0], 160);
  EXPECT_EQ(f.begin()[1].align, 1);
}

// STATUS[61] is an option of the chip; where QuantPRE does not say that the values are f32, none raises it.
TEST_F(Fixpipe, SpecialValuesThatItMovesAreAnOption) {
  for (const u8 quant : {0, 1, 16}) {
    auto a = args(out);
    a.nz2nd = 1;
    a.dstStride = n;
    a.quantPre = quant;
    for (const MovedSpecials option : {MovedSpecials::ignored, MovedSpecials::raised}) {
      for (const float v : {1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        core.context.numerics.moved_specials = option;
        core.mem[BufId::L0C].store<float>(1024 + 4 * layout_offset(Layout::zN, {rows, 48}, 16, 18, 36), v);
        // Beyond the matrix.
        core.mem[BufId::L0C].store<float>(1024 + 4 * layout_offset(Layout::zN, {rows, 48}, 16, 18, 37),
                                          std::numeric_limits<float>::infinity());
        core.status = 0;
        core.run<CopyMatrixCcToGm>(a);
        const bool raised = option == MovedSpecials::raised && quant != 0 && !std::isfinite(v);
        EXPECT_EQ(core.status & status::kMovedNanInf, raised ? status::kMovedNanInf : 0u) << +quant << " " << v;
      }
    }
  }
}

TEST_F(Fixpipe, RowMajorF16WithRelu) {
  auto a = args(out);
  a.nz2nd = 1;
  a.quantPre = 1;
  a.reluPre = 1;
  a.dstStride = n;
  core.run<CopyMatrixCcToGm>(a);
  for (u32 i = 0; i < m; ++i) {
    for (u32 j = 0; j < n; ++j) {
      ASSERT_EQ(gm_load<u16>(core.gm, out + 2 * (i * n + j)), f16_bits(std::max(0.0f, value(i, j)))) << i << " " << j;
    }
  }
  EXPECT_EQ(gm_load<u16>(core.gm, out + 2 * m * n), 0xeeee);
}

TEST_F(Fixpipe, NzKeepsWholeRowsOf16) {
  for (const u8 quant : {u8{0}, u8{1}}) {
    auto a = args(out);
    a.quantPre = quant;
    const u32 element = quant == 1 ? 2 : 4;
    const u64 column = (m + 1) * 16 * element;  // bytes; one row free after each block column
    a.dstStride = static_cast<u32>(column / 32);
    core.run<CopyMatrixCcToGm>(a);
    for (u32 i = 0; i < m; ++i) {
      for (u32 j = 0; j < 48; ++j) {
        const u64 at = out + j / 16 * column + (i * 16 + j % 16) * element;
        if (quant == 1) {
          ASSERT_EQ(gm_load<u16>(core.gm, at), f16_bits(value(i, j)));
        } else {
          ASSERT_EQ(gm_load<float>(core.gm, at), value(i, j));
        }
      }
    }
    EXPECT_EQ(gm_load<u16>(core.gm, out + 2 * column + m * 16 * element), 0xeeee);
    const Footprint f = CopyMatrixCcToGm::footprint(a, {}, Arch::c220);
    EXPECT_EQ(f.begin()[1].bytes(), 3u * m * 16 * element);
    EXPECT_EQ(f.begin()[1].stride[0], static_cast<i64>(column));
    for (u64 i = 0; i < 16384; i += 4)
      gm_store<u32>(core.gm, out + i, 0xeeeeeeee);
  }
}

TEST_F(Fixpipe, ReluWithoutConversionIsRightForIntegersToo) {
  core.mem[BufId::L0C].store<i32>(1024, -1);
  core.mem[BufId::L0C].store<i32>(1028, 1);
  core.mem[BufId::L0C].store<u32>(1032, kF32Nan);
  auto a = args(out);
  a.reluPre = 1;
  a.dstStride = 38;
  core.run<CopyMatrixCcToGm>(a);
  EXPECT_EQ(gm_load<i32>(core.gm, out), 0);
  EXPECT_EQ(gm_load<i32>(core.gm, out + 4), 1);
  EXPECT_EQ(gm_load<u32>(core.gm, out + 8), kF32Nan);
}

TEST_F(Fixpipe, OverflowIsRecorded) {
  core.mem[BufId::L0C].store<float>(1024, 70000.0f);
  auto a = args(out);
  a.quantPre = 1;
  a.nz2nd = 1;
  a.dstStride = n;
  core.run<CopyMatrixCcToGm>(a);
  EXPECT_EQ(gm_load<u16>(core.gm, out), kF16Inf);
  EXPECT_EQ(core.status, status::kL0cToUbOverflow);
}

// ---------------------------------------------------------------------------------------------------------------------
// Quantisation

struct Quant {
  u8 number;
  bool s32, vector;
  char output;  // 'h' f16, 'b' bf16, '8', '4'
};
constexpr std::array<Quant, 12> kQuants{{{1, false, false, 'h'},
                                         {8, true, true, '8'},
                                         {9, true, false, '8'},
                                         {10, true, true, 'h'},
                                         {11, true, false, 'h'},
                                         {16, false, false, 'b'},
                                         {21, true, true, '4'},
                                         {22, true, false, '4'},
                                         {23, false, true, '8'},
                                         {24, false, false, '8'},
                                         {25, false, true, '4'},
                                         {26, false, false, '4'}}};

float cut(float factor) { return oracle::f32(std::bit_cast<u32>(factor) & 0xffffe000u); }

// What leaves at (row, column) of a matrix whose values are drawn from `quant`, relu and the tables; naive, with MPFR.
struct QuantCase : TestCore {
  static constexpr u32 m = 18, n = 64, rows = 32;
  static constexpr u64 kQuantTable = 3 * 128, kReluTable = 5 * 64;
  QuantCase(const Quant& quant_, u8 relu_, bool shift_first_, bool is_signed_, OverflowMode mode)
      : TestCore(Arch::c220, mode), quant(quant_), relu(relu_), shift_first(shift_first_), is_signed(is_signed_) {
    Random random(quant.number * 8u + relu);
    for (u32 i = 0; i < rows * n; ++i) {
      const u32 bits = static_cast<u32>(random.next());
      i32 v = static_cast<i32>(bits) >> (random.next() % 31);
      if (!quant.s32) {
        const u32 special[] = {0x80000000, kF32Inf, kF32Inf | 0x80000000, kF32Nan, 0x477ff000, 1};
        v = std::bit_cast<i32>(i % 11 == 0 ? special[i / 11 % 6]
                                           : std::bit_cast<u32>(std::ldexp(static_cast<float>(v), -12)));
      }
      mem[BufId::L0C].store(4 * i, v);
    }
    auto& parameters = spr.parameters.write();
    parameters[SprId::quant_pre] = oracle::pack_quant(0.0317f, 4, shift_first, -21, is_signed);
    parameters[SprId::lrelu_alpha] = std::bit_cast<u32>(-0.0613f);
    parameters[SprId::fpc] = kReluTable / 64 | kQuantTable / 128 << 8;
    for (u32 j = 0; j < n; ++j) {
      const float scale = std::ldexp(1.0f + 0.013f * static_cast<float>(j), static_cast<int>(j % 13) - 14);
      mem[BufId::FB].store(kQuantTable + 8 * j, oracle::pack_quant(j % 4 == 3 ? -scale : scale, j % 16 + 1, shift_first,
                                                                   static_cast<int>(j * 7) - 200, is_signed));
      if (quant.vector) continue;  // the tables would overlap
      mem[BufId::FB].store(kReluTable + 4 * j, 0.05f * static_cast<float>(j) - 1.0f);
    }
  }
  u64 expected(u32 row, u32 column) {
    const u64 at = 4 * layout_offset(Layout::zN, {rows, n}, 16, row, column);
    const u64 parameter = quant.vector ? mem[BufId::FB].load<u64>(kQuantTable + 8 * column) : spr[SprId::quant_pre];
    const bool unscaled = quant.number == 1 || quant.number == 16;
    const double in = quant.s32 ? q.input(mem[BufId::L0C].load<i32>(at),
                                          shift_first ? static_cast<unsigned>(parameter >> 32 & 15) + 1 : 0)
                                : double{mem[BufId::L0C].load<float>(at)};
    double factor = unscaled ? 1 : cut(oracle::f32(static_cast<u32>(parameter)));
    if (in < 0 && relu == 2) factor = cut(-0.0613f);
    if (in < 0 && relu == 3) factor = cut(mem[BufId::FB].load<float>(kReluTable + 4 * column));
    const double out = relu == 1 && in <= 0 ? 0 : q.product(in, factor);
    const bool saturate = context.overflow == OverflowMode::saturation;
    const int offset = static_cast<int>(parameter >> 37 & 0x1ff) - ((parameter >> 45 & 1) != 0 ? 512 : 0);
    switch (quant.output) {
      case 'h': return q.f16(out, saturate || !unscaled);
      case 'b': {
        const u16 bits = q.bf16(out);
        if (!saturate || (bits & 0x7f80) != 0x7f80) return (bits & 0x7fff) > 0x7f80 ? 0x7fc0 : bits;
        return (bits & 0x7f) != 0 ? 0 : (bits & 0x8000) | 0x7f7f;
      }
      case '8':
        return static_cast<u8>(oracle::Quantiser::integer(out, offset, is_signed ? -128 : 0, is_signed ? 127 : 255));
      default: return static_cast<u8>(oracle::Quantiser::integer(out, offset, -8, 7)) & 15;
    }
  }
  u32 bits() const { return quant.output == '8' ? 8 : quant.output == '4' ? 4 : 16; }
  u64 got(u64 base, u64 element) const {
    switch (bits()) {
      case 4: return gm_load<u8>(gm, base + element / 2) >> (element % 2 * 4) & 15;
      case 8: return gm_load<u8>(gm, base + element);
      default: return gm_load<u16>(gm, base + 2 * element);
    }
  }
  CopyMatrixCcToGm::Args args(u64 dst) const {
    return {.dst = dst,
            .src = 0,
            .dstStride = 80,
            .nSize = n,
            .mSize = m,
            .srcStride = rows,
            .sid = 0,
            .unitFlag = 0,
            .quantPre = quant.number,
            .reluPre = relu,
            .channelSplit = 0,
            .nz2nd = 1};
  }
  Quant quant;
  u8 relu;
  bool shift_first, is_signed;
  oracle::Quantiser q;
};

// A negative value times the factor of a leaky relu may be zero in f32 already, before it becomes f16.
TEST(FixpipeQuant, AProductThatIsLostBeforeItIsRoundedRaisesUnderflow) {
  for (const bool lost : {true, false}) {
    TestCore core(Arch::c220, OverflowMode::inf_nan);
    const u64 dst = core.gm.allocate(1 << 10, "out");
    for (u32 i = 0; i < 256; ++i)
      core.mem[BufId::L0C].store(4 * i, lost ? -1e-30f : -1.0f);
    core.spr.parameters.write()[SprId::lrelu_alpha] = std::bit_cast<u32>(lost ? 1e-20f : 0.5f);
    core.run<CopyMatrixCcToGm>({.dst = dst,
                                .src = 0,
                                .dstStride = 16,
                                .nSize = 16,
                                .mSize = 16,
                                .srcStride = 16,
                                .sid = 0,
                                .unitFlag = 0,
                                .quantPre = 1,
                                .reluPre = 2,
                                .channelSplit = 0,
                                .nz2nd = 1});
    EXPECT_EQ(core.status, lost ? status::kL0cToUbUnderflow : 0);
    EXPECT_EQ(gm_load<u16>(core.gm, dst), lost ? 0x8000 : 0xb800);
  }
}

TEST(FixpipeQuant, EveryModeRowMajorAndNz) {
  for (const Quant& quant : kQuants) {
    for (u8 relu = 0; relu <= 3; ++relu) {
      if (relu >= 2 && quant.output == 'b') continue;
      if (relu == 3 && quant.vector) continue;
      for (const u32 variant : {0u, 1u, 2u}) {
        SCOPED_TRACE(fmt::format("QuantPRE {} ReLUPRE {} variant {}", quant.number, relu, variant));
        QuantCase t(quant, relu, variant == 1, variant != 2,
                    variant == 0 ? OverflowMode::saturation : OverflowMode::inf_nan);
        const u64 out = t.gm.allocate(32768, "out");
        t.run<CopyMatrixCcToGm>(t.args(out));
        auto nz = t.args(out + 16384);
        nz.nz2nd = 0;
        nz.dstStride = 40;
        t.run<CopyMatrixCcToGm>(nz);
        const u32 c0 = std::max(16u, 256 / t.bits());
        for (u32 i = 0; i < QuantCase::m; ++i) {
          for (u32 j = 0; j < QuantCase::n; ++j) {
            const u64 expected = t.expected(i, j);
            ASSERT_EQ(t.got(out, i * 80 + j), expected) << i << " " << j;
            ASSERT_EQ(t.got(out + 16384 + j / c0 * 40 * 32, i * c0 + j % c0), expected) << i << " " << j;
          }
        }
      }
    }
  }
}

// Sums are shifted by what the parameter says, by the factor not at all, and cut to s16.
TEST(FixpipeQuant, ShiftsSumsTo16Bits) {
  for (const Quant& quant : {Quant{12, true, true, 's'}, Quant{13, true, false, 's'}}) {
    for (const u8 relu : {u8{0}, u8{1}}) {
      QuantCase t(quant, relu, false, true, OverflowMode::inf_nan);
      const u64 out = t.gm.allocate(16384, "out");
      t.run<CopyMatrixCcToGm>(t.args(out));
      auto nz = t.args(0);
      nz.nz2nd = 0;
      nz.dstStride = 40;
      t.run<insn::CopyMatrixCcToCbuf>(nz);
      for (u32 i = 0; i < QuantCase::m; ++i) {
        for (u32 j = 0; j < QuantCase::n; ++j) {
          const u64 parameter =
              quant.vector ? t.mem[BufId::FB].load<u64>(QuantCase::kQuantTable + 8 * j) : t.spr[SprId::quant_pre];
          const i32 in = t.mem[BufId::L0C].load<i32>(4 * layout_offset(Layout::zN, {t.rows, t.n}, 16, i, j));
          const double shifted = oracle::Quantiser::shifted(in, static_cast<unsigned>(parameter >> 32 & 15) + 1);
          const auto expected = static_cast<i16>(relu == 1 && in < 0 ? 0 : shifted);
          ASSERT_EQ(gm_load<i16>(t.gm, out + 2 * (i * 80 + j)), expected) << i << " " << j;
          ASSERT_EQ(t.mem[BufId::L1].load<i16>(j / 16 * 40 * 32 + 2 * (i * 16 + j % 16)), expected) << i << " " << j;
        }
      }
    }
  }
  QuantCase t({13, true, false, 's'}, 2, false, true, OverflowMode::inf_nan);
  EXPECT_EQ(error_of([&] { t.run<CopyMatrixCcToGm>(t.args(0)); }),
            "unsupported: operand ReLUPRE is 2; results of s16 model 0 (none) and 1 (relu)");
}

// Vector quantisation with the slopes of its columns: tables that do not overlap.
TEST(FixpipeQuant, BothTables) {
  QuantCase t(kQuants[8], 3, false, true, OverflowMode::inf_nan);
  t.spr.parameters.write()[SprId::fpc] = 32 | QuantCase::kQuantTable / 128 << 8;
  for (u32 j = 0; j < QuantCase::n; ++j)
    t.mem[BufId::FB].store(2048 + 4 * j, 0.03f * static_cast<float>(j) - 1.0f);
  const u64 out = t.gm.allocate(16384, "out");
  t.run<CopyMatrixCcToGm>(t.args(out));
  for (u32 j = 0; j < QuantCase::n; ++j) {
    t.mem[BufId::L0C].store(4 * layout_offset(Layout::zN, {QuantCase::rows, QuantCase::n}, 16, 0, j), -100.0f);
  }
  t.run<CopyMatrixCcToGm>(t.args(out));
  for (u32 j = 0; j < QuantCase::n; ++j) {
    const u64 parameter = t.mem[BufId::FB].load<u64>(QuantCase::kQuantTable + 8 * j);
    const int offset = static_cast<int>(parameter >> 37 & 0x1ff) - ((parameter >> 45 & 1) != 0 ? 512 : 0);
    const double v = t.q.product(-100, cut(0.03f * static_cast<float>(j) - 1.0f));
    ASSERT_EQ(t.got(out, j), static_cast<u8>(oracle::Quantiser::integer(v, offset, -128, 127))) << j;
  }
  const Footprint f = CopyMatrixCcToGm::footprint(t.args(out), t.spr, Arch::c220);
  ASSERT_EQ(f.size(), 4u);
  EXPECT_EQ(f.begin()[2].buffer, BufId::FB);
  EXPECT_EQ(f.begin()[2].address, QuantCase::kQuantTable);
  EXPECT_EQ(f.begin()[2].len, 64 * 8u);
  EXPECT_EQ(f.begin()[3].address, 32 * 64u);
  EXPECT_EQ(f.begin()[3].len, 64 * 4u);
}

TEST(FixpipeQuant, AnOddBlockColumnOf8BitStaysAlone) {
  QuantCase t(kQuants[9], 0, false, true, OverflowMode::inf_nan);
  const u64 out = t.gm.allocate(16384, "out");
  auto a = t.args(out);
  a.nz2nd = 0;
  a.nSize = 48;
  a.dstStride = 40;
  t.run<CopyMatrixCcToGm>(a);
  for (u32 i = 0; i < QuantCase::m; ++i) {
    for (u32 j = 0; j < 48; ++j) {
      const u64 at = j < 32 ? i * 32 + j : 40 * 32 + i * 16 + j % 16;
      ASSERT_EQ(t.got(out, at), t.expected(i, j)) << i << " " << j;
    }
  }
  const Footprint f = CopyMatrixCcToGm::footprint(a, t.spr, Arch::c220);
  ASSERT_EQ(f.size(), 3u);
  EXPECT_EQ(f.begin()[1].bytes(), QuantCase::m * 32u);
  EXPECT_EQ(f.begin()[2].bytes(), QuantCase::m * 16u);
  EXPECT_EQ(f.begin()[2].address, out + 40 * 32);
}

TEST_F(Fixpipe, ChannelSplitHalvesBlockColumns) {
  auto a = args(out);
  a.channelSplit = 1;
  a.nSize = 40;
  a.dstStride = 20;  // m rows of 32 B, and one more
  core.run<CopyMatrixCcToGm>(a);
  for (u32 i = 0; i < m; ++i) {
    for (u32 j = 0; j < 40; ++j)
      ASSERT_EQ(gm_load<float>(core.gm, out + j / 8 * 20 * 32 + i * 32 + j % 8 * 4), value(i, j)) << i << " " << j;
  }
  EXPECT_EQ(gm_load<u32>(core.gm, out + 19 * 32), 0xeeeeeeeeu);
  const Footprint f = CopyMatrixCcToGm::footprint(a, {}, Arch::c220);
  EXPECT_EQ(f.begin()[1].bytes(), 5u * m * 32);
}

TEST_F(Fixpipe, SeveralMatricesByNdPara) {
  auto a = args(out);
  a.nz2nd = 1;
  a.dstStride = 24;
  a.nSize = 16;
  a.mSize = 3;
  core.spr.parameters.write()[SprId::nd_para] = 3 | u64{1} << 16 | u64{100} << 32;
  core.run<CopyMatrixCcToGm>(a);
  for (u32 k = 0; k < 3; ++k) {
    for (u32 i = 0; i < 3; ++i) {
      for (u32 j = 0; j < 16; ++j) {
        const float expected = core.mem[BufId::L0C].load<float>(1024 + k * 1024 + i * 64 + j * 4);
        ASSERT_EQ(gm_load<float>(core.gm, out + 4 * (k * 100 + i * 24 + j)), expected);
      }
    }
  }
  const Footprint f = CopyMatrixCcToGm::footprint(a, core.spr, Arch::c220);
  EXPECT_EQ(f.begin()[0].bytes(), 3u * 3 * 64);
  EXPECT_EQ(f.begin()[0].stride[1], 1024);
  EXPECT_EQ(f.begin()[1].bytes(), 3u * 3 * 64);
  EXPECT_EQ(f.begin()[1].stride[1], 400);
  EXPECT_EQ(CopyMatrixCcToGm::work(a, core.spr).bursts, 9u);
}

TEST_F(Fixpipe, ToL1StaysNz) {
  CopyMatrixCcToCbuf::Args a = args(4096);
  a.quantPre = 16;
  a.dstStride = 32;
  core.run<CopyMatrixCcToCbuf>(a);
  for (u32 i = 0; i < m; ++i) {
    for (u32 j = 0; j < n; ++j) {
      const u64 at = 4096 + j / 16 * 32 * 32 + i * 32 + j % 16 * 2;
      ASSERT_EQ(core.mem[BufId::L1].load<u16>(at), oracle::Quantiser().bf16(value(i, j))) << i << " " << j;
    }
  }
  const Footprint f = CopyMatrixCcToCbuf::footprint(a, {}, Arch::c220);
  EXPECT_EQ(f.begin()[1].buffer, BufId::L1);
  EXPECT_EQ(f.begin()[1].bytes(), 3u * m * 32);
  EXPECT_EQ(CopyMatrixCcToCbuf::cost_of(a), "move.l0c_to_l1"_cost);
}

TEST_F(Fixpipe, NothingToDo) {
  for (const auto [columns, lines] : {std::array<u16, 2>{0, m}, {n, 0}}) {
    auto a = args(out);
    a.nSize = columns;
    a.mSize = lines;
    a.dstStride = 38;
    core.run<CopyMatrixCcToGm>(a);
    EXPECT_EQ(gm_load<u32>(core.gm, out), 0xeeeeeeeeu);
    u64 bytes = 0;
    for (const Access& access : CopyMatrixCcToGm::footprint(a, {}, Arch::c220))
      bytes += access.bytes();
    EXPECT_EQ(bytes, 0u);
  }
}

TEST_F(Fixpipe, WhatDoesNotGoTogetherSaysSo) {
  using Args = CopyMatrixCcToGm::Args;
  const auto message = [&](const std::function<void(Args&)>& change, BufId dst = BufId::GM) {
    Args a = args(dst == BufId::GM ? out : 0);
    change(a);
    const auto run = [&] { return dst == BufId::GM ? core.run<CopyMatrixCcToGm>(a) : core.run<CopyMatrixCcToCbuf>(a); };
    const std::string text = error_of(run);
    EXPECT_EQ(error_of([&] { insn::fixpipe_footprint(a, dst, core.spr); }), text);
    return text;
  };
  EXPECT_EQ(message([](Args& a) { a.unitFlag = 1; }),
            "program: operand unitFlag is 1, which is reserved; 0 is off, 2 keeps, 3 updates");
  EXPECT_EQ(message([](Args& a) { a.quantPre = 2; }),
            "unsupported: operand QuantPRE is 2; FIXPIPE models 0, 1, 8 to 13, 16, 21, 22, 23, 24, 25 and 26 of "
            "QuantMode_t");
  EXPECT_EQ(message([](Args& a) { a.reluPre = 4; }), "program: operand ReLUPRE is 4; FIXPIPE has 0 to 3");
  EXPECT_EQ(message([](Args& a) { a.reluPre = 2; }),
            "program: operand ReLUPRE is 2; results of QuantPRE 0 take 0 (none) or 1 (relu)");
  EXPECT_EQ(message([](Args& a) { a.channelSplit = a.nz2nd = 1; }),
            "program: operand channelSplit is 1, which needs QuantPRE 0, NZ2ND_EN 0 and unitFlag 0");
  EXPECT_EQ(message([](Args& a) { a.channelSplit = 1; }),
            "program: operand NSize is 37; with channelSplit it is a multiple of 8");
  EXPECT_EQ(message([](Args& a) { a.channelSplit = 1; }, BufId::L1),
            "program: operand channelSplit is 1, which is for global memory only");
  EXPECT_EQ(message([](Args& a) { a.nz2nd = 1; }, BufId::L1),
            "unsupported: operand NZ2ND_EN is 1; copy_matrix_cc_to_cbuf models 0 (NZ)");
  EXPECT_EQ(message([](Args& a) { a.nz2nd = 1, a.mSize = 8193; }),
            "program: operand MSize is 8193; with NZ2ND_EN it is at most 8192");
  EXPECT_EQ(message([](Args& a) { a.quantPre = 22; }),
            "unsupported: operand NSize is 37; NZ of s4 models multiples of 64");
  EXPECT_EQ(message([](Args& a) { a.quantPre = 22, a.nz2nd = 1; }),
            "program: operands NSize 37 and dstStride 0: rows of s4 have whole bytes");
}

}  // namespace
}  // namespace vinci::isa
