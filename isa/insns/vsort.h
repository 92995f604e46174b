// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/spr.h"
#include "isa/insns/vector_blocks.h"

// Sorting and detection. None of these reads the vector mask or CTRL[56].
//
// A region proposal is 8 numbers of one type: x1, y1, x2, y2, score, label and two that are not used. The joint core
// sorts proposals; the split core sorts records of 8 bytes: a score (f32, or f16 and two bytes that are not used) and
// an index u32. Scores sort in descending order and equal ones keep the order of their source; +0 and -0 are equal.
// Not public, ours: NaN sorts before every number, all NaN are equal, and no STATUS bit is raised.
// Sources: mindspore-ai/akg (Apache-2.0: insn_builder_rpn, nms test), MindStudio sanitizer (Mulan PSL v2: units and
// packed operands), published documentation of RpSort16, Sort32, MrgSort, MrgSort4, ProposalConcat, ProposalExtract.
namespace vinci::isa::insn {

inline constexpr u32 kProposals = 16;        // that one repeat works on
inline constexpr u32 kProposalElements = 8;  // numbers of a proposal
inline constexpr u32 kScoreElement = 4;      // where its score is
inline constexpr u32 kSortRecords = 32;      // records that one repeat of vbitsort32 sorts
inline constexpr u32 kSortRecordBytes = 8;

// Operands that several of these instructions share.
struct SortArgs {
  u32 dst = 0, src = 0, src1 = 0;
  u8 repeat = 0, mode = 0, type = 0;
};
struct MergeArgs {
  u32 dst = 0, src0 = 0, src1 = 0, src2 = 0, src3 = 0;
  u16 len0 = 0, len1 = 0, len2 = 0, len3 = 0;
  u8 repeat = 0, suspend = 0, valid = 0, type = 0;
};
// Elements of the lists that take part.
constexpr u64 merged_elements(const MergeArgs& x) {
  const auto list = [&](u8 bit, u16 len) { return (x.valid & bit) != 0 ? u64{len} : 0; };
  return list(1, x.len0) + list(2, x.len1) + list(4, x.len2) + list(8, x.len3);
}
struct RpnCorArgs {
  u32 src0 = 0, src1 = 0;
  u16 src0RepStride = 0, src1RepStride = 0;
  u8 repeat = 0;
};

using ProposalTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32, only(Arch::m200)}>;
using SortTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}>;

// isa/sem/vsort.cpp
Footprint sort_proposals_footprint(const SortArgs& x, LaneType type);
void sort_proposals(const SortArgs& x, LaneType type, ExecContext& c);
Footprint sort_records_footprint(const SortArgs& x, LaneType type);
void sort_records(const SortArgs& x, LaneType type, ExecContext& c);
Footprint merge_footprint(const MergeArgs& x, LaneType type, Arch arch);
void merge_lists(const MergeArgs& x, LaneType type, ExecContext& c);
Footprint proposal_field_footprint(const SortArgs& x, LaneType type, bool concat, Arch arch);
void proposal_concat(const SortArgs& x, LaneType type, ExecContext& c);
void proposal_extract(const SortArgs& x, LaneType type, ExecContext& c);
// isa/sem/detection.cpp
Footprint area_footprint(const SortArgs& x, LaneType type);
void proposal_area(const SortArgs& x, LaneType type, ExecContext& c);
Footprint pair_footprint(const SortArgs& x, LaneType type, u32 elements);
void area_sums(const SortArgs& x, LaneType type, ExecContext& c);
void intersections(const SortArgs& x, LaneType type, ExecContext& c);
Footprint rpn_cor_footprint(const RpnCorArgs& x);
void rpn_cor(const RpnCorArgs& x, ExecContext& c);
Footprint rpn_cor_diag_footprint(const SortArgs& x);
void rpn_cor_diag(const SortArgs& x, ExecContext& c);

