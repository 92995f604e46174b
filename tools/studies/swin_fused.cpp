// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Window attention in one kernel, S never leaves the core: the order of its steps, loads, and what is made once.
#include "tools/studies/swin_fused.h"

namespace vinci::studies::swin::fused_kernel {

// Beside the softmax of batch n, S of batch n + 1 is computed, the products with v of batch n - 1, and batch n + 3 is
// loaded. The vector unit divides O of batch n - 2 in the first steps of batch n, so that both wait at the same
// barriers. The scalar unit issues in this order and stops where a queue is full, so what comes first must be what
// can run first.
std::string Fused::assembly() {
  prologue();
  begin_scores_of(0);
  end_scores_of(0);
  for (u64 n = 0; n < count_; ++n) {
    if (n + kSlots - 1 < count_) load(n + kSlots - 1);
    const bool beside = n > 1;
    if (beside) invert_sums();
    fetch_scores(n);
    fence();
    largest(n);
    if (beside) divide();
    fence();
    if (n + 1 < count_) begin_scores_of(n + 1);
    shift();
    if (beside) narrow();
    fence();
    subtract(n);
    if (beside) transpose();
    fence();
    if (beside) store(n - 2);
    if (n > 0) multiply_values_of(n - 1);
    stage_values(n);
    exponentials(n);
    fence();
    separate(n);
    if (n + 1 < count_) end_scores_of(n + 1);
    if (n > 0) fetch_products();
    fence();
  }
  if (count_ > 1) finish(count_ - 2);
  multiply_values_of(count_ - 1);
  fetch_products();
  fence();
  finish(count_ - 1);
  s_ += wait("PIPE_M", "PIPE_MTE1", 3);
  free_flags("wait_flag");
  return s_ + "  pipe_barrier PIPE_ALL\n  end\n";
}

void Fused::free_flags(std::string_view what) {
  for (u64 slot = 0; slot < kSlots; ++slot)
    s_ += flag(what, "PIPE_MTE1", "PIPE_MTE2", slot);  // qkv in L1
  for (u64 event = 0; event < 3; ++event)
    s_ += flag(what, "PIPE_M", "PIPE_MTE1", event);  // k and q in L0 (event 3: see prologue()), v and P, a mask
  for (u64 event = 0; event < 3; ++event)
    s_ += flag(what, "PIPE_V", "PIPE_M", event);  // S in two slots and O in L0C
  for (u64 event = 0; event < 3; ++event)
    s_ += flag(what, "PIPE_MTE3", "PIPE_V", event);  // P in two slots and the output in UB
}

void Fused::load_masks() {
  // A window at the right edge, one at the bottom and the one at both, as far from each other: one copy.
  constexpr u64 kTile = kScoreBytes / kBlock, kFirst = 55, kStep = 4;
  s_ += fmt::format("  add X10, X5, {}\n  copy_gm_to_ubuf {}, X10, 0, 3, {}, {}, 0\n", kFirst * kScoreBytes,
                    kUbConstants + kMasksAt, kTile, (kStep - 1) * kTile);
  s_ += set("PIPE_MTE2", "PIPE_V", 0);
}

// X9: the block has windows with masks, 0 if none.
void Fused::find_any_mask() {
  constexpr u64 kOfImage = kWindowsOfImage / kWindows;
  s_ += "  mov X9, 0\n";
  for (u64 n = 0; n < count_; ++n) {
    if (n > 0 && n * blocks_ % kOfImage == 0) break;  // the same windows of the next image
    find_masks(n);
    s_ += "  add X9, X9, X12\n  add X9, X9, X13\n";
  }
}

// Blocks that load in step leave the memory idle whenever their copies end: those with masks load them first, and
// every other one of the rest loads its first batch in two copies.
void Fused::first_loads() {
  s_ += wait("PIPE_MTE1", "PIPE_MTE2", kSlots - 1);  // the table has the event of the last slot
  s_ += fmt::format("  copy_gm_to_cbuf 0, X4, 0, 1, {}, 0, 0\n", kTableEdge * kTableEdge);
  s_ += set("PIPE_MTE2", "PIPE_MTE1", kSlots - 1) + wait("PIPE_MTE2", "PIPE_MTE1", kSlots - 1);
  find_any_mask();
  s_ += "  blt X9, 1, no_masks\n";
  load_masks();
  s_ += "no_masks:\n";
  s_ += wait("PIPE_MTE1", "PIPE_MTE2", 0) + "  rem X11, X0, 2\n  bge X9, 1, at_once\n  blt X11, 1, at_once\n";
  load_windows(0, 0, 1);
  load_windows(0, 1, 1);
  s_ += "  b first_loaded\nat_once:\n";
  load_windows(0, 0, kWindows);
  s_ += "first_loaded:\n" + set("PIPE_MTE2", "PIPE_MTE1", 0);
  for (u64 n = 1; n + 1 < kSlots && n < count_; ++n)
    load(n);
}

void Fused::dup(u64 to, std::string_view value, u64 repeats, u64 block_stride, u64 stride) {
  s_ += fmt::format("  vector_dup.f16 {}, {}, {}, {}, 1, {}, 8\n", to, value, repeats, block_stride, stride);
}

// Right operands, whose fractals are [column][row], and what else is not of the inputs.
void Fused::make_operands() {
  dup(kUbConstants, "0", kMasksAt / 256);
  dup(kUbConstants + kOperandsAt, "0", (kConstants - kOperandsAt) / 256);
  dup(kUbLargest, "-65504.0h", 3);
  s_ += fmt::format("  vector_dup.f16 {}, {}, 1, 1, 1, 8, 8\n  vector_dup.f32 {}, 1.0f, 1, 1, 1, 8, 8\n", kUbFactor,
                    factor_, kUbUnity);
  fence();
  constexpr u64 kUbOperands = kUbConstants + kOperandsAt, kHeadsAt = kUbOperands + kFractal;
  const auto mask = [&](u64 lanes) { s_ += fmt::format("  set_vector_mask 0, {:#x}\n", lanes); };
  for (u64 i = 0; i < 16; ++i) {
    mask(u64{1} << i);
    dup(kUbOperands + i * kBlock, "1.0h", 1);
  }
  mask(0x10001);
  dup(kHeadsAt, "1.0h", kHeads, kHeads, kFractal / kBlock + 1);
  mask(0x100010001);
  dup(kHeadsAt + kHeads * kFractal, "1.0h", kWindows, 1, kFractal / kBlock + kHeads);
  mask(0xffff);
  dup(kUbConstants + kOnesAt, "1.0h", 1);
  s_ += lanes(128);
  s_ += set("PIPE_V", "PIPE_MTE3", 3) + wait("PIPE_V", "PIPE_MTE3", 3);
  s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", kL1Constants + kOperandsAt,
                    kUbConstants + kOperandsAt, (kConstants - kOperandsAt) / kBlock);
}

