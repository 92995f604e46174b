// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/nd2nz.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace vinci::isa::insn {

void nd2nz_copy(const Nd2NzArgs& x, u32 element_bytes, ExecContext& c) {
  const View& l1 = c.mem[BufId::L1];
  const u64 row_bytes = u64{x.dValue} * element_bytes;
  // Some rows at a time, written column of blocks by column of blocks: block columns are often a power of two apart,
  // and one row alone would meet the same cache set over and over.
  constexpr u64 kPartBytes = 1024;  // of a row; a multiple of the block
  constexpr u64 kPartRows = 16;
  std::array<std::byte, kPartBytes * kPartRows> part;
  for (u64 matrix = 0; matrix < x.ndNum; ++matrix) {
    const u64 from = x.src + matrix * x.srcNdMatrixStride * element_bytes;
    const u64 into = x.dst + matrix * x.dstNzMatrixStride * element_bytes;
    for (u64 column = 0; column < row_bytes; column += kPartBytes) {
      const u64 bytes = std::min(kPartBytes, row_bytes - column);
      const u64 padded = align_up<u64>(bytes, kBlockBytes);
      for (u64 row = 0; row < x.nValue; row += kPartRows) {
        const u64 rows = std::min(kPartRows, x.nValue - row);
        for (u64 r = 0; r < rows; ++r) {
          std::byte* at = part.data() + r * kPartBytes;
          c.mem.gm().read(from + (row + r) * x.srcDValue * element_bytes + column, {at, bytes});
          std::memset(at + bytes, 0, padded - bytes);
        }
        for (u64 b = 0; b < padded; b += kBlockBytes) {
          const u64 block = into + ((column + b) / kBlockBytes * x.dstNzC0Stride + row * x.dstNzNStride) * kBlockBytes;
          for (u64 r = 0; r < rows; ++r) {
            std::memcpy(l1.bytes(block + r * x.dstNzNStride * kBlockBytes, kBlockBytes).data(),
                        part.data() + r * kPartBytes + b, kBlockBytes);
          }
        }
      }
    }
  }
}

}  // namespace vinci::isa::insn
