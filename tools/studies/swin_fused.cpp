// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Window attention in one kernel: S never leaves the core.
#include <algorithm>

#include "isa/base/error.h"
#include "tools/studies/swin_kernels.h"
#include "tools/studies/swin_parts.h"

namespace vinci::studies::swin {
namespace {

// A batch is all heads of a few neighbouring windows: one piece of memory, both in qkv and in the output, so MTE2 and
// MTE3 pay the start of one copy.
constexpr u64 kWindows = kFusedWindows, kPairs = kWindows * kHeads, kColumns = kPairs * 4;
constexpr u64 kBatchTokens = kWindows * kTokens, kRowBlocks = kRowBytes / kBlock;
constexpr u64 kOutRowBlocks = kRowBlocks / 3, kBlocksOfHead = kDepth / 16;
constexpr u64 kScores = kPairs * kScoreBytes;                      // of a batch in UB and L1
constexpr u64 kPlane = align_up(kBatchTokens * kBlock, u64{512});  // 16 channels of v, tokens one behind the other
constexpr u64 kPlaneFractals = kPlane / 512, kValues = kHeads * kBlocksOfHead * kPlane;
constexpr u64 kSlackTokens =
    kPadded - kTokens;  // the last window is read as if it had 64 tokens; nothing depends on them

// What is made once and goes to L1: biases, no mask, masks of a window at the right edge, at the bottom and at both,
// the unit matrix, and ones.
constexpr u64 kMasksAt = kHeads * kScoreBytes, kUnitAt = kMasksAt + 4 * kScoreBytes, kOnesAt = kUnitAt + kScoreBytes;
constexpr u64 kConstants = kOnesAt + kPlane;

// UB. What biases are made from lies in front, before the first batch.
constexpr u64 kUbScores = 0, kUbTree = kUbScores + 2 * kScores;
constexpr u64 kUbResult = kUbTree + kColumns * Softmax::kTreeRows * kBlock, kUbFactor = kUbResult + kColumns * kBlock;
constexpr u64 kUbUnity = kUbFactor + 256, kUbConstants = align_up(kUbUnity + 256, u64{512});
constexpr u64 kOutBlocks = 3, kWideRow = 2 * kBlock, kPairOut = kOutBlocks * kPadded * kWideRow;  // O and sums, f32
constexpr u64 kUbStage = kUbConstants;  // O, when the constants are in L1
constexpr u64 kUbOut = kUbConstants + std::max(kConstants, kPairs* kPairOut);
constexpr u64 kUbValues = kUbOut + (kBatchTokens + 7) * kOutRowBlocks * kBlock, kUbEnd = kUbValues + kValues;
static_assert(kUbEnd <= 256 * 1024 && kTokens * 2048 <= kUbFactor);
// L1: the table, constants, v, P in two slots, and qkv in four
constexpr u64 kL1Constants = align_up(kTableEdge * kTableEdge * kBlock, u64{512}), kL1V = kL1Constants + kConstants;
constexpr u64 kL1Head = (kBlocksOfHead + 1) * kPlane;  // v of a head, and ones
constexpr u64 kL1P = kL1V + kHeads * kL1Head + 512, kL1Qkv = kL1P + 2 * kScores;
constexpr u64 kSlots = 4, kL1Slot = (kBatchTokens + kSlackTokens) * kRowBytes;
static_assert(kL1Qkv + kSlots * kL1Slot <= 1024 * 1024);
// L0A and L0B: k and q, then biases and two masks in one, the unit matrix in the other. L0C: S as f16 in two slots,
// then O with the sums as a third block of columns.
constexpr u64 kL0Bias = kPairs * kPairBytes, kL0Masks = kL0Bias + kHeads * kScoreBytes, kL0Unit = kL0Bias;
static_assert(kL0Masks + kWindows * kScoreBytes <= 64 * 1024);
constexpr u64 kL0cOut = 2 * kScores;

class Fused {
 public:
  Fused(const Shape& s, u64 blocks, u32 factor, u32 inverse)
      : blocks_(blocks), count_(s.fused_batches() / blocks), factor_(factor), inverse_(inverse) {
    VINCI_CHECK(s.fused_batches() % blocks == 0);
  }