void Fused::prologue() {
  s_ = "  ld_arg X3, 0\n  ld_arg X4, 1\n  ld_arg X5, 2\n  ld_arg X6, 3\n  get_block_idx X0\n" + table_map();
  free_flags("set_flag");
  first_loads();
  fetch_biases();
  make_operands();
  transpose_biases();
  keep_constants();
}

// In four parts, so that the vector unit transposes one beside the next.
constexpr u64 kPart = (kTokens + 3) / 4;
void Fused::fetch_biases() {
  for (u64 j = 0; j < kTokens; ++j) {
    s_ += fetch_bias(j * 2048, 0, fmt::format("{}", 6 - j % kEdge), fmt::format("{}", 6 - j / kEdge));
    if ((j + 1) % kPart == 0 || j + 1 == kTokens) s_ += set("PIPE_MTE1", "PIPE_V", j / kPart);
  }
  s_ += set("PIPE_MTE1", "PIPE_MTE2", kSlots - 1);
}

// The biases of a key: four fractals of [16 queries][head] become [head][query / 16] blocks. Padding of the biases
// meets padding of S.
void Fused::transpose_biases() {
  constexpr u64 kRest = kUbRows;  // what the other 13 channels become
  for (u64 j = 0; j < kTokens; ++j) {
    if (j % kPart == 0) s_ += wait("PIPE_MTE1", "PIPE_V", j / kPart);
    std::array<u64, 16> from{}, to{};
    for (u64 i = 0; i < 16; ++i) {
      from[i] = j * 2048 + i * kBlock;
      to[i] = (i < kHeads ? kUbConstants + i * kScoreBytes : kRest) + j * kBlock;
    }
    s_ += va_registers(0, to) + va_registers(2, from);
    s_ += fmt::format("  scatter_vnchwconv_b16 0, 2, 4, {}, 16\n", kPadded);
  }
  fence();
}

