// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/align.h"

#include <cstring>

#include "isa/sem/atomic.h"

namespace vinci::isa::insn {
namespace {

constexpr u32 kMaxPadBytes = 32;

void check_length(const AlignArgs& x, u32 element_bytes) {
  if (x.lenBurst % element_bytes != 0) {
    fail(Fault::Program, "operand lenBurst is {} bytes, which is no multiple of an element of {} bytes", x.lenBurst,
         element_bytes);
  }
}

// Bytes of a piece in UB.
u64 padded(const AlignArgs& x, u32 element_bytes) {
  return align_up<u64>(x.lenBurst + (u64{x.leftPad} + x.rightPad) * element_bytes, kBlockBytes);
}

Access in_gm(const AlignArgs& x, bool write) {
  return {.buffer = BufId::GM,
          .write = write,
          .address = write ? x.dst : x.src,
          .len = x.lenBurst,
          .count = {x.nBurst, 1, 1},
          .stride = {i64{x.lenBurst} + (write ? x.dstGap : x.srcGap), 0, 0},
          .operand = write ? "dst" : "src"};
}

// `len` bytes of pieces that take whole blocks each.
Access in_ub(const AlignArgs& x, bool write, u64 len) {
  const i64 step = static_cast<i64>(align_up<u64>(len, kBlockBytes));
  return {.buffer = BufId::UB,
          .write = write,
          .align = kBlockBytes,
          .address = write ? x.dst : x.src,
          .len = static_cast<u32>(len),
          .count = {x.nBurst, 1, 1},
          .stride = {step + i64{write ? x.dstGap : x.srcGap} * kBlockBytes, 0, 0},
          .operand = write ? "dst" : "src"};
}

void fill(std::span<std::byte> into, const std::byte* element, u32 element_bytes) {
  for (usize i = 0; i < into.size(); ++i)
    into[i] = element[i % element_bytes];
}

}  // namespace

Footprint gm_to_ubuf_align_footprint(const AlignArgs& x, u32 element_bytes) {
  check_length(x, element_bytes);
  for (const auto& [operand, pad] : {std::pair{"leftPad", x.leftPad}, std::pair{"rightPad", x.rightPad}}) {
    if (pad * element_bytes > kMaxPadBytes) {
      fail(Fault::Program, "operand {} is {} elements of {} bytes; padding takes at most {} bytes on a side", operand,
           pad, element_bytes, kMaxPadBytes);
    }
  }
  return {in_gm(x, false), in_ub(x, true, x.lenBurst == 0 ? 0 : padded(x, element_bytes))};
}

void gm_to_ubuf_align(const AlignArgs& x, u32 element_bytes, ExecContext& c) {
  if (x.lenBurst == 0) return;
  const u64 piece = padded(x, element_bytes);
  const u64 left = u64{x.leftPad} * element_bytes;
  const u64 value = c.spr[SprId::mov_pad_val];
  for (u64 i = 0; i < x.nBurst; ++i) {
    const auto into = c.mem[BufId::UB].bytes(x.dst + i * (piece + u64{x.dstGap} * kBlockBytes), piece);
    const auto data = into.subspan(left, x.lenBurst);
    c.mem.gm().read(x.src + i * (u64{x.lenBurst} + x.srcGap), data);
    std::array<std::byte, sizeof value> element;  // little endian, as the elements
    std::memcpy(element.data(), x.leftPad + x.rightPad == 0 ? data.data() : reinterpret_cast<const std::byte*>(&value),
                element_bytes);
    fill(into.first(left), element.data(), element_bytes);
    fill(into.subspan(left + x.lenBurst), element.data(), element_bytes);
  }
}

Footprint ubuf_to_gm_align_footprint(const AlignArgs& x, u32 element_bytes, const Spr& spr, Arch arch) {
  check_length(x, element_bytes);
  if (x.leftPad != 0 || x.rightPad != 0) {
    fail(Fault::Unsupported, "operands leftPad and rightPad are {} and {}; copies from UB to global memory model 0",
         x.leftPad, x.rightPad);
  }
  return {in_ub(x, false, x.lenBurst), gm_write_access(in_gm(x, true), spr, arch)};
}

void ubuf_to_gm_align(const AlignArgs& x, ExecContext& c) {
  const u64 step = align_up<u64>(x.lenBurst, kBlockBytes) + u64{x.srcGap} * kBlockBytes;
  for (u64 i = 0; i < x.nBurst; ++i) {
    write_gm(x.dst + i * (u64{x.lenBurst} + x.dstGap), c.mem[BufId::UB].bytes(x.src + i * step, x.lenBurst), c,
             i * x.lenBurst);
  }
}

}  // namespace vinci::isa::insn
