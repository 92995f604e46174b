// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/base/types.h"

// Kernels of window attention for the joint core: each step by itself, and all in one. Windows have 7 x 7 tokens, heads
// 32 channels. A pair is a head and a window, head by head; kernels work on batches of 8 pairs, the windows of a row of
// an image; the fused one on all heads of two windows. S is held transposed, [query / 16][key][query % 16], so that the
// softmax of a query runs along blocks and needs no reduction inside of a block.
namespace vinci::studies::swin {

inline constexpr u64 kTokens = 49, kPadded = 64, kDepth = 32, kHeads = 3, kBatch = 8, kFusedWindows = 2;
inline constexpr u64 kEdge = 7, kTableEdge = 2 * kEdge - 1;  // the table of biases: [dy + 6][dx + 6][16], by head
inline constexpr u64 kWindowsOfRow = 8, kWindowsOfImage = 64;
inline constexpr u64 kBlock = 32, kRowBytes = 3 * kHeads * kDepth * 2;  // of a token in q, k and v
inline constexpr u64 kPairBytes = kDepth / 16 * kPadded * kBlock;       // of q, k, v, o: [channel / 16][token][16]
inline constexpr u64 kScoreBytes = kPadded / 16 * kPadded * kBlock;     // of S, the mask and the bias of a head

// A kernel, how many blocks it has work for, and its arguments in order.
struct Shape {
  u64 windows = 0;
  u64 pairs() const { return windows * kHeads; }
  u64 batches() const { return pairs() / kBatch; }
  u64 batches_of_head() const { return windows / kBatch; }
  u64 fused_batches() const { return windows / kFusedWindows; }
};

std::string permute(const Shape& s);           // qkv -> q, k, v, one behind the other
std::string scale(u64 bytes, u32 factor_f16);  // x -> x * factor in place
std::string scores(const Shape& s);            // k, q -> S
std::string gather_bias();                     // table -> bias; 49 tiles
std::string add_bias(const Shape& s);          // S, bias -> S
std::string add_mask(const Shape& s);          // S, mask -> S
std::string softmax(const Shape& s);           // S -> S
std::string weighted_sum(const Shape& s);      // S, v -> o
std::string merge_heads(const Shape& s);       // o -> out
// qkv, table, mask -> out. `inverse`: 1 / factor, by which biases and masks are multiplied, because factor comes last.
std::string fused(const Shape& s, u64 blocks, u32 factor_f16, u32 inverse_f16);

}  // namespace vinci::studies::swin
