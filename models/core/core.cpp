// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/core.h"

#include "isa/check/checker.h"
#include "models/core/cube_unit.h"
#include "models/core/dma.h"
#include "models/core/fixpipe.h"
#include "models/core/mte1.h"
#include "models/core/mte2.h"
#include "models/core/mte3.h"
#include "models/core/vector_unit.h"

namespace vinci::models {

Core::Core(const Setup& s, isa::CoreKind kind, u32 id)
    : spec_(core_spec(s.chip, kind)),
      counters_(core_name(kind, id)),
      port_(kind == isa::CoreKind::vector ? s.chip.ai_cores + id : id),
      journal_(s.chip_name + core_name(kind, id)),
      executor_({.spec = spec_,
                 .gm = s.gm,
                 .with_data = s.with_data,
                 .at_once = s.checker != nullptr,
                 .census = s.census,
                 .pool = s.pool,
                 .accesses = s.accesses,
                 .cores = s.chip.ai_cores},
                journal_),
      flags_(whole_cycles(s.chip.core.line("scalar.sync"_cost).tail)),
      memory_(s.memory),
      cross_(s.cross) {
  stats::Group& group = s.stats.group(counters_);
  group.add("blocks", blocks_, "blocks", "blocks that ran here");
  scalar_ = std::make_unique<ScalarUnit>(ScalarUnit::Setup{
      .env = s.env,
      .ports = {.flags = flags_, .executor = executor_, .memory = *this, .journal = journal_, .block = *this},
      .chip = s.chip,
      .costs = s.costs,
      .table = s.resolved[static_cast<usize>(kind)],
      .spec = spec_,
      .gm = s.gm,
      .buffers = executor_.memory(),
      .core_id = id,
      .stats = group.group("S")});
  flags_.connect(isa::index(isa::PipeId::S), *scalar_);
  if (s.checker != nullptr) {
    isa::check::CoreChecker& watch = s.checker->add_core(spec_, name(), s.with_data);
    journal_.watch(watch);
    executor_.watch(watch);
    scalar_->set_observer(&watch);
    flags_.be_lenient();
  }
  for (usize p = 1; p < isa::kPipeCount; ++p) {
    const auto pipe = static_cast<isa::PipeId>(p);
    if ((isa::pipes_of(kind) & isa::bit(pipe)) != 0) add_pipe(s, pipe, group.group(isa::name(pipe)));
  }
  Pipe *cube = pipes_[isa::index(isa::PipeId::M)].get(), *fixpipe = pipes_[isa::index(isa::PipeId::FIX)].get();
  if (cube != nullptr && fixpipe != nullptr) l0c_.connect(*cube, *fixpipe);
}

void Core::add_pipe(const Setup& s, isa::PipeId pipe, stats::Group& stats) {
  auto& made = pipes_[isa::index(pipe)];
  made = std::make_unique<Pipe>(Pipe::Setup{
      .env = s.env,
      .ports = {.flags = flags_, .executor = executor_, .issuer = *scalar_, .cross = *this, .journal = journal_},
      .name = isa::name(pipe),
      .log = PipeLog(journal_.log(), pipe),
      .units = units_of(s, pipe),
      .costs = s.costs,
      .arch = spec_.arch,
      .stats = stats,
      .queue_depth = s.chip.core.queues[pipe]});
  scalar_->connect(pipe, *made);
  flags_.connect(isa::index(pipe), *made);
}

std::vector<std::unique_ptr<Unit>> Core::units_of(const Setup& s, isa::PipeId pipe) {
  const auto copies = [&] {
    return CopyRule(std::make_unique<Dma>(s.memory, port_, s.chip.core.dma_chunk, s.chip.core.dma_requests,
                                          s.chip.core.dma_unaligned),
                    spec_.arch);
  };
  const config::UnitCounts& counts = s.chip.core.units;
  std::vector<std::unique_ptr<Unit>> out;
  const auto add = [&](u32 count, const auto& make) {
    for (u32 i = 0; i < count; ++i)
      out.push_back(make());
  };
  switch (pipe) {
    case isa::PipeId::M: add(counts.cube, [&] { return std::make_unique<CubeUnit>(l0c_); }); break;
    case isa::PipeId::V: add(counts.vector, [] { return std::make_unique<VectorUnit>(); }); break;
    case isa::PipeId::MTE1: add(counts.mte1, [] { return std::make_unique<Mte1>(); }); break;
    case isa::PipeId::MTE2: add(1, [&] { return std::make_unique<Mte2>(copies()); }); break;
    case isa::PipeId::MTE3: add(1, [&] { return std::make_unique<Mte3>(copies()); }); break;
    case isa::PipeId::FIX: add(1, [&] { return std::make_unique<Fixpipe>(copies(), l0c_); }); break;
    case isa::PipeId::S:
    case isa::PipeId::ALL: break;
  }
  return out;
}

void Core::start(const Block& block, u64 at, BlockOwner& owner) {
  VINCI_CHECK(!running_);
  running_ = true;
  ++blocks_;
  owner_ = &owner;
  flags_.clear();
  l0c_.clear();
  earlier_status_ |= status();
  journal_.begin(block);
  executor_.begin();
  if (block.log != nullptr) {
    for (const auto& p : pipes_)
      if (p != nullptr) p->keep_log();
  }
  scalar_->start(*block.code, journal_.block().launch, at, block.prepare);
}

void Core::block_done() {
  finish_data();
  running_ = false;
  owner_->part_done(port_);
}

void Core::set(const isa::Issued& inst, trace::TrackId track, u32 node) { cross_.set(*this, inst, track, node); }

u64 Core::request(u64 now, const isa::Access& a) {
  return memory_.access(
      now, {.port = port_, .bytes = a.len, .address = a.address, .write = a.write, .hint = memory_.hint(a.address)});
}

void Core::skip_to(u64 at, const Journal::Sums& sums) {
  journal_.add(sums);
  scalar_->skip_to(at);
  for (const auto& p : pipes_) {
    if (p != nullptr) p->skip_to(at);
  }
}

void Core::settle(u64 at) {
  scalar_->settle(at);
  for (const auto& p : pipes_) {
    if (p != nullptr) p->settle(at);
  }
}

}  // namespace vinci::models
