// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string>
#include <vector>

#include "isa/insn.h"

namespace vinci::isa {

inline constexpr usize kRegisterCount = 32;
inline constexpr usize kMaxOperands = 17;
inline constexpr usize kMaxProgramFiles = 65535;            // that its lines are of
inline constexpr usize kMaxProgramLength = usize{1} << 20;  // instructions; what a branch target can name

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

  friend bool operator==(const Program&, const Program&) = default;
};

}  // namespace vinci::isa
