// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insn.h"
#include "isa/insns/move.h"
#include "isa/insns/scalar.h"
#include "isa/numeric/lanes.h"

// The vector unit. One repeat is 8 blocks of 32 bytes (128 lanes of 16 bits or 64 of 32 bits); strides count blocks:
//   address(repeat r, lane i) = base + r * RepStride * 32 + (i / L) * BlkStride * 32 + (i % L) * bytes, L = 32 / bytes
// Only lanes with their bit in the vector mask are computed and written; in counter mode (CTRL[56], not on the first
// generation) the mask is the number of elements of the whole instruction, and `repeat` has no effect. Repeats execute
// in order, and within one all sources are read before anything is written. Where the widths differ, the wider type
// gives the number of lanes (64) and the narrow operand has 4 full blocks, so that its usual repeat stride is 4.
// Source: mindspore-ai/akg csim (Apache-2.0), CANN documentation of the vector intrinsics and of Cast.
namespace vinci::isa::insn {

// Lanes of one repeat of operands whose widest type is this one.
constexpr u32 lanes_per_repeat(LaneType widest) { return kRepeatBytes * 8 / lane_bits(widest); }
// Blocks that so many lanes of a type fill.
constexpr u32 blocks_of(u32 lanes, LaneType type) { return ceil_div(lanes * lane_bits(type), kBlockBytes * 8); }
constexpr LaneType wider(LaneType a, LaneType b) { return lane_bits(a) >= lane_bits(b) ? a : b; }

struct VectorBinaryArgs {
  u32 dst, src0, src1;
  u8 repeat, dstBlkStride, src0BlkStride, src1BlkStride, dstRepStride, src0RepStride, src1RepStride, type;
};

// Also of the instructions with a scalar, and of vector_dup, which has no src.
struct VectorUnaryArgs {
  u64 scalar;
  u32 dst, src;
  u16 dstBlkStride, srcBlkStride;
  u8 repeat, dstRepStride, srcRepStride, type;
};

Footprint binary_footprint(const VectorBinaryArgs& x, LaneType type, const Spr& spr, Arch arch,
                           bool accumulates);  // isa/sem/vector.cpp
Footprint unary_footprint(const VectorUnaryArgs& x, LaneType dst, LaneType src, const Spr& spr, Arch arch);
Footprint scalar_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch);
Footprint dup_footprint(const VectorUnaryArgs& x, LaneType type, const Spr& spr, Arch arch);
void binary_execute(const VectorBinaryArgs& x, BinaryOp op, LaneType type, ExecContext& c);
void unary_execute(const VectorUnaryArgs& x, UnaryOp op, LaneType type, ExecContext& c);
void scalar_execute(const VectorUnaryArgs& x, BinaryOp op, LaneType type, ExecContext& c);  // dst = op(src, scalar)
void dup_execute(const VectorUnaryArgs& x, LaneType type, ExecContext& c);
void widen_execute(const VectorUnaryArgs& x, ExecContext& c);
void narrow_execute(const VectorUnaryArgs& x, RoundMode round, ExecContext& c);

// The lane types of a family, each with the architectures that have it; the suffix of the mnemonic is its name.
struct VectorType {
  LaneType lane;
  ArchSet archs = kAllArchs;
};
template <VectorType... T>
struct VectorTypes {
  static constexpr std::array types{TypeForm{isa::name(T.lane), T.archs}...};
  static constexpr LaneType lane(u8 type) {
    constexpr std::array kLanes{T.lane...};
    return kLanes[type];
  }
};

inline constexpr ArchSet kVectorArchs2 = archs(Arch::m200, Arch::c220);  // second generation of the vector unit
inline constexpr ArchSet kF32ExpArchs = archs(Arch::c100, Arch::m200, Arch::c220);
using VectorFloatTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}>;
using VectorArithTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}, VectorType{LaneType::s32},
                                     VectorType{LaneType::s16, kVectorArchs2}>;
using VectorScalarTypes =
    VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}, VectorType{LaneType::s16, kVectorArchs2},
                VectorType{LaneType::s32, kVectorArchs2}>;
using VectorReluTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32, kVectorArchs2},
                                    VectorType{LaneType::s32, kVectorArchs2}>;
using VectorExpTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32, kF32ExpArchs}>;
using VectorDupTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}, VectorType{LaneType::s16},
                                   VectorType{LaneType::u16}, VectorType{LaneType::s32}, VectorType{LaneType::u32}>;

// Repeats that an instruction takes, with so many lanes in each.
Work vector_work(u32 repeat, u32 lanes, const Spr& spr);  // isa/sem/vector.cpp

template <Text Name, u16 Opcode, CostClass Cost, ArchSet Archs, Text Doc>
struct VectorBase {
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = Cost;
  template <class Args>
  static PipeId pipe(const Args&, Arch) {
    return PipeId::V;
  }
};

