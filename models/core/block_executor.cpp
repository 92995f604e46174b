// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/block_executor.h"

#include "isa/census/execute.h"

namespace vinci::models {

BlockExecutor::BlockExecutor(const Setup& s, const Journal& journal)
    : spec_(s.spec),
      journal_(journal),
      accesses_(s.accesses),
      mem_(s.with_data ? std::make_unique<isa::CoreMem>(spec_.sizes, s.gm) : nullptr),
      census_(s.census) {
  if (s.with_data && !s.at_once)
    deferred_.emplace(s.pool, s.accesses, static_cast<DeferredQueue::Body&>(*this), spec_, s.gm, s.cores);
}

void BlockExecutor::begin() {
  status_ = scalar_status_ = 0;
  results_ = {};
  // Registers the task, so that the census lists tasks in the order of their first blocks. Deferred data may move in
  // another order.
  if (census_ != nullptr) census_->of(journal_.block().launch.task);
}

void BlockExecutor::retire(const isa::Issued& inst, bool touches_gm) {
  if (mem_ == nullptr) return;
  if (deferred_ && deferred_->add(inst, touches_gm)) return;
  finish();
  try {
    status_ |= execute(inst, *mem_);
  } catch (const Error& e) {
    blame(e, inst);
  }
}

u64 BlockExecutor::execute(const isa::Issued& inst, isa::CoreMem& mem) {
  u64 raised = 0;
  isa::ExecContext context{.mem = mem,
                           .spr = inst.spr,
                           .arch = spec_.arch,
                           .overflow = isa::overflow_of(spec_, inst.spr),
                           .status = raised,
                           .results = results_,
                           .numerics = spec_.numerics};
  isa::execute(inst, context, census_, observer_, journal_.block().launch, journal_.name());
  return raised;
}

void BlockExecutor::blame(const Error& e, const isa::Issued& inst) {
  journal_.blame(e, inst.pc, &inst, isa::name(inst.pipe));
}

void BlockExecutor::step(isa::Sequencer& sequencer, bool reads_results, u64 sys_cnt) {
  const u64 seen = reads_results ? status() : 0;
  if (const auto access = sequencer.next_access(); access && access->buffer == isa::BufId::GM)
    accesses_.before(Rows::of(*access), access->write);
  scalar_status_ |= census_ != nullptr ? isa::step(sequencer, seen, results_, sys_cnt, census_, journal_.block().launch,
                                                   journal_.name())
                                       : sequencer.step(seen, results_, sys_cnt);
}

}  // namespace vinci::models
