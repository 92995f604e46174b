// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"
#include "isa/insns/scalar.h"
#include "isa/numeric/lanes.h"
#include "isa/table/insn.h"

// The vector unit: what its instructions share. One repeat is 8 blocks of 32 bytes (128 lanes of 16 bits or 64 of 32
// bits); strides count blocks:
//   address(repeat r, lane i) = base + r * RepStride * 32 + (i / L) * BlkStride * 32 + (i % L) * bytes, L = 32 / bytes
// Only lanes with their bit in the vector mask are computed and written; in counter mode (CTRL[56], not on the first
// generation) the mask is the number of elements of the whole instruction, and `repeat` has no effect. Repeats execute
// in order, and within one all sources are read before anything is written. Where the widths differ, the widest type
// gives the number of lanes and a narrow operand has fewer full blocks, so that with f32 and f16 the usual repeat
// stride of the f16 operand is 4. Source: mindspore-ai/akg csim (Apache-2.0), published documentation of the CCE
// intrinsics.
namespace vinci::isa::insn {

struct VectorBinaryArgs {
  u32 dst, src0, src1;
  u8 repeat, dstBlkStride, src0BlkStride, src1BlkStride, dstRepStride, src0RepStride, src1RepStride, type;
  u8 option = 0;  // mode of vsel, h of the forms that write half blocks
};

// Also of the instructions with a scalar, and of vector_dup, which has no src.
struct VectorUnaryArgs {
  u64 scalar;
  u32 dst, src;
  u16 dstBlkStride, srcBlkStride;
  u8 repeat;
  u16 dstRepStride, srcRepStride;
  u8 type;
  u8 option = 0;  // round of vshr
};

// Lanes of one repeat of operands whose widest type is this one.
constexpr u32 lanes_per_repeat(LaneType widest) { return kRepeatBytes * 8 / lane_bits(widest); }
// Blocks that so many lanes of a type fill.
constexpr u32 blocks_of(u32 lanes, LaneType type) { return ceil_div(lanes * lane_bits(type), kBlockBytes * 8); }
constexpr LaneType wider(LaneType a, LaneType b) { return lane_bits(a) >= lane_bits(b) ? a : b; }

// The types of the operands of an instruction; all sources have one type.
struct LaneShape {
  LaneType dst, src;
  bool updates = false;      // dst is read, too
  bool accumulates = false;  // src1 may be dst with repeat stride 0, to add up over the repeats

