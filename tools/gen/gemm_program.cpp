// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_program.h"

#include <fmt/format.h>

namespace vinci::gen {
namespace {

constexpr u64 kMaxNd2NzPitch = 65535;  // srcDValue
constexpr u64 kMaxGapBlocks = 65535;   // srcGap, dstGap

// Writes the program line by line; `slots` of a resource turn with x ^= 1 when there are two.
class Writer {
 public:
  Writer(const GemmProblem& p, const GemmTiling& t, const GemmPitches& pitch, const config::ChipConfig& chip)
      : p_(p), t_(t), pitch_(pitch), chip_(chip), joint_(chip.vector_cores == 0) {}

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
  void line(std::string_view s) {
    out_ += s;
    out_ += '\n';
  }
  void op(std::string_view s) {
    out_ += "  ";
    line(s);
  }
  void turn(std::string_view reg, u32 slots) {
    if (slots == 2) op(fmt::format("xor {0}, {0}, 1", reg));
  }
  std::string_view out_pipe() const { return joint_ ? "PIPE_V" : "PIPE_FIX"; }
  u32 out_bytes() const { return p_.out_f32 ? 4 : 2; }

  void header() {
    line(fmt::format("; C[{0},{1}] = A[{0},{2}] * B[{2},{1}], FP16 in, FP32 accumulation, {3} out", p_.m, p_.n, p_.k,
                     p_.out_f32 ? "FP32" : "FP16"));
    line(fmt::format("; {} tiles of {} x {} on {} blocks; k in steps of {} through L1 and {} through L0", t_.tiles(),
                     t_.tile_m, t_.tile_n, t_.blocks, t_.l1_k, t_.l0_k));
    line("; arguments: addresses of A, B, C");
    line(fmt::format(".arch {}", isa::name(chip_.arch)));
    const u64 l1a = u64{t_.tile_m} * t_.l1_k * 2;
    const u64 l1b = u64{t_.tile_n} * t_.l1_k * 2;
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
    constant("N_TILES", t_.n_tiles);
    constant("L1A_SLOT", l1a);
    constant("L1B_BASE", l1a * t_.l1_slots);
    constant("L1B_SLOT", l1b);
    constant("L0A_SLOT", u64{t_.tile_m} * t_.l0_k * 2);
    constant("L0B_SLOT", u64{t_.tile_n} * t_.l0_k * 2);
    constant("L0C_SLOT", u64{t_.tile_m} * t_.tile_n * 4);
    if (joint_) constant("UB_SLOT", u64{t_.tile_m} * t_.tile_n * out_bytes());
    u32 reg = 0;
    for (const std::string_view name :
         {"a_gm", "b_gm",   "c_gm",    "step",    "first",  "load_tile", "load_k", "load_slot",
          "tile", "tile_k", "l1_slot", "l0_slot", "c_slot", "ub_slot",   "m0",     "n0",
          "m",    "n",      "kk",      "m16",     "k16",    "m1",        "n1",     "k0",
          "k",    "kb",     "src",     "dst",     "j",      "init",      "t0",     "t1"}) {
      line(fmt::format(".alias {} = X{}", name, reg++));
    }
  }

  // Every slot is free at the start: its consumer says so, as it will after each use.
  void flags(std::string_view what) {
    const auto each = [&](u32 slots, std::string_view src, std::string_view dst) {
      for (u32 s = 0; s < slots; ++s)
        op(fmt::format("{} {}, {}, EVENT_ID{}", what, src, dst, s));
    };
    each(t_.l1_slots, "PIPE_MTE1", "PIPE_MTE2");
    each(t_.l0_slots, "PIPE_M", "PIPE_MTE1");
    each(t_.l0c_slots, out_pipe(), "PIPE_M");
    if (joint_) each(t_.ub_slots, "PIPE_MTE3", "PIPE_V");
  }

