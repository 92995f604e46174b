// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/vector.h"

// Comparison and selection. A comparison with NaN is false, with ne too. Bits of results are in the order of the lanes,
// lowest first. Source: published documentation of the CCE intrinsics vcmp, vcmpv, vcmpvs, vsel, of Compare and Select.
namespace vinci::isa::insn {

struct CmpmaskArgs {
  u32 address;
};

// isa/sem/vector_compare.cpp
Footprint compare_to_register_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch);
void compare_to_register_execute(const VectorBinaryArgs& x, CompareOp op, LaneType type, ExecContext& c);
Footprint compare_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch);
void compare_execute(const VectorBinaryArgs& x, CompareOp op, LaneType type, ExecContext& c);
Footprint compare_scalar_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch);
void compare_scalar_execute(const VectorUnaryArgs& x, CompareOp op, LaneType type, ExecContext& c);
Footprint select_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch);
void select_execute(const VectorBinaryArgs& x, LaneType type, ExecContext& c);
void set_cmpmask_execute(const CmpmaskArgs& x, ExecContext& c);
void get_cmpmask_execute(const CmpmaskArgs& x, ExecContext& c);

inline constexpr std::tuple kCompareSources{address_in<&VectorBinaryArgs::src0>(BufId::UB, "src0"),
                                            address_in<&VectorBinaryArgs::src1>(BufId::UB, "src1")};
inline constexpr std::tuple kCompareStrides{
    Field<&VectorBinaryArgs::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"},
    Field<&VectorBinaryArgs::dstBlkStride>{"dstBlkStride", 8, OperandKind::value, "no effect"},
    Field<&VectorBinaryArgs::src0BlkStride>{"src0BlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
    Field<&VectorBinaryArgs::src1BlkStride>{"src1BlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
    Field<&VectorBinaryArgs::dstRepStride>{"dstRepStride", 8, OperandKind::value, "no effect"},
    Field<&VectorBinaryArgs::src0RepStride>{"src0RepStride", 8, OperandKind::value,
                                            "32 B blocks from repeat to repeat"},
    Field<&VectorBinaryArgs::src1RepStride>{"src1RepStride", 8, OperandKind::value,
                                            "32 B blocks from repeat to repeat"}};

// As FieldsOf.
template <class Args>
struct CompareFields;
template <>
struct CompareFields<VectorBinaryArgs> {
  static constexpr auto to_register = std::tuple_cat(kCompareSources, kCompareStrides);
  static constexpr auto select = std::tuple_cat(
      std::tuple{address_in<&VectorBinaryArgs::dst>(BufId::UB, "dst"),
                 address_in<&VectorBinaryArgs::src0>(BufId::UB, "src0"),
                 bytes_in<&VectorBinaryArgs::src1>(BufId::UB, "src1")},
      kVectorBinaryStrides,
      std::tuple{Field<&VectorBinaryArgs::option>{
          "mode", 2, OperandKind::value,
          "0: bits of CMPMASK for every repeat; 1: bits in UB at src1, one set for each repeat, against the scalar in "
          "CMPMASK; 2: bits in UB at the address in CMPMASK; m100, c100: 0",
          true, 0}});
};

// CMPMASK = src0 op src1; bits of inactive lanes keep their value
template <CompareOp Op, class Types, class A = VectorBinaryArgs>
struct CompareToRegisterForm {
  using Args = A;
  template <class Other>
  using On = CompareToRegisterForm<Op, Types, Other>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = CompareFields<A>::to_register;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return compare_to_register_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { compare_to_register_execute(x, Op, Types::lane(x.type), c); }
};

// dst = bits of (src0 op src1)
template <CompareOp Op, class Types>
struct CompareForm {
  using Args = VectorBinaryArgs;
  static constexpr auto types = Types::types;
  static constexpr auto fields =
      std::tuple_cat(std::tuple{bytes_in<&Args::dst>(BufId::UB, "dst",
                                                     "byte address in UB; the bits of all repeats follow each other")},
                     kCompareSources, kCompareStrides);
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return compare_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { compare_execute(x, Op, Types::lane(x.type), c); }
};

// dst = bits of (src op scalar)
template <CompareOp Op, class Types>
struct CompareScalarForm {
  using Args = VectorUnaryArgs;
  static constexpr auto types = Types::types;
  static constexpr auto fields =
      std::tuple_cat(std::tuple{bytes_in<&Args::dst>(BufId::UB, "dst",
                                                     "byte address in UB; the bits of all repeats follow each other")},
                     kVectorSrc, kVectorScalar, kVectorRepeat, kVectorUnaryStrides);
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return compare_scalar_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { compare_scalar_execute(x, Op, Types::lane(x.type), c); }
};

// dst = bit ? src0 : src1. Bits are copied: no saturation, no STATUS.
template <class Types, class A = VectorBinaryArgs>
struct SelectForm {
  using Args = A;
  template <class Other>
  using On = SelectForm<Types, Other>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = CompareFields<A>::select;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return select_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { select_execute(x, Types::lane(x.type), c); }
};

// CMPMASK from UB and back: 16 bytes
template <bool Write, Text Operand>
struct CmpmaskForm {
  using Args = CmpmaskArgs;
  static constexpr std::tuple fields{
      bytes_in<&Args::address>(BufId::UB, Operand.view(), "byte address in UB of 16 bytes")};
  static Work work(const Args&, const Spr&) { return {.steps = 1}; }
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return {{.buffer = BufId::UB,
             .write = Write,
             .align = sizeof(LaneBits),
             .address = x.address,
             .len = sizeof(LaneBits),
             .operand = Operand.view()}};
  }
  static void execute(const Args& x, ExecContext& c) {
    if constexpr (Write) {
      get_cmpmask_execute(x, c);
    } else {
      set_cmpmask_execute(x, c);
    }
  }
};

// The 310 compares and selects f16 alone. Source: published documentation of TIK vec_cmpv, vec_sel.
using CompareTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32, kNotMini}>;
using CompareEqTypes =
    VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32, kNotMini}, VectorType{LaneType::s32, kSplitArchs}>;

