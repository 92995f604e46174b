// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/spr.h"
#include "isa/insns/vector_blocks.h"

// Vector instructions that move elements inside of UB: transposes, gather and scatter, compaction, padding. Bits are
// copied; none raises STATUS, except col2img and vbi, which compute.
// Sources: published CCE intrinsic reference (vgather, vgatherb, scatter_vnchwconv) and Ascend C documentation (Gather,
// Gatherb, Scatter, GatherMask, Transpose, TransDataTo5HD, VectorPadding, BilinearInterpolation), MindStudio sanitizer
// (Mulan PSL v2), mindspore-ai/akg (Apache-2.0: scatter_*, col2img), the TIK library of CANN (vmergech).
namespace vinci::isa::insn {

inline constexpr unsigned kVaBits = 3;

struct GatherArgs {
  u32 dst = 0, src = 0, base = 0;
  u16 dstRepStride = 0;
  u8 dstBlkStride = 0, srcRepStride = 0, repeat = 0, type = 0;
};
struct ReduceArgs {
  u32 dst = 0, src0 = 0, src1 = 0;
  u16 repeat = 0, src0RepStride = 0;
  u8 dstBlkStride = 0, src0BlkStride = 0, patternMode = 0, dstRepStride = 0, src1RepStride = 0, type = 0;
};
struct TransposeArgs {
  u32 dst = 0, src = 0;
  u16 imageSize = 0, nChannel = 0;
  u8 repeat = 0, mode = 0, type = 0;
};
struct VnchwconvArgs {
  u16 dstStride = 0, srcStride = 0;
  u8 dst = 0, src = 0, repeat = 0, dstHighHalf = 0, srcHighHalf = 0;
};
struct PaddingArgs {
  u32 dst = 0, src = 0;
  u16 dstBlkStride = 0, srcBlkStride = 0;
  u8 repeat = 0, dstRepStride = 0, srcRepStride = 0, repeatStrideMode = 0, strideSizeMode = 0, padMode = 0, padSide = 0,
     type = 0;
};
struct BilinearArgs {
  u32 dst = 0, src0 = 0, src1 = 0;
  u16 dstBlkStride = 0, vROffset = 0;
  u8 hRepeat = 0, repeatMode = 0, vRepeat = 0;
};
struct Col2ImgArgs {
  u32 dst = 0, src = 0;
  i16 leftTopW = 0, leftTopH = 0;
  u16 c1Index = 0;
  u8 fetchFilterW = 0, fetchFilterH = 0, strideW = 0, strideH = 0, filterW = 0, filterH = 0, dilationW = 0,
     dilationH = 0, jumpStride = 0, repeatMode = 0, repeat = 0, type = 0;
};

// Types of 16 and 32 bits; only the width matters.
template <ArchSet Bf16>
using WordTypes = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}, VectorType{LaneType::s16},
                              VectorType{LaneType::u16}, VectorType{LaneType::s32}, VectorType{LaneType::u32},
                              VectorType{LaneType::bf16, Bf16}>;
using GatherTypes = WordTypes<kSplitArchs>;

