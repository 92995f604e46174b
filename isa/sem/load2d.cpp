// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/load2d.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "isa/sem/fractal_kernel.h"

namespace vinci::isa::insn {
namespace {

// Source units (fractals or squares) of an instruction, in the order of their addresses.
struct Units {
  u64 lowest = 0;  // byte address
  i64 step = 0;    // bytes to the next one up
};

Units units(u64 src, u64 base, u64 stride, u64 repeat, u64 bytes, bool descend) {
  const u64 span = repeat == 0 ? 0 : (repeat - 1) * stride;
  if (!descend) return {src + base * bytes, static_cast<i64>(stride * bytes)};
  if (src + base * bytes < span * bytes) {
    fail(Fault::Program, "addrmode 1 descends {} units of {} bytes from unit {} of {:#x}, which leaves the memory",
         span, bytes, base, src);
  }
  return {src + base * bytes - span * bytes, static_cast<i64>(stride * bytes)};
}

u64 source_address(u64 src, u64 base, u64 stride, u64 i, u64 bytes, bool descend) {
  return src + base * bytes + (descend ? -i * stride : i * stride) * bytes;  // modulo 2^64
}

// The destination gap came with the split core and with m200; the older load2d packs its fractals.
void check(const Load2dArgs& x, bool b4, Arch arch) {
  if (x.dstGap != 0 && contains(archs(Arch::m100, Arch::c100), arch)) {
    fail(Fault::Program, "operand dstGap is {}; load2d of {} has no destination gap, it must be 0", x.dstGap,
         isa::name(arch));
  }
  if (b4 && x.transpose != 0) {
    fail(Fault::Unsupported, "operand transpose is 1; load2d transposes elements of 16 bits only");
  }
}

// The host fetches a fractal that will be read next: they are far apart.
void prefetch(const View& from, u64 at) {
  if (at + kFractalBytes > from.size()) return;
  const std::byte* fractal = from.bytes(at, kFractalBytes).data();
  for (u64 line = 0; line < kFractalBytes; line += 64)
    __builtin_prefetch(fractal + line);
}

}  // namespace

Footprint load2d_footprint(const Load2dArgs& x, BufId dst, BufId src, bool b4, Arch arch) {
  check(x, b4, arch);
  const Units from = units(x.src, x.baseIdx, x.srcStride, x.repeat, kFractalBytes, x.addrmode != 0);
  return {{.buffer = src,
           .align = static_cast<u16>(src == BufId::GM ? 1 : kBlockBytes),
           .address = from.lowest,
           .len = kFractalBytes,
           .count = {x.repeat, 1, 1},
           .stride = {from.step, 0, 0},
           .operand = "src",
           .unit = kFractalBytes},
          {.buffer = dst,
           .write = true,
           .align = static_cast<u16>(dst == BufId::L1 ? kBlockBytes : kFractalBytes),
           .address = x.dst,
           .len = kFractalBytes,
           .count = {x.repeat, 1, 1},
           .stride = {(i64{x.dstGap} + 1) * kFractalBytes, 0, 0},
           .operand = "dst"}};
}

void load2d(const Load2dArgs& x, BufId dst, BufId src, ExecContext& c) {
  check(x, false, c.arch);
  const View &to = c.mem[dst], &from = c.mem[src];
  for (u64 i = 0; i < x.repeat; ++i) {
    const u64 at = source_address(x.src, x.baseIdx, x.srcStride, i, kFractalBytes, x.addrmode != 0);
    const u64 into_at = x.dst + i * (u64{x.dstGap} + 1) * kFractalBytes;
    const bool later = x.transpose != 0 && to.may_turn(into_at);
    const auto into = to.fractal(into_at, later);
    if (src == BufId::GM) {
      c.mem.gm().read(at, into);
      continue;
    }
    const std::byte* fractal = from.bytes(at, kFractalBytes).data();
    if (i + 1 < x.repeat)
      prefetch(from, source_address(x.src, x.baseIdx, x.srcStride, i + 1, kFractalBytes, x.addrmode != 0));
    if (x.transpose != 0 && !later) {
      transpose_b16(fractal, into.data());
    } else {
      std::memcpy(into.data(), fractal, kFractalBytes);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Sparse weights

Footprint LoadCbufToCbSp::footprint(const Args& x, const Spr&, Arch) {
  const u32 weights = x.repeat * kFractalBytes, indices = x.repeat * kIndexBytes;
  return {
      {.buffer = BufId::L1,
       .align = kBlockBytes,
       .address = x.src + u64{x.startIndex} * kFractalBytes,
       .len = weights,
       .operand = "src",
       .unit = kFractalBytes},
      {.buffer = BufId::L1,
       .align = kBlockBytes,
       .address = x.index + u64{x.startIndex} * kIndexBytes,
       .len = indices,
       .operand = "index",
       .unit = kIndexBytes},
      {.buffer = BufId::L0B, .write = true, .align = kFractalBytes, .address = x.dst, .len = weights, .operand = "dst"},
      {.buffer = BufId::IDX,
       .write = true,
       .align = kIndexBytes,
       .address = x.dst / kWeightsPerIndexByte,
       .len = indices,
       .operand = "indices of dst"}};
}

void LoadCbufToCbSp::execute(const Args& x, ExecContext& c) {
  const View &l1 = c.mem[BufId::L1], &l0b = c.mem[BufId::L0B];
  for (u64 i = 0; i < x.repeat; ++i) {
    const auto weights = l1.bytes(x.src + (x.startIndex + i) * kFractalBytes, kFractalBytes);
    std::ranges::copy(weights, l0b.fractal(x.dst + i * kFractalBytes, false).data());
  }
  const u64 bytes = u64{x.repeat} * kIndexBytes;
  std::ranges::copy(l1.bytes(x.index + u64{x.startIndex} * kIndexBytes, bytes),
                    c.mem[BufId::IDX].bytes(x.dst / kWeightsPerIndexByte, bytes).begin());
}

// ---------------------------------------------------------------------------------------------------------------------
// Transposed squares

namespace {

using load_transpose::fractals;
using Square = std::array<std::byte, 4 * kFractalBytes>;

// Where element (row, col) of a square of elements of `Bytes` is, in bytes from its first fractal.
template <u32 Bytes>
constexpr u32 at(u32 row, u32 col) {
  constexpr u32 c0 = kBlockBytes / Bytes;
  return Bytes == 4 ? col / c0 * kFractalBytes + row * kBlockBytes + col % c0 * Bytes : row * kBlockBytes + col * Bytes;
}

template <u32 Bytes>
void transpose_square(const std::byte* from, std::byte* into) {
  constexpr u32 edge = Bytes == 1 ? 32 : 16;
  for (u32 r = 0; r < edge; ++r) {
    for (u32 col = 0; col < edge; ++col)
      std::memcpy(into + at<Bytes>(r, col), from + at<Bytes>(col, r), Bytes);
  }
}

// The even column of a pair is in the low half of its byte.
void transpose_nibbles(const std::byte* from, std::byte* into) {
  constexpr u32 edge = 64;
  const auto nibble = [&](u32 r, u32 col) {
    return static_cast<u32>(from[r * kBlockBytes + col / 2]) >> (col % 2 * 4) & 0xf;
  };
  for (u32 r = 0; r < edge; ++r) {
    for (u32 col = 0; col < edge; col += 2)
      into[r * kBlockBytes + col / 2] = static_cast<std::byte>(nibble(col, r) | nibble(col + 1, r) << 4);
  }
}

void transpose(u8 type, const std::byte* from, std::byte* into) {
  switch (type) {
    case load_transpose::b8: transpose_square<1>(from, into); return;
    case load_transpose::b16: transpose_b16(from, into); return;
    case load_transpose::b32: transpose_square<4>(from, into); return;
    default: transpose_nibbles(from, into);
  }
}

}  // namespace

Footprint load_squares_footprint(const LoadTransposeArgs& x, BufId dst) {
  const u32 n = fractals(x.type);
  const Units from = units(x.src, x.indexID, x.srcStride, x.repeat, n * kFractalBytes, x.addrmode != 0);
  return {{.buffer = BufId::L1,
           .align = kBlockBytes,
           .address = from.lowest,
           .len = n * kFractalBytes,
           .count = {x.repeat, 1, 1},
           .stride = {from.step, 0, 0},
           .operand = "src",
           .unit = n * kFractalBytes},
          {.buffer = dst,
           .write = true,
           .align = kFractalBytes,
           .address = x.dst,
           .len = kFractalBytes,
           .count = {n, x.repeat, 1},
           .stride = {(i64{x.dstFracGap} + 1) * kFractalBytes, (i64{x.dstGap} + 1) * kFractalBytes, 0},
           .operand = "dst"}};
}

void load_squares(const LoadTransposeArgs& x, BufId dst, ExecContext& c) {
  const u64 n = fractals(x.type);
  const View& to = c.mem[dst];
  Square square;
  for (u64 i = 0; i < x.repeat; ++i) {
    const u64 from = source_address(x.src, x.indexID, x.srcStride, i, n * kFractalBytes, x.addrmode != 0);
    const u64 first = x.dst + i * (u64{x.dstGap} + 1) * kFractalBytes;
    if (x.type == load_transpose::b16 && to.may_turn(first)) {
      const auto whole = c.mem[BufId::L1].bytes(from, kFractalBytes);
      std::ranges::copy(whole, to.fractal(first, true).data());
      continue;
    }
    transpose(x.type, c.mem[BufId::L1].bytes(from, n * kFractalBytes).data(), square.data());
    for (u64 f = 0; f < n; ++f) {
      const u64 into = first + f * (u64{x.dstFracGap} + 1) * kFractalBytes;
      std::memcpy(to.fractal(into, false).data(), square.data() + f * kFractalBytes, kFractalBytes);
    }
  }
}

}  // namespace vinci::isa::insn
