// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tools/gen/gemm_moves.h"

namespace vinci::gen {
namespace {

// Placement of slots, the loop over steps of k, L0 and the cube.
class GemmProgramWriter : GemmMoves {
 public:
  GemmProgramWriter(const GemmProblem& p, const GemmTiling& t, const GemmPitches& pitch, const config::ChipConfig& chip,
                    const GemmArguments& arguments)
      : GemmMoves(p, t, pitch, chip), arguments_(arguments) {
    if (p.bias && !joint_) bias_at_ = out_.reg("bias_at");
    if (p.scaled) factors_at = out_.reg("factors_at");
  }

  isa::BuiltProgram program() {
    header();
    prologue();
    out_.bind(loop_);
    load_step();
    compute_step();
    epilogue();
    return out_.finish();
  }

 private:
  void header() {
    const bool whole = is_integer(p_.input);
    out_.comment(fmt::format("C[{0},{1}] = A[{0},{2}] * B[{2},{1}], {3} in, {4} accumulation, {5} out", p_.m, p_.n,
                             p_.k, kInputs[static_cast<usize>(p_.input)], whole ? "S32" : "FP32",
                             p_.out_f32                    ? (whole ? "S32" : "FP32")
                             : p_.out_b8                   ? "8 bits"
                             : p_.input == GemmInput::bf16 ? "BF16"
                                                           : "FP16"));
    out_.comment(
        fmt::format("{} tiles of {} x {} on {} blocks, in strips of {} rows of tiles; k in steps of {} "
                    "through L1 and {} through L0",
                    t_.tiles(), t_.tile_m, t_.tile_n, t_.blocks, t_.strip, t_.l1_k, t_.l0_k));
    out_.comment(fmt::format("arguments: addresses of A, B,{}{} C", p_.bias ? " bias," : "",
                             p_.scaled ? " quantisation parameters," : ""));
  }

  // Every slot is free at the start: its consumer says so, as it will after each use.
  template <class Flag>
  void each_slot(const Flag& flag) {
    const auto each = [&](u32 slots, PipeId from, PipeId to) {
      for (u32 s = 0; s < slots; ++s)
        flag(from, to, s);
    };
    each(t_.l1_slots, PipeId::MTE1, in_pipe());
    each(t_.l0_slots, PipeId::M, PipeId::MTE1);
    if (!unit_flag_) each(t_.l0c_slots, out_pipe(), PipeId::M);
    if (!joint_) return;
    each(t_.stage_slots, PipeId::MTE3, PipeId::MTE2);
    each(t_.ub_slots, PipeId::MTE3, PipeId::V);
    if (p_.epilogue != nullptr && !p_.epilogue->operands.empty()) each(kOperandSlots, PipeId::V, PipeId::MTE2);
  }

  void prologue() {
    out_.ld_arg(a_gm, arguments_.a);
    out_.ld_arg(b_gm, arguments_.b);
    out_.ld_arg(c_gm, arguments_.c);
    out_.get_block_num(step);
    out_.get_block_idx(load_tile);
    out_.mov(tile, load_tile);
    if (p_.hf32) {
      out_.comment("HF32");
      out_.get_ctrl(t0);
      out_.or_(t0, t0, isa::ctrl::kHf32);
      out_.set_ctrl(t0);
    }
    if (by_load3d_) {
      out_.comment("B in L1 as a map of one column, whose channels are columns of B");
      out_.mov(t0, 1 | u64{t_.l1_k} << 16);
      out_.set_fmatrix(t0);
    }
    if (t_.l1_slots == 2) out_.mov(left, NONE);
    out_.comment("every slot is free");
    each_slot([&](PipeId from, PipeId to, u32 slot) { out_.set_flag(from, to, slot); });
    if (p_.epilogue != nullptr) clear_for_epilogue();
    if (p_.bias) load_table(arguments_.bias, bias_base_, p_.n * 4, joint_ ? PipeId::V : PipeId::MTE1, kBiasEvent);
    if (p_.scaled)
      load_table(arguments_.factors, factor_base_, p_.n * 8, joint_ ? PipeId::V : PipeId::FIX, kBiasEvent + 1);
    out_.bge(tile, TILES, finish_);
  }

