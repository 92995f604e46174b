// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/l0c_ub.h"

#include <bit>
#include <functional>
#include <limits>
#include <vector>

#include "tests/unit/isa/quant_oracle.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using insn::CopyMatrixCcToUbuf;
using insn::CopyMatrixUbufToCc;
using insn::CopyVectorCcToUbuf;
using insn::CopyVectorUbufToCc;
using insn::CrMode;
using oracle::pack_quant;
using oracle::Random;

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

// ---------------------------------------------------------------------------------------------------------------------
// Scaling

// s32 values that meet every limit.
i32 draw_s32(Random& random, u32 i) {
  constexpr std::array<i32, 8> kEdges{
      0, 1, -1, 0x7fff, -0x8000, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max(), 0x1000001};
  if (i % 7 == 0) return kEdges[i / 7 % kEdges.size()];
  return static_cast<i32>(static_cast<u32>(random.next())) >> (random.next() % 31);
}

// Two pieces of two fractals with gaps, the source drawn at random.
struct Scaling {
  explicit Scaling(CrMode mode, u8 type = CopyMatrixCcToUbuf::s32, OverflowMode overflow = OverflowMode::saturation)
      : core(Arch::m200, overflow),
        args{.dst = 4096,
             .src = 2048,
             .nBurst = 2,
             .lenBurst = 2,
             .srcStride = 1,
             .dstStride = 3,
             .sid = 2,
             .crmode = static_cast<u8>(mode),
             .type = type} {
    Random random(static_cast<u64>(mode));
    for (u32 i = 0; i < 2048; ++i) {
      if (type == CopyMatrixCcToUbuf::s32) {
        core.mem[BufId::L0C].store(2048 + 4 * i, draw_s32(random, i));
      } else {
        core.mem[BufId::L0C].store(2048 + 2 * i, static_cast<u16>(random.next()));
      }
    }
    for (u32 i = 0; i < core.mem[BufId::UB].size(); i += 8)
      core.mem[BufId::UB].store<u64>(i, 0x5555555555555555);
  }
  void run() { core.run<CopyMatrixCcToUbuf>(args); }
  // f(piece, element of the piece, value)
  void each(const std::function<void(u32, u32, i32)>& f) {
    for (u32 piece = 0; piece < 2; ++piece) {
      for (u32 i = 0; i < 512; ++i)
        f(piece, i, core.mem[BufId::L0C].load<i32>(2048 + piece * 3 * 1024 + 4 * i));
    }
  }
  template <class T>
  T ub(u64 address) const {
    return core.mem[BufId::UB].load<T>(address);
  }
  TestCore core;
  CopyMatrixCcToUbuf::Args args;
};

// A table of parameters for the 16 columns of two pieces, different everywhere, at UB address 0x2000.
constexpr u64 kTable = 0x2000;
std::vector<u64> make_table(Scaling& s, bool shift_first, bool is_signed) {
  std::vector<u64> table(32);
  for (u32 i = 0; i < table.size(); ++i) {
    const float scale = std::ldexp(1.0f + 0.01f * static_cast<float>(i), static_cast<int>(i % 9) - 12);
    table[i] =
        pack_quant(i % 5 == 4 ? -scale : scale, i % 16 + 1, shift_first, static_cast<int>(i * 9) - 130, is_signed);
    s.core.mem[BufId::UB].store(kTable + 8 * i, table[i]);
  }
  return table;
}

TEST(CcToUbScaling, S32ToF16ByTheScaleOfDeqscale) {
  oracle::Quantiser q;
  for (const u16 scale : {f16_bits(1), f16_bits(-0.0123), f16_bits(300), u16{0x0001}, u16{0}}) {
    Scaling s(CrMode::s32_to_f16);
    s.core.spr.parameters.write()[SprId::deqscale] = scale;
    s.run();
    s.each([&](u32 piece, u32 i, i32 v) {
      ASSERT_EQ(s.ub<u16>(4096 + piece * (1024 + 96) + 2 * i),
                q.f16(q.product(q.input(v, 0), oracle::f16(scale)), true))
          << v;
    });
  }
}

TEST(CcToUbScaling, F16TimesDeqscale) {
  oracle::Quantiser q;
  for (const OverflowMode mode : {OverflowMode::saturation, OverflowMode::inf_nan}) {
    Scaling s(CrMode::f16_mul, CopyMatrixCcToUbuf::f16, mode);
    s.core.spr.parameters.write()[SprId::deqscale] = f16_bits(1.37);
    s.run();
    for (u32 i = 0; i < 512; ++i) {
      const double product =
          q.product(oracle::f16(s.core.mem[BufId::L0C].load<u16>(2048 + 2 * i)), oracle::f16(f16_bits(1.37)));
      ASSERT_EQ(s.ub<u16>(4096 + 2 * i), q.f16(product, mode == OverflowMode::saturation)) << i;
    }
    EXPECT_NE(s.core.status & status::kL0cToUbOverflow, 0u);
  }
}