// To L1 and, but for masks, to L0.
void Fused::keep_constants() {
  // The softmax scales their sum with S, so biases and masks are divided.
  const auto scale = [&](u64 at) {
    s_ += fmt::format("  vmuls.f16 {0}, {0}, {1}, {2}, 1, 1, 8, 8\n", at, inverse_, 3 * kScoreBytes / 256);
  };
  const auto keep = [&](u64 from, u64 bytes, u64 event) {
    s_ += set("PIPE_V", "PIPE_MTE3", event) + wait("PIPE_V", "PIPE_MTE3", event);
    s_ += fmt::format("  copy_ubuf_to_cbuf {}, {}, 0, 1, {}, 0, 0\n", kL1Constants + from, kUbConstants + from,
                      bytes / kBlock);
    s_ += set("PIPE_MTE3", "PIPE_MTE1", event);
  };
  scale(kUbConstants);
  keep(0, kMasksAt, 0);
  s_ += wait("PIPE_MTE3", "PIPE_MTE1", 0);
  for (u64 head = 0; head < kHeads; ++head)
    s_ += fmt::format("  load_cbuf_to_ca {}, {}, 0, {}, 1, 0, 0\n", head * kL0Bias, kL1Constants + head * kScoreBytes,
                      kOwn * 4);
  for (u64 m1 = 0; m1 < 4; ++m1)
    s_ += fmt::format("  load_cbuf_to_ca {}, {}, {}, {}, 16, 0, 0\n", kL0BiasShared + m1 * kHeads * kFractal,
                      kL1Constants, kOwn * 4 + m1, kHeads);
  s_ += fmt::format("  load_cbuf_to_cb 0, {}, 0, {}, 1, 0, 0\n", kL1Constants + kOperandsAt, kOperands);
  // What stays in L0 has the event of the second place of k and q, which is free from then on.
  s_ += set("PIPE_MTE1", "PIPE_M", 3) + wait("PIPE_MTE1", "PIPE_M", 3) + set("PIPE_M", "PIPE_MTE1", 3);
  for (u64 slot = 0; slot < 2; ++slot)
    dup(ub(slot) + kAlone, "0", kAloneBytes / 256);
  s_ += "  blt X9, 1, masks_kept\n" + wait("PIPE_MTE2", "PIPE_V", 0);
  scale(kUbConstants + kMasksAt);
  keep(kMasksAt, 3 * kScoreBytes, 1);
  s_ += wait("PIPE_MTE3", "PIPE_MTE1", 1) + "masks_kept:\n";
  s_ += set("PIPE_MTE3", "PIPE_V", 3) + wait("PIPE_MTE3", "PIPE_V", 3);
}

void Fused::load(u64 n) {
  s_ += wait("PIPE_MTE1", "PIPE_MTE2", n % kSlots);
  load_windows(n, 0, kWindows);
  s_ += set("PIPE_MTE2", "PIPE_MTE1", n % kSlots);
}

void Fused::load_windows(u64 n, u64 first, u64 windows) {
  constexpr u64 kBytes = kTokens * kRowBytes;
  locate(n);
  s_ += fmt::format("  mul X10, X10, {}\n  add X10, X10, X3\n  add X10, X10, {}\n", kWindows * kBytes, first * kBytes);
  s_ += fmt::format("  copy_gm_to_cbuf {}, X10, 0, 1, {}, 0, 0\n", qkv(n) + first * kBytes, windows * kBytes / kBlock);
}

// X12, X13: which mask each window has, 0 for none. Only the second can be at the right edge.
void Fused::find_masks(u64 n) {
  static_assert(kWindows == 2 && kWindowsOfRow == 8);
  locate(n);
  s_ +=
      "  rem X13, X10, 4\n  div X13, X13, 3\n  div X12, X10, 4\n  rem X12, X12, 8\n  div X12, X12, 7\n"
      "  mul X12, X12, 2\n  add X13, X13, X12\n";
}

}  // namespace vinci::studies::swin::fused_kernel

namespace vinci::studies::swin {

std::string fused(const Shape& s, u64 blocks, u32 factor_f16, u32 inverse_f16) {
  return fused_kernel::Fused(s, blocks, factor_f16, inverse_f16).assembly();
}

}  // namespace vinci::studies::swin
