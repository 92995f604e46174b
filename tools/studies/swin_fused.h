// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <string>

#include "isa/base/error.h"
#include "tools/studies/swin_kernels.h"
#include "tools/studies/swin_parts.h"

// The kernel of window attention in one: the addresses of its data, and which file writes which part of it.
namespace vinci::studies::swin::fused_kernel {

// A batch is all heads of two neighbouring windows: one piece of memory, both in qkv and in the output, so MTE2 and
// MTE3 pay the start of one copy. Each pair has three columns of S, for 48 queries; query 48 of all pairs shares one
// more, with a pair in each of its lanes.
inline constexpr u64 kWindows = kFusedWindows, kPairs = kWindows * kHeads;
inline constexpr u64 kOwn = 3, kShared = kPairs * kOwn, kColumns = kShared + 1, kLastToken = kTokens - 1;
inline constexpr u64 kBatchTokens = kWindows * kTokens, kRowBlocks = kRowBytes / kBlock;
inline constexpr u64 kOutRowBlocks = kRowBlocks / 3, kBlocksOfHead = kDepth / 16;
inline constexpr u64 kFractal = 512, kColumn = kPaddedColumn, kColumnBlocks = kPadded;
inline constexpr u64 kScores = kColumns * kColumn;  // of a batch in L0C
inline constexpr u64 kPlane =
    align_up(kBatchTokens * kBlock, u64{kFractal});  // 16 channels of v, tokens one behind the other
inline constexpr u64 kValues = kHeads * kBlocksOfHead * kPlane;

// P of a batch: the columns of the pairs, and for each pair the shared one with zeros in the lanes of the others.
inline constexpr u64 kAlone = kColumns * kColumn, kAloneBytes = kPairs * kColumn, kSlotBytes = kAlone + kAloneBytes;
inline constexpr u64 kProbabilities = kShared * kColumn + kAloneBytes;

// What is made once and goes to L1: biases; masks of a window at the right edge, at the bottom and at both; right
// operands, which are the unit matrix of 16 x 16 and, for each head and each window, a fractal that takes column 0 to
// the lanes of its pairs; and a block of ones between zeros. From that block, `row` blocks before it on, a fractal is a
// left operand whose only row of ones is `row`: the sums over the keys come out in that row.
inline constexpr u64 kOperands = 1 + kHeads + kWindows;
inline constexpr u64 kMasksAt = kHeads * kScoreBytes, kOperandsAt = kMasksAt + 3 * kScoreBytes;
inline constexpr u64 kSumsAt = kOperandsAt + kOperands * kFractal, kOnesAt = kSumsAt + 15 * kBlock;
inline constexpr u64 kConstants = kSumsAt + 32 * kBlock;

// UB. What biases are made from is in front, before the first batch; constants are where O is later.
inline constexpr u64 kUbScores = 0, kUbLargest = kUbScores + 2 * kSlotBytes, kUbShift = kUbLargest + 24 * kBlock;
inline constexpr u64 kUbFactor = kUbShift + 24 * kBlock, kUbUnity = kUbFactor + 256;
inline constexpr u64 kOutColumn = kDepth * 2 * kBlock, kSumFractals = kOwn + 1;  // O and its sums, f32
inline constexpr u64 kUbOut32 = align_up(kUbUnity + 256, u64{kFractal}), kUbSums = kUbOut32 + kColumns * kOutColumn;
inline constexpr u64 kUbInverse = kUbSums + kSumFractals * 1024, kUbOut16 = kUbInverse + 24 * 2 * kBlock;
inline constexpr u64 kUbRows = kUbOut16 + kColumns * kOutColumn / 2;
inline constexpr u64 kUbUnused = kUbRows + kBatchTokens * kOutRowBlocks * kBlock;  // what lanes without a pair become
inline constexpr u64 kUbValues = kUbUnused + 16 * 2 * kBlock, kUbEnd = kUbValues + kValues;
inline constexpr u64 kUbConstants = kUbOut32;
static_assert(kUbEnd <= 256 * 1024 && kTokens * 2048 <= kUbLargest && kUbConstants + kConstants <= kUbRows);
// L1: the table, constants, v, P in two slots, and qkv in four
inline constexpr u64 kL1Constants = align_up(kTableEdge * kTableEdge * kBlock, u64{kFractal}),
                     kL1V = kL1Constants + kConstants;
inline constexpr u64 kL1Head = kBlocksOfHead * kPlane;
inline constexpr u64 kL1P = kL1V + kHeads * kL1Head + kFractal, kL1Qkv = kL1P + 2 * kProbabilities;
inline constexpr u64 kSlots = 4, kL1Slot = kBatchTokens * kRowBytes;
static_assert(kL1Qkv + kSlots * kL1Slot <= 1024 * 1024);
// L0A: biases, which stay, a mask, k of two pairs and v of a window. L0B: operands, which stay, q of two pairs and P of
// a window. A pair has 48 queries of q, and the last one in the lane of the pair. L0C: S as f16 in two slots, then O
// with the sums below.
inline constexpr u64 kL0Bias = kOwn * 4 * kFractal, kL0BiasShared = kHeads * kL0Bias, kL0Mask = kL0BiasShared + kL0Bias;
inline constexpr u64 kL0MaskShared = kL0Mask + kL0Bias, kL0K = kL0MaskShared + 4 * kFractal;
inline constexpr u64 kL0V = kL0K + 2 * kPairBytes, kL0VBytes = kBlocksOfHead * 4 * kFractal;
inline constexpr u64 kL0Sums = kL0V + kHeads * kL0VBytes, kL0SumsBytes = 4 * kFractal;
static_assert(kL0Sums + (kHeads + 1) * kL0SumsBytes <= 64 * 1024);
inline constexpr u64 kHeadOperands = kFractal, kWindowOperands = kHeadOperands + kHeads * kFractal;
inline constexpr u64 kL0Q = kOperands * kFractal, kL0QShared = kBlocksOfHead * kOwn * kFractal;
inline constexpr u64 kL0QBytes = kL0QShared + kBlocksOfHead * kFractal, kL0P = kL0Q + 2 * kL0QBytes;
inline constexpr u64 kL0PShared = kOwn * 4 * kFractal, kL0PBytes = kL0PShared + 4 * kFractal;
static_assert(kL0P + kHeads * kL0PBytes <= 64 * 1024);
inline constexpr u64 kL0cOut = 2 * kScores, kL0cSums = kL0cOut + kColumns * kOutColumn;

// Writes the kernel.
class Fused {
 public:
  Fused(isa::Arch arch, const Shape& s, u64 blocks, u32 factor, u32 inverse)
      : blocks_(blocks),
        count_(s.fused_batches() / blocks),
        factor_(factor),
        inverse_(inverse),
        p_("window_attention", arch) {
    VINCI_CHECK(s.fused_batches() % blocks == 0);
  }

