// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "isa/machine/issue.h"
#include "models/deferred/deferred_accesses.h"
#include "models/deferred/partition.h"
#include "models/deferred/thread_pool.h"

namespace vinci::models {

// Instructions of one core that have retired in simulated time and whose data have not moved yet. They are executed in
// order, before another part looks at what they touch: at buffers of the core a scalar load or the end of the block, at
// global memory any part (DeferredAccesses). Bits are those of executing each at once. The buffers of a core stay in
// the cache of the host for longer, and other threads can execute: one thread for each core, or several for one core
// where more threads than cores have work.
class DeferredQueue final : private ThreadPool::Job, private DeferredAccesses::Owner {
 public:
  // Executes instructions of a core; several at the same time, on several threads.
  class Body {
   public:
    // Returns the bits of STATUS that it raises. On the buffers of the core or on others.
    virtual u64 execute(const isa::Issued& inst, isa::CoreMem& mem) = 0;
    // These bits of STATUS go up; read after finish() alone.
    virtual void raise(u64 status) = 0;
    virtual isa::CoreMem& buffers() = 0;
    // Rethrows what an instruction has thrown, with its place.
    [[noreturn]] virtual void blame(const Error& e, const isa::Issued& inst) = 0;

   protected:
    ~Body() = default;
  };
  // `cores`: how many there are that threads may be busy with.
  DeferredQueue(ThreadPool& pool, DeferredAccesses& accesses, Body& core, const isa::CoreSpec& spec,
                isa::GlobalMemory& gm, u32 cores);
  ~DeferredQueue() override;

  // False where it has to be executed at once, after finish(). Then no access to global memory is in its way.
  bool add(const isa::Issued& inst, bool touches_gm);
  // Returns when all of it has been executed. Rethrows what the first instruction that threw has thrown, with its
  // place.
  void finish();

 private:
  void run(u32 thread) override;
  void help(u32 thread) override;
  void run_alone();
  bool execute(u32 at, isa::CoreMem& mem);
  void joined();
  void complete() override { finish(); }
  bool defer(const isa::Issued& inst);
  void hand_over();
  void rethrow();

  ThreadPool& pool_;
  DeferredAccesses& accesses_;
  Body& core_;
  const isa::CoreSpec& spec_;
  isa::GlobalMemory& gm_;
  std::vector<isa::Issued> open_;    // the youngest
  std::vector<isa::Issued> handed_;  // posted to the pool, which only reads it: it is not changed meanwhile
  usize most_, most_writes_;         // instructions and accesses of global memory that wait
  usize writes_ = 0;                 // accesses to global memory that are put off
  Partition partition_;              // of handed_, where several threads work at it
  std::atomic<u32> next_ = 0;        // slice
  std::mutex mutex_;                 // of what follows
  u32 failed_ = 0;
  std::exception_ptr error_;  // of handed_[failed_], the first that has thrown
};

}  // namespace vinci::models
