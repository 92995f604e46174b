// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/core/flag_board.h"
#include "models/core/in_order_queue.h"
#include "models/core/journal.h"
#include "models/core/occupation.h"
#include "models/core/operands.h"
#include "models/core/ports.h"
#include "models/core/unit.h"
#include "models/explain/pipe_log.h"
#include "sim/kernel/module.h"

namespace vinci::models {

// The queue of the units of one kind. Instructions leave it in order, each to the first unit that is free, may overlap
// there, and retire in order; their data move when they retire. docs/core.md has the order of events.
class Pipe final : public sim::Module, public IssuePort, public FlagUser, public Wake {
 public:
  // What it is joined to.
  struct Ports {
    FlagBoard& flags;
    Executor& executor;
    Issuer& issuer;
    CrossCorePort& cross;
    Journal& journal;
  };
  struct Setup {
    sim::Env& env;
    Ports ports;
    std::string_view name;  // as flags and messages call it
    PipeLog log;
    std::vector<std::unique_ptr<Unit>> units;  // at least one
    const CostTable& costs;
    isa::Arch arch;
    stats::Group& stats;
    usize queue_depth;
  };
  explicit Pipe(Setup setup);

  bool full() const override { return queue_.full(); }
  bool drained() const override { return queue_.drained(); }
  void work(const isa::Issued& inst, const Resolved* resolved, u64 at, bool alone) override;
  void wait_flag(const isa::Issued& inst, u64 at) override { push(kWaitFlag, inst, at); }
  void set_flag(const isa::Issued& inst, u64 at) override { push(kSetFlag, inst, at); }
  void barrier(const isa::Issued& inst, u64 at) override { push(kBarrier, inst, at); }
  void cross_set(const isa::Issued& inst, u64 at) override { push(kCrossSet, inst, at); }
  void fail_if_held() override;

  bool awaits(u64 t, const Flag& flag) const override;
  void flag_visible_at(u64 cycle) override { wake_at(cycle); }
  void flag_taken() override {
    if (!held_) return;
    other_wake_ = 0;
    wake();
  }
  bool has_wait_for(const Flag& flag) const override;
  const isa::Issued* queued_set_flag(const Flag& flag) const override;
  trace::TrackId track() const override { return track_; }
  void wake_for_work(u64 cycle) override { wake_at(cycle); }

  // Copies note what they wait for, for the log of a block.
  void keep_log();
  void settle(u64 at) { occupation_.settle(at); }
  void skip_to(u64 at) { occupation_.skip_to(at); }
  const Occupation& occupation() const { return occupation_; }
  u64 macs() const { return macs_; }
  u64 steps() const { return steps_; }
  u64 gm_read_bytes() const { return gm_read_bytes_; }
  u64 gm_write_bytes() const { return gm_write_bytes_; }

 private:
  // A kind of instruction: how it leaves the queue at `t` (false: it has to wait), and how it retires.
  struct Entry;
  struct Kind {
    bool (Pipe::*leave)(Entry& e, u64 t);
    void (Pipe::*retire)(const Entry& e, u64 t);
  };
  static const Kind kWork, kWaitFlag, kSetFlag, kBarrier, kCrossSet;
  struct Entry {
    isa::Issued inst;
    const Kind* kind = nullptr;
    const Resolved* resolved = nullptr;  // of work, at the latest when it is the head of the queue
    bool alone = false;                  // it begins when the one before is done
    u32 node = 0;                        // in the log of the block, if there is one
    u64 queued = 0;                      // when it gets into the queue
    u64 begin = 0, end = 0, done = 0;
    std::optional<Resolved> resolved_here = {};  // where no table has resolved it
    // Where there are several units: the one it runs on, what it touches, and the last instruction that it waited for.
    usize lane = 0;
    Operands operands = {};
    u64 behind_end = 0;
    double behind_slack = 0;
    u32 behind_node = PipeLog::kNone;
  };
  // A unit, and when it takes the next instruction.
  struct Lane {
    std::unique_ptr<Unit> unit;
    u64 free_at = 0;
    double slack = 0;  // how much earlier it could, were it not for whole cycles
    trace::TrackId track = 0;
    u64 instructions = 0, cycles = 0;  // occupied
  };

  void act() override;
  u64 act_on_all(u64 t);
  void retire_due(u64 t);
  bool raise_held();
  bool leave_head(u64 t);  // false when it has to wait
  u64 next_wake(u64 t);
  u64 looked_at(const Entry& head) const;

  void push(const Kind& kind, const isa::Issued& inst, u64 at);
  Entry& put(const Kind& kind, const isa::Issued& inst, u64 at);
  void wake_for_first(const Entry& e);
  bool leave_work(Entry& e, u64 t);
  bool leave_wait_flag(Entry& e, u64 t);
  bool leave_set_flag(Entry& e, u64 t);
  bool leave_barrier(Entry& e, u64 t);
  void retire_work(const Entry& e, u64 t);
  void retire_set_flag(const Entry& e, u64 t);
  void retire_cross_set(const Entry& e, u64 t);

  const Resolved& resolve(Entry& e);
  bool waits_for_operands(Entry& e, u64 t);
  usize free_lane(u64 t) const;
  void occupy(Lane& lane, u64 until);
  bool waits_for_handover(u64 t, const Resolved& work);
  void begin(Entry& e, u64 t);
  void begin_copy(Entry& e, u64 t);
  void pump(u64 t);
  void note_waiting(u64 t, Doing why);
  // Of inserted synchronisation that ends at `t`, for which the pipe may have waited.
  void pass_inserted(u64 t, const isa::Issued& inst, Doing waited);
  void report_waiting(Waits& waits) const;
  void show(const Entry& e) const;

  // What is looked at each time comes first, for the cache of the host.
  u64 other_wake_ = 0;  // while a copy makes its requests: when there is something else to do
  u64 copy_wake_ = 0;
  MemoryPort* moving_ = nullptr;  // of the newest in flight, a copy that still makes requests
  u64 free_at_ = 0;               // when the first unit can take work
  bool held_ = false;             // the oldest in flight is a set_flag whose earlier set no wait_flag has taken yet
  u64 head_wake_ = kNever;        // when the head is looked at again; kNever: another part wakes the pipe
  InOrderQueue<Entry> queue_;
  u64 busy_until_ = 0;   // when the data of the copies from and to global memory are through
  u64 all_free_at_ = 0;  // when the last unit can take work
  u64 waiting_since_ = 0;
  Occupation occupation_;
  std::vector<Lane> lanes_;
  Ports ports_;
  PipeLog log_;
  bool global_ = false;  // the latest work moves data from or to global memory
  u64 copy_floor_ = 0;   // the copy takes at least until here
  u64 copy_tail_ = 0;
  u64 instructions_ = 0, steps_ = 0, macs_ = 0, read_bytes_ = 0, write_bytes_ = 0;
  u64 gm_read_bytes_ = 0, gm_write_bytes_ = 0;
  trace::TrackId track_ = 0;
  std::string name_;
  const CostTable& costs_;
  isa::Arch arch_;
};

}  // namespace vinci::models
