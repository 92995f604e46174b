// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/pipe.h"

#include <algorithm>

#include "isa/insns/sync.h"
#include "models/core/core.h"

namespace vinci::models {

using isa::insn::SetFlag;
using isa::insn::WaitFlag;

namespace {

bool same_flag(const isa::Issued& a, const isa::Issued& b) {
  if (a.row->role != isa::Role::set_flag || b.row->role != isa::Role::set_flag) return false;
  const auto &x = isa::args_of<SetFlag>(a.args), &y = isa::args_of<SetFlag>(b.args);
  return x.src == y.src && x.dst == y.dst && x.event == y.event;
}

}  // namespace

Pipe::Pipe(const Setup& s, isa::PipeId id)
    : Module(s.env),
      id_(id),
      queue_(s.queue_depth),
      flying_(s.queue_depth + 64),
      core_(s.core),
      costs_(s.costs),
      dma_(s.memory, s.port, s.dma_chunk, s.dma_requests, s.dma_unaligned) {
  occupation_.register_in(s.stats);
  s.stats.add("instructions", instructions_, "instructions", "retired, synchronisation not counted");
  s.stats.add("steps", steps_, "steps", "fractal steps, repeats or fractals of its instructions");
  s.stats.add("read_bytes", read_bytes_, "B", "bytes that its instructions read, from their footprints");
  s.stats.add("write_bytes", write_bytes_, "B", "bytes that its instructions wrote, from their footprints");
  if (env_.trace != nullptr) track_ = env_.trace->track(core_.name(), isa::name(id));
  env_.waiters.push_back([this](Waits& waits) { report_waiting(waits); });
}

void Pipe::push(const isa::Issued& inst, const Resolved* resolved, u64 at, bool alone) {
  VINCI_CHECK(!queue_.full());
  Entry& e = slots_.take();
  e.inst = inst;
  e.resolved = resolved;
  e.alone = alone;
  e.queued = at;
  queue_.push_back(&e);
  if (queue_.size() == 1 && !moving_) wake_at(looked_at(e));
}

// When the head of the queue, which has not got there yet, is looked at: work, when the pipe is free for it too.
u64 Pipe::looked_at(const Entry& head) const {
  return head.inst.row->role == isa::Role::work ? std::max(head.queued, free_at_) : head.queued;
}

inline void Pipe::retire_due(u64 t) {
  while (!flying_.empty() && flying_.front()->done <= t) {
    Entry& f = *flying_.front();
    retire(f, t);
    flying_.pop_front();
    slots_.leave(f);
  }
}

// When there is something to do again; kUnknown: when somebody else says so.
inline u64 Pipe::next_wake(u64 t) {
  u64 next = kUnknown;
  if (moving_) {
    next = std::max(dma_wake_, t + 1);
  } else if (!queue_.empty()) {
    if (queue_.front()->queued > t) {
      next = looked_at(*queue_.front());
    } else if (free_at_ > t) {
      next = free_at_;
    }
  }
  if (!queue_.empty()) next = std::min(next, std::max(flag_wake_, t + 1));
  if (!flying_.empty()) next = std::min(next, flying_.front()->done);
  flag_wake_ = kUnknown;
  return next;
}

void Pipe::act() {
  for (;;) {
    const u64 t = now();
    u64 next = 0;
    if (t < other_wake_) {  // there is nothing to do but for the Dma
      if (t >= dma_wake_) pump_dma(t);
      next = std::min(std::max(dma_wake_, t + 1), other_wake_);
    }
    if (t >= other_wake_ || !moving_) next = act_on_all(t);
    if (next == kUnknown || !go_on_to(next)) return;
  }
}

// Returns when there is something to do again.
u64 Pipe::act_on_all(u64 t) {
  const bool had_work = !drained();
  if (moving_ && t >= dma_wake_) pump_dma(t);
  retire_due(t);
  while (!moving_ && !queue_.empty() && queue_.front()->queued <= t && start_next(t)) {
    retire_due(t);
  }
  const u64 next = next_wake(t);
  other_wake_ = moving_ ? flying_.front()->done : 0;
  if (had_work && drained()) core_.scalar().pipe_drained();
  return next;
}

inline void Pipe::pump_dma(u64 t) {
  dma_wake_ = dma_.pump(t);
  if (!dma_.finished()) return;
  moving_ = false;
  Entry& f = *flying_.back();
  f.end = std::max(dma_wake_, dma_floor_);
  f.done = std::max(f.end, dma_.done()) + dma_tail_;
  if (flying_.size() > 1) f.done = std::max(f.done, flying_[flying_.size() - 2]->done);  // retire in order
  free_at_ = f.end;
  busy_until_ = f.done;
  occupation_.busy(t, busy_until_);
  if (BlockLog* log = core_.log()) log->copied(f.node, f.end, f.done, dma_.log());
}

void Pipe::retire(const Entry& f, u64 t) {
  if (f.inst.row->role == isa::Role::set_flag) {
    const auto& a = isa::args_of<SetFlag>(f.inst.args);
    try {
      const bool awaited = a.dst != isa::PipeId::S && core_.pipe(a.dst)->awaits(t, a);
      const u64 visible = core_.flags().raise(t, a, awaited);
      if (BlockLog* log = core_.log()) log->raised(a, f.node, t);
      if (a.dst == isa::PipeId::S) {
        core_.scalar().wake_at(visible);
      } else {
        core_.pipe(a.dst)->wake_at(visible);
      }
    } catch (const Error& e) {
      core_.blame(e, f.inst.pc, &f.inst, id_);
    }
    show(f);
    return;
  }
  if (f.inst.row->role == isa::Role::cross_set) {
    try {
      core_.cross().set(core_, f.inst, track_, f.node);
    } catch (const Error& e) {
      core_.blame(e, f.inst.pc, &f.inst, id_);
    }
    show(f);
    return;
  }
  if (core_.with_data()) core_.move_data(f.inst, f.resolved->global);
  if (id_ == isa::PipeId::FIX && f.resolved->unit) {  // the data have moved: the whole of them is free
    core_.unit_flags().finish(*f.resolved->unit, t, t);
    core_.pipe(isa::PipeId::M)->wake_at(t);
  }
  ++instructions_;
  show(f);
}

void Pipe::show(const Entry& f) const {
  if (env_.trace == nullptr) return;
  env_.trace->span({.track = track_,
                    .name = f.inst.row->name,
                    .queued = f.queued,
                    .begin = f.begin,
                    .end = f.end,
                    .done = f.done,
                    .detail = isa::to_string(f.inst),
                    .source = core_.block().code->source(f.inst.pc),
                    .line = f.inst.line,
                    .pc = f.inst.pc,
                    .task = core_.block().task});
}

void Pipe::pop() {
  const bool was_full = queue_.full();
  queue_.pop_front();
  if (was_full) core_.scalar().queue_has_room();
}

void Pipe::note_waiting(u64 t, Doing why) {
  if (free_at_ > t || busy_until_ > t) return;  // still busy with the instruction before, or with its data
  if (occupation_.doing() == why) return;
  waiting_since_ = t;
  occupation_.enter(t, why);
}

void Pipe::pass_inserted(u64 t, const isa::Issued& inst, Doing waited) {
  core_.pass_inserted(inst, occupation_.doing() == waited ? t - waiting_since_ : 0);
}

bool Pipe::start_next(u64 t) {
  Entry& q = *queue_.front();
  bool flies = false;
  switch (q.inst.row->role) {
    case isa::Role::wait_flag: {
      const auto& a = isa::args_of<WaitFlag>(q.inst.args);
      // It is looked at when what stands before it has been taken, and takes its time even if the flag is up already.
      if (free_at_ > t) return false;
      const auto look = core_.flags().look(t, a, free_at_);
      flag_wake_ = look == EventFlags::Look::not_yet ? core_.flags().visible_at(a, free_at_) : kUnknown;
      if (look != EventFlags::Look::up) {
        note_waiting(t, Doing::wait_flag);
        return false;
      }
      const u64 set_at = core_.flags().set_at(a);
      core_.flags().lower(a);
      if (BlockLog* log = core_.log()) log->wait_flag(id_, q.inst, q.queued, t, set_at, free_at_);
      if (a.inserted != 0) pass_inserted(t, q.inst, Doing::wait_flag);
      if (env_.trace != nullptr) {
        const u64 since = occupation_.doing() == Doing::wait_flag ? waiting_since_ : t;
        show({.inst = q.inst, .queued = q.queued, .begin = since, .end = t, .done = t});
        const Pipe* from = a.src == isa::PipeId::S ? nullptr : core_.pipe(a.src);
        env_.trace->flow(from != nullptr ? from->track() : core_.scalar().track(), set_at, track_, t,
                         fmt::format("EVENT_ID{}", a.event));
      }
      if (occupation_.doing() == Doing::wait_flag) occupation_.enter(t, Doing::idle);
      break;
    }
    case isa::Role::pipe_barrier:
      if (!flying_.empty()) {
        note_waiting(t, Doing::barrier);
        return false;
      }
      if (BlockLog* log = core_.log()) log->barrier(id_, q.inst, q.queued, t);
      if (is_inserted(q.inst)) pass_inserted(t, q.inst, Doing::barrier);
      if (occupation_.doing() == Doing::barrier) occupation_.enter(t, Doing::idle);
      break;
    case isa::Role::cross_set:
    case isa::Role::set_flag: {
      if (flying_.full()) return false;
      q.begin = t;
      if (!flying_.empty()) {
        // Two of one flag are a cycle apart: a pipe that waits already takes the first.
        const Entry& last = *flying_.back();
        q.begin = std::max(t, last.done + (same_flag(last.inst, q.inst) ? 1 : 0));
        // Inside the core nothing begins before the flag is set; copies from and to global memory go on.
        if (!global_) {
          if (is_inserted(q.inst)) core_.charge_inserted(q.inst, last.done - std::min(free_at_, last.done));
          free_at_ = std::max(free_at_, last.done);
        }
      }
      q.end = q.done = q.begin;
      if (BlockLog* log = core_.log())
        q.node = log->set_flag(id_, q.inst, q.queued, t, q.begin, !global_ && !flying_.empty());
      flying_.push_back(&q);
      flies = true;
      break;
    }
    default: {
      if (free_at_ > t || flying_.full()) return false;
      if (q.alone && !flying_.empty()) return false;
      const Resolved& resolved = resolve(q);
      if (resolved.unit && wait_for_unit_flags(t, resolved)) return false;
      start_work(t, q);
      flies = true;
    }
  }
  pop();
  if (!flies) slots_.leave(q);
  return true;
}

isa::Footprint Pipe::footprint_of(const isa::Issued& inst) const {
  return inst.row->footprint(inst.args, inst.spr, core_.spec().arch);
}

const Resolved& Pipe::resolve(Entry& q) {
  if (q.resolved == nullptr) {
    q.resolved = &slots_.resolved(q).emplace(q.inst, footprint_of(q.inst), costs_, core_.spec().arch);
  }
  return *q.resolved;
}

// FIXPIPE may start before the mad that it waits for is through: as soon as no block is met too early.
bool Pipe::wait_for_unit_flags(u64 t, const Resolved& q) {
  const isa::UnitFlags& flags = core_.unit_flags();
  flag_wake_ = kUnknown;
  if (flags.ready(*q.unit)) {
    flag_wake_ = t;
    if (flags.changed() > t) {
      flag_wake_ = flags.earliest(*q.unit, cycles_of(*q.line, q.steady, flying_.empty()).occupancy);
    }
  }
  if (flag_wake_ > t) {
    note_waiting(t, Doing::wait_flag);
    return true;
  }
  flag_wake_ = kUnknown;
  if (occupation_.doing() == Doing::wait_flag) occupation_.enter(t, Doing::idle);
  return false;
}

void Pipe::start_work(u64 t, Entry& f) {
  const Resolved& q = *f.resolved;
  const config::CostLine& line = *q.line;
  steps_ += q.work.steps;
  macs_ += q.work.macs;
  read_bytes_ += q.read_bytes;
  write_bytes_ += q.write_bytes;
  gm_read_bytes_ += q.gm_read_bytes;
  gm_write_bytes_ += q.gm_write_bytes;
  const Cycles c = cycles_of(line, q.steady, flying_.empty(), t == free_at_ && !q.global ? slack_ : 0);
  slack_ = q.global ? 0 : c.slack;
  global_ = q.global;
  f.begin = t;
  f.end = t + c.occupancy;
  f.done = t + c.latency;
  if (q.unit && id_ == isa::PipeId::FIX) core_.unit_flags().take(*q.unit);
  if (q.global) {
    // The port's own time, as the cost line gives it, is the floor; the memory system can only add to it.
    moving_ = true;
    dma_floor_ = f.end;
    dma_tail_ = c.latency - c.occupancy;
    const double body = body_cycles(line, q.work);
    const double delivery = line.delivery > 0 ? std::max(line.minimum, line.delivery * body) : 0;
    const isa::Footprint footprint = footprint_of(f.inst);
    dma_.begin(t + whole_cycles(line.startup), footprint, body, line.per_piece > 0, delivery);
    if (BlockLog* log = core_.log()) {
      f.node = log->work(id_, f.inst, q, f.queued, t, t, t, f.alone);
      for (const isa::Access& a : footprint)
        if (a.buffer == isa::BufId::GM) log->touches(f.node, a.address);
    }
    f.end = f.done = kUnknown;
    flying_.push_back(&f);
    occupation_.busy(t, kUnknown);
    free_at_ = kUnknown;
    pump_dma(t);
    return;
  }
  if (!flying_.empty()) f.done = std::max(f.done, flying_.back()->done);  // retire in order
  if (BlockLog* log = core_.log()) f.node = log->work(id_, f.inst, q, f.queued, t, f.end, f.done, f.alone);
  flying_.push_back(&f);
  free_at_ = f.end;
  occupation_.busy(t, std::max(free_at_, busy_until_));
  if (q.unit && id_ == isa::PipeId::M) {  // its blocks come one after the other
    core_.unit_flags().finish(*q.unit, t, f.done);
    core_.pipe(isa::PipeId::FIX)->wake_at(t);
  }
}

void Pipe::report_waiting(Waits& waits) const {
  if (queue_.empty()) return;
  const Entry& q = *queue_.front();
  const bool flag = q.inst.row->role == isa::Role::wait_flag;
  waits.units.push_back(
      {.core = core_.name(),
       .unit = std::string(isa::name(id_)),
       .what = fmt::format("waits for {} ({})", isa::to_string(q.inst), core_.block().code->place(q.inst.pc)),
       .why = flag ? core_.why_down(isa::args_of<WaitFlag>(q.inst.args)) : "",
       .since = waiting_since_});
}

bool Pipe::awaits(u64 t, const isa::insn::FlagBase::Args& flag) const {
  if (queue_.empty() || free_at_ >= t) return false;
  const isa::Issued& head = queue_.front()->inst;
  if (head.row->role != isa::Role::wait_flag) return false;
  const auto& a = isa::args_of<WaitFlag>(head.args);
  return a.src == flag.src && a.dst == flag.dst && a.event == flag.event;
}

const isa::Issued* Pipe::queued_set_flag(const isa::insn::FlagBase::Args& flag) const {
  for (const Entry* q : queue_) {
    if (q->inst.row->role != isa::Role::set_flag) continue;
    const auto& a = isa::args_of<SetFlag>(q->inst.args);
    if (a.src == flag.src && a.dst == flag.dst && a.event == flag.event) return &q->inst;
  }
  return nullptr;
}

}  // namespace vinci::models
