// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"

// Rows of any number of bytes between global memory and UB. Source of operands and semantics: published Ascend C
// documentation of DataCopyPad.
namespace vinci::isa::insn {

// nBurst pieces of lenBurst bytes. In UB a piece is leftPad elements, the bytes, rightPad elements, and whatever fills
// the last block of 32 B; the next one starts dstGap blocks later. In global memory pieces are srcGap bytes apart.
struct AlignArgs {
  u64 dst, src;
  u32 lenBurst, srcGap, dstGap;
  u16 sid, nBurst;
  u8 leftPad, rightPad;
};
Footprint gm_to_ubuf_align_footprint(const AlignArgs& x, u32 element_bytes);   // isa/sem/align.cpp
void gm_to_ubuf_align(const AlignArgs& x, u32 element_bytes, ExecContext& c);  // isa/sem/align.cpp
Footprint ubuf_to_gm_align_footprint(const AlignArgs& x, u32 element_bytes, const Spr& spr,
                                     Arch arch);            // isa/sem/align.cpp
void ubuf_to_gm_align(const AlignArgs& x, ExecContext& c);  // isa/sem/align.cpp

template <Text Name, u16 Opcode, bool ToGm, u32 ElementBytes, Text Doc>
struct AlignCopy {
  using Args = AlignArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = ToGm ? "move.ub_to_gm"_cost : "move.gm_to_ub"_cost;
  static constexpr std::string_view kGapInGm = "bytes skipped after a piece";
  static constexpr std::string_view kGapInUb = "32 B blocks skipped after a piece";
  static constexpr std::tuple fields{
      address_in<&Args::dst>(ToGm ? BufId::GM : BufId::UB, "dst"),
      address_in<&Args::src>(ToGm ? BufId::UB : BufId::GM, "src"),
      Field<&Args::sid>{"sid", 4},
      Field<&Args::nBurst>{"nBurst", 12, OperandKind::value, "pieces"},
      Field<&Args::lenBurst>{"lenBurst", 21, OperandKind::value, "bytes of a piece, a multiple of the element"},
      Field<&Args::leftPad>{"leftPad", 6, OperandKind::value,
                            ToGm ? "0" : "elements in front of a piece, at most 32 bytes"},
      Field<&Args::rightPad>{"rightPad", 6, OperandKind::value, ToGm ? "0" : "elements behind it, at most 32 bytes"},
      Field<&Args::srcGap>{"srcGap", 32, OperandKind::value, ToGm ? kGapInUb : kGapInGm},
      Field<&Args::dstGap>{"dstGap", 32, OperandKind::value, ToGm ? kGapInGm : kGapInUb}};
  static PipeId pipe(const Args&, Arch) { return ToGm ? PipeId::MTE3 : PipeId::MTE2; }
  static Work work(const Args& x, const Spr&) {
    return {.bytes = u64{x.nBurst} * x.lenBurst, .bursts = contiguous_pieces(x.nBurst, ToGm ? x.dstGap : x.srcGap)};
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return ToGm ? ubuf_to_gm_align_footprint(x, ElementBytes, spr, arch) : gm_to_ubuf_align_footprint(x, ElementBytes);
  }
  static void execute(const Args& x, ExecContext& c) {
    if constexpr (ToGm) {
      ubuf_to_gm_align(x, c);
    } else {
      gm_to_ubuf_align(x, ElementBytes, c);
    }
  }
};

template <Text Name, u16 Opcode, u32 ElementBytes>
using GmToUbufAlign =
    AlignCopy<Name, Opcode, false, ElementBytes,
              "rows of any length from global memory to UB, each filled up to 32 B: with the padding value of "
              "set_mov_pad_val, or with its own first element when leftPad and rightPad are 0">;
template <Text Name, u16 Opcode, u32 ElementBytes>
using UbufToGmAlign = AlignCopy<Name, Opcode, true, ElementBytes,
                                "rows of any length from UB to global memory, each from a block of 32 B on; atomic "
                                "when CTRL says so">;

using CopyGmToUbufAlignB8 = GmToUbufAlign<"copy_gm_to_ubuf_align_b8", 0x133, 1>;
using CopyGmToUbufAlignB16 = GmToUbufAlign<"copy_gm_to_ubuf_align_b16", 0x134, 2>;
using CopyGmToUbufAlignB32 = GmToUbufAlign<"copy_gm_to_ubuf_align_b32", 0x135, 4>;
using CopyUbufToGmAlignB8 = UbufToGmAlign<"copy_ubuf_to_gm_align_b8", 0x136, 1>;
using CopyUbufToGmAlignB16 = UbufToGmAlign<"copy_ubuf_to_gm_align_b16", 0x137, 2>;
using CopyUbufToGmAlignB32 = UbufToGmAlign<"copy_ubuf_to_gm_align_b32", 0x138, 4>;

using AlignInsns = InsnList<CopyGmToUbufAlignB8, CopyGmToUbufAlignB16, CopyGmToUbufAlignB32, CopyUbufToGmAlignB8,
                            CopyUbufToGmAlignB16, CopyUbufToGmAlignB32>;

}  // namespace vinci::isa::insn
