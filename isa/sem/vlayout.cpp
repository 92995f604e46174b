// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vlayout.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "isa/sem/va_blocks.h"
#include "isa/sem/vector_lanes.h"

namespace vinci::isa::insn {
namespace {

constexpr u32 kEdge = 16;           // rows and columns of a transpose; positions and channels of a fractal
constexpr u32 kMergedElements = 4;  // that vmergech keeps of a block

// Blocks at the addresses of two VA registers. A single repeat starts one stride after them; source: documentation of
// TransDataTo5HD.
using VaBlocks = std::array<u32, 2 * kVaBlocks>;
VaBlocks first_blocks(const Spr& spr, u8 va, u8 repeat, u16 stride) {
  VaBlocks blocks = va_addresses<2>(spr, va);
  if (repeat == 1) {
    for (u32& b : blocks)
      b += u32{stride} * kBlockBytes;
  }
  return blocks;
}

// Which element of which source block goes to element k of destination block e.
struct Origin {
  u32 block = 0, element = 0;
};
Origin vnchwconv_origin(u32 element_bytes, u32 e, u32 k) {
  if (element_bytes == 4) return {e % 2 * 8 + k, e / 2};
  return {k, e};
}

// The feature map of col2img, and the walk of its windows.
struct FeatureMap {
  i64 width = 0, height = 0;
  i64 pad_left = 0, pad_right = 0;

