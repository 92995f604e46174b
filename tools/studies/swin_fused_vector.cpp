// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The vector unit in the fused kernel: softmax of S, and O by its sums.
#include "tools/studies/swin_fused.h"

namespace vinci::studies::swin::fused_kernel {

void Fused::fetch_scores(u64 n) {
  s_ += wait("PIPE_MTE3", "PIPE_V", n % 2) + wait("PIPE_M", "PIPE_V", n % 2);
  s_ += fmt::format("  copy_matrix_cc_to_ubuf.f16 {}, {}, 0, 1, {}, 0, 0, 0\n", ub(n), l0c(n), kColumns * 4);
  s_ += set("PIPE_V", "PIPE_M", n % 2);
}

// The largest of each query over the 49 keys: an accumulator in each block.
void Fused::largest(u64 n) {
  for (u64 c = 0; c < kColumns; c += 8) {
    if (c + 8 > kColumns) s_ += lanes((kColumns - c) * 16);
    s_ += fmt::format("  vmax.f16 {0}, {1}, {0}, {2}, 1, {3}, 1, 0, 1, 0\n", kUbLargest + c * kBlock,
                      ub(n) + c * kColumn, kTokens, kColumnBlocks);
  }
  s_ += lanes(128);
}

void Fused::shift() {
  s_ += fmt::format("  vmuls.f16 {}, {}, {}, 3, 1, 1, 8, 8\n", kUbShift, kUbLargest, factor_ ^ 0x8000);
}

// make(address, column, repeats, block stride, columns from block to block) for all elements: eight columns at a
// time, then eight keys of the others, then their last key.
template <class Make>
void Fused::scores(u64 n, const Make& make) {
  constexpr u64 kRest = kColumns / 8 * 8, kKeys = kTokens / 8;
  for (u64 c = 0; c < kRest; c += 8)
    make(ub(n) + c * kColumn, c, kTokens, kColumnBlocks, 1, 1);
  for (u64 c = kRest; c < kColumns; ++c)
    make(ub(n) + c * kColumn, c, kKeys, 1, 8, 0);
  s_ += lanes((kColumns - kRest) * 16);
  make(ub(n) + kRest * kColumn + kKeys * 8 * kBlock, kRest, 1, kColumnBlocks, 1, 1);
  s_ += lanes(128);
}

// factor * (S - largest), in one rounding
void Fused::subtract(u64 n) {
  scores(n, [&](u64 at, u64 column, u64 repeats, u64 block_stride, u64 stride, u64 by) {
    s_ += fmt::format("  vmadd.f16 {}, {}, {}, {}, {}, 0, {}, {}, 0, 0\n", at, kUbFactor, kUbShift + column * kBlock,
                      repeats, block_stride, by, stride);
  });
  dup(kUbLargest, "-65504.0h", 3);
}

void Fused::exponentials(u64 n) {
  scores(n, [&](u64 at, u64, u64 repeats, u64 block_stride, u64 stride, u64) {
    s_ += fmt::format("  vexp.f16 {0}, {0}, {1}, {2}, {2}, {3}, {3}\n", at, repeats, block_stride, stride);
  });
}

// The shared column once for each pair, and P to L1. The last repeat takes 7 keys too many, which the product leaves
// out.
void Fused::separate(u64 n) {
  for (u64 pair = 0; pair < kPairs; ++pair) {
    const u64 lane = 0x0001000100010001 << pair;
    s_ += fmt::format("  set_vector_mask {0:#x}, {0:#x}\n  vmuls.f16 {1}, {2}, 1.0h, 7, 1, 1, 8, 8\n", lane,
                      ub(n) + kAlone + pair * kColumn, ub(n) + kShared * kColumn);
  }
  s_ += lanes(128) + set("PIPE_V", "PIPE_MTE3", n % 2) + wait("PIPE_V", "PIPE_MTE3", n % 2);
  constexpr u64 kOwnBytes = kShared * kColumn;
  s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", l1p(n), ub(n), kOwnBytes / kBlock);
  s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", l1p(n) + kOwnBytes, ub(n) + kAlone,
                    kAloneBytes / kBlock);
  s_ += set("PIPE_MTE3", "PIPE_MTE1", 2 + n % 2) + set("PIPE_MTE3", "PIPE_V", n % 2);
}

