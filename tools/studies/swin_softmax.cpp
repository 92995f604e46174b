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
template <class Write>
void groups(ProgramBuilder& p, u64 lanes_of_block, const Write& write, u64 begin = 0, u64 end = kTileColumns) {
  for (u64 first = begin; first < end; first += 8) {
    const u64 n = std::min(end - first, u64{8});
    if (n < 8) lanes(p, n * lanes_of_block);
    write(first);
    if (n < 8) lanes(p, 128);
  }
}

// Rows at an address, and how many blocks a column is from the next.
struct Rows {
  u64 at = 0, step = 0;
  u64 column(u64 c) const { return at + c * step * kBlock; }
  Rows from(u64 block) const { return {at + block * kBlock, step}; }
};
constexpr Rows kTreeTop{kTree, kTreeBlocks}, kWide{kWork, kWideBlocks};

// to = a op b for `blocks` blocks of each column; lanes of `type`.
void combine(ProgramBuilder& p, std::string_view op, Type type, Rows to, Rows a, Rows b, u64 blocks) {
  groups(p, type == Type::f16 ? 16 : 8, [&](u64 c) {
    p.call(op, type, {to.column(c), a.column(c), b.column(c), blocks, to.step, a.step, b.step, 1, 1, 1});
  });
}

// The largest of each query; the argument writes work that does not depend on it.
template <class Beside>
void maxima(ProgramBuilder& p, u64 tile, const Beside& beside) {
  const Rows scores{tile, kTokens};
  const auto step = [&](Rows to, Rows a, Rows b, u64 rows) { combine(p, "vmax", Type::f16, to, a, b, rows); };
  step(kTreeTop, scores, scores.from(24), 24);
  beside();
  fence(p);
  for (const u64 rows : {12, 6, 3}) {
    step(kTreeTop, kTreeTop, kTreeTop.from(rows), rows);
    fence(p);
  }
  step(kTreeTop, kTreeTop, kTreeTop.from(1), 1);
  step(kTreeTop.from(2), kTreeTop.from(2), scores.from(48), 1);
  fence(p);
  step(kTreeTop, kTreeTop, kTreeTop.from(2), 1);
  fence(p);
  lanes(p, 16);
  p.vconv_f162f32(kWideMax, kTree, kTileColumns, 1, 1, kTreeBlocks, kTreeBlocks);
  lanes(p, 128);
}

// 1 / sum of each query; `tile` is free in between.
void inverses(ProgramBuilder& p, u64 tile) {
  const auto step = [&](Rows to, Rows a, Rows b, u64 blocks) { combine(p, "vadd", Type::f32, to, a, b, blocks); };
  const Rows half{tile, 48};
  step(half, kWide, kWide.from(48), 48);
  fence(p);
  for (const u64 blocks : {24, 12, 6}) {
    step(half, half, half.from(blocks), blocks);
    fence(p);
  }
  step(half, half, half.from(2), 2);
  step(half.from(4), half.from(4), kWide.from(96), 2);
  fence(p);
  step(kTreeTop, half, half.from(4), 2);
  fence(p);
  groups(p, 8, [&](u64 c) {
    const u64 at = kTreeTop.column(c);
    p.vdiv(Type::f32, at, kOnes, at, 2, kTreeBlocks, 0, kTreeBlocks, 1, 0, 1);
  });
  fence(p);
}

// Each key of some columns op what its query has in the tree, the two halves of a row one after the other.
void with_each(ProgramBuilder& p, std::string_view op, u64 by, u64 begin, u64 end) {
  const auto write = [&](u64 c) {
    for (u64 half = 0; half < 2; ++half) {
      const u64 at = kWide.column(c) + half * kBlock;
      p.call(op, Type::f32,
             {at, at, by + c * kTreeColumn + half * kBlock, kTokens, kWideBlocks, kWideBlocks, kTreeBlocks, 2, 2, 0});
    }
  };
  groups(p, 8, write, begin, end);
}

// write(first, repeats) of 64 elements each for some columns; the last repeat may have fewer.
template <class Write>
void elements(ProgramBuilder& p, u64 begin, u64 end, const Write& write) {
  const u64 first = begin * kTokens / 4, blocks = (end - begin) * kTokens;
  in_repeats(blocks / 4, [&](u64 at, u64 n) { write(first + at, n); });
  if (blocks % 4 == 0) return;
  lanes(p, blocks % 4 * 16);
  write(first + blocks / 4, u64{1});
  lanes(p, 128);
}

// Registers: where the tile is in memory, and where some of its columns are.
struct Places {
  Reg tile, columns;
};
void store(ProgramBuilder& p, const Places& gm, u64 tile, u64 begin, u64 end) {
  p.add(gm.columns, gm.tile, begin * kColumnBytes);
  p.copy_ubuf_to_gm(gm.columns, tile + begin * kColumnBytes, 0, 1, (end - begin) * kTokens, 0, 0);
}

// The first columns leave while the others are multiplied.
constexpr u64 kEarly = 16;
static_assert(kEarly * kTokens % 4 == 0);

void softmax_of(ProgramBuilder& p, const Places& gm, u64 tile, u32 slot) {
  const auto widen = [&](u64 first, u64 n) { p.vconv_f162f32(kWork + first * 256, tile + first * 128, n, 1, 1, 8, 4); };
  const auto exponents = [&](u64 first, u64 n) {
    p.vexp(Type::f32, kWork + first * 256, kWork + first * 256, n, 1, 1, 8, 8);
  };
  const auto narrow = [&](u64 first, u64 n) {
    p.vconv_f322f16(tile + first * 128, kWork + first * 256, n, 1, 1, 4, 8);
  };
  const auto divide = [&](u64 begin, u64 end) {
    with_each(p, "vmul", kTree, begin, end);
    fence(p);
    elements(p, begin, end, narrow);
  };
  maxima(p, tile, [&] { elements(p, 0, kTileColumns, widen); });
  fence(p);
  with_each(p, "vsub", kWideMax, 0, kTileColumns);
  fence(p);
  elements(p, 0, kTileColumns, exponents);
  fence(p);
  inverses(p, tile);
  divide(0, kEarly);
  p.hand_over(PipeId::V, PipeId::MTE3, 2 + slot);
  store(p, gm, tile, 0, kEarly);
  divide(kEarly, kTileColumns);
}

}  // namespace

Program softmax(isa::Arch arch, const Shape& s) {
  ProgramBuilder b("softmax", arch);
  const Reg scores = b.reg("scores", 3);
  const Places gm{b.reg("tile_at", 10), b.reg("columns_at", 11)};
  gen::TilePipeline t{.tiles = s.tiles(), .in_place = true};
  t.prologue = [&](ProgramBuilder& p) {
    p.ld_arg(scores, 0);
    lanes(p, 8);
    p.vector_dup(Type::f32, kOnes, isa::f32(1), 1, 1, 1, 8, 8);
    lanes(p, 128);
    fence(p);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) {
    p.mul(gm.tile, tile, kTileBytes);
    p.add(gm.tile, gm.tile, scores);
  };
  t.load = [&](ProgramBuilder& p, u32 slot) {
    p.copy_gm_to_ubuf(slot * kTileBytes, gm.tile, 0, 1, kTileBytes / kBlock, 0, 0);
  };
  t.compute = [&](ProgramBuilder& p, u32 slot) { softmax_of(p, gm, slot * kTileBytes, slot); };
  t.store = [&](ProgramBuilder& p, u32 slot) { store(p, gm, slot * kTileBytes, kEarly, kTileColumns); };
  write_tile_pipeline(b, t);
  return b.finish();
}

}  // namespace vinci::studies::swin
