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