template <Text Name, u16 Opcode, CompareOp Op, Text Doc>
using Vcmp = VectorInsn<Name, Opcode, "vector.compare"_cost, CompareToRegisterForm<Op, CompareTypes>, Doc>;
template <Text Name, u16 Opcode, CompareOp Op, Text Doc, class Types = CompareTypes>
using Vcmpv = VectorInsn<Name, Opcode, "vector.compare"_cost, CompareForm<Op, Types>, Doc>;
template <Text Name, u16 Opcode, CompareOp Op, Text Doc, class Types = CompareTypes>
using Vcmpvs = VectorInsn<Name, Opcode, "vector.compare"_cost, CompareScalarForm<Op, Types>, Doc, kVectorArchs2>;

using VcmpEq = Vcmp<"vcmp_eq", 0x2c8, CompareOp::eq, "CMPMASK = src0 == src1, active lanes; the last repeat stays">;
using VcmpNe = Vcmp<"vcmp_ne", 0x2c9, CompareOp::ne, "CMPMASK = src0 != src1, active lanes; the last repeat stays">;
using VcmpLt = Vcmp<"vcmp_lt", 0x2ca, CompareOp::lt, "CMPMASK = src0 < src1, active lanes; the last repeat stays">;
using VcmpLe = Vcmp<"vcmp_le", 0x2cb, CompareOp::le, "CMPMASK = src0 <= src1, active lanes; the last repeat stays">;
using VcmpGt = Vcmp<"vcmp_gt", 0x2cc, CompareOp::gt, "CMPMASK = src0 > src1, active lanes; the last repeat stays">;
using VcmpGe = Vcmp<"vcmp_ge", 0x2cd, CompareOp::ge, "CMPMASK = src0 >= src1, active lanes; the last repeat stays">;

using VcmpvEq = Vcmpv<"vcmpv_eq", 0x2ce, CompareOp::eq, "dst = bits of src0 == src1; without mask", CompareEqTypes>;
using VcmpvNe = Vcmpv<"vcmpv_ne", 0x2cf, CompareOp::ne, "dst = bits of src0 != src1; without mask">;
using VcmpvLt = Vcmpv<"vcmpv_lt", 0x2d0, CompareOp::lt, "dst = bits of src0 < src1; without mask">;
using VcmpvLe = Vcmpv<"vcmpv_le", 0x2d1, CompareOp::le, "dst = bits of src0 <= src1; without mask">;
using VcmpvGt = Vcmpv<"vcmpv_gt", 0x2d2, CompareOp::gt, "dst = bits of src0 > src1; without mask">;
using VcmpvGe = Vcmpv<"vcmpv_ge", 0x2d3, CompareOp::ge, "dst = bits of src0 >= src1; without mask">;

using VcmpvsEq = Vcmpvs<"vcmpvs_eq", 0x2d4, CompareOp::eq, "dst = bits of src == scalar; without mask", CompareEqTypes>;
using VcmpvsNe = Vcmpvs<"vcmpvs_ne", 0x2d5, CompareOp::ne, "dst = bits of src != scalar; without mask">;
using VcmpvsLt = Vcmpvs<"vcmpvs_lt", 0x2d6, CompareOp::lt, "dst = bits of src < scalar; without mask">;
using VcmpvsLe = Vcmpvs<"vcmpvs_le", 0x2d7, CompareOp::le, "dst = bits of src <= scalar; without mask">;
using VcmpvsGt = Vcmpvs<"vcmpvs_gt", 0x2d8, CompareOp::gt, "dst = bits of src > scalar; without mask">;
using VcmpvsGe = Vcmpvs<"vcmpvs_ge", 0x2d9, CompareOp::ge, "dst = bits of src >= scalar; without mask">;

using Vsel = VectorInsn<"vsel", 0x2da, "vector.select"_cost, SelectForm<CompareTypes>,
                        "dst = bit ? src0 : src1, active lanes; bits are copied, no STATUS">;
using SetCmpmask =
    VectorInsn<"set_cmpmask", 0x2db, "vector.compare"_cost, CmpmaskForm<false, "src">, "CMPMASK = 16 bytes of UB">;
using GetCmpmask =
    VectorInsn<"get_cmpmask", 0x2dc, "vector.compare"_cost, CmpmaskForm<true, "dst">, "16 bytes of UB = CMPMASK">;

using VectorCompareInsns =
    InsnList<VcmpEq, VcmpNe, VcmpLt, VcmpLe, VcmpGt, VcmpGe, VcmpvEq, VcmpvNe, VcmpvLt, VcmpvLe, VcmpvGt, VcmpvGe,
             VcmpvsEq, VcmpvsNe, VcmpvsLt, VcmpvsLe, VcmpvsGt, VcmpvsGe, Vsel, SetCmpmask, GetCmpmask>;

}  // namespace vinci::isa::insn
