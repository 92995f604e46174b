// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <bit>

#include "isa/builder/program_builder.h"
#include "tools/gen/gemm_program.h"

namespace vinci::gen {

// What all parts of a GEMM kernel have in common: names, and the place of a tile. What is the same for all tiles or
// steps is a constant of the program, else a register; as operands (isa::Value) both are used alike.
class GemmWriter {
 protected:
  using Reg = isa::Reg;
  using Const = isa::Const;
  using Value = isa::Value;
  using Target = isa::Target;
  using PipeId = isa::PipeId;

  GemmWriter(const GemmProblem& p, const GemmTiling& t, const GemmPitches& pitch, const config::ChipConfig& chip);

  // A slot turns to the other one.
  void turn(const Value& slot, u32 slots) {
    if (slots == 2) out_.xor_(slot.reg(), slot, 1);
  }
  PipeId in_pipe() const { return joint_ ? PipeId::MTE3 : PipeId::MTE2; }  // writes L1
  PipeId out_pipe() const { return joint_ ? PipeId::V : PipeId::FIX; }
  u32 out_bytes() const { return p_.out_bytes(); }
  u32 in_bytes() const { return p_.in_bytes(); }
  u32 c0_shift() const { return static_cast<u32>(std::countr_zero(p_.c0())); }
  u32 tile_m1() const { return t_.tile_m / 16; }
  u32 tile_n1() const { return t_.tile_n / 16; }
  u32 l0_k1() const { return t_.l0_k / p_.c0(); }

  // m0, n0: first row and column of a tile.
  void place(Reg tile);
  // Rows or columns of a tile from `first` on.
  void extent(Reg out, Const all, const Value& first, Const most) {
    out_.sub(out, all, first);
    out_.min(out, out, most);
  }
  // Of the tile `of`, behind place(of).
  void address_of_c(Reg of) {
    out_.mul(c_at, m0, LDC);
    out_.add(c_at, c_at, n0);
    out_.mul(c_at, c_at, out_bytes());
    out_.add(c_at, c_at, c_gm);
    add_matrix(c_at, of, {.below = 1, .count = p_.matrices}, p_.m * pitch_.c * out_bytes());
  }
  // Adds the distance of the matrix that the tile `of` reads, of matrices of so many bytes.
  void add_matrix(Reg to, Reg of, const GemmBatch& batch, u64 bytes);

  const GemmProblem& p_;
  const GemmTiling& t_;
  const GemmPitches& pitch_;
  const bool joint_;
  const bool gap_;        // load2d leaves a gap behind each fractal
  const bool unit_flag_;  // the only slot of L0C is handed over block by block
  const bool whole_m_, whole_n_, whole_k_;
  const bool even_;  // each step of L1 ends with the last slot of L0
  isa::ProgramBuilder out_;

  const Const M, N, K, LDA, LDB, LDC, TILE_M, TILE_N, L1_K, L0_K, TILES;
  const Const NONE;  // of `left`: before the first step has been loaded
  const Const M_TILES, N_TILES, L1A_SLOT, L1B_BASE, L1B_SLOT, L0A_SLOT, L0B_SLOT, L0C_SLOT;
  const Const STAGE, UB_BASE, UB_SLOT;  // joint core
  const u64 bias_base_, factor_base_;   // in L1, or UB of the joint core
  const u64 operands_base_;             // of the epilogue, in UB

  const Reg a_gm, b_gm, c_gm, step, load_tile, load_k, load_slot, load_m, load_n, load_a, load_b, tile, left, l1_slot,
      c_at, m0, n0, kk, src, dst, j, t0, t1;
  // What is never alive at the same time as another one shares its register.
  const Reg a_src, b_src;
  const Reg k16, column, rows, gap;  // joint core
  const Value c_slot, ub_slot, stage, m, m1, n, n1, k;

 private:
  // Where `varies`, a register, else a constant.
  Value value(bool varies, std::string_view name, u64 constant) {
    if (varies) return out_.reg(name);
    return out_.constant(name, static_cast<i64>(constant));
  }
  Const constant(std::string_view name, u64 value) { return out_.constant(name, static_cast<i64>(value)); }
};

}  // namespace vinci::gen
