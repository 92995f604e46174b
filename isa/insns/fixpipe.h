// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"
#include "isa/table/insn.h"

// FIXPIPE: the way out of L0C on the split core. Source: Ascend C Fixpipe, DataCopyCO12DstParams, SetFixPipeConfig.
namespace vinci::isa::insn {

// QuantPRE, as QuantMode_t numbers them: what a value becomes. A quantisation parameter (isa/sem/quant.h) is QUANT_PRE,
// or with a v one for each column, in FB from FPC [15:8] * 128 on.
enum class QuantPre : u8 {
  none = 0,  // the 32 bits of L0C
  f32_to_f16 = 1,
  vreq8 = 8,  // s32 to s8 or u8
  req8 = 9,
  vdeqf16 = 10,  // s32 to f16, which always saturates
  deqf16 = 11,
  vshifts16 = 12,  // s32, shifted right, to s16
  shifts16 = 13,
  f32_to_bf16 = 16,
  vreq4 = 21,  // s32 to s4
  req4 = 22,
  vqf322b8 = 23,  // f32 to s8 or u8
  qf322b8 = 24,
  vqf322s4 = 25,  // f32 to s4
  qf322s4 = 26,
};

// ReLUPRE: the factor of values below zero. The others keep theirs: 1, or the scale of the quantisation parameter.
enum class ReluPre : u8 {
  none = 0,    // the same
  normal = 1,  // 0
  scalar = 2,  // LRELU_ALPHA, f32
  vector = 3,  // one f32 for each column, in FB from FPC [7:0] * 64 on
};

struct FixpipeArgs {
  u64 dst;
  u32 src, dstStride;
  u16 nSize, mSize, srcStride;
  u8 sid, unitFlag, quantPre, reluPre, channelSplit, nz2nd;
};

constexpr u32 fixpipe_output_bits(const FixpipeArgs& x) {
  switch (static_cast<QuantPre>(x.quantPre)) {
    case QuantPre::f32_to_f16:
    case QuantPre::f32_to_bf16:
    case QuantPre::vdeqf16:
    case QuantPre::deqf16:
    case QuantPre::vshifts16:
    case QuantPre::shifts16: return 16;
    case QuantPre::vreq8:
    case QuantPre::req8:
    case QuantPre::vqf322b8:
    case QuantPre::qf322b8: return 8;
    case QuantPre::vreq4:
    case QuantPre::req4:
    case QuantPre::vqf322s4:
    case QuantPre::qf322s4: return 4;
    case QuantPre::none: break;
  }
  return 32;
}

Footprint fixpipe_footprint(const FixpipeArgs& x, BufId dst, const Spr& spr);  // isa/sem/fixpipe.cpp
void fixpipe_execute(const FixpipeArgs& x, BufId dst, ExecContext& c);         // isa/sem/fixpipe.cpp

// The intrinsics with _bf16, _b4 and _s4 at the end of their name differ in the C++ type of dst alone; QuantPRE says
// it.
template <Text Name, u16 Opcode, BufId Dst, Text Doc>
struct Fixpipe {
  using Args = FixpipeArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = Dst == BufId::GM ? "move.l0c_to_gm"_cost : "move.l0c_to_l1"_cost;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(Dst, "dst"),
      address_in<&Args::src>(BufId::L0C, "src"),
      Field<&Args::sid>{"sid", 4},
      Field<&Args::nSize>{"NSize", 12, OperandKind::value, "columns"},
      Field<&Args::mSize>{"MSize", 16, OperandKind::value, "rows"},
      Field<&Args::dstStride>{"dstStride", 32, OperandKind::value,
                              "row-major: elements between rows; NZ: 32 B blocks between block columns"},
      Field<&Args::srcStride>{"srcStride", 16, OperandKind::value, "L0C rows of 16 elements between block columns"},
      Field<&Args::unitFlag>{"unitFlag", 2, OperandKind::value,
                             "2, 3: waits until mad has set the unit flags; 3 clears them"},
      Field<&Args::quantPre>{"QuantPRE", 5, OperandKind::value,
                             "0 none, 1 f32 to f16, 16 f32 to bf16; s32 to f16: 10 v, 11; s32 shifted to s16: 12 v, "
                             "13; s32 to 8 bit: 8 v, 9; f32 to "
                             "8 bit: 23 v, 24; s32 to s4: 21 v, 22; f32 to s4: 25 v, 26"},
      Field<&Args::reluPre>{"ReLUPRE", 3, OperandKind::value, "0 none, 1 relu, 2 LRELU_ALPHA, 3 alpha of each column"},
      Field<&Args::channelSplit>{"channelSplit", 1, OperandKind::value, "1: NZ of f32 in block columns of 8"},
      Field<&Args::nz2nd>{"NZ2ND_EN", 1, OperandKind::value, "1: row-major, 0: NZ"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::FIX; }
  static CostClass cost_of(const Args& x) { return Dst == BufId::GM && x.nz2nd ? "move.l0c_to_gm_nz2nd"_cost : cost; }
  static Work work(const Args& x, const Spr& spr) {
    const u64 columns = ceil_div<u64>(x.nSize, 16);
    const u64 matrices = x.nz2nd != 0 ? std::max<u64>(spr[SprId::nd_para] & 0xffff, 1) : 1;
    return {.steps = matrices * columns * ceil_div<u64>(x.mSize, 16),
            .bytes = matrices * x.nSize * x.mSize * fixpipe_output_bits(x) / 8,
            .bursts = matrices * (x.nz2nd ? x.mSize : columns)};
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch) { return fixpipe_footprint(x, Dst, spr); }
  static void execute(const Args& x, ExecContext& c) { fixpipe_execute(x, Dst, c); }
};

using CopyMatrixCcToGm =
    Fixpipe<"copy_matrix_cc_to_gm", 0x160, BufId::GM,
            "L0C to global memory through FIXPIPE: quantise, relu, NZ or row-major (ND_PARA: matrices, 0 counts as 1, "
            "1024 B between them in L0C, elements in memory); integers stop at the limits, STATUS[8] f16 overflow, [9] "
            "f16 underflow; 8-bit NZ merges pairs of block columns">;
using CopyMatrixCcToCbuf = Fixpipe<"copy_matrix_cc_to_cbuf", 0x161, BufId::L1,
                                   "L0C to L1 through FIXPIPE: quantise and relu as copy_matrix_cc_to_gm, NZ">;

using FixpipeInsns = InsnList<CopyMatrixCcToGm, CopyMatrixCcToCbuf>;

}  // namespace vinci::isa::insn
