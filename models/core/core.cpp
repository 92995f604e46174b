// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/core.h"

#include "isa/census/execute.h"
#include "models/core/core_spec.h"

namespace vinci::models {

Core::Core(const Setup& s, isa::CoreKind kind, u32 id)
    : name_(s.chip_name + core_name(kind, id)),
      spec_(core_spec(s.chip, kind)),
      mem_(s.with_data ? std::make_unique<isa::CoreMem>(spec_.sizes, s.gm) : nullptr),
      flags_(whole_cycles(s.chip.core.scalar.sync.tail)),
      cross_(s.cross),
      census_(s.census) {
  stats::Group& group = s.stats.group(core_name(kind, id));
  group.add("blocks", blocks_, "blocks", "blocks that ran here");
  if (s.with_data && s.checker == nullptr) backlog_.emplace(s.crew, *this, s.gm, s.chip.ai_cores);
  const config::QueueDepths& q = s.chip.core.queues;
  const std::array<u32, isa::kPipeCount> depths{0, q.v, q.m, q.mte1, q.mte2, q.mte3, q.fix};
  const u32 port = kind == isa::CoreKind::vector ? s.chip.ai_cores + id : id;
  scalar_ = std::make_unique<ScalarUnit>(s.env, *this, s.chip, s.costs, s.memory, s.resolved[static_cast<usize>(kind)],
                                         port, s.gm, id, group.group("S"));
  if (s.checker != nullptr) {
    watch_ = &s.checker->add_core(spec_, name_);
    scalar_->set_observer(watch_);
    flags_.be_lenient();
  }
  for (usize p = 1; p < isa::kPipeCount; ++p) {
    const auto pipe = static_cast<isa::PipeId>(p);
    if ((isa::pipes_of(kind) & isa::bit(pipe)) == 0) continue;
    pipes_[p] = std::make_unique<Pipe>(Pipe::Setup{.env = s.env,
                                                   .core = *this,
                                                   .costs = s.costs,
                                                   .memory = s.memory,
                                                   .port = port,
                                                   .stats = group.group(isa::name(pipe)),
                                                   .queue_depth = depths[p],
                                                   .dma_chunk = s.chip.core.dma_chunk,
                                                   .dma_requests = s.chip.core.dma_requests,
                                                   .dma_unaligned = s.chip.core.dma_unaligned},
                                       pipe);
  }
}

void Core::start(const Block& block, u64 at, std::function<void()> done) {
  VINCI_CHECK(!running_);
  running_ = true;
  ++blocks_;
  block_ = block;
  done_ = std::move(done);
  flags_.clear();
  unit_flags_.clear();
  earlier_status_ |= status();
  status_ = scalar_status_ = 0;
  results_ = {};
  if (census_ != nullptr) census_->of(block_.launch.task);  // data move late: tasks begin in this order
  if (watch_ != nullptr) watch_->begin(block_.task_id, block_.launch.block_idx, *block_.code);
  if (block_.log != nullptr) {
    for (const auto& p : pipes_)
      if (p != nullptr) p->keep_log();
  }
  scalar_->start(*block_.code, block_.launch, at, block_.prepare);
}

void Core::move_data(const isa::Issued& inst, bool touches_gm) {
  if (backlog_ && backlog_->add(inst, touches_gm)) return;
  finish_data();
  try {
    status_ |= execute(inst, *mem_);
  } catch (const Error& e) {
    blame(e, inst.pc, &inst, inst.pipe);
  }
}

u64 Core::execute(const isa::Issued& inst, isa::CoreMem& mem) {
  u64 raised = 0;
  isa::ExecContext context{.mem = mem,
                           .spr = inst.spr,
                           .arch = spec_.arch,
                           .overflow = isa::overflow_of(spec_, inst.spr),
                           .status = raised,
                           .results = results_,
                           .numerics = spec_.numerics};
  isa::execute(inst, context, census_, block_.launch, name_);
  return raised;
}

u64 Core::step_counted(isa::Sequencer& front, u64 status, u64 sys_cnt) {
  return isa::step(front, status, results_, sys_cnt, census_, block_.launch, name_);
}

bool Core::drained() const {
  for (const auto& p : pipes_) {
    if (p != nullptr && !p->drained()) return false;
  }
  return true;
}

void Core::block_done() {
  finish_data();
  running_ = false;
  done_();
}

void Core::blame(const Error& e, u32 pc, const isa::Issued* inst, isa::PipeId pipe) const {
  failed(pc, inst, e);
  throw Error(e.fault(),
              fmt::format("{}{}\n  task '{}', {}, {}, PIPE_{}", e.message(),
                          inst != nullptr ? "\n  in " + isa::to_string(*inst) : std::string(), block_.task,
                          block_.where, name_, isa::name(pipe)),
              e.location().empty() ? block_.code->place(pc) : e.location());
}

std::string Core::why_down(const isa::insn::FlagBase::Args& flag) const {
  const Pipe* src = pipes_[isa::index(flag.src)].get();
  const isa::Issued* set = src != nullptr ? src->queued_set_flag(flag) : nullptr;
  if (set == nullptr) return "; no set_flag for it was issued";
  return fmt::format("; its set_flag ({}) is behind the head of PIPE_{}", block_.code->place(set->pc),
                     isa::name(flag.src));
}

void Core::settle(u64 at) {
  scalar_->settle(at);
  for (const auto& p : pipes_) {
    if (p != nullptr) p->settle(at);
  }
}

}  // namespace vinci::models
