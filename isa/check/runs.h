// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>

#include "isa/table/insn.h"

// How an access is walked over: contiguous pieces of memory, and runs of equal cells of a shadow.
namespace vinci::isa::check {

inline constexpr u64 kGranule = 32;  // bytes; the block of UB and L1 in which accesses meet. Source: mindspore-ai/akg

// Calls f(begin, end) in bytes for each contiguous piece of an access. Dimensions that continue each other are joined
// and repetitions of the same bytes left out.
template <class F>
void each_piece(const Access& a, F&& f) {
  if (a.empty()) return;
  u64 len = a.len;
  std::array<u32, 3> count = a.count;
  for (usize d = 0; d < 3; ++d) {
    if (a.stride[d] == 0) count[d] = 1;
    bool inner_done = true;
    for (usize e = 0; e < d; ++e)
      inner_done &= count[e] == 1;
    if (inner_done && a.stride[d] == static_cast<i64>(len)) {
      len *= count[d];
      count[d] = 1;
    }
  }
  for (u32 k = 0; k < count[2]; ++k) {
    for (u32 j = 0; j < count[1]; ++j) {
      for (u32 i = 0; i < count[0]; ++i) {
        const u64 at = a.address + static_cast<u64>(a.stride[0]) * i + static_cast<u64>(a.stride[1]) * j +
                       static_cast<u64>(a.stride[2]) * k;
        f(at, at + len);
      }
    }
  }
}

// Calls f(value, from, to) for each run of equal cells in cells[from, to). Runs are long: one instruction wrote them.
template <class F>
void each_run(const u32* cells, usize from, usize to, F&& f) {
  while (from < to) {
    const u32 value = cells[from];
    usize end = from + 1;
    while (end + 8 <= to) {
      u32 differ = 0;
      for (usize i = 0; i < 8; ++i)
        differ |= cells[end + i] ^ value;
      if (differ != 0) break;
      end += 8;
    }
    while (end < to && cells[end] == value)
      ++end;
    f(value, from, end);
    from = end;
  }
}

// Calls f(from, to) for each run of cells that are zero.
template <class F>
void each_zero_run(const u32* cells, usize from, usize to, F&& f) {
  while (from < to) {
    while (from + 8 <= to) {
      bool all = true;
      for (usize i = 0; i < 8; ++i)
        all &= cells[from + i] != 0;
      if (!all) break;
      from += 8;
    }
    while (from < to && cells[from] != 0)
      ++from;
    usize end = from;
    while (end < to && cells[end] == 0)
      ++end;
    if (from < end) f(from, end);
    from = end;
  }
}

}  // namespace vinci::isa::check
