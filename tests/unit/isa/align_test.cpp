// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/align.h"

#include <vector>

#include "tests/unit/isa/footprint_bytes.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

constexpr u64 kPadValue = 0x44332211;

struct PadCase {
  u32 element, len, left, right, src_gap, dst_gap;
};

// What UB holds afterwards, written down byte by byte; -1 where nothing was written.
std::vector<int> expected_ub(const PadCase& p, u32 pieces, const std::vector<u8>& source) {
  std::vector<int> ub;
  for (u32 i = 0; i < pieces; ++i) {
    const u64 from = u64{i} * (p.len + p.src_gap);
    const bool own = p.left + p.right == 0;  // filled up with its first element
    const auto pad = [&](u32 b) {
      return static_cast<int>(own ? source[from + b % p.element] : kPadValue >> (8 * (b % p.element)) & 0xff);
    };
    for (u32 b = 0; b < p.left * p.element; ++b)
      ub.push_back(pad(b));
    for (u32 b = 0; b < p.len; ++b)
      ub.push_back(source[from + b]);
    for (u32 b = 0; b < p.right * p.element || ub.size() % 32 != 0; ++b)
      ub.push_back(pad(b));
    ub.insert(ub.end(), 32 * p.dst_gap, -1);
  }
  return ub;
}

template <class I>
void expect_padded(const PadCase& p) {
  SCOPED_TRACE(testing::Message() << p.element << " " << p.len << " " << p.left << " " << p.right);
  TestCore core;
  core.spr.parameters.write()[SprId::mov_pad_val] = kPadValue;
  const u32 pieces = 3;
  const u64 gm = core.gm.allocate(4096, "in");
  std::vector<u8> source(2048);
  for (u64 i = 0; i < source.size(); ++i) {
    source[i] = static_cast<u8>(i * 37 + 11);
    gm_store<u8>(core.gm, gm + 3 + i, source[i]);
  }
  for (u64 i = 0; i < 4096; i += 8)
    core.mem[BufId::UB].store<u64>(i, 0xeeeeeeeeeeeeeeee);
  const insn::AlignArgs args{.dst = 64,
                             .src = gm + 3,
                             .lenBurst = p.len,
                             .srcGap = p.src_gap,
                             .dstGap = p.dst_gap,
                             .sid = 0,
                             .nBurst = pieces,
                             .leftPad = static_cast<u8>(p.left),
                             .rightPad = static_cast<u8>(p.right)};
  core.run<I>(args);
  std::vector<int> ub = expected_ub(p, pieces, source);
  ub.resize(1024, -1);
  std::set<u64> written_bytes;
  for (u64 i = 0; i < ub.size(); ++i) {
    ASSERT_EQ(core.mem[BufId::UB].load<u8>(64 + i), ub[i] < 0 ? 0xee : ub[i]) << i;
    if (ub[i] >= 0) written_bytes.insert(64 + i);
  }
  const Footprint f = I::footprint(args, core.spr, Arch::c220);
  EXPECT_EQ(written(f, BufId::UB), written_bytes);
  EXPECT_EQ(read(f, BufId::GM).size(), pieces * p.len);
}

TEST(AlignCopy, RowsIntoUbAreFilledUp) {
  for (const PadCase& p : {PadCase{1, 47, 0, 0, 1, 1}, PadCase{1, 47, 3, 0, 0, 0}, PadCase{1, 64, 0, 32, 5, 2},
                           PadCase{1, 1, 32, 32, 7, 0}, PadCase{1, 32, 0, 0, 0, 0}})
    expect_padded<insn::CopyGmToUbufAlignB8>(p);
  for (const PadCase& p : {PadCase{2, 46, 0, 0, 2, 1}, PadCase{2, 46, 5, 4, 3, 1}, PadCase{2, 2, 0, 16, 0, 0}})
    expect_padded<insn::CopyGmToUbufAlignB16>(p);
  for (const PadCase& p : {PadCase{4, 44, 0, 0, 9, 0}, PadCase{4, 44, 1, 2, 0, 3}, PadCase{4, 36, 8, 8, 0, 0}})
    expect_padded<insn::CopyGmToUbufAlignB32>(p);
}

