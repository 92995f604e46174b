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

// A tile that lies in memory as in UB, `step` bytes from one to the next, changed in place.
gen::TilePipeline in_place(u64 tiles, u64 bytes, u64 step) {
  gen::TilePipeline p{.tiles = tiles, .in_place = true, .prologue = args(1), .locate = tile_at(10, 3, step)};
  p.load = [=](u32 slot) { return copy("gm_to_ubuf", number(slot * bytes), "X10", 1, bytes / kBlock); };
  p.store = [=](u32 slot) { return copy("ubuf_to_gm", "X10", number(slot * bytes), 1, bytes / kBlock); };
  return p;
}
gen::TilePipeline scores_in_place(const Shape& s) { return in_place(s.tiles(), kTileBytes, kTileBytes); }
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

// Products of a tile on the cube: to L1, L0C and UB in two slots each, and to memory. The scalar unit issues in order
// and stops where a queue is full, so the load of the next tile comes first.
struct Products {
  u64 tiles = 0, rounds = 1;                                     // L0A and L0B are filled once for each round
  u64 l1_slot = 0;                                               // bytes
  u32 args = 0;                                                  // in X3 and on
  std::function<std::string(u64 l1, u32 tile)> load = {};        // MTE2; the tile is in X<tile>
  std::function<std::string(u64 l1, u64 round)> fetch = {};      // MTE1
  std::function<std::string(u64 l0c, u64 round)> multiply = {};  // M
  std::function<std::string(u64 l0c, u32 slot)> take = {};       // V
  std::function<std::string(u32 slot)> store = {};               // MTE3
};
constexpr u64 kL0cSlot = kTilePairs * kScoreBytes;

std::string products(const Products& p) {
  const auto all = [&](std::string_view what) {
    std::string s = flag(what, "PIPE_M", "PIPE_MTE1", 0);
    for (u64 slot = 0; slot < 2; ++slot)
      s += flag(what, "PIPE_MTE1", "PIPE_MTE2", slot) + flag(what, "PIPE_V", "PIPE_M", slot) +
           flag(what, "PIPE_MTE3", "PIPE_V", slot);
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
    for (u64 round = 0; round < p.rounds; ++round) {
      s += wait("PIPE_M", "PIPE_MTE1", 0) + p.fetch(slot * p.l1_slot, round);
      if (round + 1 == p.rounds) s += set("PIPE_MTE1", "PIPE_MTE2", slot);
      s += set("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_MTE1", "PIPE_M", 0);
      if (round == 0) s += wait("PIPE_V", "PIPE_M", slot);
      s += p.multiply(slot * kL0cSlot, round) + set("PIPE_M", "PIPE_MTE1", 0);
    }
    s += set("PIPE_M", "PIPE_V", slot) + wait("PIPE_M", "PIPE_V", slot) + wait("PIPE_MTE3", "PIPE_V", slot);
    s += p.take(slot * kL0cSlot, slot) + set("PIPE_V", "PIPE_M", slot);
    s += set("PIPE_V", "PIPE_MTE3", slot) + wait("PIPE_V", "PIPE_MTE3", slot) + p.store(slot);
    s += set("PIPE_MTE3", "PIPE_V", slot) + "  mov X0, X2\n";
  }
  return s + "  b loop\nfinish:\n" + all("wait_flag") + "  pipe_barrier PIPE_ALL\n  end\n";
}

}  // namespace

