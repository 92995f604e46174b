// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <span>
#include <vector>

#include "models/links/schedule.h"

namespace vinci::models {

// Collects the transfers of a schedule in the order of their meaning, cuts them into pieces and finds out what each of
// them depends on, from the elements that it reads and writes.
class ScheduleBuilder {
 public:
  ScheduleBuilder(u32 ranks, u64 work, u64 piece);

  struct Move {
    u32 step = 0, from = 0, to = 0;
    u64 src = 0, dst = 0, count = 0;
    bool reduce = false;
  };
  // `after`: transfers to wait for in addition to those that follow from the data. Returns the positions of the pieces.
  std::vector<u32> add(const Move& move, std::span<const u32> after = {});

  Schedule take() { return std::move(schedule_); }
  Schedule& schedule() { return schedule_; }

 private:
  // What happened to some elements of a rank, back to what later transfers need not know.
  struct History {
    u64 end = 0;
    std::vector<u32> before;   // what the writers waited for
    std::vector<u32> writers;  // of the present contents: one copy, or reductions
    std::vector<u32> readers;  // of the present contents
    bool reduced = false;      // the writers are reductions
  };
  using Memory = std::map<u64, History>;  // by first element

  static Memory::iterator split(Memory& memory, u64 at);
  void add_piece(const Move& move, std::span<const u32> after);

  u64 piece_;
  Schedule schedule_;
  std::vector<Memory> memories_;  // by rank
};

}  // namespace vinci::models
