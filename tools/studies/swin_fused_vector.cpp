// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The vector unit in the fused kernel: softmax of S, and O by its sums.
#include "tools/studies/swin_fused.h"

namespace vinci::studies::swin::fused_kernel {

void Fused::fetch_scores(u64 n) {
  p_.wait_flag(PipeId::MTE3, PipeId::V, n % 2);
  p_.wait_flag(PipeId::M, PipeId::V, n % 2);
  p_.copy_matrix_cc_to_ubuf(Type::f16, ub(n), l0c(n), 0, 1, kColumns * 4, 0, 0, 0);
  p_.set_flag(PipeId::V, PipeId::M, n % 2);
}

// The largest of each query over the 49 keys: an accumulator in each block.
void Fused::largest(u64 n) {
  for (u64 c = 0; c < kColumns; c += 8) {
    if (c + 8 > kColumns) lanes(p_, (kColumns - c) * 16);
    p_.vmax(Type::f16, kUbLargest + c * kBlock, ub(n) + c * kColumn, kUbLargest + c * kBlock, kTokens, 1, kColumnBlocks,
            1, 0, 1, 0);
  }
  lanes(p_, 128);
}

void Fused::shift() { p_.vmuls(Type::f16, kUbShift, kUbLargest, factor_ ^ 0x8000, 3, 1, 1, 8, 8); }

// write(address, column, repeats, block stride, columns from block to block) for all elements: eight columns at a
// time, then eight keys of the others, then their last key.
template <class Write>
void Fused::scores(u64 n, const Write& write) {
  constexpr u64 kRest = kColumns / 8 * 8, kKeys = kTokens / 8;
  for (u64 c = 0; c < kRest; c += 8)
    write(ub(n) + c * kColumn, c, kTokens, kColumnBlocks, 1, 1);
  for (u64 c = kRest; c < kColumns; ++c)
    write(ub(n) + c * kColumn, c, kKeys, 1, 8, 0);
  lanes(p_, (kColumns - kRest) * 16);
  write(ub(n) + kRest * kColumn + kKeys * 8 * kBlock, kRest, 1, kColumnBlocks, 1, 1);
  lanes(p_, 128);
}

// factor * (S - largest), in one rounding
void Fused::subtract(u64 n) {
  scores(n, [&](u64 to, u64 column, u64 repeats, u64 block_stride, u64 stride, u64 by) {
    p_.vmadd(Type::f16, to, kUbFactor, kUbShift + column * kBlock, repeats, block_stride, 0, by, stride, 0, 0);
  });
  dup(kUbLargest, -65504, 3);
}

void Fused::exponentials(u64 n) {
  scores(n, [&](u64 to, u64, u64 repeats, u64 block_stride, u64 stride, u64) {
    p_.vexp(Type::f16, to, to, repeats, block_stride, block_stride, stride, stride);
  });
}

// The shared column once for each pair, and P to L1. The last repeat takes 7 keys too many, which the product leaves
// out.
void Fused::separate(u64 n) {
  for (u64 pair = 0; pair < kPairs; ++pair) {
    const u64 lane = 0x0001000100010001 << pair;
    p_.set_vector_mask(lane, lane);
    p_.vmuls(Type::f16, ub(n) + kAlone + pair * kColumn, ub(n) + kShared * kColumn, isa::f16(1), 7, 1, 1, 8, 8);
  }
  lanes(p_, 128);
  p_.hand_over(PipeId::V, PipeId::MTE3, n % 2);
  constexpr u64 kOwnBytes = kShared * kColumn;
  p_.copy_ubuf_to_cbuf(l1p(n), ub(n), 0, 1, kOwnBytes / kBlock, 0, 0);
  p_.copy_ubuf_to_cbuf(l1p(n) + kOwnBytes, ub(n) + kAlone, 0, 1, kAloneBytes / kBlock, 0, 0);
  p_.set_flag(PipeId::MTE3, PipeId::MTE1, 2 + n % 2);
  p_.set_flag(PipeId::MTE3, PipeId::V, n % 2);
}

// O and sums to UB, columns of O as [query / 16][pair], as the sums are.
void Fused::fetch_products() {
  p_.wait_flag(PipeId::M, PipeId::V, 2);
  const auto copy = [&](u64 to, u64 from, u64 pieces, u64 fractals, u64 gap) {
    p_.copy_matrix_cc_to_ubuf(Type::f32, to, from, 0, pieces, fractals, 0, gap, 0);
  };
  for (u64 pair = 0; pair < kPairs; ++pair)
    copy(kUbOut32 + pair * kOutColumn, kL0cOut + pair * kOwn * kOutColumn, kOwn, kBlocksOfHead,
         (kPairs - 1) * kOutColumn / kBlock);
  copy(kUbOut32 + kShared * kOutColumn, kL0cOut + kShared * kOutColumn, 1, kBlocksOfHead, 0);
  copy(kUbSums, kL0cSums, 1, kSumFractals, 0);
  p_.set_flag(PipeId::V, PipeId::M, 2);
}

void Fused::invert_sums() {
  const auto invert = [&](u64 column, u64 from, u64 repeats) {
    p_.vdiv(Type::f32, kUbInverse + column * 2 * kBlock, kUbUnity, kUbSums + from * 1024, repeats, 1, 0, 1, kPairs, 0,
            kPairs);
  };
  lanes(p_, kPairs * 8);
  for (u64 n1 = 0; n1 < kOwn; ++n1)
    invert(n1 * kPairs, n1, 2);
  lanes(p_, 16);
  invert(kShared, kOwn, 1);
  lanes(p_, 128);
}

// Each half of a row: eight columns at a time, then eight channels of the others.
void Fused::divide() {
  constexpr u64 kBlocks = kOutColumn / kBlock, kRest = kColumns / 8 * 8;
  for (u64 half = 0; half < 2; ++half) {
    const auto multiply = [&](u64 c, u64 repeats, u64 blocks, u64 by, u64 stride) {
      p_.vmul(Type::f32, kUbOut32 + c * kOutColumn + half * kBlock, kUbOut32 + c * kOutColumn + half * kBlock,
              kUbInverse + (c * 2 + half) * kBlock, repeats, blocks, blocks, by, stride, stride, 0);
    };
    for (u64 c = 0; c < kRest; c += 8)
      multiply(c, kDepth, kBlocks, 2, 2);
    for (u64 c = kRest; c < kColumns; ++c)
      multiply(c, kDepth / 8, 2, 0, 16);
  }
}

void Fused::narrow() { p_.vconv_f322f16(kUbOut16, kUbOut32, kColumns * kOutColumn / 256, 1, 1, 4, 8); }

// To rows of tokens.
void Fused::transpose() {
  p_.wait_flag(PipeId::MTE3, PipeId::V, 2);
  const auto row = [](u64 window, u64 token, u64 column) {
    return kUbRows + ((window * kTokens + token) * kOutRowBlocks + column) * kBlock;
  };
  const auto tiles = [&](u64 column, const std::array<u64, 16>& to, u64 count) {
    std::array<u64, 16> from{};
    for (u64 i = 0; i < 16; ++i)
      from[i] = kUbOut16 + column * kOutColumn / 2 + i * kBlock;
    va_registers(p_, 0, to);
    va_registers(p_, 2, from);
    p_.scatter_vnchwconv_b16(0, 2, count, 1, 16);
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
  p_.hand_over(PipeId::V, PipeId::MTE3, 2);
  locate(n);
  p_.mul(at, at, kBatchTokens * kOutRowBlocks * kBlock);
  p_.add(at, at, out_gm);
  p_.copy_ubuf_to_gm(at, kUbRows, 0, 1, kBatchTokens * kOutRowBlocks, 0, 0);
  p_.set_flag(PipeId::MTE3, PipeId::V, 2);
}

// The steps of O where no batch runs at the same time.
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