// isa/sem/vgather.cpp
Footprint gather_footprint(const GatherArgs& x, LaneType type, const Spr& spr, Arch arch);
void gather(const GatherArgs& x, LaneType type, ExecContext& c);
Footprint gather_blocks_footprint(const GatherArgs& x);
void gather_blocks(const GatherArgs& x, ExecContext& c);
Footprint scatter_footprint(const GatherArgs& x, LaneType type, const Spr& spr, Arch arch);
void scatter(const GatherArgs& x, LaneType type, ExecContext& c);
Footprint reduce_footprint(const ReduceArgs& x, LaneType type, bool v2, const Spr& spr, Arch arch);
u64 reduce_steps(const ReduceArgs& x, LaneType type, bool v2, const Spr& spr);
void reduce(const ReduceArgs& x, LaneType type, bool v2, ExecContext& c);
Footprint bilinear_footprint(const BilinearArgs& x, const Spr& spr, Arch arch);
void bilinear(const BilinearArgs& x, ExecContext& c);
// isa/sem/vlayout.cpp
Footprint transpose_footprint(const TransposeArgs& x);
void transpose(const TransposeArgs& x, ExecContext& c);
Footprint transpose4d_footprint(const TransposeArgs& x, LaneType type);
void transpose4d(const TransposeArgs& x, LaneType type, ExecContext& c);
Footprint vnchwconv_footprint(const VnchwconvArgs& x, const Spr& spr);
void vnchwconv(const VnchwconvArgs& x, u32 element_bytes, ExecContext& c);
Footprint merge_channels_footprint(const TransposeArgs& x, LaneType type);
void merge_channels(const TransposeArgs& x, LaneType type, ExecContext& c);
Footprint padding_footprint(const PaddingArgs& x, LaneType type, const Spr& spr, Arch arch);
void padding(const PaddingArgs& x, LaneType type, ExecContext& c);
Footprint col2img_footprint(const Col2ImgArgs& x, LaneType type, const Spr& spr);
void col2img(const Col2ImgArgs& x, LaneType type, ExecContext& c);

template <class Args>
inline constexpr std::tuple kLayoutDstSrc{address_in<&Args::dst>(BufId::UB, "dst"),
                                          address_in<&Args::src>(BufId::UB, "src")};

struct Vtranspose : BlockInsn<"vtranspose", 0x300, "vector.transpose"_cost, kAllArchs,
                              "16 x 16 elements of 16 bits: dst[j][i] = src[i][j]; dst may be src"> {
  using Args = TransposeArgs;
  using Types = VectorTypes<VectorType{LaneType::u16}, VectorType{LaneType::s16}, VectorType{LaneType::f16}>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = kLayoutDstSrc<Args>;
  static Work work(const Args&, const Spr&) { return {.steps = 2}; }
  static Footprint footprint(const Args& x, const Spr&, Arch) { return transpose_footprint(x); }
  static void execute(const Args& x, ExecContext& c) { transpose(x, c); }
};

// 16 blocks at the addresses of two VA registers become 16 others, each made of one element of every source block.
template <Text Name, u16 Opcode, u32 Bytes, ArchSet Archs, Text Doc>
struct ScatterVnchwconv : BlockInsn<Name, Opcode, "vector.transpose"_cost, Archs, Doc> {
  using Args = VnchwconvArgs;
  static constexpr std::tuple kVa{
      Field<&Args::dst>{"dst", kVaBits, OperandKind::value, "first of two VA registers with 16 block addresses"},
      Field<&Args::src>{"src", kVaBits, OperandKind::value, "first of two VA registers with 16 block addresses"},
      Field<&Args::repeat>{"repeat", 8, OperandKind::value, "0: nothing is done; 1: dst and src start one stride on"},
      Field<&Args::dstStride>{"dstStride", 16, OperandKind::value, "32 B blocks from repeat to repeat"},
      Field<&Args::srcStride>{"srcStride", 16, OperandKind::value, "32 B blocks from repeat to repeat"}};
  static constexpr auto make_fields() {
    if constexpr (Bytes == 1) {
      return std::tuple_cat(kVa, std::tuple{Field<&Args::dstHighHalf>{"dstHighHalf", 1, OperandKind::value,
                                                                      "1: the upper 16 bytes of the blocks of dst"},
                                            Field<&Args::srcHighHalf>{"srcHighHalf", 1, OperandKind::value,
                                                                      "1: the upper 16 bytes of the blocks of src"}});
    } else {
      return kVa;
    }
  }
  static constexpr auto fields = make_fields();
  static Work work(const Args& x, const Spr&) { return {.steps = x.repeat}; }
  static Footprint footprint(const Args& x, const Spr& spr, Arch) { return vnchwconv_footprint(x, spr); }
  static void execute(const Args& x, ExecContext& c) { vnchwconv(x, Bytes, c); }
};
using ScatterVnchwconvB8 =
    ScatterVnchwconv<"scatter_vnchwconv_b8", 0x301, 1, kAllArchs,
                     "16 x 16 bytes: dst[e][k] = src[k][e] in the chosen halves of the blocks; the other half stays. "
                     "The mask is ignored; a single repeat starts one stride after the addresses">;
