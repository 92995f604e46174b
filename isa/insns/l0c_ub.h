// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"
#include "isa/table/insn.h"

// L0C <-> UB on the joint core, through the vector pipe, with conversion on the way (CRMODE). The NZ order stays.
// Source: mindspore-ai/akg (Apache-2.0), published documentation of DataCopy (L0C to UB, DataCopyEnhancedParams).
namespace vinci::isa::insn {

// Of copy_*_cc_to_ubuf all, of copy_*_ubuf_to_cc none and f16_to_f32. Modes with a v take one parameter for each of 16
// columns from UB, where DEQSCALE [14:0] is their address / 32 and [15] relu; a burst takes the next 16 parameters.
enum class CrMode : u8 {
  none = 0,
  f32_to_f16 = 1,
  f32_to_f16_relu = 2,
  s32_to_f16 = 3,  // times DEQSCALE, f16
  f16_to_f32 = 4,
  relu = 5,
  f16_mul = 6,  // times DEQSCALE, f16
  vdeq = 7,     // s32 to f16: times f16 parameters
  vdeq8 = 8,    // s32 to s8 or u8, by quantisation parameters (isa/sem/quant.h)
  deq8 = 9,     // the same with DEQSCALE
  vdeq16 = 10,  // s32 to f16, by quantisation parameters
  deq16 = 11,
  vdeqs16 = 12,  // s32 to s16: shifted right by the shift of quantisation parameters
  deqs16 = 13,
};

struct L0cUbArgs {
  u32 dst, src;
  u16 nBurst, lenBurst, srcStride, dstStride;
  u8 sid, crmode, type;
};

// What the four instructions differ in. `unit`: elements that lenBurst counts, a fractal or one row of it.
struct L0cUbForm {
  std::string_view name;
  bool to_ub = true;
  u32 unit = 256;
};
enum L0cType : u8 { kL0cF32, kL0cF16, kL0cS32 };
constexpr u32 l0c_bytes(u8 type) { return type == kL0cF16 ? 2 : 4; }

Footprint l0c_ub_footprint(const L0cUbForm& form, const L0cUbArgs& x, const Spr& spr);  // isa/sem/l0c_ub.cpp
void l0c_ub_execute(const L0cUbForm& form, const L0cUbArgs& x, ExecContext& c);         // isa/sem/l0c_ub.cpp

template <Text Name, u16 Opcode, bool kToUb, u32 kUnit, Text Doc>
struct L0cUbCopy {
  using Args = L0cUbArgs;
  enum Type : u8 { f32 = kL0cF32, f16 = kL0cF16, s32 = kL0cS32 };
  static constexpr std::array types{TypeForm{"f32"}, TypeForm{"f16"}, TypeForm{"s32"}};  // of L0C
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = kJointArchs;
  static constexpr CostClass cost = kToUb ? "move.l0c_to_ub"_cost : "move.ub_to_l0c"_cost;
  static constexpr L0cUbForm form{Name.view(), kToUb, kUnit};
  static constexpr std::string_view kL0cStride = "512 B (f16) or 1024 B skipped after a piece";
  static constexpr std::string_view kUbStride = "32 B blocks skipped after a piece";
  static constexpr std::tuple fields{
      bytes_in<&Args::dst>(kToUb ? BufId::UB : BufId::L0C, "dst"),
      address_in<&Args::src>(kToUb ? BufId::L0C : BufId::UB, "src"),
      Field<&Args::sid>{"sid", 4, OperandKind::value,
                        "of 8-bit results: 0 in the first, 1 in the second half of a 32 B block, 2 side by side"},
      Field<&Args::nBurst>{"nBurst", 12, OperandKind::value, "pieces"},
      Field<&Args::lenBurst>{"lenBurst", 16, OperandKind::value,
                             kUnit == 256 ? "fractals of a piece" : "rows of 16 elements of a piece"},
      Field<&Args::srcStride>{"srcStride", 16, OperandKind::value, kToUb ? kL0cStride : kUbStride},
      Field<&Args::dstStride>{"dstStride", 16, OperandKind::value, kToUb ? kUbStride : kL0cStride},
      Field<&Args::crmode>{"crmode", 4, OperandKind::value,
                           kToUb ? "0 none, 1 f32 to f16, 2 f32 to f16 and relu, 3 s32 to f16, 4 f16 to f32, 5 relu, "
                                   "6 f16 times DEQSCALE, 7 vdeq, 8 vdeq8, 9 deq8, 10 vdeq16, 11 deq16, 12 vdeqs16, "
                                   "13 deqs16"
                                 : "0 none, 4 f16 to f32"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::V; }
  static Work work(const Args& x, const Spr&) {
    const u64 units = u64{x.nBurst} * x.lenBurst;
    return {.steps = units, .bytes = units * kUnit * l0c_bytes(x.type), .bursts = x.nBurst};
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch) { return l0c_ub_footprint(form, x, spr); }
  static void execute(const Args& x, ExecContext& c) { l0c_ub_execute(form, x, c); }
};

using CopyMatrixCcToUbuf = L0cUbCopy<"copy_matrix_cc_to_ubuf", 0x150, true, 256,
                                     "L0C fractals to UB with conversion (CRMODE); results of f16 and of integers stop "
                                     "at the limits, STATUS[8] f16 overflow, [9] f16 underflow">;
using CopyMatrixUbufToCc =
    L0cUbCopy<"copy_matrix_ubuf_to_cc", 0x151, false, 256, "UB to L0C fractals, as they are or f16 to f32">;
using CopyVectorCcToUbuf =
    L0cUbCopy<"copy_vector_cc_to_ubuf", 0x152, true, 16, "rows of 16 elements of L0C to UB, as copy_matrix_cc_to_ubuf">;
using CopyVectorUbufToCc = L0cUbCopy<"copy_vector_ubuf_to_cc", 0x153, false, 16,
                                     "UB to rows of 16 elements of L0C, as copy_matrix_ubuf_to_cc">;

using L0cUbInsns = InsnList<CopyMatrixCcToUbuf, CopyMatrixUbufToCc, CopyVectorCcToUbuf, CopyVectorUbufToCc>;

}  // namespace vinci::isa::insn