TEST(CcToUbScaling, VdeqTakesAnF16ForEachColumn) {
  oracle::Quantiser q;
  for (const bool relu : {false, true}) {
    Scaling s(CrMode::vdeq);
    for (u32 i = 0; i < 32; ++i)
      s.core.mem[BufId::UB].store(kTable + 2 * i, f16_bits(0.001 * (i % 3 == 0 ? -1.0 - i : 1.0 + i)));
    s.core.spr.parameters.write()[SprId::deqscale] = kTable / 32 | u64{relu} << 15;
    s.run();
    s.each([&](u32 piece, u32 i, i32 v) {
      const double factor = oracle::f16(s.ub<u16>(kTable + 32 * piece + 2 * (i % 16)));
      double product = q.product(q.input(v, 0), factor);
      if (relu && product <= 0) product = 0;
      ASSERT_EQ(s.ub<u16>(4096 + piece * (1024 + 96) + 2 * i), q.f16(product, true)) << v << " " << factor;
    });
  }
}

TEST(CcToUbScaling, Deq16AndVdeq16) {
  oracle::Quantiser q;
  for (const bool vector : {false, true}) {
    for (const bool shift_first : {false, true}) {
      for (const bool relu : {false, true}) {
        Scaling s(vector ? CrMode::vdeq16 : CrMode::deq16);
        std::vector<u64> table = make_table(s, shift_first, false);
        u64& deqscale = s.core.spr.parameters.write()[SprId::deqscale];
        deqscale = vector ? kTable / 32 | u64{relu} << 15 : pack_quant(0.0371f, 5, shift_first, 99, false, relu);
        s.run();
        s.each([&](u32 piece, u32 i, i32 v) {
          const u64 bits = vector ? table[16 * piece + i % 16] : deqscale;
          double product =
              q.product(q.input(v, shift_first ? (bits >> 32 & 15) + 1 : 0), oracle::f32(static_cast<u32>(bits)));
          if (relu && product <= 0) product = 0;
          ASSERT_EQ(s.ub<u16>(4096 + piece * (1024 + 96) + 2 * i), q.f16(product, true)) << v;
        });
      }
    }
  }
}

TEST(CcToUbScaling, Deqs16AndVdeqs16ShiftAlone) {
  for (const bool vector : {false, true}) {
    for (const bool relu : {false, true}) {
      Scaling s(vector ? CrMode::vdeqs16 : CrMode::deqs16);
      std::vector<u64> table = make_table(s, false, false);
      u64& deqscale = s.core.spr.parameters.write()[SprId::deqscale];
      deqscale = vector ? kTable / 32 | u64{relu} << 15 : pack_quant(3.0f, 16, false, 0, false, relu);
      s.run();
      s.each([&](u32 piece, u32 i, i32 v) {
        const u64 bits = vector ? table[16 * piece + i % 16] : deqscale;
        double shifted = oracle::Quantiser::shifted(v, static_cast<unsigned>(bits >> 32 & 15) + 1);
        if (relu) shifted = std::max(shifted, 0.0);
        ASSERT_EQ(s.ub<i16>(4096 + piece * (1024 + 96) + 2 * i), static_cast<i16>(shifted)) << v;
      });
    }
  }
}

TEST(CcToUbScaling, Deq8AndVdeq8InEveryStoreMode) {
  oracle::Quantiser q;
  for (const bool vector : {false, true}) {
    for (const bool is_signed : {false, true}) {
      for (const bool shift_first : {false, true}) {
        for (const u8 sid : {u8{0}, u8{1}, u8{2}}) {
          Scaling s(vector ? CrMode::vdeq8 : CrMode::deq8);
          s.args.sid = sid;
          std::vector<u64> table = make_table(s, shift_first, is_signed);
          u64& deqscale = s.core.spr.parameters.write()[SprId::deqscale];
          deqscale = vector ? kTable / 32 : pack_quant(0.00731f, 3, shift_first, -17, is_signed);
          s.run();
          const u64 piece_bytes = sid == 2 ? 512 : 1024;
          s.each([&](u32 piece, u32 i, i32 v) {
            const u64 bits = vector ? table[16 * piece + i % 16] : deqscale;
            const double product =
                q.product(q.input(v, shift_first ? (bits >> 32 & 15) + 1 : 0), oracle::f32(static_cast<u32>(bits)));
            const int offset = static_cast<int>(bits >> 37 & 0x1ff) - ((bits >> 45 & 1) != 0 ? 512 : 0);
            const auto expected = static_cast<u8>(
                oracle::Quantiser::integer(product, offset, is_signed ? -128 : 0, is_signed ? 127 : 255));
            const u64 at = 4096 + piece * (piece_bytes + 96) + (sid == 2 ? i : i / 16 * 32 + i % 16 + sid * 16);
            ASSERT_EQ(s.ub<u8>(at), expected) << v;
            if (sid == 2) return;
            ASSERT_EQ(s.ub<u8>(at ^ 16), 0x55);
          });
        }
      }
    }
  }
}

