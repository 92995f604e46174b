// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/gen/gemm_moves.h"

#include <algorithm>

namespace vinci::gen {
namespace {

constexpr u64 kMaxNd2NzPitch = 65535;  // srcDValue
constexpr u64 kMaxGapBlocks = 65535;   // srcGap, dstGap

}  // namespace

void GemmMoves::load(const Part& x) {
  if (joint_) {
    through_ub(x);
  } else if (x.pitch <= kMaxNd2NzPitch) {
    op("copy_gm_to_cbuf_multi_nd2nz_b16 dst, load_{}, 0, 1, {}, {}, 0, {}, {}, 1, 0", x.name, x.rows, x.columns,
       x.pitch_name, x.column_rows);
  } else {  // rows too far apart: one by one
    op("mov src, load_{}", x.name);
    op("mov j, 0");
    line(fmt::format("load_{}_rows:", x.name));
    op("copy_gm_to_cbuf_multi_nd2nz_b16 dst, src, 0, 1, 1, {}, 0, 1, {}, 1, 0", x.columns, x.column_rows);
    op("add src, src, {}*2", x.pitch_name);
    op("add dst, dst, 32");
    op("add j, j, 1");
    op("blt j, {}, load_{}_rows", x.rows, x.name);
  }
}

// Whole rows to UB, as many as a slot has room for, and from there block column by block column to L1.
void GemmMoves::through_ub(const Part& x) {
  const bool far = x.pitch / 16 > kMaxGapBlocks;
  const u64 chunk = far ? 1 : std::min<u64>(t_.stage_bytes / (u64{x.max_columns} * 2), 4095);
  op("mov src, load_{}", x.name);
  op("mov j, {}", x.rows);
  line(fmt::format("load_{}_rows:", x.name));
  op("add k16, {}, 15", x.columns);
  op("shr k16, k16, 4");
  op("wait_flag PIPE_MTE3, PIPE_MTE2, stage");
  op("mul t0, stage, STAGE");
  op("min t1, j, {}", chunk);
  if (far) {
    op("copy_gm_to_ubuf t0, src, 0, 1, k16, 0, 0");
  } else {
    op("sub gap, {}/16, k16", x.pitch_name);
    op("copy_gm_to_ubuf t0, src, 0, t1, k16, gap, 0");
  }
  op("set_flag PIPE_MTE2, PIPE_MTE3, stage");
  op("wait_flag PIPE_MTE2, PIPE_MTE3, stage");
  op("sub gap, k16, 1");
  op("mov column, dst");
  line(fmt::format("load_{}_columns:", x.name));
  op("copy_ubuf_to_cbuf column, t0, 0, t1, 1, gap, 0");
  op("add column, column, {}*32", x.column_rows);
  op("add t0, t0, 32");
  op("sub k16, k16, 1");
  op("bgt k16, 0, load_{}_columns", x.name);
  op("set_flag PIPE_MTE3, PIPE_MTE2, stage");
  turn("stage", t_.stage_slots);
  if (x.max_rows <= chunk) return;
  op("add src, src, {}*{}*2", chunk, x.pitch_name);
  op("add dst, dst, {}*32", chunk);
  op("sub j, j, {}", chunk);
  op("bgt j, 0, load_{}_rows", x.name);
}

void GemmMoves::store_tile() {
  line("; the tile is complete");
  if (!unit_flag_) {
    op("set_flag PIPE_M, {}, c_slot", out_pipe());
    op("wait_flag PIPE_M, {}, c_slot", out_pipe());
  }
  op("mul src, c_slot, L0C_SLOT");
  if (joint_) {
    op("wait_flag PIPE_MTE3, PIPE_V, ub_slot");
    op("mul dst, ub_slot, UB_SLOT");
    op("add dst, dst, UB_BASE");
    op("mul t0, m1, n1");
    op("copy_matrix_cc_to_ubuf.f32 dst, src, 0, 1, t0, 0, 0, {}", p_.out_f32 ? 0 : 1);
    op("set_flag PIPE_V, PIPE_M, c_slot");
    op("set_flag PIPE_V, PIPE_MTE3, ub_slot");
    op("mov c_at, 1  ; to be stored");
  } else {
    op("shl t1, m1, 4");
    op("copy_matrix_cc_to_gm c_at, src, 0, n, m, LDC, t1, {}, {}, 0, 0, 1", unit_flag_ ? 3 : 0, p_.out_f32 ? 0 : 1);
    if (!unit_flag_) op("set_flag PIPE_FIX, PIPE_M, c_slot");
  }
  turn("c_slot", t_.l0c_slots);
}

// The tile before `tile`, from UB.
void GemmMoves::store_from_ub() {
  const u32 blocks = out_bytes() * 16 / 32;  // 32 B blocks of a row of 16 results
  op("sub j, tile, step");
  place("j");
  address_of_c();
  extent("rows", "M", "m0", "TILE_M");
  extent("j", "N", "n0", "TILE_N");
  op("add j, j, 15");
  op("shr j, j, 4");
  op("add t1, rows, 15");
  op("shr t1, t1, 4");
  op("wait_flag PIPE_V, PIPE_MTE3, ub_slot");
  op("mul dst, ub_slot, UB_SLOT");
  op("add dst, dst, UB_BASE");
  const u64 gap = pitch_.c * out_bytes() / 32 - blocks;
  if (gap <= kMaxGapBlocks) {  // block column by block column
    op("mul t1, t1, {}", blocks * 512);
    line("store_columns:");
    op("copy_ubuf_to_gm c_at, dst, 0, rows, {}, 0, {}", blocks, gap);
    op("add c_at, c_at, {}", blocks * 32);
    op("add dst, dst, t1");
    op("sub j, j, 1");
    op("bgt j, 0, store_columns");
  } else {  // row by row
    op("shl t1, t1, 4");
    op("sub t1, t1, 1");
    op("mul t1, t1, {}", blocks);
    line("store_rows:");
    op("copy_ubuf_to_gm c_at, dst, 0, j, {}, t1, 0", blocks);
    op("add c_at, c_at, LDC*{}", out_bytes());
    op("add dst, dst, {}", blocks * 32);
    op("sub rows, rows, 1");
    op("bgt rows, 0, store_rows");
  }
  op("set_flag PIPE_MTE3, PIPE_V, ub_slot");
  turn("ub_slot", t_.ub_slots);
}

}  // namespace vinci::gen
