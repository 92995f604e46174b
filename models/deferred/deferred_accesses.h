// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "models/deferred/rows.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

// Reads and writes of global memory that count as done and that their owners carry out later: before another part
// writes what is still to be read, or touches what is still to be written. Each part says what it is about to do, tasks
// by way of RunMemory, so all see the bytes of the order in which accesses were put off. For one thread; an owner may
// use others, as long as its work is done when complete() returns.
class DeferredAccesses final : public task::RunMemory::Watcher {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;   // nothing is put off then
    virtual void complete() = 0;  // and forget(); may throw, and then nothing else is done

   private:
    friend class DeferredAccesses;
    std::vector<Rows> reads_, writes_;
  };

  // An access that happens now, by a part other than `who`: owners that are in its way carry out what they put off.
  void before(const Rows& rows, bool write, const Owner* who = nullptr);
  void before(u64 address, u64 bytes, bool write) override { before({address, address + bytes}, write); }
  void defer(Owner& who, const Rows& rows, bool write);
  void forget(Owner& who);

 private:
  std::vector<Owner*> owners_;
  Rows all_reads_, all_writes_;
};

}  // namespace vinci::models
