// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insn.h"

namespace vinci::isa::insn {

// C[m,n] (+)= A[m,k] * B[k,n]. A in L0A as zZ fractals [M1][K1][16][k0], B in L0B as nZ [K1][N1][16][k0], C in L0C as
// zN [N1][M1][16][16]; k0 = 32 B / element size. Source: mindspore-ai/akg csim (Apache-2.0), Ascend C Mmad.
struct Mad {
  struct Args {
    u32 c, a, b;
    u16 m, k, n;
    u8 init, type;
  };
  enum Type : u8 { f162f32, f162f16, s8 };
  static constexpr std::array types{TypeForm{"f162f32"},               // f16 x f16 -> f32
                                    TypeForm{"f162f16", kJointArchs},  // f16 x f16 -> f16
                                    TypeForm{"s8"}};                   // s8 x s8 -> s32
  static constexpr std::string_view name = "mad";
  static constexpr std::string_view doc = "C[m,n] (+)= A[m,k] * B[k,n] on the cube unit";
  static constexpr u16 opcode = 0x140;
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = CostClass::cube;
  static constexpr std::tuple fields{Field<&Args::c>{"c", 24, OperandKind::value, "byte address in L0C"},
                                     Field<&Args::a>{"a", 24, OperandKind::value, "byte address in L0A"},
                                     Field<&Args::b>{"b", 24, OperandKind::value, "byte address in L0B"},
                                     Field<&Args::m>{"m", 12, OperandKind::value, "rows of A; 0: nothing is done"},
                                     Field<&Args::k>{"k", 12, OperandKind::value, "columns of A; 0: nothing is done"},
                                     Field<&Args::n>{"n", 12, OperandKind::value, "columns of B; 0: nothing is done"},
                                     Field<&Args::init>{"init", 1, OperandKind::value, "1: C starts at zero"}};
  static constexpr u32 input_bytes(u8 type) { return type == s8 ? 1 : 2; }
  static constexpr u32 output_bytes(u8 type) { return type == f162f16 ? 2 : 4; }
  static constexpr u32 k0(u8 type) { return 32 / input_bytes(type); }
  static PipeId pipe(const Args&, Arch) { return PipeId::M; }
  // One 16 x k0 x 16 step a cycle, cut off at the tails. Source: asc-devkit cube theoretical performance.
  static Work work(const Args& x, const Spr&) {
    if (x.m == 0 || x.k == 0 || x.n == 0) return {};
    return {.steps = ceil_div<u64>(x.m, 16) * ceil_div<u64>(x.k, k0(x.type)) * ceil_div<u64>(x.n, 16),
            .bytes = u64{x.m} * x.n * output_bytes(x.type),
            .macs = u64{x.m} * x.k * x.n};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch arch);  // isa/sem/cube.cpp
  static void execute(const Args& x, ExecContext& c);                // isa/sem/cube.cpp
};

using CubeInsns = InsnList<Mad>;

}  // namespace vinci::isa::insn
