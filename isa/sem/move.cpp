// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/move.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "isa/sem/fractal_kernel.h"

namespace vinci::isa::insn {

void burst_copy(const BurstArgs& x, BufId dst, BufId src, ExecContext& c) {
  // Bursts without gaps are one burst, except inside one buffer, where the order of overlapping pieces can be seen.
  const bool joined = x.srcGap == 0 && x.dstGap == 0 && dst != src;
  const u64 pieces = x.lenBurst == 0 ? 0 : joined ? std::min<u64>(x.nBurst, 1) : x.nBurst;
  const u64 len = u64{x.lenBurst} * kBlockBytes * (joined ? x.nBurst : 1);
  const u64 src_step = len + u64{x.srcGap} * kBlockBytes;
  const u64 dst_step = len + u64{x.dstGap} * kBlockBytes;
  for (u64 i = 0; i < pieces; ++i) {
    const u64 from = x.src + i * src_step;
    const u64 into = x.dst + i * dst_step;
    if (src == BufId::GM) {
      c.mem.gm().read(from, c.mem[dst].bytes(into, len));
    } else if (dst == BufId::GM) {
      c.mem.gm().write(into, c.mem[src].bytes(from, len));
    } else {
      std::memmove(c.mem[dst].bytes(into, len).data(), c.mem[src].bytes(from, len).data(), len);
    }
  }
}

void nd2nz_copy(const Nd2NzArgs& x, u32 element_bytes, ExecContext& c) {
  const View& l1 = c.mem[BufId::L1];
  const u64 row_bytes = u64{x.dValue} * element_bytes;
  // Some rows at a time, written column of blocks by column of blocks: block columns are often a power of two apart,
  // and one row alone would meet the same cache set over and over.
  constexpr u64 kPartBytes = 1024;  // of a row; a multiple of the block
  constexpr u64 kPartRows = 16;
  std::array<std::byte, kPartBytes * kPartRows> part;
  for (u64 matrix = 0; matrix < x.ndNum; ++matrix) {
    const u64 from = x.src + matrix * x.srcNdMatrixStride * element_bytes;
    const u64 into = x.dst + matrix * x.dstNzMatrixStride * element_bytes;
    for (u64 column = 0; column < row_bytes; column += kPartBytes) {
      const u64 bytes = std::min(kPartBytes, row_bytes - column);
      const u64 padded = align_up<u64>(bytes, kBlockBytes);
      for (u64 row = 0; row < x.nValue; row += kPartRows) {
        const u64 rows = std::min(kPartRows, x.nValue - row);
        for (u64 r = 0; r < rows; ++r) {
          std::byte* at = part.data() + r * kPartBytes;
          c.mem.gm().read(from + (row + r) * x.srcDValue * element_bytes + column, {at, bytes});
          std::memset(at + bytes, 0, padded - bytes);
        }
        for (u64 b = 0; b < padded; b += kBlockBytes) {
          const u64 block = into + ((column + b) / kBlockBytes * x.dstNzC0Stride + row * x.dstNzNStride) * kBlockBytes;
          for (u64 r = 0; r < rows; ++r) {
            std::memcpy(l1.bytes(block + r * x.dstNzNStride * kBlockBytes, kBlockBytes).data(),
                        part.data() + r * kPartBytes + b, kBlockBytes);
          }
        }
      }
    }
  }
}

namespace {

// The destination gap came with the split core and with m200; the older load2d packs its fractals.
void check_gap(const Load2dArgs& x, Arch arch) {
  if (x.dstGap != 0 && contains(archs(Arch::m100, Arch::c100), arch)) {
    fail(Fault::Program, "operand dstGap is {}; load2d of {} has no destination gap, it must be 0", x.dstGap,
         isa::name(arch));
  }
}

}  // namespace

Footprint load2d_footprint(const Load2dArgs& x, BufId dst, Arch arch) {
  check_gap(x, arch);
  return {{.buffer = BufId::L1,
           .align = kBlockBytes,
           .address = x.src + u64{x.baseIdx} * kFractalBytes,
           .len = kFractalBytes,
           .count = {x.repeat, 1, 1},
           .stride = {i64{x.srcStride} * kFractalBytes, 0, 0},
           .operand = "src",
           .unit = kFractalBytes},
          {.buffer = dst,
           .write = true,
           .align = kFractalBytes,
           .address = x.dst,
           .len = kFractalBytes,
           .count = {x.repeat, 1, 1},
           .stride = {(i64{x.dstGap} + 1) * kFractalBytes, 0, 0},
           .operand = "dst"}};
}

void load2d(const Load2dArgs& x, BufId dst, ExecContext& c) {
  check_gap(x, c.arch);
  const View& l1 = c.mem[BufId::L1];
  const View& l0 = c.mem[dst];
  for (u64 i = 0; i < x.repeat; ++i) {
    const std::byte* from = l1.bytes(x.src + (x.baseIdx + i * x.srcStride) * kFractalBytes, kFractalBytes).data();
    std::byte* into = l0.bytes(x.dst + i * (u64{x.dstGap} + 1) * kFractalBytes, kFractalBytes).data();
    if (x.transpose != 0) {
      transpose_b16(from, into);
    } else {
      std::memcpy(into, from, kFractalBytes);
    }
  }
}

}  // namespace vinci::isa::insn
