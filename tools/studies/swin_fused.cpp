// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Window attention in one kernel: S never leaves the core.
#include "isa/base/error.h"
#include "tools/studies/swin_kernels.h"
#include "tools/studies/swin_parts.h"

namespace vinci::studies::swin {
namespace {

constexpr u64 kColumns = kBatch * 4;
constexpr u64 kScores = kBatch * kScoreBytes;      // of a batch in UB and L1
constexpr u64 kHalf = kBatch * kTokens * kBlock;   // 16 channels of a batch, tokens one behind the other
constexpr u64 kPlane = align_up(kHalf, u64{512});  // the same in L1
constexpr u64 kPlaneFractals = kPlane / 512;

// UB
constexpr u64 kUbScores = 0;  // two slots; before the first batch, what the biases are made from
constexpr u64 kUbBias = kUbScores + 2 * kScores, kUbMasks = kUbBias + kHeads * kScoreBytes;
constexpr u64 kUbQ = kUbMasks + 3 * kScoreBytes, kUbTree = kUbQ + 2 * kHalf;
constexpr u64 kUbResult = kUbTree + kColumns * Softmax::kTreeRows * kBlock, kUbOnes = kUbResult + kColumns * kBlock;
constexpr u64 kUbOut = kUbOnes + 512, kUbEnd = kUbOut + 2 * kHalf;
static_assert(kUbEnd <= 256 * 1024);
// L1: the table, ones, then slots
constexpr u64 kL1Ones = align_up(kTableEdge * kTableEdge * kBlock, u64{512}), kL1Slots = kL1Ones + 512;
constexpr u64 kL1K = 0, kL1V = kL1K + 2 * kPlane + 512, kL1Q = kL1V + 2 * kPlane + 512, kL1P = kL1Q + 2 * kPlane + 512,
              kL1Slot = kL1P + kScores;
constexpr u64 kSlots = 4;
static_assert(kL1Slots + kSlots * kL1Slot <= 1024 * 1024);
// L0C: S, then O with the sums as a third block of columns
constexpr u64 kOutBlocks = 3, kL0cOut = kBatch * 16384, kPairOut = kOutBlocks * kPadded * kBlock;

class Fused {
 public:
  Fused(const Shape& s, u64 blocks, u32 factor) : blocks_(blocks), count_(s.batches() / blocks), factor_(factor) {
    VINCI_CHECK(s.batches() % blocks == 0);
  }

  // Flags of two batches can be up at once: those of q in L1 and of P have an event for each slot.
  //
  // Beside the softmax of batch n, S of batch n + 1 is computed, the products with v of batch n - 1, and batch n + 2 is
  // loaded. The scalar unit issues in this order and stops where a queue is full, so what comes first must be what can
  // run first.
  std::string assembly() {
    prologue();
    scale(0);
    if (count_ > 1) load(1);
    multiply_scores_of(0);
    for (u64 n = 0; n < count_; ++n) {
      if (n + 1 < count_) scale(n + 1);
      if (n + 2 < count_) load(n + 2);
      attend(n);
      if (n + 1 < count_) multiply_scores_of(n + 1);
      if (n == 0) continue;
      multiply_values_of(n - 1);
      finish(n - 1);
    }
    multiply_values_of(count_ - 1);
    finish(count_ - 1);
    free_flags("wait_flag");
    return s_ + "  pipe_barrier PIPE_ALL\n  end\n";
  }

 private:
  static u64 l1(u64 n) { return kL1Slots + n % kSlots * kL1Slot; }
  static u64 ub(u64 n) { return kUbScores + n % 2 * kScores; }

  void free_flags(std::string_view what) {
    for (u64 slot = 0; slot < kSlots; ++slot)
      s_ += flag(what, "PIPE_MTE1", "PIPE_MTE2", slot);                           // k and v in L1
    s_ += flag(what, "PIPE_MTE3", "PIPE_MTE2", 0);                                // q in UB
    s_ += flag(what, "PIPE_M", "PIPE_MTE1", 0);                                   // L0A and L0B
    s_ += flag(what, "PIPE_V", "PIPE_M", 0) + flag(what, "PIPE_V", "PIPE_M", 1);  // S and O in L0C
    s_ += flag(what, "PIPE_MTE3", "PIPE_V", 1);                                   // the output in UB
  }

