// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/img2col.h"

#include <random>
#include <vector>

#include "isa/insns/cube.h"
#include "isa/mem/layout.h"
#include "isa/numeric/float16.h"
#include "tests/unit/isa/footprint_bytes.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

// A convolution of one image, by its numbers.
struct Conv {
  i64 channels, height, width, left, right, top, bottom, kh, kw, stride_h, stride_w, dilation_h, dilation_w;

  i64 out_h() const { return (height + top + bottom - ((kh - 1) * dilation_h + 1)) / stride_h + 1; }
  i64 out_w() const { return (width + left + right - ((kw - 1) * dilation_w + 1)) / stride_w + 1; }
  u64 fmatrix() const {
    return static_cast<u64>(width | height << 16 | left << 32 | right << 40 | top << 48 | bottom << 56);
  }
};

const Conv kConvs[] = {
    {16, 5, 7, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1},    // a matrix as it is
    {32, 6, 8, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1},    // "same"
    {32, 9, 10, 2, 1, 0, 3, 3, 2, 2, 3, 1, 1},   // strides, lopsided padding
    {64, 11, 12, 3, 3, 2, 2, 3, 3, 1, 2, 2, 3},  // dilation
    {32, 4, 20, 0, 5, 3, 0, 2, 5, 3, 4, 3, 1},   // wide
    {32, 12, 3, 1, 0, 1, 0, 4, 2, 1, 1, 1, 2},   // tall
};

// The value of a map, in NCHW terms; 0 is for nothing.
u32 pixel(i64 c, i64 h, i64 w) { return static_cast<u32>(1 + c * 401 + h * 37 + w * 3); }
constexpr u32 kPadding = 0x1dead;

// What the matrix holds: rows are positions, columns (c1, kh, kw, c0). Written for whole matrices, without fractals.
u32 matrix_value(const Conv& v, i64 c0, i64 m, i64 k) {
  const i64 c = k / (c0 * v.kh * v.kw) * c0 + k % c0, kh = k / (c0 * v.kw) % v.kh, kw = k / c0 % v.kw;
  const i64 h = m / v.out_w() * v.stride_h + kh * v.dilation_h - v.top;
  const i64 w = m % v.out_w() * v.stride_w + kw * v.dilation_w - v.left;
  return h < 0 || h >= v.height || w < 0 || w >= v.width ? kPadding : pixel(c, h, w);
}

u32 load(const View& v, u64 base, u32 bytes, u64 n) {
  u32 out = 0;
  std::memcpy(&out, v.bytes(base + n * bytes, bytes).data(), bytes);
  return out;
}
u32 cut(u32 value, u32 bytes) { return bytes == 4 ? value : value & ((1u << (8 * bytes)) - 1); }

// The map as NC1HWC0 in L1; returns where it ends.
u64 store_map(TestCore& core, const Conv& v, u64 src, u32 bytes) {
  const i64 c0 = 32 / bytes;
  for (i64 c = 0; c < v.channels; ++c) {
    for (i64 h = 0; h < v.height; ++h) {
      for (i64 w = 0; w < v.width; ++w) {
        const u32 value = pixel(c, h, w);
        const u64 at = static_cast<u64>(((c / c0 * v.height + h) * v.width + w) * c0 + c % c0);
        std::memcpy(core.mem[BufId::L1].bytes(src + at * bytes, bytes).data(), &value, bytes);
      }
    }
  }
  core.spr.parameters.write()[SprId::fmatrix] = v.fmatrix();
  core.spr.parameters.write()[SprId::padding] = kPadding;
  return src + static_cast<u64>(v.channels * v.height * v.width) * bytes;
}

constexpr u64 kSrc = 96, kDst = 1024;

insn::Img2colV2Args v2_args(const Conv& v, u8 type, i64 m0, i64 m, i64 k0, i64 k) {
  return {.dst = kDst,
          .src = kSrc,
          .stepK = static_cast<u16>(k),
          .stepM = static_cast<u16>(m),
          .posK = static_cast<u16>(k0),
          .posM = static_cast<u16>(m0),
          .sizeChannel = static_cast<u16>(v.channels),
          .strideW = static_cast<u8>(v.stride_w),
          .strideH = static_cast<u8>(v.stride_h),
          .filterW = static_cast<u8>(v.kw),
          .filterH = static_cast<u8>(v.kh),
          .dilationW = static_cast<u8>(v.dilation_w),
          .dilationH = static_cast<u8>(v.dilation_h),
          .filterSizeW = 0,
          .filterSizeH = 0,
          .transpose = 0,
          .fmatrixCtrl = 0,
          .type = type};
}

