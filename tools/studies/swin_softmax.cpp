// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Softmax as a kernel of its own: f16 in memory, f32 from the largest of a query on.
#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/studies/swin_kernels.h"
#include "tools/studies/swin_parts.h"

namespace vinci::studies::swin {
namespace {

// A tile becomes f32 in two chunks, the first of whole groups of 8 columns. f32 has two blocks of 8 queries for each
// key, so a column has 98 blocks.
constexpr u64 kChunk = 24, kWideBlocks = 2 * kTokens, kWideColumn = kWideBlocks * kBlock, kTreeRows = 24;
constexpr u64 kMax = 2 * kTileBytes, kMaxColumns = align_up(kTileColumns, u64{8});
constexpr u64 kWideMax = kMax + kMaxColumns * kBlock, kInverse = kWideMax + 2 * kMaxColumns * kBlock;
constexpr u64 kOnes = kInverse + 2 * kChunk * kBlock, kWork = kOnes + 256, kTree = kWork + kChunk * kWideColumn;
constexpr u64 kUbEnd = kTree + 2 * kTreeRows * kChunk * kBlock;
static_assert(kTreeRows * kTileColumns * kBlock <= 2 * kTreeRows * kChunk * kBlock && kUbEnd <= 256 * 1024);

// Eight columns are the blocks of a repeat; the last group has fewer.
template <class Make>
std::string groups(u64 columns, u64 lanes_of_block, const Make& make) {
  std::string s;
  for (u64 first = 0; first < columns; first += 8) {
    const u64 n = std::min(columns - first, u64{8});
    if (n < 8) s += lanes(n * lanes_of_block);
    s += make(first);
    if (n < 8) s += lanes(128);
  }
  return s;
}

// The largest of each query.
std::string maxima(u64 tile) {
  std::string s;
  const auto step = [&](u64 to, u64 to_stride, u64 a, u64 a_stride, u64 b, u64 b_stride, u64 rows) {
    s += groups(kTileColumns, 16, [&](u64 c) {
      return fmt::format("  vmax.f16 {}, {}, {}, {}, {}, {}, {}, 1, 1, 1\n", to + c * to_stride * kBlock,
                         a + c * a_stride * kBlock, b + c * b_stride * kBlock, rows, to_stride, a_stride, b_stride);
    });
  };
  const auto fold = [&](u64 from, u64 rows) { step(kTree, 24, kTree, 24, kTree + from * kBlock, 24, rows); };
  step(kTree, kTreeRows, tile, kTokens, tile + kTreeRows * kBlock, kTokens, kTreeRows);
  for (const u64 rows : {12, 6, 3}) {
    s += kFence;
    fold(rows, rows);
  }
  s += kFence;
  fold(1, 1);
  step(kTree + 2 * kBlock, kTreeRows, kTree + 2 * kBlock, kTreeRows, tile + 48 * kBlock, kTokens, 1);
  s += kFence;
  step(kMax, 1, kTree, kTreeRows, kTree + 2 * kBlock, kTreeRows, 1);
  return s + std::string(kFence);
}

// Each key of `columns` op what their queries have at `by`, the two halves of a row one after the other.
std::string with_each(std::string_view op, u64 columns, u64 by) {
  return groups(columns, 8, [&](u64 c) {
    std::string s;
    for (u64 half = 0; half < 2; ++half)
      s += fmt::format("  {0}.f32 {1}, {1}, {2}, {3}, {4}, {4}, 2, 2, 2, 0\n", op,
                       kWork + c * kWideColumn + half * kBlock, by + (2 * c + half) * kBlock, kTokens, kWideBlocks);
    return s;
  });
}

// 1 / sum of each query.
std::string inverses(u64 columns) {
  std::string s;
  const auto step = [&](u64 to, u64 to_stride, u64 a, u64 a_stride, u64 b, u64 b_stride, u64 blocks) {
    s += groups(columns, 8, [&](u64 c) {
      return fmt::format("  vadd.f32 {}, {}, {}, {}, {}, {}, {}, 1, 1, 1\n", to + c * to_stride * kBlock,
                         a + c * a_stride * kBlock, b + c * b_stride * kBlock, blocks, to_stride, a_stride, b_stride);
    });
  };
  constexpr u64 kRows = 2 * kTreeRows;
  const auto fold = [&](u64 from, u64 blocks) {
    step(kTree, kRows, kTree, kRows, kTree + from * kBlock, kRows, blocks);
  };
  step(kTree, kRows, kWork, kWideBlocks, kWork + kRows * kBlock, kWideBlocks, kRows);
  for (const u64 blocks : {24, 12, 6}) {
    s += kFence;
    fold(blocks, blocks);
  }
  s += kFence;
  fold(2, 2);
  step(kTree + 4 * kBlock, kRows, kTree + 4 * kBlock, kRows, kWork + 96 * kBlock, kWideBlocks, 2);
  s += kFence;
  step(kInverse, 2, kTree, kRows, kTree + 4 * kBlock, kRows, 2);
  return s + std::string(kFence) +
         fmt::format("  vdiv.f32 {0}, {1}, {0}, {2}, 1, 1, 1, 8, 0, 8\n", kInverse, kOnes,
                     align_up(2 * columns, u64{8}) / 8) +
         std::string(kFence);
}

std::string chunk(u64 at, u64 first, u64 columns) {
  const u64 narrow = columns * kTokens / 4, rest = columns * kTokens % 4;  // repeats of 64 elements
  const auto widen = [&](u64 from, u64 n) {
    return fmt::format("  vconv_f162f32 {}, {}, {}, 1, 1, 8, 4\n", kWork + from * 256, at + from * 128, n);
  };
  const auto exponents = [&](u64 from, u64 n) {
    return fmt::format("  vexp.f32 {0}, {0}, {1}, 1, 1, 8, 8\n", kWork + from * 256, n);
  };
  const auto round = [&](u64 from, u64 n) {
    return fmt::format("  vconv_f322f16 {}, {}, {}, 1, 1, 4, 8\n", at + from * 128, kWork + from * 256, n);
  };
  const auto all = [&](const auto& make) {
    std::string s = in_repeats(narrow, make);
    if (rest != 0) s += lanes(rest * 16) + make(narrow, u64{1}) + lanes(128);
    return s;
  };
  const std::string fence(kFence);
  return all(widen) + fence + with_each("vsub", columns, kWideMax + 2 * first * kBlock) + fence + all(exponents) +
         fence + inverses(columns) + with_each("vmul", columns, kInverse) + fence + all(round) + fence;
}

}  // namespace

std::string softmax(const Shape& s) {
  gen::TilePipeline p{.tiles = s.tiles(),
                      .in_place = true,
                      .prologue = "  ld_arg X3, 0\n",
                      .locate = fmt::format("  mul X10, X0, {}\n  add X10, X10, X3\n", kTileBytes)};
  p.prologue += fmt::format("  vector_dup.f32 {}, 1.0f, 1, 1, 1, 8, 8\n  vector_dup.f16 {}, 0, {}, 1, 1, 8, 8\n", kOnes,
                            kMax, kMaxColumns / 8) +
                fmt::format("  vector_dup.f32 {}, 1.0f, {}, 1, 1, 8, 8\n", kInverse, 2 * kChunk / 8) +
                std::string(kFence);
  p.load = [](u32 slot) {
    return fmt::format("  copy_gm_to_ubuf {}, X10, 0, 1, {}, 0, 0\n", slot * kTileBytes, kTileBytes / kBlock);
  };
  p.compute = [](u32 slot) {
    const u64 tile = slot * kTileBytes;
    return maxima(tile) + fmt::format("  vconv_f162f32 {}, {}, {}, 1, 1, 8, 4\n", kWideMax, kMax, kMaxColumns / 4) +
           chunk(tile, 0, kChunk) + chunk(tile + kChunk * kColumnBytes, kChunk, kTileColumns - kChunk);
  };
  p.store = [](u32 slot) {
    return fmt::format("  copy_ubuf_to_gm X10, {}, 0, 1, {}, 0, 0\n", slot * kTileBytes, kTileBytes / kBlock);
  };
  return gen::tile_pipeline_assembly(p);
}

}  // namespace vinci::studies::swin
