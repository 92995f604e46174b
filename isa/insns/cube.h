// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/table/insn.h"

namespace vinci::isa::insn {

inline constexpr ArchSet kS4Archs = archs(Arch::m200, Arch::c220);  // with a cube for 4-bit integers

// C[m,n] (+)= A[m,k] * B[k,n]. A in L0A as zZ fractals [M1][K1][16][k0], B in L0B as nZ [K1][N1][16][k0], C in L0C as
// zN [N1][M1][16][16]; k0 = 32 B / element size. Source: mindspore-ai/akg csim (Apache-2.0), Ascend C Mmad.
//
// C starts at zero (init), else from the row of the bias table (cmatrixSource), else from what L0C holds. Elements of
// f16 and of integers multiply exactly. bf16 and f32 products are rounded to f32, to nearest even; with CTRL[46] f32
// elements are first rounded to HF32 (11 bits of fraction), by CTRL[47]. Products are added in the order that
// NumericOptions::accumulation says. f16 results are rounded once, at the end. The sum of integer products is exact;
// adding it to C wraps, or stops at the limits with CTRL[53]: of u32 for u8 operands, except on m200, else of s32.
//
// STATUS: [15] an infinite or NaN element of A, B, the bias or C; [10] finite elements gave an infinite one, or an
// integer that does not fit; [11] a result or, of bf16 and f32, a product that is not zero became zero.
struct Mad {
  struct Args {
    u32 c, a, b;
    u16 m, k, n;
    u8 init, type;
    u8 unitFlag = 0, kDirectionAlign = 0, cmatrixSource = 0;
    u32 bias = 0;
  };
  enum Type : u8 { f162f32, f162f16, s8, u8u8, u8s8, s4, bf162f32, f322f32 };
  static constexpr std::array types{TypeForm{"f162f32"},                // f16 x f16 -> f32
                                    TypeForm{"f162f16", kJointArchs},   // f16 x f16 -> f16
                                    TypeForm{"s8"},                     // s8 x s8 -> s32
                                    TypeForm{"u8"},                     // u8 x u8 -> u32, on m200 s32
                                    TypeForm{"u8s8"},                   // u8 x s8 -> s32
                                    TypeForm{"s4", kS4Archs},           // s4 x s4 -> s32, low nibble first
                                    TypeForm{"bf162f32", kSplitArchs},  // bf16 x bf16 -> f32
                                    TypeForm{"f322f32", kSplitArchs}};  // f32 x f32 -> f32
  static constexpr std::string_view name = "mad";
  static constexpr std::string_view doc =
      "C[m,n] (+)= A[m,k] * B[k,n] on the cube unit. Products of f16 and of integers are exact, those of bf16 and f32 "
      "rounded to nearest even, as is each sum, in the order of numerics.accumulation; f16 results are rounded once. "
      "CTRL[46] rounds f32 elements to HF32, toward zero with CTRL[47]. Integers wrap, with CTRL[53] they stop at the "
      "limits. STATUS[10] overflow, [11] underflow, [15] an infinite or NaN element. The operands from unitFlag on "
      "exist "
      "on the split core only, where init is cmatrixInitVal and m = 1 reads A as plain elements";
  static constexpr u16 opcode = 0x140;
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = "cube"_cost;
  static constexpr std::tuple fields{
      address_in<&Args::c>(BufId::L0C, "c"),
      address_in<&Args::a>(BufId::L0A, "a"),
      address_in<&Args::b>(BufId::L0B, "b"),
      Field<&Args::m>{"m", 12, OperandKind::value, "rows of A; 0: nothing is done"},
      Field<&Args::k>{"k", 12, OperandKind::value, "columns of A; 0: nothing is done"},
      Field<&Args::n>{"n", 12, OperandKind::value, "columns of B; 0: nothing is done"},
      Field<&Args::init>{"init", 1, OperandKind::value, "1: C starts at zero"},
      Field<&Args::unitFlag>{"unitFlag", 2, OperandKind::value,
                             "2, 3: waits until FIXPIPE has cleared the unit flags of C; 3 sets them", true},
      Field<&Args::kDirectionAlign>{"kDirectionAlign", 1, OperandKind::value,
                                    "1: rows of f32 fractals of A have an even number of fractals", true},
      Field<&Args::cmatrixSource>{"cmatrixSource", 1, OperandKind::value,
                                  "1: C starts from the bias table, unless init", true},
      Field<&Args::bias>{"bias", 24, OperandKind::value,
                         "byte address in BT of n values of the type of C, one for each column", true}};
  static constexpr u32 input_bits(u8 type) {
    constexpr std::array<u32, types.size()> kBits{16, 16, 8, 8, 8, 4, 16, 32};
    return kBits[type];
  }
  static constexpr u32 output_bytes(u8 type) { return type == f162f16 ? 2 : 4; }
  static constexpr u32 k0(u8 type) { return 256 / input_bits(type); }
  static PipeId pipe(const Args&, Arch) { return PipeId::M; }
  // One 16 x k0 x 16 step a cycle, cut off at the tails; k0 is 4 for f32 and 8 for HF32. Source: asc-devkit cube
  // theoretical performance.
  static Work work(const Args& x, const Spr& spr) {
    if (x.m == 0 || x.k == 0 || x.n == 0) return {};
    const u32 step = x.type == f322f32 && (spr.ctrl & ctrl::kHf32) == 0 ? 4 : k0(x.type);
    return {.steps = ceil_div<u64>(x.m, 16) * ceil_div<u64>(x.k, step) * ceil_div<u64>(x.n, 16),
            .bytes = u64{x.m} * x.n * output_bytes(x.type),
            .rows = ceil_div<u64>(x.m, 16),
            .macs = u64{x.m} * x.k * x.n};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch arch);  // isa/sem/cube.cpp
  // A mad that is long enough has left the pipeline of the cube when the next one reads C. Source: mindspore-ai/akg
  // inject_sync (joint core), Ascend C Mmad (split core: fewer than 10 fractals of C need a barrier).
  static constexpr bool forwards(const Args& x, Arch arch) {
    if (contains(kSplitArchs, arch)) return ceil_div<u32>(x.m, 16) * ceil_div<u32>(x.n, 16) >= 10;
    return (x.m > 64 && x.n > 16) || (x.m > 32 && x.n > 32);
  }
  static void execute(const Args& x, ExecContext& c);  // isa/sem/cube.cpp
};

// C[m,n] (+)= A[m,k] * B[k,n] of s8, where each four elements of a column of B have at most two that are not zero. L0B
// holds these two as nZ of k / 2 rows, the other ones nowhere. IDX holds two bits for each: of the first, 0 to 2, the
// place of its weight in the four; of the second, 0 to 2, the place less one. The indices of a fractal of L0B are 128
// bytes at a quarter of its address, 8 for each column. Source: Ascend C MmadWithSparse, LoadDataWithSparse; it gives
// the pair 2, 0 the place 2 twice.
struct MadSp {
  struct Args {
    u32 c, a, b;
    u16 m, k, n;
    u8 unitFlag, cmatrixSource, init;
    u32 bias = 0;

