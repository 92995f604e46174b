// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"

// Row-major to NZ on the fly. Source of operands and semantics: published Ascend C documentation of Nd2NzParams.
namespace vinci::isa::insn {

// Row-major matrices to NZ on the way from global memory to L1: nValue rows of dValue elements become columns of
// 32 B blocks; the last block of a row is filled up with zero.
struct Nd2NzArgs {
  u64 src;
  u32 dst;
  u32 srcDValue;
  u16 sid, ndNum, nValue, dValue, srcNdMatrixStride, dstNzC0Stride, dstNzNStride, dstNzMatrixStride;
};
void nd2nz_copy(const Nd2NzArgs& x, u32 element_bytes, ExecContext& c);  // isa/sem/nd2nz.cpp

template <Text Name, u16 Opcode, u32 ElementBytes>
struct Nd2Nz {
  using Args = Nd2NzArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = "row-major matrices in global memory to NZ in L1";
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = "move.gm_to_l1_nd2nz"_cost;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::L1, "dst"),
      address_in<&Args::src>(BufId::GM, "src"),
      Field<&Args::sid>{"sid", 4},
      Field<&Args::ndNum>{"ndNum", 12, OperandKind::value, "matrices"},
      Field<&Args::nValue>{"nValue", 15, OperandKind::value, "rows"},
      Field<&Args::dValue>{"dValue", 16, OperandKind::value, "columns, elements"},
      Field<&Args::srcNdMatrixStride>{"srcNdMatrixStride", 16, OperandKind::value, "elements between matrices"},
      Field<&Args::srcDValue>{"srcDValue", 16, OperandKind::value, "elements between rows"},
      Field<&Args::dstNzC0Stride>{"dstNzC0Stride", 15, OperandKind::value, "32 B blocks between block columns"},
      Field<&Args::dstNzNStride>{"dstNzNStride", 15, OperandKind::value, "32 B blocks between rows"},
      Field<&Args::dstNzMatrixStride>{"dstNzMatrixStride", 16, OperandKind::value, "elements between matrices"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::MTE2; }
  static Work work(const Args& x, const Spr&) {
    const u64 rows = u64{x.ndNum} * x.nValue;
    return {.bytes = rows * x.dValue * ElementBytes, .bursts = rows};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    const u32 row = u32{x.dValue} * ElementBytes;
    if (x.ndNum > 1 && x.dstNzMatrixStride * ElementBytes % kBlockBytes != 0) {
      fail(Fault::Program, "unaligned access: dstNzMatrixStride = {} elements is no multiple of {} bytes",
           x.dstNzMatrixStride, kBlockBytes);
    }
    return {{.buffer = BufId::GM,
             .address = x.src,
             .len = row,
             .count = {x.nValue, x.ndNum, 1},
             .stride = {i64{x.srcDValue} * ElementBytes, i64{x.srcNdMatrixStride} * ElementBytes, 0},
             .operand = "src"},
            {.buffer = BufId::L1,
             .write = true,
             .align = kBlockBytes,
             .address = x.dst,
             .len = kBlockBytes,
             .count = {x.nValue, ceil_div(row, kBlockBytes), x.ndNum},
             .stride = {i64{x.dstNzNStride} * kBlockBytes, i64{x.dstNzC0Stride} * kBlockBytes,
                        i64{x.dstNzMatrixStride} * ElementBytes},
             .operand = "dst"}};
  }
  static void execute(const Args& x, ExecContext& c) { nd2nz_copy(x, ElementBytes, c); }
};

using CopyGmToCbufMultiNd2NzB8 = Nd2Nz<"copy_gm_to_cbuf_multi_nd2nz_b8", 0x118, 1>;
using CopyGmToCbufMultiNd2NzB16 = Nd2Nz<"copy_gm_to_cbuf_multi_nd2nz_b16", 0x119, 2>;
using CopyGmToCbufMultiNd2NzB32s = Nd2Nz<"copy_gm_to_cbuf_multi_nd2nz_b32s", 0x11a, 4>;

using Nd2NzInsns = InsnList<CopyGmToCbufMultiNd2NzB8, CopyGmToCbufMultiNd2NzB16, CopyGmToCbufMultiNd2NzB32s>;

}  // namespace vinci::isa::insn
