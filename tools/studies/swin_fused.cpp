// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Window attention in one kernel, S never leaves the core: the order of its steps, loads, and what is made once.
#include "tools/studies/swin_fused.h"

namespace vinci::studies::swin::fused_kernel {

// During the softmax of batch n, the cube computes S of batch n + 1 and products with v of batch n - 1, and batch n + 3
// is loaded. The vector unit divides O of batch n - 2 in the first steps of batch n, so that both wait at the same
// barriers. The scalar unit issues in this order and stops where a queue is full, so what comes first must be what
// can run first.
isa::BuiltProgram Fused::program() {
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
  p_.wait_flag(PipeId::M, PipeId::MTE1, 3);
  free_flags(false);
  p_.pipe_barrier(PipeId::ALL);
  p_.end();
  return p_.finish();
}

void Fused::free_flags(bool set) {
  const auto flag = [&](PipeId from, PipeId to, u64 event) {
    set ? p_.set_flag(from, to, event) : p_.wait_flag(from, to, event);
  };
  for (u64 slot = 0; slot < kSlots; ++slot)
    flag(PipeId::MTE1, PipeId::MTE2, slot);  // qkv in L1
  for (u64 event = 0; event < 3; ++event)
    flag(PipeId::M, PipeId::MTE1, event);  // k and q in L0 (event 3: see prologue()), v and P, a mask
  for (u64 event = 0; event < 3; ++event)
    flag(PipeId::V, PipeId::M, event);  // S in two slots and O in L0C
  for (u64 event = 0; event < 3; ++event)
    flag(PipeId::MTE3, PipeId::V, event);  // P in two slots and the output in UB
}

void Fused::load_masks() {
  // A window at the right edge, one at the bottom and the one at both, as far from each other: one copy.
  constexpr u64 kTile = kScoreBytes / kBlock, kFirst = 55, kStep = 4;
  p_.add(at, mask_gm, kFirst * kScoreBytes);
  p_.copy_gm_to_ubuf(kUbConstants + kMasksAt, at, 0, 3, kTile, (kStep - 1) * kTile, 0);
  p_.set_flag(PipeId::MTE2, PipeId::V, 0);
}

// masked: the block has windows with masks, 0 if none.
void Fused::find_any_mask() {
  constexpr u64 kOfImage = kWindowsOfImage / kWindows;
  p_.mov(masked, 0);
  for (u64 n = 0; n < count_; ++n) {
    if (n > 0 && n * blocks_ % kOfImage == 0) break;  // the same windows of the next image
    find_masks(n);
    p_.add(masked, masked, masks[0]);
    p_.add(masked, masked, masks[1]);
  }
}

// Blocks that load in step leave the memory idle whenever their copies end: those with masks load them first, and
// every other one of the rest loads its first batch in two copies.
void Fused::first_loads() {
  p_.wait_flag(PipeId::MTE1, PipeId::MTE2, kSlots - 1);  // the table has the event of the last slot
  p_.copy_gm_to_cbuf(0, table_gm, 0, 1, kTableEdge * kTableEdge, 0, 0);
  p_.hand_over(PipeId::MTE2, PipeId::MTE1, kSlots - 1);
  find_any_mask();
  p_.if_(masked >= 1, [&] { load_masks(); });
  p_.wait_flag(PipeId::MTE1, PipeId::MTE2, 0);
  p_.rem(odd, block, 2);
  const isa::Target at_once = p_.label("at_once"), loaded = p_.label("first_loaded");
  p_.bge(masked, 1, at_once);
  p_.blt(odd, 1, at_once);
  load_windows(0, 0, 1);
  load_windows(0, 1, 1);
  p_.b(loaded);
  p_.bind(at_once);
  load_windows(0, 0, kWindows);
  p_.bind(loaded);
  p_.set_flag(PipeId::MTE2, PipeId::MTE1, 0);
  for (u64 n = 1; n + 1 < kSlots && n < count_; ++n)
    load(n);
}

void Fused::dup(u64 to, float value, u64 repeats, u64 block_stride, u64 stride) {
  p_.vector_dup(Type::f16, to, isa::f16(value), repeats, block_stride, 1, stride, 8);
}

// Right operands, whose fractals are [column][row], and what else is not of the inputs.
void Fused::make_operands() {
  dup(kUbConstants, 0, kMasksAt / 256);
  dup(kUbConstants + kOperandsAt, 0, (kConstants - kOperandsAt) / 256);
  dup(kUbLargest, -65504, 3);
  p_.vector_dup(Type::f16, kUbFactor, factor_, 1, 1, 1, 8, 8);
  p_.vector_dup(Type::f32, kUbUnity, isa::f32(1), 1, 1, 1, 8, 8);
  fence();
  constexpr u64 kUbOperands = kUbConstants + kOperandsAt, kHeadsAt = kUbOperands + kFractal;
  const auto mask = [&](u64 bits) { p_.set_vector_mask(0, bits); };
  for (u64 i = 0; i < 16; ++i) {
    mask(u64{1} << i);
    dup(kUbOperands + i * kBlock, 1, 1);
  }
  mask(0x10001);
  dup(kHeadsAt, 1, kHeads, kHeads, kFractal / kBlock + 1);
  mask(0x100010001);
  dup(kHeadsAt + kHeads * kFractal, 1, kWindows, 1, kFractal / kBlock + kHeads);
  mask(0xffff);
  dup(kUbConstants + kOnesAt, 1, 1);
  lanes(p_, 128);
  p_.hand_over(PipeId::V, PipeId::MTE3, 3);
  p_.copy_ubuf_to_cbuf(kL1Constants + kOperandsAt, kUbConstants + kOperandsAt, 0, 1,
                       (kConstants - kOperandsAt) / kBlock, 0, 0);
}

void Fused::prologue() {
  p_.ld_arg(qkv_gm, 0);
  p_.ld_arg(table_gm, 1);
  p_.ld_arg(mask_gm, 2);
  p_.ld_arg(out_gm, 3);
  p_.get_block_idx(block);
  table_map(p_);
  free_flags(true);
  first_loads();
  fetch_biases();
  make_operands();
  transpose_biases();
  keep_constants();
}

// In four parts, so that the vector unit transposes one while the next is fetched.
constexpr u64 kPart = (kTokens + 3) / 4;
void Fused::fetch_biases() {
  for (u64 j = 0; j < kTokens; ++j) {
    fetch_bias(p_, j * 2048, 0, 6 - j % kEdge, 6 - j / kEdge);
    if ((j + 1) % kPart == 0 || j + 1 == kTokens) p_.set_flag(PipeId::MTE1, PipeId::V, j / kPart);
  }
  p_.set_flag(PipeId::MTE1, PipeId::MTE2, kSlots - 1);
}

// The biases of a key: four fractals of [16 queries][head] become [head][query / 16] blocks. Padding of the biases
// meets padding of S.
void Fused::transpose_biases() {
  constexpr u64 kRest = kUbRows;  // what the other 13 channels become
  for (u64 j = 0; j < kTokens; ++j) {
    if (j % kPart == 0) p_.wait_flag(PipeId::MTE1, PipeId::V, j / kPart);
    std::array<u64, 16> from{}, to{};
    for (u64 i = 0; i < 16; ++i) {
      from[i] = j * 2048 + i * kBlock;
      to[i] = (i < kHeads ? kUbConstants + i * kScoreBytes : kRest) + j * kBlock;
    }
    va_registers(p_, 0, to);
    va_registers(p_, 2, from);
    p_.scatter_vnchwconv_b16(0, 2, 4, kPadded, 16);
  }
  fence();
}

// To L1 and, but for masks, to L0.
void Fused::keep_constants() {
  // The softmax scales their sum with S, so biases and masks are divided.
  const auto scale = [&](u64 tiles) { p_.vmuls(Type::f16, tiles, tiles, inverse_, 3 * kScoreBytes / 256, 1, 1, 8, 8); };
  const auto keep = [&](u64 from, u64 bytes, u64 event) {
    p_.hand_over(PipeId::V, PipeId::MTE3, event);
    p_.copy_ubuf_to_cbuf(kL1Constants + from, kUbConstants + from, 0, 1, bytes / kBlock, 0, 0);
    p_.set_flag(PipeId::MTE3, PipeId::MTE1, event);
  };
  scale(kUbConstants);
  keep(0, kMasksAt, 0);
  p_.wait_flag(PipeId::MTE3, PipeId::MTE1, 0);
  for (u64 head = 0; head < kHeads; ++head)
    p_.load_cbuf_to_ca(head * kL0Bias, kL1Constants + head * kScoreBytes, 0, kOwn * 4, 1, 0, 0);
  for (u64 m1 = 0; m1 < 4; ++m1)
    p_.load_cbuf_to_ca(kL0BiasShared + m1 * kHeads * kFractal, kL1Constants, kOwn * 4 + m1, kHeads, 16, 0, 0);
  p_.load_cbuf_to_cb(0, kL1Constants + kOperandsAt, 0, kOperands, 1, 0, 0);
  // What stays in L0 has the event of the second place of k and q, which is free from then on.
  p_.hand_over(PipeId::MTE1, PipeId::M, 3);
  p_.set_flag(PipeId::M, PipeId::MTE1, 3);
  for (u64 slot = 0; slot < 2; ++slot)
    dup(ub(slot) + kAlone, 0, kAloneBytes / 256);
  p_.if_(masked >= 1, [&] {
    p_.wait_flag(PipeId::MTE2, PipeId::V, 0);
    scale(kUbConstants + kMasksAt);
    keep(kMasksAt, 3 * kScoreBytes, 1);
    p_.wait_flag(PipeId::MTE3, PipeId::MTE1, 1);
  });
  p_.hand_over(PipeId::MTE3, PipeId::V, 3);
}

void Fused::load(u64 n) {
  p_.wait_flag(PipeId::MTE1, PipeId::MTE2, n % kSlots);
  load_windows(n, 0, kWindows);
  p_.set_flag(PipeId::MTE2, PipeId::MTE1, n % kSlots);
}

void Fused::load_windows(u64 n, u64 first, u64 windows) {
  constexpr u64 kBytes = kTokens * kRowBytes;
  locate(n);
  p_.mul(at, at, kWindows * kBytes);
  p_.add(at, at, qkv_gm);
  p_.add(at, at, first * kBytes);
  p_.copy_gm_to_cbuf(qkv(n) + first * kBytes, at, 0, 1, windows * kBytes / kBlock, 0, 0);
}

// masks: which mask each window of the batch has, 0 for none. Only the second can be at the right edge.
void Fused::find_masks(u64 n) {
  static_assert(kWindows == 2 && kWindowsOfRow == 8);
  locate(n);
  p_.rem(masks[1], at, 4);
  p_.div(masks[1], masks[1], 3);
  p_.div(masks[0], at, 4);
  p_.rem(masks[0], masks[0], 8);
  p_.div(masks[0], masks[0], 7);
  p_.mul(masks[0], masks[0], 2);
  p_.add(masks[1], masks[1], masks[0]);
}

}  // namespace vinci::studies::swin::fused_kernel

namespace vinci::studies::swin {

Program fused(isa::Arch arch, const Shape& s, u64 blocks, u32 factor_f16, u32 inverse_f16) {
  return fused_kernel::Fused(arch, s, blocks, factor_f16, inverse_f16).program();
}

}  // namespace vinci::studies::swin
