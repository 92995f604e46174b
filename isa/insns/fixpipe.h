// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insn.h"
#include "isa/insns/move.h"

// The way out of L0C: through the vector pipe of the joint core, through FIXPIPE on the split core.
namespace vinci::isa::insn {

// CRMODE of copy_matrix_cc_to_ubuf. Source: mindspore-ai/akg (Apache-2.0). Modes 6.. (scaling) are not modelled yet.
enum class CrMode : u8 { none = 0, f32_to_f16 = 1, f32_to_f16_relu = 2, relu = 5 };

// L0C fractals to UB, converted on the way; the NZ order stays.
struct CopyMatrixCcToUbuf {
  struct Args {
    u32 dst, src;
    u16 nBurst, lenBurst, srcStride, dstStride;
    u8 sid, crmode, type;
  };
  enum Type : u8 { f32, f16, s32 };
  static constexpr std::array types{TypeForm{"f32"}, TypeForm{"f16"}, TypeForm{"s32"}};  // of L0C
  static constexpr std::string_view name = "copy_matrix_cc_to_ubuf";
  static constexpr std::string_view doc = "L0C fractals to UB with conversion (CRMODE)";
  static constexpr u16 opcode = 0x150;
  static constexpr ArchSet archs = kJointArchs;
  static constexpr CostClass cost = CostClass::l0c_to_ub;
  static constexpr std::tuple fields{
      Field<&Args::dst>{"dst", kLocalBits, OperandKind::value, "byte address in UB"},
      Field<&Args::src>{"src", kLocalBits, OperandKind::value, "byte address in L0C"},
      Field<&Args::sid>{"sid", 4},
      Field<&Args::nBurst>{"nBurst", 12, OperandKind::value, "pieces"},
      Field<&Args::lenBurst>{"lenBurst", 16, OperandKind::value, "fractals of a piece"},
      Field<&Args::srcStride>{"srcStride", 16, OperandKind::value, "fractals skipped after a piece"},
      Field<&Args::dstStride>{"dstStride", 16, OperandKind::value, "32 B blocks skipped after a piece"},
      Field<&Args::crmode>{"crmode", 4, OperandKind::value, "0 none, 1 f32 to f16, 2 f32 to f16 and relu, 5 relu"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::V; }
  static Work work(const Args& x, const Spr&) {
    return {.steps = u64{x.nBurst} * x.lenBurst,
            .bytes = u64{x.nBurst} * x.lenBurst * 256 * source_bytes(x.type),
            .bursts = x.nBurst};
  }
  static constexpr u32 source_bytes(u8 type) { return type == f16 ? 2 : 4; }
  static Footprint footprint(const Args& x, const Spr&, Arch);  // isa/sem/fixpipe.cpp
  static void execute(const Args& x, ExecContext& c);           // isa/sem/fixpipe.cpp
};

// QuantPRE of FIXPIPE. Source: Ascend C QuantMode_t. Other modes are not modelled yet.
enum class QuantPre : u8 { none = 0, f32_to_f16 = 1 };

// FIXPIPE: L0C to global memory, converted, with relu, as NZ or turned into row-major (nz2nd).
struct CopyMatrixCcToGm {
  struct Args {
    u64 dst;
    u32 src, dstStride;
    u16 nSize, mSize, srcStride;
    u8 sid, unitFlag, quantPre, reluPre, channelSplit, nz2nd;
  };
  static constexpr std::string_view name = "copy_matrix_cc_to_gm";
  static constexpr std::string_view doc = "L0C to global memory through FIXPIPE: convert, relu, NZ or row-major";
  static constexpr u16 opcode = 0x151;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = CostClass::l0c_to_gm;
  static constexpr std::tuple fields{
      Field<&Args::dst>{"dst", kGmBits, OperandKind::value, "byte address in global memory"},
      Field<&Args::src>{"src", kLocalBits, OperandKind::value, "byte address in L0C"},
      Field<&Args::sid>{"sid", 4},
      Field<&Args::nSize>{"NSize", 12, OperandKind::value, "columns"},
      Field<&Args::mSize>{"MSize", 16, OperandKind::value, "rows"},
      Field<&Args::dstStride>{"dstStride", 32, OperandKind::value,
                              "row-major: elements between rows; NZ: 32 B blocks between block columns"},
      Field<&Args::srcStride>{"srcStride", 16, OperandKind::value, "L0C rows of 16 elements between block columns"},
      Field<&Args::unitFlag>{"unitFlag", 2, OperandKind::value, "0; others are not modelled yet"},
      Field<&Args::quantPre>{"QuantPRE", 5, OperandKind::value, "0 none, 1 f32 to f16"},
      Field<&Args::reluPre>{"ReLUPRE", 3, OperandKind::value, "0 none, 1 relu"},
      Field<&Args::channelSplit>{"channelSplit", 1, OperandKind::value, "0; 1 is not modelled yet"},
      Field<&Args::nz2nd>{"NZ2ND_EN", 1, OperandKind::value, "1: row-major, 0: NZ"}};
  static constexpr u32 output_bytes(const Args& x) { return x.quantPre == 1 ? 2 : 4; }
  static PipeId pipe(const Args&, Arch) { return PipeId::FIX; }
  static CostClass cost_of(const Args& x) { return x.nz2nd ? CostClass::l0c_to_gm_nz2nd : CostClass::l0c_to_gm; }
  static Work work(const Args& x, const Spr&) {
    const u64 columns = ceil_div<u64>(x.nSize, 16);
    return {.steps = columns * ceil_div<u64>(x.mSize, 16),
            .bytes = u64{x.nSize} * x.mSize * output_bytes(x),
            .bursts = x.nz2nd ? x.mSize : columns};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch);  // isa/sem/fixpipe.cpp
  static void execute(const Args& x, ExecContext& c);           // isa/sem/fixpipe.cpp
};

using FixpipeInsns = InsnList<CopyMatrixCcToUbuf, CopyMatrixCcToGm>;

}  // namespace vinci::isa::insn