  // Beside the softmax of batch n, S of batch n + 1 is computed, the products with v of batch n - 1, and batch n + 3 is
  // loaded. The scalar unit issues in this order and stops where a queue is full, so what comes first must be what can
  // run first.
  std::string assembly() {
    prologue();
    multiply_scores_of(0);
    for (u64 n = 0; n < count_; ++n) {
      if (n + kSlots - 1 < count_) load(n + kSlots - 1);
      if (n > 0) multiply_values_of(n - 1);
      attend(n);
      if (n + 1 < count_) multiply_scores_of(n + 1);
      stage_values(n);
      if (n > 0) finish(n - 1);
    }
    multiply_values_of(count_ - 1);
    finish(count_ - 1);
    free_flags("wait_flag");
    return s_ + "  pipe_barrier PIPE_ALL\n  end\n";
  }

 private:
  static u64 qkv(u64 n) { return kL1Qkv + n % kSlots * kL1Slot; }
  static u64 ub(u64 n) { return kUbScores + n % 2 * kScores; }
  static u64 l0c(u64 n) { return n % 2 * kScores; }
  static u64 l1p(u64 n) { return kL1P + n % 2 * kScores; }

  void free_flags(std::string_view what) {
    for (u64 slot = 0; slot < kSlots; ++slot)
      s_ += flag(what, "PIPE_MTE1", "PIPE_MTE2", slot);  // qkv in L1
    s_ += flag(what, "PIPE_M", "PIPE_MTE1", 0);          // L0A and L0B
    for (u64 event = 0; event < 3; ++event)
      s_ += flag(what, "PIPE_V", "PIPE_M", event);  // S in two slots and O in L0C
    s_ += flag(what, "PIPE_MTE3", "PIPE_V", 1);     // the output in UB
  }

