// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/move.h"

#include <algorithm>
#include <cstring>

#include "isa/sem/atomic.h"

namespace vinci::isa::insn {

Footprint burst_footprint(const BurstArgs& x, BufId dst, BufId src, const Spr& spr, Arch arch) {
  if (x.padMode != 0) {
    fail(Fault::Unsupported,
         "operand padMode is {}; copy_gm_to_cbuf models 0 (PAD_NONE): what the others insert is not public", x.padMode);
  }
  const u32 len = u32{x.lenBurst} * kBlockBytes;
  const auto access = [&](BufId buffer, bool write) {
    const u32 gap = u32{write ? x.dstGap : x.srcGap} * kBlockBytes;
    return Access{.buffer = buffer,
                  .write = write,
                  .align = static_cast<u16>(buffer == BufId::GM ? 1 : kBlockBytes),
                  .address = write ? x.dst : x.src,
                  .len = len,
                  .count = {x.nBurst, 1, 1},
                  .stride = {i64{len} + gap, 0, 0},
                  .operand = write ? "dst" : "src"};
  };
  const Access into = access(dst, true);
  return {access(src, false), dst == BufId::GM ? gm_write_access(into, spr, arch) : into};
}

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
      write_gm(into, c.mem[src].bytes(from, len), c, i * len);
    } else {
      std::memmove(c.mem[dst].bytes(into, len).data(), c.mem[src].bytes(from, len).data(), len);
    }
  }
}

}  // namespace vinci::isa::insn
