// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The products of the fused kernel: S and O.
#include "tools/studies/swin_fused.h"

namespace vinci::studies::swin::fused_kernel {
// qkv as a feature map: rows are tokens, columns its 18 blocks of channels. Above and below are zeros.
void Fused::map(u64 tokens, u64 above, u64 below) {
  p_.set_fmatrix(kRowBlocks | tokens << 16 | above << 48 | below << 56);
}

// Fractals of 16 tokens and 16 channels from `token` and `block_of_channels` on: the next blocks of the same tokens, or
// the next tokens. A filter as wide as the row has one position in it.
void Fused::fetch(Operand where, u64 to, u64 from, i64 token, u64 block_of_channels, bool next_tokens, u64 count) {
  const Value operands[] = {to, from, block_of_channels,   0,     0, token, 0, 1, 1, kRowBlocks, 1, 1,
                            1,  1,    next_tokens ? 1 : 0, count, 0};
  p_.call(where == Operand::a ? "img2col_cbuf_to_ca.b16" : "img2col_cbuf_to_cb.b16", operands);
}

// k and q of a pair. The last query is in the lane of the pair, between zeros.
void Fused::fetch_queries(u64 n, u64 pair) {
  const u64 first = pair / kHeads * kTokens, channels = pair % kHeads * kBlocksOfHead;
  const u64 k = kL0K + pair % 2 * kPairBytes, q = kL0Q + pair % 2 * kL0QBytes;
  map(kBatchTokens, 0, 15);
  for (u64 m1 = 0; m1 < 4; ++m1)
    fetch(Operand::a, k + m1 * 1024, qkv(n), static_cast<i64>(first + m1 * 16), kOutRowBlocks + channels, false, 2);
  for (u64 k1 = 0; k1 < 2; ++k1)
    fetch(Operand::b, q + k1 * kOwn * kFractal, qkv(n), static_cast<i64>(first), channels + k1, true, kOwn);
  map(1, pair, 15 - pair);
  fetch(Operand::b, q + kL0QShared, qkv(n) + (first + kLastToken) * kRowBytes, -static_cast<i64>(pair), channels, false,
        2);
}

void Fused::mad_scores(u64 to, u64 a, u64 b, u64 k, u64 columns, u64 init) {
  p_.mad(Type::f162f16, to, a, b, 64, k, columns * 16, init);
}

// S = bias * 1 + mask * 1 + k * q in this order: the first sums are exact in f16 where the mask is 0, so S is rounded
// once. Only the last needs the batch.
void Fused::begin_scores_of(u64 n) {
  find_masks(n);
  p_.wait_flag(PipeId::V, PipeId::M, n % 2);
  add_biases(n);
  for (u64 window = 0; window < kWindows; ++window)
    add_mask(n, window);
}

void Fused::end_scores_of(u64 n) {
  p_.wait_flag(PipeId::MTE2, PipeId::MTE1, n % kSlots);
  for (u64 pair = 0; pair < kPairs; ++pair)
    add_product(n, pair);
  p_.set_flag(PipeId::M, PipeId::V, n % 2);
}

void Fused::add_biases(u64 n) {
  mad_scores(scores_of(n, kPairs), kL0BiasShared, kHeadOperands, kHeads * 16, 1, 1);
  for (u64 pair = 0; pair < kPairs; ++pair)
    add_columns(n, pair, pair % kHeads * kL0Bias, 1);
  cube_fence();
}

// Each column of 16 queries times the unit matrix.
void Fused::add_columns(u64 n, u64 pair, u64 from, u64 init) {
  for (u64 n1 = 0; n1 < kOwn; ++n1)
    mad_scores(scores_of(n, pair) + n1 * kColumn, from + n1 * kColumn, 0, 16, 1, init);
}

void Fused::add_mask(u64 n, u64 window) {
  p_.if_(masks[window] >= 1, [&] {
    p_.wait_flag(PipeId::M, PipeId::MTE1, 2);
    p_.mul(mask_at, masks[window], kScoreBytes);
    p_.add(mask_at, mask_at, kL1Constants + kMasksAt - kScoreBytes);
    p_.load_cbuf_to_ca(kL0Mask, mask_at, 0, 16, 1, 0, 0);
    p_.hand_over(PipeId::MTE1, PipeId::M, 2);
    mad_scores(scores_of(n, kPairs), kL0MaskShared, kWindowOperands + window * kFractal, 16, 1, 0);
    for (u64 head = 0; head < kHeads; ++head)
      add_columns(n, window * kHeads + head, kL0Mask, 0);
    p_.set_flag(PipeId::M, PipeId::MTE1, 2);
    cube_fence();
  });
}

// Events 0 and 3 are those of the two places of k and q.
void Fused::add_product(u64 n, u64 pair) {
  const u64 event = pair % 2 * 3, k = kL0K + pair % 2 * kPairBytes, q = kL0Q + pair % 2 * kL0QBytes;
  p_.wait_flag(PipeId::M, PipeId::MTE1, event);
  fetch_queries(n, pair);
  p_.hand_over(PipeId::MTE1, PipeId::M, event);
  mad_scores(scores_of(n, kPairs), k, q + kL0QShared, kDepth, 1, 0);
  mad_scores(scores_of(n, pair), k, q, kDepth, kOwn, 0);
  if (pair + 1 < kPairs) cube_fence();
  p_.set_flag(PipeId::M, PipeId::MTE1, event);
}

// v as planes of 16 channels, by way of UB; then qkv in L1 is free.
void Fused::stage_values(u64 n) {
  for (u64 plane = 0; plane < kHeads * kBlocksOfHead; ++plane)
    p_.copy_cbuf_to_ubuf(kUbValues + plane * kPlane, qkv(n) + (2 * kOutRowBlocks + plane) * kBlock, 0, kBatchTokens, 1,
                         kRowBlocks - 1, 0);
  p_.set_flag(PipeId::MTE1, PipeId::MTE2, n % kSlots);
  p_.hand_over(PipeId::MTE1, PipeId::MTE3, 0);
  constexpr u64 kGap = (kPlane - kBatchTokens * kBlock) / kBlock;
  for (u64 head = 0; head < kHeads; ++head)
    p_.copy_ubuf_to_cbuf(kL1V + head * kL1Head, kUbValues + head * kBlocksOfHead * kPlane, 0, kBlocksOfHead,
                         kBatchTokens, kGap, kGap);
  p_.set_flag(PipeId::MTE3, PipeId::MTE1, 0);
}

// O = v * P, transposed, and the sums of P: those of a pair in its row, those of the shared column by themselves.
void Fused::multiply_values_of(u64 n) {
  p_.wait_flag(PipeId::MTE3, PipeId::MTE1, 2 + n % 2);
  p_.wait_flag(PipeId::MTE3, PipeId::MTE1, 0);
  for (u64 window = 0; window < kWindows; ++window) {
    p_.wait_flag(PipeId::M, PipeId::MTE1, 1);
    for (u64 head = 0; head < kHeads; ++head)
      fetch_pair(n, window, head);
    fetch_ones(kHeads, 0);
    p_.hand_over(PipeId::MTE1, PipeId::M, 1);
    if (window == 0) p_.wait_flag(PipeId::V, PipeId::M, 2);
    for (u64 head = 0; head < kHeads; ++head)
      multiply_pair(window * kHeads + head, head);
    p_.set_flag(PipeId::M, PipeId::MTE1, 1);
  }
  p_.set_flag(PipeId::M, PipeId::V, 2);
}

void Fused::fetch_ones(u64 slot, u64 row) {
  p_.load_cbuf_to_ca(kL0Sums + slot * kL0SumsBytes, kL1Constants + kOnesAt - row * kBlock, 0, 4, 0, 0, 0);
}

void Fused::fetch_pair(u64 n, u64 window, u64 head) {
  const u64 pair = window * kHeads + head, to = kL0P + head * kL0PBytes;
  for (u64 m1 = 0; m1 < kBlocksOfHead; ++m1)
    p_.load_cbuf_to_ca(kL0V + head * kL0VBytes + m1 * 4 * kFractal,
                       kL1V + head * kL1Head + m1 * kPlane + window * kTokens * kBlock, 0, 4, 1, 0, 1);
  fetch_ones(head, pair);
  for (u64 k1 = 0; k1 < 4; ++k1)
    p_.load_cbuf_to_cb(to + k1 * kOwn * kFractal, l1p(n) + pair * kOwn * kColumn, k1, kOwn, 4, 0, 1);
  p_.load_cbuf_to_cb(to + kL0PShared, l1p(n) + (kShared + pair) * kColumn, 0, 4, 1, 0, 1);
}

void Fused::multiply_pair(u64 pair, u64 head) {
  const u64 v = kL0V + head * kL0VBytes, own = kL0P + head * kL0PBytes, shared = own + kL0PShared;
  const auto product = [&](u64 to, u64 a, u64 rows, u64 b, u64 columns, bool init) {
    p_.mad(Type::f162f32, to, a, b, rows, kTokens, columns * 16, init ? 1 : 0);
  };
  product(kL0cOut + kShared * kOutColumn, v, kDepth, shared, 1, pair == 0);
  product(kL0cSums + kOwn * 1024, kL0Sums + kHeads * kL0SumsBytes, 16, shared, 1, pair == 0);
  product(kL0cSums, kL0Sums + head * kL0SumsBytes, 16, own, kOwn, pair == 0);
  product(kL0cOut + pair * kOwn * kOutColumn, v, kDepth, own, kOwn, true);
  if (pair + 1 < kPairs) cube_fence();
}

}  // namespace vinci::studies::swin::fused_kernel
