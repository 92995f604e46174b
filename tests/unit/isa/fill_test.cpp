// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/fill.h"

#include "isa/insns/table_copy.h"
#include "tests/unit/isa/footprint_bytes.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

TEST(FillMatrix, RunsWithGaps) {
  TestCore core;
  const insn::FillArgs args{.value = 0x3f80'1234, .dst = 1024, .repeat = 3, .blkNum = 2, .dstGap = 1, .type = 1};
  core.run<insn::CreateCaMatrix>(args);
  core.run<insn::CreateCbufMatrix>(args);
  for (const auto& [buffer, unit] : {std::pair{BufId::L0A, 512u}, std::pair{BufId::L1, 32u}}) {
    const Footprint f = buffer == BufId::L1 ? insn::CreateCbufMatrix::footprint(args, {}, Arch::c220)
                                            : insn::CreateCaMatrix::footprint(args, {}, Arch::c220);
    const std::set<u64> bytes = written(f, buffer);
    EXPECT_EQ(bytes.size(), 6u * unit);
    for (u64 i = 0; i < 10 * unit; i += 4) {
      const bool inside = i / unit % 3 != 2 && i < 8 * unit;
      EXPECT_EQ(core.mem[buffer].load<u32>(1024 + i), inside ? 0x3f80'1234u : 0u) << name(buffer) << " " << i;
      EXPECT_EQ(bytes.contains(1024 + i), inside);
    }
  }
}

TEST(FillMatrix, HalfsAndTheRegister) {
  TestCore core(Arch::c100);
  core.spr.parameters.write()[SprId::l0_set_value] = 0x4567;
  core.run<insn::CreateCbMatrix>({.value = 0x3c00, .dst = 0, .repeat = 1, .blkNum = 1, .dstGap = 0, .type = 0});
  core.run<insn::CreateCbMatrix>(
      {.value = insn::kFillFromRegister, .dst = 512, .repeat = 2, .blkNum = 1, .dstGap = 0, .type = 0});
  for (u64 i = 0; i < 2048; i += 2)
    EXPECT_EQ(core.mem[BufId::L0B].load<u16>(i), i < 512 ? 0x3c00 : i < 1536 ? 0x4567 : 0) << i;
  TestCore split;
  split.run<insn::CreateCbMatrixBf16>({.value = 0x3f80, .dst = 0, .repeat = 1, .blkNum = 1, .dstGap = 0, .type = 0});
  EXPECT_EQ(split.mem[BufId::L0B].load<u16>(510), 0x3f80);
}

TEST(FillMatrix, OldRunsAre512BytesWithoutGap) {
  const insn::FillArgs args{.value = 0, .dst = 0, .repeat = 300, .blkNum = 1, .dstGap = 0, .type = 0};
  EXPECT_EQ(error_of([&] { insn::CreateCaMatrix::footprint(args, {}, Arch::c100); }),
            "program: operands repeat, blkNum and dstGap are 300, 1, 0; fills of c100 repeat up to 255 times 512 bytes "
            "without gap");
  const insn::FillArgs l1{.value = 0, .dst = 0, .repeat = 3, .blkNum = 1, .dstGap = 0, .type = 0};
  EXPECT_EQ(written(insn::CreateCbufMatrix::footprint(l1, {}, Arch::m200), BufId::L1).size(), 3u * 512);
}

template <class Out, class In>
void expect_broadcast(u8 type, Out (*convert)(u32)) {
  TestCore core(Arch::m200);
  for (u64 i = 0; i < 1024; ++i)
    core.mem[BufId::UB].store<In>(64 + i * sizeof(In), static_cast<In>(0x3c00 + i));
  const insn::BroadcastUbToCc::Args args{
      .dst = 2048, .src = 64, .nBurst = 2, .lenBurst = 3, .srcGap = 1, .dstGap = 2, .type = type};
  core.run<insn::BroadcastUbToCc>(args);
  const Footprint f = insn::BroadcastUbToCc::footprint(args, {}, Arch::m200);
  const std::set<u64> bytes = written(f, BufId::L0C);
  EXPECT_EQ(bytes.size(), 6 * 256 * sizeof(Out));
  EXPECT_EQ(read(f, BufId::UB).size(), 6 * 16 * sizeof(In));
  for (u64 fractal = 0; fractal < 10; ++fractal) {
    const bool inside = fractal % 5 < 3;
    const u64 first = (fractal / 5 * 3 + fractal % 5) * 16 + (fractal >= 5 ? 32 / sizeof(In) : 0);
    for (u64 e = 0; e < 256; ++e) {
      const u64 at = 2048 + (fractal * 256 + e) * sizeof(Out);
      ASSERT_EQ(core.mem[BufId::L0C].load<Out>(at), inside ? convert(static_cast<u32>(0x3c00 + first + e % 16)) : Out{})
          << fractal << " " << e;
      ASSERT_EQ(bytes.contains(at), inside);
    }
  }
}

TEST(BroadcastUbToCc, RowsBecomeFractals) {
  using B = insn::BroadcastUbToCc;
  expect_broadcast<u16, u16>(B::f16, [](u32 v) { return static_cast<u16>(v); });
  expect_broadcast<u32, u32>(B::f32, [](u32 v) { return v; });
  expect_broadcast<u32, u32>(B::s32, [](u32 v) { return v; });
  // 0x3c00 + i is 1 + i / 1024 for the i of this test.
  expect_broadcast<float, u16>(B::f162f32, [](u32 v) { return 1 + static_cast<float>(v - 0x3c00) / 1024; });
}

TEST(TableCopy, BiasAsItIsAndWidened) {
  TestCore core;
  for (u64 i = 0; i < 256; ++i)
    core.mem[BufId::L1].store<u16>(32 + 2 * i, static_cast<u16>(0x3c00 + i));
  insn::CopyCbufToBt::Args args{
      .dst = 64, .src = 32, .nBurst = 2, .lenBurst = 1, .srcGap = 1, .dstGap = 1, .convControl = 1};
  core.run<insn::CopyCbufToBt>(args);
  for (u64 piece = 0; piece < 2; ++piece) {
    for (u64 i = 0; i < 32; ++i) {
      EXPECT_EQ(core.mem[BufId::BT].load<float>(64 + piece * 192 + 4 * i),
                1 + static_cast<float>(piece * 48 + i) / 1024);
    }
  }
  EXPECT_EQ(core.mem[BufId::BT].load<u32>(64 + 128), 0u);
  const Footprint f = insn::CopyCbufToBt::footprint(args, {}, Arch::c220);
  EXPECT_EQ(written(f, BufId::BT).size(), 256u);
  EXPECT_EQ(*written(f, BufId::BT).rbegin(), 64u + 192 + 127);
  EXPECT_EQ(*read(f, BufId::L1).rbegin(), 32u + 96 + 63);
  args.convControl = 0;
  args.dst = 0;
  core.run<insn::CopyCbufToBt>(args);
  EXPECT_EQ(core.mem[BufId::BT].load<u16>(128 + 6), 0x3c00 + 48 + 3);
}

TEST(TableCopy, FixpipeBuffer) {
  TestCore core;
  core.mem[BufId::L1].store<u64>(96 + 248, 99);
  insn::CopyCbufToFbuf::Args args{.dst = 128, .src = 96, .nBurst = 1, .lenBurst = 2, .srcGap = 0, .dstGap = 0};
  core.run<insn::CopyCbufToFbuf>(args);
  EXPECT_EQ(core.mem[BufId::FB].load<u64>(128 + 248), 99u);
  EXPECT_EQ(insn::CopyCbufToFbuf::pipe(args, Arch::c220), PipeId::FIX);
  EXPECT_EQ(written(insn::CopyCbufToFbuf::footprint(args, {}, Arch::c220), BufId::FB).size(), 256u);
  args.nBurst = 2;
  EXPECT_EQ(error_of([&] { insn::CopyCbufToFbuf::footprint(args, {}, Arch::c220); }),
            "unsupported: operand nBurst is 2; copy_cbuf_to_fbuf models 0 and 1: the gaps between pieces are open");
}

}  // namespace
}  // namespace vinci::isa
