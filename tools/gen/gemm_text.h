// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <string>

#include "tools/gen/gemm_program.h"

namespace vinci::gen {

// Writes the kernel of a GEMM line by line. What is the same for all tiles or steps is a constant of the program, else
// a register; both are called the same, so that instructions do not care.
class GemmText {
 protected:
  GemmText(const GemmProblem& p, const GemmTiling& t, const GemmPitches& pitch, const config::ChipConfig& chip)
      : p_(p),
        t_(t),
        pitch_(pitch),
        chip_(chip),
        joint_(chip.vector_cores == 0),
        gap_(chip.arch == isa::Arch::m200 || chip.arch == isa::Arch::c220),
        unit_flag_(!joint_ && p.double_buffer && t.l0c_slots == 1),
        whole_m_(p.m % t.tile_m == 0),
        whole_n_(p.n % t.tile_n == 0),
        whole_k_(p.k % t.l0_k == 0),
        even_(t.l0_slots == 2 && p.k % t.l1_k == 0 && t.l1_k / t.l0_k % 2 == 0) {}

  void line(std::string_view s) {
    out_ += s;
    out_ += '\n';
  }
  template <class... Args>
  void op(fmt::format_string<Args...> format, Args&&... args) {
    out_ += "  ";
    line(fmt::format(format, std::forward<Args>(args)...));
  }
  void turn(std::string_view slot, u32 slots) {
    if (slots == 2) op("xor {0}, {0}, 1", slot);
  }
  std::string_view in_pipe() const { return joint_ ? "PIPE_MTE3" : "PIPE_MTE2"; }  // writes L1
  std::string_view out_pipe() const { return joint_ ? "PIPE_V" : "PIPE_FIX"; }
  u32 out_bytes() const { return p_.out_f32 ? 4 : 2; }
  u32 tile_m1() const { return t_.tile_m / 16; }
  u32 tile_n1() const { return t_.tile_n / 16; }
  u32 l0_k1() const { return t_.l0_k / 16; }

  // m0, n0: first row and column of a tile
  void place(std::string_view tile) {
    if (t_.strip == 1) {
      op("div m0, {}, N_TILES", tile);
      op("rem n0, {}, N_TILES", tile);
    } else {  // every second strip from the other side: it begins where L2 has the columns of B
      op("div t0, {}, {}*N_TILES", tile, t_.strip);
      op("rem t1, {}, {}*N_TILES", tile, t_.strip);
      op("mul dst, t0, {}", t_.strip);
      std::string rows = fmt::format("{}", t_.strip);
      if (t_.m_tiles % t_.strip != 0) {
        rows = "src";
        op("sub src, M_TILES, dst");
        op("min src, src, {}", t_.strip);
      }
      op("rem m0, t1, {}", rows);
      op("add m0, m0, dst");
      op("div n0, t1, {}", rows);
      op("and t0, t0, 1");
      op("mul t1, t0, N_TILES-1");
      op("shl t0, t0, 1");
      op("mul t0, t0, n0");
      op("add n0, n0, t1");
      op("sub n0, n0, t0");
    }
    op("mul m0, m0, TILE_M");
    op("mul n0, n0, TILE_N");
  }
  // Rows or columns of a tile from `first` on.
  void extent(std::string_view out, std::string_view all, std::string_view first, std::string_view tile) {
    op("sub {}, {}, {}", out, all, first);
    op("min {0}, {0}, {1}", out, tile);
  }

  void address_of_c() {
    op("mul c_at, m0, LDC");
    op("add c_at, c_at, n0");
    op("mul c_at, c_at, {}", out_bytes());
    op("add c_at, c_at, c_gm");
  }

  const GemmProblem& p_;
  const GemmTiling& t_;
  const GemmPitches& pitch_;
  const config::ChipConfig& chip_;
  const bool joint_;
  const bool gap_;        // load2d leaves a gap behind each fractal
  const bool unit_flag_;  // the only slot of L0C is handed over block by block
  const bool whole_m_, whole_n_, whole_k_;
  const bool even_;  // each step of L1 ends with the last slot of L0
  std::string out_;
};

}  // namespace vinci::gen
