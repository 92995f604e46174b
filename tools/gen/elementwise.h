// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "isa/base/types.h"

namespace vinci::gen {

// A kernel that computes out[i] from in0[i], in1[i], ... over arrays of any multiple of 128 elements: tiles are dealt
// out to the blocks, and copies overlap with the vector unit through two slots of UB. The launch passes the addresses
// of the inputs and of the output and then the scalars, in this order.
struct Elementwise {
  std::vector<u32> input_bytes;  // of an element: 2 or 4; at most 4 inputs
  u32 output_bytes = 2;
  u32 scalars = 0;      // s0, s1: arguments of the launch; at most 2
  u32 temporaries = 0;  // t0, t1, ... of up to 4 bytes an element; at most 3
  // Vector instructions on the tile, in order, with a pipe_barrier after each. They may use the registers
  //   in0.., out, t0..   addresses in UB
  //   s0, s1             scalars
  //   r16, r32           repeats that cover the tile with 16-bit and with 32-bit lanes
  std::vector<std::string> body;
};

inline constexpr u64 kElementwiseTile = 2048;  // elements

// Throws Fault::Input where `elements` is no multiple of 128.
std::string elementwise_assembly(const Elementwise& kernel, u64 elements);

}  // namespace vinci::gen