// O and sums to UB, columns of O as [query / 16][pair], as the sums are.
void Fused::fetch_products() {
  s_ += wait("PIPE_M", "PIPE_V", 2);
  const auto copy = [&](u64 to, u64 from, u64 pieces, u64 fractals, u64 gap) {
    s_ += fmt::format("  copy_matrix_cc_to_ubuf.f32 {}, {}, 0, {}, {}, 0, {}, 0\n", to, from, pieces, fractals, gap);
  };
  for (u64 pair = 0; pair < kPairs; ++pair)
    copy(kUbOut32 + pair * kOutColumn, kL0cOut + pair * kOwn * kOutColumn, kOwn, kBlocksOfHead,
         (kPairs - 1) * kOutColumn / kBlock);
  copy(kUbOut32 + kShared * kOutColumn, kL0cOut + kShared * kOutColumn, 1, kBlocksOfHead, 0);
  copy(kUbSums, kL0cSums, 1, kSumFractals, 0);
  s_ += set("PIPE_V", "PIPE_M", 2);
}

void Fused::invert_sums() {
  const auto invert = [&](u64 column, u64 from, u64 repeats) {
    s_ += fmt::format("  vdiv.f32 {}, {}, {}, {}, 1, 0, 1, {}, 0, {}\n", kUbInverse + column * 2 * kBlock, kUbUnity,
                      kUbSums + from * 1024, repeats, kPairs, kPairs);
  };
  s_ += lanes(kPairs * 8);
  for (u64 n1 = 0; n1 < kOwn; ++n1)
    invert(n1 * kPairs, n1, 2);
  s_ += lanes(16);
  invert(kShared, kOwn, 1);
  s_ += lanes(128);
}

// Each half of a row: eight columns at a time, then eight channels of the others.
void Fused::divide() {
  constexpr u64 kBlocks = kOutColumn / kBlock, kRest = kColumns / 8 * 8;
  for (u64 half = 0; half < 2; ++half) {
    const auto multiply = [&](u64 c, u64 repeats, u64 blocks, u64 by, u64 stride) {
      s_ += fmt::format("  vmul.f32 {0}, {0}, {1}, {2}, {3}, {3}, {4}, {5}, {5}, 0\n",
                        kUbOut32 + c * kOutColumn + half * kBlock, kUbInverse + (c * 2 + half) * kBlock, repeats,
                        blocks, by, stride);
    };
    for (u64 c = 0; c < kRest; c += 8)
      multiply(c, kDepth, kBlocks, 2, 2);
    for (u64 c = kRest; c < kColumns; ++c)
      multiply(c, kDepth / 8, 2, 0, 16);
  }
}

void Fused::narrow() {
  s_ += fmt::format("  vconv_f322f16 {}, {}, {}, 1, 1, 4, 8\n", kUbOut16, kUbOut32, kColumns * kOutColumn / 256);
}

// To rows of tokens.
void Fused::transpose() {
  s_ += wait("PIPE_MTE3", "PIPE_V", 2);
  const auto row = [](u64 window, u64 token, u64 block) {
    return kUbRows + ((window * kTokens + token) * kOutRowBlocks + block) * kBlock;
  };
  const auto tiles = [&](u64 column, const std::array<u64, 16>& to, u64 count) {
    std::array<u64, 16> from{};
    for (u64 i = 0; i < 16; ++i)
      from[i] = kUbOut16 + column * kOutColumn / 2 + i * kBlock;
    s_ += va_registers(0, to) + va_registers(2, from);
    s_ += fmt::format("  scatter_vnchwconv_b16 0, 2, {}, 1, 16\n", count);
  };
  std::array<u64, 16> to{};
  for (u64 window = 0; window < kWindows; ++window)
    for (u64 n1 = 0; n1 < kOwn; ++n1) {
      for (u64 i = 0; i < 16; ++i)
        to[i] = row(window, n1 * 16 + i, 0);
      tiles(n1 * kPairs + window * kHeads, to, kOutRowBlocks);
    }
  for (u64 i = 0; i < 16; ++i)
    to[i] = i < kPairs ? row(i / kHeads, kLastToken, i % kHeads * kBlocksOfHead) : kUbUnused + i * 2 * kBlock;
  tiles(kShared, to, kBlocksOfHead);
}

void Fused::store(u64 n) {
  s_ += set("PIPE_V", "PIPE_MTE3", 2) + wait("PIPE_V", "PIPE_MTE3", 2);
  locate(n);
  s_ += fmt::format("  mul X10, X10, {}\n  add X10, X10, X6\n  copy_ubuf_to_gm X10, {}, 0, 1, {}, 0, 0\n",
                    kBatchTokens * kOutRowBlocks * kBlock, kUbRows, kBatchTokens * kOutRowBlocks);
  s_ += set("PIPE_MTE3", "PIPE_V", 2);
}

// The steps of O where no batch is beside.
void Fused::finish(u64 n) {
  invert_sums();
  fence();
  divide();
  fence();
  narrow();
  fence();
  transpose();
  fence();
  store(n);
}

}  // namespace vinci::studies::swin::fused_kernel