  void prologue() {
    op("ld_arg a_gm, 0");
    op("ld_arg b_gm, 1");
    op("ld_arg c_gm, 2");
    op("get_block_num step");
    op("get_block_idx load_tile");
    op("mov tile, load_tile");
    op("mov first, 1");
    line("; every slot is free");
    flags("set_flag");
    op("bge tile, TILES, finish");
  }

  // m0, n0: first row and column of a tile; m, n: its extents; m16, m1, n1: padded rows, fractals
  void tile_extent(std::string_view tile) {
    op(fmt::format("div m0, {}, N_TILES", tile));
    op(fmt::format("rem n0, {}, N_TILES", tile));
    op("mul m0, m0, TILE_M");
    op("mul n0, n0, TILE_N");
    op("sub m, M, m0");
    op("min m, m, TILE_M");
    op("sub n, N, n0");
    op("min n, n, TILE_N");
    op("add m1, m, 15");
    op("shr m1, m1, 4");
    op("shl m16, m1, 4");
    op("add n1, n, 15");
    op("shr n1, n1, 4");
  }
  void k_extent(std::string_view k) {
    op(fmt::format("sub kk, K, {}", k));
    op("min kk, kk, L1_K");
    op("add k16, kk, 15");
    op("shr k16, k16, 4");
    op("shl k16, k16, 4");
  }

  // A row-major matrix part of `rows` x `columns` at src to NZ at dst; `rows16` are its padded rows.
  void to_nz(std::string_view rows, std::string_view rows16, std::string_view columns, std::string_view pitch_name,
             u64 pitch, std::string_view label) {
    if (!joint_ && pitch <= kMaxNd2NzPitch) {
      op(fmt::format("copy_gm_to_cbuf_multi_nd2nz_b16 dst, src, 0, 1, {}, {}, 0, {}, {}, 1, 0", rows, columns,
                     pitch_name, rows16));
      return;
    }
    op(fmt::format("add t0, {}, 15", columns));
    op("shr t0, t0, 4");
    op("mov j, 0");
    line(fmt::format("{}_blocks:", label));
    if (pitch / 16 - 1 <= kMaxGapBlocks) {  // block column by block column
      op(fmt::format("copy_gm_to_cbuf dst, src, 0, {}, 1, {}/16-1, 0", rows, pitch_name));
      op("add src, src, 32");
      op(fmt::format("shl t1, {}, 5", rows16));
      op("add dst, dst, t1");
      op("add j, j, 1");
      op(fmt::format("blt j, t0, {}_blocks", label));
    } else {  // rows too far apart for a gap: row by row
      op(fmt::format("sub t1, {}, 1", rows16));
      op("copy_gm_to_cbuf dst, src, 0, t0, 1, 0, t1");
      op(fmt::format("add src, src, {}*2", pitch_name));
      op("add dst, dst, 32");
      op("add j, j, 1");
      op(fmt::format("blt j, {}, {}_blocks", rows, label));
    }
  }

  void load_step() {
    line("; one step of k of A and B to L1");
    op("bge load_tile, TILES, load_done");
    tile_extent("load_tile");
    k_extent("load_k");
    op("wait_flag PIPE_MTE1, PIPE_MTE2, load_slot");
    op("mul src, m0, LDA");
    op("add src, src, load_k");
    op("shl src, src, 1");
    op("add src, src, a_gm");
    op("mul dst, load_slot, L1A_SLOT");
    to_nz("m", "m16", "kk", "LDA", pitch_.a, "load_a");
    op("mul src, load_k, LDB");
    op("add src, src, n0");
    op("shl src, src, 1");
    op("add src, src, b_gm");
    op("mul dst, load_slot, L1B_SLOT");
    op("add dst, dst, L1B_BASE");
    to_nz("kk", "k16", "n", "LDB", pitch_.b, "load_b");
    op("set_flag PIPE_MTE2, PIPE_MTE1, load_slot");
    turn("load_slot", t_.l1_slots);
    op("add load_k, load_k, L1_K");
    op("blt load_k, K, load_done");
    op("mov load_k, 0");
    op("add load_tile, load_tile, step");
    line("load_done:");
  }

