// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/vector.h"

// Arithmetic, logic, shifts and copies of the vector unit, lane by lane. Rules of the results are those of
// isa/numeric/lanes.h: f16 saturates or gives Inf and NaN as the overflow mode says, f32 never saturates, integers wrap
// or saturate as CTRL[53] says.
namespace vinci::isa::insn {

// isa/sem/vector_arith.cpp
Footprint scalar_footprint(const VectorUnaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch);
Footprint shift_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch);
Footprint dup_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch);
Footprint brcb_footprint(const VectorUnaryArgs& x, LaneType type);
void binary_execute(const VectorBinaryArgs& x, BinaryOp op, LaneType type, ExecContext& c);
void ternary_execute(const VectorBinaryArgs& x, TernaryOp op, const LaneShape& shape, ExecContext& c);
void unary_execute(const VectorUnaryArgs& x, UnaryOp op, LaneType type, ExecContext& c);
void scalar_execute(const VectorUnaryArgs& x, BinaryOp op, LaneType type, ExecContext& c);
void axpy_execute(const VectorUnaryArgs& x, const LaneShape& shape, ExecContext& c);
void dup_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c);
void copy_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c);
Work vcopy_work(const VectorUnaryArgs& x, LaneType type, const Spr& spr);
Footprint vcopy_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch);
void vcopy_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c);
void brcb_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c);

// Which operations may add up over the repeats. Source: mindspore-ai/akg insn_binary_vec_pattern, CANN documentation of
// overlapping addresses.
constexpr LaneShape accumulating(LaneShape shape, BinaryOp op) {
  shape.accumulates = op == BinaryOp::add || op == BinaryOp::sub || op == BinaryOp::mul || op == BinaryOp::max ||
                      op == BinaryOp::min || op == BinaryOp::and_ || op == BinaryOp::or_;
  return shape;
}
constexpr LaneShape updating(LaneShape shape) {
  shape.updates = true;
  return shape;
}

// Each form is there for operands at strides; On<VaBinaryArgs> or On<VaUnaryArgs> (isa/insns/vscatter.h) is the same
// for blocks anywhere.

