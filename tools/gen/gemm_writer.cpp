// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_writer.h"

namespace vinci::gen {

GemmWriter::GemmWriter(const GemmProblem& p, const GemmTiling& t, const GemmPitches& pitch,
                       const config::ChipConfig& chip)
    : p_(p),
      t_(t),
      pitch_(pitch),
      joint_(chip.vector_cores == 0),
      gap_(chip.arch == isa::Arch::m200 || chip.arch == isa::Arch::c220),
      unit_flag_(!joint_ && p.double_buffer && t.l0c_slots == 1),
      whole_m_(p.m % t.tile_m == 0),
      whole_n_(p.n % t.tile_n == 0),
      whole_k_(p.k % t.l0_k == 0),
      even_(t.l0_slots == 2 && p.k % t.l1_k == 0 && t.l1_k / t.l0_k % 2 == 0),
      out_("gemm", chip.arch),
      M(constant("M", p.m)),
      N(constant("N", p.n)),
      K(constant("K", p.k)),
      LDA(constant("LDA", pitch.a)),
      LDB(constant("LDB", pitch.b)),
      LDC(constant("LDC", pitch.c)),
      TILE_M(constant("TILE_M", t.tile_m)),
      TILE_N(constant("TILE_N", t.tile_n)),
      L1_K(constant("L1_K", t.l1_k)),
      L0_K(constant("L0_K", t.l0_k)),
      TILES(constant("TILES", t.tiles())),
      NONE(out_.constant("NONE", -65536)),
      M_TILES(constant("M_TILES", t.m_tiles)),
      N_TILES(constant("N_TILES", t.n_tiles)),
      L1A_SLOT(constant("L1A_SLOT", u64{t.tile_m} * t.l1_k * p.in_bytes())),
      L1B_BASE(constant("L1B_BASE", u64{t.tile_m} * t.l1_k * p.in_bytes() * t.l1_slots)),
      L1B_SLOT(constant("L1B_SLOT", u64{t.tile_n} * t.l1_k * p.in_bytes())),
      L0A_SLOT(constant("L0A_SLOT", u64{t.tile_m} * t.l0_k * p.in_bytes())),
      L0B_SLOT(constant("L0B_SLOT", u64{t.tile_n} * t.l0_k * p.in_bytes())),
      L0C_SLOT(constant("L0C_SLOT", u64{t.tile_m} * t.tile_n * 4)),
      STAGE(constant("STAGE", t.stage_bytes)),
      UB_BASE(constant("UB_BASE", u64{t.stage_bytes} * t.stage_slots)),
      UB_SLOT(constant("UB_SLOT", u64{t.tile_m} * t.tile_n * p.out_bytes())),
      bias_base_(joint_ ? u64{t.stage_bytes} * t.stage_slots + u64{t.tile_m} * t.tile_n * p.out_bytes() * t.ub_slots
                        : (u64{t.tile_m} + t.tile_n) * t.l1_k * p.in_bytes() * t.l1_slots),
      factor_base_(bias_base_ + gemm_bias_bytes(p)),
      operands_base_(bias_base_ + gemm_table_bytes(p)),
      a_gm(out_.reg("a_gm")),
      b_gm(out_.reg("b_gm")),
      c_gm(out_.reg("c_gm")),
      step(out_.reg("step")),
      load_tile(out_.reg("load_tile")),
      load_k(out_.reg("load_k")),
      load_slot(out_.reg("load_slot")),
      load_m(out_.reg("load_m")),
      load_n(out_.reg("load_n")),
      load_a(out_.reg("load_a")),
      load_b(out_.reg("load_b")),
      tile(out_.reg("tile")),
      left(out_.reg("left")),
      l1_slot(out_.reg("l1_slot")),
      c_at(out_.reg("c_at")),
      m0(out_.reg("m0")),
      n0(out_.reg("n0")),
      kk(out_.reg("kk")),
      src(out_.reg("src")),
      dst(out_.reg("dst")),
      j(out_.reg("j")),
      t0(out_.reg("t0")),
      t1(out_.reg("t1")),
      a_src(out_.alias("a_src", m0)),
      b_src(out_.alias("b_src", n0)),
      k16(out_.alias("k16", m0)),
      column(out_.alias("column", n0)),
      rows(out_.alias("rows", kk)),
      gap(joint_ ? out_.reg("gap") : t1),
      c_slot(value(t.l0c_slots == 2, "c_slot", 0)),
      ub_slot(value(joint_ && t.ub_slots == 2, "ub_slot", 0)),
      stage(value(joint_ && t.stage_slots == 2, "stage", 0)),
      m(value(!whole_m_, "m", t.tile_m)),
      m1(value(!whole_m_, "m1", tile_m1())),
      n(value(!whole_n_, "n", t.tile_n)),
      n1(value(!whole_n_, "n1", tile_n1())),
      k(value(!whole_k_, "k", t.l0_k)) {}

void GemmWriter::add_matrix(Reg to, Reg of, const GemmBatch& batch, u64 bytes) {
  if (batch.count == 1) return;
  out_.div(t0, of, static_cast<i64>(t_.tiles_of_matrix() * batch.below));
  if (batch.below * batch.count < p_.matrices) out_.rem(t0, t0, batch.count);
  out_.mul(t0, t0, bytes);
  out_.add(to, to, t0);
}

void GemmWriter::place(Reg of) {
  if (t_.matrices > 1) {
    out_.rem(src, of, static_cast<i64>(t_.tiles_of_matrix()));
    of = src;
  }
  if (t_.strip == 1) {
    out_.div(m0, of, N_TILES);
    out_.rem(n0, of, N_TILES);
  } else {  // every second strip from the other side: it begins where L2 has the columns of B
    const i64 strip = t_.strip;
    out_.div(t0, of, strip * N_TILES);
    out_.rem(t1, of, strip * N_TILES);
    out_.mul(dst, t0, strip);
    Value in_strip = strip;
    if (t_.m_tiles % t_.strip != 0) {
      in_strip = src;
      out_.sub(src, M_TILES, dst);
      out_.min(src, src, strip);
    }
    out_.rem(m0, t1, in_strip);
    out_.add(m0, m0, dst);
    out_.div(n0, t1, in_strip);
    out_.and_(t0, t0, 1);
    out_.mul(t1, t0, N_TILES - 1);
    out_.shl(t0, t0, 1);
    out_.mul(t0, t0, n0);
    out_.add(n0, n0, t1);
    out_.sub(n0, n0, t0);
  }
  out_.mul(m0, m0, TILE_M);
  out_.mul(n0, n0, TILE_N);
}

}  // namespace vinci::gen
