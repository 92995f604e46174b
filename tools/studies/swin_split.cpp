// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/swin_split.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tools/studies/swin_parts.h"

namespace vinci::studies::swin {
namespace {

constexpr u64 kWindows = 2, kPairs = kWindows * kHeads, kBatchTokens = kWindows * kTokens;    // of a batch
constexpr u64 kScoresOfPair = kTokens * kPadded * 4, kChancesOfPair = kTokens * kPadded * 2;  // S and P in memory
constexpr u64 kPlaces = 3;                          // for S and P of a block: batches that are between the cores
constexpr u32 kScoresThere = 0, kChancesThere = 1;  // cross-core flags

// How far S is ahead of the product with v, and qkv ahead of it. Both are at most kPlaces.
constexpr u64 kAhead = 2, kLoadsAhead = 3;

// The number of a batch among those of a block, and where it is in rings of buffers.
class BatchWriter {
 protected:
  BatchWriter(const Shape& s, std::string name, isa::Arch arch)
      : p_(std::move(name), arch), batches_(s.windows / kWindows) {
    p_.set_ffts_base_addr(1);
    p_.get_block_idx(block_);
    p_.get_block_num(blocks_);
    own_places(scores_, kScoresOfPair);
    own_places(chances_, kChancesOfPair);
    // count = ceil((batches - block) / blocks)
    p_.sub(count_, blocks_, block_);
    p_.add(count_, count_, batches_ - 1);
    p_.div(count_, count_, blocks_);
  }

  // dst = base + n % places * bytes
  void place(Reg dst, const Value& base, Reg n, u64 places, u64 bytes) {
    p_.rem(dst, n, places);
    p_.mul(dst, dst, bytes);
    p_.add(dst, dst, base);
  }
  // dst = the batch with the number `n` among those of this block.
  void batch(Reg dst, Reg n) {
    p_.mul(dst, n, blocks_);
    p_.add(dst, dst, block_);
  }
  void set_cross(PipeId pipe, u32 id) { p_.ffts_cross_core_sync(pipe, 0x1 | 2 << 4 | id << 8); }
  void flag(bool set, PipeId from, PipeId to, u64 event) {
    set ? p_.set_flag(from, to, event) : p_.wait_flag(from, to, event);
  }

 private:
  void own_places(Reg base, u64 bytes_of_pair) {
    p_.mul(count_, block_, kPlaces * kPairs * bytes_of_pair);
    p_.add(base, base, count_);
  }

 protected:
  ProgramBuilder p_;
  const u64 batches_;
  const Reg qkv_ = p_.arg("qkv"), table_ = p_.arg("table"), masks_ = p_.arg("masks"), scores_ = p_.arg("scores"),
            chances_ = p_.arg("chances"), out_ = p_.arg("out");
  const Reg block_ = p_.reg("block"), blocks_ = p_.reg("blocks"), count_ = p_.reg("count"), n_ = p_.reg("n");
};

// L1: qkv of four batches as 18 columns of 16 channels, then P of two. L0A and L0B: two places, L0C: two for S and two
// for O, with unit flags.
class Cube final : BatchWriter {
 public:
  Cube(const Shape& s, isa::Arch arch) : BatchWriter(s, "window_attention_cube", arch) {}

  isa::BuiltProgram program() {
    all_free(true);
    // Keys behind the last window, whose S is not used.
    constexpr u64 kPadding = kRows - kBatchTokens;
    p_.create_cbuf_matrix(Type::b16, kBatchTokens * kBlock, kSlots * kColumns, 0, kPadding, kBatchTokens);
    for (u64 i = 0; i < kLoadsAhead; ++i)
      ahead_of(i, [&] { load(); });
    for (u64 i = 0; i < kAhead; ++i)
      ahead_of(i, [&] { multiply_keys(); });
    p_.loop(n_, 0, count_, 1, [&] {
      p_.add(ahead_, n_, kLoadsAhead);
      p_.if_(ahead_ < count_, [&] { load(); });
      p_.add(ahead_, n_, kAhead);
      p_.if_(ahead_ < count_, [&] { multiply_keys(); });
      multiply_values();
    });
    all_free(false);
    p_.end_block();
    return p_.finish();
  }

