// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The vector cores of flash_attention.h.
#include "tools/validate/flash_attention.h"
#include "tools/validate/row_reduce.h"

namespace vinci::validate::attention {
namespace {

// UB: two places for what comes from the cube, two for exponentials, O, and what is one number for each row.
namespace ub {
constexpr u64 kPlace = kSlice * 4, kExp = 2 * kPlace, kO = kExp + 2 * kSlice * 2, kReduce = kO + kPlace;
constexpr u64 kReduceBytes = kSlice / 8 * 4, kBroadcast = kReduce + 2 * kReduceBytes, kRow = kRows / 2 * 4;
constexpr u64 kMax = kBroadcast + kRows / 2 * 32, kGlobalMax = kMax + kRow, kSum = kGlobalMax + kRow;
constexpr u64 kGlobalSum = kSum + kRow, kRescale = kGlobalSum + kRow;  // the last by tile of the queue
}  // namespace ub

class Vector final : public Writer {
 public:
  Vector(const Attention& attention, isa::Arch arch) : Writer(attention, "attention_vector", arch, 18) {}

  isa::BuiltProgram program() {
    arguments();
    p_.get_subblockid(aiv);
    p_.mul(t, block, kRows * kHead * 4);
    p_.add(o, o, t);
    p_.mul(t, aiv, kRows / 2 * kHead * 4);
    p_.add(o, o, t);
    p_.add(pv, pv, t);
    all_free(true);
    p_.mov(ahead, 0);
    p_.mov(slot, 0);
    const isa::Target preload = p_.here("preload");
    softmax_of_tile();
    p_.add(ahead, ahead, 1);
    p_.blt(ahead, std::min(x_.preload, x_.tiles()), preload);
    p_.loop(tile, 0, x_.tiles(), 1, [&] {
      p_.if_(ahead < x_.tiles(), [&] { softmax_of_tile(); });
      update();
      p_.add(ahead, ahead, 1);
    });
    all_free(false);
    drain(p_free);
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  void all_free(bool set) {
    for (u64 event = 0; event < 2; ++event) {
      flag(set, PipeId::V, PipeId::MTE2, event);
      flag(set, PipeId::MTE3, PipeId::V, event);
    }
  }

  // Instructions on whole repeats of f32, each after what the one before has written.
  void barrier() { p_.pipe_barrier(PipeId::V); }
  void binary(std::string_view name, const Value& dst, const Value& a, const Value& b, u64 repeats) {
    p_.call(name, Type::f32, {dst, a, b, repeats, 1, 1, 1, 8, 8, 8});
    barrier();
  }
  void exp(Reg matrix, u64 repeats) {
    p_.vexp(Type::f32, matrix, matrix, repeats, 1, 1, 8, 8);
    barrier();
  }
  void scale(Reg dst, Reg src, float by, u64 repeats) {
    p_.vmuls(Type::f32, dst, src, isa::f32(by), repeats, 1, 1, 8, 8);
    barrier();
  }
  void to_half(Reg dst, Reg src) {
    p_.vconv_f322f16a(dst, src, kSlice / 64, 1, 1, 4, 8);
    barrier();
  }

  // On one number for each row of the slice.
  void rows_mask() { p_.set_vector_mask(0, x_.rows() == 64 ? ~u64{0} : (u64{1} << x_.rows()) - 1); }
  void full_mask() { p_.set_vector_mask(~u64{0}, ~u64{0}); }

  // dst[row] = max or sum of the row.
  void reduce(std::string_view name, Reg dst, Reg src) {
    row_reduce(
        p_, {.name = name, .dst = dst, .src = src, .rows = x_.rows(), .columns = x_.tile, .work = ub::kReduce, .t = t});
  }
  // at[row, :] = at[row, :] op factor[row], of `rows` rows of `columns`; `name` is the instruction of op.
  void by_row(std::string_view name, const Value& matrix, const Value& row_factor, u64 rows, u64 columns) {
    p_.vbrcb(Type::f32, ub::kBroadcast, row_factor, 1, 8, rows / 8);
    barrier();
    p_.mov(t, matrix);
    if (columns / 64 <= rows) {
      for (u64 i = 0; i < columns / 64; ++i) {
        p_.call(name, Type::f32, {t, t, ub::kBroadcast, rows, 1, 1, 0, columns / 8, columns / 8, 1});
        p_.add(t, t, 256);
      }
    } else {
      for (u64 i = 0; i < rows; ++i) {
        p_.call(name, Type::f32, {t, t, ub::kBroadcast + i * 32, columns / 64, 1, 1, 0, 8, 8, 0});
        p_.add(t, t, columns * 4);
      }
    }
    barrier();
  }

  // The exponentials of tile `ahead`, slice by slice of the rows.
  void softmax_of_tile() {
    p_.loop(part, 0, x_.parts(), 1, [&] {
      p_.wait_flag(PipeId::V, PipeId::MTE2, slot);
      p_.if_(part == 0, [&] { wait_cross(qk_there); });
      load_slice();
      p_.if_(part == x_.parts() - 1, [&] { note_free(ahead, PipeId::MTE2, qk_free); });
      p_.hand_over(PipeId::MTE2, PipeId::V, slot);
      addresses_of_rows();
      p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
      p_.if_(
          ahead == 0, [&] { first_tile(); }, [&] { later_tile(); });
      p_.set_flag(PipeId::V, PipeId::MTE2, slot);
      p_.hand_over(PipeId::V, PipeId::MTE3, slot);
      p_.if_(part == 0, [&] { wait_free(ahead, p_free); });
      store_slice();
      p_.if_(part == x_.parts() - 1, [&] { set_cross(PipeId::MTE3, p_there); });
      p_.set_flag(PipeId::MTE3, PipeId::V, slot);
      p_.xor_(slot, slot, 1);
    });
  }
  // at = where the slice of this core begins in a queue, with `bytes` for an element.
  void slice_in_queue(Reg queue, u64 queue_bytes, u64 bytes) {
    place_in_queue(at, queue, ahead, queue_bytes);
    p_.mul(t, aiv, kRows / 2 * kColumns * bytes);
    p_.add(at, at, t);
    p_.mul(t, part, x_.rows() * kColumns * bytes);
    p_.add(at, at, t);
  }
  void load_slice() {
    p_.mul(place, slot, ub::kPlace);
    slice_in_queue(qk, qk_bytes(), 4);
    for (u64 i = 0; i < x_.parts(); ++i) {
      p_.add(t, place, i * kColumns * 4);
      p_.copy_gm_to_ubuf(t, at, 0, x_.rows(), kColumns * 4 / 32, 0, (x_.parts() - 1) * kColumns * 4 / 32);
      p_.add(at, at, kRows * kColumns * 4);
    }
  }
  void store_slice() {
    slice_in_queue(p, p_bytes(), 2);
    for (u64 i = 0; i < x_.parts(); ++i) {
      p_.add(t, exp_at, i * kColumns * 2);
      p_.copy_ubuf_to_gm(at, t, 0, x_.rows(), kColumns * 2 / 32, (x_.parts() - 1) * kColumns * 2 / 32, 0);
      p_.add(at, at, kRows * kColumns * 2);
    }
  }
  // Where the numbers for each row of the slice are.
  void addresses_of_rows() {
    const auto address = [&](Reg out, u64 base) {
      p_.mul(t, part, x_.rows() * 4);
      p_.add(out, t, base);
    };
    address(max, ub::kMax);
    address(global_max, ub::kGlobalMax);
    address(sum, ub::kSum);
    address(global_sum, ub::kGlobalSum);
    p_.rem(t, ahead, x_.fifo);
    p_.mul(t, t, ub::kRow);
    p_.mul(rescale, part, x_.rows() * 4);
    p_.add(rescale, rescale, t);
    p_.add(rescale, rescale, ub::kRescale);
    p_.mul(exp_at, slot, kSlice * 2);
    p_.add(exp_at, exp_at, ub::kExp);
  }

  static constexpr float kScale = 0.088388346f;  // 1 / sqrt(kHead)
  void first_tile() {
    reduce("max", global_max, place);
    by_row("vsub", place, global_max, x_.rows(), x_.tile);
    scale(place, place, kScale, kSlice / 64);
    exp(place, kSlice / 64);
    reduce("add", global_sum, place);
    to_half(exp_at, place);
  }
  void later_tile() {
    reduce("max", max, place);
    rows_mask();
    binary("vmax", max, max, global_max, 1);
    binary("vsub", rescale, global_max, max, 1);
    scale(global_max, max, 1, 1);
    full_mask();
    by_row("vsub", place, max, x_.rows(), x_.tile);
    rows_mask();
    scale(rescale, rescale, kScale, 1);
    full_mask();
    scale(place, place, kScale, kSlice / 64);
    rows_mask();
    exp(rescale, 1);
    full_mask();
    exp(place, kSlice / 64);
    to_half(exp_at, place);
    rows_mask();
    binary("vmul", global_sum, rescale, global_sum, 1);
    full_mask();
    reduce("add", sum, place);
    rows_mask();
    binary("vadd", global_sum, global_sum, sum, 1);
    full_mask();
  }

  // O = O * rescale + P V of `tile`, and at the end its rows through their sums.
  void update() {
    constexpr u64 kMine = kRows / 2;
    wait_cross(pv_there);
    p_.wait_flag(PipeId::V, PipeId::MTE2, slot);
    p_.mul(place, slot, ub::kPlace);
    p_.if_(tile == 0, [&] { p_.mov(place, ub::kO); });
    place_in_queue(at, pv, tile, pv_bytes());
    p_.copy_gm_to_ubuf(place, at, 0, 1, kMine * kHead * 4 / 32, 0, 0);
    p_.hand_over(PipeId::MTE2, PipeId::V, slot);
    p_.if_(tile != 0, [&] {
      p_.rem(t, tile, x_.fifo);
      p_.mul(t, t, ub::kRow);
      p_.add(rescale, t, ub::kRescale);
      by_row("vmul", ub::kO, rescale, kMine, kHead);
      binary("vadd", ub::kO, ub::kO, place, kSlice / 64);
    });
    p_.set_flag(PipeId::V, PipeId::MTE2, slot);
    note_free(tile, PipeId::MTE2, pv_free);
    p_.if_(tile == x_.tiles() - 1, [&] {
      by_row("vdiv", ub::kO, ub::kGlobalSum, kMine, kHead);
      p_.hand_over(PipeId::V, PipeId::MTE3, 2);
      p_.copy_ubuf_to_gm(o, ub::kO, 0, 1, kMine * kHead * 4 / 32, 0, 0);
    });
    p_.xor_(slot, slot, 1);
  }

  const Reg slot = p_.reg("slot"), aiv = p_.reg("aiv"), place = p_.reg("place"), factor = p_.reg("factor"),
            exp_at = p_.reg("exp_at"), at = p_.reg("at"), max = p_.reg("max"), global_max = p_.reg("global_max"),
            sum = p_.reg("sum"), global_sum = p_.reg("global_sum"), rescale = p_.reg("rescale");
};

}  // namespace

isa::BuiltProgram vector_program(const Attention& attention, isa::Arch arch) {
  return Vector(attention, arch).program();
}

}  // namespace vinci::validate::attention
