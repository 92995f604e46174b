// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Softmax as a kernel of its own: f16 in memory, f32 from the largest of a query on.
#include <algorithm>

#include "tools/gen/tile_pipeline.h"
#include "tools/studies/swin_kernels.h"
#include "tools/studies/swin_parts.h"

namespace vinci::studies::swin {
namespace {

// f32 has two blocks of 8 queries for each key, so a column has 98 blocks.
constexpr u64 kWideBlocks = 2 * kTokens, kWideColumn = kWideBlocks * kBlock;
// A tree has 24 blocks for each column: 24 rows of f16 or 12 of f32. Results are in its first row, the largest of the
// queries as f32 in its second.
constexpr u64 kTreeBlocks = 24, kTreeColumn = kTreeBlocks * kBlock;
constexpr u64 kWork = 2 * kTileBytes, kTree = kWork + kTileColumns * kWideColumn, kWideMax = kTree + 2 * kBlock;
constexpr u64 kOnes = kTree + kTileColumns * kTreeColumn, kUbEnd = kOnes + kBlock;
static_assert(kUbEnd <= 256 * 1024);

// Eight columns are the blocks of a repeat; the last group has fewer.
template <class Make>
std::string groups(u64 lanes_of_block, const Make& make, u64 begin = 0, u64 end = kTileColumns) {
  std::string s;
  for (u64 first = begin; first < end; first += 8) {
    const u64 n = std::min(end - first, u64{8});
    if (n < 8) s += lanes(n * lanes_of_block);
    s += make(first);
    if (n < 8) s += lanes(128);
  }
  return s;
}

// Rows at an address, and how many blocks a column is from the next.
struct Rows {
  u64 at = 0, step = 0;
  u64 column(u64 c) const { return at + c * step * kBlock; }
  Rows from(u64 block) const { return {at + block * kBlock, step}; }
};
constexpr Rows kTreeTop{kTree, kTreeBlocks}, kWide{kWork, kWideBlocks};

// to = a op b for `blocks` blocks of each column
std::string combine(std::string_view op, u64 lanes_of_block, Rows to, Rows a, Rows b, u64 blocks) {
  return groups(lanes_of_block, [&](u64 c) {
    return fmt::format("  {} {}, {}, {}, {}, {}, {}, {}, 1, 1, 1\n", op, to.column(c), a.column(c), b.column(c), blocks,
                       to.step, a.step, b.step);
  });
}

// The largest of each query; `beside` is work that does not depend on it.
std::string maxima(u64 tile, const std::string& beside) {
  const std::string fence(kFence);
  const Rows scores{tile, kTokens};
  const auto step = [](Rows to, Rows a, Rows b, u64 rows) { return combine("vmax.f16", 16, to, a, b, rows); };
  std::string s = step(kTreeTop, scores, scores.from(24), 24) + beside + fence;
  for (const u64 rows : {12, 6, 3})
    s += step(kTreeTop, kTreeTop, kTreeTop.from(rows), rows) + fence;
  s += step(kTreeTop, kTreeTop, kTreeTop.from(1), 1) + step(kTreeTop.from(2), kTreeTop.from(2), scores.from(48), 1);
  s += fence + step(kTreeTop, kTreeTop, kTreeTop.from(2), 1) + fence;
  return s + lanes(16) +
         fmt::format("  vconv_f162f32 {}, {}, {}, 1, 1, {}, {}\n", kWideMax, kTree, kTileColumns, kTreeBlocks,
                     kTreeBlocks) +
         lanes(128);
}

// 1 / sum of each query; `tile` is free in between.
std::string inverses(u64 tile) {
  const std::string fence(kFence);
  const auto step = [](Rows to, Rows a, Rows b, u64 blocks) { return combine("vadd.f32", 8, to, a, b, blocks); };
  const Rows half{tile, 48};
  std::string s = step(half, kWide, kWide.from(48), 48) + fence;
  for (const u64 blocks : {24, 12, 6})
    s += step(half, half, half.from(blocks), blocks) + fence;
  s += step(half, half, half.from(2), 2) + step(half.from(4), half.from(4), kWide.from(96), 2);
  s += fence + step(kTreeTop, half, half.from(4), 2) + fence;
  return s +
         groups(8,
                [](u64 c) {
                  return fmt::format("  vdiv.f32 {0}, {1}, {0}, 2, {2}, 0, {2}, 1, 0, 1\n", kTreeTop.column(c), kOnes,
                                     kTreeBlocks);
                }) +
         fence;
}

// Each key of some columns op what its query has in the tree, the two halves of a row one after the other.
std::string with_each(std::string_view op, u64 by, u64 begin, u64 end) {
  const auto make = [&](u64 c) {
    std::string s;
    for (u64 half = 0; half < 2; ++half)
      s += fmt::format("  {0}.f32 {1}, {1}, {2}, {3}, {4}, {4}, {5}, 2, 2, 0\n", op, kWide.column(c) + half * kBlock,
                       by + c * kTreeColumn + half * kBlock, kTokens, kWideBlocks, kTreeBlocks);
    return s;
  };
  return groups(8, make, begin, end);
}

// make(first, repeats) of 64 elements each for some columns; the last repeat may have fewer.
template <class Make>
std::string elements(u64 begin, u64 end, const Make& make) {
  const u64 first = begin * kTokens / 4, blocks = (end - begin) * kTokens;
  std::string s = in_repeats(blocks / 4, [&](u64 at, u64 n) { return make(first + at, n); });
  if (blocks % 4 != 0) s += lanes(blocks % 4 * 16) + make(first + blocks / 4, u64{1}) + lanes(128);
  return s;
}

std::string store(u64 tile, u64 begin, u64 end) {
  return fmt::format("  add X11, X10, {}\n  copy_ubuf_to_gm X11, {}, 0, 1, {}, 0, 0\n", begin * kColumnBytes,
                     tile + begin * kColumnBytes, (end - begin) * kTokens);
}

// The first columns leave while the others are multiplied.
constexpr u64 kEarly = 16;
static_assert(kEarly * kTokens % 4 == 0);

std::string softmax_of(u64 tile, u32 slot) {
  const auto widen = [&](u64 first, u64 n) {
    return fmt::format("  vconv_f162f32 {}, {}, {}, 1, 1, 8, 4\n", kWork + first * 256, tile + first * 128, n);
  };
  const auto exponents = [&](u64 first, u64 n) {
    return fmt::format("  vexp.f32 {0}, {0}, {1}, 1, 1, 8, 8\n", kWork + first * 256, n);
  };
  const auto divide = [&](u64 begin, u64 end) {
    return with_each("vmul", kTree, begin, end) + std::string(kFence) + elements(begin, end, [&](u64 first, u64 n) {
             return fmt::format("  vconv_f322f16 {}, {}, {}, 1, 1, 4, 8\n", tile + first * 128, kWork + first * 256, n);
           });
  };
  const std::string fence(kFence);
  return maxima(tile, elements(0, kTileColumns, widen)) + fence + with_each("vsub", kWideMax, 0, kTileColumns) + fence +
         elements(0, kTileColumns, exponents) + fence + inverses(tile) + divide(0, kEarly) +
         set("PIPE_V", "PIPE_MTE3", 2 + slot) + wait("PIPE_V", "PIPE_MTE3", 2 + slot) + store(tile, 0, kEarly) +
         divide(kEarly, kTileColumns);
}

}  // namespace

std::string softmax(const Shape& s) {
  gen::TilePipeline p{.tiles = s.tiles(),
                      .in_place = true,
                      .prologue = "  ld_arg X3, 0\n",
                      .locate = fmt::format("  mul X10, X0, {}\n  add X10, X10, X3\n", kTileBytes)};
  p.prologue +=
      lanes(8) + fmt::format("  vector_dup.f32 {}, 1.0f, 1, 1, 1, 8, 8\n", kOnes) + lanes(128) + std::string(kFence);
  p.load = [](u32 slot) {
    return fmt::format("  copy_gm_to_ubuf {}, X10, 0, 1, {}, 0, 0\n", slot * kTileBytes, kTileBytes / kBlock);
  };
  p.compute = [](u32 slot) { return softmax_of(slot * kTileBytes, slot); };
  p.store = [](u32 slot) { return store(slot * kTileBytes, kEarly, kTileColumns); };
  return gen::tile_pipeline_assembly(p);
}

}  // namespace vinci::studies::swin