  void prologue() {
    s_ = "  ld_arg X3, 0\n  ld_arg X4, 1\n  ld_arg X5, 2\n  ld_arg X6, 3\n  get_block_idx X0\n" + table_map();
    free_flags("set_flag");
    s_ += fmt::format("  copy_gm_to_cbuf 0, X4, 0, 1, {}, 0, 0\n", kTableEdge * kTableEdge);
    s_ += set("PIPE_MTE2", "PIPE_MTE1", kSlots - 1) + wait("PIPE_MTE2", "PIPE_MTE1", kSlots - 1);
    load(0);
    // Masks of a window at the right edge, at the bottom, and at both.
    u64 at = kUbMasks;
    for (const u64 window : {7, 56, 63}) {
      s_ += fmt::format("  add X10, X5, {}\n  copy_gm_to_ubuf {}, X10, 0, 1, {}, 0, 0\n", window * kScoreBytes, at,
                        kScoreBytes / kBlock);
      at += kScoreBytes;
    }
    s_ += set("PIPE_MTE2", "PIPE_V", 1);
    s_ += fmt::format("  vector_dup.f16 {}, 1.0h, 2, 1, 1, 8, 8\n", kUbOnes);
    s_ += set("PIPE_V", "PIPE_MTE3", 2) + wait("PIPE_V", "PIPE_MTE3", 2);
    s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, 16, 0, 0\n", kL1Ones, kUbOnes);
    // Padding of the biases meets padding of S.
    s_ += fmt::format("  vector_dup.f16 {}, 0, {}, 1, 1, 8, 8\n", kUbBias, kHeads * kScoreBytes / 256) +
          std::string(kFence);
    // The biases of a key: four fractals of [16 queries][head] become [head][query / 16] blocks.
    for (u64 j = 0; j < kTokens; ++j)
      s_ += fetch_bias(kUbScores + j * 2048, 0, fmt::format("{}", 6 - j % kEdge), fmt::format("{}", 6 - j / kEdge));
    s_ += set("PIPE_MTE1", "PIPE_V", 0) + wait("PIPE_MTE1", "PIPE_V", 0);
    constexpr u64 kRest = kUbTree;  // what the other 13 channels become
    for (u64 j = 0; j < kTokens; ++j) {
      std::array<u64, 16> from{}, to{};
      for (u64 i = 0; i < 16; ++i) {
        from[i] = kUbScores + j * 2048 + i * kBlock;
        to[i] = (i < kHeads ? kUbBias + i * kScoreBytes : kRest) + j * kBlock;
      }
      s_ += va_registers(0, to) + va_registers(2, from);
      s_ += fmt::format("  scatter_vnchwconv_b16 0, 2, 4, {}, 16\n", kPadded);
    }
    s_ += std::string(kFence) + wait("PIPE_MTE2", "PIPE_V", 1);
  }

  // X11: first token of batch n, X12: its head, X13: its row of windows in the image. The heads of a row of windows are
  // batches of neighbouring blocks at the same time: they share lines of memory.
  void locate(u64 n) {
    s_ += fmt::format(
        "  add X10, X0, {0}\n  rem X12, X10, {1}\n  div X11, X10, {1}\n  rem X13, X11, {2}\n"
        "  mul X11, X11, {3}\n",
        n * blocks_, kHeads, kWindowsOfImage / kWindowsOfRow, kBatch * kTokens);
  }

  // k and v to L1, q to UB.
  void load(u64 n) {
    locate(n);
    s_ += fmt::format("  mul X10, X11, {}\n  mul X14, X12, {}\n  add X10, X10, X14\n  add X10, X10, X3\n", kRowBytes,
                      kDepth * 2);
    const auto copy = [&](std::string_view what, u64 to, u64 half, u64 part) {
      s_ += fmt::format("  add X14, X10, {}\n  {} {}, X14, 0, {}, 1, {}, 0\n",
                        part * kHeads * kDepth * 2 + half * kBlock, what, to, kBatch * kTokens, kRowBytes / kBlock - 1);
    };
    s_ += wait("PIPE_MTE3", "PIPE_MTE2", 0);
    for (u64 half = 0; half < 2; ++half)
      copy("copy_gm_to_ubuf", kUbQ + half * kHalf, half, 0);
    s_ += set("PIPE_MTE2", "PIPE_V", 0) + wait("PIPE_MTE1", "PIPE_MTE2", n % kSlots);
    for (u64 half = 0; half < 2; ++half) {
      copy("copy_gm_to_cbuf", l1(n) + kL1K + half * kPlane, half, 1);
      copy("copy_gm_to_cbuf", l1(n) + kL1V + half * kPlane, half, 2);
    }
    s_ += set("PIPE_MTE2", "PIPE_MTE1", n % kSlots);
  }