  void compute_step() {
    if (t_.l1_slots == 2) {
      line("; the step of k that was loaded before");
      op("beq first, 0, compute");
      op("mov first, 0");
      op("b loop");
    } else {
      // Loads ahead of their slot would fill the queue of MTE2 before the step that frees the slot is issued.
      line("; the step of k that was just loaded");
    }
    line("compute:");
    tile_extent("tile");
    k_extent("tile_k");
    op("wait_flag PIPE_MTE2, PIPE_MTE1, l1_slot");
    op("mov k0, 0");
    line("k_loop:");
    op("sub k, kk, k0");
    op("min k, k, L0_K");
    op("add kb, k, 15");
    op("shr kb, kb, 4");
    op("wait_flag PIPE_M, PIPE_MTE1, l0_slot");
    load_l0a();
    load_l0b();
    op("set_flag PIPE_MTE1, PIPE_M, l0_slot");
    op("wait_flag PIPE_MTE1, PIPE_M, l0_slot");
    mad();
    op("set_flag PIPE_M, PIPE_MTE1, l0_slot");
    turn("l0_slot", t_.l0_slots);
    op("add k0, k0, L0_K");
    op("blt k0, kk, k_loop");
    op("set_flag PIPE_MTE1, PIPE_MTE2, l1_slot");
    turn("l1_slot", t_.l1_slots);
    op("add tile_k, tile_k, L1_K");
    op("blt tile_k, K, loop");
    store_tile();
    op("mov tile_k, 0");
    op("add tile, tile, step");
    op("blt tile, TILES, loop");
  }

  void load_l0a() {
    op("mul src, l1_slot, L1A_SLOT");
    op("mul dst, l0_slot, L0A_SLOT");
    op("shr t0, k0, 4");
    op("mul t0, t0, m1");
    op("mov j, 0");
    line("l0a:");
    if (joint_) {  // a row of fractals at a time
      op("load_cbuf_to_ca dst, src, t0, kb, m1, 0, 0");
      op("shl t1, kb, 9");
      op("add dst, dst, t1");
      op("add t0, t0, 1");
      op("add j, j, 1");
      op("blt j, m1, l0a");
    } else {  // a column of fractals at a time: k has fewer than m
      op("sub t1, kb, 1");
      op("load_cbuf_to_ca dst, src, t0, m1, 1, 0, 0, t1");
      op("add dst, dst, 512");
      op("add t0, t0, m1");
      op("add j, j, 1");
      op("blt j, kb, l0a");
    }
  }

  void load_l0b() {
    op("mul src, l1_slot, L1B_SLOT");
    op("add src, src, L1B_BASE");
    op("mul dst, l0_slot, L0B_SLOT");
    op("shr t0, k0, 4");
    op("shr k16, k16, 4");
    op("mov j, 0");
    line("l0b:");
    op("load_cbuf_to_cb dst, src, t0, n1, k16, 0, 1");
    op("shl t1, n1, 9");
    op("add dst, dst, t1");
    op("add t0, t0, 1");
    op("add j, j, 1");
    op("blt j, kb, l0b");
    op("shl k16, k16, 4");
  }

  void mad() {
    op("or init, tile_k, k0");
    op("cmp_eq init, init, 0");
    op("beq init, 0, accumulate");
    op(fmt::format("wait_flag {}, PIPE_M, c_slot", out_pipe()));
    op("b multiply");
    line("accumulate:");
    line("; a short mad may still be writing the accumulator that the next one reads");
    if (joint_) {
      op("ble n1, 1, fence");
      op("ble m1, 2, fence");
    }
    op("mul t0, m1, n1");
    op("bge t0, 10, multiply");
    line("fence:");
    op("pipe_barrier PIPE_M");
    line("multiply:");
    op("mul src, l0_slot, L0A_SLOT");
    op("mul dst, l0_slot, L0B_SLOT");
    op("mul t0, c_slot, L0C_SLOT");
    if (joint_) {
      op("mad.f162f32 t0, src, dst, m, k, n, init");
    } else {
      op("max t1, m, 2  ; one row would be a vector in another layout");
      op("mad.f162f32 t0, src, dst, t1, k, n, init");
    }
  }