using ScatterVnchwconvB16 =
    ScatterVnchwconv<"scatter_vnchwconv_b16", 0x302, 2, kAllArchs,
                     "16 x 16 elements of 16 bits: dst[e][k] = src[k][e]. The mask is ignored; a single repeat starts "
                     "one stride after the addresses">;
using ScatterVnchwconvB32 =
    ScatterVnchwconv<"scatter_vnchwconv_b32", 0x303, 4, kVectorArchs2,
                     "16 x 8 elements of 32 bits: dst[2e][k] = src[k][e], dst[2e + 1][k] = src[8 + k][e]. The mask is "
                     "ignored; a single repeat starts one stride after the addresses">;

struct V4dtrans : BlockInsn<"v4dtrans", 0x304, "vector.transpose"_cost, only(Arch::m200),
                            "image of nChannel planes (CHW) to pixels of nChannel elements (HWC), or back"> {
  using Args = TransposeArgs;
  using Types = VectorTypes<VectorType{LaneType::s8}, VectorType{LaneType::u8}, VectorType{LaneType::s16},
                            VectorType{LaneType::u16}, VectorType{LaneType::f16}, VectorType{LaneType::f32},
                            VectorType{LaneType::s32}, VectorType{LaneType::u32}>;
  static constexpr auto types = Types::types;
  static constexpr auto fields =
      std::tuple_cat(kLayoutDstSrc<Args>,
                     std::tuple{Field<&Args::imageSize>{"imageSize", 12, OperandKind::value, "H * W, pixels"},
                                Field<&Args::nChannel>{"nChannel", 12, OperandKind::value, "channels"},
                                Field<&Args::mode>{"mode", 1, OperandKind::value, "0: CHW to HWC, 1: HWC to CHW"}});
  static Work work(const Args& x, const Spr&) {
    return {.steps = ceil_div<u64>(u64{x.imageSize} * x.nChannel * lane_bytes(Types::lane(x.type)), kRepeatBytes)};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch) { return transpose4d_footprint(x, Types::lane(x.type)); }
  static void execute(const Args& x, ExecContext& c) { transpose4d(x, Types::lane(x.type), c); }
};

// The source is read regardless of the mask.
struct Vpadding
    : BlockInsn<"vpadding", 0x305, "vector.unary"_cost, only(Arch::m200),
                "padding next to each block of src, as whole blocks: mode 0 repeats the edge element, 1 mirrors the "
                "block, 2 mirrors it without the edge element and ends with 0; side 0 left, 1 right"> {
  using Args = PaddingArgs;
  using Types = VectorTypes<VectorType{LaneType::s16}, VectorType{LaneType::u16}, VectorType{LaneType::f16},
                            VectorType{LaneType::f32}, VectorType{LaneType::s32}, VectorType{LaneType::u32}>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = std::tuple_cat(
      kLayoutDstSrc<Args>, kBlockRepeat<Args>,
      std::tuple{
          Field<&Args::dstBlkStride>{"dstBlkStride", 16, OperandKind::value, "32 B blocks from block to block"},
          Field<&Args::srcBlkStride>{"srcBlkStride", 16, OperandKind::value, "32 B blocks from block to block"},
          Field<&Args::dstRepStride>{"dstRepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"},
          Field<&Args::srcRepStride>{"srcRepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"},
          Field<&Args::repeatStrideMode>{"repeatStrideMode", 1, OperandKind::value, "0; 1 has no public meaning"},
          Field<&Args::strideSizeMode>{"strideSizeMode", 1, OperandKind::value, "0; 1 has no public meaning"},
          Field<&Args::padMode>{"padMode", 2, OperandKind::value, "0, 1 or 2"},
          Field<&Args::padSide>{"padSide", 1, OperandKind::value, "0: left, 1: right"}});
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, kRepeatBytes / lane_bytes(Types::lane(x.type)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return padding_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { padding(x, Types::lane(x.type), c); }
};

struct Vmergech : BlockInsn<"vmergech", 0x306, "vector.transpose"_cost, archs(Arch::c100, Arch::m200),
                            "the first 4 elements of each block of src, packed into dst; a repeat is one block"> {
  using Args = TransposeArgs;
  using Types = VectorTypes<VectorType{LaneType::s8}, VectorType{LaneType::u8}, VectorType{LaneType::f16},
                            VectorType{LaneType::s16, only(Arch::c100)}, VectorType{LaneType::u16, only(Arch::c100)}>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = std::tuple_cat(kLayoutDstSrc<Args>, kBlockRepeat<Args>);
  static Work work(const Args& x, const Spr&) { return {.steps = ceil_div<u64>(x.repeat, 8)}; }
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return merge_channels_footprint(x, Types::lane(x.type));
  }
  static void execute(const Args& x, ExecContext& c) { merge_channels(x, Types::lane(x.type), c); }
};

