// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"
#include "isa/insns/spr.h"

// Image to columns: a feature map NC1HWC0 in L1 (C0 = 32 bytes of elements) becomes parts of the matrix whose rows are
// the positions of the filter and whose columns are the points under it. Size and padding of the map come from
// set_fmatrix, what is outside of it from set_padding, the limit of the buffer in L1 from set_l1_3d_size.
// Source of operands and semantics: mindspore-ai/akg csim (Apache-2.0) and the published Ascend C documentation of
// LoadData (3D), SetFmatrix, SetLoadDataRepeat and SetLoadDataBoundary.
//
// What the sources leave open, here: positions below the last row of the output go on in the same walk, and read the
// padding value once they are below the map; the pieces of a repeated img2colv2 form one matrix, also without
// transpose.
namespace vinci::isa::insn {

namespace img2col {
enum Type : u8 { b8, b16, b32, b4 };
constexpr u32 bits(u8 type) { return type == b8 ? 8 : type == b16 ? 16 : type == b32 ? 32 : 4; }
constexpr u32 c0(u8 type) { return kBlockBytes * 8 / bits(type); }  // elements of a block of 32 B
}  // namespace img2col

template <BufId Dst>
inline constexpr CostClass kImg2colCost = Dst == BufId::L0A   ? "move.l1_to_l0a"_cost
                                          : Dst == BufId::L0B ? "move.l1_to_l0b"_cost
                                                              : "move.l1_to_ub"_cost;

// Version 1: each of repeatTime fractals holds C0 channels of one point of the filter, fetchFilterW/H, at 16 positions.
// The first position has its corner at leftTopW/H, inside the padding when negative; positions go to the right in steps
// of strideW, and strideH down at the end of a row. repeatMode 0: the next fractal is the next point of the filter, to
// the right, down, then the next c1, and fractals follow each other; 1: the next 16 positions, jumpStride fractals on.
struct Img2colArgs {
  u32 dst, src;
  i16 leftTopW, leftTopH;
  u16 c1Index;
  u8 fetchFilterW, fetchFilterH, strideW, strideH, filterW, filterH, dilationW, dilationH, jumpStride, repeatMode,
      repeatTime, cSize, type;
};
Footprint img2col_footprint(const Img2colArgs& x, BufId dst, const Spr& spr);  // isa/sem/img2col.cpp
void img2col_v1(const Img2colArgs& x, BufId dst, ExecContext& c);              // isa/sem/img2col.cpp

template <Text Name, u16 Opcode, BufId Dst, Text Doc>
struct Img2col {
  using Args = Img2colArgs;
  static constexpr std::array types{TypeForm{"b8"}, TypeForm{"b16"}};
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = kJointArchs;
  static constexpr CostClass cost = kImg2colCost<Dst>;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(Dst, "dst"),
      address_in<&Args::src>(BufId::L1, "src", "byte address in L1 of the feature map"),
      Field<&Args::fetchFilterW>{"fetchFilterW", 8, OperandKind::value, "first column of the filter"},
      Field<&Args::fetchFilterH>{"fetchFilterH", 8, OperandKind::value, "first row of the filter"},
      Field<&Args::leftTopW>{"leftTopW", 16, OperandKind::value, "column of the first position, -255..", false, 0,
                             true},
      Field<&Args::leftTopH>{"leftTopH", 16, OperandKind::value, "row of the first position, -255..", false, 0, true},
      Field<&Args::c1Index>{"c1Index", 12, OperandKind::value, "first C0 channels"},
      Field<&Args::strideW>{"strideW", 6, OperandKind::value, "columns between positions, 1.."},
      Field<&Args::strideH>{"strideH", 6, OperandKind::value, "rows between positions, 1.."},
      Field<&Args::filterW>{"filterW", 8, OperandKind::value, "columns of the filter, 1.."},
      Field<&Args::filterH>{"filterH", 8, OperandKind::value, "rows of the filter, 1.."},
      Field<&Args::dilationW>{"dilationW", 8, OperandKind::value, "columns between points of the filter, 1.."},
      Field<&Args::dilationH>{"dilationH", 8, OperandKind::value, "rows between points of the filter, 1.."},
      Field<&Args::jumpStride>{"jumpStride", 7, OperandKind::value,
                               "repeatMode 1: fractals from one to the next, 1..; repeatMode 0: 1"},
      Field<&Args::repeatMode>{"repeatMode", 1, OperandKind::value,
                               "next fractal 0: point of the filter, 1: positions"},
      Field<&Args::repeatTime>{"repeatTime", 8, OperandKind::value, "fractals"},
      Field<&Args::cSize>{"cSize", 1, OperandKind::value, "0; 1 (4 channels) is not modelled"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::MTE1; }
  static Work work(const Args& x, const Spr&) {
    return {.steps = x.repeatTime, .bytes = u64{x.repeatTime} * kFractalBytes, .bursts = x.repeatTime};
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch) { return img2col_footprint(x, Dst, spr); }
  static void execute(const Args& x, ExecContext& c) { img2col_v1(x, Dst, c); }
};

using Img2colCbufToCa = Img2col<"img2col_cbuf_to_ca", 0x12c, BufId::L0A,
                                "feature map in L1 to fractals of 16 positions x C0 channels in L0A (load3d v1)">;
using Img2colCbufToCb = Img2col<"img2col_cbuf_to_cb", 0x12d, BufId::L0B,
                                "feature map in L1 to fractals of 16 positions x C0 channels in L0B (load3d v1)">;
using Img2colCbufToUb = Img2col<"img2col_cbuf_to_ub", 0x12e, BufId::UB,
                                "feature map in L1 to fractals of 16 positions x C0 channels in UB (load3d v1)">;

// Version 2: rows posM.. (stepM of them) and columns posK.. (stepK) of the whole matrix Mat[position][(c1, kh, kw,
// c0)], positions counted from the left upper corner of the padded map. L0A and UB get Mat as zZ, or with transpose its
// transpose as zZ; L0B gets Mat as nZ. set_l3d_rpt repeats it: time times, further down (mode 0, stride in 16 rows) or
// to the right (mode 1, stride in C0 columns). Nothing happens when a size is 0.
struct Img2colV2Args {
  u32 dst, src;
  u16 stepK, stepM, posK, posM, sizeChannel;
  u8 strideW, strideH, filterW, filterH, dilationW, dilationH, filterSizeW, filterSizeH, transpose, fmatrixCtrl, type;
};
Footprint img2colv2_footprint(const Img2colV2Args& x, BufId dst, const Spr& spr, Arch arch);  // isa/sem/img2col.cpp
Work img2colv2_work(const Img2colV2Args& x, BufId dst, const Spr& spr);                       // isa/sem/img2col.cpp
void img2col_v2(const Img2colV2Args& x, BufId dst, ExecContext& c);                           // isa/sem/img2col.cpp

template <Text Name, u16 Opcode, BufId Dst, Text Doc>
struct Img2colV2 {
  using Args = Img2colV2Args;
  static constexpr std::array types{TypeForm{"b8", Dst == BufId::L0B ? only(Arch::m200) : kSecondArchs},
                                    TypeForm{"b16"}, TypeForm{"b32", kSplitArchs}};
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Dst == BufId::UB ? only(Arch::m200) : kSecondArchs;  // no split core has L1 and UB
  static constexpr CostClass cost = kImg2colCost<Dst>;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(Dst, "dst"),
      address_in<&Args::src>(BufId::L1, "src", "byte address in L1 of the feature map"),
      Field<&Args::stepK>{"stepK", 16, OperandKind::value, "columns; a multiple of C0 unless they end the matrix"},
      Field<&Args::stepM>{"stepM", 16, OperandKind::value, "rows"},
      Field<&Args::posK>{"posK", 16, OperandKind::value, "first column, a multiple of C0"},
      Field<&Args::posM>{"posM", 16, OperandKind::value, "first row"},
      Field<&Args::strideW>{"strideW", 6, OperandKind::value, "columns of the map between positions, 1.."},
      Field<&Args::strideH>{"strideH", 6, OperandKind::value, "rows of the map between positions, 1.."},
      Field<&Args::filterW>{"Wk", 8, OperandKind::value, "columns of the filter"},
      Field<&Args::filterH>{"Hk", 8, OperandKind::value, "rows of the filter"},
      Field<&Args::dilationW>{"dilationW", 8, OperandKind::value, "columns between points of the filter, 1.."},
      Field<&Args::dilationH>{"dilationH", 8, OperandKind::value, "rows between points of the filter, 1.."},
      Field<&Args::filterSizeW>{"filterSizeW", 1, OperandKind::value, "1: Wk + 256 columns; c220"},
      Field<&Args::filterSizeH>{"filterSizeH", 1, OperandKind::value, "1: Hk + 256 rows; c220"},
      Field<&Args::transpose>{"transpose", 1, OperandKind::value, "L0A: 1 for the transpose; L0B: no effect"},
      Field<&Args::fmatrixCtrl>{"fmatrixCtrl", 1, OperandKind::value, "map of 0: set_fmatrix, 1: set_fmatrix_b"},
      Field<&Args::sizeChannel>{"sizeChannel", 16, OperandKind::value, "channels, a multiple of C0"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::MTE1; }
  static Work work(const Args& x, const Spr& spr) { return img2colv2_work(x, Dst, spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return img2colv2_footprint(x, Dst, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { img2col_v2(x, Dst, c); }
};

using Img2colV2CbufToCa = Img2colV2<"img2colv2_cbuf_to_ca", 0x12f, BufId::L0A,
                                    "part of the image-to-columns matrix of a feature map in L1 to L0A (load3d v2)">;
using Img2colV2CbufToCb = Img2colV2<"img2colv2_cbuf_to_cb", 0x130, BufId::L0B,
                                    "part of the image-to-columns matrix of a feature map in L1 to L0B (load3d v2)">;
using Img2colV2CbufToUb = Img2colV2<"img2colv2_cbuf_to_ub", 0x131, BufId::UB,
                                    "part of the image-to-columns matrix of a feature map in L1 to UB (load3d v2)">;

// The same on elements of 4 bits.
struct Img2colV2CbufToCaS4 : Img2colV2<"img2colv2_cbuf_to_ca_s4", 0x132, BufId::L0A,
                                       "part of the image-to-columns matrix of a feature map of 4-bit elements in L1 "
                                       "to L0A (load3d v2)"> {
  static constexpr std::array types{TypeForm{"s4"}};
  static Args as_b4(Args x) {
    x.type = img2col::b4;
    return x;
  }
  static Work work(const Args& x, const Spr& spr) { return img2colv2_work(as_b4(x), BufId::L0A, spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return img2colv2_footprint(as_b4(x), BufId::L0A, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { img2col_v2(as_b4(x), BufId::L0A, c); }
};

using Img2colInsns = InsnList<Img2colCbufToCa, Img2colCbufToCb, Img2colCbufToUb, Img2colV2CbufToCa, Img2colV2CbufToCb,
                              Img2colV2CbufToUb, Img2colV2CbufToCaS4>;

}  // namespace vinci::isa::insn