  // q is scaled on its way to L1.
  void scale(u64 n) {
    s_ += wait("PIPE_MTE2", "PIPE_V", 0);
    s_ += fmt::format("  vmuls.f16 {0}, {0}, {1}, {2}, 1, 1, 8, 8\n", kUbQ, factor_, 2 * kHalf / 256);
    s_ += set("PIPE_V", "PIPE_MTE3", 0) + wait("PIPE_V", "PIPE_MTE3", 0);
    for (u64 half = 0; half < 2; ++half)
      s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", l1(n) + kL1Q + half * kPlane,
                        kUbQ + half * kHalf, kHalf / kBlock);
    s_ += set("PIPE_MTE3", "PIPE_MTE2", 0) + set("PIPE_MTE3", "PIPE_MTE1", n % 2);
  }

  void multiply_scores_of(u64 n) {
    s_ += wait("PIPE_MTE2", "PIPE_MTE1", n % kSlots) + wait("PIPE_MTE3", "PIPE_MTE1", n % 2) +
          wait("PIPE_M", "PIPE_MTE1", 0);
    for (u64 pair = 0; pair < kBatch; ++pair) {
      const u64 at = l1(n) + pair * kTokens * kBlock;
      s_ += load_scores(pair, at + kL1K, at + kL1Q, kPlaneFractals);
    }
    s_ += set("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_V", "PIPE_M", 0);
    for (u64 pair = 0; pair < kBatch; ++pair)
      s_ += multiply_scores(pair);
    s_ += set("PIPE_M", "PIPE_MTE1", 0) + set("PIPE_M", "PIPE_V", 0);
  }

  // S to UB, bias, mask, e^(S - largest), and as P to L1.
  void attend(u64 n) {
    s_ += wait("PIPE_M", "PIPE_V", 0);
    s_ += fmt::format("  copy_matrix_cc_to_ubuf.f32 {}, 0, 0, 1, {}, 0, 0, 1\n", ub(n), kBatch * 16);
    s_ += set("PIPE_V", "PIPE_M", 0) + std::string(kFence);
    locate(n);
    s_ += fmt::format("  mul X12, X12, {}\n  add X12, X12, {}\n", kScoreBytes, kUbBias);
    const auto add = [&](u64 window, std::string_view what) {
      s_ += fmt::format("  vadd.f16 {0}, {0}, {1}, 32, 1, 1, 1, 8, 8, 8\n", ub(n) + window * kScoreBytes, what);
    };
    for (u64 window = 0; window < kBatch; ++window)
      add(window, "X12");
    s_ += kFence;
    s_ += fmt::format("  blt X13, {}, upper_{}\n", kWindowsOfRow - 1, n);
    const auto mask = [](u64 kind) { return fmt::format("{}", kUbMasks + kind * kScoreBytes); };
    for (u64 window = 0; window + 1 < kBatch; ++window)
      add(window, mask(1));
    add(kBatch - 1, mask(2));
    s_ += fmt::format("  b masked_{0}\nupper_{0}:\n", n);
    add(kBatch - 1, mask(0));
    s_ += fmt::format("masked_{}:\n", n) + std::string(kFence);
    s_ += Softmax{.scores = ub(n), .columns = kColumns, .tree = kUbTree, .result = kUbResult}.exponentials();
    s_ += set("PIPE_V", "PIPE_MTE3", 1 + n % 2 * 2) + wait("PIPE_V", "PIPE_MTE3", 1 + n % 2 * 2);
    s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", l1(n) + kL1P, ub(n), kScores / kBlock);
    s_ += set("PIPE_MTE3", "PIPE_MTE1", 2 + n % 2) + set("PIPE_MTE3", "PIPE_V", 2 + n % 2);
  }

