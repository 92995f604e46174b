// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/swin_kernels.h"

#include <functional>

#include "tools/gen/tile_pipeline.h"
#include "tools/studies/swin_parts.h"

namespace vinci::studies::swin {
namespace {

constexpr u64 kTilePairs = kTileWindows * kHeads, kPlanes = kRowBytes / kBlock, kPartPlanes = kPlanes / 3;
constexpr u64 kTilePlanes = kTileWindows * kPartPlanes, kPadding = kPadded - kTokens;
constexpr u64 kSharedColumn = kTileColumns - 1;
constexpr u64 kWholeTiles = kPadded / 16 - 1;  // tiles of 16 queries that are full; the last holds query 48 alone

std::string args(u32 count) {
  std::string s;
  for (u32 i = 0; i < count; ++i)
    s += fmt::format("  ld_arg X{}, {}\n", 3 + i, i);
  return s;
}

// X<to>: where tile X<tile> of `bytes` is in the buffer at X<buffer>.
std::string tile_at(u32 to, u32 buffer, u64 bytes, u32 tile = 0) {
  return fmt::format("  mul X{0}, X{3}, {2}\n  add X{0}, X{0}, X{1}\n", to, buffer, bytes, tile);
}

std::string copy(std::string_view way, std::string_view to, std::string_view from, u64 bursts, u64 blocks,
                 u64 from_gap = 0, u64 to_gap = 0) {
  return fmt::format("  copy_{} {}, {}, 0, {}, {}, {}, {}\n", way, to, from, bursts, blocks, from_gap, to_gap);
}
std::string number(u64 v) { return fmt::format("{}", v); }

// Tiles of bursts, changed in place: in UB one behind the other, in memory with a gap after each, `step` bytes from
// tile to tile.
gen::TilePipeline in_place(u64 tiles, u64 step, u64 bursts, u64 bytes, u64 gap) {
  gen::TilePipeline p{.tiles = tiles, .in_place = true, .prologue = args(1), .locate = tile_at(10, 3, step)};
  const u64 blocks = bytes / kBlock, gap_blocks = gap / kBlock;
  p.load = [=](u32 slot) {
    return copy("gm_to_ubuf", number(slot * bursts * bytes), "X10", bursts, blocks, gap_blocks);
  };
  p.store = [=](u32 slot) {
    return copy("ubuf_to_gm", "X10", number(slot * bursts * bytes), bursts, blocks, 0, gap_blocks);
  };
  return p;
}
gen::TilePipeline scores_in_place(const Shape& s) { return in_place(s.tiles(), kTileBytes, 1, kTileBytes, 0); }
std::string multiply_by(u64 at, u64 bytes, u32 factor) {
  return in_repeats(bytes / 256, [&](u64 first, u64 n) {
    return fmt::format("  vmuls.f16 {0}, {0}, {1}, {2}, 1, 1, 8, 8\n", at + first * 256, factor, n);
  });
}

// Lanes of 7 blocks: 49 rows are 7 repeats of them.
constexpr std::string_view kSevenBlocks = "  set_vector_mask 0xffffffffffff, 0xffffffffffffffff\n";
std::string add_rows(u64 to, u64 what, u64 columns) {
  return fmt::format("  vadd.f16 {0}, {0}, {1}, {2}, 1, 1, 1, 7, 7, 7\n", to, what, columns * kTokens / 7);
}

// Query 48 of every pair, in the first lane of a block, becomes lane `pair` of one block, for each key.
std::string share_column(u64 to, u64 trash, const std::function<u64(u64 pair)>& column_of) {
  std::array<u64, 16> from{}, dst{};
  for (u64 i = 0; i < 16; ++i) {
    from[i] = column_of(i % kTilePairs);
    dst[i] = i == 0 ? to : trash;
  }
  return va_registers(0, dst) + va_registers(2, from) +
         fmt::format("  scatter_vnchwconv_b16 0, 2, {}, 1, 1\n", kTokens);
}

// Products of a tile on the cube: to L1, L0C and UB in two slots each, and to memory. Rounds take a few pairs each to
// one half of L0A and L0B and the other in turn. The scalar unit issues in order and stops where a queue is full, so
// the load of the next tile comes first.
struct Products {
  u64 tiles = 0;
  u64 l1_slot = 0;                                                      // bytes
  u32 args = 0;                                                         // in X3 and on
  std::function<std::string(u64 l1, u32 tile)> load = {};               // MTE2; the tile is in X<tile>
  std::function<std::string(u64 pair, u64 l0, u64 l1)> fetch = {};      // MTE1
  std::function<std::string(u64 pair, u64 l0, u64 l0c)> multiply = {};  // M, f16
  std::function<std::string(u64 l0c, u32 slot)> take = {};              // V
  std::function<std::string(u32 slot)> store = {};                      // MTE3
};
constexpr u64 kRounds = 4, kL0cSlot = kTilePairs * kScoreBytes, kL0Half = 32 * 1024;

std::string products(const Products& p) {
  const auto all = [&](std::string_view what) {
    std::string s;
    for (u64 slot = 0; slot < 2; ++slot)
      s += flag(what, "PIPE_M", "PIPE_MTE1", slot) + flag(what, "PIPE_MTE1", "PIPE_MTE2", slot) +
           flag(what, "PIPE_V", "PIPE_M", slot) + flag(what, "PIPE_MTE3", "PIPE_V", slot);
    return s;
  };
  const auto load = [&](u32 slot, u32 tile) {
    return wait("PIPE_MTE1", "PIPE_MTE2", slot) + p.load(slot * p.l1_slot, tile) + set("PIPE_MTE2", "PIPE_MTE1", slot);
  };
  std::string s = args(p.args) + "  get_block_idx X0\n  get_block_num X1\n" + all("set_flag");
  s += fmt::format("  bge X0, {}, finish\n", p.tiles) + load(0, 0) + "loop:\n";
  for (u32 slot = 0; slot < 2; ++slot) {
    s += fmt::format("  bge X0, {0}, finish\n  add X2, X0, X1\n  bge X2, {0}, last_{1}\n", p.tiles, slot);
    s += load(1 - slot, 2) + fmt::format("last_{}:\n", slot) + wait("PIPE_MTE2", "PIPE_MTE1", slot);
    for (u64 round = 0; round < kRounds; ++round) {
      const u64 pairs = kTilePairs / kRounds, l0 = round % 2;
      s += wait("PIPE_M", "PIPE_MTE1", l0);
      for (u64 i = 0; i < pairs; ++i)
        s += p.fetch(round * pairs + i, l0 * kL0Half + i * kL0Half / pairs / 512 * 512, slot * p.l1_slot);
      if (round + 1 == kRounds) s += set("PIPE_MTE1", "PIPE_MTE2", slot);
      s += set("PIPE_MTE1", "PIPE_M", l0) + wait("PIPE_MTE1", "PIPE_M", l0);
      if (round == 0) s += wait("PIPE_V", "PIPE_M", slot);
      for (u64 i = 0; i < pairs; ++i)
        s += p.multiply(round * pairs + i, l0 * kL0Half + i * kL0Half / pairs / 512 * 512, slot * kL0cSlot);
      s += set("PIPE_M", "PIPE_MTE1", l0);
    }
    s += set("PIPE_M", "PIPE_V", slot) + wait("PIPE_M", "PIPE_V", slot) + wait("PIPE_MTE3", "PIPE_V", slot);
    s += p.take(slot * kL0cSlot, slot) + set("PIPE_V", "PIPE_M", slot);
    s += set("PIPE_V", "PIPE_MTE3", slot) + wait("PIPE_V", "PIPE_MTE3", slot) + p.store(slot);
    s += set("PIPE_MTE3", "PIPE_V", slot) + "  mov X0, X2\n";
  }
  return s + "  b loop\nfinish:\n" + all("wait_flag") + "  pipe_barrier PIPE_ALL\n  end\n";
}

// Where one half of the channels of a pair is in q, k or v of a tile. Fractals of its last tokens reach into what
// follows, at the end into kSlack bytes more; nothing depends on them.
u64 plane_at(u64 pair, u64 half) { return pair / kHeads * kPartStep + (pair % kHeads * kHalves + half) * kPlaneBytes; }
constexpr u64 kSlack = 512;

}  // namespace

std::string permute(const Shape& s) {
  constexpr u64 kWindows = 2, kWindowBytes = kTokens * kRowBytes, kBytes = kWindows * kWindowBytes;
  constexpr u64 kPart = kWindows * kPartStep, kOut = 2 * kBytes, kOutSlot = 3 * kPart;
  constexpr u64 kStaggerTurns = 220;  // about half a load
  static_assert(kTileWindows % kWindows == 0);
  gen::TilePipeline p{.tiles = s.windows / kWindows, .prologue = args(2), .locate = tile_at(10, 3, kBytes)};
  p.locate += fmt::format("  div X11, X0, {0}\n  rem X12, X0, {0}\n", kTileWindows / kWindows) +
              tile_at(11, 4, 3 * kTilePartBytes, 11) + tile_at(12, 11, kPart, 12);
  p.prologue += stagger(kStaggerTurns);
  p.load = [](u32 slot) { return copy("gm_to_ubuf", number(slot * kBytes), "X10", 1, kBytes / kBlock); };
  p.compute = [](u32 slot) {
    constexpr u64 kGapBlocks = (kPartStep - kPartBytes) / kBlock;  // zeros between the windows
    std::string out = lanes(kGapBlocks / 2 * 16);
    for (u64 i = 0; i < 3 * kWindows; ++i)
      out += fmt::format("  vector_dup.f16 {}, 0, 2, 1, 1, {}, 8\n",
                         kOut + slot * kOutSlot + i * kPartStep + kPartBytes, kGapBlocks / 2);
    out += lanes(128);
    for (u64 i = 0; i < kWindows * kPlanes; ++i) {
      const u64 window = i / kPlanes, plane = i % kPlanes;
      out += copy("ubuf_to_ubuf",
                  number(kOut + slot * kOutSlot + plane / kPartPlanes * kPart + window * kPartStep +
                         plane % kPartPlanes * kPlaneBytes),
                  number(slot * kBytes + window * kWindowBytes + plane * kBlock), kTokens, 1, kPlanes - 1, 0);
    }
    return out;
  };
  p.store = [](u32 slot) {
    return copy("ubuf_to_gm", "X12", number(kOut + slot * kOutSlot), 3, kPart / kBlock, 0,
                (kTilePartBytes - kPart) / kBlock);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string scale_q(const Shape& s, u32 factor) {
  gen::TilePipeline p = in_place(s.tiles(), 3 * kTilePartBytes, kTileWindows, kPartBytes, kPartStep - kPartBytes);
  p.compute = [=](u32 slot) { return multiply_by(slot * kTileOutBytes, kTileOutBytes, factor); };
  return gen::tile_pipeline_assembly(p);
}

std::string scores(const Shape& s) {
  constexpr u64 kSlot = kTileColumns * kPaddedColumn, kLast = 2 * kSlot, kTrash = kLast + kTilePairs * kPaddedColumn;
  Products p{.tiles = s.tiles(), .l1_slot = 2 * kTilePartBytes + kSlack, .args = 2};
  p.load = [](u64 l1, u32 tile) {
    return tile_at(10, 3, 3 * kTilePartBytes, tile) +
           copy("gm_to_cbuf", number(l1), "X10", 1, 2 * kTilePartBytes / kBlock);
  };
  // A = k, B = q
  p.fetch = [](u64 pair, u64 l0, u64 l1) {
    std::string out;
    for (u64 half = 0; half < kHalves; ++half) {
      const u64 q = l1 + plane_at(pair, half);
      for (u64 m1 = 0; m1 < 4; ++m1)
        out += fmt::format("  load_cbuf_to_ca {}, {}, {}, 1, 1, 0, 0\n", l0 + (m1 * kHalves + half) * 512,
                           q + kTilePartBytes, m1);
      out += fmt::format("  load_cbuf_to_cb {}, {}, 0, 4, 1, 0, 0\n", l0 + half * 4 * 512, q);
    }
    return out;
  };
  p.multiply = [](u64 pair, u64 l0, u64 l0c) {
    return fmt::format("  mad.f162f16 {0}, {1}, {1}, 64, {2}, 64, 1\n", l0c + pair * kScoreBytes, l0, kDepth);
  };
  p.take = [](u64 l0c, u32 slot) {
    std::string out;
    for (u64 t = 0; t <= kWholeTiles; ++t)
      out += fmt::format("  copy_matrix_cc_to_ubuf.f16 {}, {}, 0, {}, 4, 12, 0, 0\n",
                         t < kWholeTiles ? slot * kSlot + t * kTilePairs * kPaddedColumn : kLast,
                         l0c + t * kPaddedColumn, kTilePairs);
    return out + std::string(kFence) + share_column(slot * kSlot + kSharedColumn * kPaddedColumn, kTrash, [](u64 pair) {
             return kLast + pair * kPaddedColumn;
           });
  };
  p.store = [](u32 slot) {
    return tile_at(10, 4, kTileBytes) +
           copy("ubuf_to_gm", "X10", number(slot * kSlot), kTileColumns, kTokens, kPadding, 0);
  };
  return products(p);
}

std::string gather_bias() {
  // Of a key: four fractals, then blocks [query / 16][head] and query 48 of all heads, the same apart, and what nobody
  // needs.
  constexpr u64 kWhole = kWholeTiles * kHeads, kOut = 4 * 512, kLast = kOut + (kWhole + 1) * kBlock,
                kRest = kLast + kHeads * kBlock, kSlot = 8 * 512;
  gen::TilePipeline p{
      .tiles = kTokens,
      .load_pipe = "PIPE_MTE1",
      .prologue = args(2) + table_map(),
      .locate = "  div X6, X0, 7\n  rem X5, X0, 7\n  sub X5, 6, X5\n  sub X6, 6, X6\n" + tile_at(7, 4, kBlock)};
  p.prologue += copy("gm_to_cbuf", "0", "X3", 1, kTableEdge * kTableEdge) + set("PIPE_MTE2", "PIPE_MTE1", 0) +
                wait("PIPE_MTE2", "PIPE_MTE1", 0);
  p.load = [](u32 slot) { return fetch_bias(slot * kSlot, 0, "X5", "X6"); };
  p.compute = [](u32 slot) {
    std::array<u64, 16> from{}, to{}, from_last{}, last{}, spread{}, shared{};
    const u64 at = slot * kSlot;
    for (u64 i = 0; i < 16; ++i) {
      from[i] = at + i * kBlock;
      to[i] = at + (i < kHeads ? kOut + i * kBlock : kRest);
      from_last[i] = from[i] + kWholeTiles * 512;
      last[i] = at + (i < kHeads ? kLast + i * kBlock : kRest + kBlock);
      spread[i] = at + kLast + i % kHeads * kBlock;
      shared[i] = at + (i == 0 ? kOut + kWhole * kBlock : kRest);
    }
    return va_registers(0, to) + va_registers(2, from) +
           fmt::format("  scatter_vnchwconv_b16 0, 2, {}, {}, 16\n", kWholeTiles, kHeads) + va_registers(4, last) +
           va_registers(6, from_last) + "  scatter_vnchwconv_b16 4, 6, 1, 0, 0\n" + std::string(kFence) +
           va_registers(0, shared) + va_registers(2, spread) + "  scatter_vnchwconv_b16 0, 2, 1, 0, 0\n";
  };
  p.store = [](u32 slot) {
    return copy("ubuf_to_gm", "X7", number(slot * kSlot + kOut), kWhole + 1, 1, 0, kTokens - 1);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string add_bias(const Shape& s) {
  constexpr u64 kBias = 2 * kTileBytes;
  gen::TilePipeline p = scores_in_place(s);
  p.prologue += "  ld_arg X4, 1\n" + copy("gm_to_ubuf", number(kBias), "X4", 1, kBiasBytes / kBlock) +
                "  pipe_barrier PIPE_ALL\n" + std::string(kSevenBlocks);
  p.compute = [](u32 slot) {
    std::string out;
    for (u64 column = 0; column < kSharedColumn; column += kHeads)
      out += add_rows(slot * kTileBytes + column * kColumnBytes, kBias + column / kTilePairs * kHeads * kColumnBytes,
                      kHeads);
    return out + add_rows(slot * kTileBytes + kSharedColumn * kColumnBytes, kBias + kBiasBytes - kColumnBytes, 1);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string add_mask(const Shape& s, u64 blocks) {
  constexpr u64 kMaskBytes = kTileWindows * kScoreBytes, kMasks = 2 * kTileBytes, kShared = kMasks + 2 * kMaskBytes,
                kTrash = kShared + 2 * kColumnBytes, kTilesOfImage = kWindowsOfImage / kTileWindows;
  // A core keeps its masks where all its tiles are the same windows of an image.
  const bool kept = blocks % kTilesOfImage == 0;
  const auto masks_at = [=](u32 slot) { return kMasks + (kept ? 0 : slot) * kMaskBytes; };
  const auto load_masks = [=](u32 slot) {
    return fmt::format("  rem X12, X0, {}\n", kTilesOfImage) + tile_at(12, 4, kMaskBytes, 12) +
           copy("gm_to_ubuf", number(masks_at(slot)), "X12", 1, kMaskBytes / kBlock);
  };
  gen::TilePipeline p = scores_in_place(s);
  p.prologue += "  ld_arg X4, 1\n" + std::string(kSevenBlocks) + (kept ? load_masks(0) : "");
  p.load = [=, load = p.load](u32 slot) { return load(slot) + (kept ? "" : load_masks(slot)); };
  p.compute = [=](u32 slot) {
    const auto mask = [&](u64 pair, u64 t) { return masks_at(slot) + pair / kHeads * kScoreBytes + t * kPaddedColumn; };
    const u64 shared = kShared + slot * kColumnBytes;
    std::string out = share_column(shared, kTrash, [&](u64 pair) { return mask(pair, kWholeTiles); });
    for (u64 column = 0; column < kSharedColumn; ++column)
      out += add_rows(slot * kTileBytes + column * kColumnBytes, mask(column % kTilePairs, column / kTilePairs), 1);
    return out + std::string(kFence) + add_rows(slot * kTileBytes + kSharedColumn * kColumnBytes, shared, 1);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string dropout(const Shape& s) {
  gen::TilePipeline p = scores_in_place(s);
  p.compute = [](u32 slot) {
    constexpr u64 kWhole = kTileBytes / 256 * 256, kRest = (kTileBytes - kWhole) / kBlock;
    static_assert(kRest == 5);
    return multiply_by(slot * kTileBytes, kWhole, 0x3c00) + lanes(kRest * 16) +
           fmt::format("  vmuls.f16 {0}, {0}, 1.0h, 1, 1, 1, 8, 8\n", slot * kTileBytes + kWhole) + lanes(128);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string weighted_sum(const Shape& s) {
  constexpr u64 kV = kTileColumns * kPaddedColumn;  // in L1 behind P
  constexpr u64 kPairOut = kHalves * kPaddedColumn, kLast = kTokens - 1, kLastBytes = kLast * kBlock;
  static constexpr u64 kStage = 2 * kTileOutBytes;
  Products p{.tiles = s.tiles(), .l1_slot = kV + kTilePartBytes + kSlack, .args = 3};
  p.load = [](u64 l1, u32 tile) {
    return tile_at(10, 3, kTileBytes, tile) +
           copy("gm_to_cbuf", number(l1), "X10", kTileColumns, kTokens, 0, kPadding) +
           tile_at(10, 4, 3 * kTilePartBytes, tile) +
           copy("gm_to_cbuf", number(l1 + kV), "X10", 1, kTilePartBytes / kBlock);
  };
  // Row 48 + pair of A is query 48 of the pair.
  p.fetch = [](u64 pair, u64 l0, u64 l1) {
    std::string out;
    for (u64 t = 0; t <= kWholeTiles; ++t)
      out += fmt::format("  load_cbuf_to_ca {}, {}, 0, 4, 1, 0, 1\n", l0 + t * kPaddedColumn,
                         l1 + (t < kWholeTiles ? t * kTilePairs + pair : kSharedColumn) * kPaddedColumn);
    for (u64 k1 = 0; k1 < 4; ++k1)
      for (u64 half = 0; half < kHalves; ++half)
        out += fmt::format("  load_cbuf_to_cb {}, {}, {}, 1, 1, 0, 1\n", l0 + (k1 * kHalves + half) * 512,
                           l1 + kV + plane_at(pair, half), k1);
    return out;
  };
  p.multiply = [](u64 pair, u64 l0, u64 l0c) {
    return fmt::format("  mad.f162f16 {0}, {1}, {1}, 64, {2}, {3}, 1\n", l0c + pair * kPairOut, l0, kTokens, kDepth);
  };
  p.take = [](u64 l0c, u32 slot) {
    const u64 to = slot * kTileOutBytes;
    std::string out =
        fmt::format("  copy_matrix_cc_to_ubuf.f16 {}, {}, 0, 1, {}, 0, 0, 0\n", kStage, l0c, kTilePairs * kHalves * 4) +
        std::string(kFence);
    out += copy("ubuf_to_ubuf", number(to), number(kStage), kTilePlanes, kLast, kPadded - kLast, 1);
    for (u64 half = 0; half < kHalves; ++half)  // of each pair one row further down
      out += copy("ubuf_to_ubuf", number(to + half * kPlaneBytes + kLastBytes),
                  number(kStage + half * kPaddedColumn + kLastBytes), kTilePairs, 1, kHalves * kPadded,
                  kHalves * kTokens - 1);
    return out;
  };
  p.store = [](u32 slot) {
    return tile_at(10, 5, kTileOutBytes) +
           copy("ubuf_to_gm", "X10", number(slot * kTileOutBytes), 1, kTileOutBytes / kBlock);
  };
  return products(p);
}

std::string merge_heads(const Shape& s) {
  constexpr u64 kOut = 2 * kTileOutBytes;
  gen::TilePipeline p{
      .tiles = s.tiles(), .prologue = args(2), .locate = tile_at(10, 3, kTileOutBytes) + tile_at(11, 4, kTileOutBytes)};
  p.load = [](u32 slot) { return copy("gm_to_ubuf", number(slot * kTileOutBytes), "X10", 1, kTileOutBytes / kBlock); };
  p.compute = [](u32 slot) {
    std::string out;
    for (u64 i = 0; i < kTilePlanes; ++i) {
      const u64 window = slot * kTileOutBytes + i / kPartPlanes * kPartBytes, plane = i % kPartPlanes;
      out += copy("ubuf_to_ubuf", number(kOut + window + plane * kBlock), number(window + plane * kPlaneBytes), kTokens,
                  1, 0, kPartPlanes - 1);
    }
    return out;
  };
  p.store = [](u32 slot) {
    return copy("ubuf_to_gm", "X11", number(kOut + slot * kTileOutBytes), 1, kTileOutBytes / kBlock);
  };
  return gen::tile_pipeline_assembly(p);
}

}  // namespace vinci::studies::swin
