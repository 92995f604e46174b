// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <span>
#include <vector>

#include "isa/program/program.h"

// Programs with loops: where a position is in the stored code, and what its operands are there. docs/folded.md
namespace vinci::isa {

// Stored instructions that run one after the other, and the turns of the loops around them.
struct Run {
  u32 begin = 0;                           // position of the first
  u32 length = 0;                          // up to the next loop, or to the end of a turn; 0: none
  u32 first = 0;                           // stored
  u32 depth = 0;                           // loops around it
  std::array<u32, kMaxLoopDepth> turns{};  // of these, the outermost first
  u32 left = 0;  // turns of the innermost that follow at once with the same stored instructions
};

// The loops of a program as a tree of positions.
class LoopTree {
 public:
  LoopTree() = default;
  // Throws Fault::Input where loops overlap, are empty or are not in their order, or where positions are too many.
  LoopTree(std::span<const Loop> loops, usize stored);

  // Instructions with the turns of all loops written out.
  u64 positions() const { return positions_; }
  bool empty() const { return nodes_.size() < 2; }
  // The run that a position is in, from its first instruction on; `at` must be below positions().
  Run find(u64 at) const;
  // Where the first copy of a stored instruction is.
  u64 position(u32 stored) const;
  // Whether a position is in no loop, or where the outermost one begins.
  bool outside(u64 at) const;
  // The loops around a stored instruction, as indices, the outermost first.
  std::vector<u32> around(u32 stored) const;

 private:
  struct Node {
    u32 first = 0, length = 0;  // stored
    u32 count = 1;
    u64 begin = 0;  // position in a turn of the loop around it
    u64 turn = 0;   // positions of a turn
    u32 depth = 0;  // of the instructions in it
    std::vector<u32> inner = {};

    u64 positions() const { return turn * count; }
  };
  u64 measure(Node& node);

  std::vector<Node> nodes_;  // loops from 1 on, in their order; 0 is the program
  u64 positions_ = 0;
};

// Whether an operand of this value with these strides fits in all turns of its loops.
bool fits_always(const FieldInfo& field, u64 value, std::span<const Stride> strides, std::span<const Loop> loops);

// Throws Fault::Input where loops or strides are not those of a program: see verify().
void verify_loops(const Program& program);

// Instructions with the turns of all loops written out.
u64 positions(const Program& program);

// The same program without loops. At most `limit` positions; throws Fault::Limit where it has more.
Program unfold(const Program& program, u64 limit = kMaxProgramLength);

}  // namespace vinci::isa