 private:
  static constexpr u64 kRows = align_up(kTokens + kPadded, u64{16}), kColumns = kRowBytes / kBlock;
  static constexpr u64 kL1Column = kRows * kBlock, kL1Slot = kColumns * kL1Column, kSlots = 4, kL1P = kSlots * kL1Slot;
  static constexpr u64 kMatrix = kPadded * kPadded * 2, kPSlot = kPairs * kMatrix;  // P of a pair, and of a batch
  static constexpr u64 kFractal = 512, kFractals = kPadded / 16, kPart = kColumns / 3;
  static constexpr u64 kL0cScores = kPadded * kPadded * 4, kL0cOut = kPadded * kDepth * 4;
  static_assert(kL1P + 2 * kPSlot <= 512 * 1024 && 2 * (kL0cScores + kL0cOut) <= 128 * 1024);

  template <class F>
  void ahead_of(u64 number, const F& f) {
    p_.mov(ahead_, number);
    p_.if_(ahead_ < count_, f);
  }
  void all_free(bool set) {
    for (u64 event = 0; event < kSlots + 2; ++event)
      flag(set, PipeId::MTE1, PipeId::MTE2, event);
    for (u64 event = 0; event < 2; ++event)
      flag(set, PipeId::M, PipeId::MTE1, event);
  }

  void load() {
    p_.rem(event_, ahead_, kSlots);
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, event_);
    batch(at_, ahead_);
    p_.mul(at_, at_, kBatchTokens * kRowBytes);
    p_.add(at_, at_, qkv_);
    p_.mul(l1_, event_, kL1Slot);
    p_.copy_gm_to_cbuf_multi_nd2nz_b16(l1_, at_, 0, 1, kBatchTokens, kRowBytes / 2, 0, kRowBytes / 2, kRows, 1, 0);
    p_.set_flag(PipeId::MTE2, PipeId::MTE1, event_);
  }

  // address_ = 16 channels of a window in the slot at l1_: `column` of its 18.
  void at_column(u64 pair, u64 part, u64 half) {
    const u64 column = part * kPart + pair % kHeads * kHalves + half;
    p_.add(address_, l1_, column * kL1Column + pair / kHeads * kTokens * kBlock);
  }
  static u64 l0(u64 pair) { return pair % 2 * kMatrix; }

  // S = q k of the batch `ahead_`.
  void multiply_keys() {
    p_.rem(event_, ahead_, kSlots);
    p_.mul(l1_, event_, kL1Slot);
    place(at_, scores_, ahead_, kPlaces, kPairs * kScoresOfPair);
    p_.wait_flag(PipeId::MTE2, PipeId::MTE1, event_);
    for (u64 pair = 0; pair < kPairs; ++pair) {
      const u64 slot = pair % 2, c = slot * kL0cScores;
      p_.wait_flag(PipeId::M, PipeId::MTE1, slot);
      for (u64 half = 0; half < kHalves; ++half) {
        at_column(pair, 0, half);
        p_.load_cbuf_to_ca(l0(pair) + half * kFractal, address_, 0, kFractals, 1, 0, 0, kHalves - 1);
        at_column(pair, 1, half);
        p_.load_cbuf_to_cb(l0(pair) + half * kFractals * kFractal, address_, 0, kFractals, 1, 0, 0);
      }
      p_.hand_over(PipeId::MTE1, PipeId::M, slot);
      p_.mad(Type::f162f32, c, l0(pair), l0(pair), kTokens, kDepth, kPadded, 1, 3);
      p_.set_flag(PipeId::M, PipeId::MTE1, slot);
      p_.copy_matrix_cc_to_gm(at_, c, 0, kPadded, kTokens, kPadded, kPadded, 3, 0, 0, 0, 1);
      p_.add(at_, at_, kScoresOfPair);
    }
    set_cross(PipeId::FIX, kScoresThere);
  }

