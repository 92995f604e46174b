// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/move.h"

#include <set>

#include "isa/mem/layout.h"
#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

// Bytes of the buffer that the footprint says are written.
std::set<u64> written(const Footprint& f, BufId buffer) {
  std::set<u64> out;
  for (const Access& a : f) {
    if (!a.write || a.buffer != buffer) continue;
    for (u32 i = 0; i < a.count[0]; ++i) {
      for (u32 j = 0; j < a.count[1]; ++j) {
        for (u32 k = 0; k < a.count[2]; ++k) {
          const u64 at = a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1] + k * a.stride[2]);
          for (u64 b = 0; b < a.len; ++b)
            out.insert(at + b);
        }
      }
    }
  }
  return out;
}

TEST(BurstCopy, GapsOnBothSides) {
  TestCore core;
  const u64 gm = core.gm.allocate(1024, "in");
  for (u64 i = 0; i < 1024; ++i)
    gm_store<u8>(core.gm, gm + i, static_cast<u8>(1 + i / 32));
  // 3 pieces of 2 blocks; source blocks 0,1 | 3,4 | 6,7 go to UB blocks 1,2 | 5,6 | 9,10.
  const insn::BurstArgs args{.dst = 32, .src = gm, .sid = 0, .nBurst = 3, .lenBurst = 2, .srcGap = 1, .dstGap = 2};
  core.run<insn::CopyGmToUbuf>(args);
  const int expected[] = {0, 1, 2, 0, 0, 4, 5, 0, 0, 7, 8, 0};
  std::set<u64> touched;
  for (u64 b = 0; b < 12; ++b) {
    for (u64 i = 0; i < 32; ++i) {
      EXPECT_EQ(core.mem[BufId::UB].load<u8>(b * 32 + i), expected[b]) << b;
      if (expected[b] != 0) touched.insert(b * 32 + i);
    }
  }
  EXPECT_EQ(written(insn::CopyGmToUbuf::footprint(args, {}, Arch::c220), BufId::UB), touched);
}

TEST(BurstCopy, WithoutGapsAndBackToGlobalMemory) {
  TestCore core;
  const u64 gm = core.gm.allocate(256, "out");
  for (u64 i = 0; i < 128; ++i)
    core.mem[BufId::UB].store<u8>(i, static_cast<u8>(i + 1));
  core.run<insn::CopyUbufToGm>(
      {.dst = gm + 3, .src = 0, .sid = 0, .nBurst = 2, .lenBurst = 2, .srcGap = 0, .dstGap = 0});
  EXPECT_EQ(gm_load<u8>(core.gm, gm + 2), 0);
  for (u64 i = 0; i < 128; ++i)
    EXPECT_EQ(gm_load<u8>(core.gm, gm + 3 + i), i + 1);
  EXPECT_EQ(gm_load<u8>(core.gm, gm + 131), 0);
}

TEST(BurstCopy, NothingToDoTouchesNothing) {
  TestCore core;
  const u64 outside = 1 << 23;
  EXPECT_EQ(error_of([&] { core.run<insn::CopyUbufToUbuf>({outside, outside, 0, 0, 5, 0, 0}); }), "");
  EXPECT_EQ(error_of([&] { core.run<insn::CopyUbufToUbuf>({outside, outside, 0, 5, 0, 0, 0}); }), "");
}

TEST(BurstCopy, OverlappingPiecesInOrder) {
  TestCore core;
  core.mem[BufId::UB].store<u32>(0, 42);
  // Block 0 to 1, then 1 to 2, then 2 to 3: the first block spreads.
  core.run<insn::CopyUbufToUbuf>({.dst = 32, .src = 0, .sid = 0, .nBurst = 3, .lenBurst = 1, .srcGap = 0, .dstGap = 0});
  EXPECT_EQ(core.mem[BufId::UB].load<u32>(96), 42u);
}

