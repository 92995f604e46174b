// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <exception>
#include <optional>

#include "isa/machine/sequencer.h"
#include "isa/machine/spin_watch.h"
#include "models/core/flag_board.h"
#include "models/core/journal.h"
#include "models/core/occupation.h"
#include "models/core/ports.h"
#include "models/core/resolved.h"
#include "models/cost/cost.h"
#include "models/explain/cost_kind.h"
#include "sim/kernel/module.h"

namespace vinci::models {

// The scalar unit of a core: runs the scalar instructions of the program and hands the others to the pipes.
class ScalarUnit final : public sim::Module, public Issuer, public FlagUser {
 public:
  // What it is joined to, besides the pipes.
  struct Ports {
    FlagBoard& flags;
    Executor& executor;
    RequestPort& memory;
    Journal& journal;
    BlockPort& block;
  };
  struct Setup {
    sim::Env& env;
    Ports ports;
    const config::ChipConfig& chip;
    const CostTable& costs;
    ResolvedTable& table;
    const isa::CoreSpec& spec;
    const isa::GlobalMemory& gm;
    isa::CoreMem* buffers;  // null in timing-only runs
    u32 core_id;
    stats::Group& stats;
  };
  explicit ScalarUnit(const Setup& setup);

  void connect(isa::PipeId pipe, IssuePort& port) { pipes_[isa::index(pipe)] = &port; }
  void set_observer(isa::Observer* observer) { front_.set_observer(observer); }
  // The program begins `prepare` cycles after `at`, for which the unit is busy.
  void start(const isa::Code& code, const isa::Launch& launch, u64 at, u64 prepare);

  // What the instruction at hand may wait for: a place in a queue, a flag that another part takes.
  void queue_has_room() override {
    if (pending_) wake();
  }
  void pipe_drained() override {
    if (waiting_for_pipes_) wake();
  }
  // It looks at a flag when it gets there, and not before.
  bool awaits(u64 /*t*/, const Flag& /*flag*/) const override { return false; }
  void flag_visible_at(u64 cycle) override { wake_at(cycle); }
  void flag_taken() override { queue_has_room(); }
  const isa::Issued* queued_set_flag(const Flag& /*flag*/) const override { return nullptr; }
  trace::TrackId track() const override { return track_; }
  bool spins() const override { return running_ && watch_.spins(env_.changes); }
  void settle(u64 at) { occupation_.settle(at); }
  void skip_to(u64 at) { occupation_.skip_to(at); }
  const Occupation& occupation() const { return occupation_; }

 private:
  void act() override;
  bool issue();  // false: there is nothing to hand on
  IssuePort& pipe_of(const isa::Issued& inst) const { return *pipes_[isa::index(inst.pipe)]; }
  bool drained() const;
  void push(IssuePort& pipe, u64 at);
  bool deliver(u64 t);  // hands next_ on; false when it must wait
  // Runs the program up to the next thing that needs the present time. True: it goes on at free_at_; false: when others
  // wake it.
  bool run(u64 t);
  u32 run_plain(u32 most, u64& at);
  u32 run_plain_logged(u64& at);
  // For the log of the block, if there is one.
  void note(CostKind kind, const isa::CodeInst& inst, u32 pc, u64 begin, u64 end);
  void note(CostKind kind, const isa::Issued* inst, u64 begin, u64 end);
  void note_wait(Doing waited, u64 t);
  void stop_livelock();
  void count(u32 instructions);
  void finish(u64 t);
  [[noreturn]] void throw_ahead();
  // A fault of the scalar unit, unless one that comes first in the program turns up.
  [[noreturn]] void blame(const Error& e, u32 pc, const isa::Issued* inst) const;
  std::string why_waiting() const;
  bool take_cross_flag(u32 flag);
  u64 scalar_cost(const isa::CodeInst& inst, u64 t);
  void wait(u64 t, Doing why);
  void end_wait(u64 t);  // shows a wait that is over
  void show(std::string_view what, u64 begin, u64 end);
  void report_waiting(Waits& waits) const;

  Ports ports_;
  std::array<IssuePort*, isa::kPipeCount> pipes_{};  // null: the core does not have it
  const CostTable& costs_;
  ResolvedTable& table_;
  isa::Sequencer front_;
  isa::SpinWatch watch_;
  u32 spun_ = 0;  // runs in which it spins, to ask not each time whether all others do
  const isa::GlobalMemory& gm_;
  bool mask_waits_;
  u64 issue_cycles_;  // for an instruction that goes to a pipe
  double sys_cnt_per_cycle_;
  isa::Issued next_;                    // the latest instruction that is not scalar
  const Resolved* resolved_ = nullptr;  // of it, see Pipe::push()
  bool mask_set_ = false;               // since the last vector instruction
  bool pending_ = false;                // it is taken from the program, and not yet handed on
  bool running_ = false;
  bool waiting_for_pipes_ = false;
  u64 prepare_ = 0;  // until the first instruction of a block that has begun
  struct Thrown {
    std::exception_ptr error;
    u32 pc = 0;
  };
  std::optional<Thrown> ahead_;  // by an instruction whose time, free_at_, is still to come
  u64 free_at_ = 0;
  u64 waiting_since_ = 0;
  u64 flag_set_at_ = 0;  // of the flag that the latest wait_flag took
  u64 busy_since_ = 0;   // since when it has not waited, for the timeline
  Occupation occupation_;
  u64 instructions_ = 0;
  trace::TrackId track_ = 0;
};

}  // namespace vinci::models
