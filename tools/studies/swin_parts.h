// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "tools/studies/swin_kernels.h"

// Pieces of assembly that the separate kernels and the fused one have in common.
namespace vinci::studies::swin {

inline constexpr std::string_view kFence = "  pipe_barrier PIPE_V\n";

inline std::string flag(std::string_view what, std::string_view from, std::string_view to, u64 event) {
  return fmt::format("  {} {}, {}, EVENT_ID{}\n", what, from, to, event);
}
inline std::string set(std::string_view from, std::string_view to, u64 event) {
  return flag("set_flag", from, to, event);
}
inline std::string wait(std::string_view from, std::string_view to, u64 event) {
  return flag("wait_flag", from, to, event);
}

// Every other block begins later by a few cycles for each turn. Blocks that load in step leave the memory idle whenever
// their copies end.
inline std::string stagger(u64 turns) {
  return fmt::format("  rem X13, X0, 2\n  mul X13, X13, {}\nturn:\n  sub X13, X13, 1\n  bge X13, 0, turn\n", turns);
}

// Lanes that vector instructions write from now on: the first `n` of 128.
inline std::string lanes(u64 n) {
  const auto half = [](u64 count) { return count >= 64 ? ~u64{0} : (u64{1} << count) - 1; };
  return fmt::format("  set_vector_mask {:#x}, {:#x}\n", n > 64 ? half(n - 64) : 0, half(n));
}
// An instruction has at most 255 repeats: make(first, count) for each part of `n`.
template <class Make>
std::string in_repeats(u64 n, const Make& make) {
  std::string s;
  for (u64 first = 0; first < n; first += 255)
    s += make(first, std::min(n - first, u64{255}));
  return s;
}

// One more row of 16 queries of a pair is a column here: S has a column every 64 blocks, and an instruction takes 8.
struct Softmax {
  u64 scores = 0, columns = 0;  // address in UB, 4 for each pair
  u64 tree = 0;                 // columns * 24 blocks
  u64 result = 0;               // a block for each column

  static constexpr u64 kTreeRows = 24;
  u64 groups() const { return columns / 8; }

  // result = the largest over the 49 keys.
  std::string largest() const {
    std::string s;
    const u64 group = 8 * kTreeRows * kBlock, next = 8 * kPadded * kBlock;  // from one to the next
    const auto level = [&](u64 to, u64 from, u64 with, u64 with_stride, u64 rows) {
      for (u64 g = 0; g < groups(); ++g)
        s += fmt::format("  vmax.f16 {}, {}, {}, {}, {}, {}, {}, 1, 1, 1\n", tree + to * kBlock + g * group,
                         tree + from * kBlock + g * group, with + g * 8 * with_stride * kBlock, rows, kTreeRows,
                         kTreeRows, with_stride);
    };
    for (u64 g = 0; g < groups(); ++g)
      s += fmt::format("  vmax.f16 {}, {}, {}, {}, {}, {}, {}, 1, 1, 1\n", tree + g * group, scores + g * next,
                       scores + kTreeRows * kBlock + g * next, kTreeRows, kTreeRows, kPadded, kPadded);
    s += kFence;
    for (const u64 rows : {12, 6, 3}) {
      level(0, 0, tree + rows * kBlock, kTreeRows, rows);
      s += kFence;
    }
    level(0, 0, tree + kBlock, kTreeRows, 1);
    level(2, 2, scores + 2 * kTreeRows * kBlock, kPadded, 1);
    s += kFence;
    for (u64 g = 0; g < groups(); ++g)
      s += fmt::format("  vmax.f16 {}, {}, {}, 1, 1, {}, {}, 8, 8, 8\n", result + g * 8 * kBlock, tree + g * group,
                       tree + 2 * kBlock + g * group, kTreeRows, kTreeRows);
    return s + std::string(kFence);
  }
  // S = e^(factor * (S - the largest of the query)); `factor_at`: 128 times factor in UB.
  std::string scaled_exponentials(u32 factor, u64 factor_at) const {
    std::string s = largest();
    s += fmt::format("  vmuls.f16 {0}, {0}, {1}, {2}, 1, 1, 8, 8\n", result, factor ^ 0x8000, columns / 8);
    s += kFence;
    for (u64 g = 0; g < groups(); ++g)
      s += fmt::format("  vmadd.f16 {}, {}, {}, 49, 64, 0, 1, 1, 0, 0\n", scores + g * 8 * kPadded * kBlock, factor_at,
                       result + g * 8 * kBlock);
    return s + std::string(kFence) + exponents();
  }
  std::string exponents() const {
    std::string s;
    for (u64 g = 0; g < groups(); ++g)
      s += fmt::format("  vexp.f16 {0}, {0}, 49, 64, 64, 1, 1\n", scores + g * 8 * kPadded * kBlock);
    return s + std::string(kFence);
  }
};

// `count` blocks of UB become the ones that the transpose of 16 x 16 elements makes of them (scatter_vnchwconv).
inline std::string va_registers(u64 first, const std::array<u64, 16>& blocks) {
  std::string s;
  for (u64 half = 0; half < 2; ++half) {
    s += fmt::format("  set_va_reg_sb {}", first + half);
    for (u64 i = 0; i < 8; ++i)
      s += fmt::format(", {}", blocks[half * 8 + i]);
    s += "\n";
  }
  return s;
}

// The table of biases as a feature map: its 7 x 7 filter at position (y, x) of the query, point (6 - y, 6 - x) of the
// key, is the entry of both. Fetches the four fractals [16 queries][head] of a key, whose point is given as X and Y.
inline std::string fetch_bias(u64 to, u64 table, std::string_view x, std::string_view y) {
  return fmt::format("  img2col_cbuf_to_ub.b16 {}, {}, {}, {}, 0, 0, 0, 1, 1, 7, 7, 1, 1, 1, 1, 4, 0\n", to, table, x,
                     y);
}
inline std::string table_map() {
  return fmt::format("  set_fmatrix {:#x}\n  set_padding 0\n  set_l1_3d_size 0\n", kTableEdge | kTableEdge << 16);
}

}  // namespace vinci::studies::swin