  void prologue() {
    s_ = "  ld_arg X3, 0\n  ld_arg X4, 1\n  ld_arg X5, 2\n  ld_arg X6, 3\n  get_block_idx X0\n" + table_map();
    free_flags("set_flag");
    s_ += wait("PIPE_MTE1", "PIPE_MTE2", kSlots - 1);  // the table has the event of the last slot
    s_ += fmt::format("  copy_gm_to_cbuf 0, X4, 0, 1, {}, 0, 0\n", kTableEdge * kTableEdge);
    s_ += set("PIPE_MTE2", "PIPE_MTE1", kSlots - 1) + wait("PIPE_MTE2", "PIPE_MTE1", kSlots - 1);
    // A window at the right edge, one at the bottom and the one at both, as far from each other: one copy.
    constexpr u64 kTile = kScoreBytes / kBlock, kFirst = 55, kStep = 4;
    constexpr u64 kUbMasks = kUbConstants + kMasksAt, kUbUnit = kUbConstants + kUnitAt;
    s_ += fmt::format("  add X10, X5, {}\n  copy_gm_to_ubuf {}, X10, 0, 3, {}, {}, 0\n", kFirst * kScoreBytes,
                      kUbMasks + kScoreBytes, kTile, (kStep - 1) * kTile);
    s_ += set("PIPE_MTE2", "PIPE_V", 0);
    for (u64 n = 0; n + 1 < kSlots && n < count_; ++n)
      load(n);
    // The biases of a key: four fractals of [16 queries][head] become [head][query / 16] blocks. Padding of the biases
    // meets padding of S.
    for (u64 j = 0; j < kTokens; ++j)
      s_ += fetch_bias(j * 2048, 0, fmt::format("{}", 6 - j % kEdge), fmt::format("{}", 6 - j / kEdge));
    s_ += set("PIPE_MTE1", "PIPE_V", 0) + set("PIPE_MTE1", "PIPE_MTE2", kSlots - 1);
    const auto dup = [&](u64 to, std::string_view value, u64 repeats, u64 stride) {
      s_ += fmt::format("  vector_dup.f16 {}, {}, {}, 1, 1, {}, 8\n", to, value, repeats, stride);
    };
    dup(kUbConstants, "0", (kMasksAt + kScoreBytes) / 256, 8);
    dup(kUbUnit, "0", kScoreBytes / 256, 8);
    dup(kUbConstants + kOnesAt, "1.0h", kPlane / 256, 8);
    s_ += fmt::format("  vector_dup.f16 {}, {}, 1, 1, 1, 8, 8\n  vector_dup.f32 {}, 1.0f, 1, 1, 1, 8, 8\n", kUbFactor,
                      factor_, kUbUnity);
    s_ += kFence;
    // Zeros behind each slot of qkv, which the tile without a mask has.
    s_ += set("PIPE_V", "PIPE_MTE3", 2) + wait("PIPE_V", "PIPE_MTE3", 2);
    for (u64 slot = 0; slot < kSlots; ++slot)
      for (u64 from = kBatchTokens * kRowBytes; from < kL1Slot; from += kScoreBytes)
        s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", qkv(slot) + from, kUbConstants + kMasksAt,
                          std::min(kScoreBytes, kL1Slot - from) / kBlock);
    for (u64 i = 0; i < 16; ++i) {  // row i of the four fractals on the diagonal
      s_ += fmt::format("  set_vector_mask 0, {:#x}\n", u64{1} << i);
      dup(kUbUnit + i * kBlock, "1.0h", 4, 5 * 512 / kBlock);
    }
    s_ += "  set_vector_mask 0xffffffffffffffff, 0xffffffffffffffff\n" + wait("PIPE_MTE1", "PIPE_V", 0);
    constexpr u64 kRest = kUbOut;  // what the other 13 channels become
    for (u64 j = 0; j < kTokens; ++j) {
      std::array<u64, 16> from{}, to{};
      for (u64 i = 0; i < 16; ++i) {
        from[i] = j * 2048 + i * kBlock;
        to[i] = (i < kHeads ? kUbConstants + i * kScoreBytes : kRest) + j * kBlock;
      }
      s_ += va_registers(0, to) + va_registers(2, from);
      s_ += fmt::format("  scatter_vnchwconv_b16 0, 2, 4, {}, 16\n", kPadded);
    }
    // The softmax scales their sum with S, so biases and masks are divided.
    s_ += std::string(kFence) + wait("PIPE_MTE2", "PIPE_V", 0);
    for (const u64 at : {kUbConstants, kUbMasks + kScoreBytes})
      s_ += fmt::format("  vmuls.f16 {0}, {0}, {1}, {2}, 1, 1, 8, 8\n", at, inverse_, 3 * kScoreBytes / 256);
    s_ += set("PIPE_V", "PIPE_MTE3", 0) + wait("PIPE_V", "PIPE_MTE3", 0);
    s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", kL1Constants, kUbConstants, kOnesAt / kBlock);
    for (u64 head = 0; head < kHeads; ++head)
      s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", kL1V + head * kL1Head + kBlocksOfHead * kPlane,
                        kUbConstants + kOnesAt, kPlane / kBlock);
    s_ += set("PIPE_MTE3", "PIPE_MTE1", 1) + wait("PIPE_MTE3", "PIPE_MTE1", 1);
    // From here on the feature map is qkv: rows are tokens, columns its 18 blocks of channels.
    s_ += fmt::format("  set_fmatrix {:#x}\n", kRowBlocks | (kBatchTokens + kSlackTokens) << 16);
  }

  // X10: batch n among all; it has windows 2 * X10 and the next.
  void locate(u64 n) { s_ += fmt::format("  add X10, X0, {}\n", n * blocks_); }

