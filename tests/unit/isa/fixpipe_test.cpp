// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/fixpipe.h"

#include <bit>
#include <vector>

#include "isa/mem/layout.h"
#include "isa/numeric/float16.h"
#include "isa/sem/fractal_kernel.h"
#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using insn::CopyMatrixCcToGm;
using insn::CopyMatrixCcToUbuf;

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

TEST(CcToUb, ConvertsWithGaps) {
  TestCore core(Arch::c100, OverflowMode::saturation);
  for (u32 i = 0; i < 256 * 4; ++i) {
    core.mem[BufId::L0C].store<float>(4 * i, (i % 2 == 0 ? 1.0f : -1.0f) * static_cast<float>(i));
  }
  // 2 pieces of one fractal, one fractal skipped between; 2 blocks skipped in UB.
  const CopyMatrixCcToUbuf::Args args{.dst = 64,
                                      .src = 0,
                                      .nBurst = 2,
                                      .lenBurst = 1,
                                      .srcStride = 1,
                                      .dstStride = 2,
                                      .sid = 0,
                                      .crmode = 2,
                                      .type = CopyMatrixCcToUbuf::f32};
  core.run<CopyMatrixCcToUbuf>(args);
  const auto at = [&](u64 address) { return f16_value(core.mem[BufId::UB].load<u16>(address)); };
  EXPECT_EQ(at(62), 0.0f);
  EXPECT_EQ(at(64 + 2 * 254), 254.0f);
  EXPECT_EQ(at(64 + 2 * 255), 0.0f);  // relu
  EXPECT_EQ(at(64 + 512), 0.0f);      // gap
  EXPECT_EQ(at(64 + 512 + 64 + 4), 514.0f);
  EXPECT_EQ(core.status, 0u);
  const Footprint f = CopyMatrixCcToUbuf::footprint(args, {}, Arch::c100);
  EXPECT_EQ(f.begin()[0].len, 1024u);
  EXPECT_EQ(f.begin()[0].stride[0], 2048);
  EXPECT_EQ(f.begin()[1].len, 512u);
  EXPECT_EQ(f.begin()[1].stride[0], 512 + 64);
}

TEST(CcToUb, OverflowFollowsTheModeAndIsRecorded) {
  for (const OverflowMode mode : {OverflowMode::saturation, OverflowMode::inf_nan}) {
    TestCore core(Arch::c100, mode);
    const float in[] = {65519.0f, 65520.0f, -1e9f, std::bit_cast<float>(kF32Nan), 1e-9f};
    for (u32 i = 0; i < 5; ++i)
      core.mem[BufId::L0C].store(4 * i, in[i]);
    core.run<CopyMatrixCcToUbuf>({.dst = 0,
                                  .src = 0,
                                  .nBurst = 1,
                                  .lenBurst = 1,
                                  .srcStride = 0,
                                  .dstStride = 0,
                                  .sid = 0,
                                  .crmode = 1,
                                  .type = CopyMatrixCcToUbuf::f32});
    const bool sat = mode == OverflowMode::saturation;
    const u16 expected[] = {kF16Max, sat ? kF16Max : kF16Inf, static_cast<u16>(sat ? 0xfbff : 0xfc00),
                            sat ? u16{0} : kF16Nan, 0};
    for (u32 i = 0; i < 5; ++i)
      EXPECT_EQ(core.mem[BufId::UB].load<u16>(2 * i), expected[i]) << i;
    EXPECT_EQ(core.status, status::kL0cToUbOverflow | status::kL0cToUbUnderflow);
  }
}

