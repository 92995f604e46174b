// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/nd2nz.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace vinci::isa::insn {
namespace {

constexpr u64 kRows = 8;          // at a time: lines of the host's cache that come and go side by side
constexpr u64 kPartBytes = 4096;  // of a row
constexpr u64 kHostLine = 64;
constexpr int kSecondCache = 2;  // of the host: rows that are a power of two apart have few places in the first one

// Some rows of a matrix, or a part of each, as they are in global memory.
class SourceRows {
 public:
  void locate(const GlobalMemory& gm, u64 from, u64 step, u64 rows, u64 bytes) {
    if (const std::byte* all = gm.piece(from, (rows - 1) * step + bytes)) {
      for (u64 r = 0; r < rows; ++r)
        at_[r] = all + r * step;
      return;
    }
    for (u64 r = 0; r < rows; ++r) {
      at_[r] = gm.piece(from + r * step, bytes);
      if (at_[r] != nullptr) continue;
      gm.read(from + r * step, std::span(copies_[r]).first(bytes));
      at_[r] = copies_[r].data();
    }
  }
  const std::byte* operator[](u64 r) const { return at_[r]; }

 private:
  std::array<const std::byte*, kRows> at_{};
  std::array<std::array<std::byte, kPartBytes>, kRows> copies_;  // of rows that are not one piece
};

// `bytes` of each row to columns of blocks of 32 B, which are `column` bytes apart; in a column, rows are `step` bytes
// apart. Meanwhile the host fetches the rows that come next, which are too far apart for it to foresee.
void scatter(const SourceRows& from, const SourceRows& next, u64 rows, u64 bytes, std::byte* into, u64 column,
             u64 step) {
  u64 at = 0;
  for (; at + kBlockBytes <= bytes; at += kBlockBytes, into += column) {
    for (u64 r = 0; r < kRows && at % kHostLine == 0; ++r) {
      if (const std::byte* row = next[r]) __builtin_prefetch(row + at, 0, kSecondCache);
    }
    for (u64 r = 0; r < rows; ++r)
      std::memcpy(into + r * step, from[r] + at, kBlockBytes);
  }
  if (at == bytes) return;
  for (u64 r = 0; r < rows; ++r) {
    std::memcpy(into + r * step, from[r] + at, bytes - at);
    std::memset(into + r * step + (bytes - at), 0, kBlockBytes - (bytes - at));
  }
}

}  // namespace

void nd2nz_copy(const Nd2NzArgs& x, u32 element_bytes, ExecContext& c) {
  if (x.nValue == 0) return;
  const GlobalMemory& gm = c.mem.gm();
  const u64 row_bytes = u64{x.dValue} * element_bytes, from_step = u64{x.srcDValue} * element_bytes;
  const u64 step = u64{x.dstNzNStride} * kBlockBytes, column_step = u64{x.dstNzC0Stride} * kBlockBytes;
  std::array<SourceRows, 2> rows;
  for (u64 matrix = 0; matrix < x.ndNum; ++matrix) {
    const u64 from = x.src + matrix * x.srcNdMatrixStride * element_bytes;
    const u64 into = x.dst + matrix * x.dstNzMatrixStride * element_bytes;
    for (u64 part = 0; part < row_bytes; part += kPartBytes) {
      const u64 bytes = std::min(kPartBytes, row_bytes - part), columns = ceil_div<u64>(bytes, kBlockBytes);
      const auto count = [&](u64 row) { return std::min<u64>(kRows, x.nValue - row); };
      const auto locate = [&](u64 row) {
        rows[row / kRows % 2].locate(gm, from + row * from_step + part, from_step, count(row), bytes);
      };
      locate(0);
      for (u64 row = 0; row < x.nValue; row += kRows) {
        if (row + kRows < x.nValue) locate(row + kRows);
        const u64 at = into + part / kBlockBytes * column_step + row * step;
        const u64 span = (columns - 1) * column_step + (count(row) - 1) * step + kBlockBytes;
        scatter(rows[row / kRows % 2], rows[(row / kRows + 1) % 2], count(row), bytes,
                c.mem[BufId::L1].bytes(at, span).data(), column_step, step);
      }
    }
  }
}

}  // namespace vinci::isa::insn