  // A number for each column, to L1 or UB, where `reader` takes it from.
  void load_table(u32 argument, u64 to, u64 bytes, PipeId reader, u32 event) {
    const u64 blocks = ceil_div<u64>(bytes, 32);
    out_.ld_arg(t0, argument);
    if (joint_) {
      out_.copy_gm_to_ubuf(to, t0, 0, 1, blocks, 0, 0);
    } else {
      out_.copy_gm_to_cbuf(to, t0, 0, 1, blocks, 0, 0);
    }
    out_.hand_over(PipeId::MTE2, reader, event);
  }

  void load_step() {
    const Target done = out_.label("load_done"), same_tile = out_.label("load_same_tile");
    out_.comment("one step of k of A and B to L1");
    out_.bge(load_tile, TILES, done);
    out_.blt(0, load_k, same_tile);
    place(load_tile);
    extent(load_m, M, m0, TILE_M);
    extent(load_n, N, n0, TILE_N);
    const i64 size = in_bytes();
    out_.mul(load_a, m0, LDA * size);
    out_.add(load_a, load_a, a_gm);
    add_matrix(load_a, load_tile, p_.batch_a, p_.m * pitch_.a * in_bytes());
    if (p_.b_transposed) {
      out_.mul(load_b, n0, LDB * size);
    } else {
      out_.shl(load_b, n0, std::countr_zero(in_bytes()));
    }
    out_.add(load_b, load_b, b_gm);
    add_matrix(load_b, load_tile, p_.batch_b, (p_.b_transposed ? p_.n : p_.k) * pitch_.b * in_bytes());
    out_.bind(same_tile);
    extent(kk, K, load_k, L1_K);
    out_.wait_flag(PipeId::MTE1, in_pipe(), load_slot);
    out_.mul(dst, load_slot, L1A_SLOT);
    load({"a", load_a, LDA, load_m, kk, TILE_M, t_.tile_m, t_.l1_k});
    out_.mul(dst, load_slot, L1B_SLOT);
    out_.add(dst, dst, L1B_BASE);
    if (p_.b_transposed) {
      load({"b", load_b, LDB, load_n, kk, TILE_N, t_.tile_n, t_.l1_k});
    } else {
      load({"b", load_b, LDB, kk, load_n, L1_K, t_.l1_k, t_.tile_n});
    }
    out_.set_flag(in_pipe(), PipeId::MTE1, load_slot);
    turn(load_slot, t_.l1_slots);
    out_.add(load_a, load_a, L1_K * size);
    out_.add(load_b, load_b, p_.b_transposed ? L1_K * size : L1_K * LDB * size);
    out_.add(load_k, load_k, L1_K);
    out_.blt(load_k, K, done);
    out_.mov(load_k, 0);
    out_.add(load_tile, load_tile, step);
    out_.bind(done);
  }

  void compute_step() {
    const Target compute = out_.label("compute"), same_tile = out_.label("same_tile");
    if (t_.l1_slots == 2) {
      out_.comment("the step of k that was loaded before");
      out_.bne(left, NONE, compute);
      out_.mov(left, 0);
      out_.b(loop_);
    } else {
      // Loads ahead of their slot would fill the queue of MTE2 before the step that frees the slot is issued.
      out_.comment("the step of k that was just loaded");
    }
    out_.bind(compute);
    out_.blt(0, left, same_tile);
    begin_tile();
    out_.bind(same_tile);
    out_.min(kk, left, L1_K);
    out_.wait_flag(in_pipe(), PipeId::MTE1, l1_slot);
    out_.mul(a_src, l1_slot, L1A_SLOT);
    out_.mul(b_src, l1_slot, L1B_SLOT);
    out_.add(b_src, b_src, L1B_BASE);
    multiply_steps();
    out_.set_flag(PipeId::MTE1, in_pipe(), l1_slot);
    turn(l1_slot, t_.l1_slots);
    std::optional<Target> store;
    if (joint_) store = store_before();
    out_.blt(0, left, loop_);
    store_tile();
    out_.add(tile, tile, step);
    out_.blt(tile, TILES, loop_);
    if (store) out_.b(*store);
  }

