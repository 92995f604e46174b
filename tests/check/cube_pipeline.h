// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <random>

#include "tests/check/checked_run.h"

namespace vinci::test {

// A correct pipeline of the cube unit on a split core, unrolled: A and B stay in L1; tiles of C = A * B are made in two
// steps of k, each with its slot of L0A and L0B, in one slot of L0C. Every flag pair and barrier is between two
// accesses that nothing else orders.
//
//   "load a", "load b", "l1 set", "l1 wait"
//   tile t, step k
//     wait_flag M -> MTE1          "l0 free t k"                 (not at the first tile)
//     load_cbuf_to_ca, .._cb       "ca t k", "cb t k"
//     set, wait MTE1 -> M          "l0 set t k", "l0 wait t k"
//     wait_flag FIX -> M           "c free t"                    (step 0, not at the first tile)
//     pipe_barrier M               "barrier t"                   (step 1)
//     mad                          "mad t k"
//     set M -> MTE1                "l0 used t k"                 (not at the last tile)
//   set, wait M -> FIX             "c set t", "c wait t"
//   copy_matrix_cc_to_gm           "store t"
//   set FIX -> M                   "c stored t"                  (not at the last)
struct CubePipeline {
  u32 m1 = 2, n1 = 2;  // fractals of C; fewer than 10 together, so that a mad needs a barrier before the next
  u32 tiles = 3;

  static CubePipeline random(std::mt19937_64& random);

  static u32 l0(u32 step) { return step * 0x1000; }  // slots of L0A and L0B

  Lines program() const;
  std::string mad_text(u32 c, u32 a, u32 b, u32 step) const;
  u32 a_bytes() const { return m1 * 2 * 512; }  // of two steps
  u32 b_bytes() const { return n1 * 2 * 512; }
  u32 c_bytes() const { return m1 * n1 * 1024; }
  std::vector<DeviceBuffer> buffers() const;
};

}  // namespace vinci::test
