// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isa/machine/arithmetic.h"
#include "isa/program/loops.h"
#include "isa/program/program.h"

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
  u8 grown_count = 0;  // operands that grow from turn to turn of loops, see Code::grow()
  u32 grown = 0;
  ArgsStorage args;  // of the first turns
  std::array<Patch, kMaxOperands> patches{};
};

// A program decoded once for all its blocks. Verifies the program first (see codec.h). Instructions are known by their
// positions (isa/program/program.h); those in loops are decoded once for all turns.
class Code {
 public:
  explicit Code(const Program& program);
  // An empty one, to which instructions are appended while a machine runs it. They need no registers for operands. It
  // keeps the latest alone; `line_of` says of what file and line the earlier ones are.
  using LineOf = std::function<std::pair<u16, u32>(u32 pc)>;
  Code(Arch arch, std::string source, LineOf line_of)
      : arch_(arch), live_(true), sources_{std::move(source)}, insts_(1), line_of_(std::move(line_of)) {}
  void append(const Inst& inst, u32 line, u16 file = 0);
  // The latest, as it was appended; and without it again.
  const CodeInst& latest() const { return insts_[0]; }
  void take_back() { --size_; }
  // The number of a file that lines may be of.
  u16 file(const std::string& name);

  // The instruction at a position, with the operands of the first turns.
  const CodeInst& operator[](u32 pc) const { return tree_.empty() ? insts_[live_ ? 0 : pc] : in_loop(pc); }
  // The instructions that run from a position on, up to the next loop or the end of a turn; null behind the last one.
  const CodeInst* find(u32 pc, Run& run) const;
  // Sets the operands that grow to what they are in these turns.
  void grow(const CodeInst& inst, const Run& run, ArgsStorage& args) const {
    for (u32 g = inst.grown; g < inst.grown + inst.grown_count; ++g) {
      const Grown& grown = grown_[g];
      u64 value = grown.value;
      for (u32 t = grown.first; t < grown.first + grown.count; ++t)
        value += terms_[t].by * run.turns[terms_[t].level];
      grown.field->set(args, value);
    }
  }
  u32 size() const { return size_; }  // positions
  // Its instructions, those of loops once.
  std::span<const CodeInst> stored() const { return insts_; }
  Arch arch() const { return arch_; }
  // The file that the line of an instruction is of.
  const std::string& source(u32 pc) const { return sources_[pc < size_ ? line_at(pc).first : 0]; }
  // All of them; the source of the program is the first.
  const std::vector<std::string>& sources() const { return sources_; }
  // "file:line" of an instruction, or "file[pc]" where its line is not known; behind the end, that of the last.
  std::string place(u32 pc) const;

 private:
  struct Grown {
    const FieldInfo* field = nullptr;
    u64 value = 0;             // in the first turns
    u32 first = 0, count = 0;  // of its terms
  };
  struct Term {
    u64 by = 0;
    u32 level = 0;  // of the loop, from the outermost on
  };
  const CodeInst& in_loop(u32 pc) const;
  std::pair<u16, u32> line_at(u32 pc) const;
  void decode_into(CodeInst& c, const Inst& inst, u32 line, u16 file);
  void add_strides(const Program& program);

  Arch arch_;
  bool live_ = false;
  u32 size_ = 0;
  std::vector<std::string> sources_;
  std::vector<CodeInst> insts_;  // stored; of a live one the latest
  LoopTree tree_;
  std::vector<Grown> grown_;
  std::vector<Term> terms_;
  LineOf line_of_;
};

// Where a walk through a program is: finds instructions one after the other without looking at all loops again.
class Cursor {
 public:
  void start(const Code& code) {
    code_ = &code;
    insts_ = nullptr;
    run_ = {};
  }
  // Null behind the last instruction.
  const CodeInst* find(u32 pc) {
    if (pc - run_.begin >= run_.length) [[unlikely]] {
      if (run_.left == 0 || pc != run_.begin + run_.length) {
        insts_ = code_->find(pc, run_);
        if (insts_ == nullptr) return nullptr;
      } else {
        run_.begin = pc;
        ++run_.turns[run_.depth - 1];
        --run_.left;
      }
    }
    return insts_ + (pc - run_.begin);
  }
  // The operands of the instruction that was found last.
  void grow(const CodeInst& inst, ArgsStorage& args) const {
    if (inst.grown_count != 0) code_->grow(inst, run_, args);
  }

 private:
  const Code* code_ = nullptr;
  const CodeInst* insts_ = nullptr;  // of the run
  Run run_;
};

}  // namespace vinci::isa
