// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"
#include "isa/insns/spr.h"

// Fractals of 512 B into L1, L0A and L0B. Source of operands and semantics: mindspore-ai/akg csim (Apache-2.0) and the
// published Ascend C documentation of LoadData (2D) and LoadDataWithTranspose.
namespace vinci::isa::insn {

// load2d: `repeat` fractals, source fractal baseIdx +- i * srcStride, to fractals i * (dstGap + 1). The transposition
// is of each fractal, 16 x 16 elements of 16 bits.
struct Load2dArgs {
  u64 dst, src;
  u16 baseIdx, srcStride, dstGap;
  u8 repeat, sid, transpose, addrmode = 0;
};
Footprint load2d_footprint(const Load2dArgs& x, BufId dst, BufId src, bool b4, Arch arch);  // isa/sem/load2d.cpp
void load2d(const Load2dArgs& x, BufId dst, BufId src, ExecContext& c);                     // isa/sem/load2d.cpp

// The fields that the forms of load2d share, in three parts around those that only some have.
template <BufId Dst, BufId Src>
inline constexpr std::tuple kLoad2dFields{
    address_in<&Load2dArgs::dst>(Dst, "dst"),
    address_in<&Load2dArgs::src>(Src, "src"),
    Field<&Load2dArgs::baseIdx>{"baseIdx", 16, OperandKind::value, "first source fractal"},
    Field<&Load2dArgs::repeat>{"repeat", 8, OperandKind::value, "fractals"},
    Field<&Load2dArgs::srcStride>{"srcStride", 16, OperandKind::value, "source fractals between two"},
    Field<&Load2dArgs::sid>{"sid", 4}};
inline constexpr std::tuple kLoad2dTranspose{
    Field<&Load2dArgs::transpose>{"transpose", 1, OperandKind::value, "1: transpose each fractal (16-bit elements)"}};
inline constexpr std::tuple kLoad2dTail{
    Field<&Load2dArgs::dstGap>{"dstGap", 16, OperandKind::value, "destination fractals skipped after each; not on c100",
                               true, 0},
    Field<&Load2dArgs::addrmode>{"addrmode", 1, OperandKind::value, "source fractals 0: ascend, 1: descend", true, 0}};

template <Text Name, u16 Opcode, BufId Dst, BufId Src, CostClass Cost, ArchSet Archs, bool B4, Text Doc>
struct Load2d {
  using Args = Load2dArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = Cost;
  static constexpr std::tuple fields = [] {
    if constexpr (Src == BufId::GM) {
      return std::tuple_cat(kLoad2dFields<Dst, Src>, kLoad2dTail);
    } else {
      return std::tuple_cat(kLoad2dFields<Dst, Src>, kLoad2dTranspose, kLoad2dTail);
    }
  }();
  static PipeId pipe(const Args&, Arch) { return Src == BufId::GM ? PipeId::MTE2 : PipeId::MTE1; }
  static Work work(const Args& x, const Spr&) {
    return {.steps = x.repeat, .bytes = u64{x.repeat} * kFractalBytes, .bursts = x.repeat};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch arch) { return load2d_footprint(x, Dst, Src, B4, arch); }
  static void execute(const Args& x, ExecContext& c) { load2d(x, Dst, Src, c); }
};

using LoadCbufToCa = Load2d<"load_cbuf_to_ca", 0x120, BufId::L0A, BufId::L1, "move.l1_to_l0a"_cost, kAllArchs, false,
                            "L1 to L0A in fractals of 512 B">;
using LoadCbufToCb = Load2d<"load_cbuf_to_cb", 0x121, BufId::L0B, BufId::L1, "move.l1_to_l0b"_cost, kAllArchs, false,
                            "L1 to L0B in fractals of 512 B">;
using LoadCbufToCaS4 = Load2d<"load_cbuf_to_ca_s4", 0x122, BufId::L0A, BufId::L1, "move.l1_to_l0a"_cost, kSecondArchs,
                              true, "L1 to L0A in fractals of 16 x 64 elements of 4 bits">;
using LoadCbufToCbS4 = Load2d<"load_cbuf_to_cb_s4", 0x123, BufId::L0B, BufId::L1, "move.l1_to_l0b"_cost, kSecondArchs,
                              true, "L1 to L0B in fractals of 64 x 16 elements of 4 bits">;
using LoadGmToCa = Load2d<"load_gm_to_ca", 0x124, BufId::L0A, BufId::GM, "move.gm_to_l0a"_cost, kAllArchs, false,
                          "global memory to L0A in fractals of 512 B">;
using LoadGmToCb = Load2d<"load_gm_to_cb", 0x125, BufId::L0B, BufId::GM, "move.gm_to_l0b"_cost, kAllArchs, false,
                          "global memory to L0B in fractals of 512 B">;
using LoadGmToCbuf = Load2d<"load_gm_to_cbuf", 0x126, BufId::L1, BufId::GM, "move.gm_to_l1"_cost, kAllArchs, false,
                            "global memory to L1 in fractals of 512 B">;
using LoadGmToCaS4 = Load2d<"load_gm_to_ca_s4", 0x127, BufId::L0A, BufId::GM, "move.gm_to_l0a"_cost, kSplitArchs, true,
                            "global memory to L0A in fractals of 16 x 64 elements of 4 bits">;
using LoadGmToCbS4 = Load2d<"load_gm_to_cb_s4", 0x128, BufId::L0B, BufId::GM, "move.gm_to_l0b"_cost, kSplitArchs, true,
                            "global memory to L0B in fractals of 64 x 16 elements of 4 bits">;

// `repeat` squares from L1, transposed: square indexID +- i * srcStride, whose fractals follow each other in L1. A
// square has 64 x 64 elements of 4 bits in 4 fractals one below the other, 32 x 32 of 8 bits in 2, 16 x 16 of 16 bits
// in 1, or 16 x 16 of 32 bits in 2 fractals side by side; its transpose is cut the same way. The fractals of square i
// start at fractal i * (dstGap + 1) of the destination and have dstFracGap fractals between them.
struct LoadTransposeArgs {
  u32 dst, src;
  u16 indexID, srcStride, dstGap, dstFracGap;
  u8 repeat, addrmode, type;
};

namespace load_transpose {
enum Type : u8 { b8, b16, b32, b4 };
constexpr u32 fractals(u8 type) { return type == b4 ? 4 : type == b16 ? 1 : 2; }  // of a square
}  // namespace load_transpose
Footprint load_squares_footprint(const LoadTransposeArgs& x, BufId dst);   // isa/sem/load2d.cpp
void load_squares(const LoadTransposeArgs& x, BufId dst, ExecContext& c);  // isa/sem/load2d.cpp

template <Text Name, u16 Opcode, BufId Dst, CostClass Cost, Text Doc>
struct LoadTranspose {
  using Args = LoadTransposeArgs;
  static constexpr std::array types{TypeForm{"b8"}, TypeForm{"b16"}, TypeForm{"b32"}};
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = Cost;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(Dst, "dst"),
      address_in<&Args::src>(BufId::L1, "src"),
      Field<&Args::indexID>{"indexID", 16, OperandKind::value, "first source square"},
      Field<&Args::repeat>{"repeat", 8, OperandKind::value, "squares"},
      Field<&Args::srcStride>{"srcStride", 16, OperandKind::value, "source squares between two"},
      Field<&Args::dstGap>{"dstStride", 16, OperandKind::value,
                           "fractals from the end of the first fractal of a square to that of the next"},
      Field<&Args::addrmode>{"addrmode", 1, OperandKind::value, "source squares 0: ascend, 1: descend"},
      Field<&Args::dstFracGap>{"dstFracStride", 16, OperandKind::value,
                               "fractals skipped between two of a square; no effect on b16"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::MTE1; }
  static Work work(const Args& x, const Spr&) {
    const u64 n = u64{x.repeat} * load_transpose::fractals(x.type);
    return {.steps = n, .bytes = n * kFractalBytes, .bursts = n};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch) { return load_squares_footprint(x, Dst); }
  static void execute(const Args& x, ExecContext& c) { load_squares(x, Dst, c); }
};

using LoadCbufToCaTranspose = LoadTranspose<"load_cbuf_to_ca_transpose", 0x129, BufId::L0A, "move.l1_to_l0a"_cost,
                                            "L1 to L0A in squares of 1 or 2 fractals, transposed">;
using LoadCbufToCbTranspose = LoadTranspose<"load_cbuf_to_cb_transpose", 0x12a, BufId::L0B, "move.l1_to_l0b"_cost,
                                            "L1 to L0B in squares of 1 or 2 fractals, transposed">;

// The same on elements of 4 bits; only L0B has it.
struct LoadCbufToCbTransposeS4
    : LoadTranspose<"load_cbuf_to_cb_transpose_s4", 0x12b, BufId::L0B, "move.l1_to_l0b"_cost,
                    "L1 to L0B in squares of 4 fractals, 64 x 64 elements of 4 bits, transposed"> {
  static constexpr std::array types{TypeForm{"s4"}};
  static Args as_b4(Args x) {
    x.type = load_transpose::b4;
    return x;
  }
  static Work work(const Args& x, const Spr& spr) { return LoadTranspose::work(as_b4(x), spr); }
  static Footprint footprint(const Args& x, const Spr&, Arch) { return load_squares_footprint(as_b4(x), BufId::L0B); }
  static void execute(const Args& x, ExecContext& c) { load_squares(as_b4(x), BufId::L0B, c); }
};

// `repeat` fractals of sparse weights and their indices (MadSp), from fractal `startIndex` of each on. Source: Ascend C
// LoadDataWithSparse.
struct LoadCbufToCbSp {
  struct Args {
    u32 dst, src, index;
    u16 startIndex;
    u8 repeat;
  };
  static constexpr std::string_view name = "load_cbuf_to_cb_sp";
  static constexpr std::string_view doc =
      "L1 to L0B in fractals of 512 B of sparse weights; their indices, 128 B for each fractal, go to a quarter of the "
      "address in IDX; mad_sp reads both";
  static constexpr u16 opcode = 0x142;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = "move.l1_to_l0b"_cost;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::L0B, "dst"), address_in<&Args::src>(BufId::L1, "src"),
      bytes_in<&Args::index>(BufId::L1, "index", "byte address in L1 of the indices"),
      Field<&Args::startIndex>{"startIndex", 16, OperandKind::value, "first fractal of both sources"},
      Field<&Args::repeat>{"repeat", 8, OperandKind::value, "fractals"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::MTE1; }
  static Work work(const Args& x, const Spr&) {
    return {.steps = x.repeat, .bytes = u64{x.repeat} * (kFractalBytes + kIndexBytes), .bursts = x.repeat};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch arch);  // isa/sem/load2d.cpp
  static void execute(const Args& x, ExecContext& c);                // isa/sem/load2d.cpp
};

using Load2dInsns =
    InsnList<LoadCbufToCa, LoadCbufToCb, LoadCbufToCaS4, LoadCbufToCbS4, LoadGmToCa, LoadGmToCb, LoadGmToCbuf,
             LoadGmToCaS4, LoadGmToCbS4, LoadCbufToCaTranspose, LoadCbufToCbTranspose, LoadCbufToCbTransposeS4>;
using SparseLoadInsns = InsnList<LoadCbufToCbSp>;

}  // namespace vinci::isa::insn