// Addresses of elements come from UB, so the footprint of gathers and scatters has the addresses and the regular side,
// not the elements themselves (Row::computes); those are checked when the instruction executes.
struct Vgather : BlockInsn<"vgather", 0x308, "vector.gather"_cost, kVectorArchs2,
                           "dst[i] = element at byte address offsetAddr + src[i]; src holds one u32 per lane, without "
                           "gaps between repeats"> {
  using Args = GatherArgs;
  static constexpr Computes computes = Computes::reads;
  static constexpr auto types = GatherTypes::types;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::UB, "dst"),
      bytes_in<&Args::src>(BufId::UB, "src", "byte address in UB of the offsets (u32, bytes)"),
      Field<&Args::base>{"offsetAddr", 32, OperandKind::value, "bytes, added to every offset"},
      Field<&Args::dstRepStride>{"dstRepStride", 12, OperandKind::value, "32 B blocks from repeat to repeat"},
      Field<&Args::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"}};
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, kRepeatBytes / lane_bytes(GatherTypes::lane(x.type)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return gather_footprint(x, GatherTypes::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { gather(x, GatherTypes::lane(x.type), c); }
};

struct Vgatherb : BlockInsn<"vgatherb", 0x309, "vector.gather"_cost, kSplitArchs,
                            "dst block i = the 32 B block at offsetAddr + src[i]; 8 offsets u32 in a repeat, without "
                            "gaps; the mask is ignored"> {
  using Args = GatherArgs;
  static constexpr Computes computes = Computes::reads;
  static constexpr auto types = GatherTypes::types;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::UB, "dst"),
      bytes_in<&Args::src>(BufId::UB, "src", "byte address in UB of the offsets (u32, bytes)"),
      Field<&Args::base>{"offsetAddr", 32, OperandKind::value, "bytes, added to every offset"},
      Field<&Args::dstRepStride>{"dstRepStride", 12, OperandKind::value, "32 B blocks from repeat to repeat"},
      Field<&Args::dstBlkStride>{"dstBlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
      Field<&Args::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"}};
  static Footprint footprint(const Args& x, const Spr&, Arch) { return gather_blocks_footprint(x); }
  static void execute(const Args& x, ExecContext& c) { gather_blocks(x, c); }
};

struct Vscatter : BlockInsn<"vscatter", 0x30a, "vector.gather"_cost, only(Arch::m200),
                            "element at byte address offsetAddr + dst[i] = src[i], in the order of i; dst holds one "
                            "u32 per lane, without gaps between repeats"> {
  using Args = GatherArgs;
  static constexpr Computes computes = Computes::writes;
  using Types = WordTypes<0>;
  static constexpr auto types = Types::types;
  static constexpr std::tuple fields{
      bytes_in<&Args::dst>(BufId::UB, "dst", "byte address in UB of the offsets (u32, bytes)"),
      address_in<&Args::src>(BufId::UB, "src"),
      Field<&Args::base>{"offsetAddr", 32, OperandKind::value, "bytes, added to every offset"},
      Field<&Args::srcRepStride>{"srcRepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"},
      Field<&Args::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"}};
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, kRepeatBytes / lane_bytes(Types::lane(x.type)), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return scatter_footprint(x, Types::lane(x.type), spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { scatter(x, Types::lane(x.type), c); }
};

// Keeps the elements whose bit in the pattern is 1 and packs them, over all repeats, from dst on. RSVD_CNT = how many.
// The mask is ignored in normal mode.
template <Text Name, u16 Opcode, bool V2, ArchSet Archs, Text Doc>
struct ReducePattern : BlockInsn<Name, Opcode, "vector.gather"_cost, Archs, Doc> {
  using Args = ReduceArgs;
  static constexpr auto types = GatherTypes::types;
  static constexpr std::tuple kAddresses{
      address_in<&Args::dst>(BufId::UB, "dst"), address_in<&Args::src0>(BufId::UB, "src0"),
      bytes_in<&Args::src1>(BufId::UB, "src1", "byte address in UB of the pattern of mode 0")};
  static constexpr std::string_view kModes =
      "0: bits of src1, lowest first; 1: elements 0, 2, 4 ..; 2: 1, 3, 5 ..; 3..6: one of four; 7: all (c220)";
  static constexpr auto make_fields() {
    if constexpr (V2) {
      return std::tuple_cat(
          kAddresses,
          std::tuple{
              Field<&Args::repeat>{"repeat", 16, OperandKind::value, "repeats; 0: nothing is done"},
              Field<&Args::src0BlkStride>{"src0BlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
              Field<&Args::patternMode>{"patternMode", 3, OperandKind::value, kModes},
              Field<&Args::src0RepStride>{"src0RepStride", 16, OperandKind::value, "32 B blocks from repeat to repeat"},
              Field<&Args::src1RepStride>{"src1RepStride", 8, OperandKind::value,
                                          "32 B blocks from repeat to repeat"}});
    } else {
      return std::tuple_cat(
          kAddresses,
          std::tuple{
              Field<&Args::repeat>{"repeat", 8, OperandKind::value, "repeats; 0: nothing is done"},
              Field<&Args::dstBlkStride>{"dstBlkStride", 8, OperandKind::value, "1; others have no public meaning"},
              Field<&Args::src0BlkStride>{"src0BlkStride", 8, OperandKind::value, "32 B blocks from block to block"},
              Field<&Args::patternMode>{"patternMode", 8, OperandKind::value, kModes},
              Field<&Args::dstRepStride>{"dstRepStride", 8, OperandKind::value, "8; others have no public meaning"},
              Field<&Args::src0RepStride>{"src0RepStride", 8, OperandKind::value, "32 B blocks from repeat to repeat"},
              Field<&Args::src1RepStride>{"src1RepStride", 8, OperandKind::value,
                                          "32 B blocks from repeat to repeat"}});
    }
  }
  static constexpr auto fields = make_fields();
  static Work work(const Args& x, const Spr& spr) {
    return {.steps = reduce_steps(x, GatherTypes::lane(x.type), V2, spr)};
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return reduce_footprint(x, GatherTypes::lane(x.type), V2, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { reduce(x, GatherTypes::lane(x.type), V2, c); }
};
using Vreduce = ReducePattern<"vreduce", 0x30b, false, kVectorArchs2,
                              "keeps the elements of src0 that the pattern selects and packs them at dst; RSVD_CNT = "
                              "how many. Counter mode: mask[31:0] elements of the whole instruction">;
using Vreducev2 = ReducePattern<"vreducev2", 0x30c, true, kSplitArchs,
                                "keeps the elements of src0 that the pattern selects and packs them at dst; RSVD_CNT = "
                                "how many. Counter mode: mask[31:0] elements of each repeat">;

// Products and sums round to f16 one by one, and the sums start at zero: ours, not public.
struct Vbi : BlockInsn<"vbi", 0x30d, "vector.gather"_cost, only(Arch::m200),
                       "vRepeat times: dst = sum over hRepeat of 8 blocks at the addresses src0[..], each times an "
                       "f16 of src1 (repeatMode 0: one for the 8 blocks, 1: one for each)"> {
  using Args = BilinearArgs;
  static constexpr Computes computes = Computes::reads;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::UB, "dst"),
      bytes_in<&Args::src0>(BufId::UB, "src0", "byte address in UB of the block addresses (u32)"),
      bytes_in<&Args::src1>(BufId::UB, "src1", "byte address in UB of the factors (f16)"),
      Field<&Args::hRepeat>{"hRepeat", 8, OperandKind::value, "terms of each sum"},
      Field<&Args::repeatMode>{"repeatMode", 1, OperandKind::value, "0: a factor for 8 blocks, 1: for each block"},
      Field<&Args::dstBlkStride>{"dstBlkStride", 16, OperandKind::value, "32 B blocks from block to block"},
      Field<&Args::vROffset>{"vROffset", 16, OperandKind::value, "elements between the sums, a multiple of 16"},
      Field<&Args::vRepeat>{"vRepeat", 8, OperandKind::value, "sums"}};
  static Work work(const Args& x, const Spr&) { return {.steps = u64{x.hRepeat} * x.vRepeat}; }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) { return bilinear_footprint(x, spr, arch); }
  static void execute(const Args& x, ExecContext& c) { bilinear(x, c); }
};

// The reverse of img2col_cbuf_to_ub: adds a fractal of 16 positions x 16 channels to the feature map (FCOL2IMG).
// Positions outside of the map are dropped.
struct Col2img
    : BlockInsn<"col2img", 0x30e, "vector.gather"_cost, archs(Arch::c100, Arch::m200),
                "dst[position][channel] += src, a fractal of 16 positions x 16 channels in each repeat; repeatMode "
                "0: the next repeat is the next filter point, 1: the next 16 positions"> {
  using Args = Col2ImgArgs;
  using Types = VectorTypes<VectorType{LaneType::f16}, VectorType{LaneType::f32}>;
  static constexpr auto types = Types::types;
  static constexpr auto fields = std::tuple_cat(
      kLayoutDstSrc<Args>,
      std::tuple{
          Field<&Args::fetchFilterW>{"fetchFilterW", 8, OperandKind::value, "column of the filter point"},
          Field<&Args::fetchFilterH>{"fetchFilterH", 8, OperandKind::value, "row of the filter point"},
          Field<&Args::leftTopW>{"leftTopW", 16, OperandKind::value, "column of the first window", false, 0, true},
          Field<&Args::leftTopH>{"leftTopH", 16, OperandKind::value, "row of the first window", false, 0, true},
          Field<&Args::c1Index>{"c1Index", 12, OperandKind::value, "group of 16 channels"},
          Field<&Args::strideW>{"strideW", 6}, Field<&Args::strideH>{"strideH", 6}, Field<&Args::filterW>{"filterW", 8},
          Field<&Args::filterH>{"filterH", 8}, Field<&Args::dilationW>{"dilationW", 8},
          Field<&Args::dilationH>{"dilationH", 8},
          Field<&Args::jumpStride>{"jumpStride", 8, OperandKind::value, "0 or 1; others have no public meaning"},
          Field<&Args::repeatMode>{"repeatMode", 1, OperandKind::value, "0: next filter point, 1: next 16 positions"},
          Field<&Args::repeat>{"repeatTime", 8, OperandKind::value, "fractals"}});
  static Footprint footprint(const Args& x, const Spr& spr, Arch) {
    return col2img_footprint(x, Types::lane(x.type), spr);
  }
  static void execute(const Args& x, ExecContext& c) { col2img(x, Types::lane(x.type), c); }
};

using LayoutInsns = InsnList<Vtranspose, ScatterVnchwconvB8, ScatterVnchwconvB16, ScatterVnchwconvB32, V4dtrans,
                             Vpadding, Vmergech, Vgather, Vgatherb, Vscatter, Vreduce, Vreducev2, Vbi, Col2img>;

}  // namespace vinci::isa::insn