TEST(BurstCopy, OutsideIsAFault) {
  TestCore core;
  EXPECT_EQ(error_of([&] {
              core.run<insn::CopyCbufToUbuf>({65536 - 32, 0, 0, 1, 2, 0, 0});
            }),
            "program: UB[0xffe0, +64) is outside its 65536 bytes");
}

TEST(Nd2Nz, TwoMatricesOfHalfsWithATail) {
  TestCore core;
  constexpr u32 rows = 20, cols = 37, pitch = 40;
  const u64 gm = core.gm.allocate(2 * rows * pitch * 2, "nd");
  for (u32 i = 0; i < 2 * rows * pitch; ++i)
    gm_store<u16>(core.gm, gm + 2 * i, static_cast<u16>(i + 1));
  const View& l1 = core.mem[BufId::L1];
  for (u64 i = 0; i < 8192; i += 2)
    l1.store<u16>(i, 0xeeee);
  constexpr MatrixShape shape{rows, cols};
  constexpr u64 matrix = 32 * 48;  // elements
  static_assert(matrix == layout_elements(Layout::zN, shape, 16));
  const insn::Nd2NzArgs args{.src = gm,
                             .dst = 64,
                             .srcDValue = pitch,
                             .sid = 0,
                             .ndNum = 2,
                             .nValue = rows,
                             .dValue = cols,
                             .srcNdMatrixStride = rows * pitch,
                             .dstNzC0Stride = 32,  // rows, padded
                             .dstNzNStride = 1,
                             .dstNzMatrixStride = matrix};
  core.run<insn::CopyGmToCbufMultiNd2NzB16>(args);
  const auto touched = written(insn::CopyGmToCbufMultiNd2NzB16::footprint(args, {}, Arch::c220), BufId::L1);
  EXPECT_EQ(touched.size(), 2u * rows * 3 * 32);
  for (u32 m = 0; m < 2; ++m) {
    for (u32 r = 0; r < 32; ++r) {
      for (u32 c = 0; c < 48; ++c) {
        const u64 at = 64 + 2 * (m * matrix + layout_offset(Layout::zN, {32, 48}, 16, r, c));
        const u32 expected = r >= rows ? 0xeeee : c >= cols ? 0 : m * rows * pitch + r * pitch + c + 1;
        ASSERT_EQ(l1.load<u16>(at), expected) << m << " " << r << " " << c;
        EXPECT_EQ(touched.contains(at), r < rows);
      }
    }
  }
}

TEST(Nd2Nz, LongRowsOf8And32BitElements) {
  TestCore core;
  const u64 gm = core.gm.allocate(10000, "nd");
  for (u32 i = 0; i < 10000; ++i)
    gm_store<u8>(core.gm, gm + i, static_cast<u8>(i * 7 + i / 256));
  core.run<insn::CopyGmToCbufMultiNd2NzB8>({.src = gm,
                                            .dst = 0,
                                            .srcDValue = 5000,
                                            .sid = 0,
                                            .ndNum = 1,
                                            .nValue = 2,
                                            .dValue = 5000,
                                            .srcNdMatrixStride = 0,
                                            .dstNzC0Stride = 2,
                                            .dstNzNStride = 1,
                                            .dstNzMatrixStride = 0});
  for (u32 c = 0; c < 5000; ++c) {
    EXPECT_EQ(core.mem[BufId::L1].load<u8>(c / 32 * 64 + 32 + c % 32), gm_load<u8>(core.gm, gm + 5000 + c)) << c;
  }
  core.run<insn::CopyGmToCbufMultiNd2NzB32s>({.src = gm,
                                              .dst = 32,
                                              .srcDValue = 10,
                                              .sid = 0,
                                              .ndNum = 1,
                                              .nValue = 1,
                                              .dValue = 10,
                                              .srcNdMatrixStride = 0,
                                              .dstNzC0Stride = 4,
                                              .dstNzNStride = 1,
                                              .dstNzMatrixStride = 0});
  EXPECT_EQ(core.mem[BufId::L1].load<u32>(32 + 128 + 4), gm_load<u32>(core.gm, gm + 36));
  EXPECT_EQ(core.mem[BufId::L1].load<u32>(32 + 128 + 8), 0u);
}

