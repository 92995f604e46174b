// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"
#include "isa/insns/spr.h"

// Buffers of the cube from a value or a row: create_*_matrix, broadcast_ub_to_cc. Source of operands and semantics:
// mindspore-ai/akg csim (Apache-2.0) and the published Ascend C documentation of Fill and BroadCastVecToMM.
namespace vinci::isa::insn {

// `repeat` runs of blkNum units, dstGap units apart, all elements `value`. A unit is a fractal of 512 B, in L1 of c220
// a block of 32 B. Before c220 a run is 512 B and runs have no gap.
struct FillArgs {
  u64 value;
  u32 dst;
  u16 repeat, blkNum, dstGap;
  u8 type;
};
inline constexpr u64 kFillFromRegister = u64{1} << 32;                              // no value of an element
Footprint fill_footprint(const FillArgs& x, BufId dst, Arch arch);                  // isa/sem/fill.cpp
void fill_matrix(const FillArgs& x, BufId dst, u32 element_bytes, ExecContext& c);  // isa/sem/fill.cpp

template <Text Name, u16 Opcode, BufId Dst, ArchSet Archs, bool Wide, Text Doc>
struct FillMatrix {
  using Args = FillArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = Dst == BufId::L1 ? "move.fill_l1"_cost : "move.fill_l0"_cost;
  static constexpr auto types = [] {
    if constexpr (Wide) {
      return std::array{TypeForm{"b16"}, TypeForm{"b32", kSplitArchs}};
    } else {
      return std::array{TypeForm{"bf16"}};
    }
  }();
  static constexpr std::tuple fields{
      address_in<&Args::dst>(Dst, "dst"),
      Field<&Args::repeat>{"repeat", 15, OperandKind::value, "runs; at most 255 before c220"},
      Field<&Args::value>{"value", 33, OperandKind::value, "bits of an element; left out: of set_l0_set_value", true,
                          kFillFromRegister},
      Field<&Args::blkNum>{"blkNum", 15, OperandKind::value, "units of a run; 1 before c220", true, 1},
      Field<&Args::dstGap>{"dstGap", 15, OperandKind::value, "units skipped after a run; 0 before c220", true, 0}};
  static PipeId pipe(const Args&, Arch) { return Dst == BufId::L1 ? PipeId::MTE2 : PipeId::MTE1; }
  static Work work(const Args& x, const Spr&) {
    const u64 n = u64{x.repeat} * x.blkNum;
    return {.steps = n, .bytes = n * (Dst == BufId::L1 ? kBlockBytes : kFractalBytes), .bursts = x.repeat};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch arch) { return fill_footprint(x, Dst, arch); }
  static void execute(const Args& x, ExecContext& c) { fill_matrix(x, Dst, Wide && x.type == 1 ? 4 : 2, c); }
};

using CreateCaMatrix =
    FillMatrix<"create_ca_matrix", 0x139, BufId::L0A, kAllArchs, true, "fractals of L0A from one value">;
using CreateCbMatrix =
    FillMatrix<"create_cb_matrix", 0x13a, BufId::L0B, kAllArchs, true, "fractals of L0B from one value">;
using CreateCaMatrixBf16 =
    FillMatrix<"create_ca_matrix_bf16", 0x13b, BufId::L0A, kSplitArchs, false, "fractals of L0A from one value">;
using CreateCbMatrixBf16 =
    FillMatrix<"create_cb_matrix_bf16", 0x13c, BufId::L0B, kSplitArchs, false, "fractals of L0B from one value">;
using CreateCbufMatrix = FillMatrix<"create_cbuf_matrix", 0x13d, BufId::L1, kSecondArchs, true,
                                    "L1 from one value; units of 32 B, on m200 of 512 B">;
using CreateCbufMatrixBf16 =
    FillMatrix<"create_cbuf_matrix_bf16", 0x13e, BufId::L1, kSplitArchs, false, "L1 from one value; units of 32 B">;

// nBurst pieces of lenBurst rows of 16 elements; each row becomes a fractal of L0C with 16 equal rows.
struct BroadcastUbToCc {
  struct Args {
    u32 dst, src;
    u8 nBurst, lenBurst, srcGap, dstGap, type;
  };
  enum Type : u8 { f16, f32, s32, f162f32 };
  static constexpr std::array types{TypeForm{"f16"}, TypeForm{"f32"}, TypeForm{"s32"}, TypeForm{"f162f32"}};
  static constexpr std::string_view name = "broadcast_ub_to_cc";
  static constexpr std::string_view doc =
      "rows of 16 elements of UB to fractals of L0C, each row 16 times; f162f32 widens on the way";
  static constexpr u16 opcode = 0x13f;
  static constexpr ArchSet archs = kJointArchs;
  static constexpr CostClass cost = "move.ub_to_l0c"_cost;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::L0C, "dst"),
      address_in<&Args::src>(BufId::UB, "src"),
      Field<&Args::nBurst>{"nBurst", 8, OperandKind::value, "pieces"},
      Field<&Args::lenBurst>{"lenBurst", 8, OperandKind::value, "rows of 16 elements of a piece"},
      Field<&Args::srcGap>{"srcGap", 8, OperandKind::value, "32 B blocks skipped after a piece"},
      Field<&Args::dstGap>{"dstGap", 8, OperandKind::value, "fractals of 256 elements skipped after a piece"}};
  static constexpr u32 source_bytes(u8 type) { return type == f16 || type == f162f32 ? 2 : 4; }
  static constexpr u32 result_bytes(u8 type) { return type == f16 ? 2 : 4; }
  static PipeId pipe(const Args&, Arch) { return PipeId::V; }
  static Work work(const Args& x, const Spr&) {
    const u64 n = u64{x.nBurst} * x.lenBurst;
    return {.steps = n, .bytes = n * 256 * result_bytes(x.type), .bursts = x.nBurst};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch);  // isa/sem/fill.cpp
  static void execute(const Args& x, ExecContext& c);           // isa/sem/fill.cpp
};

using FillInsns = InsnList<CreateCaMatrix, CreateCbMatrix, CreateCaMatrixBf16, CreateCbMatrixBf16, CreateCbufMatrix,
                           CreateCbufMatrixBf16, BroadcastUbToCc>;

}  // namespace vinci::isa::insn