  void load(u64 n) {
    locate(n);
    s_ += fmt::format("  mul X10, X10, {}\n  add X10, X10, X3\n", kBatchTokens * kRowBytes);
    s_ += wait("PIPE_MTE1", "PIPE_MTE2", n % kSlots);
    s_ += fmt::format("  copy_gm_to_cbuf {}, X10, 0, 1, {}, 0, 0\n", qkv(n), kBatchTokens * kRowBlocks);
    s_ += set("PIPE_MTE2", "PIPE_MTE1", n % kSlots);
  }

  // Fractals of 16 tokens and 16 channels from `token` and `block` on: the next blocks of the same tokens, or the next
  // tokens. A filter as wide as the row has one position in it.
  void fetch(std::string_view where, u64 to, u64 n, u64 token, u64 block, bool next_tokens, u64 count) {
    s_ += fmt::format("  img2col_cbuf_to_{}.b16 {}, {}, {}, 0, 0, {}, 0, 1, 1, {}, 1, 1, 1, 1, {}, {}, 0\n", where, to,
                      qkv(n), block, token, kRowBlocks, next_tokens ? 1 : 0, count);
  }

  // S = mask * 1 + bias * 1 + k * q in this order: the first sums are exact in f16 where the mask is 0, so S is rounded
  // once.
  void multiply_scores_of(u64 n) {
    static_assert(kWindows == 2 && kWindowsOfRow == 8);
    locate(n);
    // X12, X13: which mask each window has, 0 for none; X14, X15: where it is. Only the second can be at the right
    // edge.
    s_ += fmt::format(
        "  rem X13, X10, 4\n  div X13, X13, 3\n  div X12, X10, 4\n  rem X12, X12, 8\n  div X12, X12, 7\n"
        "  mul X12, X12, 2\n  add X13, X13, X12\n  mul X14, X12, {0}\n  add X14, X14, {1}\n  mul X15, X13, {0}\n"
        "  add X15, X15, {1}\n",
        kScoreBytes, kL1Constants + kMasksAt);
    s_ += wait("PIPE_MTE2", "PIPE_MTE1", n % kSlots) + wait("PIPE_M", "PIPE_MTE1", 0);
    for (u64 pair = 0; pair < kPairs; ++pair) {
      const u64 token = pair / kHeads * kTokens, block = pair % kHeads * kBlocksOfHead, to = pair * kPairBytes;
      for (u64 m1 = 0; m1 < 4; ++m1)
        fetch("ca", to + m1 * 1024, n, token + m1 * 16, kOutRowBlocks + block, false, 2);
      for (u64 k1 = 0; k1 < 2; ++k1)
        fetch("cb", to + k1 * 2048, n, token, block + k1, true, 4);
    }
    const auto tile = [&](u64 to, std::string_view from) {
      for (u64 m1 = 0; m1 < 4; ++m1)
        s_ += fmt::format("  load_cbuf_to_ca {}, {}, {}, 4, 4, 0, 0\n", to + m1 * 2048, from, m1);
    };
    for (u64 head = 0; head < kHeads; ++head)
      tile(kL0Bias + head * kScoreBytes, fmt::format("{}", kL1Constants + head * kScoreBytes));
    for (u64 window = 0; window < kWindows; ++window) {
      s_ += fmt::format("  blt X{}, 1, no_mask_{}_{}\n", 12 + window, n, window);
      tile(kL0Masks + window * kScoreBytes, fmt::format("X{}", 14 + window));
      s_ += fmt::format("no_mask_{}_{}:\n", n, window);
    }
    s_ += fmt::format("  load_cbuf_to_cb {}, {}, 0, 16, 1, 0, 0\n", kL0Unit, kL1Constants + kUnitAt);
    s_ += set("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_V", "PIPE_M", n % 2);
    const auto multiply = [&](u64 pair, u64 a, u64 b, u64 k, u64 init) {
      s_ += fmt::format("  mad.f162f16 {}, {}, {}, 64, {}, 64, {}\n", l0c(n) + pair * kScoreBytes, a, b, k, init);
    };
    const auto add_biases = [&](u64 window, u64 init) {
      for (u64 head = 0; head < kHeads; ++head)
        multiply(window * kHeads + head, kL0Bias + head * kScoreBytes, kL0Unit, kPadded, init);
    };
    for (u64 window = 0; window < kWindows; ++window) {
      s_ += fmt::format("  blt X{}, 1, unmasked_{}_{}\n", 12 + window, n, window);
      for (u64 head = 0; head < kHeads; ++head)
        multiply(window * kHeads + head, kL0Masks + window * kScoreBytes, kL0Unit, kPadded, 1);
      add_biases(window, 0);
      s_ += fmt::format("  b masked_{0}_{1}\nunmasked_{0}_{1}:\n", n, window);
      add_biases(window, 1);
      s_ += fmt::format("masked_{}_{}:\n", n, window);
    }
    for (u64 pair = 0; pair < kPairs; ++pair)
      multiply(pair, pair * kPairBytes, pair * kPairBytes, kDepth, 0);
    s_ += set("PIPE_M", "PIPE_MTE1", 0) + set("PIPE_M", "PIPE_V", n % 2);
  }

