// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <random>

#include "tests/check/checked_run.h"

namespace vinci::test {

// A correct pipeline of a MIX task, unrolled: the AIVs of a block write tiles into one slot of a workspace, its AIC
// reads them. Both directions use mode 2 of ffts_cross_core_sync: flag 0 says that the slot is full, flag 1 that it is
// free.
//
//   AIC "base c"; tile t: "full wait t", "load t", "free set t" (not at the last tile)
//   AIV "base v"; tile t: "fill t", "filled set t", "filled wait t", "free wait t" (not at the first), "store t",
//       "full set t"
struct MixPipeline {
  u32 tiles = 3;
  u32 aivs = 1;    // of a block, 1 or 2
  u32 blocks = 2;  // the chip has a core for each

  static MixPipeline random(std::mt19937_64& random);

  // Both programs: that of the AIC, a line called "vector", that of the AIVs.
  Lines program() const;
  task::TaskStream stream(const Lines& program) const;
  config::ChipConfig chip() const { return mix_chip(blocks, aivs); }
};

}  // namespace vinci::test