  void store_tile() {
    line("; the tile is complete");
    op(fmt::format("set_flag PIPE_M, {}, c_slot", out_pipe()));
    op(fmt::format("wait_flag PIPE_M, {}, c_slot", out_pipe()));
    op("mul dst, m0, LDC");
    op("add dst, dst, n0");
    op(fmt::format("mul dst, dst, {}", out_bytes()));
    op("add dst, dst, c_gm");
    op("mul src, c_slot, L0C_SLOT");
    if (joint_) {
      store_joint();
    } else {
      op(fmt::format("copy_matrix_cc_to_gm dst, src, 0, n, m, LDC, m16, 0, {}, 0, 0, 1", p_.out_f32 ? 0 : 1));
      op("set_flag PIPE_FIX, PIPE_M, c_slot");
    }
    turn("c_slot", t_.l0c_slots);
  }

  void store_joint() {
    const u32 blocks = out_bytes() * 16 / 32;  // 32 B blocks of a row of 16 results
    op("wait_flag PIPE_MTE3, PIPE_V, ub_slot");
    op("mul t0, ub_slot, UB_SLOT");
    op("mul t1, m1, n1");
    op(fmt::format("copy_matrix_cc_to_ubuf.f32 t0, src, 0, 1, t1, 0, 0, {}", p_.out_f32 ? 0 : 1));
    op("set_flag PIPE_V, PIPE_M, c_slot");
    op("set_flag PIPE_V, PIPE_MTE3, ub_slot");
    op("wait_flag PIPE_V, PIPE_MTE3, ub_slot");
    op("mov j, 0");
    line("store:");
    const u64 gap = pitch_.c * out_bytes() / 32 - blocks;
    if (gap <= kMaxGapBlocks) {  // block column by block column
      op(fmt::format("copy_ubuf_to_gm dst, t0, 0, m, {}, 0, {}", blocks, gap));
      op(fmt::format("add dst, dst, {}", blocks * 32));
      op(fmt::format("mul t1, m16, {}", blocks * 32));
      op("add t0, t0, t1");
      op("add j, j, 1");
      op("blt j, n1, store");
    } else {  // row by row
      op("sub t1, m16, 1");
      op(fmt::format("mul t1, t1, {}", blocks));
      op(fmt::format("copy_ubuf_to_gm dst, t0, 0, n1, {}, t1, 0", blocks));
      op(fmt::format("add dst, dst, LDC*{}", out_bytes()));
      op(fmt::format("add t0, t0, {}", blocks * 32));
      op("add j, j, 1");
      op("blt j, m, store");
    }
    op("set_flag PIPE_MTE3, PIPE_V, ub_slot");
    turn("ub_slot", t_.ub_slots);
  }

  void epilogue() {
    line("finish:");
    line("; leave no flag behind");
    flags("wait_flag");
    op("pipe_barrier PIPE_ALL");
    op("end");
  }

  const GemmProblem& p_;
  const GemmTiling& t_;
  const GemmPitches& pitch_;
  const config::ChipConfig& chip_;
  bool joint_;
  std::string out_;
};

}  // namespace

GemmPitches choose_pitches(const GemmProblem& p, const config::ChipConfig& chip) {
  const bool joint = chip.vector_cores == 0;
  const auto input = [&](u64 columns) {
    return joint || columns > kMaxNd2NzPitch ? align_up<u64>(columns, 16) : columns;
  };
  return {.a = input(p.k), .b = input(p.n), .c = joint ? align_up<u64>(p.n, 16) : p.n};
}

std::string gemm_assembly(const GemmProblem& problem, const GemmTiling& tiling, const GemmPitches& pitches,
                          const config::ChipConfig& chip) {
  return Writer(problem, tiling, pitches, chip).text();
}

}  // namespace vinci::gen