  // Joint core: the tile before this one. Returns where it is stored.
  Target store_before() {
    const Target stored = out_.label("stored");
    out_.comment("the tile before goes out while the cube works on this one");
    out_.beq(c_at, 0, stored);
    const Target store = out_.here("store");
    if (p_.epilogue != nullptr) {
      work_on_tile();
      // MTE3 fills L1 too: it must not wait for that work while the cube needs operands of this tile.
      out_.blt(0, left, stored);
    }
    store_from_ub();
    out_.mov(c_at, 0);
    out_.bge(tile, TILES, finish_);
    out_.bind(stored);
    return store;
  }

  void begin_tile() {
    place(tile);
    if (!whole_m_) {
      extent(m.reg(), M, m0, TILE_M);
      out_.add(m1.reg(), m, 15);
      out_.shr(m1.reg(), m1, 4);
    }
    if (!whole_n_) {
      extent(n.reg(), N, n0, TILE_N);
      out_.add(n1.reg(), n, 15);
      out_.shr(n1.reg(), n1, 4);
    }
    if (!joint_) address_of_c(tile);
    out_.mov(left, K);
    if (!unit_flag_) out_.wait_flag(out_pipe(), PipeId::M, c_slot);
    if (p_.scaled) {
      if (joint_) {
        out_.shr(factors_at, n0, 2);
        out_.add(factors_at, factors_at, factor_base_ / 32);
        if (p_.relu) out_.or_(factors_at, factors_at, 1 << 15);
      } else {
        out_.shl(factors_at, n0, 3);
        out_.add(factors_at, factors_at, factor_base_);
      }
    }
    if (!p_.bias) return;
    if (joint_) return begin_with_bias();
    out_.shl(bias_at_, n0, 2);
    out_.add(bias_at_, bias_at_, bias_base_);
  }

  // Joint core: L0C begins with the bias, rows of fractals that are all the same.
  void begin_with_bias() {
    out_.comment("L0C begins with the bias");
    out_.hand_over(PipeId::M, PipeId::V, kBiasEvent);
    out_.mul(t0, c_slot, L0C_SLOT);
    out_.shl(t1, n0, 2);
    out_.add(t1, t1, bias_base_);
    out_.sub(src, m1, 1);
    out_.mov(j, 0);
    const Target next = out_.here("bias_rows");
    out_.broadcast_ub_to_cc(isa::Type::f32, t0, t1, n1, 1, 0, src);
    out_.add(t0, t0, 1024);
    out_.add(j, j, 1);
    out_.blt(j, m1, next);
    out_.hand_over(PipeId::V, PipeId::M, kBiasEvent);
  }

  // Split core: the columns of the tile to the half of the bias table that belongs to a slot of L0. The mad before
  // that used the slot has read it.
  void load_bias_table(i64 slot) {
    const Target done = out_.label(fmt::format("bias_{}_done", slot));
    out_.bne(left, K, done);
    out_.copy_cbuf_to_bt(slot * TILE_N * 4, bias_at_, 0, 1, n1, 0, 0);
    out_.bind(done);
  }

  // kk columns of A through L0; slots are numbers, as each step of L1 begins with the first one.
  void multiply_steps() {
    const Target first = out_.label("k_step_0"), done = out_.label("k_done");
    out_.bind(first);
    for (u32 slot = 0; slot < t_.l0_slots; ++slot) {
      if (slot > 0) out_.here(fmt::format("k_step_{}", slot));
      multiply_step(slot);
      if (slot + 1 == t_.l0_slots) {
        out_.blt(0, kk, first);
      } else if (!even_) {
        out_.ble(kk, 0, done);
      }
    }
    out_.bind(done);
  }