// Operands that several families share, in the order of the public intrinsics.
template <class Args>
inline constexpr std::tuple kVectorDst{Field<&Args::dst>{"dst", kLocalBits, OperandKind::value, "byte address in UB"}};
template <class Args>
inline constexpr std::tuple kVectorRepeat{
    Field<&Args::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"}};
inline constexpr std::tuple kVectorSrc{
    Field<&VectorUnaryArgs::src>{"src", kLocalBits, OperandKind::value, "byte address in UB"}};
inline constexpr std::tuple kVectorScalar{Field<&VectorUnaryArgs::scalar>{
    "scalar", 64, OperandKind::value, "raw bits of the lane type; integers may be sign-extended"}};
inline constexpr std::tuple kVectorUnaryStrides{
    Field<&VectorUnaryArgs::dstBlkStride>{"dstBlkStride", 16, OperandKind::value,
                                          "32 B blocks from block to block; c100: 0 is 1"},
    Field<&VectorUnaryArgs::srcBlkStride>{"srcBlkStride", 16, OperandKind::value, "32 B blocks from block to block"},
    Field<&VectorUnaryArgs::dstRepStride>{"dstRepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"},
    Field<&VectorUnaryArgs::srcRepStride>{"srcRepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"}};

// Whether src1 may be dst with repeat stride 0, to add up over the repeats. Source: mindspore-ai/akg
// insn_binary_vec_pattern, CANN documentation of overlapping addresses.
constexpr bool accumulates(BinaryOp op) {
  return op == BinaryOp::add || op == BinaryOp::sub || op == BinaryOp::mul || op == BinaryOp::max ||
         op == BinaryOp::min;
}

// dst = op(src0, src1)
template <Text Name, u16 Opcode, BinaryOp Op, class Types, Text Doc>
struct VectorBinary : VectorBase<Name, Opcode, CostClass::vector_binary, kAllArchs, Doc> {
  using Args = VectorBinaryArgs;
  static constexpr auto types = Types::types;
  static constexpr std::tuple fields{
      Field<&Args::dst>{"dst", kLocalBits, OperandKind::value, "byte address in UB"},
      Field<&Args::src0>{"src0", kLocalBits, OperandKind::value, "byte address in UB"},
      Field<&Args::src1>{"src1", kLocalBits, OperandKind::value, "byte address in UB"},
      Field<&Args::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"},
      Field<&Args::dstBlkStride>{"dstBlkStride", 8, OperandKind::value,
                                 "32 B blocks from block to block; c100: 0 is 1"},
      Field<&Args::src0BlkStride>{"src0BlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
      Field<&Args::src1BlkStride>{"src1BlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
      Field<&Args::dstRepStride>{"dstRepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"},
      Field<&Args::src0RepStride>{"src0RepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"},
      Field<&Args::src1RepStride>{"src1RepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"}};
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(Types::lane(x.type)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return binary_footprint(x, Types::lane(x.type), spr, arch, accumulates(Op));
  }
  static void execute(const Args& x, ExecContext& c) { binary_execute(x, Op, Types::lane(x.type), c); }
};

// dst = op(src)
template <Text Name, u16 Opcode, CostClass Cost, ArchSet Archs, Text Doc>
struct VectorUnaryBase : VectorBase<Name, Opcode, Cost, Archs, Doc> {
  using Args = VectorUnaryArgs;
  static constexpr auto fields = std::tuple_cat(kVectorDst<Args>, kVectorSrc, kVectorRepeat<Args>, kVectorUnaryStrides);
};

template <Text Name, u16 Opcode, UnaryOp Op, class Types, Text Doc>
struct VectorUnary : VectorUnaryBase<Name, Opcode, CostClass::vector_unary, kAllArchs, Doc> {
  using Args = VectorUnaryArgs;
  static constexpr auto types = Types::types;
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(Types::lane(x.type)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return unary_footprint(x, Types::lane(x.type), Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { unary_execute(x, Op, Types::lane(x.type), c); }
};

// dst = convert(src); the types are part of the mnemonic.
template <Text Name, u16 Opcode, LaneType From, LaneType To, RoundMode Round, ArchSet Archs, Text Doc>
struct VectorConvert : VectorUnaryBase<Name, Opcode, CostClass::vector_convert, Archs, Doc> {
  using Args = VectorUnaryArgs;
  static_assert((From == LaneType::f16 && To == LaneType::f32) || (From == LaneType::f32 && To == LaneType::f16));
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(wider(From, To)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return unary_footprint(x, To, From, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) {
    if constexpr (To == LaneType::f32) {
      widen_execute(x, c);
    } else {
      narrow_execute(x, Round, c);
    }
  }
};

// dst = op(src, scalar)
template <Text Name, u16 Opcode, BinaryOp Op, class Types, ArchSet Archs, Text Doc>
struct VectorScalar : VectorBase<Name, Opcode, CostClass::vector_scalar, Archs, Doc> {
  using Args = VectorUnaryArgs;
  static constexpr auto types = Types::types;
  static constexpr auto fields =
      std::tuple_cat(kVectorDst<Args>, kVectorSrc, kVectorScalar, kVectorRepeat<Args>, kVectorUnaryStrides);
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(Types::lane(x.type)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return scalar_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { scalar_execute(x, Op, Types::lane(x.type), c); }
};

// dst = scalar. Bits are copied: no saturation, no STATUS. The public form has source strides, but no source.
struct VectorDup : VectorBase<"vector_dup", 0x180, CostClass::vector_dup, kAllArchs, "dst = scalar in every lane"> {
  using Args = VectorUnaryArgs;
  static constexpr auto types = VectorDupTypes::types;
  static constexpr auto fields =
      std::tuple_cat(kVectorDst<Args>, kVectorScalar, kVectorRepeat<Args>, kVectorUnaryStrides);
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(VectorDupTypes::lane(x.type)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return dup_footprint(x, VectorDupTypes::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { dup_execute(x, VectorDupTypes::lane(x.type), c); }
};

using Vadd = VectorBinary<"vadd", 0x181, BinaryOp::add, VectorArithTypes, "dst = src0 + src1">;
using Vsub = VectorBinary<"vsub", 0x182, BinaryOp::sub, VectorArithTypes, "dst = src0 - src1">;
using Vmul = VectorBinary<"vmul", 0x183, BinaryOp::mul, VectorArithTypes, "dst = src0 * src1">;
using Vdiv = VectorBinary<"vdiv", 0x184, BinaryOp::div, VectorFloatTypes, "dst = src0 / src1, correctly rounded">;
using Vmax = VectorBinary<"vmax", 0x185, BinaryOp::max, VectorArithTypes, "dst = max(src0, src1); NaN wins">;
using Vmin = VectorBinary<"vmin", 0x186, BinaryOp::min, VectorArithTypes, "dst = min(src0, src1); NaN wins">;

using Vrelu = VectorUnary<"vrelu", 0x190, UnaryOp::relu, VectorReluTypes, "dst = max(src, 0); NaN stays NaN">;
using Vabs = VectorUnary<"vabs", 0x191, UnaryOp::abs, VectorFloatTypes, "dst = |src|">;
using Vexp = VectorUnary<"vexp", 0x192, UnaryOp::exp, VectorExpTypes, "dst = e^src, correctly rounded">;

using Vadds = VectorScalar<"vadds", 0x1a0, BinaryOp::add, VectorScalarTypes, kAllArchs, "dst = src + scalar">;
using Vmuls = VectorScalar<"vmuls", 0x1a1, BinaryOp::mul, VectorScalarTypes, kAllArchs, "dst = src * scalar">;
using Vmaxs =
    VectorScalar<"vmaxs", 0x1a2, BinaryOp::max, VectorScalarTypes, kVectorArchs2, "dst = max(src, scalar); NaN wins">;
using Vmins =
    VectorScalar<"vmins", 0x1a3, BinaryOp::min, VectorScalarTypes, kVectorArchs2, "dst = min(src, scalar); NaN wins">;

template <Text Name, u16 Opcode, RoundMode Round, ArchSet Archs, Text Doc>
using NarrowF32 = VectorConvert<Name, Opcode, LaneType::f32, LaneType::f16, Round, Archs, Doc>;
using VconvF162F32 = VectorConvert<"vconv_f162f32", 0x1b0, LaneType::f16, LaneType::f32, RoundMode::rint, kAllArchs,
                                   "dst = src, f16 to f32, exact">;
using VconvF322F16 =
    NarrowF32<"vconv_f322f16", 0x1b1, RoundMode::rint, kAllArchs, "dst = src, f32 to f16, to nearest, ties to even">;
using VconvF322F16R = NarrowF32<"vconv_f322f16r", 0x1b2, RoundMode::rint, kSplitArchs,
                                "dst = src, f32 to f16, CAST_RINT: to nearest, ties to even">;
using VconvF322F16A = NarrowF32<"vconv_f322f16a", 0x1b3, RoundMode::round, kSplitArchs,
                                "dst = src, f32 to f16, CAST_ROUND: to nearest, ties away from zero">;
using VconvF322F16F = NarrowF32<"vconv_f322f16f", 0x1b4, RoundMode::floor, kSplitArchs,
                                "dst = src, f32 to f16, CAST_FLOOR: toward -infinity">;
using VconvF322F16C = NarrowF32<"vconv_f322f16c", 0x1b5, RoundMode::ceil, kSplitArchs,
                                "dst = src, f32 to f16, CAST_CEIL: toward +infinity">;
using VconvF322F16Z =
    NarrowF32<"vconv_f322f16z", 0x1b6, RoundMode::trunc, kSplitArchs, "dst = src, f32 to f16, CAST_TRUNC: toward zero">;
using VconvF322F16O = NarrowF32<"vconv_f322f16o", 0x1b7, RoundMode::odd, kAllArchs,
                                "dst = src, f32 to f16, CAST_ODD: inexact results get an odd last bit">;

using VectorInsns =
    InsnList<VectorDup, Vadd, Vsub, Vmul, Vdiv, Vmax, Vmin, Vrelu, Vabs, Vexp, Vadds, Vmuls, Vmaxs, Vmins, VconvF162F32,
             VconvF322F16, VconvF322F16R, VconvF322F16A, VconvF322F16F, VconvF322F16C, VconvF322F16Z, VconvF322F16O>;

}  // namespace vinci::isa::insn
