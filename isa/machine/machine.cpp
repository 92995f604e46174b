// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/machine.h"

#include <algorithm>

#include "isa/census/execute.h"
#include "isa/insns/sync.h"
#include "isa/machine/waits.h"

namespace vinci::isa {
namespace {

constexpr u64 kUnlimited = ~u64{0};
constexpr u32 kAsk = 4096;  // instructions after which a SpinWatch is asked again, at most
// Instructions that wait in one queue, at most: more than any queue of a chip holds, where the scalar unit would wait.
constexpr usize kQueued = 1 << 16;

// What an instruction takes of the budget besides itself. In counter mode one may ask for more repeats than the operand
// of the normal mode can say; so many at a time count as one instruction, so that a budget bounds the work.
u64 extra_cost(const Issued& inst) {
  constexpr u64 kMaxRepeat = 255;
  if (inst.row->role != Role::work || inst.pipe != PipeId::V) return 0;
  const u64 steps = inst.row->work(inst.args, inst.spr).steps;
  return steps == 0 ? 0 : (steps - 1) / kMaxRepeat;
}

}  // namespace

template <class F>
void Machine::located(u32 pc, const Issued* inst, F&& body) {
  try {
    body();
  } catch (const Error& e) {
    if (!e.location().empty() || e.fault() == Fault::Deadlock) throw;
    if (observer_ != nullptr) observer_->failed(pc, inst, e);
    const std::string text = inst != nullptr ? fmt::format("{}\n  in {}", e.message(), to_string(*inst)) : e.message();
    if (const auto* illegal = dynamic_cast<const IllegalIssue*>(&e))
      throw illegal->with_message(text, code_->place(pc));
    throw Error(e.fault(), text, code_->place(pc));
  }
}

Machine::Machine(const CoreSpec& core, GlobalMemory& gm, u32 core_id, Census* census)
    : core_(core),
      mem_(core.sizes, gm),
      front_(core_, gm, &mem_, core_id),
      core_id_(core_id),
      name_(fmt::format("core{}.{}", core_id, name(core.kind))),
      census_(census) {}

void Machine::run(const Code& code, const Launch& launch, u64& budget) {
  CrossCoreFlags alone({.cube = core_.kind != CoreKind::vector, .vector_cores = core_.kind == CoreKind::vector});
  start(code, launch, &alone, {.part = core_.kind == CoreKind::vector});
  while (true) {
    const State state = advance(budget, kUnlimited);
    if (state == State::done) return;
    fail_at_fault();
    if (state == State::waits)
      throw deadlock({.cores = {waits_for()}, .where = fmt::format("{}{}", name(core_.kind), core_id_)});
  }
}

void Machine::start(const Code& code, const Launch& launch, CrossCoreFlags* flags, TaskCore self) {
  code_ = &code;
  launch_ = launch;
  cross_ = flags;
  self_ = self;
  waiting_.reset();
  pipe_failed_ = false;
  flags_.clear();
  unit_flags_.clear();
  earlier_status_ |= status_;
  status_ = 0;
  results_ = {};
  change();
  if (census_ != nullptr) census_->of(launch.task);  // tasks count in the order in which they begin
  front_.start(code, launch);
}

Machine::State Machine::advance(u64& budget, u64 quantum) {
  if (waiting_ && !passes()) return State::waits;
  while (!front_.done()) {
    if (quantum-- == 0) return State::paused;
    if (changes_ != nullptr && room_-- == 0) look_for_spinning();
    bool goes_on = true;
    const auto step = [&] {
      const CodeInst& inst = front_.current();
      if (budget == 0) fail(Fault::Limit, "the limit of instructions is reached; a loop may not end");
      --budget;
      if (!inst.row->remark) ++executed_;
      if (inst.row->role == Role::scalar || inst.row->role == Role::end) {
        status_ |= isa::step(front_, status_, results_, executed_, census_, launch_, name_);
        if (front_.changed_memory()) change();
      } else {
        if (const auto issued = front_.issue()) {
          const u64 extra = extra_cost(*issued);
          if (extra > budget) {
            fail(Fault::Limit,
                 "the limit of instructions is reached; the vector mask asks for {} repeats in counter mode",
                 issued->row->work(issued->args, issued->spr).steps);
          }
          budget -= extra;
          goes_on = push(*issued);
        }
      }
    };
    try {
      located(front_.pc(), nullptr, step);
    } catch (const Error& e) {
      // A second set that is still there comes first. What a pipe failed at is still the head of its queue.
      if (e.fault() == Fault::Program && !pipe_failed_) drain_all();
      throw;
    }
    if (!goes_on) return State::waits;
  }
  drain_all();
  for (const auto& queue : queues_) {
    if (!queue.empty()) report_deadlock(nullptr);
  }
  return State::done;
}

bool Machine::passes() {
  if (flags_.lenient()) drain_all();
  if (waiting_->row->role == Role::cross_set) {
    if (finds_counter_full(*waiting_)) return false;
    queues_[index(waiting_->pipe)].push_back(*waiting_);
    drain();
  } else if (!cross_->take(self_, args_of<insn::WaitFlagDev>(waiting_->args).flag)) {
    return false;
  }
  waiting_.reset();
  change();
  return true;
}

bool Machine::finds_counter_full(const Issued& inst) {
  bool full = false;
  located(inst.pc, &inst,
          [&] { full = cross_->full(self_, CrossCoreSet::parse(args_of<insn::FftsCrossCoreSync>(inst.args).config)); });
  return full;
}

void Machine::fail_at_fault() {
  if (waiting_ && waiting_->row->role == Role::cross_set) cross_set(*waiting_);
  if (waiting_) drain_all();
}

void Machine::look_for_spinning() {
  watch_.ran(granted_);
  granted_ = std::min(watch_.most(front_, *changes_), kAsk);
  room_ = granted_ - 1;
}

std::string Machine::waits_for() const {
  if (!waiting_ && spins())
    return fmt::format("{} repeats {}{}", cross_->name(self_), watch_.where(), watch_.why(mem_.gm()));
  if (!waiting_) return fmt::format("{} is at {}", cross_->name(self_), code_->place(front_.pc()));
  if (waiting_->row->role == Role::cross_set)
    return fmt::format("{} has no room in the counter of {} ({})", cross_->name(self_), to_string(*waiting_),
                       code_->place(waiting_->pc));
  return fmt::format("{} waits for {} ({}); {}", cross_->name(self_), to_string(*waiting_), code_->place(waiting_->pc),
                     cross_->missing(self_, args_of<insn::WaitFlagDev>(waiting_->args).flag));
}

void Machine::cross_set(const Issued& inst) {
  located(inst.pc, &inst, [&] {
    const CrossCoreSet what = CrossCoreSet::parse(args_of<insn::FftsCrossCoreSync>(inst.args).config);
    for (const TaskCore& core : cross_->set(self_, what))
      cross_->increment(core, what.flag);
  });
}

bool Machine::push(const Issued& inst) {
  if (inst.row->role != Role::pipe_barrier) change();
  if (inst.row->role == Role::cross_wait) {
    drain();
    if (cross_->take(self_, args_of<insn::WaitFlagDev>(inst.args).flag)) return true;
    waiting_ = inst;
    return false;
  }
  // A core without time does not know how far others have come: it goes on when there is room.
  if (inst.row->role == Role::cross_set && queues_[index(inst.pipe)].empty() && finds_counter_full(inst)) {
    waiting_ = inst;
    return false;
  }
  if (inst.row->role == Role::wait_flag && inst.pipe == PipeId::S) {
    drain();
    const auto& a = args_of<insn::WaitFlag>(inst.args);
    if (!flags_.up(a.src, a.dst, a.event)) drain_all();
    if (!flags_.up(a.src, a.dst, a.event)) report_deadlock(&inst);
    flags_.lower(a.src, a.dst, a.event);
    return true;
  }
  if (inst.row->role == Role::set_flag && inst.pipe == PipeId::S) {
    const auto& a = args_of<insn::SetFlag>(inst.args);
    located(inst.pc, &inst, [&] { flags_.raise(a.src, a.dst, a.event); });
    drain();
    return true;
  }
  if (inst.row->role == Role::pipe_barrier && (inst.pipe == PipeId::S || inst.pipe == PipeId::ALL)) {
    inst.pipe == PipeId::ALL ? drain_all() : drain();
    for (const auto& queue : queues_) {
      if (inst.pipe == PipeId::ALL && !queue.empty()) report_deadlock(&inst);
    }
    return true;
  }
  if (queues_[index(inst.pipe)].size() == kQueued) drain_all();
  if (queues_[index(inst.pipe)].size() == kQueued) report_deadlock(&inst);
  queues_[index(inst.pipe)].push_back(inst);
  if (queues_[index(inst.pipe)].size() == 1) drain();
  return true;
}

bool Machine::advance(PipeId pipe) {
  auto& queue = queues_[index(pipe)];
  if (queue.empty()) return false;
  const Issued& inst = queue.front();
  switch (inst.row->role) {
    case Role::wait_flag: {
      const auto& a = args_of<insn::WaitFlag>(inst.args);
      if (!flags_.up(a.src, a.dst, a.event)) return false;
      flags_.lower(a.src, a.dst, a.event);
      break;
    }
    case Role::set_flag: {
      const auto& a = args_of<insn::SetFlag>(inst.args);
      if (flags_.up(a.src, a.dst, a.event)) return false;  // it comes after the wait for the earlier one, if that comes
      flags_.raise(a.src, a.dst, a.event);
      break;
    }
    case Role::cross_set: cross_set(inst); break;
    case Role::pipe_barrier: break;  // everything before it has run
    default: {
      const auto unit = unit_flag_use(inst, core_.arch);
      if (unit && !unit_flags_.ready(*unit)) return false;
      pipe_failed_ = true;
      execute(inst);
      pipe_failed_ = false;
      if (unit) unit_flags_.finish(*unit);
    }
  }
  queue.pop_front();
  return true;
}

void Machine::drain() {
  for (bool moved = true; moved;) {
    moved = false;
    for (usize p = 0; p < kPipeCount; ++p) {
      while (advance(static_cast<PipeId>(p)))
        moved = true;
    }
  }
}

void Machine::drain_all() {
  drain();
  for (auto& queue : queues_) {
    if (queue.empty() || queue.front().row->role != Role::set_flag) continue;
    const Issued inst = queue.front();
    const auto& a = args_of<insn::SetFlag>(inst.args);
    located(inst.pc, &inst, [&] { flags_.raise(a.src, a.dst, a.event); });
    queue.pop_front();
    return drain_all();
  }
}

void Machine::execute(const Issued& inst) {
  ExecContext context{.mem = mem_,
                      .spr = inst.spr,
                      .arch = core_.arch,
                      .overflow = overflow_of(core_, inst.spr),
                      .status = status_,
                      .results = results_,
                      .numerics = core_.numerics};
  located(inst.pc, &inst, [&] { isa::execute(inst, context, census_, observer_, launch_, name_); });
}

void Machine::report_deadlock(const Issued* scalar) const {
  Waits waits{.where = fmt::format("{}{}", name(core_.kind), core_id_)};
  const auto add = [&](PipeId pipe, const Issued& inst) {
    waits.cores.push_back(fmt::format("{} waits for {} ({})", name(pipe), to_string(inst), code_->place(inst.pc)));
  };
  if (scalar != nullptr) add(PipeId::S, *scalar);
  for (usize p = 0; p < kPipeCount; ++p) {
    if (!queues_[p].empty()) add(static_cast<PipeId>(p), queues_[p].front());
  }
  throw deadlock(waits);
}

}  // namespace vinci::isa