  // S to UB, e^(scale * (S - largest)), and as P to L1.
  void attend(u64 n) {
    s_ += wait("PIPE_M", "PIPE_V", n % 2);
    s_ += fmt::format("  copy_matrix_cc_to_ubuf.f16 {}, {}, 0, 1, {}, 0, 0, 0\n", ub(n), l0c(n), kPairs * 16);
    s_ += set("PIPE_V", "PIPE_M", n % 2) + std::string(kFence);
    s_ += Softmax{.scores = ub(n), .columns = kColumns, .tree = kUbTree, .result = kUbResult}.scaled_exponentials(
        factor_, kUbFactor);
    s_ += set("PIPE_V", "PIPE_MTE3", 1 + n % 2 * 2) + wait("PIPE_V", "PIPE_MTE3", 1 + n % 2 * 2);
    s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", l1p(n), ub(n), kScores / kBlock);
    s_ += set("PIPE_MTE3", "PIPE_MTE1", 2 + n % 2) + set("PIPE_MTE3", "PIPE_V", 2 + n % 2);
  }

  // v as planes of 16 channels, by way of UB; then qkv in L1 is free.
  void stage_values(u64 n) {
    for (u64 plane = 0; plane < kHeads * kBlocksOfHead; ++plane)
      s_ += fmt::format("  copy_cbuf_to_ubuf {}, {}, 0, {}, 1, {}, 0\n", kUbValues + plane * kPlane,
                        qkv(n) + (2 * kOutRowBlocks + plane) * kBlock, kBatchTokens, kRowBlocks - 1);
    s_ += set("PIPE_MTE1", "PIPE_MTE2", n % kSlots) + set("PIPE_MTE1", "PIPE_MTE3", 0) +
          wait("PIPE_MTE1", "PIPE_MTE3", 0);
    constexpr u64 kGap = (kPlane - kBatchTokens * kBlock) / kBlock;
    for (u64 head = 0; head < kHeads; ++head)
      s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, {}, {}, {}, {}\n", kL1V + head * kL1Head,
                        kUbValues + head * kBlocksOfHead * kPlane, kBlocksOfHead, kBatchTokens, kGap, kGap);
    s_ += set("PIPE_MTE3", "PIPE_MTE1", 0);
  }

  // O = P * [v, 1]: the sums of P come with it, in 16 equal columns.
  void multiply_values_of(u64 n) {
    s_ +=
        wait("PIPE_MTE3", "PIPE_MTE1", 2 + n % 2) + wait("PIPE_MTE3", "PIPE_MTE1", 0) + wait("PIPE_M", "PIPE_MTE1", 0);
    for (u64 pair = 0; pair < kPairs; ++pair) {
      s_ += fmt::format("  load_cbuf_to_ca {}, {}, 0, 16, 1, 0, 1\n", pair * kScoreBytes, l1p(n) + pair * kScoreBytes);
      const u64 v = kL1V + pair % kHeads * kL1Head + pair / kHeads * kTokens * kBlock;
      for (u64 k1 = 0; k1 < 4; ++k1)
        s_ += fmt::format("  load_cbuf_to_cb {}, {}, {}, {}, {}, 0, 1\n", (pair * 4 + k1) * kOutBlocks * 512, v, k1,
                          kOutBlocks, kPlaneFractals);
    }
    s_ += set("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_V", "PIPE_M", 2);
    for (u64 pair = 0; pair < kPairs; ++pair)
      s_ += fmt::format("  mad.f162f32 {}, {}, {}, 64, {}, {}, 1\n", kL0cOut + pair * kPairOut, pair * kScoreBytes,
                        pair * 4 * kOutBlocks * 512, kTokens, kOutBlocks * 16);
    s_ += set("PIPE_M", "PIPE_MTE1", 0) + set("PIPE_M", "PIPE_V", 2);
  }

  // O by its sums in f32, and to memory.
  void finish(u64 n) {
    s_ += wait("PIPE_M", "PIPE_V", 2) + wait("PIPE_MTE3", "PIPE_V", 2 + n % 2);  // P is in L1
    s_ += fmt::format("  copy_matrix_cc_to_ubuf.f32 {}, {}, 0, 1, {}, 0, 0, 0\n", kUbStage, kL0cOut,
                      kPairs * kOutBlocks * 4);
    s_ += set("PIPE_V", "PIPE_M", 2) + std::string(kFence);
    const auto columns = [&](u64 pair, u64 block) { return kUbStage + pair * kPairOut + block * kPadded * kWideRow; };
    // Half a row is enough of the sums.
    for (u64 pair = 0; pair < kPairs; ++pair)
      s_ += fmt::format("  vdiv.f32 {0}, {1}, {0}, 7, 2, 1, 2, 16, 0, 16\n", columns(pair, 2), kUbUnity);
    s_ += kFence;
    for (u64 pair = 0; pair < kPairs; ++pair)
      for (u64 half = 0; half < 2 * kBlocksOfHead; ++half)
        s_ += fmt::format("  vmul.f32 {0}, {0}, {1}, 7, 2, 2, 2, 16, 16, 16\n",
                          columns(pair, half / 2) + half % 2 * kBlock, columns(pair, 2));
    s_ += std::string(kFence) + wait("PIPE_MTE3", "PIPE_V", 1);
    // To rows of tokens; the last repeat writes 3 tokens too many, over which the next window goes.
    for (u64 window = 0; window < kWindows; ++window) {
      for (u64 block = 0; block < kOutRowBlocks; ++block)
        s_ += fmt::format(
            "  vconv_f322f16 {}, {}, 13, {}, 1, {}, 8\n", kUbOut + (window * kTokens * kOutRowBlocks + block) * kBlock,
            columns(window * kHeads + block / kBlocksOfHead, block % kBlocksOfHead), kOutRowBlocks, 4 * kOutRowBlocks);
      s_ += kFence;
    }
    s_ += set("PIPE_V", "PIPE_MTE3", 2) + wait("PIPE_V", "PIPE_MTE3", 2);
    locate(n);
    s_ += fmt::format("  mul X10, X10, {}\n  add X10, X10, X6\n  copy_ubuf_to_gm X10, {}, 0, 1, {}, 0, 0\n",
                      kBatchTokens * kOutRowBlocks * kBlock, kUbOut, kBatchTokens * kOutRowBlocks);
    s_ += set("PIPE_MTE3", "PIPE_V", 1);
  }

  u64 blocks_;
  u64 count_;             // batches of a block
  u32 factor_, inverse_;  // f16
  std::string s_;
};

}  // namespace

std::string fused(const Shape& s, u64 blocks, u32 factor_f16, u32 inverse_f16) {
  return Fused(s, blocks, factor_f16, inverse_f16).assembly();
}

}  // namespace vinci::studies::swin