inline constexpr std::tuple kSortDst{address_in<&SortArgs::dst>(BufId::UB, "dst")};
inline constexpr std::tuple kSortSrc{address_in<&SortArgs::src>(BufId::UB, "src")};
inline constexpr std::tuple kSortSources{address_in<&SortArgs::src>(BufId::UB, "src0"),
                                         address_in<&SortArgs::src1>(BufId::UB, "src1")};

struct Vbitsort : BlockInsn<"vbitsort", 0x320, "vector.sort"_cost, kJointArchs,
                            "each repeat sorts 16 proposals by descending score; equal scores keep their order"> {
  using Args = SortArgs;
  static constexpr auto types = ProposalTypes::types;
  static constexpr auto fields = std::tuple_cat(kSortDst, kSortSrc, kBlockRepeat<Args>);
  static Work work(const Args& x, const Spr&) { return {.steps = ceil_div<u64>(x.repeat, 2)}; }
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return sort_proposals_footprint(x, ProposalTypes::lane(x.type));
  }
  static void execute(const Args& x, ExecContext& c) { sort_proposals(x, ProposalTypes::lane(x.type), c); }
};

// The public intrinsic is vbitsort with other operands; platform files call this form vbitsort32.
struct Vbitsort32
    : BlockInsn<"vbitsort32", 0x321, "vector.sort"_cost, kSplitArchs,
                "vbitsort of c220 (Sort32): each repeat sorts 32 scores of src0 with the u32 of src1 into records of 8 "
                "bytes (score, index), by descending score; equal scores keep their order"> {
  using Args = SortArgs;
  static constexpr auto types = SortTypes::types;
  static constexpr auto fields = std::tuple_cat(
      kSortDst, std::tuple{address_in<&Args::src>(BufId::UB, "src0"), bytes_in<&Args::src1>(BufId::UB, "src1")},
      kBlockRepeat<Args>);
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return sort_records_footprint(x, SortTypes::lane(x.type));
  }
  static void execute(const Args& x, ExecContext& c) { sort_records(x, SortTypes::lane(x.type), c); }
};

// dst = the lists merged by descending score; at equal scores the list with the lower number comes first. Afterwards
// VMS4_SR holds how many elements were taken of each list: 13 bits each on the joint core, 16 on the split core. With
// ifExhaustedSuspension the merge ends with the element that exhausts the first list; what hardware has taken of the
// others by then depends on its timing, here it is what the merge needed.
template <Text Name, u16 Opcode, u8 LengthBits, ArchSet Archs, class Types, Text Doc>
struct MergeSort : BlockInsn<Name, Opcode, "vector.sort"_cost, Archs, Doc> {
  using Args = MergeArgs;
  static constexpr auto types = Types::types;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::UB, "dst"),
      address_in<&Args::src0>(BufId::UB, "src0", "byte address in UB of the first list"),
      Field<&Args::src1>{"src1", kLocalBits},
      Field<&Args::src2>{"src2", kLocalBits},
      Field<&Args::src3>{"src3", kLocalBits},
      Field<&Args::repeat>{
          "repeat", 8, OperandKind::value,
          "0: nothing is done; above 1 the lists are four, equally long, adjacent, without suspension"},
      Field<&Args::len0>{"len0", LengthBits, OperandKind::value, "elements of the first list"},
      Field<&Args::len1>{"len1", LengthBits},
      Field<&Args::len2>{"len2", LengthBits},
      Field<&Args::len3>{"len3", LengthBits},
      Field<&Args::suspend>{"ifExhaustedSuspension", 1, OperandKind::value, "1: stop when a list is exhausted"},
      Field<&Args::valid>{"validBit", 4, OperandKind::value, "lists that take part: 3, 7 or 15"}};
  static Work work(const Args& x, const Spr&) {
    return {.steps = ceil_div<u64>(merged_elements(x) * x.repeat, kSortRecords)};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch arch) {
    return merge_footprint(x, Types::lane(x.type), arch);
  }
  static void execute(const Args& x, ExecContext& c) { merge_lists(x, Types::lane(x.type), c); }
};
using Vmrgsort4 = MergeSort<"vmrgsort4", 0x322, 12, kJointArchs, ProposalTypes,
                            "merges up to four lists of proposals by descending score; VMS4_SR = elements taken of "
                            "each list, 13 bits each">;
