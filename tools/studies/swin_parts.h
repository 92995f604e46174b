// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>

#include "isa/builder/program_builder.h"
#include "tools/studies/swin_kernels.h"

// Pieces that the separate kernels and the fused one have in common.
namespace vinci::studies::swin {

using isa::PipeId;
using isa::ProgramBuilder;
using isa::Reg;
using isa::Type;
using isa::Value;

inline void fence(ProgramBuilder& p) { p.pipe_barrier(PipeId::V); }

// Every other block begins later by a few cycles for each turn. Blocks that load in step leave the memory idle whenever
// their copies end.
inline void stagger(ProgramBuilder& p, Reg block, u64 turns) {
  const Reg left = p.reg("left", 13);
  p.rem(left, block, 2);
  p.mul(left, left, turns);
  const isa::Target turn = p.here("turn");
  p.sub(left, left, 1);
  p.bge(left, 0, turn);
  p.release(left);
}

// Lanes that vector instructions write from now on: the first `n` of 128.
inline void lanes(ProgramBuilder& p, u64 n) {
  const auto half = [](u64 count) { return count >= 64 ? ~u64{0} : (u64{1} << count) - 1; };
  p.set_vector_mask(n > 64 ? half(n - 64) : 0, half(n));
}
// An instruction has at most 255 repeats: write(first, count) for each part of `n`.
template <class Write>
void in_repeats(u64 n, const Write& write) {
  for (u64 first = 0; first < n; first += 255)
    write(first, std::min(n - first, u64{255}));
}

// `count` blocks of UB become the ones that the transpose of 16 x 16 elements makes of them (scatter_vnchwconv).
inline void va_registers(ProgramBuilder& p, u64 first, const std::array<u64, 16>& b) {
  for (u64 half = 0; half < 2; ++half) {
    const u64* l = b.data() + half * 8;
    p.set_va_reg_sb(first + half, l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7]);
  }
}

// The table of biases as a feature map: its 7 x 7 filter at position (y, x) of the query, point (6 - y, 6 - x) of the
// key, is the entry of both. Fetches the four fractals [16 queries][head] of a key, whose point is given as X and Y.
inline void fetch_bias(ProgramBuilder& p, u64 to, u64 table, const Value& x, const Value& y) {
  p.img2col_cbuf_to_ub(Type::b16, to, table, x, y, 0, 0, 0, 1, 1, 7, 7, 1, 1, 1, 1, 4, 0);
}
inline void table_map(ProgramBuilder& p) {
  p.set_fmatrix(kTableEdge | kTableEdge << 16);
  p.set_padding(0);
  p.set_l1_3d_size(0);
}

}  // namespace vinci::studies::swin