  isa::BuiltProgram program();

 private:
  static u64 qkv(u64 n) { return kL1Qkv + n % kSlots * kL1Slot; }
  static u64 ub(u64 n) { return kUbScores + n % 2 * kSlotBytes; }
  static u64 l0c(u64 n) { return n % 2 * kScores; }
  static u64 l1p(u64 n) { return kL1P + n % 2 * kProbabilities; }
  static u64 scores_of(u64 n, u64 pair) { return l0c(n) + pair * kOwn * kColumn; }
  void fence() { swin::fence(p_); }
  void cube_fence() { p_.pipe_barrier(PipeId::M); }
  // at: batch n among all; it has windows 2 * at and the next.
  void locate(u64 n) { p_.add(at, block, n * blocks_); }

  // swin_fused.cpp: loads, and what is made once
  void free_flags(bool set);
  void load_masks();
  void find_any_mask();
  void first_loads();
  void dup(u64 to, float value, u64 repeats, u64 block_stride = 1, u64 stride = 8);
  void make_operands();
  void prologue();
  void fetch_biases();
  void transpose_biases();
  void keep_constants();
  void load(u64 n);
  void load_windows(u64 n, u64 first, u64 windows);
  void find_masks(u64 n);

  // swin_fused_cube.cpp: S and O
  void map(u64 tokens, u64 above, u64 below);
  enum class Operand : u8 { a, b };
  void fetch(Operand where, u64 to, u64 from, i64 token, u64 block_of_channels, bool next_tokens, u64 count);
  void fetch_queries(u64 n, u64 pair);
  void mad_scores(u64 to, u64 a, u64 b, u64 k, u64 columns, u64 init);
  void begin_scores_of(u64 n);
  void end_scores_of(u64 n);
  void add_biases(u64 n);
  void add_columns(u64 n, u64 pair, u64 from, u64 init);
  void add_mask(u64 n, u64 window);
  void add_product(u64 n, u64 pair);
  void stage_values(u64 n);
  void multiply_values_of(u64 n);
  void fetch_ones(u64 slot, u64 row);
  void fetch_pair(u64 n, u64 window, u64 head);
  void multiply_pair(u64 pair, u64 head);

  // swin_fused_vector.cpp: the softmax and the output
  void fetch_scores(u64 n);
  void largest(u64 n);
  void shift();
  template <class Write>
  void scores(u64 n, const Write& write);
  void subtract(u64 n);
  void exponentials(u64 n);
  void separate(u64 n);
  void fetch_products();
  void invert_sums();
  void divide();
  void narrow();
  void transpose();
  void store(u64 n);
  void finish(u64 n);

  u64 blocks_;
  u64 count_;             // batches of a block
  u32 factor_, inverse_;  // f16
  ProgramBuilder p_;
  const Reg block = p_.reg("block", 0), qkv_gm = p_.reg("qkv", 3), table_gm = p_.reg("table", 4),
            mask_gm = p_.reg("mask", 5), out_gm = p_.reg("out", 6);
  const Reg masked = p_.reg("masked", 9);                                    // whether the block has windows with masks
  const Reg masks[kWindows] = {p_.reg("mask_0", 12), p_.reg("mask_1", 13)};  // which mask a window of a batch has
  const Reg at = p_.reg("at", 10), odd = p_.reg("odd", 11), mask_at = p_.reg("mask_at", 14);  // for the moment
};

}  // namespace vinci::studies::swin::fused_kernel
