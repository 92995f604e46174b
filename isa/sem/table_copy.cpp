// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/table_copy.h"

#include <cstring>

#include "isa/numeric/float16.h"

namespace vinci::isa::insn {

Footprint CopyCbufToBt::footprint(const Args& x, const Spr&, Arch) {
  return {{.buffer = BufId::L1,
           .align = kBlockBytes,
           .address = x.src,
           .len = source_bytes(x),
           .count = {x.nBurst, 1, 1},
           .stride = {i64{source_bytes(x)} + i64{x.srcGap} * kBlockBytes, 0, 0},
           .operand = "src",
           .unit = kBiasUnit},
          {.buffer = BufId::BT,
           .write = true,
           .align = kBiasUnit,
           .address = x.dst,
           .len = table_bytes(x),
           .count = {x.nBurst, 1, 1},
           .stride = {i64{table_bytes(x)} + i64{x.dstGap} * kBiasUnit, 0, 0},
           .operand = "dst"}};
}

void CopyCbufToBt::execute(const Args& x, ExecContext& c) {
  for (u64 i = 0; i < x.nBurst; ++i) {
    const auto from =
        c.mem[BufId::L1].bytes(x.src + i * (source_bytes(x) + u64{x.srcGap} * kBlockBytes), source_bytes(x));
    const auto into = c.mem[BufId::BT].bytes(x.dst + i * (table_bytes(x) + u64{x.dstGap} * kBiasUnit), table_bytes(x));
    if (x.convControl == 0) {
      std::memcpy(into.data(), from.data(), from.size());
      continue;
    }
    for (usize b = 0; b < from.size(); b += sizeof(u16)) {
      u16 half;
      std::memcpy(&half, from.data() + b, sizeof half);
      const u32 wide = f16_to_f32(half);
      std::memcpy(into.data() + 2 * b, &wide, sizeof wide);
    }
  }
}

Footprint CopyCbufToFbuf::footprint(const Args& x, const Spr&, Arch) {
  if (x.nBurst > 1) {
    fail(Fault::Unsupported, "operand nBurst is {}; copy_cbuf_to_fbuf models 0 and 1: the gaps between pieces are open",
         x.nBurst);
  }
  return {
      {.buffer = BufId::L1,
       .align = kBlockBytes,
       .address = x.src,
       .len = bytes(x),
       .operand = "src",
       .unit = kFixpipeUnit},
      {.buffer = BufId::FB, .write = true, .align = kFixpipeUnit, .address = x.dst, .len = bytes(x), .operand = "dst"}};
}

void CopyCbufToFbuf::execute(const Args& x, ExecContext& c) {
  if (bytes(x) == 0) return;
  std::memcpy(c.mem[BufId::FB].bytes(x.dst, bytes(x)).data(), c.mem[BufId::L1].bytes(x.src, bytes(x)).data(), bytes(x));
}

}  // namespace vinci::isa::insn
