// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/move.h"

#include "isa/insns/nd2nz.h"
#include "isa/mem/layout.h"
#include "tests/unit/isa/footprint_bytes.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

// A limit of each burst would be halved for the same bytes otherwise.
TEST(BurstCopy, PiecesOfGlobalMemoryThatTouchAreOneBurst) {
  const auto bursts = [](auto insn, u16 pieces, u16 src_gap, u16 dst_gap) {
    const insn::BurstArgs x{
        .dst = 0, .src = 0, .sid = 0, .nBurst = pieces, .lenBurst = 2, .srcGap = src_gap, .dstGap = dst_gap};
    return decltype(insn)::work(x, {}).bursts;
  };
  EXPECT_EQ(bursts(insn::CopyGmToUbuf(), 3, 0, 1), 1u);
  EXPECT_EQ(bursts(insn::CopyGmToUbuf(), 3, 1, 0), 3u);
  EXPECT_EQ(bursts(insn::CopyGmToUbuf(), 0, 0, 0), 0u);
  EXPECT_EQ(bursts(insn::CopyUbufToGm(), 3, 1, 0), 1u);
  EXPECT_EQ(bursts(insn::CopyUbufToGm(), 3, 0, 1), 3u);
  EXPECT_EQ(bursts(insn::CopyUbufToUbuf(), 3, 0, 0), 1u);
  EXPECT_EQ(bursts(insn::CopyUbufToUbuf(), 3, 1, 0), 3u);
  EXPECT_EQ(bursts(insn::CopyUbufToUbuf(), 3, 0, 1), 3u);
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

TEST(BurstCopy, PadModesAreRefused) {
  const insn::BurstArgs args{
      .dst = 0, .src = 0, .sid = 0, .nBurst = 1, .lenBurst = 1, .srcGap = 0, .dstGap = 0, .padMode = 3};
  EXPECT_EQ(error_of([&] { insn::CopyGmToCbuf::footprint(args, {}, Arch::c220); }),
            "unsupported: operand padMode is 3; copy_gm_to_cbuf models 0 (PAD_NONE): what the others insert is not "
            "public");
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

// Rows on one page of device memory, on two, and on pages that are not written; all numbers of rows up to 40.
TEST(Nd2Nz, RowsThatLieOnSeveralPages) {
  constexpr u32 kPitch = 3000, kColumns = 90;  // bytes; a row of L1 has 96
  for (u32 rows = 1; rows <= 40; ++rows) {
    TestCore core;
    const u64 gm = core.gm.allocate(rows * kPitch, "nd") + PageTable::kPageBytes - rows * kPitch / 2 - 40;
    for (u32 r = 0; r < rows / 2 + 1; ++r) {
      for (u32 c = 0; c < kColumns; ++c)
        gm_store<u8>(core.gm, gm + r * kPitch + c, static_cast<u8>(1 + (r * 31 + c * 7) % 255));
    }
    core.run<insn::CopyGmToCbufMultiNd2NzB8>({.src = gm,
                                              .dst = 0,
                                              .srcDValue = kPitch,
                                              .sid = 0,
                                              .ndNum = 1,
                                              .nValue = static_cast<u16>(rows),
                                              .dValue = kColumns,
                                              .srcNdMatrixStride = 0,
                                              .dstNzC0Stride = 40,
                                              .dstNzNStride = 1,
                                              .dstNzMatrixStride = 0});
    for (u32 r = 0; r < rows; ++r) {
      for (u32 c = 0; c < 96; ++c) {
        const u32 expected = r > rows / 2 || c >= kColumns ? 0 : 1 + (r * 31 + c * 7) % 255;
        ASSERT_EQ(core.mem[BufId::L1].load<u8>(c / 32 * 40 * 32 + r * 32 + c % 32), expected) << rows << " " << r;
      }
    }
  }
}

}  // namespace
}  // namespace vinci::isa
