// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/block_transpose.h"

#include <algorithm>

namespace vinci::graph {

void scatter_blocks(isa::ProgramBuilder& p, const BlockAt& from, u64 from_step, const BlockAt& to, u64 to_step,
                    u64 repeats) {
  // VA0, VA1: sources; VA2, VA3: results.
  for (u64 half = 0; half < 2; ++half) {
    for (const bool result : {false, true}) {
      const auto at = [&](u64 i) { return isa::Value((result ? to : from)(half * 8 + i)); };
      p.set_va_reg_sb((result ? 2 : 0) + half, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
    }
  }
  // A single repeat would begin one stride on.
  p.scatter_vnchwconv_b16(2, 0, repeats, repeats == 1 ? 0 : to_step, repeats == 1 ? 0 : from_step);
}

void turn_streams(isa::ProgramBuilder& p, u64 streams, u64 turned, u64 pitch, bool back) {
  constexpr u64 kBytes = 32, kUnit = 16, kMost = 255;
  const u64 units = pitch / kUnit;
  for (u64 done = 0; done < units; done += kMost) {
    const u64 repeats = std::min(kMost, units - done);
    const BlockAt stream = [&](u64 i) { return streams + i * pitch * 2 + done * kBytes; };
    const BlockAt block = [&](u64 i) { return turned + (i + done * kUnit) * kBytes; };
    if (back) {
      scatter_blocks(p, block, kUnit, stream, 1, repeats);
    } else {
      scatter_blocks(p, stream, 1, block, kUnit, repeats);
    }
  }
  p.pipe_barrier(isa::PipeId::V);
}

// A number is two halves: blocks of one half of 16 numbers each, then again transposed with blocks of zeros, or of
// halves of signs, for the two upper halves.
void widen_to_s64(isa::ProgramBuilder& p, u64 dst, u64 src, u64 count, u64 room, std::optional<u64> signs) {
  constexpr u64 kBlock = 32, kNumbers = 128, kBatch = 16;  // blocks of so many numbers
  const u64 halves = room, upper = room + kWidenBytes / 2;
  if (!signs) p.vector_dup(isa::Type::s32, upper, 0, kWidenBytes / 2 / 256, 1, 1, 8, 8);
  for (u64 done = 0; done < count; done += kWidenRepeats * kNumbers) {
    const u64 repeats = std::min(kWidenRepeats, (count - done) / kNumbers);
    const auto take_apart = [&](u64 from, u64 to) {
      scatter_blocks(
          p, [&](u64 i) { return from + done * 4 + i * kBlock; }, kBatch, [&](u64 i) { return to + i * kBlock; },
          kBatch, repeats);
    };
    take_apart(src, halves);
    if (signs) take_apart(*signs, upper);
    p.pipe_barrier(isa::PipeId::V);
    for (const u64 side : {0, 1}) {  // 4 of 8 numbers
      const BlockAt half = [&](u64 i) {
        return (i % 4 < 2 ? halves : upper) + (2 * (4 * side + i / 4) + i % 2) * kBlock;
      };
      scatter_blocks(
          p, half, kBatch, [&](u64 i) { return dst + done * 8 + (2 * i + side) * kBlock; }, 2 * kBatch, repeats);
    }
    p.pipe_barrier(isa::PipeId::V);
  }
}

}  // namespace vinci::graph
