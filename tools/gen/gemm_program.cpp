// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/gen/gemm_moves.h"

namespace vinci::gen {
namespace {

// Placement of slots, the loop over steps of k, L0 and the cube.
class Writer : GemmMoves {
 public:
  Writer(const GemmProblem& p, const GemmTiling& t, const GemmPitches& pitch, const config::ChipConfig& chip)
      : GemmMoves(p, t, pitch, chip) {}

  std::string text() {
    header();
    prologue();
    line("loop:");
    load_step();
    compute_step();
    epilogue();
    return std::move(out_);
  }

 private:
  void header() {
    line(fmt::format("; C[{0},{1}] = A[{0},{2}] * B[{2},{1}], FP16 in, FP32 accumulation, {3} out", p_.m, p_.n, p_.k,
                     p_.out_f32 ? "FP32" : "FP16"));
    line(
        fmt::format("; {} tiles of {} x {} on {} blocks, in strips of {} rows of tiles; k in steps of {} through L1 "
                    "and {} through L0",
                    t_.tiles(), t_.tile_m, t_.tile_n, t_.blocks, t_.strip, t_.l1_k, t_.l0_k));
    line("; arguments: addresses of A, B, C");
    line(fmt::format(".arch {}", isa::name(chip_.arch)));
    constants();
    // What is never alive at the same time shares a register.
    u32 reg = 0;
    const auto alias = [&](std::string_view name) { line(fmt::format(".alias {} = X{}", name, reg++)); };
    for (const std::string_view name :
         {"a_gm",   "b_gm",   "c_gm",   "step", "load_tile", "load_k",  "load_slot", "load_m",
          "load_n", "load_a", "load_b", "tile", "left",      "l1_slot", "c_at",      "m0",
          "n0",     "kk",     "src",    "dst",  "j",         "t0",      "t1"})
      alias(name);
    line(".alias a_src = m0");
    line(".alias b_src = n0");
    if (joint_) {
      line(".alias k16 = m0");
      line(".alias column = n0");
      line(".alias rows = kk");
      alias("gap");
    }
    if (t_.l0c_slots == 2) alias("c_slot");
    if (joint_ && t_.ub_slots == 2) alias("ub_slot");
    if (joint_ && t_.stage_slots == 2) alias("stage");
    if (!whole_m_) alias("m"), alias("m1");
    if (!whole_n_) alias("n"), alias("n1");
    if (!whole_k_) alias("k");
  }

  void constants() {
    const u64 l1a = u64{t_.tile_m} * t_.l1_k * 2;
    const auto constant = [&](std::string_view name, u64 value) { line(fmt::format(".const {} = {}", name, value)); };
    constant("M", p_.m);
    constant("N", p_.n);
    constant("K", p_.k);
    constant("LDA", pitch_.a);
    constant("LDB", pitch_.b);
    constant("LDC", pitch_.c);
    constant("TILE_M", t_.tile_m);
    constant("TILE_N", t_.tile_n);
    constant("L1_K", t_.l1_k);
    constant("L0_K", t_.l0_k);
    constant("TILES", t_.tiles());
    if (t_.l1_slots == 2) line(".const NONE = -65536  ; left before the first step has been loaded");
    constant("M_TILES", t_.m_tiles);
    constant("N_TILES", t_.n_tiles);
    constant("L1A_SLOT", l1a);
    constant("L1B_BASE", l1a * t_.l1_slots);
    constant("L1B_SLOT", u64{t_.tile_n} * t_.l1_k * 2);
    constant("L0A_SLOT", u64{t_.tile_m} * t_.l0_k * 2);
    constant("L0B_SLOT", u64{t_.tile_n} * t_.l0_k * 2);
    constant("L0C_SLOT", u64{t_.tile_m} * t_.tile_n * 4);
    if (joint_) {
      constant("STAGE", t_.stage_bytes);
      constant("UB_BASE", u64{t_.stage_bytes} * t_.stage_slots);
      constant("UB_SLOT", u64{t_.tile_m} * t_.tile_n * out_bytes());
    }
    if (t_.l0c_slots == 1) constant("c_slot", 0);
    if (joint_ && t_.ub_slots == 1) constant("ub_slot", 0);
    if (joint_ && t_.stage_slots == 1) constant("stage", 0);
    if (whole_m_) constant("m", t_.tile_m), constant("m1", tile_m1());
    if (whole_n_) constant("n", t_.tile_n), constant("n1", tile_n1());
    if (whole_k_) constant("k", t_.l0_k);
  }