TEST(CcToUb, ReluOfEachType) {
  TestCore core(Arch::c100);
  const View& l0c = core.mem[BufId::L0C];
  const View& ub = core.mem[BufId::UB];
  CopyMatrixCcToUbuf::Args args{.dst = 0,
                                .src = 0,
                                .nBurst = 1,
                                .lenBurst = 1,
                                .srcStride = 0,
                                .dstStride = 0,
                                .sid = 0,
                                .crmode = 5,
                                .type = CopyMatrixCcToUbuf::s32};
  l0c.store<i32>(0, -7);
  l0c.store<i32>(4, 7);
  core.run<CopyMatrixCcToUbuf>(args);
  EXPECT_EQ(ub.load<i32>(0), 0);
  EXPECT_EQ(ub.load<i32>(4), 7);
  args.type = CopyMatrixCcToUbuf::f32;
  for (u32 i = 0; const u32 bits : {0x80000000u, 0xffc00000u, 0x40000000u, 0xff800000u})
    l0c.store(4 * i++, bits);
  core.run<CopyMatrixCcToUbuf>(args);
  for (u32 i = 0; const u32 bits : {0u, kF32Nan, 0x40000000u, 0u})
    EXPECT_EQ(ub.load<u32>(4 * i++), bits);
  args.type = CopyMatrixCcToUbuf::f16;
  for (u32 i = 0; const u16 bits : {u16{0x8001}, u16{0xfe00}, u16{0x4000}})
    l0c.store(2 * i++, bits);
  ub.store<u16>(512, 0x1234);
  core.run<CopyMatrixCcToUbuf>(args);
  for (u32 i = 0; const u16 bits : {u16{0}, kF16Nan, u16{0x4000}})
    EXPECT_EQ(ub.load<u16>(2 * i++), bits);
  EXPECT_EQ(ub.load<u16>(512), 0x1234);
}

TEST(CcToUb, ModeMustFit) {
  TestCore core(Arch::c100);
  CopyMatrixCcToUbuf::Args args{.dst = 0,
                                .src = 0,
                                .nBurst = 1,
                                .lenBurst = 1,
                                .srcStride = 0,
                                .dstStride = 0,
                                .sid = 0,
                                .crmode = 1,
                                .type = CopyMatrixCcToUbuf::s32};
  EXPECT_EQ(error_of([&] { core.run<CopyMatrixCcToUbuf>(args); }),
            "program: operand crmode is 1, which converts f32; copy_matrix_cc_to_ubuf.s32 takes 0 (none) or 5 (relu)");
  args.crmode = 7;
  const std::string expected =
      "unsupported: operand crmode is 7; copy_matrix_cc_to_ubuf models 0 (none), 1 (f32 to f16), 2 (f32 to f16 and "
      "relu), 5 (relu)";
  EXPECT_EQ(error_of([&] { core.run<CopyMatrixCcToUbuf>(args); }), expected);
  EXPECT_EQ(error_of([&] { CopyMatrixCcToUbuf::footprint(args, {}, Arch::c100); }), expected);
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

TEST_F(Fixpipe, WhatIsNotModelledSaysSo) {
  using Args = CopyMatrixCcToGm::Args;
  const auto message = [&](u8 Args::*operand, u8 value) {
    Args a = args(out);
    a.*operand = value;
    const std::string text = error_of([&] { core.run<CopyMatrixCcToGm>(a); });
    EXPECT_EQ(error_of([&] { CopyMatrixCcToGm::footprint(a, {}, Arch::c220); }), text);
    return text;
  };
  EXPECT_EQ(message(&Args::unitFlag, 3), "unsupported: operand unitFlag is 3; copy_matrix_cc_to_gm models 0 (off)");
  EXPECT_EQ(message(&Args::quantPre, 16),
            "unsupported: operand QuantPRE is 16; copy_matrix_cc_to_gm models 0 (none) and 1 (f32 to f16)");
  EXPECT_EQ(message(&Args::reluPre, 2),
            "unsupported: operand ReLUPRE is 2; copy_matrix_cc_to_gm models 0 (none) and 1 (relu)");
  EXPECT_EQ(message(&Args::channelSplit, 1),
            "unsupported: operand channelSplit is 1; copy_matrix_cc_to_gm models 0 (off)");
}

}  // namespace
}  // namespace vinci::isa