TEST(CcToUbScaling, ReluOfDeq8NeedsItsOffset) {
  for (const bool is_signed : {false, true}) {
    Scaling s(CrMode::deq8);
    s.core.mem[BufId::L0C].store<i32>(2048, -5);
    s.core.mem[BufId::L0C].store<i32>(2052, 5);
    const int offset = is_signed ? -128 : 0;
    s.core.spr.parameters.write()[SprId::deqscale] = pack_quant(1.0f, 1, false, offset, is_signed, true);
    s.run();
    EXPECT_EQ(s.ub<u8>(4096), static_cast<u8>(offset));
    EXPECT_EQ(s.ub<u8>(4097), static_cast<u8>(offset + 5));
    s.core.spr.parameters.write()[SprId::deqscale] = pack_quant(1.0f, 1, false, 3, is_signed, true);
    EXPECT_EQ(error_of([&] { s.run(); }),
              "program: the offset of DEQSCALE is 3; with relu it must be -128 for s8 and 0 for u8");
  }
}

TEST(CcToUbScaling, Footprints) {
  CopyMatrixCcToUbuf::Args args = Scaling(CrMode::vdeq8).args;
  Spr spr;
  spr.parameters.write()[SprId::deqscale] = kTable / 32;
  const Footprint packed = CopyMatrixCcToUbuf::footprint(args, spr, Arch::m200);
  ASSERT_EQ(packed.size(), 3u);
  EXPECT_EQ(packed.begin()[1].bytes(), 2 * 512u);
  EXPECT_EQ(packed.begin()[2].address, kTable);
  EXPECT_EQ(packed.begin()[2].bytes(), 2 * 128u);
  EXPECT_FALSE(packed.begin()[2].write);
  args.sid = 1;
  const Footprint halves = CopyMatrixCcToUbuf::footprint(args, spr, Arch::m200);
  EXPECT_EQ(halves.begin()[1].bytes(), 2 * 1024u);
  EXPECT_EQ(halves.begin()[1].stride[0], 1024 + 96);
  args.crmode = static_cast<u8>(CrMode::vdeq);
  EXPECT_EQ(CopyMatrixCcToUbuf::footprint(args, spr, Arch::m200).begin()[2].bytes(), 2 * 32u);
}

// ---------------------------------------------------------------------------------------------------------------------
// Other forms

TEST(CcToUb, F16ToF32) {
  Scaling s(CrMode::f16_to_f32, CopyMatrixCcToUbuf::f16);
  s.run();
  for (u32 i = 0; i < 512; ++i) {
    const u16 in = s.core.mem[BufId::L0C].load<u16>(2048 + 2 * i);
    const u32 expected = f16_nan(in) ? kF32Nan : std::bit_cast<u32>(static_cast<float>(oracle::f16(in)));
    ASSERT_EQ(s.ub<u32>(4096 + 4 * i), expected);
  }
}

TEST(UbToCc, CopiesAndWidensFractals) {
  for (const bool widen : {false, true}) {
    TestCore core(Arch::c100);
    for (u32 i = 0; i < 4096; ++i)
      core.mem[BufId::UB].store(2 * i, static_cast<u16>(i * 13));
    const CopyMatrixUbufToCc::Args args{.dst = 1024,
                                        .src = 64,
                                        .nBurst = 2,
                                        .lenBurst = 1,
                                        .srcStride = 1,
                                        .dstStride = 2,
                                        .sid = 0,
                                        .crmode = static_cast<u8>(widen ? 4 : 0),
                                        .type = CopyMatrixUbufToCc::f32};
    core.run<CopyMatrixUbufToCc>(args);
    for (u32 piece = 0; piece < 2; ++piece) {
      for (u32 i = 0; i < 256; ++i) {
        const u32 got = core.mem[BufId::L0C].load<u32>(1024 + piece * 3 * 1024 + 4 * i);
        if (widen) {
          const u16 in = core.mem[BufId::UB].load<u16>(64 + piece * (512 + 32) + 2 * i);
          ASSERT_EQ(got, f16_nan(in) ? kF32Nan : std::bit_cast<u32>(static_cast<float>(oracle::f16(in))));
        } else {
          ASSERT_EQ(got, core.mem[BufId::UB].load<u32>(64 + piece * (1024 + 32) + 4 * i));
        }
      }
    }
    EXPECT_EQ(core.mem[BufId::L0C].load<u32>(2048), 0u);
    const Footprint f = CopyMatrixUbufToCc::footprint(args, {}, Arch::c100);
    EXPECT_EQ(f.begin()[0].buffer, BufId::UB);
    EXPECT_EQ(f.begin()[0].bytes(), widen ? 2 * 512u : 2 * 1024u);
    EXPECT_EQ(f.begin()[1].buffer, BufId::L0C);
    EXPECT_TRUE(f.begin()[1].write);
    EXPECT_EQ(f.begin()[1].align, 1024u);
    EXPECT_EQ(f.begin()[1].stride[0], 3 * 1024);
  }
}

