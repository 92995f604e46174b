// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <unordered_map>

#include "isa/program/code.h"

namespace vinci::models {

// Counts scalar code of natively run kernels by line of the source. In the program it is a `nop` with its cycles
// (docs/front-end.md).
class NativeCode {
 public:
  struct Site {
    std::string file;
    u32 line = 0;
    auto operator<=>(const Site&) const = default;
  };
  struct Sum {
    u64 own = 0;  // cycles of the program's own code
    u64 api = 0;  // of what is inside the functions that it calls
  };

  // Of an instruction that states `cycles`, of which so many were counted.
  void add(const isa::Code& code, const isa::CodeInst& inst, u32 pc, u64 cycles, u64 counted) {
    Entry& e = sums_[&inst];
    if (e.file == nullptr) e = {&code.source(pc), inst.line, {}};
    const u64 own = std::min(counted, cycles);
    e.sum.own += own;
    e.sum.api += cycles - own;
  }
  // What has come since `earlier` sums, and these added again.
  NativeCode since(const NativeCode& earlier) const {
    NativeCode out = *this;
    for (const auto& [inst, e] : earlier.sums_) {
      Sum& of = out.sums_.at(inst).sum;
      of.own -= e.sum.own;
      of.api -= e.sum.api;
    }
    return out;
  }
  void add(const NativeCode& more) {
    for (const auto& [inst, e] : more.sums_) {
      Entry& into = sums_.try_emplace(inst, Entry{e.file, e.line, {}}).first->second;
      into.sum.own += e.sum.own;
      into.sum.api += e.sum.api;
    }
  }
  void add_to(std::map<Site, Sum>& all) const {
    for (const auto& [inst, e] : sums_) {
      Sum& into = all[{*e.file, e.line}];
      into.own += e.sum.own;
      into.api += e.sum.api;
    }
  }

 private:
  struct Entry {
    const std::string* file = nullptr;  // of the code
    u32 line = 0;
    Sum sum;
  };
  std::unordered_map<const isa::CodeInst*, Entry> sums_;
};

}  // namespace vinci::models
