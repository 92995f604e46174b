// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "sim/config/chip_config.h"
#include "tools/gen/gemm_epilogue.h"

namespace vinci::gen {

// C[M,N] = A[M,K] * B[K,N], row-major, FP16 inputs, FP32 accumulation.
struct GemmProblem {
  u64 m = 1, n = 1, k = 1;
  bool out_f32 = false;       // else FP16
  bool double_buffer = true;  // two slots in L1 and L0, so that copies overlap with the cube
  u64 matrices = 1;           // products; matrices of an operand follow each other
  GemmBatch batch_a = {}, batch_b = {};
  bool b_transposed = false;                               // B is [N,K]
  bool bias = false;                                       // FP32, a number for each column
  bool relu = false;                                       // of the result; split core
  std::shared_ptr<const GemmEpilogue> epilogue = nullptr;  // joint core: work on a tile in UB; FP16 results
  GemmLayout layout = {};                                  // joint core: where results go; empty: to rows of C
};

// What the bias takes in L1, or in UB of the joint core.
inline u64 gemm_bias_bytes(const GemmProblem& p) { return p.bias ? align_up<u64>(p.n, 16) * 4 : 0; }

// How the problem is cut: tile_m x tile_n results stay in L0C while k runs; k moves in steps of l1_k through L1 and in
// steps of l0_k through L0A and L0B. All are multiples of 16, l1_k of l0_k.
struct GemmTiling {
  u32 tile_m = 16, tile_n = 16;
  u32 l1_k = 16, l0_k = 16;
  u32 l1_slots = 2, l0_slots = 2, l0c_slots = 1;
  u32 ub_slots = 1;                      // joint core: of results in UB
  u32 stage_slots = 1, stage_bytes = 0;  // joint core: of rows in UB on their way to L1
  u32 chunk = 0;                         // columns of a tile that the epilogue works on at a time; tile_n is a multiple
  u32 m_tiles = 1, n_tiles = 1, matrices = 1;
  u32 strip = 1;   // rows of tiles that are dealt to the cores column by column, before the next ones
  u32 blocks = 1;  // cores that get work

  u64 tiles_of_matrix() const { return u64{m_tiles} * n_tiles; }
  u64 tiles() const { return matrices * tiles_of_matrix(); }
};

// Whether a tile of 128 x 128, or the whole result, fits the buffers together with what its epilogue takes.
bool fits_epilogue(const GemmProblem& problem, const config::ChipConfig& chip);

// The tiling with the least estimated time on the chip's cube cores, from the rates of its cost lines and memory
// (docs/gemm.md).
GemmTiling choose_tiling(const GemmProblem& problem, const config::ChipConfig& chip);
// That one and the next ones, each with another tile_m or tile_n, at most `most`.
std::vector<GemmTiling> choose_tilings(const GemmProblem& problem, const config::ChipConfig& chip, usize most);

}  // namespace vinci::gen
