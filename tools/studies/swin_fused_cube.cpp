// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The products of the fused kernel: S and O.
#include "tools/studies/swin_fused.h"

namespace vinci::studies::swin::fused_kernel {
namespace {

constexpr std::string_view kCubeFence = "  pipe_barrier PIPE_M\n";

}  // namespace

// qkv as a feature map: rows are tokens, columns its 18 blocks of channels. Above and below are zeros.
void Fused::map(u64 tokens, u64 above, u64 below) {
  s_ += fmt::format("  set_fmatrix {:#x}\n", kRowBlocks | tokens << 16 | above << 48 | below << 56);
}

// Fractals of 16 tokens and 16 channels from `token` and `block` on: the next blocks of the same tokens, or the next
// tokens. A filter as wide as the row has one position in it.
void Fused::fetch(std::string_view where, u64 to, u64 from, i64 token, u64 block, bool next_tokens, u64 count) {
  s_ += fmt::format("  img2col_cbuf_to_{}.b16 {}, {}, {}, 0, 0, {}, 0, 1, 1, {}, 1, 1, 1, 1, {}, {}, 0\n", where, to,
                    from, block, token, kRowBlocks, next_tokens ? 1 : 0, count);
}

// k and q of a pair. The last query stands in the lane of the pair, between zeros.
void Fused::fetch_queries(u64 n, u64 pair) {
  const u64 first = pair / kHeads * kTokens, block = pair % kHeads * kBlocksOfHead;
  const u64 k = kL0K + pair % 2 * kPairBytes, q = kL0Q + pair % 2 * kL0QBytes;
  map(kBatchTokens, 0, 15);
  for (u64 m1 = 0; m1 < 4; ++m1)
    fetch("ca", k + m1 * 1024, qkv(n), static_cast<i64>(first + m1 * 16), kOutRowBlocks + block, false, 2);
  for (u64 k1 = 0; k1 < 2; ++k1)
    fetch("cb", q + k1 * kOwn * kFractal, qkv(n), static_cast<i64>(first), block + k1, true, kOwn);
  map(1, pair, 15 - pair);
  fetch("cb", q + kL0QShared, qkv(n) + (first + kLastToken) * kRowBytes, -static_cast<i64>(pair), block, false, 2);
}

void Fused::mad_scores(u64 to, u64 a, u64 b, u64 k, u64 columns, u64 init) {
  s_ += fmt::format("  mad.f162f16 {}, {}, {}, 64, {}, {}, {}\n", to, a, b, k, columns * 16, init);
}

// S = bias * 1 + mask * 1 + k * q in this order: the first sums are exact in f16 where the mask is 0, so S is rounded
// once. Only the last needs the batch.
void Fused::begin_scores_of(u64 n) {
  find_masks(n);
  s_ += wait("PIPE_V", "PIPE_M", n % 2);
  add_biases(n);
  for (u64 window = 0; window < kWindows; ++window)
    add_mask(n, window);
}

void Fused::end_scores_of(u64 n) {
  s_ += wait("PIPE_MTE2", "PIPE_MTE1", n % kSlots);
  for (u64 pair = 0; pair < kPairs; ++pair)
    add_product(n, pair);
  s_ += set("PIPE_M", "PIPE_V", n % 2);
}

void Fused::add_biases(u64 n) {
  mad_scores(scores_of(n, kPairs), kL0BiasShared, kHeadOperands, kHeads * 16, 1, 1);
  for (u64 pair = 0; pair < kPairs; ++pair)
    add_columns(n, pair, pair % kHeads * kL0Bias, 1);
  s_ += kCubeFence;
}

// Each column of 16 queries times the unit matrix.
void Fused::add_columns(u64 n, u64 pair, u64 from, u64 init) {
  for (u64 n1 = 0; n1 < kOwn; ++n1)
    mad_scores(scores_of(n, pair) + n1 * kColumn, from + n1 * kColumn, 0, 16, 1, init);
}

void Fused::add_mask(u64 n, u64 window) {
  s_ += fmt::format("  blt X{}, 1, unmasked_{}_{}\n", 12 + window, n, window) + wait("PIPE_M", "PIPE_MTE1", 2);
  s_ += fmt::format("  mul X14, X{}, {}\n  add X14, X14, {}\n", 12 + window, kScoreBytes,
                    kL1Constants + kMasksAt - kScoreBytes);
  s_ += fmt::format("  load_cbuf_to_ca {}, X14, 0, 16, 1, 0, 0\n", kL0Mask);
  s_ += set("PIPE_MTE1", "PIPE_M", 2) + wait("PIPE_MTE1", "PIPE_M", 2);
  mad_scores(scores_of(n, kPairs), kL0MaskShared, kWindowOperands + window * kFractal, 16, 1, 0);
  for (u64 head = 0; head < kHeads; ++head)
    add_columns(n, window * kHeads + head, kL0Mask, 0);
  s_ += set("PIPE_M", "PIPE_MTE1", 2) + std::string(kCubeFence);
  s_ += fmt::format("unmasked_{}_{}:\n", n, window);
}

// Events 0 and 3 are those of the two places of k and q.
void Fused::add_product(u64 n, u64 pair) {
  const u64 event = pair % 2 * 3, k = kL0K + pair % 2 * kPairBytes, q = kL0Q + pair % 2 * kL0QBytes;
  s_ += wait("PIPE_M", "PIPE_MTE1", event);
  fetch_queries(n, pair);
  s_ += set("PIPE_MTE1", "PIPE_M", event) + wait("PIPE_MTE1", "PIPE_M", event);
  mad_scores(scores_of(n, kPairs), k, q + kL0QShared, kDepth, 1, 0);
  mad_scores(scores_of(n, pair), k, q, kDepth, kOwn, 0);
  if (pair + 1 < kPairs) s_ += kCubeFence;
  s_ += set("PIPE_M", "PIPE_MTE1", event);
}

// v as planes of 16 channels, by way of UB; then qkv in L1 is free.
void Fused::stage_values(u64 n) {
  for (u64 plane = 0; plane < kHeads * kBlocksOfHead; ++plane)
    s_ += fmt::format("  copy_cbuf_to_ubuf {}, {}, 0, {}, 1, {}, 0\n", kUbValues + plane * kPlane,
                      qkv(n) + (2 * kOutRowBlocks + plane) * kBlock, kBatchTokens, kRowBlocks - 1);
  s_ +=
      set("PIPE_MTE1", "PIPE_MTE2", n % kSlots) + set("PIPE_MTE1", "PIPE_MTE3", 0) + wait("PIPE_MTE1", "PIPE_MTE3", 0);
  constexpr u64 kGap = (kPlane - kBatchTokens * kBlock) / kBlock;
  for (u64 head = 0; head < kHeads; ++head)
    s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, {}, {}, {}, {}\n", kL1V + head * kL1Head,
                      kUbValues + head * kBlocksOfHead * kPlane, kBlocksOfHead, kBatchTokens, kGap, kGap);
  s_ += set("PIPE_MTE3", "PIPE_MTE1", 0);
}

