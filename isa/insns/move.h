// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/scalar.h"
#include "isa/table/insn.h"

// Bursts: contiguous pieces of whole blocks between two memories. Source of operands and semantics: mindspore-ai/akg
// csim (Apache-2.0) and the published Ascend C documentation of DataCopy.
namespace vinci::isa::insn {

inline constexpr u32 kBlockBytes = 32;     // unit of the burst copies
inline constexpr u32 kFractalBytes = 512;  // 16 rows of 32 bytes
inline constexpr u32 kIndexBytes = 128;    // of the indices of a fractal of sparse weights

// nBurst pieces of lenBurst blocks; after each piece the source skips srcGap blocks and the destination dstGap blocks.
struct BurstArgs {
  u64 dst, src;
  u16 sid, nBurst, lenBurst, srcGap, dstGap;
  u8 padMode = 0;
};
Footprint burst_footprint(const BurstArgs& x, BufId dst, BufId src, const Spr& spr, Arch arch);  // isa/sem/move.cpp
void burst_copy(const BurstArgs& x, BufId dst, BufId src, ExecContext& c);                       // isa/sem/move.cpp

// Pieces that touch are one: for Work::bursts.
constexpr u64 contiguous_pieces(u64 pieces, u64 gap) { return gap == 0 && pieces > 1 ? 1 : pieces; }

// pad_t: of global memory to L1 alone.
template <BufId Dst, BufId Src>
constexpr auto burst_pad_field() {
  if constexpr (Src == BufId::GM && Dst == BufId::L1) {
    return std::tuple{Field<&BurstArgs::padMode>{"padMode", 4, OperandKind::value,
                                                 "0 (PAD_NONE); PAD_MODE1..8 are not modelled", true, 0}};
  } else {
    return std::tuple<>{};
  }
}

template <Text Name, u16 Opcode, BufId Dst, BufId Src, PipeId Pipe, CostClass Cost, ArchSet Archs, Text Doc>
struct BurstCopy {
  using Args = BurstArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = Cost;
  static constexpr std::tuple fields = std::tuple_cat(
      std::tuple{address_in<&Args::dst>(Dst, "dst"), address_in<&Args::src>(Src, "src"), Field<&Args::sid>{"sid", 4},
                 Field<&Args::nBurst>{"nBurst", 12, OperandKind::value, "pieces"},
                 Field<&Args::lenBurst>{"lenBurst", 16, OperandKind::value, "32 B blocks of a piece"},
                 Field<&Args::srcGap>{"srcGap", 16, OperandKind::value, "32 B blocks skipped after a piece"},
                 Field<&Args::dstGap>{"dstGap", 16, OperandKind::value, "32 B blocks skipped after a piece"}},
      burst_pad_field<Dst, Src>());
  static PipeId pipe(const Args&, Arch) { return Pipe; }
  static Work work(const Args& x, const Spr&) {
    const u32 gap = Src == BufId::GM ? x.srcGap : Dst == BufId::GM ? x.dstGap : x.srcGap | x.dstGap;
    return {.bytes = u64{x.nBurst} * x.lenBurst * kBlockBytes, .bursts = contiguous_pieces(x.nBurst, gap)};
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return burst_footprint(x, Dst, Src, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { burst_copy(x, Dst, Src, c); }
};

using CopyGmToUbuf = BurstCopy<"copy_gm_to_ubuf", 0x110, BufId::UB, BufId::GM, PipeId::MTE2, "move.gm_to_ub"_cost,
                               kAllArchs, "global memory to UB in bursts of 32 B blocks">;
using CopyGmToCbuf = BurstCopy<"copy_gm_to_cbuf", 0x111, BufId::L1, BufId::GM, PipeId::MTE2, "move.gm_to_l1"_cost,
                               kAllArchs, "global memory to L1 in bursts of 32 B blocks (PAD_NONE)">;
using CopyUbufToGm = BurstCopy<"copy_ubuf_to_gm", 0x112, BufId::GM, BufId::UB, PipeId::MTE3, "move.ub_to_gm"_cost,
                               kAllArchs, "UB to global memory in bursts of 32 B blocks; atomic when CTRL says so">;
using CopyUbufToUbuf = BurstCopy<"copy_ubuf_to_ubuf", 0x113, BufId::UB, BufId::UB, PipeId::V, "move.ub_to_ub"_cost,
                                 kAllArchs, "UB to UB in bursts of 32 B blocks">;
using CopyUbufToCbuf = BurstCopy<"copy_ubuf_to_cbuf", 0x114, BufId::L1, BufId::UB, PipeId::MTE3, "move.ub_to_l1"_cost,
                                 kJointArchs, "UB to L1 in bursts of 32 B blocks">;
using CopyCbufToUbuf = BurstCopy<"copy_cbuf_to_ubuf", 0x115, BufId::UB, BufId::L1, PipeId::MTE1, "move.l1_to_ub"_cost,
                                 kJointArchs, "L1 to UB in bursts of 32 B blocks">;
using CopyCbufToGm = BurstCopy<"copy_cbuf_to_gm", 0x116, BufId::GM, BufId::L1, PipeId::MTE3, "move.l1_to_gm"_cost,
                               kSplitArchs, "L1 to global memory in bursts of 32 B blocks; atomic when CTRL says so">;

using MoveInsns =
    InsnList<CopyGmToUbuf, CopyGmToCbuf, CopyUbufToGm, CopyUbufToUbuf, CopyUbufToCbuf, CopyCbufToUbuf, CopyCbufToGm>;

}  // namespace vinci::isa::insn