  explicit FeatureMap(u64 fcol2img)
      : width(static_cast<i64>(fcol2img & 0xffff)),
        height(static_cast<i64>(fcol2img >> 16 & 0xffff)),
        pad_left(static_cast<i64>(fcol2img >> 32 & 0xff)),
        pad_right(static_cast<i64>(fcol2img >> 40 & 0xff)) {}
};

void check_col2img(const Col2ImgArgs& x) {
  if (x.strideW == 0 || x.strideH == 0 || x.filterW == 0 || x.filterH == 0 || x.dilationW == 0 || x.dilationH == 0) {
    fail(Fault::Program, "stride, filter and dilation of col2img must not be 0");
  }
  if (x.fetchFilterW >= x.filterW || x.fetchFilterH >= x.filterH) {
    fail(Fault::Program, "filter point ({}, {}) is outside of the filter of {} x {}", x.fetchFilterH, x.fetchFilterW,
         x.filterH, x.filterW);
  }
  if (x.jumpStride > 1) {
    fail(Fault::Unsupported, "col2img with jumpStride = {}: other than 0 and 1 have no public meaning", x.jumpStride);
  }
}

// The filter point of a repeat, and its group of 16 channels.
struct FilterPoint {
  i64 w = 0, h = 0, c1 = 0;
};
FilterPoint filter_point(const Col2ImgArgs& x, u32 repeat) {
  const u32 points = u32{x.filterW} * x.filterH;
  const u32 first = u32{x.fetchFilterH} * x.filterW + x.fetchFilterW;
  const u32 at = x.repeatMode == 0 ? first + repeat : first;
  return {at % x.filterW, at / x.filterW % x.filterH, x.c1Index + at / points};
}

}  // namespace

Footprint transpose_footprint(const TransposeArgs& x) {
  constexpr u32 kBytes = kEdge * kEdge * 2;
  return {ub_blocks(x.src, kBytes, false, "src"), ub_blocks(x.dst, kBytes, true, "dst")};
}

void transpose(const TransposeArgs& x, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  std::array<u16, kEdge * kEdge> from{};
  std::memcpy(from.data(), ub.bytes(x.src, sizeof(from)).data(), sizeof(from));
  for (u32 i = 0; i < kEdge; ++i) {
    for (u32 j = 0; j < kEdge; ++j)
      ub.store<u16>(x.dst + u64{j * kEdge + i} * 2, from[i * kEdge + j]);
  }
}

Footprint transpose4d_footprint(const TransposeArgs& x, LaneType type) {
  const u64 bytes = u64{x.imageSize} * x.nChannel * lane_bytes(type);
  return {ub_blocks(x.src, bytes, false, "src"), ub_blocks(x.dst, bytes, true, "dst")};
}

void transpose4d(const TransposeArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = lane_bytes(type);
  const u32 rows = x.mode == 0 ? x.nChannel : x.imageSize;
  const u32 columns = x.mode == 0 ? x.imageSize : x.nChannel;
  const auto source = ub.bytes(x.src, u64{rows} * columns * bytes);
  const std::vector<std::byte> from(source.begin(), source.end());
  std::byte* to = ub.bytes(x.dst, from.size()).data();
  for (u32 j = 0; j < columns; ++j) {
    for (u32 i = 0; i < rows; ++i, to += bytes)
      std::memcpy(to, from.data() + (usize{i} * columns + j) * bytes, bytes);
  }
}

Footprint vnchwconv_footprint(const VnchwconvArgs& x, const Spr& spr) {
  Footprint f;
  const usize most = Footprint::kMaxAccesses / 2;
  const auto add = [&](u8 va, u16 stride, bool write, std::string_view name) {
    for (const BlockSet& set : block_sets(first_blocks(spr, va, x.repeat, stride), most))
      f.add(access_of(set, x.repeat, u32{stride} * kBlockBytes, write, name));
  };
  if (x.repeat == 0) return f;
  add(x.src, x.srcStride, false, "src");
  add(x.dst, x.dstStride, true, "dst");
  return f;
}

void vnchwconv(const VnchwconvArgs& x, u32 element_bytes, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const VaBlocks src = first_blocks(c.spr, x.src, x.repeat, x.srcStride);
  const VaBlocks dst = first_blocks(c.spr, x.dst, x.repeat, x.dstStride);
  const u32 in_block = std::min(kBlockBytes / element_bytes, kEdge);
  const u32 src_half = x.srcHighHalf != 0 ? kBlockBytes / 2 : 0;
  const u32 dst_half = x.dstHighHalf != 0 ? kBlockBytes / 2 : 0;
  for (u32 r = 0; r < x.repeat; ++r) {
    std::array<std::array<std::byte, kBlockBytes>, 2 * kVaBlocks> from{};
    for (usize b = 0; b < from.size(); ++b)
      std::ranges::copy(ub.bytes(src[b] + u64{r} * x.srcStride * kBlockBytes, kBlockBytes), from[b].begin());
    for (u32 e = 0; e < dst.size(); ++e) {
      std::byte* to = ub.bytes(dst[e] + u64{r} * x.dstStride * kBlockBytes, kBlockBytes).data() + dst_half;
      for (u32 k = 0; k < in_block; ++k) {
        const Origin o = vnchwconv_origin(element_bytes, e, k);
        std::memcpy(to + usize{k} * element_bytes, from[o.block].data() + src_half + usize{o.element} * element_bytes,
                    element_bytes);
      }
    }
  }
}

Footprint merge_channels_footprint(const TransposeArgs& x, LaneType type) {
  return {ub_blocks(x.src, u64{x.repeat} * kBlockBytes, false, "src"),
          ub_blocks(x.dst, u64{x.repeat} * kMergedElements * lane_bytes(type), true, "dst")};
}

void merge_channels(const TransposeArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = kMergedElements * lane_bytes(type);
  for (u32 r = 0; r < x.repeat; ++r) {
    std::memmove(ub.bytes(x.dst + u64{r} * bytes, bytes).data(), ub.bytes(x.src + u64{r} * kBlockBytes, bytes).data(),
                 bytes);
  }
}

Footprint padding_footprint(const PaddingArgs& x, LaneType type, const Spr& spr, Arch arch) {
  if (x.padMode > 2) fail(Fault::Program, "padMode = {}: there are 0, 1 and 2", x.padMode);
  if (x.repeatStrideMode != 0 || x.strideSizeMode != 0) {
    fail(Fault::Unsupported, "vpadding with repeatStrideMode or strideSizeMode: their meaning is not public");
  }
  const Selection s(spr, arch, lanes_per_repeat(type), x.repeat);
  Footprint f;
  add_accesses(f, s, {x.src, x.srcBlkStride, x.srcRepStride, type}, false, "src");
  add_accesses(f, s, {x.dst, x.dstBlkStride, x.dstRepStride, type}, true, "dst");
  return f;
}

void padding(const PaddingArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const u32 bytes = lane_bytes(type);
  const u32 n = kBlockBytes / bytes;
  const Operand src(x.src, x.srcBlkStride, x.srcRepStride, type);
  const Operand dst(x.dst, x.dstBlkStride, x.dstRepStride, type);
  // The element of the block that is at position i of the padding; n: zero.
  const auto origin = [&](u32 i) -> u32 {
    switch (x.padMode) {
      case 0: return x.padSide == 0 ? 0 : n - 1;
      case 1: return n - 1 - i;
      default: return x.padSide == 0 ? n - i : i + 1 == n ? n : n - 2 - i;
    }
  };
  const Selection s(c.spr, c.arch, lanes_per_repeat(type), x.repeat);
  for (const Run& run : s) {
    const OperandMask mask(run.mask, s.lanes(), type);
    for (u32 r = run.first; r < run.first + run.count; ++r) {
      LaneBuffer in{}, out{};
      load_lanes(ub, src, r, mask.span, in);
      for (u32 b = 0; b < kRepeatBlocks; ++b) {
        const usize block = usize{b} * kBlockBytes;
        for (u32 i = 0; i < n; ++i) {
          const u32 o = origin(i);
          if (o < n)
            std::memcpy(out.bytes.data() + block + usize{i} * bytes, in.bytes.data() + block + usize{o} * bytes, bytes);
        }
      }
      store_lanes(ub, dst, r, mask, out);
    }
  }
}

Footprint col2img_footprint(const Col2ImgArgs& x, LaneType type, const Spr& spr) {
  check_col2img(x);
  if (x.repeat == 0) return {};
  const FeatureMap map(spr[SprId::fcol2img]);
  const u64 plane = static_cast<u64>(map.width * map.height) * kEdge * lane_bytes(type);
  const i64 first = x.c1Index, last = filter_point(x, x.repeat - 1u).c1;
  const u64 bytes = plane * static_cast<u64>(last - first + 1);
  const u32 dst = static_cast<u32>(x.dst + plane * static_cast<u64>(first));
  return {ub_blocks(x.src, u64{x.repeat} * kEdge * kEdge * lane_bytes(type), false, "src"),
          ub_blocks(dst, bytes, false, "dst"), ub_blocks(dst, bytes, true, "dst")};
}

void col2img(const Col2ImgArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  const FeatureMap map(c.spr[SprId::fcol2img]);
  const BinaryKernel add = binary_kernel(BinaryOp::add, type);
  const LaneMode mode = lane_mode(c);
  const u32 row_bytes = kEdge * lane_bytes(type);
  const i64 window = i64{x.filterW - 1} * x.dilationW + 1;
  i64 left = x.leftTopW, top = x.leftTopH;
  for (u32 r = 0; r < x.repeat; ++r) {
    const FilterPoint point = filter_point(x, r);
    if (x.repeatMode == 0) left = x.leftTopW, top = x.leftTopH;
    for (u32 i = 0; i < kEdge; ++i) {
      const i64 column = left + point.w * x.dilationW, row = top + point.h * x.dilationH;
      if (column >= 0 && column < map.width && row >= 0 && row < map.height) {
        const u64 position = static_cast<u64>((point.c1 * map.height + row) * map.width + column);
        LaneBuffer old{}, term{}, sum{};
        const std::span<std::byte> at = ub.bytes(x.dst + position * row_bytes, row_bytes);
        std::memcpy(old.bytes.data(), at.data(), row_bytes);
        std::memcpy(term.bytes.data(), ub.bytes(x.src + u64{r * kEdge + i} * row_bytes, row_bytes).data(), row_bytes);
        c.status |= add(old, term, sum, mode);
        std::memcpy(at.data(), sum.bytes.data(), row_bytes);
      }
      left += x.strideW;
      if (left + window > map.width + map.pad_right) {
        left = -map.pad_left;
        top += x.strideH;
      }
    }
  }
}

}  // namespace vinci::isa::insn