  // Every slot is free at the start: its consumer says so, as it will after each use.
  void flags(std::string_view what) {
    const auto each = [&](u32 slots, std::string_view src, std::string_view dst) {
      for (u32 s = 0; s < slots; ++s)
        op("{} {}, {}, EVENT_ID{}", what, src, dst, s);
    };
    each(t_.l1_slots, "PIPE_MTE1", in_pipe());
    each(t_.l0_slots, "PIPE_M", "PIPE_MTE1");
    if (!unit_flag_) each(t_.l0c_slots, out_pipe(), "PIPE_M");
    if (!joint_) return;
    each(t_.stage_slots, "PIPE_MTE3", "PIPE_MTE2");
    each(t_.ub_slots, "PIPE_MTE3", "PIPE_V");
  }

  void prologue() {
    op("ld_arg a_gm, 0");
    op("ld_arg b_gm, 1");
    op("ld_arg c_gm, 2");
    op("get_block_num step");
    op("get_block_idx load_tile");
    op("mov tile, load_tile");
    if (t_.l1_slots == 2) op("mov left, NONE");
    line("; every slot is free");
    flags("set_flag");
    op("bge tile, TILES, finish");
  }

  void load_step() {
    line("; one step of k of A and B to L1");
    op("bge load_tile, TILES, load_done");
    op("blt 0, load_k, load_same_tile");
    place("load_tile");
    extent("load_m", "M", "m0", "TILE_M");
    extent("load_n", "N", "n0", "TILE_N");
    op("mul load_a, m0, LDA*2");
    op("add load_a, load_a, a_gm");
    op("shl load_b, n0, 1");
    op("add load_b, load_b, b_gm");
    line("load_same_tile:");
    extent("kk", "K", "load_k", "L1_K");
    op("wait_flag PIPE_MTE1, {}, load_slot", in_pipe());
    op("mul dst, load_slot, L1A_SLOT");
    load({'a', "LDA", pitch_.a, "load_m", "kk", "TILE_M", t_.tile_m, t_.l1_k});
    op("mul dst, load_slot, L1B_SLOT");
    op("add dst, dst, L1B_BASE");
    load({'b', "LDB", pitch_.b, "kk", "load_n", "L1_K", t_.l1_k, t_.tile_n});
    op("set_flag {}, PIPE_MTE1, load_slot", in_pipe());
    turn("load_slot", t_.l1_slots);
    op("add load_a, load_a, L1_K*2");
    op("add load_b, load_b, L1_K*LDB*2");
    op("add load_k, load_k, L1_K");
    op("blt load_k, K, load_done");
    op("mov load_k, 0");
    op("add load_tile, load_tile, step");
    line("load_done:");
  }

  void compute_step() {
    if (t_.l1_slots == 2) {
      line("; the step of k that was loaded before");
      op("bne left, NONE, compute");
      op("mov left, 0");
      op("b loop");
    } else {
      // Loads ahead of their slot would fill the queue of MTE2 before the step that frees the slot is issued.
      line("; the step of k that was just loaded");
    }
    line("compute:");
    op("blt 0, left, same_tile");
    begin_tile();
    line("same_tile:");
    op("min kk, left, L1_K");
    op("wait_flag {}, PIPE_MTE1, l1_slot", in_pipe());
    op("mul a_src, l1_slot, L1A_SLOT");
    op("mul b_src, l1_slot, L1B_SLOT");
    op("add b_src, b_src, L1B_BASE");
    multiply_steps();
    op("set_flag PIPE_MTE1, {}, l1_slot", in_pipe());
    turn("l1_slot", t_.l1_slots);
    if (joint_) {
      line("; the tile before goes out while the cube works on this one");
      op("beq c_at, 0, stored");
      line("store:");
      store_from_ub();
      op("mov c_at, 0");
      op("bge tile, TILES, finish");
      line("stored:");
    }
    op("blt 0, left, loop");
    store_tile();
    op("add tile, tile, step");
    op("blt tile, TILES, loop");
    if (joint_) op("b store");
  }