  // O = P * [v, 1]: the sums of P come with it, in 16 equal columns.
  void multiply_values_of(u64 n) {
    s_ += wait("PIPE_MTE3", "PIPE_MTE1", 2 + n % 2) + wait("PIPE_M", "PIPE_MTE1", 0);
    for (u64 pair = 0; pair < kBatch; ++pair) {
      s_ += fmt::format("  load_cbuf_to_ca {}, {}, 0, 16, 1, 0, 1\n", pair * kScoreBytes,
                        l1(n) + kL1P + pair * kScoreBytes);
      for (u64 k1 = 0; k1 < 4; ++k1) {
        const u64 to = (pair * 4 + k1) * kOutBlocks * 512;
        s_ += fmt::format("  load_cbuf_to_cb {}, {}, {}, 2, {}, 0, 1\n", to, l1(n) + kL1V + pair * kTokens * kBlock, k1,
                          kPlaneFractals);
        s_ += fmt::format("  load_cbuf_to_cb {}, {}, 0, 1, 1, 0, 0\n", to + 1024, kL1Ones);
      }
    }
    s_ += set("PIPE_MTE1", "PIPE_MTE2", n % kSlots) + set("PIPE_MTE1", "PIPE_M", 0) + wait("PIPE_MTE1", "PIPE_M", 0);
    s_ += wait("PIPE_V", "PIPE_M", 1);
    for (u64 pair = 0; pair < kBatch; ++pair)
      s_ += fmt::format("  mad.f162f32 {}, {}, {}, 64, {}, {}, 1\n", kL0cOut + pair * kPairOut * 2, pair * kScoreBytes,
                        pair * 4 * kOutBlocks * 512, kTokens, kOutBlocks * 16);
    s_ += set("PIPE_M", "PIPE_MTE1", 0) + set("PIPE_M", "PIPE_V", 1);
  }

  // O by its sums, and to memory.
  void finish(u64 n) {
    s_ += wait("PIPE_M", "PIPE_V", 1) + wait("PIPE_MTE3", "PIPE_V", 2 + n % 2);
    s_ += fmt::format("  copy_matrix_cc_to_ubuf.f32 {}, {}, 0, 1, {}, 0, 0, 1\n", ub(n), kL0cOut,
                      kBatch * kOutBlocks * 4);
    s_ += set("PIPE_V", "PIPE_M", 1) + std::string(kFence);
    const auto each = [&](std::string_view text_of_pair, auto&&... more) {
      for (u64 pair = 0; pair < kBatch; ++pair) {
        const u64 o = ub(n) + pair * kPairOut;
        s_ += fmt::format(fmt::runtime(text_of_pair), o, o + kPairOut / kOutBlocks, o + 2 * kPairOut / kOutBlocks,
                          more...);
      }
      s_ += kFence;
    };
    each("  vdiv.f16 {2}, {3}, {2}, 7, 1, 1, 1, 8, 0, 8\n", kUbOnes);
    each("  vmul.f16 {0}, {0}, {2}, 7, 1, 1, 1, 8, 8, 8\n  vmul.f16 {1}, {1}, {2}, 7, 1, 1, 1, 8, 8, 8\n");
    s_ += wait("PIPE_MTE3", "PIPE_V", 1);
    for (u64 half = 0; half < 2; ++half)
      s_ += fmt::format("  copy_ubuf_to_ubuf {}, {}, 0, {}, {}, {}, 0\n", kUbOut + half * kHalf,
                        ub(n) + half * kPadded * kBlock, kBatch, kTokens, kOutBlocks * kPadded - kTokens);
    s_ += set("PIPE_V", "PIPE_MTE3", 2) + wait("PIPE_V", "PIPE_MTE3", 2);
    locate(n);
    s_ += fmt::format("  mul X10, X11, {}\n  mul X14, X12, {}\n  add X10, X10, X14\n  add X10, X10, X6\n",
                      kHeads * kDepth * 2, kDepth * 2);
    for (u64 half = 0; half < 2; ++half)
      s_ += fmt::format("  copy_ubuf_to_gm X10, {}, 0, {}, 1, 0, {}\n  add X10, X10, 32\n", kUbOut + half * kHalf,
                        kBatch * kTokens, kHeads * kDepth * 2 / kBlock - 1);
    s_ += set("PIPE_MTE3", "PIPE_V", 1);
  }

  u64 blocks_;
  u64 count_;  // batches of a block
  u32 factor_;
  std::string s_;
};

}  // namespace

std::string fused(const Shape& s, u64 blocks, u32 factor_f16) { return Fused(s, blocks, factor_f16).assembly(); }

}  // namespace vinci::studies::swin