// The public intrinsic is vmrgsort4 with other operands; platform files call this form vmrgsort4v2.
using Vmrgsort4v2 = MergeSort<"vmrgsort4v2", 0x323, 16, kSplitArchs, SortTypes,
                              "vmrgsort4 of c220: merges up to four lists of records of 8 bytes by descending score; "
                              "VMS4_SR = elements taken of each list, 16 bits each">;

// One field of 16 proposals in each repeat.
template <Text Name, u16 Opcode, bool Concat, Text Doc>
struct ProposalField : BlockInsn<Name, Opcode, "vector.sort"_cost, kJointArchs, Doc> {
  using Args = SortArgs;
  static constexpr auto types = ProposalTypes::types;
  static constexpr auto fields = std::tuple_cat(
      kSortDst, kSortSrc, kBlockRepeat<Args>,
      std::tuple{Field<&Args::mode>{"mode", 3, OperandKind::value, "0 x1, 1 y1, 2 x2, 3 y2, 4 score, 5 label"}});
  static Work work(const Args& x, const Spr&) { return {.steps = ceil_div<u64>(x.repeat, 2)}; }
  static Footprint footprint(const Args& x, const Spr&, Arch arch) {
    return proposal_field_footprint(x, ProposalTypes::lane(x.type), Concat, arch);
  }
  static void execute(const Args& x, ExecContext& c) {
    if constexpr (Concat) {
      proposal_concat(x, ProposalTypes::lane(x.type), c);
    } else {
      proposal_extract(x, ProposalTypes::lane(x.type), c);
    }
  }
};
using Vconcat = ProposalField<"vconcat", 0x324, true,
                              "each repeat writes 16 elements of src into one field of 16 proposals at dst">;
using Vextract = ProposalField<"vextract", 0x325, false,
                               "each repeat writes one field of 16 proposals of src to dst; m100: modes 0 to 3">;

// Areas of proposals. A side is (x2 - x1) + offset, where offset is RPN_OFFSET (set_rpn_offset; 1 on m100, which lacks
// it). Every operation rounds to the type on its own: ours, not public.
struct Vrpac
    : BlockInsn<"vrpac", 0x326, "vector.unary"_cost, kJointArchs,
                "dst = area of each proposal of src: (x2 - x1 + offset) * (y2 - y1 + offset); 16 in a repeat"> {
  using Args = SortArgs;
  static constexpr auto types = ProposalTypes::types;
  static constexpr auto fields = std::tuple_cat(kSortDst, kSortSrc, kBlockRepeat<Args>);
  static Footprint footprint(const Args& x, const Spr&, Arch) { return area_footprint(x, ProposalTypes::lane(x.type)); }
  static void execute(const Args& x, ExecContext& c) { proposal_area(x, ProposalTypes::lane(x.type), c); }
};

// Every element of src0 (16 in a repeat) with each of the 16 of src1: 256 results, those of one src0 adjacent.
template <Text Name, u16 Opcode, u32 Elements, void (*Execute)(const SortArgs&, LaneType, ExecContext&), Text Doc>
struct ProposalPairs : BlockInsn<Name, Opcode, "vector.binary"_cost, kJointArchs, Doc> {
  using Args = SortArgs;
  static constexpr auto types = ProposalTypes::types;
  static constexpr auto fields = std::tuple_cat(kSortDst, kSortSources, kBlockRepeat<Args>);
  static Work work(const Args& x, const Spr&) { return {.steps = 2u * x.repeat}; }
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return pair_footprint(x, ProposalTypes::lane(x.type), Elements);
  }
  static void execute(const Args& x, ExecContext& c) { Execute(x, ProposalTypes::lane(x.type), c); }
};
using Vaadd = ProposalPairs<"vaadd", 0x327, 1, area_sums,
                            "dst[i][j] = src0[i] + src1[j]: sums of areas, 16 of src0 in a repeat with 16 of src1">;
