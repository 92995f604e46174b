// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/vector_arith.h"
#include "isa/insns/vector_compare.h"
#include "isa/insns/vector_convert.h"
#include "isa/insns/vlayout.h"

// scatter_*: the operations of the vector unit with the 8 blocks of a repeat anywhere in UB, at the addresses of a VA
// register (set_va_reg_sb):
//   address(repeat r, block b) = VA[b] + r * stride * 32
// Where two widths meet, block b of the one belongs to block b of the other, and the lanes of the narrower type fill
// half of each of its blocks; the plain forms pack them. Types, masks, results and STATUS are those of the plain form.
// scatter_vsel is public with other ways to take its bits, but not where they come from then: CMPMASK alone is
// supported. Sources: mindspore-ai/akg (Apache-2.0), the TIK library of CANN (half blocks, store_high_half, lists of
// blocks), CANN runtime platform_config.
namespace vinci::isa::insn {

struct VaBinaryArgs {
  u16 dstStride = 0, src0Stride = 0, src1Stride = 0;
  u8 dst = 0, src0 = 0, src1 = 0, repeat = 0, type = 0;
  u8 option = 0;  // storeHighHalf; mode of scatter_vsel
};
struct VaUnaryArgs {
  u64 scalar = 0;
  u16 dstStride = 0, srcStride = 0;
  u8 dst = 0, src = 0, repeat = 0, type = 0;
  u8 option = 0;  // storeHighHalf
};

namespace detail {
inline constexpr std::string_view kVaDoc = "VA register with the addresses of 8 blocks of 32 B in UB";
template <auto Member>
constexpr Field<Member> va_field(std::string_view name) {
  return {name, kVaBits, OperandKind::value, kVaDoc};
}
template <auto Member>
constexpr Field<Member> va_stride_field(std::string_view name) {
  return {name, 16, OperandKind::value, "32 B blocks from repeat to repeat"};
}
template <class Args>
inline constexpr std::tuple kHighHalf{
    Field<&Args::option>{"storeHighHalf", 1, OperandKind::value,
                         "half of each block that the lanes of the narrower type fill: 0 low, 1 high; no effect where "
                         "the widths are the same",
                         true, 0}};
template <class Args>
inline constexpr std::tuple kVaRepeat{
    Field<&Args::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"}};
inline constexpr std::tuple kVaDstSrc{va_field<&VaUnaryArgs::dst>("dst"), va_field<&VaUnaryArgs::src>("src")};
inline constexpr std::tuple kVaScalar{lane_value<&VaUnaryArgs::scalar>("scalar")};
inline constexpr auto kVaUnaryRepeats =
    std::tuple_cat(kVaRepeat<VaUnaryArgs>, std::tuple{va_stride_field<&VaUnaryArgs::dstStride>("dstStride"),
                                                      va_stride_field<&VaUnaryArgs::srcStride>("srcStride")});
inline constexpr std::tuple kVaSources{va_field<&VaBinaryArgs::src0>("src0"), va_field<&VaBinaryArgs::src1>("src1")};
inline constexpr std::tuple kVaSourceStrides{va_stride_field<&VaBinaryArgs::src0Stride>("src0Stride"),
                                             va_stride_field<&VaBinaryArgs::src1Stride>("src1Stride")};
}  // namespace detail

template <>
struct FieldsOf<VaUnaryArgs> {
  static constexpr auto plain = std::tuple_cat(detail::kVaDstSrc, detail::kVaUnaryRepeats);
  static constexpr auto cast = std::tuple_cat(plain, detail::kHighHalf<VaUnaryArgs>);
  static constexpr auto scalar = std::tuple_cat(detail::kVaDstSrc, detail::kVaScalar, detail::kVaUnaryRepeats);
  static constexpr auto axpy = std::tuple_cat(scalar, detail::kHighHalf<VaUnaryArgs>);
};
template <>
struct FieldsOf<VaBinaryArgs> {
  static constexpr auto plain = std::tuple_cat(
      std::tuple{detail::va_field<&VaBinaryArgs::dst>("dst")}, detail::kVaSources, detail::kVaRepeat<VaBinaryArgs>,
      std::tuple{detail::va_stride_field<&VaBinaryArgs::dstStride>("dstStride")}, detail::kVaSourceStrides);
  static constexpr auto fused = std::tuple_cat(plain, detail::kHighHalf<VaBinaryArgs>);
};
template <>
struct CompareFields<VaBinaryArgs> {
  static constexpr auto to_register =
      std::tuple_cat(detail::kVaSources, detail::kVaRepeat<VaBinaryArgs>, detail::kVaSourceStrides);
  static constexpr auto select = std::tuple_cat(
      FieldsOf<VaBinaryArgs>::plain,
      std::tuple{Field<&VaBinaryArgs::option>{
          "mode", 2, OperandKind::value, "0: bits of CMPMASK for every repeat; others are not supported", true, 0}});
};

// isa/sem/vscatter.cpp: the functions that the forms call, for blocks anywhere.
Footprint unary_footprint(const VaUnaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch);
Footprint scalar_footprint(const VaUnaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch);
Footprint binary_footprint(const VaBinaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch);
Footprint fused_footprint(const VaBinaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch);
Footprint compare_to_register_footprint(const VaBinaryArgs& x, LaneType type, const Spr& spr, Arch arch);
Footprint select_footprint(const VaBinaryArgs& x, LaneType type, const Spr& spr, Arch arch);
void unary_execute(const VaUnaryArgs& x, UnaryOp op, LaneType type, ExecContext& c);
void copy_execute(const VaUnaryArgs& x, LaneType type, ExecContext& c);
void scalar_execute(const VaUnaryArgs& x, BinaryOp op, LaneType type, ExecContext& c);
void axpy_execute(const VaUnaryArgs& x, const LaneShape& shape, ExecContext& c);
void convert_execute(const VaUnaryArgs& x, LaneType from, LaneType to, RoundMode round, ExecContext& c);
void deq_execute(const VaUnaryArgs& x, ExecContext& c);
void binary_execute(const VaBinaryArgs& x, BinaryOp op, LaneType type, ExecContext& c);
void ternary_execute(const VaBinaryArgs& x, TernaryOp op, const LaneShape& shape, ExecContext& c);
void fused_execute(const VaBinaryArgs& x, BinaryOp op, const LaneShape& shape, ExecContext& c);
void compare_to_register_execute(const VaBinaryArgs& x, CompareOp op, LaneType type, ExecContext& c);
void select_execute(const VaBinaryArgs& x, LaneType type, ExecContext& c);

namespace detail {
template <class Args>
using VaArgs = std::conditional_t<std::is_same_v<Args, VectorBinaryArgs>, VaBinaryArgs, VaUnaryArgs>;

constexpr Words joined(std::string_view a, std::string_view b) {
  Words w;
  w += a;
  w += b;
  return w;
}
template <class Plain>
inline constexpr Words kScatterName = joined("scatter_", Plain::name);
template <class Plain>
inline constexpr Words kScatterDoc =
    joined(Plain::doc, "; blocks, of a narrower type halves of them, at the addresses of VA registers");
}  // namespace detail

// An instruction with its blocks anywhere, made of the plain one.
template <class Plain, u16 Opcode, ArchSet Archs = kJointArchs>
struct Scatter : Plain::template On<detail::VaArgs<typename Plain::Args>> {
  static constexpr std::string_view name = detail::kScatterName<Plain>.view();
  static constexpr std::string_view doc = detail::kScatterDoc<Plain>.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Plain::archs & Archs;
  static constexpr CostClass cost = Plain::cost;
  static PipeId pipe(const detail::VaArgs<typename Plain::Args>&, Arch) { return PipeId::V; }
};

// The copy has no plain form on these architectures; this one only names it.
using MovTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::s16}, VectorType{LaneType::u16}>;
using VectorMov =
    VectorInsn<"vector_mov", 0, "vector.unary"_cost, CopyForm<MovTypes>, "dst = src; bits are copied, no STATUS">;

// The casts that every architecture has.
inline constexpr u16 kFirstScatterCast = 0x400;
template <class Casts, u16 Opcode>
struct ScatterCast {
  using Insns = InsnList<>;
};
template <class Plain, u16 Opcode>
requires(Plain::archs == kAllArchs) struct ScatterCast<InsnList<Plain>, Opcode> {
  using Insns = InsnList<Scatter<Plain, Opcode>>;
};
template <usize Index>
using ScatterCastAt = ScatterCast<typename CastAt<Index>::Insns, kFirstScatterCast + Index>;

using ScatterInsns =
    JoinInsns<InsnList<Scatter<VectorMov, 0x340>, Scatter<Vabs, 0x341>, Scatter<Vexp, 0x342>, Scatter<Vrelu, 0x343>,
                       Scatter<Vrec, 0x344>, Scatter<Vln, 0x345>, Scatter<Vrsqrt, 0x346>, Scatter<Vsqrt, 0x347>,
                       Scatter<Vadds, 0x350>, Scatter<Vmuls, 0x351>, Scatter<Vmaxs, 0x352>, Scatter<Vmins, 0x353>,
                       Scatter<Vaxpy, 0x354>, Scatter<Vadd, 0x360>, Scatter<Vsub, 0x361>, Scatter<Vmul, 0x362>,
                       Scatter<Vmax, 0x363>, Scatter<Vmin, 0x364>, Scatter<Vdiv, 0x365>, Scatter<Vmadd, 0x366>,
                       Scatter<Vmaddrelu, 0x367>, Scatter<Vmla, 0x368>, Scatter<VmulconvF162s8, 0x369>,
                       Scatter<VmulconvF162u8, 0x36a>, Scatter<VcmpEq, 0x370>, Scatter<VcmpNe, 0x371>,
                       Scatter<VcmpLt, 0x372>, Scatter<VcmpLe, 0x373>, Scatter<VcmpGt, 0x374>, Scatter<VcmpGe, 0x375>,
                       Scatter<Vsel, 0x376>, Scatter<VconvDeq, 0x377, archs(Arch::m100, Arch::c100)>>,
              AllCasts<ScatterCastAt>::Insns>;

}  // namespace vinci::isa::insn
