// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insn.h"
#include "isa/insns/scalar.h"

// Data movement between global memory and the buffers. Source of operands and semantics: mindspore-ai/akg csim
// (Apache-2.0) and the published Ascend C documentation of DataCopy, LoadData, Nd2NzParams.
namespace vinci::isa::insn {

inline constexpr u32 kBlockBytes = 32;     // unit of the burst copies
inline constexpr u32 kFractalBytes = 512;  // 16 rows of 32 bytes
inline constexpr unsigned kLocalBits = 24;
inline constexpr unsigned kGmBits = 48;

// nBurst pieces of lenBurst blocks; after each piece the source skips srcGap blocks and the destination dstGap blocks.
struct BurstArgs {
  u64 dst, src;
  u16 sid, nBurst, lenBurst, srcGap, dstGap;
};
void burst_copy(const BurstArgs& x, BufId dst, BufId src, ExecContext& c);  // isa/sem/move.cpp

constexpr Access burst_access(const BurstArgs& x, BufId buffer, bool write) {
  const u32 len = u32{x.lenBurst} * kBlockBytes;
  const u32 gap = u32{write ? x.dstGap : x.srcGap} * kBlockBytes;
  return {.buffer = buffer,
          .write = write,
          .align = static_cast<u16>(buffer == BufId::GM ? 1 : kBlockBytes),
          .address = write ? x.dst : x.src,
          .len = len,
          .count = {x.nBurst, 1, 1},
          .stride = {i64{len} + gap, 0, 0},
          .operand = write ? "dst" : "src"};
}

template <Text Name, u16 Opcode, BufId Dst, BufId Src, PipeId Pipe, CostClass Cost, ArchSet Archs, Text Doc>
struct BurstCopy {
  using Args = BurstArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = Cost;
  static constexpr std::tuple fields{
      Field<&Args::dst>{"dst", Dst == BufId::GM ? kGmBits : kLocalBits, OperandKind::value, "byte address"},
      Field<&Args::src>{"src", Src == BufId::GM ? kGmBits : kLocalBits, OperandKind::value, "byte address"},
      Field<&Args::sid>{"sid", 4},
      Field<&Args::nBurst>{"nBurst", 12, OperandKind::value, "pieces"},
      Field<&Args::lenBurst>{"lenBurst", 16, OperandKind::value, "32 B blocks of a piece"},
      Field<&Args::srcGap>{"srcGap", 16, OperandKind::value, "32 B blocks skipped after a piece"},
      Field<&Args::dstGap>{"dstGap", 16, OperandKind::value, "32 B blocks skipped after a piece"}};
  static PipeId pipe(const Args&, Arch) { return Pipe; }
  static Work work(const Args& x, const Spr&) {
    return {.bytes = u64{x.nBurst} * x.lenBurst * kBlockBytes, .bursts = x.nBurst};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return {burst_access(x, Src, false), burst_access(x, Dst, true)};
  }
  static void execute(const Args& x, ExecContext& c) { burst_copy(x, Dst, Src, c); }
};

using CopyGmToUbuf = BurstCopy<"copy_gm_to_ubuf", 0x110, BufId::UB, BufId::GM, PipeId::MTE2, CostClass::gm_to_ub,
                               kAllArchs, "global memory to UB in bursts of 32 B blocks">;
using CopyGmToCbuf = BurstCopy<"copy_gm_to_cbuf", 0x111, BufId::L1, BufId::GM, PipeId::MTE2, CostClass::gm_to_l1,
                               kAllArchs, "global memory to L1 in bursts of 32 B blocks (PAD_NONE)">;
using CopyUbufToGm = BurstCopy<"copy_ubuf_to_gm", 0x112, BufId::GM, BufId::UB, PipeId::MTE3, CostClass::ub_to_gm,
                               kAllArchs, "UB to global memory in bursts of 32 B blocks">;
using CopyUbufToUbuf = BurstCopy<"copy_ubuf_to_ubuf", 0x113, BufId::UB, BufId::UB, PipeId::V, CostClass::ub_to_ub,
                                 kAllArchs, "UB to UB in bursts of 32 B blocks">;
using CopyUbufToCbuf = BurstCopy<"copy_ubuf_to_cbuf", 0x114, BufId::L1, BufId::UB, PipeId::MTE3, CostClass::ub_to_l1,
                                 kJointArchs, "UB to L1 in bursts of 32 B blocks">;
using CopyCbufToUbuf = BurstCopy<"copy_cbuf_to_ubuf", 0x115, BufId::UB, BufId::L1, PipeId::MTE1, CostClass::l1_to_ub,
                                 kJointArchs, "L1 to UB in bursts of 32 B blocks">;

// Row-major matrices to NZ on the way from global memory to L1: nValue rows of dValue elements become columns of
// 32 B blocks; the last block of a row is filled up with zero.
struct Nd2NzArgs {
  u64 src;
  u32 dst;
  u32 srcDValue;
  u16 sid, ndNum, nValue, dValue, srcNdMatrixStride, dstNzC0Stride, dstNzNStride, dstNzMatrixStride;
};
void nd2nz_copy(const Nd2NzArgs& x, u32 element_bytes, ExecContext& c);  // isa/sem/move.cpp

template <Text Name, u16 Opcode, u32 ElementBytes>
struct Nd2Nz {
  using Args = Nd2NzArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = "row-major matrices in global memory to NZ in L1";
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = CostClass::gm_to_l1_nd2nz;
  static constexpr std::tuple fields{
      Field<&Args::dst>{"dst", kLocalBits, OperandKind::value, "byte address in L1"},
      Field<&Args::src>{"src", kGmBits, OperandKind::value, "byte address in global memory"},
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

// load2d: `repeat` fractals of 512 B from L1, source fractal baseIdx + i * srcStride, to fractals i * (dstGap + 1) of
// L0A or L0B; `transpose` turns each 16x16 fractal of 16-bit elements.
struct Load2dArgs {
  u32 dst, src;
  u16 baseIdx, srcStride, dstGap;
  u8 repeat, sid, transpose;
};
void load2d(const Load2dArgs& x, BufId dst, ExecContext& c);            // isa/sem/move.cpp
Footprint load2d_footprint(const Load2dArgs& x, BufId dst, Arch arch);  // isa/sem/move.cpp

template <Text Name, u16 Opcode, BufId Dst, CostClass Cost, Text Doc>
struct Load2d {
  using Args = Load2dArgs;
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = Cost;
  static constexpr std::tuple fields{
      Field<&Args::dst>{"dst", kLocalBits, OperandKind::value, "byte address"},
      Field<&Args::src>{"src", kLocalBits, OperandKind::value, "byte address in L1"},
      Field<&Args::baseIdx>{"baseIdx", 16, OperandKind::value, "first source fractal"},
      Field<&Args::repeat>{"repeat", 8, OperandKind::value, "fractals"},
      Field<&Args::srcStride>{"srcStride", 16, OperandKind::value, "source fractals between two"},
      Field<&Args::sid>{"sid", 4},
      Field<&Args::transpose>{"transpose", 1, OperandKind::value, "1: transpose each fractal (16-bit elements)"},
      Field<&Args::dstGap>{"dstGap", 16, OperandKind::value, "destination fractals skipped after each; not on c100",
                           true, 0}};
  static PipeId pipe(const Args&, Arch) { return PipeId::MTE1; }
  static Work work(const Args& x, const Spr&) {
    return {.steps = x.repeat, .bytes = u64{x.repeat} * kFractalBytes, .bursts = x.repeat};
  }
  static Footprint footprint(const Args& x, const Spr&, Arch arch) { return load2d_footprint(x, Dst, arch); }
  static void execute(const Args& x, ExecContext& c) { load2d(x, Dst, c); }
};

using LoadCbufToCa = Load2d<"load_cbuf_to_ca", 0x120, BufId::L0A, CostClass::l1_to_l0a, "L1 to L0A in fractals">;
using LoadCbufToCb = Load2d<"load_cbuf_to_cb", 0x121, BufId::L0B, CostClass::l1_to_l0b, "L1 to L0B in fractals">;

using MoveInsns = InsnList<CopyGmToUbuf, CopyGmToCbuf, CopyUbufToGm, CopyUbufToUbuf, CopyUbufToCbuf, CopyCbufToUbuf,
                           CopyGmToCbufMultiNd2NzB8, CopyGmToCbufMultiNd2NzB16, CopyGmToCbufMultiNd2NzB32s,
                           LoadCbufToCa, LoadCbufToCb>;

}  // namespace vinci::isa::insn