// rows x cols of the matrix from (m0, k0) in a buffer, by the layout of isa/mem/layout.h.
void expect_part(const TestCore& core, BufId dst, const Conv& v, u32 bytes, Layout layout, bool transposed, i64 m0,
                 i64 rows, i64 k0, i64 cols) {
  const u32 c0 = 32 / bytes;
  const MatrixShape shape = transposed ? MatrixShape{static_cast<u32>(cols), static_cast<u32>(rows)}
                                       : MatrixShape{static_cast<u32>(rows), static_cast<u32>(cols)};
  for (i64 i = 0; i < rows; ++i) {
    for (i64 j = 0; j < cols; ++j) {
      const auto r = static_cast<u32>(transposed ? j : i), c = static_cast<u32>(transposed ? i : j);
      ASSERT_EQ(load(core.mem[dst], kDst, bytes, layout_offset(layout, shape, c0, r, c)),
                cut(matrix_value(v, c0, m0 + i, k0 + j), bytes))
          << i << ", " << j;
    }
  }
}

// Every buffer, every width, whole matrices and parts of them.
TEST(Img2colV2, IsTheMatrixInTheLayoutOfItsBuffer) {
  for (usize n = 0; n < std::size(kConvs); ++n) {
    const Conv& v = kConvs[n];
    for (const auto& [type, bytes] :
         {std::pair{insn::img2col::b8, 1u}, std::pair{insn::img2col::b16, 2u}, std::pair{insn::img2col::b32, 4u}}) {
      const i64 c0 = 32 / bytes;
      if (v.channels % c0 != 0) continue;
      SCOPED_TRACE(testing::Message() << "convolution " << n << ", " << bytes << " bytes");
      const i64 all_m = v.out_h() * v.out_w(), all_k = v.channels * v.kh * v.kw;
      struct Part {
        i64 m0, m, k0, k;
      };
      for (const Part p : {Part{0, std::min<i64>(all_m, 96), 0, std::min<i64>(all_k, 128)},
                           Part{std::min<i64>(3, all_m - 1), std::min<i64>(all_m - 3, 16), all_k - c0, c0}}) {
        const auto args = v2_args(v, type, p.m0, p.m, p.k0, p.k);
        {
          TestCore core;
          store_map(core, v, kSrc, bytes);
          core.run<insn::Img2colV2CbufToCa>(args);
          expect_part(core, BufId::L0A, v, bytes, Layout::zZ, false, p.m0, p.m, p.k0, p.k);
          core.run<insn::Img2colV2CbufToUb>(args);
          expect_part(core, BufId::UB, v, bytes, Layout::zZ, false, p.m0, p.m, p.k0, p.k);
          core.run<insn::Img2colV2CbufToCb>(args);
          expect_part(core, BufId::L0B, v, bytes, Layout::nZ, false, p.m0, p.m, p.k0, p.k);
        }
        if (bytes > 1) {
          TestCore core;
          store_map(core, v, kSrc, bytes);
          auto turned = args;
          turned.transpose = 1;
          core.run<insn::Img2colV2CbufToCa>(turned);
          expect_part(core, BufId::L0A, v, bytes, Layout::zZ, true, p.m0, p.m, p.k0, p.k);
        }
      }
    }
  }
}

