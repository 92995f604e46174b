// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string>
#include <vector>

#include "isa/table/insn.h"

namespace vinci::isa {

inline constexpr usize kRegisterCount = 32;
inline constexpr usize kMaxOperands = 17;
inline constexpr usize kMaxProgramFiles = 65535;            // that its lines are of
inline constexpr usize kMaxProgramLength = usize{1} << 20;  // stored instructions
inline constexpr usize kMaxStrides = usize{1} << 22;
inline constexpr usize kMaxLoopDepth = 16;
inline constexpr u64 kMaxPositions = (u64{1} << 32) - 1;  // instructions with the turns of all loops written out

// One operand as a program states it: an immediate, or the number of the scalar register that holds it.
struct Operand {
  bool is_reg = false;
  u64 value = 0;

  friend bool operator==(const Operand&, const Operand&) = default;
};

// One instruction as a program states it; operands in the order of row->fields.
struct Inst {
  const Row* row = nullptr;
  u8 type = 0;  // index into row->types
  std::array<Operand, kMaxOperands> operands{};

  friend bool operator==(const Inst&, const Inst&) = default;
};

struct Label {
  std::string name;
  u32 index = 0;  // of the instruction that follows

  friend bool operator==(const Label&, const Label&) = default;
};

// Stored instructions that represent `count` copies of themselves, one after the other: its turns. docs/folded.md
struct Loop {
  u32 first = 0, length = 0;  // stored instructions
  u32 count = 1;

  friend bool operator==(const Loop&, const Loop&) = default;
};

// What an immediate operand grows by from one turn of a loop to the next, modulo 2^64.
struct Stride {
  u32 inst = 0;  // stored
  u32 loop = 0;  // index of a loop around it
  u8 field = 0;
  u64 by = 0;

  friend bool operator==(const Stride&, const Stride&) = default;
};

// An assembled program, in our encoding, with what messages and traces need to point at its source.
struct Program {
  Arch arch = Arch::c220;
  std::string source;  // name of the assembly file, "" if unknown
  std::vector<Word> code;
  std::vector<u32> lines;  // source line of each instruction, 0 if unknown; as long as code
  std::vector<Label> labels;
  // Where lines are not all of `source`: further files, and for each instruction the file of its line, 0 for `source`,
  // n for included[n - 1]. Both are empty, or files is as long as code.
  std::vector<std::string> included = {};
  std::vector<u16> files = {};
  // What `code` states once and what runs several times. Loops nest or are apart; by `first`, outer before inner.
  // Strides by instruction, loop and field. An instruction has a position: its number where all turns are written out.
  // Labels, branch targets and entries of kernels are positions.
  std::vector<Loop> loops = {};
  std::vector<Stride> strides = {};

  friend bool operator==(const Program&, const Program&) = default;
};

}  // namespace vinci::isa