TEST(Load2d, BaseStrideAndGap) {
  TestCore core;
  for (u32 f = 0; f < 12; ++f)
    core.mem[BufId::L1].store<u32>(1024 + f * 512 + 508, 100 + f);
  const insn::Load2dArgs args{
      .dst = 512, .src = 1024, .baseIdx = 2, .srcStride = 3, .dstGap = 1, .repeat = 4, .sid = 0, .transpose = 0};
  core.run<insn::LoadCbufToCa>(args);
  const u32 expected[] = {102, 0, 105, 0, 108, 0, 111, 0};
  for (u32 f = 0; f < 8; ++f)
    EXPECT_EQ(core.mem[BufId::L0A].load<u32>(512 + f * 512 + 508), expected[f]) << f;
  const Footprint f = insn::LoadCbufToCa::footprint(args, {}, Arch::c220);
  EXPECT_EQ(written(f, BufId::L0A).size(), 2048u);
  EXPECT_TRUE(written(f, BufId::L0A).contains(512 + 6 * 512 + 511));
  EXPECT_EQ(f.begin()->address, 1024u + 2 * 512);
  EXPECT_EQ(f.begin()->stride[0], 3 * 512);
}

// A zZ copy of row-major fractals with rows and columns exchanged is nZ: what L0B wants.
TEST(Load2d, TransposeOnEveryTarget) {
  TestCore core;
  for (u32 i = 0; i < 256; ++i)
    core.mem[BufId::L1].store<u16>(2 * i, static_cast<u16>(i * 251 + 3));
  each_target([&] {
    core.mem[BufId::L0B].store<u16>(0, 0);
    core.run<insn::LoadCbufToCb>(
        {.dst = 512, .src = 0, .baseIdx = 0, .srcStride = 1, .dstGap = 0, .repeat = 1, .sid = 0, .transpose = 1});
    for (u32 r = 0; r < 16; ++r) {
      for (u32 c = 0; c < 16; ++c) {
        ASSERT_EQ(core.mem[BufId::L0B].load<u16>(512 + 2 * (c * 16 + r)), static_cast<u16>((r * 16 + c) * 251 + 3));
      }
    }
    for (u64 i = 512; i < 1024; i += 2)
      core.mem[BufId::L0B].store<u16>(i, 0);
  });
}

TEST(Load2d, TheGapDoesNotExistOnC100) {
  const insn::Load2dArgs args{
      .dst = 0, .src = 0, .baseIdx = 0, .srcStride = 1, .dstGap = 2, .repeat = 1, .sid = 0, .transpose = 0};
  const std::string expected = "program: operand dstGap is 2; load2d of c100 has no destination gap, it must be 0";
  TestCore core(Arch::c100);
  EXPECT_EQ(error_of([&] { core.run<insn::LoadCbufToCa>(args); }), expected);
  EXPECT_EQ(error_of([&] { insn::LoadCbufToCa::footprint(args, {}, Arch::c100); }), expected);
  TestCore m200(Arch::m200);
  EXPECT_EQ(error_of([&] { m200.run<insn::LoadCbufToCa>(args); }), "");
}

TEST(Load2d, LeavingTheBufferIsAFault) {
  TestCore core;
  EXPECT_EQ(error_of([&] {
              core.run<insn::LoadCbufToCa>({.dst = 65536 - 512,
                                            .src = 0,
                                            .baseIdx = 0,
                                            .srcStride = 0,
                                            .dstGap = 0,
                                            .repeat = 2,
                                            .sid = 0,
                                            .transpose = 0});
            }),
            "program: L0A[0x10000, +512) is outside its 65536 bytes");
}

}  // namespace
}  // namespace vinci::isa
