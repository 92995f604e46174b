// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "isa/program/program.h"

// Straight-line programs in less space. A recorded kernel is its loops, unrolled: the same instructions with operands
// that advance evenly, and so do the instruction words, as numbers of 256 bits. What repeats is said once.
namespace vinci::task {

// An instruction with its place, as far as a program stores it.
struct FoldedInst {
  isa::Word word{};
  u32 line = 0;
  u16 file = 0;

  friend bool operator==(const FoldedInst&, const FoldedInst&) = default;
};

struct FoldedCode;

// `length` instructions that follow the first `at`: each is the one `distance` before it, plus the step of its position
// in the round, which is the same in all rounds.
struct Repeat {
  u32 at = 0, distance = 0, length = 0;
  std::unique_ptr<FoldedCode> steps;  // `distance` words, without places; null: all zero
};

struct FoldedCode {
  std::vector<FoldedInst> stated;  // in order, what is not in a repeat
  std::vector<Repeat> repeats;     // by `at`
};

FoldedCode fold(std::span<const FoldedInst> code);
FoldedCode fold(const isa::Program& program);
inline constexpr int kMaxFoldDepth = 4;  // of steps of steps

// The inverse. Throws Fault::Input where the repeats are not those of a program, or make more than `limit`
// instructions.
std::vector<FoldedInst> unfold(const FoldedCode& folded, usize limit);

// The instructions and steps that it states.
usize stated(const FoldedCode& folded);

}  // namespace vinci::task