  void multiply_step(u32 slot) {
    if (!whole_k_) out_.min(k.reg(), kk, L0_K);
    out_.wait_flag(PipeId::M, PipeId::MTE1, slot);
    if (!whole_k_) {
      out_.add(t0, k, p_.c0() - 1);
      out_.shr(t0, t0, c0_shift());
    }
    if (p_.bias && !joint_) load_bias_table(slot);
    load_l0a(slot);
    load_l0b(slot);
    out_.hand_over(PipeId::MTE1, PipeId::M, slot);
    mad(slot);
    out_.set_flag(PipeId::M, PipeId::MTE1, slot);
    const i64 size = in_bytes();
    out_.add(a_src, a_src, L0_K * TILE_M * size);
    out_.add(b_src, b_src, p_.b_transposed ? L0_K * TILE_N * size : L0_K * 32);
    out_.sub(left, left, L0_K);
    out_.sub(kk, kk, L0_K);
  }

  // Rows or columns of fractals, as few instructions as that gives. Without a gap in L0A it is rows.
  void load_l0a(i64 slot) {
    const i64 at = slot * L0A_SLOT, k1 = l0_k1(), rows_of_tile = tile_m1();
    const Target end = out_.label(fmt::format("l0a_{}_done", slot));
    if (gap_ && k1 <= rows_of_tile) {
      if (!whole_k_) out_.sub(t1, t0, 1);
      for (i64 f = 0; f < k1; ++f) {
        if (!whole_k_ && f > 0) out_.ble(t0, f, end);
        out_.load_cbuf_to_ca(at + f * 512, a_src, f * rows_of_tile, m1, 1, 0, 0, whole_k_ ? Value(k1 - 1) : t1);
      }
      return out_.bind(end);
    }
    if (!whole_k_) {
      out_.shl(t1, t0, 9);
      out_.mov(dst, at);
    }
    for (i64 f = 0; f < rows_of_tile; ++f) {
      if (!whole_m_ && f > 0) out_.ble(m1, f, end);
      if (whole_k_) {
        out_.load_cbuf_to_ca(at + f * k1 * 512, a_src, f, k1, rows_of_tile, 0, 0);
      } else {
        out_.load_cbuf_to_ca(dst, a_src, f, t0, rows_of_tile, 0, 0);
        if (f + 1 < rows_of_tile) out_.add(dst, dst, t1);
      }
    }
    out_.bind(end);
  }

  // Rows of fractals, each transposed unless B is.
  void load_l0b(i64 slot) {
    const i64 at = slot * L0B_SLOT, k1 = l0_k1();
    if (by_load3d_) return load_l0b_by_load3d(at);
    const Target end = out_.label(fmt::format("l0b_{}_done", slot));
    if (!whole_n_) {
      out_.shl(t1, n1, 9);
      out_.mov(dst, at);
    }
    for (i64 f = 0; f < k1; ++f) {
      if (!whole_k_ && f > 0) out_.ble(t0, f, end);
      if (whole_n_) {
        load_row_of_b(at + f * tile_n1() * 512, f);
      } else {
        load_row_of_b(dst, f);
        if (f + 1 < k1) out_.add(dst, dst, t1);
      }
    }
    out_.bind(end);
  }

  // FP32, which load2d does not transpose: k are the positions of a map, columns its channels.
  void load_l0b_by_load3d(i64 at) {
    Value columns = t_.tile_n;
    if (!whole_n_) {  // whole blocks, which are there
      columns = t1;
      out_.add(t1, n, p_.c0() - 1);
      out_.shr(t1, t1, c0_shift());
      out_.shl(t1, t1, c0_shift());
    }
    out_.img2colv2_cbuf_to_cb(isa::Type::b32, at, b_src, columns, k, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, t_.tile_n);
  }

  void load_row_of_b(const Value& to, i64 f) {
    if (p_.b_transposed) return out_.load_cbuf_to_cb(to, b_src, f * tile_n1(), n1, 1, 0, 0);
    out_.load_cbuf_to_cb(to, b_src, f, n1, L1_K / 16, 0, 1);
  }

