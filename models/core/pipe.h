// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <boost/circular_buffer.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "isa/insns/sync.h"
#include "isa/issue.h"
#include "models/core/dma.h"
#include "models/core/occupation.h"
#include "models/core/resolved.h"
#include "models/cost/cost.h"
#include "sim/kernel/module.h"

namespace vinci::models {

class Core;

// One in-order execution pipe. Instructions enter from the queue, may overlap with earlier ones of the same pipe, and
// retire in order; their data move when they retire. Copies from and to global memory are paced by the memory system.
class Pipe final : public sim::Module {
 public:
  struct Setup {
    sim::Env& env;
    Core& core;
    const CostTable& costs;
    MemorySystem& memory;
    u32 port;  // of the core, in `memory`
    stats::Group& stats;
    usize queue_depth;
    u64 dma_chunk, dma_requests, dma_unaligned;
  };
  Pipe(const Setup& setup, isa::PipeId id);

  bool full() const { return queue_.full(); }
  // Puts an instruction into the queue, which must have room. It gets there at `at`, which may lie ahead. `resolved` is
  // null where it is not known, or it is no work. `alone`: it begins when the one before is done.
  void push(const isa::Issued& inst, const Resolved* resolved, u64 at, bool alone = false);
  // Nothing is queued or executing.
  bool drained() const { return queue_.empty() && flying_.empty(); }
  // Copies note what they wait for, for the log of a block.
  void keep_log() { dma_.keep_log(); }
  void settle(u64 at) { occupation_.settle(at); }
  const Occupation& occupation() const { return occupation_; }
  u64 macs() const { return macs_; }
  u64 steps() const { return steps_; }
  u64 gm_read_bytes() const { return gm_read_bytes_; }
  u64 gm_write_bytes() const { return gm_write_bytes_; }
  trace::TrackId track() const { return track_; }
  // The set_flag of a flag that still stands in the queue, for messages; null when there is none.
  const isa::Issued* queued_set_flag(const isa::insn::FlagBase::Args& flag) const;
  // Whether the next instruction waits for the flag, and has begun to before `t`.
  bool awaits(u64 t, const isa::insn::FlagBase::Args& flag) const;

 private:
  struct Entry {
    isa::Issued inst;
    const Resolved* resolved = nullptr;  // of work, at the latest when it is the head of the queue
    bool alone = false;                  // it begins when the one before is done
    u32 node = 0;                        // in the log of the block, if there is one
    u64 queued = 0;                      // when it gets into the queue
    u64 begin = 0, end = 0, done = 0;
  };
  // The slots of all instructions here, made when first needed. Reuses the most recently freed slot first, because it
  // is still in the host's cache.
  class Slots {
   public:
    Entry& take() {
      if (free_.empty()) return *all_.emplace_back(std::make_unique<Slot>());
      Entry& e = *free_.back();
      free_.pop_back();
      return e;
    }
    void leave(Entry& e) { free_.push_back(&e); }
    // Of an instruction that no table has resolved.
    static std::optional<Resolved>& resolved(Entry& e) { return static_cast<Slot&>(e).resolved_here; }

   private:
    struct Slot : Entry {
      std::optional<Resolved> resolved_here = {};
    };
    std::vector<std::unique_ptr<Slot>> all_;
    std::vector<Entry*> free_;
  };
  static constexpr u64 kUnknown = ~u64{0};

  void act() override;
  u64 act_on_all(u64 t);
  void retire_due(u64 t);
  void retire(const Entry& f, u64 t);
  bool start_next(u64 t);                              // false when the head has to wait
  bool wait_for_unit_flags(u64 t, const Resolved& q);  // false: it may start
  void start_work(u64 t, Entry& q);
  const Resolved& resolve(Entry& q);
  isa::Footprint footprint_of(const isa::Issued& inst) const;
  void pump_dma(u64 t);
  u64 next_wake(u64 t);
  u64 looked_at(const Entry& head) const;
  void pop();
  void note_waiting(u64 t, Doing why);
  // Of inserted synchronisation that ends at `t`, for which the pipe may have waited.
  void pass_inserted(u64 t, const isa::Issued& inst, Doing waited);
  void report_waiting(Waits& waits) const;
  void show(const Entry& f) const;

  // What is looked at each time comes first, for the cache of the host.
  u64 other_wake_ = 0;  // while the Dma works: when there is something else to do
  u64 dma_wake_ = 0;
  bool moving_ = false;  // the newest of flying_ is a copy that the Dma still works on
  isa::PipeId id_;
  u64 free_at_ = 0;  // when the next instruction can start
  u64 flag_wake_ = kUnknown;
  boost::circular_buffer<Entry*> queue_;
  boost::circular_buffer<Entry*> flying_;  // have begun, or are flags that wait for those before
  u64 busy_until_ = 0;                     // when the data of the copies from and to global memory are through
  double slack_ = 0;                       // how much earlier than free_at_ it could, were it not for whole cycles
  u64 waiting_since_ = 0;
  Occupation occupation_;
  Core& core_;
  const CostTable& costs_;
  Slots slots_;
  Dma dma_;
  bool global_ = false;  // the latest work moves data from or to global memory
  u64 dma_floor_ = 0;    // the copy takes at least until here
  u64 dma_tail_ = 0;
  u64 instructions_ = 0, steps_ = 0, macs_ = 0, read_bytes_ = 0, write_bytes_ = 0;
  u64 gm_read_bytes_ = 0, gm_write_bytes_ = 0;
  trace::TrackId track_ = 0;
};

}  // namespace vinci::models