  // O = P v of the batch `n_`, into rows of the output.
  void multiply_values() {
    load_chances();
    p_.rem(event_, n_, kSlots);
    p_.mul(l1_, event_, kL1Slot);
    batch(at_, n_);
    p_.mul(at_, at_, kBatchTokens * kRowBytes / 3);
    p_.add(at_, at_, out_);
    for (u64 pair = 0; pair < kPairs; ++pair) {
      const u64 slot = pair % 2, c = 2 * kL0cScores + slot * kL0cOut;
      p_.wait_flag(PipeId::M, PipeId::MTE1, slot);
      p_.add(address_, chances_at_, pair * kMatrix);
      for (u64 row = 0; row < kFractals; ++row)
        p_.load_cbuf_to_ca(l0(pair) + row * kFractals * kFractal, address_, row, kFractals, kFractals, 0, 0);
      for (u64 half = 0; half < kHalves; ++half) {
        at_column(pair, 2, half);
        p_.load_cbuf_to_cb(l0(pair) + half * kFractal, address_, 0, kFractals, 1, 0, 1, kHalves - 1);
      }
      p_.hand_over(PipeId::MTE1, PipeId::M, slot);
      p_.mad(Type::f162f32, c, l0(pair), l0(pair), kTokens, kTokens, kDepth, 1, 3);
      p_.set_flag(PipeId::M, PipeId::MTE1, slot);
      p_.copy_matrix_cc_to_gm(at_, c, 0, kDepth, kTokens, kRowBytes / 6, kPadded, 3, 1, 0, 0, 1);
      p_.add(at_, at_, pair % kHeads + 1 < kHeads ? kDepth * 2 : kPartBytes - (kHeads - 1) * kDepth * 2);
    }
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, event_);
    p_.rem(event_, n_, 2);
    p_.add(event_, event_, kSlots);
    p_.set_flag(PipeId::MTE1, PipeId::MTE2, event_);
  }

  void load_chances() {
    p_.wait_flag_dev(kChancesThere);
    p_.rem(event_, n_, 2);
    p_.mul(chances_at_, event_, kPSlot);
    p_.add(chances_at_, chances_at_, kL1P);
    p_.add(event_, event_, kSlots);
    p_.wait_flag(PipeId::MTE1, PipeId::MTE2, event_);
    place(at_, chances_, n_, kPlaces, kPairs * kChancesOfPair);
    p_.copy_gm_to_cbuf_multi_nd2nz_b16(chances_at_, at_, 0, kPairs, kTokens, kPadded, kTokens * kPadded, kPadded,
                                       kPadded, 1, kMatrix / 2);
    p_.hand_over(PipeId::MTE2, PipeId::MTE1, event_);
  }

  const Reg ahead_ = p_.reg("ahead"), at_ = p_.reg("at"), l1_ = p_.reg("l1"), event_ = p_.reg("event"),
            address_ = p_.reg("address"), chances_at_ = p_.reg("chances_at");
};

// UB: S of three pairs in two places, P in two, biases and masks in rows of 64 floats, a number for each row.
class Vector final : BatchWriter {
 public:
  Vector(const Shape& s, u16 factor, isa::Arch arch)
      : BatchWriter(s, "window_attention_vector", arch), factor_(isa::f16_value(factor)) {}

  isa::BuiltProgram program() {
    p_.get_subblockid(mine_);
    make_biases();
    for (u64 slot = 0; slot < 2; ++slot) {
      p_.set_flag(PipeId::V, PipeId::MTE2, slot);
      p_.set_flag(PipeId::MTE3, PipeId::V, slot);
    }
    p_.loop(n_, 0, count_, 1, [&] {
      p_.rem(slot_, n_, 2);
      load();
      softmax();
      store();
    });
    for (u64 slot = 0; slot < 2; ++slot) {
      p_.wait_flag(PipeId::V, PipeId::MTE2, slot);
      p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
    }
    p_.end_block();
    return p_.finish();
  }

