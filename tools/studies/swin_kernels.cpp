// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/swin_kernels.h"

#include <functional>

#include "tools/gen/tile_pipeline.h"
#include "tools/studies/swin_parts.h"

namespace vinci::studies::swin {
namespace {

constexpr u64 kHalf = kBatch * kTokens * kBlock;  // 16 channels of a batch without padding

std::string args(u32 count) {
  std::string s;
  for (u32 i = 0; i < count; ++i)
    s += fmt::format("  ld_arg X{}, {}\n", 3 + i, i);
  return s;
}

// A tile that lies in memory as in UB, changed in place.
gen::TilePipeline flat(u64 bytes, u64 tile_bytes) {
  gen::TilePipeline p{.tiles = bytes / tile_bytes,
                      .in_place = true,
                      .prologue = "  ld_arg X3, 0\n",
                      .locate = fmt::format("  mul X10, X0, {}\n  add X10, X10, X3\n", tile_bytes)};
  p.load = [=](u32 slot) {
    return fmt::format("  copy_gm_to_ubuf {}, X10, 0, 1, {}, 0, 0\n", slot * tile_bytes, tile_bytes / kBlock);
  };
  p.store = [=](u32 slot) {
    return fmt::format("  copy_ubuf_to_gm X10, {}, 0, 1, {}, 0, 0\n", slot * tile_bytes, tile_bytes / kBlock);
  };
  return p;
}

constexpr u64 kScoreTile = 4 * kScoreBytes;

// X11: of the tile X0 of a batch, its first token; X12: its head.
std::string locate_batch(const Shape& s, std::string_view batch) {
  return fmt::format("  div X12, {0}, {1}\n  rem X11, {0}, {1}\n  mul X11, X11, {2}\n", batch, s.batches_of_head(),
                     kBatch * kTokens);
}

// Products of a batch on the cube: two inputs to L1 in two slots, results as f16 to UB in two slots and to memory.
struct Products {
  u64 batches = 0;
  u64 first_bytes = 0, second_bytes = 0;  // of a batch
  u64 fractals = 0;                       // of the results of a batch
  std::function<std::string(u64 pair, u64 first, u64 second)> load;
  std::function<std::string(u64 pair)> multiply;
};

std::string products(const Products& p) {
  const u64 out_bytes = p.fractals * 512, l1_slot = p.first_bytes + p.second_bytes;
  const auto all = [&](std::string_view what) {
    std::string s = flag(what, "PIPE_M", "PIPE_MTE1", 0) + flag(what, "PIPE_V", "PIPE_M", 0);
    for (u64 slot = 0; slot < 2; ++slot)
      s += flag(what, "PIPE_MTE1", "PIPE_MTE2", slot) + flag(what, "PIPE_MTE3", "PIPE_V", slot);
    return s;
  };
  std::string s = args(3) + "  get_block_idx X0\n  get_block_num X1\n" + all("set_flag") + "loop:\n";
  for (u64 slot = 0; slot < 2; ++slot) {
    const u64 first = slot * l1_slot, second = first + p.first_bytes, ub = slot * out_bytes;
    s += fmt::format("  bge X0, {}, finish\n", p.batches) + wait("PIPE_MTE1", "PIPE_MTE2", slot);
    const auto load = [&](u64 to, u32 argument, u64 bytes) {
      s += fmt::format("  mul X10, X0, {}\n  add X10, X10, X{}\n  copy_gm_to_cbuf {}, X10, 0, 1, {}, 0, 0\n", bytes,
                       argument, to, bytes / kBlock);
    };
    load(first, 3, p.first_bytes);
    load(second, 4, p.second_bytes);
    s += set("PIPE_MTE2", "PIPE_MTE1", slot) + wait("PIPE_MTE2", "PIPE_MTE1", slot) + wait("PIPE_M", "PIPE_MTE1", 0);
    for (u64 pair = 0; pair < kBatch; ++pair)
      s += p.load(pair, first + pair * p.first_bytes / kBatch, second + pair * p.second_bytes / kBatch);
    s += set("PIPE_MTE1", "PIPE_MTE2", slot) + set("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_MTE1", "PIPE_M", 0);
    s += wait("PIPE_V", "PIPE_M", 0);
    for (u64 pair = 0; pair < kBatch; ++pair)
      s += p.multiply(pair);
    s += set("PIPE_M", "PIPE_MTE1", 0) + set("PIPE_M", "PIPE_V", 0) + wait("PIPE_M", "PIPE_V", 0);
    s += wait("PIPE_MTE3", "PIPE_V", slot);
    s += fmt::format("  copy_matrix_cc_to_ubuf.f32 {}, 0, 0, 1, {}, 0, 0, 1\n", ub, p.fractals);
    s += set("PIPE_V", "PIPE_M", 0) + set("PIPE_V", "PIPE_MTE3", slot) + wait("PIPE_V", "PIPE_MTE3", slot);
    s += fmt::format("  mul X10, X0, {}\n  add X10, X10, X5\n  copy_ubuf_to_gm X10, {}, 0, 1, {}, 0, 0\n", out_bytes,
                     ub, out_bytes / kBlock);
    s += set("PIPE_MTE3", "PIPE_V", slot) + "  add X0, X0, X1\n";
  }
  return s + "  b loop\nfinish:\n" + all("wait_flag") + "  pipe_barrier PIPE_ALL\n  end\n";
}

}  // namespace

std::string permute(const Shape& s) {
  // A tile is q, k or v of a batch.
  gen::TilePipeline p{
      .tiles = 3 * s.batches(),
      .in_place = true,
      .prologue = args(2),
      .locate = fmt::format("  rem X8, X0, {0}\n  div X9, X0, {0}\n", s.batches()) + locate_batch(s, "X8") +
                fmt::format("  mul X10, X11, {}\n  mul X12, X12, {}\n  add X10, X10, X12\n  mul X9, X9, {}\n"
                            "  add X10, X10, X9\n  add X10, X10, X3\n  mul X11, X0, {}\n  add X11, X11, X4\n",
                            kRowBytes, kDepth * 2, kHeads * kDepth * 2, kBatch * kPairBytes)};
  p.load = [](u32 slot) {
    return fmt::format(
        "  copy_gm_to_ubuf {0}, X10, 0, {2}, 1, {3}, 0\n  add X10, X10, 32\n"
        "  copy_gm_to_ubuf {1}, X10, 0, {2}, 1, {3}, 0\n",
        slot * 2 * kHalf, slot * 2 * kHalf + kHalf, kBatch * kTokens, kRowBytes / kBlock - 1);
  };
  p.compute = [](u32) { return std::string(); };
  p.store = [](u32 slot) {
    return fmt::format(
        "  copy_ubuf_to_gm X11, {0}, 0, {2}, {3}, 0, {4}\n  add X11, X11, {5}\n"
        "  copy_ubuf_to_gm X11, {1}, 0, {2}, {3}, 0, {4}\n",
        slot * 2 * kHalf, slot * 2 * kHalf + kHalf, kBatch, kTokens, 2 * kPadded - kTokens, kPadded * kBlock);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string scale(u64 bytes, u32 factor) {
  constexpr u64 kTile = 32 * 1024;
  gen::TilePipeline p = flat(bytes, kTile);
  p.compute = [=](u32 slot) {
    return fmt::format("  vmuls.f16 {0}, {0}, {1}, {2}, 1, 1, 8, 8\n", slot * kTile, factor, kTile / 256);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string scores(const Shape& s) {
  return products({.batches = s.batches(),
                   .first_bytes = kBatch * kPairBytes,
                   .second_bytes = kBatch * kPairBytes,
                   .fractals = kBatch * 16,
                   .load = [](u64 pair, u64 k, u64 q) { return load_scores(pair, k, q, 4); },
                   .multiply = multiply_scores});
}

std::string gather_bias() {
  // Of a key: four fractals from 0 on, then [head][query / 16] blocks, then what nobody needs.
  constexpr u64 kOut = 4 * 512, kRest = kOut + kHeads * 4 * kBlock;
  std::array<u64, 16> from{}, to{};
  for (u64 i = 0; i < 16; ++i) {
    from[i] = i * kBlock;
    to[i] = i < kHeads ? kOut + i * 4 * kBlock : kRest;
  }
  std::string s = args(2) + table_map() + va_registers(0, to) + va_registers(2, from);
  s += fmt::format("  copy_gm_to_cbuf 0, X3, 0, 1, {}, 0, 0\n  pipe_barrier PIPE_ALL\n", kTableEdge * kTableEdge);
  s += "  get_block_idx X0\n  get_block_num X1\nloop:\n";
  s += fmt::format("  bge X0, {}, finish\n  div X6, X0, 7\n  rem X5, X0, 7\n  sub X5, 6, X5\n  sub X6, 6, X6\n",
                   kTokens);
  s += fetch_bias(0, 0, "X5", "X6") + set("PIPE_MTE1", "PIPE_V", 0) + wait("PIPE_MTE1", "PIPE_V", 0);
  s += "  scatter_vnchwconv_b16 0, 2, 4, 1, 16\n" + set("PIPE_V", "PIPE_MTE3", 0) + wait("PIPE_V", "PIPE_MTE3", 0);
  s += "  mul X7, X0, 32\n  add X7, X7, X4\n";
  for (u64 h = 0; h < kHeads; ++h)
    s += fmt::format("  copy_ubuf_to_gm X7, {}, 0, 4, 1, 0, {}\n  add X7, X7, {}\n", kOut + h * 4 * kBlock, kPadded - 1,
                     kScoreBytes);
  return s + "  pipe_barrier PIPE_ALL\n  add X0, X0, X1\n  b loop\nfinish:\n  end\n";
}

std::string add_bias(const Shape& s) {
  gen::TilePipeline p = flat(s.pairs() * kScoreBytes, kScoreTile);
  constexpr u64 kBias = 2 * kScoreTile;
  p.prologue += fmt::format("  ld_arg X4, 1\n  copy_gm_to_ubuf {}, X4, 0, 1, {}, 0, 0\n  pipe_barrier PIPE_ALL\n",
                            kBias, kHeads * kScoreBytes / kBlock);
  p.locate +=
      fmt::format("  div X12, X0, {}\n  mul X12, X12, {}\n  add X12, X12, {}\n", s.windows / 4, kScoreBytes, kBias);
  p.compute = [](u32 slot) {
    std::string out;
    for (u64 i = 0; i < 4; ++i)
      out += fmt::format("  vadd.f16 {0}, {0}, X12, 32, 1, 1, 1, 8, 8, 8\n", slot * kScoreTile + i * kScoreBytes);
    return out;
  };
  return gen::tile_pipeline_assembly(p);
}

std::string add_mask(const Shape& s) {
  gen::TilePipeline p = flat(s.pairs() * kScoreBytes, kScoreTile);
  const auto at = [](u32 slot) { return (2 + slot) * kScoreTile; };
  p.prologue += "  ld_arg X4, 1\n";
  p.locate +=
      fmt::format("  rem X12, X0, {}\n  mul X12, X12, {}\n  add X12, X12, X4\n", kWindowsOfImage / 4, kScoreTile);
  p.load = [load = p.load, at](u32 slot) {
    return load(slot) + fmt::format("  copy_gm_to_ubuf {}, X12, 0, 1, {}, 0, 0\n", at(slot), kScoreTile / kBlock);
  };
  p.compute = [at](u32 slot) {
    return fmt::format("  vadd.f16 {0}, {0}, {1}, {2}, 1, 1, 1, 8, 8, 8\n", slot * kScoreTile, at(slot),
                       kScoreTile / 256);
  };
  return gen::tile_pipeline_assembly(p);
}

std::string softmax(const Shape& s) {
  gen::TilePipeline p = flat(s.pairs() * kScoreBytes, kScoreTile);
  constexpr u64 kColumns = 16, kTree = 2 * kScoreTile, kResult = kTree + kColumns * Softmax::kTreeRows * kBlock,
                kOnes = kResult + kColumns * kBlock;
  p.prologue += fmt::format("  vector_dup.f16 {}, 1.0h, 1, 1, 1, 8, 8\n  pipe_barrier PIPE_V\n", kOnes);
  p.compute = [=](u32 slot) {
    const Softmax m{.scores = slot * kScoreTile, .columns = kColumns, .tree = kTree, .result = kResult};
    return m.exponentials() + m.reduce("vadd") +
           fmt::format("  vdiv.f16 {0}, {1}, {0}, {2}, 1, 1, 1, 8, 0, 8\n", kResult, kOnes, kColumns / 8) +
           std::string(kFence) + m.with_result("vmul");
  };
  return gen::tile_pipeline_assembly(p);
}

std::string weighted_sum(const Shape& s) {
  return products({.batches = s.batches(),
                   .first_bytes = kBatch * kScoreBytes,
                   .second_bytes = kBatch * kPairBytes,
                   .fractals = kBatch * 8,
                   .load =
                       [](u64 pair, u64 p, u64 v) {
                         std::string out = fmt::format("  load_cbuf_to_ca {}, {}, 0, 16, 1, 0, 1\n", pair * 8192, p);
                         for (u64 k1 = 0; k1 < 4; ++k1)
                           out += fmt::format("  load_cbuf_to_cb {}, {}, {}, 2, 4, 0, 1\n", pair * 4096 + k1 * 1024, v,
                                              k1);
                         return out;
                       },
                   .multiply =
                       [](u64 pair) {
                         return fmt::format("  mad.f162f32 {0}, {0}, {1}, 64, {2}, {3}, 1\n", pair * 8192, pair * 4096,
                                            kTokens, kDepth);
                       }});
}

std::string merge_heads(const Shape& s) {
  constexpr u64 kIn = kBatch * kPairBytes, kOut = 2 * kIn;
  gen::TilePipeline p{
      .tiles = s.batches(),
      .prologue = args(2),
      .locate = locate_batch(s, "X0") + fmt::format("  mul X10, X0, {}\n  add X10, X10, X3\n  mul X11, X11, {}\n"
                                                    "  mul X12, X12, {}\n  add X11, X11, X12\n  add X11, X11, X4\n",
                                                    kIn, kHeads * kDepth * 2, kDepth * 2)};
  p.load = [](u32 slot) {
    return fmt::format("  copy_gm_to_ubuf {}, X10, 0, 1, {}, 0, 0\n", slot * kIn, kIn / kBlock);
  };
  p.compute = [](u32 slot) {
    std::string out;
    for (u64 half = 0; half < 2; ++half)
      out += fmt::format("  copy_ubuf_to_ubuf {}, {}, 0, {}, {}, {}, 0\n", kOut + (2 * slot + half) * kHalf,
                         slot * kIn + half * kPadded * kBlock, kBatch, kTokens, 2 * kPadded - kTokens);
    return out;
  };
  p.store = [](u32 slot) {
    std::string out;
    for (u64 half = 0; half < 2; ++half)
      out += fmt::format("  copy_ubuf_to_gm X11, {}, 0, {}, 1, 0, {}\n  add X11, X11, 32\n",
                         kOut + (2 * slot + half) * kHalf, kBatch * kTokens, kHeads * kDepth * 2 / kBlock - 1);
    return out;
  };
  return gen::tile_pipeline_assembly(p);
}

}  // namespace vinci::studies::swin
