// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "isa/arch.h"
#include "isa/base/types.h"
#include "isa/check/fault_id.h"

namespace vinci::isa::check {

// One side of a finding: an instruction of a block, or a task that is no kernel.
struct Site {
  std::string task = {};
  u32 task_index = 0;             // tasks in the order in which they began
  std::optional<u32> block = {};  // of a kernel
  std::string core = {};          // "AIV", with the number that it has in the run
  PipeId pipe = PipeId::S;
  u32 index = 0;           // of the instruction in its program
  u32 line = 0;            // 0: unknown
  std::string place = {};  // "file:line"; "" where the file has no lines
  std::string text = {};   // the instruction, the present one with the values that it had
  bool write = false;

  bool is_task() const { return !block.has_value(); }
};

struct Finding {
  FaultId id = FaultId::out_of_bounds;
  Site at = {};
  std::optional<Site> other = {};  // the instruction that it is in conflict with; the earlier one of the program
  std::optional<BufId> buffer = {};
  std::string allocation = {};  // of global memory
  u64 begin = 0, end = 0;       // bytes of the buffer, or addresses of global memory
  std::string message = {};     // one line, with the strings that users search for
  std::string suggestion = {};  // what to add or change; may be empty
  u64 count = 1;                // times it was found, on the same pair of instructions
};

// All that was found, one entry for each pair of instructions. Entries keep the occurrence that comes first in the
// order of tasks, blocks and programs, so the list does not depend on the schedule of the run.
class Findings {
 public:
  static constexpr usize kMaxKept = 10'000;

  // What makes two occurrences the same finding. `at` and `other` name instructions.
  struct Key {
    FaultId id = FaultId::out_of_bounds;
    u64 at = 0, other = 0;
    BufId buffer = BufId::GM;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // When it happened, to compare occurrences.
  using Moment = std::tuple<u32, u32, u32>;  // task, block, position in the block

  // Counts an occurrence; `make()` gives the Finding and is called only where its text is needed.
  template <class F>
  void add(const Key& key, const Moment& moment, F&& make) {
    ++occurrences_;
    auto it = entries_.find(key);
    if (it == entries_.end()) {
      if (entries_.size() >= kMaxKept) {
        ++dropped_;
        return;
      }
      it = entries_.emplace(key, Entry{moment, make()}).first;
      it->second.finding.count = 1;
      return;
    }
    Entry& e = it->second;
    const u64 count = e.finding.count + 1;
    if (moment < e.moment) e = {moment, make()};
    e.finding.count = count;
  }

  bool empty() const { return entries_.empty(); }
  u64 occurrences() const { return occurrences_; }
  u64 dropped() const { return dropped_; }  // occurrences of further findings, beyond kMaxKept
  // Pairs of writes that were no finding because they had the same values (SameWrites).
  u64 same_writes() const { return same_writes_; }
  void set_same_writes(u64 pairs) { same_writes_ = pairs; }
  // In the order of tasks, places in the program, ids.
  std::vector<Finding> sorted() const;

 private:
  struct Entry {
    Moment moment;
    Finding finding;
  };
  std::map<Key, Entry> entries_;
  u64 occurrences_ = 0, dropped_ = 0, same_writes_ = 0;
};

}  // namespace vinci::isa::check
