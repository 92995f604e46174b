// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "isa/check/core_checker.h"
#include "isa/sequencer.h"
#include "isa/unit_flags.h"
#include "models/core/backlog.h"
#include "models/core/core_spec.h"
#include "models/core/cross_core.h"
#include "models/core/event_flags.h"
#include "models/core/inserted_sync.h"
#include "models/core/native_code.h"
#include "models/core/pipe.h"
#include "models/core/scalar_unit.h"
#include "models/cost/cost.h"
#include "models/explain/block_log.h"
#include "models/memory/memory_system.h"

namespace vinci::isa {
struct Census;  // isa/census/census.h
}

namespace vinci::models {

// One block of a kernel launch on its way to a core; in a MIX task the part of it that the core runs.
struct Block {
  const isa::Code* code = nullptr;
  isa::Launch launch;
  std::string task = {};                            // for messages
  std::string where = {};                           // the same: "block 3"
  std::shared_ptr<isa::CrossCoreFlags> cross = {};  // of the task
  isa::TaskCore self = {};
  u32 task_id = 0;          // for the checker
  u64 prepare = 0;          // cycles from the start of the block to the first instruction
  BlockLog* log = nullptr;  // keeps why its instructions began when they did; may be null
};

// One core: buffers, flags, a scalar unit and the pipes that its kind has. Wiring only.
class Core {
 public:
  struct Setup {
    sim::Env& env;
    const config::ChipConfig& chip;
    const CostTable& costs;
    MemorySystem& memory;
    CrossCore& cross;
    std::array<ResolvedTable, isa::kCoreKindNames.size()>& resolved;  // by CoreKind
    isa::GlobalMemory& gm;
    stats::Group& stats;
    bool with_data;  // false: timing only, no bytes exist
    isa::Census* census;
    isa::check::Checker* checker;  // may be null
    sim::Crew& crew;
    std::string chip_name = {};  // comes before the name of the core: "npu1.", "" where there is one chip
  };
  Core(const Setup& setup, isa::CoreKind kind, u32 id);

  // Starts a block at the cycle `at`; the core must be idle. `done` is called in the cycle in which its last pipe has
  // drained.
  void start(const Block& block, u64 at, std::function<void()> done);
  bool idle() const { return !running_; }

  // Called by the parts of the core.
  // Does what an instruction that retires now does to data, at the latest when somebody looks. Throws with its place.
  void move_data(const isa::Issued& inst, bool touches_gm);
  // All that has retired has moved its data.
  void finish_data() {
    if (backlog_) backlog_->finish();
  }
  // Returns the bits of STATUS that it raises. On buffers of the core or on others.
  u64 execute(const isa::Issued& inst, isa::CoreMem& mem);
  // The same of what may run on other threads at the same time, before anybody asks for status().
  void raise_late(u64 bits) { std::atomic_ref(status_).fetch_or(bits); }
  void block_done();
  const Pipe* pipe(isa::PipeId p) const { return pipes_[isa::index(p)].get(); }
  Pipe* pipe(isa::PipeId p) { return pipes_[isa::index(p)].get(); }
  bool drained() const;
  bool with_data() const { return mem_ != nullptr; }
  // Rethrows an error with task, core, pipe and, where it has none, its place in the program, and tells the checker.
  // `inst` is null where the message says enough.
  [[noreturn]] void blame(const Error& e, u32 pc, const isa::Issued* inst, isa::PipeId pipe) const;
  // Tells the checker of a fault that an instruction of the present or latest block has led to.
  void failed(u32 pc, const isa::Issued* inst, const Error& e) const {
    if (watch_ != nullptr) watch_->failed(pc, inst, e);
  }
  // Why a flag that is waited for when nothing moves is down: where its set_flag is stuck, or that there is none.
  std::string why_down(const isa::insn::FlagBase::Args& flag) const;

  const std::string& name() const { return name_; }
  const isa::CoreSpec& spec() const { return spec_; }
  const Block& block() const { return block_; }
  // Of the present block; null where nobody asks.
  BlockLog* log() const { return block_.log; }
  // Of the present or latest block, and of all blocks so far; after finish_data().
  u64 status() const { return status_ | scalar_status_; }
  u64 status_seen() const { return earlier_status_ | status(); }
  const isa::ResultRegisters& results() const { return results_; }
  isa::CoreMem* mem() { return mem_.get(); }
  EventFlags& flags() { return flags_; }
  isa::UnitFlags& unit_flags() { return unit_flags_; }
  ScalarUnit& scalar() { return *scalar_; }
  const ScalarUnit& scalar() const { return *scalar_; }
  // Cycles that inserted synchronisation has cost, and that it was done.
  void charge_inserted(const isa::Issued& inst, u64 cycles) { inserted_.charge(*block_.code, inst, cycles); }
  void pass_inserted(const isa::Issued& inst, u64 cycles) { inserted_.pass(*block_.code, inst, cycles); }
  const InsertedSync& inserted() const { return inserted_; }
  // A nop: cycles of scalar code that runs natively.
  void charge_native(const isa::CodeInst& inst, u32 pc, u64 cycles, u64 counted) {
    native_code_.add(*block_.code, inst, pc, cycles, counted);
  }
  const NativeCode& native_code() const { return native_code_; }
  void raise_status(u64 bits) { scalar_status_ |= bits; }  // by the scalar unit
  // Sequencer::step(), whose result a census counts.
  u64 step_counted(isa::Sequencer& front, u64 status, u64 sys_cnt);
  bool counts() const { return census_ != nullptr; }
  CrossCore& cross() { return cross_; }
  // wait_flag_dev: whether other cores have set the flag; it is then counted down.
  bool take_cross_flag(u32 flag) { return block_.cross->take(block_.self, flag); }
  // Closes the accounts at the end of the run.
  void settle(u64 at);

 private:
  std::string name_;  // "core3.AIC", "npu1.core3.AIC"
  isa::CoreSpec spec_;
  std::unique_ptr<isa::CoreMem> mem_;
  isa::check::CoreChecker* watch_ = nullptr;
  EventFlags flags_;
  isa::UnitFlags unit_flags_;
  CrossCore& cross_;
  u64 status_ = 0, scalar_status_ = 0, earlier_status_ = 0;
  isa::ResultRegisters results_;
  isa::Census* census_;
  u64 blocks_ = 0;
  bool running_ = false;
  Block block_;
  InsertedSync inserted_;
  NativeCode native_code_;
  std::function<void()> done_;
  std::unique_ptr<ScalarUnit> scalar_;
  std::array<std::unique_ptr<Pipe>, isa::kPipeCount> pipes_;  // by PipeId; S has none, it is the scalar unit
  std::optional<Backlog> backlog_;                            // where nobody watches the order of all cores
};

}  // namespace vinci::models
