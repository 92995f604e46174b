// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/builder/program_builder.h"

// Kernels of window attention for the joint core: one for each step, and one fused kernel for all steps. A window has
// 7 x 7 tokens, a head has 32 channels. A pair is one window and one head.
//
// S is stored transposed, in columns [key][query % 16]. Thus the softmax of a query combines whole blocks and needs no
// reduction inside a block.
//
// The kernels of single steps work on tiles of four windows. Their layouts in global memory:
//   q, k, v, o   [window][head][channel / 16][token][16]. q, k and v of a window follow each other. A window fills
//   whole
//                lines of L2, so that no store has to fetch the rest of a line.
//   S            the first 48 queries in three columns [query / 16][pair][key][16]; query 48 of all pairs in one more
//                column [key][pair].
namespace vinci::studies::swin {

inline constexpr u64 kTokens = 49, kPadded = 64, kDepth = 32, kHeads = 3, kHalves = kDepth / 16;
inline constexpr u64 kEdge = 7, kTableEdge = 2 * kEdge - 1;  // the table of biases: [dy + 6][dx + 6][16], by head
inline constexpr u64 kWindowsOfRow = 8, kWindowsOfImage = 64;
inline constexpr u64 kBlock = 32, kRowBytes = 3 * kHeads * kDepth * 2;  // of a token in q, k and v
inline constexpr u64 kPairBytes = kHalves * kPadded * kBlock;           // of q and k of a pair in L0
inline constexpr u64 kPaddedColumn = kPadded * kBlock, kScoreBytes = kPadded / 16 * kPaddedColumn;  // S of a pair
inline constexpr u64 kPlaneBytes = kTokens * kBlock,
                     kPartBytes = kTokens * kRowBytes / 3;  // of a window in q, k, v or o
inline constexpr u64 kFusedWindows = 2;                     // of a batch of the fused kernel
inline constexpr u64 kTileWindows = 4;
inline constexpr u64 kPartStep = align_up(kPartBytes, u64{512}), kTilePartBytes = kTileWindows * kPartStep;  // q, k, v
inline constexpr u64 kTileOutBytes = kTileWindows * kPartBytes;                                              // o
inline constexpr u64 kTileColumns = 3 * kTileWindows * kHeads + 1, kColumnBytes = kTokens * kBlock;
inline constexpr u64 kTileBytes = kTileColumns * kColumnBytes, kBiasBytes = (3 * kHeads + 1) * kColumnBytes;

struct Shape {
  u64 windows = 0;
  u64 fused_batches() const { return windows / kFusedWindows; }
  u64 tiles() const { return windows / kTileWindows; }
};

using Program = isa::BuiltProgram;
Program permute(isa::Arch arch, const Shape& s);                  // qkv -> q, k, v
Program scale_q(isa::Arch arch, const Shape& s, u32 factor_f16);  // q, k, v: q -> q * factor in place
Program scores(isa::Arch arch, const Shape& s);                   // q, k, v -> S
Program gather_bias(isa::Arch arch);                           // table -> bias, as the columns of three pairs; 49 tiles
Program add_bias(isa::Arch arch, const Shape& s);              // S, bias -> S
Program add_mask(isa::Arch arch, const Shape& s, u64 blocks);  // S, mask -> S
Program softmax(isa::Arch arch, const Shape& s);               // S -> S, in f32 inside
Program dropout(isa::Arch arch, const Shape& s);               // S -> S * 1
Program weighted_sum(isa::Arch arch, const Shape& s);          // S, v -> o
Program merge_heads(isa::Arch arch, const Shape& s);           // o -> out
// qkv, table, mask -> out. `inverse`: 1 / factor, by which biases and masks are multiplied, because factor comes last.
Program fused(isa::Arch arch, const Shape& s, u64 blocks, u32 factor_f16, u32 inverse_f16);

}  // namespace vinci::studies::swin