// Nothing outside of the footprint is read or written: bytes outside of it are poisoned, or stay.
TEST(Img2colV2, StaysInItsFootprint) {
  for (const Conv& v : kConvs) {
    TestCore core;
    const u64 end = store_map(core, v, kSrc, 2);
    const i64 all_m = v.out_h() * v.out_w();
    const i64 m0 = all_m / 3, m = std::min<i64>(16, all_m - m0), k0 = v.channels * v.kh * v.kw - 16;
    const auto args = v2_args(v, insn::img2col::b16, m0, m, k0, 16);
    const Footprint f = insn::Img2colV2CbufToCa::footprint(args, core.spr, Arch::c220);
    const std::set<u64> in = read(f, BufId::L1), out = written(f, BufId::L0A);
    EXPECT_EQ(out.size(), 512u);
    EXPECT_TRUE(in.empty() || (*in.begin() >= kSrc && *in.rbegin() < end));
    for (u64 b = 0; b < 65536; ++b) {
      if (!in.contains(b)) core.mem[BufId::L1].store<u8>(b, 0xcc);
      core.mem[BufId::L0A].store<u8>(b, 0xcc);
    }
    core.run<insn::Img2colV2CbufToCa>(args);
    expect_part(core, BufId::L0A, v, 2, Layout::zZ, false, m0, m, k0, 16);
    for (u64 b = 0; b < 65536; ++b) {
      ASSERT_TRUE(out.contains(b) || core.mem[BufId::L0A].load<u8>(b) == 0xcc) << b;
    }
  }
}

TEST(Img2colV2, RepeatsFormOneMatrix) {
  const Conv& v = kConvs[1];  // 48 positions, 288 columns
  for (const bool down : {true, false}) {
    for (const bool transpose : {false, true}) {
      TestCore core;
      store_map(core, v, kSrc, 2);
      auto args = v2_args(v, insn::img2col::b16, 0, 16, 32, 32);
      args.transpose = transpose;
      // Two pieces of 16 x 32: 32 rows down, or 64 columns to the right.
      core.spr.parameters.write()[SprId::l3d_rpt] = (down ? 2 : 4) | 2u << 16 | (down ? 0u : 1u) << 24;
      core.run<insn::Img2colV2CbufToCa>(args);
      const u32 rows = down ? 32 : 16, cols = down ? 32 : 64;
      for (u32 i = 0; i < rows; ++i) {
        for (u32 j = 0; j < cols; ++j) {
          const u64 at = transpose ? layout_offset(Layout::zZ, {cols, rows}, 16, j, i)
                                   : layout_offset(Layout::zZ, {rows, cols}, 16, i, j);
          const i64 m = down ? i / 16 * 32 + i % 16 : i, k = 32 + (down ? j : j / 32 * 64 + j % 32);
          ASSERT_EQ(load(core.mem[BufId::L0A], kDst, 2, at), cut(matrix_value(v, 16, m, k), 2)) << i << ", " << j;
        }
      }
      EXPECT_EQ(written(insn::Img2colV2CbufToCa::footprint(args, core.spr, Arch::c220), BufId::L0A).size(), 2048u);
      EXPECT_EQ(insn::Img2colV2CbufToCa::work(args, core.spr).steps, 4u);
    }
  }
  TestCore core;
  store_map(core, v, kSrc, 2);
  core.spr.parameters.write()[SprId::l3d_rpt] = 0;  // no times
  const auto args = v2_args(v, insn::img2col::b16, 0, 16, 0, 32);
  core.run<insn::Img2colV2CbufToCa>(args);
  EXPECT_EQ(load(core.mem[BufId::L0A], kDst, 2, 20), 0u);
  EXPECT_EQ(insn::Img2colV2CbufToCa::footprint(args, core.spr, Arch::c220).size(), 0u);
}