// O = v * P, transposed, and the sums of P: those of a pair in its row, those of the shared column by themselves.
void Fused::multiply_values_of(u64 n) {
  s_ += wait("PIPE_MTE3", "PIPE_MTE1", 2 + n % 2) + wait("PIPE_MTE3", "PIPE_MTE1", 0);
  for (u64 window = 0; window < kWindows; ++window) {
    s_ += wait("PIPE_M", "PIPE_MTE1", 1);
    for (u64 head = 0; head < kHeads; ++head)
      fetch_pair(n, window, head);
    fetch_ones(kHeads, 0);
    s_ += set("PIPE_MTE1", "PIPE_M", 1) + wait("PIPE_MTE1", "PIPE_M", 1);
    if (window == 0) s_ += wait("PIPE_V", "PIPE_M", 2);
    for (u64 head = 0; head < kHeads; ++head)
      multiply_pair(window * kHeads + head, head);
    s_ += set("PIPE_M", "PIPE_MTE1", 1);
  }
  s_ += set("PIPE_M", "PIPE_V", 2);
}

void Fused::fetch_ones(u64 slot, u64 row) {
  s_ += fmt::format("  load_cbuf_to_ca {}, {}, 0, 4, 0, 0, 0\n", kL0Sums + slot * kL0SumsBytes,
                    kL1Constants + kOnesAt - row * kBlock);
}

void Fused::fetch_pair(u64 n, u64 window, u64 head) {
  const u64 pair = window * kHeads + head, to = kL0P + head * kL0PBytes;
  for (u64 m1 = 0; m1 < kBlocksOfHead; ++m1)
    s_ += fmt::format("  load_cbuf_to_ca {}, {}, 0, 4, 1, 0, 1\n", kL0V + head * kL0VBytes + m1 * 4 * kFractal,
                      kL1V + head * kL1Head + m1 * kPlane + window * kTokens * kBlock);
  fetch_ones(head, pair);
  for (u64 k1 = 0; k1 < 4; ++k1)
    s_ += fmt::format("  load_cbuf_to_cb {}, {}, {}, {}, 4, 0, 1\n", to + k1 * kOwn * kFractal,
                      l1p(n) + pair * kOwn * kColumn, k1, kOwn);
  s_ += fmt::format("  load_cbuf_to_cb {}, {}, 0, 4, 1, 0, 1\n", to + kL0PShared, l1p(n) + (kShared + pair) * kColumn);
}

void Fused::multiply_pair(u64 pair, u64 head) {
  const u64 v = kL0V + head * kL0VBytes, own = kL0P + head * kL0PBytes, shared = own + kL0PShared;
  const auto product = [&](u64 to, u64 a, u64 rows, u64 b, u64 columns, bool init) {
    s_ +=
        fmt::format("  mad.f162f32 {}, {}, {}, {}, {}, {}, {}\n", to, a, b, rows, kTokens, columns * 16, init ? 1 : 0);
  };
  product(kL0cOut + kShared * kOutColumn, v, kDepth, shared, 1, pair == 0);
  product(kL0cSums + kOwn * 1024, kL0Sums + kHeads * kL0SumsBytes, 16, shared, 1, pair == 0);
  product(kL0cSums, kL0Sums + head * kL0SumsBytes, 16, own, kOwn, pair == 0);
  product(kL0cOut + pair * kOwn * kOutColumn, v, kDepth, own, kOwn, true);
  if (pair + 1 < kPairs) s_ += kCubeFence;
}

}  // namespace vinci::studies::swin::fused_kernel