 private:
  static constexpr u64 kRows = kHeads * kTokens, kRow = kPadded * 4;  // of a window
  static constexpr u64 kScores = kRows * kRow, kChances = kScores / 2;
  static constexpr u64 kUbChances = 2 * kScores, kUbBias = kUbChances + 2 * kChances, kUbMasks = kUbBias + kScores;
  static constexpr u64 kUbNumber = kUbMasks + 3 * kTokens * kRow, kNumbers = align_up(kRows * 4, u64{kBlock});
  static constexpr u64 kUbEach = kUbNumber + kNumbers, kUbEnd = kUbEach + ceil_div(kRows, u64{8}) * 8 * kBlock;
  static_assert(kUbEnd <= 192 * 1024 && kRows <= 255);
  // Where S of the first window comes: the table, and the offset in it of each key.
  static constexpr u64 kUbTable = 0, kUbOffsets = kTableEdge * kTableEdge * kBlock;

  // The entry of the table for a query and a key is that of the query less that of the key.
  static u64 entry(u64 token) { return (token / kEdge * kTableEdge + token % kEdge) * kBlock; }
  void make_biases() {
    p_.copy_gm_to_ubuf(kUbTable, table_, 0, 1, kTableEdge * kTableEdge, 0, 0);
    p_.copy_gm_to_ubuf(kUbMasks, masks_, 0, 1, 3 * kTokens * kRow / kBlock, 0, 0);
    for (u64 key = 0; key < kTokens; ++key)
      p_.st_ubuf(Type::b32, entry(kTokens - 1) - entry(key), kUbOffsets, key * 4);
    p_.hand_over(PipeId::S, PipeId::V, 2);
    p_.hand_over(PipeId::MTE2, PipeId::V, 2);
    lanes(p_, kTokens);
    for (u64 row = 0; row < kRows; ++row)
      p_.vgather(Type::f16, kUbChances + row * kRow / 2, kUbOffsets,
                 kUbTable + entry(row % kTokens) + row / kTokens * 2, 8, 1);
    fence(p_);
    p_.vconv_f162f32(kUbBias, kUbChances, kRows, 1, 1, 8, 4);
    fence(p_);
  }

  void load() {
    p_.wait_flag(PipeId::V, PipeId::MTE2, slot_);
    p_.wait_flag_dev(kScoresThere);
    place(at_, scores_, n_, kPlaces, kPairs * kScoresOfPair);
    p_.mul(address_, mine_, kScores);
    p_.add(at_, at_, address_);
    p_.mul(s_, slot_, kScores);
    p_.copy_gm_to_ubuf(s_, at_, 0, 1, kScores / kBlock, 0, 0);
    p_.hand_over(PipeId::MTE2, PipeId::V, slot_);
  }

  // P = softmax(S * factor + bias + mask) by rows, which are repeats.
  void softmax() {
    p_.vmuls(Type::f32, s_, s_, isa::f32(factor_), kRows, 1, 1, 8, 8);
    fence(p_);
    p_.vadd(Type::f32, s_, s_, kUbBias, kRows, 1, 1, 1, 8, 8, 8);
    fence(p_);
    add_mask();
    p_.vcmax(Type::f32, kUbNumber, s_, kRows, 1, 1, 8, 2);
    by_row("vsub");
    p_.vexp(Type::f32, s_, s_, kRows, 1, 1, 8, 8);
    fence(p_);
    p_.vcadd(Type::f32, kUbNumber, s_, kRows, 1, 1, 8);
    by_row("vdiv");
    p_.wait_flag(PipeId::MTE3, PipeId::V, slot_);
    p_.mul(chances_at_, slot_, kChances);
    p_.add(chances_at_, chances_at_, kUbChances);
    lanes(p_, kPadded);
    p_.vconv_f322f16(chances_at_, s_, kRows, 1, 1, 4, 8);
    lanes(p_, kTokens);
    p_.set_flag(PipeId::V, PipeId::MTE2, slot_);
  }
  // S = S op the number of its row.
  void by_row(std::string_view name) {
    fence(p_);
    p_.vbrcb(Type::f32, kUbEach, kUbNumber, 1, 8, ceil_div(kRows, u64{8}));
    fence(p_);
    p_.call(name, Type::f32, {s_, s_, kUbEach, kRows, 1, 1, 0, 8, 8, 1});
    fence(p_);
  }
  // Windows at the right edge of an image, at its bottom, and at both.
  void add_mask() {
    batch(at_, n_);
    p_.mul(at_, at_, kWindows);
    p_.add(at_, at_, mine_);
    p_.rem(at_, at_, kWindowsOfImage);
    p_.rem(address_, at_, kWindowsOfRow);
    p_.div(at_, at_, kWindowsOfImage - kWindowsOfRow);
    p_.mul(at_, at_, 2);
    p_.add(address_, address_, 1);
    p_.div(address_, address_, kWindowsOfRow);
    p_.add(at_, at_, address_);
    p_.if_(at_ >= 1, [&] {
      p_.mul(at_, at_, kTokens * kRow);
      p_.add(at_, at_, kUbMasks - kTokens * kRow);
      p_.mov(address_, s_);
      for (u64 head = 0; head < kHeads; ++head) {
        p_.vadd(Type::f32, address_, address_, at_, kTokens, 1, 1, 1, 8, 8, 8);
        p_.add(address_, address_, kTokens * kRow);
      }
      fence(p_);
    });
  }

