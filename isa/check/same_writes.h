// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "isa/check/present.h"
#include "isa/check/record.h"
#include "isa/mem/global_memory.h"

namespace vinci::isa::check {

// Two writes of global memory that nothing orders, with the same values: whichever comes last, memory is the same. So a
// conflict of two writes is held back until the run has executed both; where the later one changed nothing, it is none.
class SameWrites {
 public:
  using Report = std::function<void(const Record& other, const Present& now, const Access& access, u64 begin, u64 end)>;

  SameWrites(const GlobalMemory& gm, Report report) : gm_(gm), report_(std::move(report)) {}

  // Whether the run has data, and so says what it executes.
  void watch(bool with_data) { with_data_ = with_data; }

  // Whether the conflict of two writes of [begin, end) is held back, or is none. False: it is one now.
  bool hold(const Record& other, const Present& now, const Access& access, u64 begin, u64 end);
  // Around the execution of each instruction of a block.
  void executing(u32 actor, const Issued& inst);
  void executed(u32 actor, const Issued& inst);
  // The run is over: what is still held back is reported.
  void finish();

  // Conflicts that were none.
  u64 count() const { return count_; }

 private:
  struct Held {
    Record other, now;
    std::optional<Issued> inst;  // of `now`
    Access access;
    u64 begin = 0, end = 0;
    std::vector<std::byte> before = {};  // what the later of the two finds there; empty until it is executed
  };
  using Key = u64;
  static Key key_of(u32 actor, u64 order) { return u64{actor} << 32 | order; }
  bool was_executed(const Record& r) const;
  std::vector<std::byte> bytes_of(const Held& held) const;
  void report(const Held& held) const;
  void forget(std::list<Held>::iterator held);

  const GlobalMemory& gm_;
  Report report_;
  bool with_data_ = false;
  std::list<Held> held_;
  // By each of the two instructions, apart from those of the scalar unit, which are executed as they are issued.
  std::unordered_map<Key, std::vector<std::list<Held>::iterator>> of_;
  // Of each block, by pipe: how many of its instructions were issued up to the latest that was executed.
  std::unordered_map<u32, std::array<u64, kPipeCount>> reached_;
  u64 count_ = 0;
};

}  // namespace vinci::isa::check