  constexpr u32 lanes() const { return lanes_per_repeat(wider(dst, src)); }
};

// Repeats that an instruction takes, with so many lanes in each.
Work vector_work(u32 repeat, u32 lanes, const Spr& spr);  // isa/sem/vector_lanes.cpp

// isa/sem/vector_arith.cpp
Footprint binary_footprint(const VectorBinaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch);
Footprint unary_footprint(const VectorUnaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch);

inline constexpr ArchSet kVectorArchs2 = archs(Arch::m200, Arch::c220);  // second generation of the vector unit
inline constexpr ArchSet kNotMini = archs(Arch::c100, Arch::m200, Arch::c220);

// The types of a family, each with the architectures that have it; the suffix of the mnemonic is the name of the type,
// or `fmix` where sources of f16 meet a destination of f32. Source: CANN runtime platform_config, mindspore-ai/akg
// cceconf; where a table does not list the 310 (m100), it is taken to be as the 910.
struct VectorType {
  LaneType lane;
  ArchSet archs = kAllArchs;
  LaneType src = lane;
};
template <VectorType... T>
struct VectorTypes {
  static constexpr std::array types{
      TypeForm{T.src == T.lane ? isa::name(T.lane) : std::string_view{"fmix"}, T.archs}...};
  static constexpr LaneShape shape(u8 type) {
    constexpr std::array kShapes{LaneShape{T.lane, T.src}...};
    return kShapes[type];
  }
  static constexpr LaneType lane(u8 type) { return shape(type).dst; }
};

// An instruction of the vector unit: its name, and a form that says what its operands are and what it does.
template <Text Name, u16 Opcode, CostClass Cost, class Form, Text Doc, ArchSet Archs = kAllArchs>
struct VectorInsn : Form {
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = Cost;
  static PipeId pipe(const typename Form::Args&, Arch) { return PipeId::V; }
};

// Operands, in the order of the public intrinsics.
inline constexpr std::tuple kVectorBinaryAddresses{address_in<&VectorBinaryArgs::dst>(BufId::UB, "dst"),
                                                   address_in<&VectorBinaryArgs::src0>(BufId::UB, "src0"),
                                                   address_in<&VectorBinaryArgs::src1>(BufId::UB, "src1")};
inline constexpr std::tuple kVectorBinaryStrides{
    Field<&VectorBinaryArgs::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"},
    Field<&VectorBinaryArgs::dstBlkStride>{"dstBlkStride", 8, OperandKind::value,
                                           "32 B blocks from block to block; c100: 0 is 1"},
    Field<&VectorBinaryArgs::src0BlkStride>{"src0BlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
    Field<&VectorBinaryArgs::src1BlkStride>{"src1BlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
    Field<&VectorBinaryArgs::dstRepStride>{"dstRepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"},
    Field<&VectorBinaryArgs::src0RepStride>{"src0RepStride", 8, OperandKind::value,
                                            "32 B blocks from repeat to repeat"},
    Field<&VectorBinaryArgs::src1RepStride>{"src1RepStride", 8, OperandKind::value,
                                            "32 B blocks from repeat to repeat"}};
inline constexpr auto kVectorBinaryFields = std::tuple_cat(kVectorBinaryAddresses, kVectorBinaryStrides);
inline constexpr std::tuple kVectorDst{address_in<&VectorUnaryArgs::dst>(BufId::UB, "dst")};
inline constexpr std::tuple kVectorSrc{address_in<&VectorUnaryArgs::src>(BufId::UB, "src")};
inline constexpr std::tuple kVectorRepeat{
    Field<&VectorUnaryArgs::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"}};
inline constexpr std::tuple kVectorScalar{lane_value<&VectorUnaryArgs::scalar>("scalar")};
inline constexpr std::tuple kVectorUnaryStrides{
    Field<&VectorUnaryArgs::dstBlkStride>{"dstBlkStride", 16, OperandKind::value,
                                          "32 B blocks from block to block; c100: 0 is 1"},
    Field<&VectorUnaryArgs::srcBlkStride>{"srcBlkStride", 16, OperandKind::value, "32 B blocks from block to block"},
    Field<&VectorUnaryArgs::dstRepStride>{"dstRepStride", 12, OperandKind::value,
                                          "32 B blocks from repeat to repeat; up to 255 except on c220"},
    Field<&VectorUnaryArgs::srcRepStride>{"srcRepStride", 12, OperandKind::value,
                                          "32 B blocks from repeat to repeat; up to 255 except on c220"}};
inline constexpr auto kVectorUnaryFields = std::tuple_cat(kVectorDst, kVectorSrc, kVectorRepeat, kVectorUnaryStrides);
inline constexpr auto kVectorScalarFields =
    std::tuple_cat(kVectorDst, kVectorSrc, kVectorScalar, kVectorRepeat, kVectorUnaryStrides);

// How the operands of a form are written down, for each way to say where they are. isa/insns/vscatter.h has another.
template <class Args>
struct FieldsOf;
template <>
struct FieldsOf<VectorBinaryArgs> {
  static constexpr auto plain = kVectorBinaryFields;
  static constexpr auto fused = kVectorBinaryFields;  // an operation and a cast
};
template <>
struct FieldsOf<VectorUnaryArgs> {
  static constexpr auto plain = kVectorUnaryFields;
  static constexpr auto cast = kVectorUnaryFields;
  static constexpr auto scalar = kVectorScalarFields;
  static constexpr auto axpy = kVectorScalarFields;
};

}  // namespace vinci::isa::insn
