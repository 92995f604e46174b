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

}  // namespace vinci::graph
