// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <vector>

#include "sim/config/chip_config.h"
#include "tools/gen/gemm_epilogue.h"

namespace vinci::gen {

// Types of A and B, and what the cube adds up: f32 for floats, s32 for integers. bf16 and f32 are of the split core.
enum class GemmInput : u8 { f16, bf16, f32, s8, u8s8 };
constexpr u32 input_bytes(GemmInput t) { return t == GemmInput::f32 ? 4 : t < GemmInput::f32 ? 2 : 1; }
constexpr bool is_integer(GemmInput t) { return t == GemmInput::s8 || t == GemmInput::u8s8; }

// C[M,N] = A[M,K] * B[K,N], row-major.
struct GemmProblem {
  u64 m = 1, n = 1, k = 1;
  bool out_f32 = false;       // C has the 32 bits of the sums; else BF16 where A and B have it, else FP16
  bool double_buffer = true;  // two slots in L1 and L0, so that copies overlap with the cube
  u64 matrices = 1;           // products; matrices of an operand follow each other
  GemmBatch batch_a = {}, batch_b = {};
  bool b_transposed = false;  // B is [N,K]; integers need it
  bool bias = false;          // of the type of the sums, a number for each column
  bool relu = false;          // of the result; on the joint core of scaled ones only
  GemmInput input = GemmInput::f16;
  bool hf32 = false;  // FP32 operands are rounded to HF32
  // Sums of integers meet a quantisation parameter (isa/sem/quant.h) for each column, 64 bits each, and become FP16, or
  // 8 bits on the split core.
  bool scaled = false, out_b8 = false;
  std::shared_ptr<const GemmEpilogue> epilogue = nullptr;  // joint core, f16: work on a tile in UB
  GemmLayout layout = {};                                  // joint core, f16: where results go; empty: to rows of C

  u32 in_bytes() const { return input_bytes(input); }
  u32 c0() const { return 32 / in_bytes(); }                      // elements of a block of 32 B
  u32 k_unit() const { return c0() > 16 ? c0() : 16; }            // of steps of k
  u32 out_bytes() const { return out_f32 ? 4 : out_b8 ? 1 : 2; }  // of C
};

// What the bias and the quantisation parameters take in L1, or in UB of the joint core.
inline u64 gemm_bias_bytes(const GemmProblem& p) { return p.bias ? align_up<u64>(p.n, 16) * 4 : 0; }
inline u64 gemm_factor_bytes(const GemmProblem& p) { return p.scaled ? align_up<u64>(p.n, 16) * 8 : 0; }
inline u64 gemm_table_bytes(const GemmProblem& p) { return gemm_bias_bytes(p) + gemm_factor_bytes(p); }

// How the problem is cut: tile_m x tile_n results stay in L0C while k runs; k moves in steps of l1_k through L1 and in
// steps of l0_k through L0A and L0B. All are multiples of 16, steps of bytes of 32, l1_k of l0_k.
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
