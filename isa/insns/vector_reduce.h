// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/vector.h"

// Reductions of a repeat, of a block, of pairs. Sums are trees of adjacent lanes, each node rounded and saturated as an
// addition; a lane that does not take part leaves its partner as it is. Source: published documentation of the CCE
// intrinsics vcadd, vcmax, vcgadd, vcpadd and of WholeReduceSum, BlockReduceSum, PairReduceSum.
namespace vinci::isa::insn {

struct VectorReduceArgs {
  u32 dst, src;
  u16 dstRepStride, srcBlkStride, srcRepStride;
  u8 repeat, type;
  u8 option = 0;  // mode of vcadd, order of vcmax and vcmin
};

enum class ReduceOp : u8 { add, max, min };
// What vcmax and vcmin write. Source: Order_t of the CCE intrinsics.
enum class ReduceOrder : u8 { value_index, index_value, only_value, only_index };

// isa/sem/vector_reduce.cpp
Footprint sum_footprint(const VectorReduceArgs& x, LaneType type, const Spr& spr, Arch arch);
void sum_execute(const VectorReduceArgs& x, LaneType type, ExecContext& c);
Footprint extremum_footprint(const VectorReduceArgs& x, LaneType type, const Spr& spr, Arch arch);
void extremum_execute(const VectorReduceArgs& x, ReduceOp op, LaneType type, ExecContext& c);
// Groups of `group` lanes; a group without an active lane is not written.
Footprint groups_footprint(const VectorReduceArgs& x, u32 group, LaneType type, const Spr& spr, Arch arch);
void groups_execute(const VectorReduceArgs& x, ReduceOp op, u32 group, LaneType type, ExecContext& c);

template <Text DstUnit>
inline constexpr std::tuple kReduceFields{
    address_in<&VectorReduceArgs::dst>(BufId::UB, "dst"),
    address_in<&VectorReduceArgs::src>(BufId::UB, "src"),
    Field<&VectorReduceArgs::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"},
    Field<&VectorReduceArgs::dstRepStride>{"dstRepStride", 16, OperandKind::value, DstUnit.view()},
    Field<&VectorReduceArgs::srcBlkStride>{"srcBlkStride", 16, OperandKind::value, "32 B blocks from block to block"},
    Field<&VectorReduceArgs::srcRepStride>{"srcRepStride", 16, OperandKind::value,
                                           "32 B blocks from repeat to repeat"}};

template <class Types>
struct ReduceForm {
  using Args = VectorReduceArgs;
  static constexpr auto types = Types::types;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, Types::shape(x.type).lanes(), spr); }
};

template <class Types>
struct SumForm : ReduceForm<Types> {
  using Args = VectorReduceArgs;
  static constexpr auto fields =
      std::tuple_cat(kReduceFields<"results from repeat to repeat">,
                     std::tuple{Field<&Args::option>{
                         "mode", 1, OperandKind::value,
                         "0: a sum for each repeat to dst; 1: the sum of all repeats to ACC_VAL (c220)", true, 0}});
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return sum_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { sum_execute(x, Types::lane(x.type), c); }
};

template <ReduceOp Op, class Types>
struct ExtremumForm : ReduceForm<Types> {
  using Args = VectorReduceArgs;
  static constexpr auto fields = std::tuple_cat(
      kReduceFields<"results (a pair, or one value) from repeat to repeat">,
      std::tuple{Field<&Args::option>{"order", 2, OperandKind::value,
                                      "0: value and index, 1: index and value, 2: value, 3: index (32 bits); m100, "
                                      "c100: 0",
                                      true, 0}});
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return extremum_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { extremum_execute(x, Op, Types::lane(x.type), c); }
};

template <ReduceOp Op, class Types>
struct BlockReduceForm : ReduceForm<Types> {
  using Args = VectorReduceArgs;
  static constexpr auto fields = kReduceFields<"8 results from repeat to repeat; c100: not 0">;
  static constexpr u32 group(LaneType type) { return kBlockBytes / lane_bytes(type); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return groups_footprint(x, group(Types::lane(x.type)), Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) {
    groups_execute(x, Op, group(Types::lane(x.type)), Types::lane(x.type), c);
  }
};

template <class Types>
struct PairReduceForm : ReduceForm<Types> {
  using Args = VectorReduceArgs;
  static constexpr auto fields = kReduceFields<"128 bytes from repeat to repeat">;
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return groups_footprint(x, 2, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { groups_execute(x, ReduceOp::add, 2, Types::lane(x.type), c); }
};

using SumTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}>;
using ReduceTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32, kVectorArchs2}>;

template <Text Name, u16 Opcode, class Form, Text Doc>
using Reduce = VectorInsn<Name, Opcode, "vector.reduce"_cost, Form, Doc>;

using Vcadd =
    Reduce<"vcadd", 0x2e0, SumForm<SumTypes>, "dst = sum of the active lanes of a repeat, as a tree of pairs">;
using Vcmax = Reduce<"vcmax", 0x2e1, ExtremumForm<ReduceOp::max, ReduceTypes>,
                     "dst = largest active lane of a repeat and its index; NaN wins, ties: the lowest index; "
                     "MAX_MIN_CNT = the same over all repeats">;
using Vcmin = Reduce<"vcmin", 0x2e2, ExtremumForm<ReduceOp::min, ReduceTypes>,
                     "dst = smallest active lane of a repeat and its index; NaN wins, ties: the lowest index; "
                     "MAX_MIN_CNT = the same over all repeats">;
using Vcgadd = Reduce<"vcgadd", 0x2e3, BlockReduceForm<ReduceOp::add, ReduceTypes>,
                      "dst = sums of the 8 blocks of a repeat, as trees of pairs; a block without active lane is not "
                      "written">;
using Vcgmax = Reduce<"vcgmax", 0x2e4, BlockReduceForm<ReduceOp::max, ReduceTypes>,
                      "dst = largest lanes of the 8 blocks of a repeat, NaN wins; a block without active lane is not "
                      "written">;
using Vcgmin = Reduce<"vcgmin", 0x2e5, BlockReduceForm<ReduceOp::min, ReduceTypes>,
                      "dst = smallest lanes of the 8 blocks of a repeat, NaN wins; a block without active lane is not "
                      "written">;
using Vcpadd = Reduce<"vcpadd", 0x2e6, PairReduceForm<ReduceTypes>,
                      "dst = sums of lanes 2i and 2i + 1; a pair without active lane is not written">;

using VectorReduceInsns = InsnList<Vcadd, Vcmax, Vcmin, Vcgadd, Vcgmax, Vcgmin, Vcpadd>;

}  // namespace vinci::isa::insn
