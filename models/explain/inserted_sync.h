// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <compare>
#include <map>
#include <string>
#include <tuple>

#include "isa/insns/sync.h"
#include "isa/machine/issue.h"
#include "isa/program/code.h"

namespace vinci::models {

// Whether automatic synchronisation has added it (docs/auto-sync.md).
inline bool is_inserted(const isa::Issued& inst) {
  switch (inst.row->role) {
    case isa::Role::set_flag:
    case isa::Role::wait_flag: return isa::args_of<isa::insn::SetFlag>(inst.args).inserted != 0;
    case isa::Role::pipe_barrier: return isa::args_of<isa::insn::PipeBarrier>(inst.args).inserted != 0;
    default: return false;
  }
}

// The synchronisation that was inserted, by source line and pipes.
class InsertedSync {
 public:
  // A barrier of the pipe `src`, or a flag; of a flag the wait_flag counts.
  struct Site {
    std::string file;
    u32 line = 0;
    isa::PipeId src{}, dst{};
    bool barrier = false;
    auto operator<=>(const Site&) const = default;
  };
  struct Sum {
    u64 count = 0;
    u64 cycles = 0;  // of the scalar unit to issue, and of pipes that wait
  };

  // Of an instruction: `cycles` that it has cost just now.
  void charge(const isa::Code& code, const isa::Issued& inst, u64 cycles) { sum(code, inst).cycles += cycles; }
  // The same; it is done, with its last cycles.
  void pass(const isa::Code& code, const isa::Issued& inst, u64 cycles) {
    Sum& s = sum(code, inst);
    s.cycles += cycles;
    s.count += inst.row->role == isa::Role::set_flag ? 0 : 1;
  }
  // What has come since `earlier` sums, and these added again.
  InsertedSync since(const InsertedSync& earlier) const {
    InsertedSync out = *this;
    for (const auto& [key, s] : earlier.sums_) {
      Sum& of = out.sums_.at(key);
      of.count -= s.count;
      of.cycles -= s.cycles;
    }
    return out;
  }
  void add(const InsertedSync& more) {
    for (const auto& [key, s] : more.sums_) {
      sums_[key].count += s.count;
      sums_[key].cycles += s.cycles;
    }
  }
  void add_to(std::map<Site, Sum>& all) const {
    for (const auto& [key, s] : sums_) {
      const auto& [file, line, src, dst, barrier] = key;
      Sum& into = all[{*file, line, src, dst, barrier}];
      into.count += s.count;
      into.cycles += s.cycles;
    }
  }

 private:
  using Key = std::tuple<const std::string*, u32, isa::PipeId, isa::PipeId, bool>;  // file name: of the code

  Sum& sum(const isa::Code& code, const isa::Issued& inst) {
    const std::string* file = &code.source(inst.pc);
    if (inst.row->role == isa::Role::pipe_barrier) {
      const isa::PipeId pipe = isa::args_of<isa::insn::PipeBarrier>(inst.args).which;
      return sums_[{file, inst.line, pipe, pipe, true}];
    }
    const auto& a = isa::args_of<isa::insn::SetFlag>(inst.args);
    return sums_[{file, inst.line, a.src, a.dst, false}];
  }

  std::map<Key, Sum> sums_;
};

}  // namespace vinci::models
