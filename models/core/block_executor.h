// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "models/core/journal.h"
#include "models/core/ports.h"
#include "models/deferred/deferred_queue.h"

namespace vinci::isa {
struct Census;   // isa/census/census.h
class Observer;  // isa/machine/observer.h
}  // namespace vinci::isa

namespace vinci::models {

// The buffers of a core and what instructions leave in them, in STATUS and in result registers. Data of retired
// instructions move at once, or late (DeferredQueue).
class BlockExecutor final : public Executor, private DeferredQueue::Body {
 public:
  struct Setup {
    const isa::CoreSpec& spec;
    isa::GlobalMemory& gm;
    bool with_data;       // false: timing only, no bytes exist
    bool at_once;         // something watches the order in which the data of all cores move
    isa::Census* census;  // may be null
    ThreadPool& pool;
    DeferredAccesses& accesses;
    u32 cores;  // of the chip, that threads of the host may be busy with
  };
  BlockExecutor(const Setup& setup, const Journal& journal);

  // Hears of what is executed; only where data move at once.
  void watch(isa::Observer& observer) { observer_ = &observer; }

  // The block of the journal begins: nothing is left of the one before.
  void begin();
  void retire(const isa::Issued& inst, bool touches_gm) override;
  void finish() override {
    if (deferred_) deferred_->finish();
  }
  void step(isa::Sequencer& sequencer, bool reads_results, u64 sys_cnt) override;

  isa::CoreMem* memory() { return mem_.get(); }  // null in timing-only runs
  // Of the present or latest block, after finish().
  u64 status() const { return status_ | scalar_status_; }

 private:
  u64 execute(const isa::Issued& inst, isa::CoreMem& mem) override;
  void raise(u64 status) override { std::atomic_ref(status_).fetch_or(status); }
  isa::CoreMem& buffers() override { return *mem_; }
  [[noreturn]] void blame(const Error& e, const isa::Issued& inst) override;

  const isa::CoreSpec& spec_;
  const Journal& journal_;
  DeferredAccesses& accesses_;
  std::unique_ptr<isa::CoreMem> mem_;
  isa::Census* census_;
  isa::Observer* observer_ = nullptr;
  u64 status_ = 0, scalar_status_ = 0;
  isa::ResultRegisters results_;
  std::optional<DeferredQueue> deferred_;
};

}  // namespace vinci::models