  // A mad on so few fractals may still be writing the accumulator when the next one reads it.
  bool is_short(u64 rows_of_a, u64 columns_of_b) const {
    return rows_of_a * columns_of_b < 10 || (joint_ && (columns_of_b <= 1 || rows_of_a <= 2));
  }
  bool some_are_short() const {
    const auto last = [](u64 all, u32 part) { return ceil_div<u64>(all % part == 0 ? part : all % part, 16); };
    const std::array<u64, 2> of_m{tile_m1(), last(p_.m, t_.tile_m)}, of_n{tile_n1(), last(p_.n, t_.tile_n)};
    return std::ranges::any_of(of_m,
                               [&](u64 r) { return std::ranges::any_of(of_n, [&](u64 c) { return is_short(r, c); }); });
  }
  void fence_short(u32 slot) {
    const Target multiply = out_.label(fmt::format("multiply_{}", slot));
    const Target fence = out_.label(fmt::format("fence_{}", slot));
    out_.bne(j, 0, multiply);
    if (joint_) {
      out_.ble(n1, 1, fence);
      out_.ble(m1, 2, fence);
    }
    out_.mul(t0, m1, n1);
    out_.bge(t0, 10, multiply);
    out_.bind(fence);
    out_.pipe_barrier(PipeId::M);
    out_.bind(multiply);
  }

  void mad(i64 slot) {
    out_.comment("j: the first of a tile");
    out_.cmp_eq(j, left, K);
    if (some_are_short()) fence_short(static_cast<u32>(slot));
    Value rows_of_a = m, c = 0, unit = 0;
    if (!joint_ && p_.m % t_.tile_m == 1) {
      rows_of_a = t1;
      out_.comment("one row would be a vector in another layout");
      out_.max(t1, m, 2);
    }
    if (t_.l0c_slots == 2) {
      c = t0;
      out_.mul(t0, c_slot, L0C_SLOT);
    }
    if (unit_flag_) {  // the last one of a tile tells FIXPIPE, block by block
      unit = t0;
      out_.cmp_le(t0, left, L0_K);
      out_.add(t0, t0, 2);
    }
    const Value a = slot * L0A_SLOT, b = slot * L0B_SLOT;
    static constexpr std::array kTypes{isa::Type::f162f32, isa::Type::bf162f32, isa::Type::f322f32, isa::Type::s8,
                                       isa::Type::u8s8};
    const isa::Type type = kTypes[static_cast<usize>(p_.input)];
    if (!p_.bias) return out_.mad(type, c, a, b, rows_of_a, k, n, j, unit);
    if (joint_) return out_.mad(type, c, a, b, rows_of_a, k, n, 0, unit);
    out_.mad(type, c, a, b, rows_of_a, k, n, 0, unit, 0, j, slot * TILE_N * 4);
  }

  void epilogue() {
    out_.bind(finish_);
    out_.comment("leave no flag behind");
    each_slot([&](PipeId from, PipeId to, u32 slot) { out_.wait_flag(from, to, slot); });
    out_.pipe_barrier(PipeId::ALL);
    out_.end();
  }

  static constexpr std::array<std::string_view, 5> kInputs{"FP16", "BF16", "FP32", "S8", "U8 and S8"};  // GemmInput
  static constexpr u32 kBiasEvent = 2;
  const bool by_load3d_ = p_.input == GemmInput::f32 && !p_.b_transposed;
  const GemmArguments arguments_;
  Reg bias_at_;
  const Target loop_ = out_.label("loop"), finish_ = out_.label("finish");
};

}  // namespace

GemmPitches choose_pitches(const GemmProblem& p, const config::ChipConfig& chip) {
  const bool joint = chip.vector_cores == 0;
  const auto padded = [&](u64 columns) { return joint ? align_up<u64>(columns, std::max<u32>(p.c0(), 16)) : columns; };
  return {.a = padded(p.k), .b = padded(p.b_transposed ? p.k : p.n), .c = padded(p.n)};
}

isa::BuiltProgram gemm_program(const GemmProblem& problem, const GemmTiling& tiling, const GemmPitches& pitches,
                               const config::ChipConfig& chip, const GemmArguments& arguments) {
  if (chip.vector_cores == 0 && (problem.input == GemmInput::bf16 || problem.input == GemmInput::f32 || problem.out_b8))
    fail(Fault::Unsupported, "{}: its cube has no products of BF16 and FP32, and no 8-bit results", chip.name);
  if (is_integer(problem.input) && !problem.b_transposed)
    fail(Fault::Unsupported, "a product of integers needs B transposed");
  return GemmProgramWriter(problem, tiling, pitches, chip, arguments).program();
}

}  // namespace vinci::gen