  void begin_tile() {
    place("tile");
    if (!whole_m_) {
      extent("m", "M", "m0", "TILE_M");
      op("add m1, m, 15");
      op("shr m1, m1, 4");
    }
    if (!whole_n_) {
      extent("n", "N", "n0", "TILE_N");
      op("add n1, n, 15");
      op("shr n1, n1, 4");
    }
    if (!joint_) address_of_c();
    op("mov left, K");
    if (!unit_flag_) op("wait_flag {}, PIPE_M, c_slot", out_pipe());
  }

  // kk columns of A through L0; slots are numbers, as each step of L1 begins with the first one.
  void multiply_steps() {
    for (u32 slot = 0; slot < t_.l0_slots; ++slot) {
      line(fmt::format("k_step_{}:", slot));
      multiply_step(slot);
      if (slot + 1 == t_.l0_slots) {
        op("blt 0, kk, k_step_0");
      } else if (!even_) {
        op("ble kk, 0, k_done");
      }
    }
    if (!even_) line("k_done:");
  }

  void multiply_step(u32 slot) {
    if (!whole_k_) op("min k, kk, L0_K");
    op("wait_flag PIPE_M, PIPE_MTE1, EVENT_ID{}", slot);
    if (!whole_k_) {
      op("add t0, k, 15");
      op("shr t0, t0, 4");
    }
    load_l0a(slot);
    load_l0b(slot);
    op("set_flag PIPE_MTE1, PIPE_M, EVENT_ID{}", slot);
    op("wait_flag PIPE_MTE1, PIPE_M, EVENT_ID{}", slot);
    mad(slot);
    op("set_flag PIPE_M, PIPE_MTE1, EVENT_ID{}", slot);
    op("add a_src, a_src, L0_K*TILE_M*2");
    op("add b_src, b_src, L0_K*32");
    op("sub left, left, L0_K");
    op("sub kk, kk, L0_K");
  }

  // Rows or columns of fractals, as few instructions as that gives. Without a gap in L0A it is rows.
  void load_l0a(u32 slot) {
    const std::string at = fmt::format("{}*L0A_SLOT", slot);
    const std::string end = fmt::format("l0a_{}_done", slot);
    if (gap_ && l0_k1() <= tile_m1()) {
      if (!whole_k_) op("sub t1, t0, 1");
      for (u32 f = 0; f < l0_k1(); ++f) {
        if (!whole_k_ && f > 0) op("ble t0, {}, {}", f, end);
        op("load_cbuf_to_ca {}+{}, a_src, {}, m1, 1, 0, 0, {}", at, f * 512, f * tile_m1(),
           whole_k_ ? fmt::format("{}", l0_k1() - 1) : "t1");
      }
      if (!whole_k_ && l0_k1() > 1) line(end + ":");
      return;
    }
    if (!whole_k_) {
      op("shl t1, t0, 9");
      op("mov dst, {}", at);
    }
    for (u32 f = 0; f < tile_m1(); ++f) {
      if (!whole_m_ && f > 0) op("ble m1, {}, {}", f, end);
      if (whole_k_) {
        op("load_cbuf_to_ca {}+{}, a_src, {}, {}, {}, 0, 0", at, f * l0_k1() * 512, f, l0_k1(), tile_m1());
      } else {
        op("load_cbuf_to_ca dst, a_src, {}, t0, {}, 0, 0", f, tile_m1());
        if (f + 1 < tile_m1()) op("add dst, dst, t1");
      }
    }
    if (!whole_m_ && tile_m1() > 1) line(end + ":");
  }

