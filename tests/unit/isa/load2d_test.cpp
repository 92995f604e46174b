// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/load2d.h"

#include "isa/mem/layout.h"
#include "tests/unit/isa/each_target.h"
#include "tests/unit/isa/footprint_bytes.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

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

TEST(Load2d, SparseWeightsBringTheirIndices) {
  TestCore core;
  for (u32 f = 0; f < 6; ++f) {
    core.mem[BufId::L1].store<u32>(1024 + f * 512 + 508, 100 + f);
    core.mem[BufId::L1].store<u32>(8192 + f * 128 + 124, 200 + f);
  }
  const insn::LoadCbufToCbSp::Args args{.dst = 1024, .src = 1024, .index = 8192, .startIndex = 2, .repeat = 3};
  core.run<insn::LoadCbufToCbSp>(args);
  for (u32 f = 0; f < 4; ++f) {
    EXPECT_EQ(core.mem[BufId::L0B].load<u32>(1024 + f * 512 + 508), f < 3 ? 102 + f : 0) << f;
    EXPECT_EQ(core.mem[BufId::IDX].load<u32>(256 + f * 128 + 124), f < 3 ? 202 + f : 0) << f;
  }
  const Footprint f = insn::LoadCbufToCbSp::footprint(args, {}, Arch::c220);
  EXPECT_EQ(written(f, BufId::L0B).size(), 3u * 512);
  EXPECT_EQ(written(f, BufId::IDX).size(), 3u * 128);
  EXPECT_EQ(*written(f, BufId::IDX).begin(), 256u);
  EXPECT_EQ(f.begin()->address, 2048u);
  EXPECT_EQ(f.begin()[1].address, 8192u + 256);
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

TEST(Load2d, DescendingFromGlobalMemory) {
  TestCore core;
  const u64 gm = core.gm.allocate(10 * 512, "fractals");
  for (u32 f = 0; f < 10; ++f)
    gm_store<u32>(core.gm, gm + f * 512, 100 + f);
  insn::Load2dArgs args{.dst = 1024,
                        .src = gm,
                        .baseIdx = 8,
                        .srcStride = 3,
                        .dstGap = 0,
                        .repeat = 3,
                        .sid = 0,
                        .transpose = 0,
                        .addrmode = 1};
  core.run<insn::LoadGmToCbuf>(args);
  for (u32 f = 0; f < 3; ++f)
    EXPECT_EQ(core.mem[BufId::L1].load<u32>(1024 + 512 * f), 108 - 3 * f) << f;
  const Footprint f = insn::LoadGmToCbuf::footprint(args, {}, Arch::c220);
  EXPECT_EQ(f.begin()->address, gm + 2 * 512);
  EXPECT_EQ(read(f, BufId::GM).size(), 3u * 512);
  EXPECT_TRUE(read(f, BufId::GM).contains(gm + 8 * 512));
  args.addrmode = 0;
  args.baseIdx = 1;
  core.run<insn::LoadGmToCb>(args);
  EXPECT_EQ(core.mem[BufId::L0B].load<u32>(1024 + 2 * 512), 107u);
  core.run<insn::LoadGmToCa>(args);
  EXPECT_EQ(core.mem[BufId::L0A].load<u32>(1024 + 1 * 512), 104u);
  args.src = 512;
  args.addrmode = 1;
  EXPECT_EQ(error_of([&] { insn::LoadCbufToCa::footprint(args, {}, Arch::c220); }),
            "program: addrmode 1 descends 6 units of 512 bytes from unit 1 of 0x200, which leaves the memory");
}

TEST(Load2d, FourBitFractals) {
  TestCore core(Arch::m200);
  core.mem[BufId::L1].store<u32>(512, 77);
  insn::Load2dArgs args{
      .dst = 0, .src = 0, .baseIdx = 1, .srcStride = 1, .dstGap = 0, .repeat = 1, .sid = 0, .transpose = 0};
  core.run<insn::LoadCbufToCaS4>(args);
  core.run<insn::LoadCbufToCbS4>(args);
  EXPECT_EQ(core.mem[BufId::L0A].load<u32>(0), 77u);
  EXPECT_EQ(core.mem[BufId::L0B].load<u32>(0), 77u);
  args.transpose = 1;
  EXPECT_EQ(error_of([&] { insn::LoadCbufToCaS4::footprint(args, {}, Arch::m200); }),
            "unsupported: operand transpose is 1; load2d transposes elements of 16 bits only");
}

// Elements of a view by their number; those of 4 bits two to a byte, the even one low.
u32 element(const View& v, u64 base, u32 bits, u64 n) {
  if (bits == 4) return v.load<u8>(base + n / 2) >> (n % 2 * 4) & 0xf;
  return bits == 8 ? v.load<u8>(base + n) : bits == 16 ? v.load<u16>(base + 2 * n) : v.load<u32>(base + 4 * n);
}
void set_element(const View& v, u64 base, u32 bits, u64 n, u32 value) {
  switch (bits) {
    case 4:
      v.store<u8>(base + n / 2, static_cast<u8>(n % 2 == 0 ? (v.load<u8>(base + n / 2) & 0xf0) | (value & 0xf)
                                                           : (v.load<u8>(base + n / 2) & 0x0f) | (value & 0xf) << 4));
      return;
    case 8: v.store<u8>(base + n, static_cast<u8>(value)); return;
    case 16: v.store<u16>(base + 2 * n, static_cast<u16>(value)); return;
    default: v.store<u32>(base + 4 * n, value);
  }
}

// A matrix in L1 becomes nZ, what the cube wants of B, by its transposed squares: rows of squares one after the other.
template <class I>
void expect_nz(u32 bits, u8 type) {
  TestCore core;
  const u32 edge = bits == 4 ? 64 : bits == 8 ? 32 : 16, c0 = 256 / bits, fractals = bits == 32 ? 2 : edge / 16;
  const u32 down = 2, across = 3;  // squares
  const MatrixShape shape{down * edge, across * edge};
  // Squares of one or more fractals below each other are contiguous in zN, two side by side in zZ.
  const Layout from = bits == 32 ? Layout::zZ : Layout::zN;
  const u64 base = 2 * fractals * 512;  // and a square before it
  const auto value = [](u32 r, u32 c) { return r * 1237 + c * 31 + 5; };
  for (u32 r = 0; r < shape.rows; ++r) {
    for (u32 c = 0; c < shape.cols; ++c)
      set_element(core.mem[BufId::L1], base, bits, layout_offset(from, shape, c0, r, c), value(r, c));
  }
  const u32 cols16 = shape.cols / 16;
  for (u32 row = 0; row < down; ++row) {
    const u32 step = bits == 32 ? 1 : down;  // squares to the right neighbour
    const u32 first = bits == 32 ? row * across : row;
    const u32 gap = bits == 32 ? 0 : fractals - 1;
    const insn::LoadTransposeArgs args{.dst = 512 + row * (edge / c0) * cols16 * 512,
                                       .src = static_cast<u32>(base - fractals * 512),
                                       .indexID = static_cast<u16>(1 + first),
                                       .srcStride = static_cast<u16>(step),
                                       .dstGap = static_cast<u16>(gap),
                                       .dstFracGap = static_cast<u16>(bits == 32 ? cols16 - 1 : 0),
                                       .repeat = static_cast<u8>(across),
                                       .addrmode = 0,
                                       .type = type};
    core.run<I>(args);
    const Footprint f = I::footprint(args, {}, Arch::c220);
    EXPECT_EQ(written(f, BufId::L0B).size(), across * fractals * 512u);
    EXPECT_EQ(*written(f, BufId::L0B).begin(), args.dst);
    EXPECT_EQ(read(f, BufId::L1).size(), across * fractals * 512u);
    EXPECT_EQ(*read(f, BufId::L1).begin(), base + first * fractals * 512);
  }
  const u32 mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (u32 r = 0; r < shape.rows; ++r) {
    for (u32 c = 0; c < shape.cols; ++c) {
      const u64 at = layout_offset(Layout::nZ, shape, c0, r, c);
      ASSERT_EQ(element(core.mem[BufId::L0B], 512, bits, at), value(r, c) & mask) << bits << ": " << r << ", " << c;
    }
  }
}

TEST(LoadTranspose, SquaresOfZnBecomeNz) {
  expect_nz<insn::LoadCbufToCbTranspose>(8, insn::load_transpose::b8);
  expect_nz<insn::LoadCbufToCbTranspose>(16, insn::load_transpose::b16);
  expect_nz<insn::LoadCbufToCbTranspose>(32, insn::load_transpose::b32);
  expect_nz<insn::LoadCbufToCbTransposeS4>(4, 0);
}

TEST(LoadTranspose, DescendingSquaresAndGaps) {
  TestCore core;
  for (u32 s = 0; s < 4; ++s)
    core.mem[BufId::L1].store<u8>(s * 1024 + 1, static_cast<u8>(10 + s));  // row 0, column 1
  const insn::LoadTransposeArgs args{.dst = 0,
                                     .src = 0,
                                     .indexID = 3,
                                     .srcStride = 1,
                                     .dstGap = 0,
                                     .dstFracGap = 3,
                                     .repeat = 4,
                                     .addrmode = 1,
                                     .type = insn::load_transpose::b8};
  core.run<insn::LoadCbufToCaTranspose>(args);
  for (u32 s = 0; s < 4; ++s)
    EXPECT_EQ(core.mem[BufId::L0A].load<u8>(s * 512 + 32), 13 - s) << s;  // row 1, column 0 of the first fractal
  const Footprint f = insn::LoadCbufToCaTranspose::footprint(args, {}, Arch::c220);
  EXPECT_EQ(written(f, BufId::L0A).size(), 8u * 512);  // the second fractals follow four fractals later
  EXPECT_EQ(*written(f, BufId::L0A).rbegin(), 8u * 512 - 1);
  EXPECT_EQ(*read(f, BufId::L1).begin(), 0u);
}

}  // namespace
}  // namespace vinci::isa
