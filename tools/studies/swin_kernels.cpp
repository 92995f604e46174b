// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/swin_kernels.h"

#include <functional>
#include <utility>

#include "tools/gen/tile_pipeline.h"
#include "tools/studies/swin_parts.h"

namespace vinci::studies::swin {
namespace {

constexpr u64 kTilePairs = kTileWindows * kHeads, kPlanes = kRowBytes / kBlock, kPartPlanes = kPlanes / 3;
constexpr u64 kTilePlanes = kTileWindows * kPartPlanes, kPadding = kPadded - kTokens;
constexpr u64 kSharedColumn = kTileColumns - 1;
constexpr u64 kWholeTiles = kPadded / 16 - 1;  // tiles of 16 queries that are full; the last holds query 48 alone

// The program and its registers. X0 to X2 belong to the loop over the tiles; X10 to X12 hold addresses of a tile.
struct Kernel {
  Kernel(std::string name, isa::Arch arch) : p(std::move(name), arch) {}

  // Arguments of the launch.
  void load_args(u32 count) {
    for (u32 i = 0; i < count; ++i)
      p.ld_arg(args[i], i);
  }
  // to = where a tile of `bytes` is in the buffer at `buffer`.
  void tile_at(Reg to, Reg buffer, u64 bytes, Reg tile) {
    p.mul(to, tile, bytes);
    p.add(to, to, buffer);
  }
  void load(u64 to, Reg from, u64 bursts, u64 blocks, u64 from_gap = 0) {
    p.copy_gm_to_ubuf(to, from, 0, bursts, blocks, from_gap, 0);
  }
  void store(Reg to, u64 from, u64 bursts, u64 blocks, u64 from_gap = 0, u64 to_gap = 0) {
    p.copy_ubuf_to_gm(to, from, 0, bursts, blocks, from_gap, to_gap);
  }
  void move(u64 to, u64 from, u64 bursts, u64 blocks, u64 from_gap, u64 to_gap) {
    p.copy_ubuf_to_ubuf(to, from, 0, bursts, blocks, from_gap, to_gap);
  }
  isa::BuiltProgram finish(const gen::TilePipeline& pipeline) {
    write_tile_pipeline(p, pipeline);
    return p.finish();
  }