TEST(VectorForms, CountRowsOfSixteen) {
  TestCore core(Arch::c100, OverflowMode::saturation);
  for (u32 i = 0; i < 1024; ++i)
    core.mem[BufId::L0C].store(4 * i, static_cast<float>(i));
  core.run<CopyVectorCcToUbuf>({.dst = 0,
                                .src = 64,
                                .nBurst = 2,
                                .lenBurst = 3,
                                .srcStride = 1,
                                .dstStride = 1,
                                .sid = 0,
                                .crmode = 1,
                                .type = CopyVectorCcToUbuf::f32});
  const auto at = [&](u64 address) { return oracle::f16(core.mem[BufId::UB].load<u16>(address)); };
  EXPECT_EQ(at(0), 16.0);
  EXPECT_EQ(at(94), 63.0);
  EXPECT_EQ(at(96), 0.0);     // gap of a block
  EXPECT_EQ(at(128), 320.0);  // 48 elements and a fractal further
  EXPECT_EQ(at(128 + 94), 367.0);
  core.run<CopyVectorUbufToCc>({.dst = 512,
                                .src = 0,
                                .nBurst = 1,
                                .lenBurst = 1,
                                .srcStride = 0,
                                .dstStride = 0,
                                .sid = 0,
                                .crmode = 4,
                                .type = CopyVectorUbufToCc::f32});
  EXPECT_EQ(core.mem[BufId::L0C].load<float>(512), 16.0f);
  EXPECT_EQ(core.mem[BufId::L0C].load<float>(512 + 60), 31.0f);
  EXPECT_EQ(core.mem[BufId::L0C].load<float>(512 + 64), 144.0f);
}

TEST(CcToUb, ModeMustFit) {
  struct Case {
    u8 crmode, type, sid;
    std::string message;
  };
  const std::vector<Case> cases{
      {1, CopyMatrixCcToUbuf::s32, 0,
       "program: operand crmode is 1 (f32 to f16), which converts f32, but copy_matrix_cc_to_ubuf is .s32"},
      {9, CopyMatrixCcToUbuf::f32, 0,
       "program: operand crmode is 9 (deq8), which converts s32, but copy_matrix_cc_to_ubuf is .f32"},
      {14, CopyMatrixCcToUbuf::s32, 0,
       "program: operand crmode is 14; copy_matrix_cc_to_ubuf has 0 (none) to 13 (deqs16)"},
      {9, CopyMatrixCcToUbuf::s32, 3,
       "program: operand sid is 3; of 8-bit results it is 0 (first half), 1 (second half) or 2 (packed)"},
  };
  for (const Case& x : cases) {
    TestCore core(Arch::c100);
    const CopyMatrixCcToUbuf::Args args{.dst = 0,
                                        .src = 0,
                                        .nBurst = 1,
                                        .lenBurst = 1,
                                        .srcStride = 0,
                                        .dstStride = 0,
                                        .sid = x.sid,
                                        .crmode = x.crmode,
                                        .type = x.type};
    EXPECT_EQ(error_of([&] { core.run<CopyMatrixCcToUbuf>(args); }), x.message);
    EXPECT_EQ(error_of([&] { CopyMatrixCcToUbuf::footprint(args, {}, Arch::c100); }), x.message);
  }
  const CopyMatrixUbufToCc::Args args{.dst = 0,
                                      .src = 0,
                                      .nBurst = 1,
                                      .lenBurst = 1,
                                      .srcStride = 0,
                                      .dstStride = 0,
                                      .sid = 0,
                                      .crmode = 5,
                                      .type = CopyMatrixUbufToCc::f32};
  EXPECT_EQ(error_of([&] { CopyMatrixUbufToCc::footprint(args, {}, Arch::c100); }),
            "program: operand crmode is 5 (relu); copy_matrix_ubuf_to_cc.f32 takes 0 (none) or 4 (f16 to f32)");
}

}  // namespace
}  // namespace vinci::isa
