// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/fill.h"

#include <cstring>

#include "isa/numeric/float16.h"

namespace vinci::isa::insn {
namespace {

struct Runs {
  u32 bytes = 0;  // of a run
  u32 gap = 0;    // bytes between two
};

Runs runs(const FillArgs& x, BufId dst, Arch arch) {
  if (arch == Arch::c220) {
    const u32 unit = dst == BufId::L1 ? kBlockBytes : kFractalBytes;
    return {x.blkNum * unit, x.dstGap * unit};
  }
  if (x.blkNum != 1 || x.dstGap != 0 || x.repeat > 255) {
    fail(Fault::Program,
         "operands repeat, blkNum and dstGap are {}, {}, {}; fills of {} repeat up to 255 times 512 bytes without gap",
         x.repeat, x.blkNum, x.dstGap, isa::name(arch));
  }
  return {kFractalBytes, 0};
}

}  // namespace

Footprint fill_footprint(const FillArgs& x, BufId dst, Arch arch) {
  const Runs r = runs(x, dst, arch);
  return {{.buffer = dst,
           .write = true,
           .align = static_cast<u16>(dst == BufId::L1 ? kBlockBytes : kFractalBytes),
           .address = x.dst,
           .len = r.bytes,
           .count = {x.repeat, 1, 1},
           .stride = {i64{r.bytes} + r.gap, 0, 0},
           .operand = "dst"}};
}

void fill_matrix(const FillArgs& x, BufId dst, u32 element_bytes, ExecContext& c) {
  const Runs r = runs(x, dst, c.arch);
  const u64 value = x.value == kFillFromRegister ? c.spr[SprId::l0_set_value] : x.value;
  for (u64 i = 0; i < x.repeat; ++i) {
    const auto into = c.mem[dst].bytes(x.dst + i * (u64{r.bytes} + r.gap), r.bytes);
    for (usize b = 0; b < into.size(); b += element_bytes)
      std::memcpy(into.data() + b, &value, element_bytes);  // the low bytes come first
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// broadcast_ub_to_cc

namespace {
constexpr u32 kRow = 16;  // elements of a row, rows of a fractal
}

Footprint BroadcastUbToCc::footprint(const Args& x, const Spr&, Arch) {
  const u32 in = x.lenBurst * kRow * source_bytes(x.type);
  const u32 fractal = kRow * kRow * result_bytes(x.type);
  return {{.buffer = BufId::UB,
           .align = kBlockBytes,
           .address = x.src,
           .len = in,
           .count = {x.nBurst, 1, 1},
           .stride = {i64{in} + i64{x.srcGap} * kBlockBytes, 0, 0},
           .operand = "src"},
          {.buffer = BufId::L0C,
           .write = true,
           .align = static_cast<u16>(fractal),
           .address = x.dst,
           .len = x.lenBurst * fractal,
           .count = {x.nBurst, 1, 1},
           .stride = {(i64{x.lenBurst} + x.dstGap) * fractal, 0, 0},
           .operand = "dst"}};
}

void BroadcastUbToCc::execute(const Args& x, ExecContext& c) {
  const u64 in = kRow * source_bytes(x.type);
  const u64 out = kRow * result_bytes(x.type);
  for (u64 i = 0; i < x.nBurst; ++i) {
    for (u64 j = 0; j < x.lenBurst; ++j) {
      const u64 from = x.src + i * (x.lenBurst * in + u64{x.srcGap} * kBlockBytes) + j * in;
      const u64 into = x.dst + (i * (u64{x.lenBurst} + x.dstGap) + j) * kRow * out;
      std::array<std::byte, kRow * sizeof(u32)> row;
      const auto source = c.mem[BufId::UB].bytes(from, in);
      std::memcpy(row.data(), source.data(), in);
      if (x.type == f162f32) {
        for (u32 e = 0; e < kRow; ++e) {
          const u32 wide = f16_to_f32(c.mem[BufId::UB].load<u16>(from + 2 * e));
          std::memcpy(row.data() + e * sizeof wide, &wide, sizeof wide);
        }
      }
      const auto fractal = c.mem[BufId::L0C].bytes(into, kRow * out);
      for (u64 r = 0; r < kRow; ++r)
        std::memcpy(fractal.data() + r * out, row.data(), out);
    }
  }
}

}  // namespace vinci::isa::insn