// A matrix is read in fractals, and their rows without data are no error; with a larger filter each block must have
// data.
TEST(Img2colV2, AFilterOfOnePointReadsFractals) {
  Spr spr;
  const Conv maps[] = {{32, 1, 48, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, {32, 4, 12, 0, 0, 0, 0, 2, 2, 1, 1, 1, 1}};
  for (const Conv& v : maps) {
    spr.parameters.write()[SprId::fmatrix] = v.fmatrix();
    const Footprint f =
        insn::Img2colV2CbufToCa::footprint(v2_args(v, insn::img2col::b16, 0, 16, 0, 32), spr, Arch::c220);
    EXPECT_EQ(f.begin()->unit, &v == &maps[0] ? 512u : 32u);
  }
}

// Positions 16 to 31 of a row of 48, in both blocks of channels: what follows them may belong to another buffer.
TEST(Img2colV2, PositionsOfOneRowReadItsColumns) {
  Spr spr;
  const Conv v{32, 1, 48, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  spr.parameters.write()[SprId::fmatrix] = v.fmatrix();
  const std::set<u64> in = read(
      insn::Img2colV2CbufToCa::footprint(v2_args(v, insn::img2col::b16, 16, 16, 0, 32), spr, Arch::c220), BufId::L1);
  constexpr u64 kBlock = 32, kPlane = 48 * kBlock, kPart = 16 * kBlock;
  std::set<u64> wanted;
  for (u64 b = 0; b < kPart; ++b) {
    wanted.insert(kSrc + kPart + b);
    wanted.insert(kSrc + kPlane + kPart + b);
  }
  EXPECT_EQ(in, wanted);
}

TEST(Img2colV2, FourBitsAndTheOtherFeatureMap) {
  TestCore core;
  const Conv v{64, 3, 4, 1, 0, 0, 0, 1, 2, 1, 1, 1, 1};
  for (u64 b = 0; b < 12 * 32; ++b)
    core.mem[BufId::L1].store<u8>(kSrc + b, static_cast<u8>(b * 7 + b / 32));
  core.spr.parameters.write()[SprId::fmatrix_b] = v.fmatrix();
  core.spr.parameters.write()[SprId::padding] = 0xfa;
  auto args = v2_args(v, 0, 0, 12, 0, 128);
  args.fmatrixCtrl = 1;
  core.run<insn::Img2colV2CbufToCaS4>(args);
  for (u64 m = 0; m < 12; ++m) {
    for (u64 kw = 0; kw < 2; ++kw) {
      for (u64 b = 0; b < 32; ++b) {
        const u64 w = m % 4 + kw, at = m / 4 * 4 + w - 1;
        EXPECT_EQ(core.mem[BufId::L0A].load<u8>(kDst + kw * 512 + m * 32 + b),
                  w == 0 ? 0xaa : core.mem[BufId::L1].load<u8>(kSrc + at * 32 + b));
      }
    }
  }
}

// Reading goes on at the start of L1 behind the boundary.
TEST(Img2col, TheBoundaryWraps) {
  const Conv v{16, 8, 8, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  TestCore core;
  core.spr.parameters.write()[SprId::fmatrix] = v.fmatrix();
  for (u64 b = 0; b < 4096; b += 32)
    core.mem[BufId::L1].store<u16>(b, static_cast<u16>(1 + b / 32));
  core.spr.parameters.write()[SprId::l1_3d_size] = 2048;
  auto args = v2_args(v, insn::img2col::b16, 0, 64, 0, 16);
  args.src = 1024;
  core.run<insn::Img2colV2CbufToCa>(args);
  for (u64 m = 0; m < 64; ++m)
    EXPECT_EQ(core.mem[BufId::L0A].load<u16>(kDst + m * 32), 1 + (32 + m) % 64) << m;
  const std::set<u64> in = read(insn::Img2colV2CbufToCa::footprint(args, core.spr, Arch::c220), BufId::L1);
  EXPECT_EQ(in.size(), 2048u);
  EXPECT_EQ(*in.begin(), 0u);
  args.src = 2048;
  EXPECT_EQ(error_of([&] { insn::Img2colV2CbufToCa::footprint(args, core.spr, Arch::c220); }),
            "program: set_l1_3d_size gives 0x800 bytes; it must be at least 0x400 and above src = 0x800");
}

// Fractal by fractal, version 1 gives the same matrix: along the filter, and along the positions.
TEST(Img2colV1, FractalsOfTheMatrix) {
  for (usize n = 0; n < std::size(kConvs); ++n) {
    const Conv& v = kConvs[n];
    for (const u32 bytes : {1u, 2u}) {
      const i64 c0 = 32 / bytes;
      if (v.channels % c0 != 0) continue;
      SCOPED_TRACE(testing::Message() << "convolution " << n << ", " << bytes << " bytes");
      const i64 all_m = v.out_h() * v.out_w(), all_k = v.channels * v.kh * v.kw;
      const i64 blocks = std::min<i64>(all_k / c0, 12), m1 = (all_m + 15) / 16;
      for (const bool by_position : {false, true}) {
        TestCore core(Arch::c100);
        store_map(core, v, kSrc, bytes);
        insn::Img2colArgs args{.dst = kDst,
                               .src = kSrc,
                               .leftTopW = static_cast<i16>(-v.left),
                               .leftTopH = static_cast<i16>(-v.top),
                               .c1Index = 0,
                               .fetchFilterW = 0,
                               .fetchFilterH = 0,
                               .strideW = static_cast<u8>(v.stride_w),
                               .strideH = static_cast<u8>(v.stride_h),
                               .filterW = static_cast<u8>(v.kw),
                               .filterH = static_cast<u8>(v.kh),
                               .dilationW = static_cast<u8>(v.dilation_w),
                               .dilationH = static_cast<u8>(v.dilation_h),
                               .jumpStride = 1,
                               .repeatMode = by_position,
                               .repeatTime = static_cast<u8>(blocks),
                               .cSize = 0,
                               .type = static_cast<u8>(bytes == 1 ? insn::img2col::b8 : insn::img2col::b16)};
        if (!by_position) {
          // One row of fractals for each 16 positions, which start somewhere inside the map.
          for (i64 i = 0; i < std::min<i64>(m1, 8); ++i) {
            args.leftTopW = static_cast<i16>(i * 16 % v.out_w() * v.stride_w - v.left);
            args.leftTopH = static_cast<i16>(i * 16 / v.out_w() * v.stride_h - v.top);
            core.run<insn::Img2colCbufToCa>(args);
            args.dst += static_cast<u32>(blocks * 512);
          }
        } else {
          // One column of fractals for each block of channels under a point of the filter.
          args.jumpStride = static_cast<u8>(blocks);
          args.repeatTime = static_cast<u8>(std::min<i64>(m1, 8));
          for (i64 b = 0; b < blocks; ++b) {
            args.fetchFilterW = static_cast<u8>(b % v.kw);
            args.fetchFilterH = static_cast<u8>(b / v.kw % v.kh);
            args.c1Index = static_cast<u16>(b / (v.kw * v.kh));
            core.run<insn::Img2colCbufToCa>(args);
            const Footprint f = insn::Img2colCbufToCa::footprint(args, core.spr, Arch::c100);
            EXPECT_EQ(written(f, BufId::L0A).size(), args.repeatTime * 512u);
            args.dst += 512;
          }
        }
        const i64 rows = std::min<i64>(all_m, 8 * 16), cols = blocks * c0;
        expect_part(core, BufId::L0A, v, bytes, Layout::zZ, false, 0, rows, 0, cols);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Img2colV1, StaysInItsFootprint) {
  std::mt19937 random(3);
  for (int n = 0; n < 200; ++n) {
    const Conv& v = kConvs[1 + random() % (std::size(kConvs) - 1)];
    TestCore core(Arch::c100);
    store_map(core, v, kSrc, 2);
    const insn::Img2colArgs args{.dst = kDst,
                                 .src = kSrc,
                                 .leftTopW = static_cast<i16>(random() % 12 - v.left),
                                 .leftTopH = static_cast<i16>(random() % 12 - v.top),
                                 .c1Index = 0,
                                 .fetchFilterW = static_cast<u8>(random() % v.kw),
                                 .fetchFilterH = static_cast<u8>(random() % v.kh),
                                 .strideW = static_cast<u8>(v.stride_w),
                                 .strideH = static_cast<u8>(v.stride_h),
                                 .filterW = static_cast<u8>(v.kw),
                                 .filterH = static_cast<u8>(v.kh),
                                 .dilationW = static_cast<u8>(v.dilation_w),
                                 .dilationH = static_cast<u8>(v.dilation_h),
                                 .jumpStride = 1,
                                 .repeatMode = static_cast<u8>(random() % 2),
                                 .repeatTime = static_cast<u8>(1 + random() % 5),
                                 .cSize = 0,
                                 .type = insn::img2col::b16};
    TestCore poisoned(Arch::c100);
    poisoned.spr = core.spr;
    const std::set<u64> in = read(insn::Img2colCbufToUb::footprint(args, core.spr, Arch::c100), BufId::L1);
    for (u64 b = 0; b < 65536; ++b)
      poisoned.mem[BufId::L1].store<u8>(b, in.contains(b) ? core.mem[BufId::L1].load<u8>(b) : 0xcc);
    core.run<insn::Img2colCbufToUb>(args);
    poisoned.run<insn::Img2colCbufToUb>(args);
    const std::set<u64> out = written(insn::Img2colCbufToUb::footprint(args, core.spr, Arch::c100), BufId::UB);
    for (u64 b = 0; b < 16384; ++b) {
      ASSERT_EQ(core.mem[BufId::UB].load<u8>(b), poisoned.mem[BufId::UB].load<u8>(b)) << n << ": " << b;
      ASSERT_TRUE(out.contains(b) || core.mem[BufId::UB].load<u8>(b) == 0) << n << ": " << b;
    }
  }
}

// The whole way: a convolution through img2col and the cube is the direct sum. Small integers, so every sum is exact.
TEST(Img2col, ConvolutionThroughTheCube) {
  for (usize n = 0; n < std::size(kConvs); ++n) {
    const Conv& v = kConvs[n];
    SCOPED_TRACE(testing::Message() << "convolution " << n);
    const i64 outputs = 16, m = std::min<i64>(v.out_h() * v.out_w(), 64), k = v.channels * v.kh * v.kw;
    const auto image = [&](i64 c, i64 h, i64 w) { return static_cast<double>((c * 5 + h * 3 + w * 7) % 9 - 4); };
    const auto weight = [&](i64 o, i64 c, i64 kh, i64 kw) {
      return static_cast<double>((o * 3 + c * 2 + kh * 5 + kw) % 7 - 3);
    };
    TestCore core;
    for (i64 c = 0; c < v.channels; ++c) {
      for (i64 h = 0; h < v.height; ++h) {
        for (i64 w = 0; w < v.width; ++w) {
          core.mem[BufId::L1].store<u16>(static_cast<u64>((((c / 16 * v.height + h) * v.width + w) * 16 + c % 16) * 2),
                                         f16_bits(image(c, h, w)));
        }
      }
    }
    core.spr.parameters.write()[SprId::fmatrix] = v.fmatrix();
    const u32 step = 128;  // columns at a time: L0A is small
    for (i64 k0 = 0; k0 < k; k0 += step) {
      const i64 now = std::min<i64>(step, k - k0);
      auto args = v2_args(v, insn::img2col::b16, 0, m, k0, now);
      args.src = 0;
      args.dst = 0;
      core.run<insn::Img2colV2CbufToCa>(args);
      for (i64 j = 0; j < now; ++j) {
        const i64 at = k0 + j, c = at / (16 * v.kh * v.kw) * 16 + at % 16, point = at / 16 % (v.kh * v.kw);
        for (i64 o = 0; o < outputs; ++o) {
          const u64 b = layout_offset(Layout::nZ, {static_cast<u32>(now), static_cast<u32>(outputs)}, 16,
                                      static_cast<u32>(j), static_cast<u32>(o));
          core.mem[BufId::L0B].store<u16>(2 * b, f16_bits(weight(o, c, point / v.kw, point % v.kw)));
        }
      }
      core.run<insn::Mad>({.c = 0,
                           .a = 0,
                           .b = 0,
                           .m = static_cast<u16>(m),
                           .k = static_cast<u16>(now),
                           .n = static_cast<u16>(outputs),
                           .init = k0 == 0,
                           .type = insn::Mad::f162f32});
    }
    for (i64 p = 0; p < m; ++p) {
      for (i64 o = 0; o < outputs; ++o) {
        double sum = 0;
        for (i64 c = 0; c < v.channels; ++c) {
          for (i64 kh = 0; kh < v.kh; ++kh) {
            for (i64 kw = 0; kw < v.kw; ++kw) {
              const i64 h = p / v.out_w() * v.stride_h + kh * v.dilation_h - v.top;
              const i64 w = p % v.out_w() * v.stride_w + kw * v.dilation_w - v.left;
              if (h >= 0 && h < v.height && w >= 0 && w < v.width) sum += image(c, h, w) * weight(o, c, kh, kw);
            }
          }
        }
        const u64 at = layout_offset(Layout::zN, {static_cast<u32>(m), static_cast<u32>(outputs)}, 16,
                                     static_cast<u32>(p), static_cast<u32>(o));
        ASSERT_EQ(core.mem[BufId::L0C].load<float>(4 * at), sum) << p << ", " << o;
      }
    }
  }
}

TEST(Img2col, WrongOperands) {
  const Conv& v = kConvs[1];
  Spr spr;
  spr.parameters.write()[SprId::fmatrix] = v.fmatrix();
  const auto good = v2_args(v, insn::img2col::b16, 0, 16, 0, 32);
  const auto v2 = [&](auto&& change, Arch arch = Arch::c220) {
    auto args = good;
    change(args);
    return error_of([&] { insn::Img2colV2CbufToCa::footprint(args, spr, arch); });
  };
  EXPECT_EQ(v2([](auto&) {}), "");
  EXPECT_EQ(v2([](auto& x) { x.strideW = 0; }), "program: operand strideW is 0; it must be at least 1");
  EXPECT_EQ(v2([](auto& x) { x.posK = 8; }),
            "program: operands posK and stepK are 8 and 32; they must be multiples of C0 = 16");
  EXPECT_EQ(v2([](auto& x) { x.stepK = 304; }),
            "program: columns up to 304 of a matrix of 288: 32 channels x 9 points of the filter");
  EXPECT_EQ(v2([](auto& x) { x.sizeChannel = 20; }),
            "unsupported: operand sizeChannel is 20; img2colv2 models multiples of 16: the layout of fewer is open");
  EXPECT_EQ(v2([](auto& x) { x.dilationH = 5; }),
            "program: a filter of 3 x 3 with dilation 5 x 1 does not fit the padded feature map of 8 x 10");
  EXPECT_EQ(v2([](auto& x) { x.fmatrixCtrl = 1; }, Arch::m200),
            "program: img2colv2 of m200 has no filterSizeW, "
            "filterSizeH and fmatrixCtrl; they must be 0");
  EXPECT_EQ(v2([](auto& x) {
              x.transpose = 1;
              x.type = insn::img2col::b8;
            }),
            "program: operand transpose is 1; img2colv2 of c220 transposes b16 and b32 to L0A only");

  const insn::Img2colArgs first{.dst = 0,
                                .src = 0,
                                .leftTopW = 0,
                                .leftTopH = 0,
                                .c1Index = 0,
                                .fetchFilterW = 0,
                                .fetchFilterH = 0,
                                .strideW = 1,
                                .strideH = 1,
                                .filterW = 3,
                                .filterH = 3,
                                .dilationW = 1,
                                .dilationH = 1,
                                .jumpStride = 1,
                                .repeatMode = 0,
                                .repeatTime = 1,
                                .cSize = 0,
                                .type = insn::img2col::b16};
  const auto v1 = [&](auto&& change) {
    auto args = first;
    change(args);
    return error_of([&] { insn::Img2colCbufToCa::footprint(args, spr, Arch::c100); });
  };
  EXPECT_EQ(v1([](auto&) {}), "");
  EXPECT_EQ(v1([](auto& x) { x.cSize = 1; }),
            "unsupported: operand cSize is 1; img2col models 0: the layout of 4 channels is not public");
  EXPECT_EQ(v1([](auto& x) { x.jumpStride = 2; }),
            "unsupported: operand jumpStride is 2; it is 1 to 127 with repeatMode 1, and 1 with repeatMode 0");
  EXPECT_EQ(v1([](auto& x) { x.fetchFilterW = 3; }),
            "program: fetchFilterH, fetchFilterW = 0, 3 is no point of a filter of 3 x 3");
  EXPECT_EQ(v1([](auto& x) { x.leftTopH = -256; }),
            "program: leftTopH, leftTopW = -256, 0; they must be at least -255");
  spr = {};
  EXPECT_EQ(v1([](auto&) {}), "program: img2col without a feature map: set_fmatrix gives it no size");
  EXPECT_EQ(v2([](auto&) {}), "");
}

}  // namespace
}  // namespace vinci::isa
