// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "isa/arithmetic.h"
#include "isa/program.h"

namespace vinci::isa {

// One instruction ready to run: immediates are in place, what comes from scalar registers is patched in when it runs.
struct alignas(64) CodeInst {
  struct Patch {
    const FieldInfo* field = nullptr;
    u8 reg = 0;
  };
  static constexpr u8 kNoRegister = 0xff;

  const Row* row = nullptr;
  // Where the whole meaning is arithmetic: its operands, constants or registers, and where a branch goes.
  struct Plain {
    Arithmetic what;
    std::array<u64, 2> constants{};
    std::array<u8, 2> registers{kNoRegister, kNoRegister};
  } plain;
  u8 type = 0;
  u8 written = kNoRegister;  // the scalar register that it writes
  u32 sources = 0;           // bit r: scalar register Xr is patched in
  u32 target = 0;            // of a branch
  u32 form = 0;              // of its row and type: form_index()
  u32 line = 0;
  u16 file = 0;  // that the line is of: 0, the source of the program
  u8 patch_count = 0;
  bool branches = false;
  ArgsStorage args;
  std::array<Patch, kMaxOperands> patches{};
};

// A program decoded once for all its blocks. Verifies the program first (see codec.h).
class Code {
 public:
  explicit Code(const Program& program);
  // An empty one, to which instructions are appended while a machine runs it. They need no registers for operands.
  Code(Arch arch, std::string source) : arch_(arch), sources_{std::move(source)} {}
  void append(const Inst& inst, u32 line, u16 file = 0);
  // The number of a file that lines may be of.
  u16 file(const std::string& name);

  const CodeInst& operator[](u32 pc) const { return insts_[pc]; }
  u32 size() const { return static_cast<u32>(insts_.size()); }
  Arch arch() const { return arch_; }
  // The file that the line of an instruction is of.
  const std::string& source(u32 pc) const { return sources_[pc < insts_.size() ? insts_[pc].file : 0]; }
  // All of them; the source of the program is the first.
  const std::vector<std::string>& sources() const { return sources_; }
  // "file:line" of an instruction, or "file[pc]" where its line is not known; behind the end, that of the last.
  std::string place(u32 pc) const;

 private:
  Arch arch_;
  std::vector<std::string> sources_;
  std::vector<CodeInst> insts_;
};

}  // namespace vinci::isa