    constexpr Mad::Args dense() const {
      return {.c = c,
              .a = a,
              .b = b,
              .m = m,
              .k = k,
              .n = n,
              .init = init,
              .type = Mad::s8,
              .unitFlag = unitFlag,
              .cmatrixSource = cmatrixSource,
              .bias = bias};
    }
    constexpr u32 weights() const { return ceil_div<u32>(k, 4) * 2; }  // of a column
  };
  static constexpr std::string_view name = "mad_sp";
  static constexpr std::string_view doc =
      "C[m,n] (+)= A[m,k] * B[k,n] of s8 on the cube unit, where B has two weights for each four rows: L0B holds k / 2 "
      "rows, IDX at a quarter of the address two bits for each weight, which load_cbuf_to_cb_sp brings. Sums are as "
      "those of mad.s8";
  static constexpr u16 opcode = 0x141;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = "cube"_cost;
  static constexpr std::tuple fields{
      address_in<&Args::c>(BufId::L0C, "c"),
      address_in<&Args::a>(BufId::L0A, "a"),
      address_in<&Args::b>(BufId::L0B, "b"),
      Field<&Args::m>{"m", 12, OperandKind::value, "rows of A; 0: nothing is done"},
      Field<&Args::k>{"k", 12, OperandKind::value, "columns of A; 0: nothing is done"},
      Field<&Args::n>{"n", 12, OperandKind::value, "columns of B; 0: nothing is done"},
      Field<&Args::unitFlag>{"unitFlag", 2, OperandKind::value,
                             "2, 3: waits until FIXPIPE has cleared the unit flags of C; 3 sets them"},
      Field<&Args::cmatrixSource>{"cmatrixSource", 1, OperandKind::value,
                                  "1: C starts from the bias table, unless cmatrixInitVal"},
      Field<&Args::init>{"cmatrixInitVal", 1, OperandKind::value, "1: C starts at zero"},
      Field<&Args::bias>{"bias", 24, OperandKind::value, "byte address in BT of n values, one for each column", true}};
  static PipeId pipe(const Args&, Arch) { return PipeId::M; }
  // 16 x 32 x 16 weights a cycle. Source: asc-devkit cube theoretical performance.
  static Work work(const Args& x, const Spr&) {
    if (x.m == 0 || x.k == 0 || x.n == 0) return {};
    return {.steps = ceil_div<u64>(x.m, 16) * ceil_div<u64>(x.weights(), 32) * ceil_div<u64>(x.n, 16),
            .bytes = u64{x.m} * x.n * 4,
            .rows = ceil_div<u64>(x.m, 16),
            .macs = u64{x.m} * x.weights() * x.n};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch arch);  // isa/sem/cube.cpp
  static constexpr bool forwards(const Args& x, Arch arch) { return Mad::forwards(x.dense(), arch); }
  static void execute(const Args& x, ExecContext& c);  // isa/sem/cube.cpp
};

using CubeInsns = InsnList<Mad, MadSp>;

}  // namespace vinci::isa::insn
