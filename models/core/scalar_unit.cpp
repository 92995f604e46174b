// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/scalar_unit.h"

#include <utility>

#include "isa/insns/sync.h"
#include "models/explain/block_log.h"
#include "sim/kernel/run.h"

namespace vinci::models {
namespace {

// Scalar instructions that run in one go, without touching memory or pipes. Bounds how far a loop that never ends can
// run before the limits of the run are looked at.
constexpr u32 kRunAhead = 4096;

// Whether it goes into the queue of a pipe.
bool queues(const isa::Issued& inst) { return inst.pipe != isa::PipeId::S && inst.pipe != isa::PipeId::ALL; }

}  // namespace

ScalarUnit::ScalarUnit(const Setup& s)
    : Module(s.env, Counts::itself),
      ports_(s.ports),
      costs_(s.costs),
      table_(s.table),
      front_(s.spec, s.gm, s.buffers, s.core_id),
      gm_(s.gm),
      mask_waits_(s.chip.core.mask_waits),
      issue_cycles_(cycles(s.chip.core.line("scalar.sync"_cost), {}, false).occupancy),
      sys_cnt_per_cycle_(s.chip.core.sys_cnt.frequency / s.chip.clock) {
  occupation_.register_in(s.stats);
  s.stats.add("instructions", instructions_, "instructions", "executed by the scalar unit or handed to a pipe");
  if (env_.trace != nullptr) track_ = env_.trace->track(ports_.journal.name(), "S");
  env_.waiters.push_back([this](Waits& waits) { report_waiting(waits); });
}

bool ScalarUnit::drained() const {
  for (const IssuePort* p : pipes_) {
    if (p != nullptr && !p->drained()) return false;
  }
  return true;
}

void ScalarUnit::start(const isa::Code& code, const isa::Launch& launch, u64 at, u64 prepare) {
  front_.start(code, launch);
  ++env_.changes;
  prepare_ = prepare;
  running_ = true;
  waiting_for_pipes_ = false;
  busy_since_ = at;
  free_at_ = at;
  wake_at(at);
}

void ScalarUnit::wait(u64 t, Doing why) {
  if (occupation_.doing() == why) return;
  show("scalar", busy_since_, t);
  waiting_since_ = t;
  occupation_.enter(t, why);
}

void ScalarUnit::end_wait(u64 t) {
  const Doing doing = occupation_.doing();
  if (doing == Doing::busy || doing == Doing::idle) return;
  if (ports_.journal.log() != nullptr) note_wait(doing, t);
  show(kDoingNames[static_cast<usize>(doing)], waiting_since_, t);
  busy_since_ = t;
}

void ScalarUnit::show(std::string_view what, u64 begin, u64 end) {
  if (env_.trace == nullptr || begin == end) return;
  env_.trace->span({.track = track_,
                    .name = what,
                    .queued = begin,
                    .begin = begin,
                    .end = end,
                    .done = end,
                    .detail = pending_ ? isa::to_string(next_) : std::string(),
                    .source = ports_.journal.block().code->source(pending_ ? next_.pc : 0),
                    .line = pending_ ? next_.line : 0,
                    .pc = pending_ ? next_.pc : 0,
                    .task = ports_.journal.block().task});
}

void ScalarUnit::act() {
  if (!running_) return;
  do {
    const u64 t = now();
    if (t < free_at_) continue;
    if (prepare_ > 0) {
      note(CostKind::program_start, nullptr, t, t + prepare_);
      occupation_.busy(t, t + prepare_);
      free_at_ = t + std::exchange(prepare_, 0);
      continue;
    }
    if (ahead_) throw_ahead();
    if (pending_ && !deliver(t)) return;
    if (t < free_at_) continue;
    if (front_.done()) return finish(t);
    if (!run(t)) return;
  } while (go_on_to(free_at_));
}

void ScalarUnit::throw_ahead() {
  try {
    std::rethrow_exception(ahead_->error);
  } catch (const Error& e) {
    blame(e, ahead_->pc, nullptr);
  }
}

void ScalarUnit::blame(const Error& e, u32 pc, const isa::Issued* inst) const {
  if (e.fault() == Fault::Program) {
    for (IssuePort* pipe : pipes_)
      if (pipe != nullptr) pipe->fail_if_held();
  }
  ports_.journal.blame(e, pc, inst, "S");
}

bool ScalarUnit::issue() {
  resolved_ = nullptr;
  pending_ = front_.issue(next_, [this](const isa::Issued& inst) {
    if (inst.row->role != isa::Role::work) return false;
    resolved_ = table_.find(inst);
    return resolved_ != nullptr;
  });
  if (pending_ && resolved_ == nullptr && next_.row->role == isa::Role::work) resolved_ = table_.add(next_);
  return pending_;
}

bool ScalarUnit::deliver(u64 t) {
  const isa::Issued& inst = next_;
  if (!queues(inst)) {
    switch (inst.row->role) {
      case isa::Role::wait_flag: {
        const auto& a = isa::args_of<isa::insn::WaitFlag>(inst.args);
        const auto look = ports_.flags.look(t, a);
        if (look == EventFlags::Look::not_yet) wake_at(ports_.flags.visible_at(a));
        if (look != EventFlags::Look::up) {
          wait(t, Doing::wait_flag);
          return false;
        }
        flag_set_at_ = ports_.flags.set_at(a);
        ports_.flags.lower(a);
        if (a.inserted != 0) {
          const u64 waited = occupation_.doing() == Doing::wait_flag ? t - waiting_since_ : 0;
          ports_.journal.pass_inserted(inst, waited + issue_cycles_);
        }
        break;
      }
      case isa::Role::set_flag: {
        const auto& a = isa::args_of<isa::insn::SetFlag>(inst.args);
        if (ports_.flags.blocked(t, a) && ports_.flags.will_be_taken(a)) {  // it waits as a pipe does
          wait(t, Doing::wait_flag);
          return false;
        }
        ports_.flags.raise(t, a);
        if (BlockLog* log = ports_.journal.log()) log->raised(a, Cause::kScalar, t);
        if (a.inserted != 0) ports_.journal.charge_inserted(inst, issue_cycles_);
        break;
      }
      case isa::Role::cross_wait:
        if (!take_cross_flag(isa::args_of<isa::insn::WaitFlagDev>(inst.args).flag)) {
          wait(t, Doing::wait_flag);
          return false;
        }
        break;
      default:  // pipe_barrier; everything scalar before it has already happened
        waiting_for_pipes_ = inst.pipe == isa::PipeId::ALL && !drained();
        if (waiting_for_pipes_) {
          wait(t, Doing::barrier);
          return false;
        }
        if (is_inserted(inst)) {
          const u64 waited = occupation_.doing() == Doing::barrier ? t - waiting_since_ : 0;
          ports_.journal.pass_inserted(inst, waited + issue_cycles_);
        }
    }
  } else {
    IssuePort& pipe = pipe_of(inst);
    if (pipe.full() || t > free_at_) wait(free_at_, Doing::queue_full);
    if (pipe.full()) return false;
    push(pipe, t);
  }
  end_wait(t);
  pending_ = false;
  free_at_ = t + issue_cycles_;
  note(CostKind::issue, &next_, t, free_at_);
  occupation_.busy(t, free_at_);
  return true;
}

// Counts down a flag that other cores have set; false: they have not.
bool ScalarUnit::take_cross_flag(u32 flag) {
  const Block& block = ports_.journal.block();
  return block.cross->take(block.self, flag);
}

void ScalarUnit::push(IssuePort& pipe, u64 at) {
  if (is_inserted(next_)) ports_.journal.charge_inserted(next_, issue_cycles_);
  switch (next_.row->role) {
    case isa::Role::wait_flag: return pipe.wait_flag(next_, at);
    case isa::Role::set_flag: return pipe.set_flag(next_, at);
    case isa::Role::pipe_barrier: return pipe.barrier(next_, at);
    case isa::Role::cross_set: return pipe.cross_set(next_, at);
    default: break;
  }
  // Where it is so (core.mask_waits), a vector instruction does not overlap with the one before it if the mask was set
  // between them, to whatever value.
  const bool vector = next_.pipe == isa::PipeId::V;
  pipe.work(next_, resolved_, at, vector && std::exchange(mask_set_, false) && mask_waits_);
}

u64 ScalarUnit::scalar_cost(const isa::CodeInst& inst, u64 t) {
  u64 c = std::max(costs_.scalar_latencies()[inst.form], front_.stated_cycles());
  // A load from global memory waits for the memory system.
  if (const auto& a = front_.last_access(); a && a->buffer == isa::BufId::GM) {
    const u64 done = ports_.memory.request(t, *a);
    if (!a->write) c += done - t;
  }
  return c;
}

// What is arithmetic and has no fault, as Sequencer::run_plain(). The watch has seen the instruction behind it.
u32 ScalarUnit::run_plain(u32 most, u64& at) {
  for (u32 done = 0;;) {
    const u32 room = watch_.most(front_, env_.changes);
    const u32 plain = front_.run_plain(std::min(most - done, room), costs_.scalar_latencies(), at);
    count(plain);
    done += plain;
    if (plain < room) return done;
  }
}

// Where every unit that will be woken repeats what changes nothing, nothing ever changes.
void ScalarUnit::stop_livelock() {
  constexpr u32 kAsk = 4096;
  if (spun_++ % kAsk != 0 || !env_.alone || !env_.agenda.only_spins()) return;
  if (!sim::go_on_anyway(env_)) sim::report_deadlock(env_);
}

// One at a time, so that each is charged to its line.
u32 ScalarUnit::run_plain_logged(u64& at) {
  const isa::CodeInst& inst = front_.current();
  const u32 pc = front_.pc();
  const u64 begin = at;
  const u32 ran = run_plain(1, at);
  note(CostKind::scalar, inst, pc, begin, at);
  return ran;
}

void ScalarUnit::note(CostKind kind, const isa::CodeInst& inst, u32 pc, u64 begin, u64 end) {
  if (BlockLog* log = ports_.journal.log()) log->scalar(kind, inst.row, pc, inst.line, begin, end);
}

void ScalarUnit::note(CostKind kind, const isa::Issued* inst, u64 begin, u64 end) {
  BlockLog* log = ports_.journal.log();
  if (log == nullptr) return;
  if (inst == nullptr) {
    log->scalar(kind, nullptr, 0, 0, begin, end);
  } else {
    log->scalar(kind, inst->row, inst->pc, inst->line, begin, end);
  }
}

void ScalarUnit::note_wait(Doing waited, u64 t) {
  BlockLog& log = *ports_.journal.log();
  switch (waited) {
    case Doing::queue_full: return log.waited_for_room(next_, waiting_since_, t);
    case Doing::barrier: return log.waited_for_pipes(&next_, waiting_since_, t);
    case Doing::drain: return log.waited_for_pipes(nullptr, waiting_since_, t);
    default: break;
  }
  if (next_.row->role == isa::Role::cross_wait) {
    log.waited_for_core(next_, waiting_since_, t, isa::args_of<isa::insn::WaitFlagDev>(next_.args).flag);
  } else {
    log.waited_for_flag(next_, waiting_since_, t, flag_set_at_);
  }
}

void ScalarUnit::count(u32 instructions) {
  watch_.ran(instructions);
  env_.instructions += instructions;
  instructions_ += instructions;
}

// Arithmetic runs ahead of the clock, and so does what goes into the queue of a pipe that has room: until it gets there
// the queue can only become emptier. All else happens at its own time.
bool ScalarUnit::run(u64 t) {
  if (!spins()) {
    spun_ = 0;
  } else {
    stop_livelock();
  }
  u64 at = t;
  for (u32 n = 0; n < kRunAhead; ++n) {
    u32 pc = front_.pc();
    try {
      if (ports_.journal.log() == nullptr) {
        n += run_plain(kRunAhead - n, at);
      } else {
        n += run_plain_logged(at);
      }
      pc = front_.pc();
      const isa::CodeInst* inst = &front_.current();
      const bool scalar = inst->row->role == isa::Role::scalar || inst->row->role == isa::Role::end;
      if (!scalar) {
        count(1);
        if (inst->row->role != isa::Role::pipe_barrier) ++env_.changes;
        if (!issue()) {  // left out
          note(CostKind::issue, *inst, pc, at, at + issue_cycles_);
          at += issue_cycles_;
          break;
        }
        const bool queued = queues(next_);
        if (queued && !pipe_of(next_).full()) {
          push(pipe_of(next_), at);
          pending_ = false;
          note(CostKind::issue, &next_, at, at + issue_cycles_);
          at += issue_cycles_;
          continue;
        }
        occupation_.busy(t, at);
        free_at_ = waiting_since_ = at;
        return at > t ? !queued : deliver(t);  // a pipe says when it has room
      }
      const bool timeless =
          inst->row->footprint == nullptr && inst->row->cost != "scalar.load"_cost && !inst->row->reads_results;
      if (!timeless && at > t) break;
      if (!inst->row->remark) count(1);
      if (!timeless) ports_.executor.finish();
      const bool reads = inst->row->reads_results;
      ports_.executor.step(front_, reads, reads ? static_cast<u64>(static_cast<double>(t) * sys_cnt_per_cycle_) : 0);
      if (front_.changed_memory()) ++env_.changes;
      if (front_.stated_cycles() != 0)
        ports_.journal.charge_native(*inst, pc, front_.stated_cycles(), front_.counted_cycles());
      mask_set_ |= inst->row->sets_mask;
      const u64 begin = at;
      if (!inst->row->remark) at += scalar_cost(*inst, at);
      note(timeless ? CostKind::scalar : CostKind::scalar_load, *inst, pc, begin, at);
      if (front_.done()) break;
    } catch (const Error& e) {
      if (at == t) blame(e, pc, pending_ ? &next_ : nullptr);
      ahead_ = {std::current_exception(), pc};
      break;
    }
  }
  if (at > t) occupation_.busy(t, at);
  free_at_ = at;
  return true;
}

void ScalarUnit::finish(u64 t) {
  waiting_for_pipes_ = !drained();
  if (waiting_for_pipes_) {
    wait(t, Doing::drain);
    return;
  }
  if (occupation_.doing() == Doing::drain) {
    end_wait(t);
  } else {
    show("scalar", busy_since_, t);
  }
  running_ = false;
  ++env_.changes;
  occupation_.enter(t, Doing::idle);
  ports_.block.block_done();
}

std::string ScalarUnit::why_waiting() const {
  if (occupation_.doing() != Doing::wait_flag) return "";
  if (next_.row->role != isa::Role::cross_wait) {
    return ports_.flags.why_down(isa::args_of<isa::insn::WaitFlag>(next_.args), *ports_.journal.block().code);
  }
  const Block& block = ports_.journal.block();
  return fmt::format("; it is {}, {}", block.cross->name(block.self),
                     block.cross->missing(block.self, isa::args_of<isa::insn::WaitFlagDev>(next_.args).flag));
}

void ScalarUnit::report_waiting(Waits& waits) const {
  if (!running_) return;
  const isa::Code& code = *ports_.journal.block().code;
  if (pending_) {
    std::string what = isa::to_string(next_);
    if (queues(next_)) what = fmt::format("room in the queue of PIPE_{}, to issue {}", isa::name(next_.pipe), what);
    waits.units.push_back({.core = ports_.journal.name(),
                           .unit = "S",
                           .what = fmt::format("waits for {} ({})", what, code.place(next_.pc)),
                           .why = why_waiting(),
                           .since = waiting_since_});
  } else if (waiting_for_pipes_) {
    waits.units.push_back({.core = ports_.journal.name(),
                           .unit = "S",
                           .what = "waits for the other pipes at the end of",
                           .block = ports_.journal.block().launch.block_idx,
                           .since = waiting_since_});
  } else if (spins()) {
    waits.units.push_back({.core = ports_.journal.name(),
                           .unit = "S",
                           .what = fmt::format("repeats {} of", watch_.where()),
                           .why = watch_.why(gm_),
                           .block = ports_.journal.block().launch.block_idx});
  } else if (front_.pc() < code.size()) {
    waits.units.push_back(
        {.core = ports_.journal.name(),
         .unit = "S",
         .what = fmt::format("is at {} ({}) of", code[front_.pc()].row->name, code.place(front_.pc())),
         .block = ports_.journal.block().launch.block_idx});
  }
}

}  // namespace vinci::models