  // Rows of fractals, each transposed.
  void load_l0b(u32 slot) {
    const std::string at = fmt::format("{}*L0B_SLOT", slot);
    const std::string end = fmt::format("l0b_{}_done", slot);
    if (!whole_n_) {
      op("shl t1, n1, 9");
      op("mov dst, {}", at);
    }
    for (u32 f = 0; f < l0_k1(); ++f) {
      if (!whole_k_ && f > 0) op("ble t0, {}, {}", f, end);
      if (whole_n_) {
        op("load_cbuf_to_cb {}+{}, b_src, {}, n1, L1_K/16, 0, 1", at, f * tile_n1() * 512, f);
      } else {
        op("load_cbuf_to_cb dst, b_src, {}, n1, L1_K/16, 0, 1", f);
        if (f + 1 < l0_k1()) op("add dst, dst, t1");
      }
    }
    if (!whole_k_ && l0_k1() > 1) line(end + ":");
  }

  // A mad on so few fractals may still be writing the accumulator when the next one reads it.
  bool is_short(u64 m1, u64 n1) const { return m1 * n1 < 10 || (joint_ && (n1 <= 1 || m1 <= 2)); }
  bool some_are_short() const {
    const auto last = [](u64 extent, u32 tile) { return ceil_div<u64>(extent % tile == 0 ? tile : extent % tile, 16); };
    const std::array<u64, 2> rows{tile_m1(), last(p_.m, t_.tile_m)}, columns{tile_n1(), last(p_.n, t_.tile_n)};
    return std::ranges::any_of(
        rows, [&](u64 r) { return std::ranges::any_of(columns, [&](u64 c) { return is_short(r, c); }); });
  }

  void mad(u32 slot) {
    op("cmp_eq j, left, K  ; the first of a tile");
    if (some_are_short()) {
      const std::string multiply = fmt::format("multiply_{}", slot), fence = fmt::format("fence_{}", slot);
      op("bne j, 0, {}", multiply);
      if (joint_) {
        op("ble n1, 1, {}", fence);
        op("ble m1, 2, {}", fence);
      }
      op("mul t0, m1, n1");
      op("bge t0, 10, {}", multiply);
      line(fence + ":");
      op("pipe_barrier PIPE_M");
      line(multiply + ":");
    }
    std::string rows = "m";
    if (!joint_ && p_.m % t_.tile_m == 1) {
      rows = "t1";
      op("max t1, m, 2  ; one row would be a vector in another layout");
    }
    std::string c = "0", unit;
    if (t_.l0c_slots == 2) {
      c = "t0";
      op("mul t0, c_slot, L0C_SLOT");
    }
    if (unit_flag_) {  // the last one of a tile tells FIXPIPE, block by block
      unit = ", t0";
      op("cmp_le t0, left, L0_K");
      op("add t0, t0, 2");
    }
    op("mad.f162f32 {}, {}*L0A_SLOT, {}*L0B_SLOT, {}, k, n, j{}", c, slot, slot, rows, unit);
  }

  void epilogue() {
    line("finish:");
    line("; leave no flag behind");
    flags("wait_flag");
    op("pipe_barrier PIPE_ALL");
    op("end");
  }
};

}  // namespace

GemmPitches choose_pitches(const GemmProblem& p, const config::ChipConfig& chip) {
  const bool joint = chip.vector_cores == 0;
  const auto padded = [&](u64 columns) { return joint ? align_up<u64>(columns, 16) : columns; };
  return {.a = padded(p.k), .b = padded(p.n), .c = padded(p.n)};
}

std::string gemm_assembly(const GemmProblem& problem, const GemmTiling& tiling, const GemmPitches& pitches,
                          const config::ChipConfig& chip) {
  return Writer(problem, tiling, pitches, chip).text();
}

}  // namespace vinci::gen