  void store() {
    p_.hand_over(PipeId::V, PipeId::MTE3, slot_);
    place(at_, chances_, n_, kPlaces, kPairs * kChancesOfPair);
    p_.mul(address_, mine_, kChances);
    p_.add(at_, at_, address_);
    p_.copy_ubuf_to_gm(at_, chances_at_, 0, 1, kChances / kBlock, 0, 0);
    set_cross(PipeId::MTE3, kChancesThere);
    p_.set_flag(PipeId::MTE3, PipeId::V, slot_);
  }

  const float factor_;
  const Reg mine_ = p_.reg("mine"), slot_ = p_.reg("slot"), s_ = p_.reg("s"), at_ = p_.reg("at"),
            address_ = p_.reg("address"), chances_at_ = p_.reg("chances_at");
};

// The masks of a window at the right edge, at the bottom, and at both, as rows of 64.
std::vector<float> mask_rows(const Data& d) {
  std::vector<float> out;
  for (const u64 window : {kWindowsOfRow - 1, kWindowsOfImage - kWindowsOfRow, kWindowsOfImage - 1})
    for (u64 query = 0; query < kTokens; ++query)
      for (u64 key = 0; key < kPadded; ++key) {
        const u16 value = key < kTokens ? d.mask[window * kScoreBytes / 2 + score_at(query, key)] : 0;
        out.push_back(isa::f16_value(value));
      }
  return out;
}

}  // namespace

task::BuiltStream split(const config::ChipConfig& chip, const Data& d) {
  using enum task::KernelType;
  const u64 blocks = std::min<u64>(chip.ai_cores, d.shape.windows / kWindows);
  const u64 out_elements = d.shape.windows * kTokens * kHeads * kDepth;
  task::StreamBuilder s("split", chip.arch);
  const std::vector<float> masks = mask_rows(d);
  const task::BufferRef qkv = s.device("qkv_dev", d.qkv.size() * 2), table = s.device("table_dev", d.table.size() * 2),
                        mask = s.device("masks_dev", masks.size() * 4),
                        scores = s.device("scores_dev", blocks * kPlaces * kPairs * kScoresOfPair),
                        chances = s.device("chances_dev", blocks * kPlaces * kPairs * kChancesOfPair),
                        out = s.device("out_dev", out_elements * 2);
  task::StreamRef main = s.stream("main");
  main.memcpy(qkv, s.host_data<u16>("qkv", "f2", d.qkv))
      .memcpy(table, s.host_data<u16>("table", "f2", d.table))
      .memcpy(mask, s.host_data<float>("masks", "f4", masks));
  main.launch_mix(s.kernel("cube", AIC_ONLY, Cube(d.shape, chip.arch).program()),
                  s.kernel("vector", AIV_ONLY, Vector(d.shape, factor(), chip.arch).program()), 2,
                  static_cast<u32>(blocks), {qkv, table, mask, scores, chances, out});
  main.memcpy(s.host({.name = "out", .output = "out.npy", .dtype = "f2", .shape = {out_elements}}), out);
  s.thread("main").enqueue(main);
  return s.finish();
}

}  // namespace vinci::studies::swin