  ProgramBuilder p;
  const Reg args[3] = {p.reg("arg0", 3), p.reg("arg1", 4), p.reg("arg2", 5)};
  const Reg at = p.reg("at", 10), out_at = p.reg("out_at", 11), more_at = p.reg("more_at", 12);
};

// Tiles of bursts, changed in place: in UB one after the other, in memory with a gap after each, `step` bytes from tile
// to tile.
gen::TilePipeline in_place(Kernel& k, u64 tiles, u64 step, u64 bursts, u64 bytes, u64 gap) {
  gen::TilePipeline t{.tiles = tiles, .in_place = true};
  const u64 blocks = bytes / kBlock, gap_blocks = gap / kBlock;
  t.prologue = [&k](ProgramBuilder&) { k.load_args(1); };
  t.locate = [&k, step](ProgramBuilder&, Reg tile) { k.tile_at(k.at, k.args[0], step, tile); };
  t.load = [=, &k](ProgramBuilder&, u32 slot) { k.load(slot * bursts * bytes, k.at, bursts, blocks, gap_blocks); };
  t.store = [=, &k](ProgramBuilder&, u32 slot) { k.store(k.at, slot * bursts * bytes, bursts, blocks, 0, gap_blocks); };
  return t;
}
gen::TilePipeline scores_in_place(Kernel& k, const Shape& s) {
  return in_place(k, s.tiles(), kTileBytes, 1, kTileBytes, 0);
}
void multiply_by(ProgramBuilder& p, u64 at, u64 bytes, u32 factor) {
  in_repeats(bytes / 256,
             [&](u64 first, u64 n) { p.vmuls(Type::f16, at + first * 256, at + first * 256, factor, n, 1, 1, 8, 8); });
}

// Lanes of 7 blocks: 49 rows are 7 repeats of them.
void seven_blocks(ProgramBuilder& p) { p.set_vector_mask(0xffffffffffff, ~u64{0}); }
void add_rows(ProgramBuilder& p, u64 to, u64 what, u64 columns) {
  p.vadd(Type::f16, to, to, what, columns * kTokens / 7, 1, 1, 1, 7, 7, 7);
}

// Query 48 of every pair, in the first lane of a block, becomes lane `pair` of one block, for each key.
template <class ColumnOf>
void share_column(ProgramBuilder& p, u64 to, u64 trash, const ColumnOf& column_of) {
  std::array<u64, 16> from{}, dst{};
  for (u64 i = 0; i < 16; ++i) {
    from[i] = column_of(i % kTilePairs);
    dst[i] = i == 0 ? to : trash;
  }
  va_registers(p, 0, dst);
  va_registers(p, 2, from);
  p.scatter_vnchwconv_b16(0, 2, kTokens, 1, 1);
}

// Products of a tile on the cube: to L1, L0C and UB in two slots each, and to memory. Rounds take a few pairs each to
// one half of L0A and L0B and the other in turn. The scalar unit issues in order and stops where a queue is full, so
// the load of the next tile comes first.
struct Products {
  u64 tiles = 0;
  u64 l1_slot = 0;                                               // bytes
  u32 args = 0;                                                  // of the launch
  std::function<void(u64 l1, Reg tile)> load = {};               // MTE2
  std::function<void(u64 pair, u64 l0, u64 l1)> fetch = {};      // MTE1
  std::function<void(u64 pair, u64 l0, u64 l0c)> multiply = {};  // M, f16
  std::function<void(u64 l0c, u32 slot)> take = {};              // V
  std::function<void(u32 slot, Reg tile)> store = {};            // MTE3
};
constexpr u64 kRounds = 4, kL0cSlot = kTilePairs * kScoreBytes, kL0Half = 32 * 1024;

void all_free(ProgramBuilder& p, bool set) {
  constexpr std::pair<PipeId, PipeId> kSteps[] = {
      {PipeId::M, PipeId::MTE1}, {PipeId::MTE1, PipeId::MTE2}, {PipeId::V, PipeId::M}, {PipeId::MTE3, PipeId::V}};
  for (u64 slot = 0; slot < 2; ++slot)
    for (const auto& [from, to] : kSteps)
      set ? p.set_flag(from, to, slot) : p.wait_flag(from, to, slot);
}

// The rounds of a tile.
void multiply_tile(ProgramBuilder& p, const Products& x, u32 slot) {
  constexpr u64 kPairs = kTilePairs / kRounds;
  for (u64 round = 0; round < kRounds; ++round) {
    const u64 l0 = round % 2;
    const auto half = [&](u64 i) { return l0 * kL0Half + i * kL0Half / kPairs / 512 * 512; };
    p.wait_flag(PipeId::M, PipeId::MTE1, l0);
    for (u64 i = 0; i < kPairs; ++i)
      x.fetch(round * kPairs + i, half(i), slot * x.l1_slot);
    if (round + 1 == kRounds) p.set_flag(PipeId::MTE1, PipeId::MTE2, slot);
    p.hand_over(PipeId::MTE1, PipeId::M, l0);
    if (round == 0) p.wait_flag(PipeId::V, PipeId::M, slot);
    for (u64 i = 0; i < kPairs; ++i)
      x.multiply(round * kPairs + i, half(i), slot * kL0cSlot);
    p.set_flag(PipeId::M, PipeId::MTE1, l0);
  }
}

isa::BuiltProgram products(Kernel& k, const Products& x) {
  ProgramBuilder& p = k.p;
  const Reg tile = p.reg("tile", 0), step = p.reg("step", 1), next = p.reg("next", 2);
  const auto load = [&](u32 slot, Reg of_tile) {
    p.wait_flag(PipeId::MTE1, PipeId::MTE2, slot);
    x.load(slot * x.l1_slot, of_tile);
    p.set_flag(PipeId::MTE2, PipeId::MTE1, slot);
  };
  k.load_args(x.args);
  p.get_block_idx(tile);
  p.get_block_num(step);
  all_free(p, true);
  const isa::Target finish = p.label("finish");
  p.bge(tile, x.tiles, finish);
  load(0, tile);
  const isa::Target loop = p.here("loop");
  for (u32 slot = 0; slot < 2; ++slot) {
    p.bge(tile, x.tiles, finish);
    p.add(next, tile, step);
    p.if_(next < x.tiles, [&] { load(1 - slot, next); });
    p.wait_flag(PipeId::MTE2, PipeId::MTE1, slot);
    multiply_tile(p, x, slot);
    p.hand_over(PipeId::M, PipeId::V, slot);
    p.wait_flag(PipeId::MTE3, PipeId::V, slot);
    x.take(slot * kL0cSlot, slot);
    p.set_flag(PipeId::V, PipeId::M, slot);
    p.hand_over(PipeId::V, PipeId::MTE3, slot);
    x.store(slot, tile);
    p.set_flag(PipeId::MTE3, PipeId::V, slot);
    p.mov(tile, next);
  }
  p.b(loop);
  p.bind(finish);
  all_free(p, false);
  p.pipe_barrier(PipeId::ALL);
  p.end();
  return p.finish();
}

// Where one half of the channels of a pair is in q, k or v of a tile. Fractals of its last tokens reach into what
// follows, at the end into kSlack bytes more; nothing depends on them.
u64 plane_at(u64 pair, u64 half) { return pair / kHeads * kPartStep + (pair % kHeads * kHalves + half) * kPlaneBytes; }
constexpr u64 kSlack = 512;

}  // namespace

Program permute(isa::Arch arch, const Shape& s) {
  constexpr u64 kWindows = 2, kWindowBytes = kTokens * kRowBytes, kBytes = kWindows * kWindowBytes;
  constexpr u64 kPart = kWindows * kPartStep, kOut = 2 * kBytes, kOutSlot = 3 * kPart;
  constexpr u64 kStaggerTurns = 220;  // about half a load
  static_assert(kTileWindows % kWindows == 0);
  Kernel k("permute", arch);
  gen::TilePipeline t{.tiles = s.windows / kWindows};
  t.prologue = [&](ProgramBuilder& p) {
    k.load_args(2);
    stagger(p, p.x(0), kStaggerTurns);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) {
    k.tile_at(k.at, k.args[0], kBytes, tile);
    p.div(k.out_at, tile, kTileWindows / kWindows);
    p.rem(k.more_at, tile, kTileWindows / kWindows);
    k.tile_at(k.out_at, k.args[1], 3 * kTilePartBytes, k.out_at);
    k.tile_at(k.more_at, k.out_at, kPart, k.more_at);
  };
  t.load = [&](ProgramBuilder&, u32 slot) { k.load(slot * kBytes, k.at, 1, kBytes / kBlock); };
  t.compute = [&](ProgramBuilder& p, u32 slot) {
    constexpr u64 kGapBlocks = (kPartStep - kPartBytes) / kBlock;  // zeros between the windows
    lanes(p, kGapBlocks / 2 * 16);
    for (u64 i = 0; i < 3 * kWindows; ++i)
      p.vector_dup(Type::f16, kOut + slot * kOutSlot + i * kPartStep + kPartBytes, 0, 2, 1, 1, kGapBlocks / 2, 8);
    lanes(p, 128);
    for (u64 i = 0; i < kWindows * kPlanes; ++i) {
      const u64 window = i / kPlanes, plane = i % kPlanes;
      k.move(
          kOut + slot * kOutSlot + plane / kPartPlanes * kPart + window * kPartStep + plane % kPartPlanes * kPlaneBytes,
          slot * kBytes + window * kWindowBytes + plane * kBlock, kTokens, 1, kPlanes - 1, 0);
    }
  };
  t.store = [&](ProgramBuilder&, u32 slot) {
    k.store(k.more_at, kOut + slot * kOutSlot, 3, kPart / kBlock, 0, (kTilePartBytes - kPart) / kBlock);
  };
  return k.finish(t);
}

Program scale_q(isa::Arch arch, const Shape& s, u32 factor) {
  Kernel k("scale_q", arch);
  gen::TilePipeline t = in_place(k, s.tiles(), 3 * kTilePartBytes, kTileWindows, kPartBytes, kPartStep - kPartBytes);
  t.compute = [=](ProgramBuilder& p, u32 slot) { multiply_by(p, slot * kTileOutBytes, kTileOutBytes, factor); };
  return k.finish(t);
}

Program scores(isa::Arch arch, const Shape& s) {
  constexpr u64 kSlot = kTileColumns * kPaddedColumn, kLast = 2 * kSlot, kTrash = kLast + kTilePairs * kPaddedColumn;
  Kernel k("scores", arch);
  ProgramBuilder& p = k.p;
  Products x{.tiles = s.tiles(), .l1_slot = 2 * kTilePartBytes + kSlack, .args = 2};
  x.load = [&](u64 l1, Reg tile) {
    k.tile_at(k.at, k.args[0], 3 * kTilePartBytes, tile);
    p.copy_gm_to_cbuf(l1, k.at, 0, 1, 2 * kTilePartBytes / kBlock, 0, 0);
  };
  // A = k, B = q
  x.fetch = [&](u64 pair, u64 l0, u64 l1) {
    for (u64 half = 0; half < kHalves; ++half) {
      const u64 q = l1 + plane_at(pair, half);
      for (u64 m1 = 0; m1 < 4; ++m1)
        p.load_cbuf_to_ca(l0 + (m1 * kHalves + half) * 512, q + kTilePartBytes, m1, 1, 1, 0, 0);
      p.load_cbuf_to_cb(l0 + half * 4 * 512, q, 0, 4, 1, 0, 0);
    }
  };
  x.multiply = [&](u64 pair, u64 l0, u64 l0c) {
    p.mad(Type::f162f16, l0c + pair * kScoreBytes, l0, l0, 64, kDepth, 64, 1);
  };
  x.take = [&](u64 l0c, u32 slot) {
    for (u64 t = 0; t <= kWholeTiles; ++t)
      p.copy_matrix_cc_to_ubuf(Type::f16, t < kWholeTiles ? slot * kSlot + t * kTilePairs * kPaddedColumn : kLast,
                               l0c + t * kPaddedColumn, 0, kTilePairs, 4, 12, 0, 0);
    fence(p);
    share_column(p, slot * kSlot + kSharedColumn * kPaddedColumn, kTrash,
                 [&](u64 pair) { return kLast + pair * kPaddedColumn; });
  };
  x.store = [&](u32 slot, Reg tile) {
    k.tile_at(k.at, k.args[1], kTileBytes, tile);
    k.store(k.at, slot * kSlot, kTileColumns, kTokens, kPadding, 0);
  };
  return products(k, x);
}

Program gather_bias(isa::Arch arch) {
  // Of a key: four fractals, then blocks [query / 16][head] and query 48 of all heads, the same apart, and blocks that
  // are not needed.
  constexpr u64 kWhole = kWholeTiles * kHeads, kOut = 4 * 512, kLast = kOut + (kWhole + 1) * kBlock,
                kRest = kLast + kHeads * kBlock, kSlot = 8 * 512;
  ProgramBuilder b("gather_bias", arch);
  const Reg table = b.reg("table", 3), out = b.reg("out", 4), x = b.reg("x", 5), y = b.reg("y", 6), at = b.reg("at", 7);
  gen::TilePipeline t{.tiles = kTokens, .load_pipe = PipeId::MTE1};
  t.prologue = [&](ProgramBuilder& p) {
    p.ld_arg(table, 0);
    p.ld_arg(out, 1);
    table_map(p);
    p.copy_gm_to_cbuf(0, table, 0, 1, kTableEdge * kTableEdge, 0, 0);
    p.hand_over(PipeId::MTE2, PipeId::MTE1, 0);
  };
  t.locate = [&](ProgramBuilder& p, Reg tile) {
    p.div(y, tile, 7);
    p.rem(x, tile, 7);
    p.sub(x, 6, x);
    p.sub(y, 6, y);
    p.mul(at, tile, kBlock);
    p.add(at, at, out);
  };
  t.load = [&](ProgramBuilder& p, u32 slot) { fetch_bias(p, slot * kSlot, 0, x, y); };
  t.compute = [](ProgramBuilder& p, u32 slot) {
    std::array<u64, 16> from{}, to{}, from_last{}, last{}, spread{}, shared{};
    const u64 base = slot * kSlot;
    for (u64 i = 0; i < 16; ++i) {
      from[i] = base + i * kBlock;
      to[i] = base + (i < kHeads ? kOut + i * kBlock : kRest);
      from_last[i] = from[i] + kWholeTiles * 512;
      last[i] = base + (i < kHeads ? kLast + i * kBlock : kRest + kBlock);
      spread[i] = base + kLast + i % kHeads * kBlock;
      shared[i] = base + (i == 0 ? kOut + kWhole * kBlock : kRest);
    }
    va_registers(p, 0, to);
    va_registers(p, 2, from);
    p.scatter_vnchwconv_b16(0, 2, kWholeTiles, kHeads, 16);
    va_registers(p, 4, last);
    va_registers(p, 6, from_last);
    p.scatter_vnchwconv_b16(4, 6, 1, 0, 0);
    fence(p);
    va_registers(p, 0, shared);
    va_registers(p, 2, spread);
    p.scatter_vnchwconv_b16(0, 2, 1, 0, 0);
  };
  t.store = [&](ProgramBuilder& p, u32 slot) {
    p.copy_ubuf_to_gm(at, slot * kSlot + kOut, 0, kWhole + 1, 1, 0, kTokens - 1);
  };
  write_tile_pipeline(b, t);
  return b.finish();
}

Program add_bias(isa::Arch arch, const Shape& s) {
  constexpr u64 kBias = 2 * kTileBytes;
  Kernel k("add_bias", arch);
  gen::TilePipeline t = scores_in_place(k, s);
  t.prologue = [&](ProgramBuilder& p) {
    k.load_args(2);
    k.load(kBias, k.args[1], 1, kBiasBytes / kBlock);
    p.pipe_barrier(PipeId::ALL);
    seven_blocks(p);
  };
  t.compute = [](ProgramBuilder& p, u32 slot) {
    for (u64 column = 0; column < kSharedColumn; column += kHeads)
      add_rows(p, slot * kTileBytes + column * kColumnBytes, kBias + column / kTilePairs * kHeads * kColumnBytes,
               kHeads);
    add_rows(p, slot * kTileBytes + kSharedColumn * kColumnBytes, kBias + kBiasBytes - kColumnBytes, 1);
  };
  return k.finish(t);
}

Program add_mask(isa::Arch arch, const Shape& s, u64 blocks) {
  constexpr u64 kMaskBytes = kTileWindows * kScoreBytes, kMasks = 2 * kTileBytes, kShared = kMasks + 2 * kMaskBytes,
                kTrash = kShared + 2 * kColumnBytes, kTilesOfImage = kWindowsOfImage / kTileWindows;
  // A core keeps its masks where all its tiles are the same windows of an image.
  const bool kept = blocks % kTilesOfImage == 0;
  Kernel k("add_mask", arch);
  const auto masks_at = [=](u32 slot) { return kMasks + (kept ? 0 : slot) * kMaskBytes; };
  const auto load_masks = [&](ProgramBuilder& p, u32 slot) {
    p.rem(k.more_at, p.x(0), kTilesOfImage);
    k.tile_at(k.more_at, k.args[1], kMaskBytes, k.more_at);
    k.load(masks_at(slot), k.more_at, 1, kMaskBytes / kBlock);
  };
  gen::TilePipeline t = scores_in_place(k, s);
  t.prologue = [&](ProgramBuilder& p) {
    k.load_args(2);
    seven_blocks(p);
    if (kept) load_masks(p, 0);
  };
  t.load = [&, load = t.load](ProgramBuilder& p, u32 slot) {
    load(p, slot);
    if (!kept) load_masks(p, slot);
  };
  t.compute = [&](ProgramBuilder& p, u32 slot) {
    const auto mask = [&](u64 pair, u64 part) {
      return masks_at(slot) + pair / kHeads * kScoreBytes + part * kPaddedColumn;
    };
    const u64 shared = kShared + slot * kColumnBytes;
    share_column(p, shared, kTrash, [&](u64 pair) { return mask(pair, kWholeTiles); });
    for (u64 column = 0; column < kSharedColumn; ++column)
      add_rows(p, slot * kTileBytes + column * kColumnBytes, mask(column % kTilePairs, column / kTilePairs), 1);
    fence(p);
    add_rows(p, slot * kTileBytes + kSharedColumn * kColumnBytes, shared, 1);
  };
  return k.finish(t);
}

Program dropout(isa::Arch arch, const Shape& s) {
  Kernel k("dropout", arch);
  gen::TilePipeline t = scores_in_place(k, s);
  t.compute = [](ProgramBuilder& p, u32 slot) {
    constexpr u64 kWhole = kTileBytes / 256 * 256, kRest = (kTileBytes - kWhole) / kBlock;
    static_assert(kRest == 5);
    const u64 rest = slot * kTileBytes + kWhole;
    multiply_by(p, slot * kTileBytes, kWhole, 0x3c00);
    lanes(p, kRest * 16);
    p.vmuls(Type::f16, rest, rest, isa::f16(1), 1, 1, 1, 8, 8);
    lanes(p, 128);
  };
  return k.finish(t);
}

Program weighted_sum(isa::Arch arch, const Shape& s) {
  constexpr u64 kV = kTileColumns * kPaddedColumn;  // in L1 behind P
  constexpr u64 kPairOut = kHalves * kPaddedColumn, kLast = kTokens - 1, kLastBytes = kLast * kBlock;
  static constexpr u64 kStage = 2 * kTileOutBytes;
  Kernel k("weighted_sum", arch);
  ProgramBuilder& p = k.p;
  Products x{.tiles = s.tiles(), .l1_slot = kV + kTilePartBytes + kSlack, .args = 3};
  x.load = [&](u64 l1, Reg tile) {
    k.tile_at(k.at, k.args[0], kTileBytes, tile);
    p.copy_gm_to_cbuf(l1, k.at, 0, kTileColumns, kTokens, 0, kPadding);
    k.tile_at(k.at, k.args[1], 3 * kTilePartBytes, tile);
    p.copy_gm_to_cbuf(l1 + kV, k.at, 0, 1, kTilePartBytes / kBlock, 0, 0);
  };
  // Row 48 + pair of A is query 48 of the pair.
  x.fetch = [&](u64 pair, u64 l0, u64 l1) {
    for (u64 t = 0; t <= kWholeTiles; ++t)
      p.load_cbuf_to_ca(l0 + t * kPaddedColumn,
                        l1 + (t < kWholeTiles ? t * kTilePairs + pair : kSharedColumn) * kPaddedColumn, 0, 4, 1, 0, 1);
    for (u64 k1 = 0; k1 < 4; ++k1)
      for (u64 half = 0; half < kHalves; ++half)
        p.load_cbuf_to_cb(l0 + (k1 * kHalves + half) * 512, l1 + kV + plane_at(pair, half), k1, 1, 1, 0, 1);
  };
  x.multiply = [&](u64 pair, u64 l0, u64 l0c) {
    p.mad(Type::f162f16, l0c + pair * kPairOut, l0, l0, 64, kTokens, kDepth, 1);
  };
  x.take = [&](u64 l0c, u32 slot) {
    const u64 to = slot * kTileOutBytes;
    p.copy_matrix_cc_to_ubuf(Type::f16, kStage, l0c, 0, 1, kTilePairs * kHalves * 4, 0, 0, 0);
    fence(p);
    k.move(to, kStage, kTilePlanes, kLast, kPadded - kLast, 1);
    for (u64 half = 0; half < kHalves; ++half)  // of each pair one row further down
      k.move(to + half * kPlaneBytes + kLastBytes, kStage + half * kPaddedColumn + kLastBytes, kTilePairs, 1,
             kHalves * kPadded, kHalves * kTokens - 1);
  };
  x.store = [&](u32 slot, Reg tile) {
    k.tile_at(k.at, k.args[2], kTileOutBytes, tile);
    k.store(k.at, slot * kTileOutBytes, 1, kTileOutBytes / kBlock);
  };
  return products(k, x);
}

Program merge_heads(isa::Arch arch, const Shape& s) {
  constexpr u64 kOut = 2 * kTileOutBytes;
  Kernel k("merge_heads", arch);
  gen::TilePipeline t{.tiles = s.tiles()};
  t.prologue = [&](ProgramBuilder&) { k.load_args(2); };
  t.locate = [&](ProgramBuilder&, Reg tile) {
    k.tile_at(k.at, k.args[0], kTileOutBytes, tile);
    k.tile_at(k.out_at, k.args[1], kTileOutBytes, tile);
  };
  t.load = [&](ProgramBuilder&, u32 slot) { k.load(slot * kTileOutBytes, k.at, 1, kTileOutBytes / kBlock); };
  t.compute = [&](ProgramBuilder&, u32 slot) {
    for (u64 i = 0; i < kTilePlanes; ++i) {
      const u64 window = slot * kTileOutBytes + i / kPartPlanes * kPartBytes, plane = i % kPartPlanes;
      k.move(kOut + window + plane * kBlock, window + plane * kPlaneBytes, kTokens, 1, 0, kPartPlanes - 1);
    }
  };
  t.store = [&](ProgramBuilder&, u32 slot) {
    k.store(k.out_at, kOut + slot * kTileOutBytes, 1, kTileOutBytes / kBlock);
  };
  return k.finish(t);
}

}  // namespace vinci::studies::swin