using Viou = ProposalPairs<"viou", 0x328, kProposalElements, intersections,
                           "dst[i][j] = area that the proposals src0[i] and src1[j] share: max(0, min(x2) - max(x1) + "
                           "offset) * max(0, min(y2) - max(y1) + offset); 16 of src0 in a repeat with 16 of src1">;

// Non-maximum suppression. An element u16 of the suppression matrix belongs to one earlier proposal, its bit j to the
// j-th of 16 new ones: 1 where the two overlap too much (what vcmpv writes after viou). An element u16 of the
// suppression vector is 0 while its proposal is kept and 1 once it is suppressed.
struct RpnCor : BlockInsn<"rpn_cor", 0x329, "vector.sort"_cost, kJointArchs,
                          "RPN_COR_IR |= src0[k] for every proposal k that is kept (src1[k] is 0); 16 in a repeat"> {
  using Args = RpnCorArgs;
  static constexpr auto fields = std::tuple_cat(
      std::tuple{address_in<&Args::src0>(BufId::UB, "src0", "suppression matrix, byte address in UB"),
                 address_in<&Args::src1>(BufId::UB, "src1", "suppression vector, byte address in UB")},
      kBlockRepeat<Args>,
      std::tuple{Field<&Args::src0RepStride>{"src0RepStride", 16, OperandKind::value, "32 B blocks between repeats"},
                 Field<&Args::src1RepStride>{"src1RepStride", 16, OperandKind::value, "32 B blocks between repeats"}});
  static Footprint footprint(const Args& x, const Spr&, Arch) { return rpn_cor_footprint(x); }
  static void execute(const Args& x, ExecContext& c) { rpn_cor(x, c); }
};
struct RpnCorDiag
    : BlockInsn<"rpn_cor_diag", 0x32a, "vector.sort"_cost, kJointArchs,
                "suppression vector of 16 new proposals: dst[j] = 1 when bit j of RPN_COR_IR is set, or bit j of "
                "src[k] for a kept k < j; else 0"> {
  using Args = SortArgs;
  static constexpr auto fields = std::tuple_cat(kSortDst, kSortSrc);
  static Work work(const Args&, const Spr&) { return {.steps = 1}; }
  static Footprint footprint(const Args& x, const Spr&, Arch) { return rpn_cor_diag_footprint(x); }
  static void execute(const Args& x, ExecContext& c) { rpn_cor_diag(x, c); }
};
// Goes through the queue of the vector unit, so that it stays in order with rpn_cor.
struct SetRpnCorIr : BlockInsn<"set_rpn_cor_ir", 0x32b, "vector.dup"_cost, kJointArchs, "RPN_COR_IR = value"> {
  struct Args {
    u16 value;
  };
  static constexpr std::tuple fields{Field<&Args::value>{"value", 16}};
  static Work work(const Args&, const Spr&) { return {}; }
  static Footprint footprint(const Args&, const Spr&, Arch) { return {}; }
  static void execute(const Args& x, ExecContext& c) { c.results.rpn_cor_ir = x.value; }
};
using GetRpnCorIr = GetResult<"get_rpn_cor_ir", 0x32c, &ResultRegisters::rpn_cor_ir, kJointArchs,
                              "Xd = RPN_COR_IR: bit j is set when the j-th new proposal is suppressed by a kept one">;

using SortInsns = InsnList<Vbitsort, Vbitsort32, Vmrgsort4, Vmrgsort4v2, Vconcat, Vextract, Vrpac, Vaadd, Viou, RpnCor,
                           RpnCorDiag, SetRpnCorIr, GetRpnCorIr>;

}  // namespace vinci::isa::insn
