// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <memory>
#include <string>

#include "models/core/block_executor.h"
#include "models/core/core_spec.h"
#include "models/core/cross_core.h"
#include "models/core/l0c_handover.h"
#include "models/core/pipe.h"
#include "models/core/scalar_unit.h"
#include "models/memory/memory_system.h"

namespace vinci::models {

// One core: a scalar unit and the pipes that its kind has, with the units that the chip file says, joined by the ports
// of models/core/ports.h. Wiring only; docs/core.md draws it.
class Core final : private CrossCorePort, private RequestPort, private BlockPort, private CrossCore::Party {
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
    ThreadPool& pool;
    DeferredAccesses& accesses;
    std::string chip_name = {};  // comes before the name of the core: "npu1.", "" where there is one chip
  };
  Core(const Setup& setup, isa::CoreKind kind, u32 id);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Starts a block at the cycle `at`; the core must be idle. Its owner learns the cycle in which the last pipe has
  // drained.
  void start(const Block& block, u64 at, BlockOwner& owner);
  bool idle() const { return !running_; }

  // All that has retired has moved its data.
  void finish_data() { executor_.finish(); }
  const std::string& name() const { return journal_.name(); }
  std::string_view counters() const { return counters_; }  // the name of their group
  const isa::CoreSpec& spec() const { return spec_; }
  const ScalarUnit& scalar() const { return *scalar_; }
  const Pipe* pipe(isa::PipeId p) const { return pipes_[isa::index(p)].get(); }
  isa::CoreMem* mem() { return executor_.memory(); }
  // Of the present or latest block, and of all blocks so far; after finish_data().
  u64 status() const { return executor_.status(); }
  u64 status_seen() const { return earlier_status_ | status(); }
  const Journal::Sums& sums() const { return journal_.sums(); }
  // Accounts for the time up to a cycle, at the latest at the end of the run.
  void settle(u64 at);
  // Time goes on at a cycle: what the idle core would have done until then is in its counters, and this besides.
  void skip_to(u64 at, const Journal::Sums& sums);
  // What flags from other cores reach.
  CrossCore::Party& cross_core_party() { return *this; }

 private:
  void add_pipe(const Setup& setup, isa::PipeId pipe, stats::Group& stats);
  std::vector<std::unique_ptr<Unit>> units_of(const Setup& setup, isa::PipeId pipe);

  void block_done() override;
  void set(const isa::Issued& inst, trace::TrackId track, u32 node) override;
  u64 request(u64 now, const isa::Access& access) override;
  const Block* running() const override { return running_ ? &journal_.block() : nullptr; }
  const Block& latest() const override { return journal_.block(); }
  void failed(u32 pc, const Error& e) const override { journal_.failed(pc, nullptr, e); }
  void flag_arrived() override { scalar_->wake(); }
  trace::TrackId track() const override { return scalar_->track(); }

  isa::CoreSpec spec_;
  std::string counters_;
  u32 port_;  // in the memory system; also the position of the core in the chip
  Journal journal_;
  BlockExecutor executor_;
  FlagBoard flags_;
  L0cHandover l0c_;
  MemorySystem& memory_;
  CrossCore& cross_;
  u64 earlier_status_ = 0;
  u64 blocks_ = 0;
  bool running_ = false;
  BlockOwner* owner_ = nullptr;  // of the present or latest block
  std::unique_ptr<ScalarUnit> scalar_;
  std::array<std::unique_ptr<Pipe>, isa::kPipeCount> pipes_;  // by PipeId; S has none, it is the scalar unit
};

}  // namespace vinci::models
