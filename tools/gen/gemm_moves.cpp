// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/insns/fixpipe.h"

namespace vinci::gen {
namespace {

constexpr i64 kMaxNd2NzPitch = 65535;  // srcDValue
constexpr i64 kMaxGapBlocks = 65535;   // srcGap, dstGap
constexpr u32 kVdeq16 = 10;            // CRMODE

}  // namespace

void GemmMoves::load(const Part& x) {
  if (joint_) {
    through_ub(x);
  } else if (x.pitch <= kMaxNd2NzPitch) {
    to_nz(x.at, x.rows, x.columns, x.pitch, x.column_rows);
  } else {  // rows too far apart: one by one
    out_.mov(src, x.at);
    out_.mov(j, 0);
    const Target next = out_.here(fmt::format("load_{}_rows", x.name));
    to_nz(src, 1, x.columns, 1, x.column_rows);
    out_.add(src, src, x.pitch * in_bytes());
    out_.add(dst, dst, 32);
    out_.add(j, j, 1);
    out_.blt(j, x.rows, next);
  }
}

// Row-major from `from` to NZ at dst.
void GemmMoves::to_nz(const Value& from, const Value& count, const Value& columns, const Value& pitch,
                      const Value& column_rows) {
  const auto copy = [&](auto member) { (out_.*member)(dst, from, 0, 1, count, columns, 0, pitch, column_rows, 1, 0); };
  switch (in_bytes()) {
    case 1: return copy(&isa::ProgramBuilder::copy_gm_to_cbuf_multi_nd2nz_b8);
    case 2: return copy(&isa::ProgramBuilder::copy_gm_to_cbuf_multi_nd2nz_b16);
    default: return copy(&isa::ProgramBuilder::copy_gm_to_cbuf_multi_nd2nz_b32s);
  }
}

// Whole rows to UB, as many as a slot has room for, and from there block column by block column to L1.
void GemmMoves::through_ub(const Part& x) {
  const i64 c0 = p_.c0();
  const bool far = x.pitch / c0 > kMaxGapBlocks;
  const i64 chunk = far ? 1 : std::min<i64>(t_.stage_bytes / (i64{x.max_columns} * in_bytes()), 4095);
  out_.mov(src, x.at);
  out_.mov(j, x.rows);
  const Target next_rows = out_.here(fmt::format("load_{}_rows", x.name));
  out_.add(k16, x.columns, c0 - 1);
  out_.shr(k16, k16, c0_shift());
  out_.wait_flag(PipeId::MTE3, PipeId::MTE2, stage);
  out_.mul(t0, stage, STAGE);
  out_.min(t1, j, chunk);
  if (far) {
    out_.copy_gm_to_ubuf(t0, src, 0, 1, k16, 0, 0);
  } else {
    out_.sub(gap, x.pitch / c0, k16);
    out_.copy_gm_to_ubuf(t0, src, 0, t1, k16, gap, 0);
  }
  out_.hand_over(PipeId::MTE2, PipeId::MTE3, stage);
  out_.sub(gap, k16, 1);
  out_.mov(column, dst);
  const Target next_column = out_.here(fmt::format("load_{}_columns", x.name));
  out_.copy_ubuf_to_cbuf(column, t0, 0, t1, 1, gap, 0);
  out_.add(column, column, x.column_rows * 32);
  out_.add(t0, t0, 32);
  out_.sub(k16, k16, 1);
  out_.bgt(k16, 0, next_column);
  out_.set_flag(PipeId::MTE3, PipeId::MTE2, stage);
  turn(stage, t_.stage_slots);
  if (x.max_rows <= chunk) return;
  out_.add(src, src, chunk * x.pitch * in_bytes());
  out_.add(dst, dst, chunk * 32);
  out_.sub(j, j, chunk);
  out_.bgt(j, 0, next_rows);
}

// What FIXPIPE makes of the sums, as QuantMode_t numbers it.
u32 GemmMoves::quant_pre() const {
  using isa::insn::QuantPre;
  if (p_.scaled) return static_cast<u32>(p_.out_b8 ? QuantPre::vreq8 : QuantPre::vdeqf16);
  if (p_.out_f32) return static_cast<u32>(QuantPre::none);
  return static_cast<u32>(p_.input == GemmInput::bf16 ? QuantPre::f32_to_bf16 : QuantPre::f32_to_f16);
}

void GemmMoves::store_tile() {
  out_.comment("the tile is complete");
  if (!unit_flag_) out_.hand_over(PipeId::M, out_pipe(), c_slot);
  out_.mul(src, c_slot, L0C_SLOT);
  if (joint_) {
    out_.wait_flag(PipeId::MTE3, PipeId::V, ub_slot);
    out_.mul(dst, ub_slot, UB_SLOT);
    out_.add(dst, dst, UB_BASE);
    if (results_in_columns() && !whole_m_) {
      out_.sub(t0, tile_m1(), m1);
      out_.shl(t0, t0, 4);
      out_.copy_matrix_cc_to_ubuf(isa::Type::f32, dst, src, 0, n1, m1, 0, t0, 1);
    } else if (p_.scaled) {  // a piece for each 16 columns, which have parameters of their own
      out_.set_deqscale(factors_at);
      out_.copy_matrix_cc_to_ubuf(isa::Type::s32, dst, src, 0, n1, m1, 0, 0, kVdeq16);
    } else {
      out_.mul(t0, m1, n1);
      const isa::Type sums = is_integer(p_.input) ? isa::Type::s32 : isa::Type::f32;
      out_.copy_matrix_cc_to_ubuf(sums, dst, src, 0, 1, t0, 0, 0, p_.out_f32 ? 0 : 1);
    }
    out_.set_flag(PipeId::V, PipeId::M, c_slot);
    if (p_.epilogue != nullptr) {
      out_.pipe_barrier(PipeId::V);
      out_.comment("c_at: parts of the tile that have been worked on, or that it does not have, and 1");
      out_.mov(c_at, 1);
      if (!whole_n_) {
        out_.add(t0, n, i64{t_.chunk} - 1);
        out_.div(t0, t0, i64{t_.chunk});
        out_.sub(c_at, static_cast<i64>(chunks()) + 1, t0);
      }
    } else {
      out_.set_flag(PipeId::V, PipeId::MTE3, ub_slot);
      out_.comment("c_at: to be stored");
      out_.mov(c_at, 1);
    }
  } else {
    if (p_.scaled) {
      out_.comment("the parameters of the columns, when FIXPIPE is through with those before");
      out_.pipe_barrier(PipeId::FIX);
      out_.copy_cbuf_to_fbuf(0, factors_at, 1, n1, 0, 0);
      out_.pipe_barrier(PipeId::FIX);
    }
    out_.shl(t1, m1, 4);
    out_.copy_matrix_cc_to_gm(c_at, src, 0, n, m, LDC, t1, unit_flag_ ? 3 : 0, quant_pre(), p_.relu ? 1 : 0, 0, 1);
    if (!unit_flag_) out_.set_flag(PipeId::FIX, PipeId::M, c_slot);
  }
  turn(c_slot, t_.l0c_slots);
}

// The tile before `tile`, from UB.
void GemmMoves::store_from_ub() {
  const i64 blocks = out_bytes() * 16 / 32;  // 32 B blocks of a row of 16 results
  out_.sub(j, tile, step);
  place(j);
  if (p_.layout.empty()) address_of_c(j);
  extent(rows, M, m0, TILE_M);
  if (!p_.layout.empty()) {
    out_.wait_flag(PipeId::V, PipeId::MTE3, ub_slot);
    out_.mul(dst, ub_slot, UB_SLOT);
    out_.add(dst, dst, UB_BASE);
    store_transposed();
    out_.set_flag(PipeId::MTE3, PipeId::V, ub_slot);
    turn(ub_slot, t_.ub_slots);
    return;
  }
  extent(j, N, n0, TILE_N);
  out_.add(j, j, 15);
  out_.shr(j, j, 4);
  if (results_in_columns()) {
    out_.mov(t1, tile_m1());
  } else {
    out_.add(t1, rows, 15);
    out_.shr(t1, t1, 4);
  }
  out_.wait_flag(PipeId::V, PipeId::MTE3, ub_slot);
  out_.mul(dst, ub_slot, UB_SLOT);
  out_.add(dst, dst, UB_BASE);
  const i64 far = LDC * out_bytes() / 32 - blocks;
  if (far <= kMaxGapBlocks) {  // block column by block column
    out_.mul(t1, t1, blocks * 512);
    const Target next = out_.here("store_columns");
    out_.copy_ubuf_to_gm(c_at, dst, 0, rows, blocks, 0, far);
    out_.add(c_at, c_at, blocks * 32);
    out_.add(dst, dst, t1);
    out_.sub(j, j, 1);
    out_.bgt(j, 0, next);
  } else {  // row by row
    out_.shl(t1, t1, 4);
    out_.sub(t1, t1, 1);
    out_.mul(t1, t1, blocks);
    const Target next = out_.here("store_rows");
    out_.copy_ubuf_to_gm(c_at, dst, 0, j, blocks, t1, 0);
    out_.add(c_at, c_at, LDC * out_bytes());
    out_.add(dst, dst, blocks * 32);
    out_.sub(rows, rows, 1);
    out_.bgt(rows, 0, next);
  }
  out_.set_flag(PipeId::MTE3, PipeId::V, ub_slot);
  turn(ub_slot, t_.ub_slots);
}

}  // namespace vinci::gen