// dst = op(src0, src1)
template <BinaryOp Op, class Types, class A = VectorBinaryArgs>
struct BinaryForm {
  using Args = A;
  template <class Other>
  using On = BinaryForm<Op, Types, Other>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = FieldsOf<A>::plain;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return binary_footprint(x, accumulating(Types::shape(x.type), Op), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { binary_execute(x, Op, Types::lane(x.type), c); }
};

// dst = op(dst, src0, src1)
template <TernaryOp Op, class Types, class A = VectorBinaryArgs>
struct TernaryForm {
  using Args = A;
  template <class Other>
  using On = TernaryForm<Op, Types, Other>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = FieldsOf<A>::plain;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return binary_footprint(x, updating(Types::shape(x.type)), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { ternary_execute(x, Op, Types::shape(x.type), c); }
};

// dst = op(src)
template <UnaryOp Op, class Types, class A = VectorUnaryArgs>
struct UnaryForm {
  using Args = A;
  template <class Other>
  using On = UnaryForm<Op, Types, Other>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = FieldsOf<A>::plain;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return unary_footprint(x, Types::shape(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { unary_execute(x, Op, Types::lane(x.type), c); }
};

// dst = op(src, scalar)
template <BinaryOp Op, class Types, class A = VectorUnaryArgs>
struct ScalarForm {
  using Args = A;
  template <class Other>
  using On = ScalarForm<Op, Types, Other>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = FieldsOf<A>::scalar;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return scalar_footprint(x, Types::shape(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { scalar_execute(x, Op, Types::lane(x.type), c); }
};

// dst = dst + src * scalar
template <class Types, class A = VectorUnaryArgs>
struct AxpyForm {
  using Args = A;
  template <class Other>
  using On = AxpyForm<Types, Other>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = FieldsOf<A>::axpy;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return scalar_footprint(x, updating(Types::shape(x.type)), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { axpy_execute(x, Types::shape(x.type), c); }
};

using ShiftTypes = VectorTypes<VectorType{LaneType::u16}, VectorType{LaneType::s16}, VectorType{LaneType::u32},
                               VectorType{LaneType::s32}>;
inline constexpr auto kShiftFields = std::tuple_cat(
    kVectorDst, kVectorSrc,
    std::tuple{Field<&VectorUnaryArgs::scalar>{"distance", 8, OperandKind::value, "bits, 0 to the width of the lane"}},
    kVectorRepeat, kVectorUnaryStrides);

// dst = src << distance
struct ShiftLeftForm {
  using Args = VectorUnaryArgs;
  static constexpr auto types = ShiftTypes::types;
  static constexpr auto fields = kShiftFields;
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(ShiftTypes::lane(x.type)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return shift_footprint(x, ShiftTypes::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { scalar_execute(x, BinaryOp::shl, ShiftTypes::lane(x.type), c); }
};

// dst = src >> distance
struct ShiftRightForm : ShiftLeftForm {
  static constexpr auto fields = std::tuple_cat(
      kShiftFields, std::tuple{Field<&Args::option>{"round", 1, OperandKind::value,
                                                    "1: adds half of the last bit kept; s16 and s32 only", true, 0}});
  static void execute(const Args& x, ExecContext& c) {
    scalar_execute(x, x.option != 0 ? BinaryOp::shr_round : BinaryOp::shr, ShiftTypes::lane(x.type), c);
  }
};

// dst = scalar. Bits are copied: no saturation, no STATUS. The public form has source strides, but no source.
template <class Types>
struct DupForm {
  using Args = VectorUnaryArgs;
  static constexpr auto types = Types::types;
  static constexpr auto fields = std::tuple_cat(kVectorDst, kVectorScalar, kVectorRepeat, kVectorUnaryStrides);
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return dup_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { dup_execute(x, Types::lane(x.type), c); }
};

// dst = src, bits are copied
template <class Types, class A = VectorUnaryArgs>
struct CopyForm {
  using Args = A;
  template <class Other>
  using On = CopyForm<Types, Other>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = FieldsOf<A>::plain;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return unary_footprint(x, Types::shape(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { copy_execute(x, Types::lane(x.type), c); }
};

using CopyTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}, VectorType{LaneType::s16},
                              VectorType{LaneType::u16}, VectorType{LaneType::s32}, VectorType{LaneType::u32},
                              VectorType{LaneType::bf16, kSplitArchs}>;

// The same, where the counter mode is that of this instruction: the mask is the number of elements of each repeat,
// which has as many blocks as they fill, and `repeat` has its effect. Source: published documentation of Copy.
struct VcopyForm : CopyForm<CopyTypes> {
  static Work work(const Args& x, const Spr& spr) { return vcopy_work(x, CopyTypes::lane(x.type), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return vcopy_footprint(x, CopyTypes::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { vcopy_execute(x, CopyTypes::lane(x.type), c); }
};

// Each of 8 elements of src fills a block of dst. The elements of all repeats follow each other; neither the vector
// mask nor the counter mode has an effect. Source: published documentation of Brcb.
template <class Types>
struct BrcbForm {
  using Args = VectorUnaryArgs;
  static constexpr auto types = Types::types;
  static constexpr auto fields = std::tuple_cat(
      kVectorDst, kVectorSrc,
      std::tuple{
          Field<&Args::dstBlkStride>{"dstBlkStride", 16, OperandKind::value, "32 B blocks from block to block"},
          Field<&Args::dstRepStride>{"dstRepStride", 16, OperandKind::value, "32 B blocks from repeat to repeat"}},
      kVectorRepeat);
  static Work work(const Args& x, const Spr&) { return {.steps = x.repeat}; }
  static Footprint footprint(const Args& x, const Spr&, Arch) { return brcb_footprint(x, Types::lane(x.type)); }
  static void execute(const Args& x, ExecContext& c) { brcb_execute(x, Types::lane(x.type), c); }
};

using FloatTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}>;
using FloatTypesNotMini = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32, kNotMini}>;
using MixedFloatTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32},
                                    VectorType{LaneType::f32, kAllArchs, LaneType::f16}>;
using ArithTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}, VectorType{LaneType::s32},
                               VectorType{LaneType::s16, kVectorArchs2}>;
using ReluTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32, kVectorArchs2},
                              VectorType{LaneType::s32, kVectorArchs2}>;
using AddReluTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}, VectorType{LaneType::s16}>;
using ScalarTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32},
                                VectorType{LaneType::s16, kVectorArchs2}, VectorType{LaneType::s32, kVectorArchs2}>;
using LogicTypes = VectorTypes<VectorType{LaneType::s16}, VectorType{LaneType::u16}>;
template <Text Name, u16 Opcode, BinaryOp Op, class Types, Text Doc, ArchSet Archs = kAllArchs>
using VectorBinary = VectorInsn<Name, Opcode, "vector.binary"_cost, BinaryForm<Op, Types>, Doc, Archs>;
template <Text Name, u16 Opcode, TernaryOp Op, class Types, Text Doc>
using VectorTernary = VectorInsn<Name, Opcode, "vector.binary"_cost, TernaryForm<Op, Types>, Doc>;
template <Text Name, u16 Opcode, UnaryOp Op, class Types, Text Doc, ArchSet Archs = kAllArchs>
using VectorUnary = VectorInsn<Name, Opcode, "vector.unary"_cost, UnaryForm<Op, Types>, Doc, Archs>;
template <Text Name, u16 Opcode, BinaryOp Op, class Types, Text Doc, ArchSet Archs = kAllArchs>
using VectorScalar = VectorInsn<Name, Opcode, "vector.scalar"_cost, ScalarForm<Op, Types>, Doc, Archs>;

using VectorDup = VectorInsn<"vector_dup", 0x180, "vector.dup"_cost, DupForm<CopyTypes>,
                             "dst = scalar in every lane; bits are copied, no STATUS">;

using Vadd = VectorBinary<"vadd", 0x181, BinaryOp::add, ArithTypes, "dst = src0 + src1">;
using Vsub = VectorBinary<"vsub", 0x182, BinaryOp::sub, ArithTypes, "dst = src0 - src1">;
using Vmul = VectorBinary<"vmul", 0x183, BinaryOp::mul, ArithTypes, "dst = src0 * src1">;
using Vdiv = VectorBinary<"vdiv", 0x184, BinaryOp::div, FloatTypes, "dst = src0 / src1, correctly rounded">;
using Vmax = VectorBinary<"vmax", 0x185, BinaryOp::max, ArithTypes, "dst = max(src0, src1); NaN wins">;
using Vmin = VectorBinary<"vmin", 0x186, BinaryOp::min, ArithTypes, "dst = min(src0, src1); NaN wins">;
using Vand = VectorBinary<"vand", 0x187, BinaryOp::and_, LogicTypes, "dst = src0 & src1">;
using Vor = VectorBinary<"vor", 0x188, BinaryOp::or_, LogicTypes, "dst = src0 | src1">;
using Vaddrelu =
    VectorBinary<"vaddrelu", 0x189, BinaryOp::add_relu, AddReluTypes, "dst = max(src0 + src1, 0)", kVectorArchs2>;
using Vsubrelu =
    VectorBinary<"vsubrelu", 0x18a, BinaryOp::sub_relu, AddReluTypes, "dst = max(src0 - src1, 0)", kVectorArchs2>;
using Vmadd = VectorTernary<"vmadd", 0x18b, TernaryOp::madd, FloatTypes, "dst = dst * src0 + src1">;
using Vmaddrelu =
    VectorTernary<"vmaddrelu", 0x18c, TernaryOp::madd_relu, FloatTypes, "dst = max(dst * src0 + src1, 0)">;
using Vmla = VectorTernary<"vmla", 0x18d, TernaryOp::mla, MixedFloatTypes,
                           "dst = dst + src0 * src1; fmix: f16 sources, f32 destination, 64 lanes">;

using Vrelu = VectorUnary<"vrelu", 0x190, UnaryOp::relu, ReluTypes, "dst = max(src, 0); NaN stays NaN">;
using Vabs = VectorUnary<"vabs", 0x191, UnaryOp::abs, FloatTypes, "dst = |src|">;
using Vexp = VectorUnary<"vexp", 0x192, UnaryOp::exp, FloatTypesNotMini,
                         "dst = e^src; numerics.precision chooses the implementation">;
using Vln = VectorUnary<"vln", 0x193, UnaryOp::ln, FloatTypesNotMini,
                        "dst = natural logarithm of src; numerics.precision chooses the implementation">;
using Vrec = VectorUnary<"vrec", 0x194, UnaryOp::rec, FloatTypes,
                         "dst = 1 / src, approximate; numerics.precision chooses the implementation">;
using Vsqrt =
    VectorUnary<"vsqrt", 0x195, UnaryOp::sqrt, FloatTypes, "dst = square root of src, correctly rounded", kNotMini>;
using Vrsqrt = VectorUnary<"vrsqrt", 0x196, UnaryOp::rsqrt, FloatTypes,
                           "dst = 1 / square root of src, approximate; numerics.precision chooses the implementation">;
using Vnot = VectorUnary<"vnot", 0x197, UnaryOp::not_, LogicTypes, "dst = ~src">;
using Vcopy =
    VectorInsn<"vcopy", 0x198, "vector.unary"_cost, VcopyForm, "dst = src; bits are copied, no STATUS", kSplitArchs>;
using Vbrcb = VectorInsn<"vbrcb", 0x199, "vector.dup"_cost, BrcbForm<CopyTypes>,
                         "each of 8 elements of src fills a block of dst; without mask", kSplitArchs>;

using Vadds = VectorScalar<"vadds", 0x1a0, BinaryOp::add, ScalarTypes, "dst = src + scalar">;
using Vmuls = VectorScalar<"vmuls", 0x1a1, BinaryOp::mul, ScalarTypes, "dst = src * scalar">;
using Vmaxs =
    VectorScalar<"vmaxs", 0x1a2, BinaryOp::max, ScalarTypes, "dst = max(src, scalar); NaN wins", kVectorArchs2>;
using Vmins =
    VectorScalar<"vmins", 0x1a3, BinaryOp::min, ScalarTypes, "dst = min(src, scalar); NaN wins", kVectorArchs2>;
using Vlrelu =
    VectorScalar<"vlrelu", 0x1a4, BinaryOp::lrelu, FloatTypes, "dst = src < 0 ? src * scalar : src", kVectorArchs2>;
using Vaxpy = VectorInsn<"vaxpy", 0x1a5, "vector.scalar"_cost, AxpyForm<MixedFloatTypes>,
                         "dst = dst + src * scalar; fmix: src and scalar f16, destination f32, 64 lanes">;
using Vshl = VectorInsn<"vshl", 0x1a6, "vector.scalar"_cost, ShiftLeftForm,
                        "dst = src << distance; bits that leave are lost, no STATUS", kSplitArchs>;
using Vshr = VectorInsn<"vshr", 0x1a7, "vector.scalar"_cost, ShiftRightForm,
                        "dst = src >> distance, arithmetic for s16 and s32, logical for u16 and u32", kSplitArchs>;

using VectorArithInsns = InsnList<VectorDup, Vadd, Vsub, Vmul, Vdiv, Vmax, Vmin, Vand, Vor, Vaddrelu, Vsubrelu, Vmadd,
                                  Vmaddrelu, Vmla, Vrelu, Vabs, Vexp, Vln, Vrec, Vsqrt, Vrsqrt, Vnot, Vcopy, Vbrcb,
                                  Vadds, Vmuls, Vmaxs, Vmins, Vlrelu, Vaxpy, Vshl, Vshr>;

}  // namespace vinci::isa::insn