TEST(AlignCopy, RowsOutOfUbDropWhatFillsTheBlock) {
  TestCore core;
  const u64 gm = core.gm.allocate(1024, "out");
  for (u64 i = 0; i < 512; ++i)
    core.mem[BufId::UB].store<u8>(i, static_cast<u8>(i * 5 + i / 32));
  const insn::AlignArgs args{.dst = gm + 1,
                             .src = 32,
                             .lenBurst = 47,
                             .srcGap = 1,
                             .dstGap = 2,
                             .sid = 0,
                             .nBurst = 3,
                             .leftPad = 0,
                             .rightPad = 0};
  core.run<insn::CopyUbufToGmAlignB8>(args);
  const Footprint f = insn::CopyUbufToGmAlignB8::footprint(args, {}, Arch::c220);
  const std::set<u64> out = written(f, BufId::GM);
  EXPECT_EQ(out.size(), 3u * 47);
  for (u64 i = 0; i < 200; ++i) {
    const u64 piece = i == 0 ? 0 : (i - 1) / 49, b = i == 0 ? 48 : (i - 1) % 49;
    const bool inside = piece < 3 && b < 47;
    const u64 from = 32 + piece * (64 + 32) + b;
    EXPECT_EQ(gm_load<u8>(core.gm, gm + i), inside ? static_cast<u8>(from * 5 + from / 32) : 0) << i;
    EXPECT_EQ(out.contains(gm + i), inside) << i;
  }
}

TEST(AlignCopy, AtomicRows) {
  TestCore core;
  core.spr.ctrl = static_cast<u64>(AtomicType::s16) << 6;
  const u64 gm = core.gm.allocate(64, "out");
  for (u64 i = 0; i < 5; ++i) {
    gm_store<i16>(core.gm, gm + 2 * i, 100);
    core.mem[BufId::UB].store<i16>(2 * i, static_cast<i16>(i));
  }
  insn::AlignArgs args{.dst = gm,
                       .src = 0,
                       .lenBurst = 10,
                       .srcGap = 0,
                       .dstGap = 0,
                       .sid = 0,
                       .nBurst = 1,
                       .leftPad = 0,
                       .rightPad = 0};
  core.run<insn::CopyUbufToGmAlignB16>(args);
  for (i16 i = 0; i < 6; ++i)
    EXPECT_EQ(gm_load<i16>(core.gm, gm + 2 * static_cast<u64>(i)), i < 5 ? 100 + i : 0);
  args.nBurst = 2;
  args.dstGap = 3;
  EXPECT_EQ(error_of([&] { insn::CopyUbufToGmAlignB16::footprint(args, core.spr, Arch::c220); }),
            "program: unaligned access: an atomic s16 write takes pieces and distances that are multiples of 2 bytes");
}

TEST(AlignCopy, WrongOperands) {
  insn::AlignArgs args{
      .dst = 0, .src = 0, .lenBurst = 6, .srcGap = 0, .dstGap = 0, .sid = 0, .nBurst = 1, .leftPad = 0, .rightPad = 9};
  EXPECT_EQ(error_of([&] { insn::CopyGmToUbufAlignB32::footprint(args, {}, Arch::c220); }),
            "program: operand lenBurst is 6 bytes, which is no multiple of an element of 4 bytes");
  args.lenBurst = 8;
  EXPECT_EQ(error_of([&] { insn::CopyGmToUbufAlignB32::footprint(args, {}, Arch::c220); }),
            "program: operand rightPad is 9 elements of 4 bytes; padding takes at most 32 bytes on a side");
  EXPECT_EQ(error_of([&] { insn::CopyUbufToGmAlignB32::footprint(args, {}, Arch::c220); }),
            "unsupported: operands leftPad and rightPad are 0 and 9; copies from UB to global memory model 0");
  args.rightPad = 0;
  args.lenBurst = 0;
  TestCore core;
  args.dst = 1 << 23;
  EXPECT_EQ(error_of([&] { core.run<insn::CopyGmToUbufAlignB32>(args); }), "");
  EXPECT_TRUE(written(insn::CopyGmToUbufAlignB32::footprint(args, {}, Arch::c220), BufId::UB).empty());
}

}  // namespace
}  // namespace vinci::isa