std::string permute(const Shape& s) {
  constexpr u64 kBytes = kTokens * kRowBytes, kOut = 2 * kBytes;
  gen::TilePipeline p{.tiles = s.windows, .prologue = args(2), .locate = tile_at(10, 3, kBytes)};
  p.locate += fmt::format("  div X11, X0, {0}\n  rem X12, X0, {0}\n", kTileWindows) +
              tile_at(11, 4, 3 * kTilePartBytes, 11) + tile_at(12, 11, kPartBytes, 12);
  p.load = [](u32 slot) { return copy("gm_to_ubuf", number(slot * kBytes), "X10", 1, kBytes / kBlock); };
  p.compute = [](u32 slot) {
    std::string out;
    for (u64 plane = 0; plane < kPlanes; ++plane)
      out += copy("ubuf_to_ubuf", number(kOut + slot * kBytes + plane * kPlaneBytes),
                  number(slot * kBytes + plane * kBlock), kTokens, 1, kPlanes - 1, 0);
    return out;
  };
  p.store = [](u32 slot) {
    return copy("ubuf_to_gm", "X12", number(kOut + slot * kBytes), 3, kPartBytes / kBlock, 0,
                (kTilePartBytes - kPartBytes) / kBlock);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string scale_q(const Shape& s, u32 factor) {
  gen::TilePipeline p = in_place(s.tiles(), kTilePartBytes, 3 * kTilePartBytes);
  p.compute = [=](u32 slot) { return multiply_by(slot * kTilePartBytes, kTilePartBytes, factor); };
  return gen::tile_pipeline_assembly(p);
}

std::string scores(const Shape& s) {
  constexpr u64 kK = kTilePlanes * kPaddedColumn;  // in L1 behind q
  constexpr u64 kSlot = kTileColumns * kPaddedColumn, kLast = 2 * kSlot, kTrash = kLast + kTilePairs * kPaddedColumn;
  Products p{.tiles = s.tiles(), .l1_slot = 2 * kK, .args = 2};
  p.load = [](u64 l1, u32 tile) {
    return tile_at(10, 3, 3 * kTilePartBytes, tile) +
           copy("gm_to_cbuf", number(l1), "X10", 2 * kTilePlanes, kTokens, 0, kPadding);
  };
  // A = k, B = q
  p.fetch = [](u64 l1, u64) {
    std::string out;
    for (u64 pair = 0; pair < kTilePairs; ++pair) {
      const u64 q = l1 + pair * kPairBytes;
      for (u64 m1 = 0; m1 < 4; ++m1)
        out += fmt::format("  load_cbuf_to_ca {}, {}, {}, {}, 4, 0, 0\n", pair * kPairBytes + m1 * kHalves * 512,
                           q + kK, m1, kHalves);
      out += fmt::format("  load_cbuf_to_cb {}, {}, 0, {}, 1, 0, 0\n", pair * kPairBytes, q, 4 * kHalves);
    }
    return out;
  };
  p.multiply = [](u64 l0c, u64) {
    std::string out;
    for (u64 pair = 0; pair < kTilePairs; ++pair)
      out += fmt::format("  mad.f162f16 {}, {}, {}, 64, {}, 64, 1\n", l0c + pair * kScoreBytes, pair * kPairBytes,
                         pair * kPairBytes, kDepth);
    return out;
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
  // Of a key: four fractals from 0 on, then blocks [query / 16][head], query 48 of all heads, and what nobody needs.
  constexpr u64 kOut = 4 * 512, kShared = kOut + 4 * kHeads * kBlock, kRest = kShared + kBlock;
  std::array<u64, 16> from{}, to{}, last{}, shared{};
  for (u64 i = 0; i < 16; ++i) {
    from[i] = i * kBlock;
    to[i] = i < kHeads ? kOut + i * kBlock : kRest;
    last[i] = kOut + (kWholeTiles * kHeads + i % kHeads) * kBlock;
    shared[i] = i == 0 ? kShared : kRest;
  }
  std::string s = args(2) + table_map();
  s += copy("gm_to_cbuf", "0", "X3", 1, kTableEdge * kTableEdge) + "  pipe_barrier PIPE_ALL\n";
  s += "  get_block_idx X0\n  get_block_num X1\nloop:\n";
  s += fmt::format("  bge X0, {}, finish\n  div X6, X0, 7\n  rem X5, X0, 7\n  sub X5, 6, X5\n  sub X6, 6, X6\n",
                   kTokens);
  s += fetch_bias(0, 0, "X5", "X6") + set("PIPE_MTE1", "PIPE_V", 0) + wait("PIPE_MTE1", "PIPE_V", 0);
  s += va_registers(0, to) + va_registers(2, from) + fmt::format("  scatter_vnchwconv_b16 0, 2, 4, {}, 16\n", kHeads);
  s +=
      std::string(kFence) + va_registers(4, shared) + va_registers(6, last) + "  scatter_vnchwconv_b16 4, 6, 1, 0, 0\n";
  s += set("PIPE_V", "PIPE_MTE3", 0) + wait("PIPE_V", "PIPE_MTE3", 0);
  s += tile_at(7, 4, kBlock) + copy("ubuf_to_gm", "X7", number(kOut), kWholeTiles * kHeads, 1, 0, kTokens - 1);
  s += fmt::format("  add X7, X7, {}\n", kWholeTiles * kHeads * kColumnBytes) +
       copy("ubuf_to_gm", "X7", number(kShared), 1, 1);
  return s + "  pipe_barrier PIPE_ALL\n  add X0, X0, X1\n  b loop\nfinish:\n  end\n";
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
  constexpr u64 kRoundPairs = kTilePairs / 2, kPairOut = kHalves * kPaddedColumn;
  static constexpr u64 kStage = 2 * kTilePartBytes;
  Products p{.tiles = s.tiles(), .rounds = 2, .l1_slot = kV + kTilePlanes * kPaddedColumn, .args = 3};
  p.load = [](u64 l1, u32 tile) {
    return tile_at(10, 3, kTileBytes, tile) +
           copy("gm_to_cbuf", number(l1), "X10", kTileColumns, kTokens, 0, kPadding) +
           tile_at(10, 4, 3 * kTilePartBytes, tile) +
           copy("gm_to_cbuf", number(l1 + kV), "X10", kTilePlanes, kTokens, 0, kPadding);
  };
  // Row 48 + pair of A is query 48 of the pair.
  p.fetch = [](u64 l1, u64 round) {
    std::string out;
    for (u64 i = 0; i < kRoundPairs; ++i) {
      const u64 pair = round * kRoundPairs + i;
      for (u64 t = 0; t <= kWholeTiles; ++t)
        out += fmt::format("  load_cbuf_to_ca {}, {}, 0, 4, 1, 0, 1\n", (i * 4 + t) * 2048,
                           l1 + (t < kWholeTiles ? t * kTilePairs + pair : kSharedColumn) * kPaddedColumn);
      for (u64 k1 = 0; k1 < 4; ++k1)
        out += fmt::format("  load_cbuf_to_cb {}, {}, {}, {}, 4, 0, 1\n", (i * 4 + k1) * kHalves * 512,
                           l1 + kV + pair * kPairBytes, k1, kHalves);
    }
    return out;
  };
  p.multiply = [](u64 l0c, u64 round) {
    std::string out;
    for (u64 i = 0; i < kRoundPairs; ++i)
      out += fmt::format("  mad.f162f32 {}, {}, {}, 64, {}, {}, 1\n", l0c + (round * kRoundPairs + i) * 2 * kPairOut,
                         i * kScoreBytes, i * 4 * kHalves * 512, kTokens, kDepth);
    return out;
  };
  p.take = [](u64 l0c, u32 slot) {
    std::string out =
        fmt::format("  copy_matrix_cc_to_ubuf.f32 {}, {}, 0, 1, {}, 0, 0, 1\n", kStage, l0c, kTilePairs * kHalves * 4) +
        std::string(kFence);
    constexpr u64 kLast = kTokens - 1, kLastBytes = kLast * kBlock;
    out += copy("ubuf_to_ubuf", number(slot * kTilePartBytes), number(kStage), kTilePlanes, kLast, kPadded - kLast, 1);
    for (u64 half = 0; half < kHalves; ++half)  // of each pair one row further down
      out += copy("ubuf_to_ubuf", number(slot * kTilePartBytes + half * kPlaneBytes + kLastBytes),
                  number(kStage + half * kPaddedColumn + kLastBytes), kTilePairs, 1, kHalves * kPadded,
                  kHalves * kTokens - 1);
    return out;
  };
  p.store = [](u32 slot) {
    return tile_at(10, 5, kTilePartBytes) +
           copy("ubuf_to_gm", "X10", number(slot * kTilePartBytes), 1, kTilePartBytes / kBlock);
  };
  return products(p);
}

std::string merge_heads(const Shape& s) {
  constexpr u64 kOut = 2 * kTilePartBytes;
  gen::TilePipeline p{.tiles = s.tiles(),
                      .prologue = args(2),
                      .locate = tile_at(10, 3, kTilePartBytes) + tile_at(11, 4, kTilePartBytes)};
  p.load = [](u32 slot) {
    return copy("gm_to_ubuf", number(slot * kTilePartBytes), "X10", 1, kTilePartBytes / kBlock);
  };
  p.compute = [](u32 slot) {
    std::string out;
    for (u64 i = 0; i < kTilePlanes; ++i) {
      const u64 window = slot * kTilePartBytes + i / kPartPlanes * kPartBytes, plane = i % kPartPlanes;
      out += copy("ubuf_to_ubuf", number(kOut + window + plane * kBlock), number(window + plane * kPlaneBytes), kTokens,
                  1, 0, kPartPlanes - 1);
    }
    return out;
  };
  p.store = [](u32 slot) {
    return copy("ubuf_to_gm", "X11", number(kOut + slot * kTilePartBytes), 1, kTilePartBytes / kBlock);
  };
  return gen::tile_pipeline_assembly(p);
}

}  // namespace vinci::studies::swin
