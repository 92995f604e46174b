// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <random>

#include "tests/check/checked_run.h"

namespace vinci::test {

// A correct double-buffered pipeline of the vector unit, unrolled: out = ((in + bias) + 1) + 1 ... for tiles of whole
// repeats. Its synchronisation is minimal by construction: every flag pair and barrier is between two accesses of
// the same bytes that nothing else orders.
//
//   tile t, slot s = t mod 2, event s
//     wait_flag  V -> MTE2     "free in t"      the slot of the input is free again (from tile 2 on)
//     load                     "load t"
//     set, wait  MTE2 -> V     "loaded set t", "loaded wait t"
//     wait_flag  MTE3 -> V     "free out t"     the slot of the output is free again (from tile 2 on)
//     vadd, vadds ...          "op t i", with "barrier t i" before each but the first
//     set        V -> MTE2     "used t"         while a tile t + 2 exists
//     set, wait  V -> MTE3     "done set t", "done wait t"
//     store                    "store t"
//     set        MTE3 -> V     "stored t"       while a tile t + 2 exists
struct VectorPipeline {
  u32 tiles = 4;    // of a block
  u32 repeats = 2;  // of a tile
  u32 ops = 3;      // at least 2: the first adds the bias, the last writes the output slot
  u32 blocks = 2;

  static VectorPipeline random(std::mt19937_64& random);

  u32 tile_bytes() const { return repeats * 256; }
  u64 in_bytes() const { return u64{tiles} * blocks * tile_bytes(); }
  // Addresses in UB.
  u32 in(u32 tile) const { return tile % 2 * 0x1000; }
  u32 bias() const { return 0x2000; }
  u32 temporary(u32 op) const { return 0x3000 + op * 0x1000; }
  u32 out(u32 tile) const { return 0x8000 + tile % 2 * 0x1000; }

  Lines program() const;
  std::string op_text(u32 op, u32 dst, u32 src) const;
  u32 op_dst(u32 tile, u32 op) const { return op + 1 == ops ? out(tile) : temporary(op); }
  u32 op_src(u32 tile, u32 op) const { return op == 0 ? in(tile) : temporary(op - 1); }
  std::vector<DeviceBuffer> buffers() const;
};

}  // namespace vinci::test
