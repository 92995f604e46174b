// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "isa/arch.h"
#include "isa/base/types.h"

namespace vinci::isa::check {

// One execution of an instruction that touched memory, or a task that did.
struct Record {
  u32 actor = 0;     // the block that it belongs to, see Checker
  u32 position = 0;  // on its pipe, from 1; 0 of a task
  u32 issued = 0;    // in the program order of its block
  u32 pc = 0;
  PipeId pipe = PipeId::S;
  u16 opcode = 0;
  u64 order = 0;          // Issued::order
  bool forwards = false;  // see Row::forwards
  bool atomic = false;    // its writes add up with other atomic ones in any order
  bool polls = false;     // it reads what its program waits for, see MemoryWaits
};

// Records by number. Numbers grow for ever, so that shadow cells need no cleaning when older records are forgotten.
class Records {
 public:
  // Numbers from `limit` on are not given out for long.
  explicit Records(u32 limit = u32{1} << 31) : limit_(limit) {}

  u32 add(const Record& r) {
    list_.push_back(r);
    return first_ + static_cast<u32>(list_.size()) - 1;
  }
  // The number of the latest.
  u32 latest() const { return first_ + static_cast<u32>(list_.size()) - 1; }
  // Whether a shadow cell holds the number of a record that still exists; 0 never is one.
  bool holds(u32 number) const { return number >= first_; }
  const Record& operator[](u32 number) const { return list_[number - first_]; }
  // Forgets all; false when the numbers are used up, then every shadow that holds some must be cleared.
  bool forget() {
    first_ += static_cast<u32>(list_.size());
    list_.clear();
    if (first_ < limit_) return true;
    first_ = 1;
    return false;
  }

 private:
  std::vector<Record> list_;
  u32 first_ = 1;
  u32 limit_;
};

}  // namespace vinci::isa::check
