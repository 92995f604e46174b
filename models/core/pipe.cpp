// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/pipe.h"

#include <algorithm>
#include <utility>

namespace vinci::models {

using isa::insn::PipeBarrier;
using isa::insn::SetFlag;
using isa::insn::WaitFlag;

const Pipe::Kind Pipe::kWork{&Pipe::leave_work, &Pipe::retire_work};
const Pipe::Kind Pipe::kWaitFlag{&Pipe::leave_wait_flag, nullptr};  // it is never in flight
const Pipe::Kind Pipe::kSetFlag{&Pipe::leave_set_flag, &Pipe::retire_set_flag};
const Pipe::Kind Pipe::kBarrier{&Pipe::leave_barrier, nullptr};
const Pipe::Kind Pipe::kCrossSet{&Pipe::leave_set_flag, &Pipe::retire_cross_set};

Pipe::Pipe(Setup s)
    : Module(s.env),
      queue_(s.queue_depth),
      ports_(s.ports),
      log_(s.log),
      name_(s.name),
      costs_(s.costs),
      arch_(s.arch) {
  occupation_.register_in(s.stats);
  s.stats.add("instructions", instructions_, "instructions", "retired, synchronisation not counted");
  s.stats.add("steps", steps_, "steps", "fractal steps, repeats or fractals of its instructions");
  s.stats.add("read_bytes", read_bytes_, "B", "bytes that its instructions read, from their footprints");
  s.stats.add("write_bytes", write_bytes_, "B", "bytes that its instructions wrote, from their footprints");
  for (auto& unit : s.units)
    lanes_.push_back({.unit = std::move(unit)});
  for (usize i = 0; i < lanes_.size(); ++i) {
    const std::string lane = i == 0 ? name_ : fmt::format("{}.{}", name_, i + 1);  // "M", "M.2"
    if (env_.trace != nullptr) lanes_[i].track = env_.trace->track(ports_.journal.name(), lane);
    if (lanes_.size() == 1) continue;
    stats::Group& group = s.stats.group(fmt::format("unit{}", i + 1));
    group.add("instructions", lanes_[i].instructions, "instructions", "that this unit began");
    group.add("busy", lanes_[i].cycles, "cycles", "in which this unit could not take another one");
  }
  track_ = lanes_.front().track;
  env_.waiters.push_back([this](Waits& waits) { report_waiting(waits); });
  env_.last_resorts.push_back([this] { return raise_held(); });
}

void Pipe::keep_log() {
  for (const Lane& lane : lanes_)
    if (MemoryPort* port = lane.unit->port()) port->keep_log();
}

// ---------------------------------------------------------------------------------------------------------------------
// The order of events of a cycle

void Pipe::act() {
  for (;;) {
    const u64 t = now();
    u64 next = 0;
    if (t < other_wake_) {  // there is nothing to do but for the copy
      if (t >= copy_wake_) pump(t);
      next = std::min(std::max(copy_wake_, t + 1), other_wake_);
    }
    if (t >= other_wake_ || moving_ == nullptr) next = act_on_all(t);
    if (next == kNever || !go_on_to(next)) return;
  }
}

// Returns when there is something to do again.
u64 Pipe::act_on_all(u64 t) {
  const bool had_work = !drained();
  if (moving_ != nullptr && t >= copy_wake_) pump(t);
  retire_due(t);
  while (moving_ == nullptr && !held_ && !queue_.empty() && queue_.head().queued <= t && leave_head(t))
    retire_due(t);
  const u64 next = next_wake(t);
  other_wake_ = moving_ == nullptr ? 0 : held_ ? kNever : queue_.oldest().done;
  if (had_work && drained()) ports_.issuer.pipe_drained();
  return next;
}

inline void Pipe::retire_due(u64 t) {
  const bool was_held = std::exchange(held_, false);
  while (!queue_.idle() && queue_.oldest().done <= t) {
    Entry& e = queue_.oldest();
    if (e.kind == &kSetFlag && ports_.flags.blocked(t, isa::args_of<SetFlag>(e.inst.args))) [[unlikely]] {
      held_ = true;
      note_waiting(t, Doing::wait_flag);
      return;
    }
    if (was_held) e.done = std::max(e.done, t);
    (this->*e.kind->retire)(e, t);
    queue_.retire_oldest();
  }
  if (was_held && occupation_.doing() == Doing::wait_flag) occupation_.enter(t, Doing::idle);
}

// Nothing moves any more: what a set_flag waits for never comes. Throws its fault, unless a checker reports it.
bool Pipe::raise_held() {
  if (!std::exchange(held_, false)) return false;
  retire_set_flag(queue_.oldest(), now());
  queue_.retire_oldest();
  other_wake_ = 0;
  wake();
  if (drained()) ports_.issuer.pipe_drained();
  return true;
}

void Pipe::fail_if_held() {
  if (held_ && !ports_.flags.will_be_taken(isa::args_of<SetFlag>(queue_.oldest().inst.args))) raise_held();
}

inline bool Pipe::leave_head(u64 t) {
  const bool was_full = queue_.full();
  Entry& e = queue_.head();
  if (!(this->*e.kind->leave)(e, t)) return false;
  if (was_full) ports_.issuer.queue_has_room();
  return true;
}

// When there is something to do again; kNever: when another part says so.
inline u64 Pipe::next_wake(u64 t) {
  u64 next = kNever;
  if (held_) {
    if (moving_ != nullptr) next = std::max(copy_wake_, t + 1);
    head_wake_ = kNever;
    return next;  // else who takes the flag wakes it
  }
  if (moving_ != nullptr) {
    next = std::max(copy_wake_, t + 1);
  } else if (!queue_.empty()) {
    if (queue_.head().queued > t) {
      next = looked_at(queue_.head());
    } else if (free_at_ > t) {
      next = free_at_;
    }
  }
  if (!queue_.empty()) next = std::min(next, std::max(head_wake_, t + 1));
  if (!queue_.idle()) next = std::min(next, queue_.oldest().done);
  head_wake_ = kNever;
  return next;
}

// When the head of the queue, which has not got there yet, is looked at: work, when the pipe is free for it too.
u64 Pipe::looked_at(const Entry& head) const {
  return head.kind == &kWork ? std::max(head.queued, free_at_) : head.queued;
}

// ---------------------------------------------------------------------------------------------------------------------
// Into the queue

Pipe::Entry& Pipe::put(const Kind& kind, const isa::Issued& inst, u64 at) {
  VINCI_CHECK(!queue_.full());
  Entry& e = queue_.push();
  e.inst = inst;
  e.kind = &kind;
  e.queued = at;
  e.lane = 0;
  return e;
}

void Pipe::wake_for_first(const Entry& e) {
  if (queue_.size() == 1 && moving_ == nullptr) wake_at(looked_at(e));
}

void Pipe::work(const isa::Issued& inst, const Resolved* resolved, u64 at, bool alone) {
  Entry& e = put(kWork, inst, at);
  e.resolved = resolved;
  e.alone = alone;
  if (lanes_.size() > 1) e.operands.assign(inst, inst.row->footprint(inst.args, inst.spr, arch_));
  e.behind_end = 0;
  e.behind_node = PipeLog::kNone;
  wake_for_first(e);
}

void Pipe::push(const Kind& kind, const isa::Issued& inst, u64 at) { wake_for_first(put(kind, inst, at)); }

// ---------------------------------------------------------------------------------------------------------------------
// Flags and barriers

bool Pipe::leave_wait_flag(Entry& e, u64 t) {
  // It is looked at when the pipe is free for work, and takes its time even if the flag is up already.
  if (free_at_ > t) return false;
  const auto& a = isa::args_of<WaitFlag>(e.inst.args);
  const auto look = ports_.flags.look(t, a, free_at_);
  head_wake_ = look == EventFlags::Look::not_yet ? ports_.flags.visible_at(a, free_at_) : kNever;
  if (look != EventFlags::Look::up) {
    note_waiting(t, Doing::wait_flag);
    return false;
  }
  const u64 set_at = ports_.flags.set_at(a);
  ports_.flags.lower(a);
  if (log_) log_.wait_flag(e.inst, e.queued, t, set_at, free_at_);
  if (a.inserted != 0) pass_inserted(t, e.inst, Doing::wait_flag);
  const bool waited = occupation_.doing() == Doing::wait_flag;
  if (env_.trace != nullptr) {
    e.begin = waited ? waiting_since_ : t;
    e.end = e.done = t;
    show(e);
    env_.trace->flow(ports_.flags.setter_track(a), set_at, track_, t, fmt::format("EVENT_ID{}", a.event));
  }
  if (waited) occupation_.enter(t, Doing::idle);
  queue_.drop();
  return true;
}

bool Pipe::leave_barrier(Entry& e, u64 t) {
  if (!queue_.idle()) {
    note_waiting(t, Doing::barrier);
    return false;
  }
  if (log_) log_.barrier(e.inst, e.queued, t);
  if (isa::args_of<PipeBarrier>(e.inst.args).inserted != 0) pass_inserted(t, e.inst, Doing::barrier);
  if (occupation_.doing() == Doing::barrier) occupation_.enter(t, Doing::idle);
  queue_.drop();
  return true;
}

// It takes effect when all before it has retired and the flag is down; one for other cores when all before it has.
bool Pipe::leave_set_flag(Entry& e, u64 t) {
  if (queue_.flight_full()) return false;
  const bool behind = !queue_.idle();
  const bool holds = behind && !global_;  // inside the core nothing begins before the flag is up
  e.begin = t;
  if (behind) {
    // Two of one flag are a cycle apart: a pipe that waits already takes the first.
    const Entry& last = queue_.newest();
    const bool again = e.kind == &kSetFlag && last.kind == &kSetFlag &&
                       same_flag(isa::args_of<SetFlag>(last.inst.args), isa::args_of<SetFlag>(e.inst.args));
    e.begin = std::max(t, last.done + (again ? 1 : 0));
    if (holds) {
      if (e.kind == &kSetFlag && isa::args_of<SetFlag>(e.inst.args).inserted != 0)
        ports_.journal.charge_inserted(e.inst, last.done - std::min(free_at_, last.done));
      for (Lane& lane : lanes_)
        occupy(lane, std::max(lane.free_at, last.done));
    }
  }
  e.end = e.done = e.begin;
  if (log_) e.node = log_.set_flag(e.inst, e.queued, t, e.begin, holds);
  queue_.begin();
  return true;
}

void Pipe::retire_set_flag(const Entry& e, u64 t) {
  const auto& a = isa::args_of<SetFlag>(e.inst.args);
  if (log_) log_.raised(a, e.node, t);
  try {
    ports_.flags.raise(t, a);
  } catch (const Error& error) {
    ports_.journal.blame(error, e.inst.pc, &e.inst, name_);
  }
  show(e);
}

void Pipe::retire_cross_set(const Entry& e, u64 /*t*/) {
  try {
    ports_.cross.set(e.inst, track_, e.node);
  } catch (const Error& error) {
    ports_.journal.blame(error, e.inst.pc, &e.inst, name_);
  }
  show(e);
}

// ---------------------------------------------------------------------------------------------------------------------
// Work

bool Pipe::leave_work(Entry& e, u64 t) {
  if (free_at_ > t || queue_.flight_full()) return false;
  if (e.alone && !queue_.idle()) return false;
  if (lanes_.size() > 1 && waits_for_operands(e, t)) return false;
  const Resolved& work = resolve(e);
  if (work.handover && waits_for_handover(t, work)) return false;
  begin(e, t);
  return true;
}

const Resolved& Pipe::resolve(Entry& e) {
  if (e.resolved == nullptr) {
    const isa::Footprint footprint = e.inst.row->footprint(e.inst.args, e.inst.spr, arch_);
    e.resolved = &e.resolved_here.emplace(e.inst, footprint, costs_, arch_);
  }
  return *e.resolved;
}

// For instructions that occupy other units and share operands with it.
bool Pipe::waits_for_operands(Entry& e, u64 t) {
  bool waits = false;
  for (usize i = 0; i < queue_.in_flight(); ++i) {
    const Entry& other = queue_.in_flight(i);
    if (other.kind != &kWork || other.end <= std::max(t, e.behind_end) || !other.operands.meet(e.operands)) continue;
    waits = true;
    e.behind_end = other.end;
    e.behind_slack = lanes_[other.lane].slack;
    e.behind_node = other.node;
  }
  if (e.behind_end > t) head_wake_ = e.behind_end;
  return waits || e.behind_end > t;
}

// The first unit that is free.
usize Pipe::free_lane(u64 t) const {
  usize i = 0;
  while (lanes_[i].free_at > t)
    ++i;
  return i;
}

void Pipe::occupy(Lane& lane, u64 until) {
  lane.free_at = until;
  free_at_ = all_free_at_ = lanes_.front().free_at;
  for (usize i = 1; i < lanes_.size(); ++i) {
    free_at_ = std::min(free_at_, lanes_[i].free_at);
    all_free_at_ = std::max(all_free_at_, lanes_[i].free_at);
  }
}

bool Pipe::waits_for_handover(u64 t, const Resolved& work) {
  head_wake_ = lanes_.front().unit->ready_at(work, {.t = t, .empty = queue_.idle()});
  if (head_wake_ > t) {
    note_waiting(t, Doing::wait_flag);
    return true;
  }
  head_wake_ = kNever;
  if (occupation_.doing() == Doing::wait_flag) occupation_.enter(t, Doing::idle);
  return false;
}

void Pipe::begin(Entry& e, u64 t) {
  const Resolved& work = *e.resolved;
  steps_ += work.work.steps;
  macs_ += work.work.macs;
  read_bytes_ += work.read_bytes;
  write_bytes_ += work.write_bytes;
  gm_read_bytes_ += work.gm_read_bytes;
  gm_write_bytes_ += work.gm_write_bytes;
  e.lane = free_lane(t);
  Lane& lane = lanes_[e.lane];
  double early = 0;
  if (t == lane.free_at) {
    early = lane.slack;
  } else if (t == e.behind_end) {
    early = e.behind_slack;
  }
  if (work.global) early = 0;
  const Cycles c = lane.unit->begin(e.inst, work, {.t = t, .empty = queue_.idle(), .early = early});
  lane.slack = work.global ? 0 : c.slack;
  global_ = work.global;
  e.begin = t;
  e.end = t + c.occupancy;
  e.done = t + c.latency;
  if (work.global) return begin_copy(e, t);
  if (!queue_.idle()) e.done = std::max(e.done, queue_.newest().done);  // retire in order
  if (log_)
    e.node = log_.work(e.inst, work, e.queued, t, e.end, e.done, e.alone, {e.lane, lanes_.size(), e.behind_node});
  queue_.begin();
  occupy(lane, e.end);
  ++lane.instructions;
  lane.cycles += e.end - t;
  occupation_.busy(t, std::max(all_free_at_, busy_until_));
  if (work.handover) lane.unit->began(work, t, e.done);
}

// The port says when it ends.
void Pipe::begin_copy(Entry& e, u64 t) {
  Lane& lane = lanes_[e.lane];
  moving_ = lane.unit->port();
  copy_floor_ = e.end;
  copy_tail_ = e.done - e.end;
  if (log_) {
    e.node = log_.work(e.inst, *e.resolved, e.queued, t, t, t, e.alone, {});
    for (const isa::Access& a : e.inst.row->footprint(e.inst.args, e.inst.spr, arch_))
      if (a.buffer == isa::BufId::GM) log_.touches(e.node, a.address);
  }
  e.end = e.done = kNever;
  queue_.begin();
  occupation_.busy(t, kNever);
  occupy(lane, kNever);
  pump(t);
}

inline void Pipe::pump(u64 t) {
  copy_wake_ = moving_->pump(t);
  if (!moving_->finished()) return;
  const MemoryPort& port = *std::exchange(moving_, nullptr);
  Entry& e = queue_.newest();
  e.end = std::max(copy_wake_, copy_floor_);
  e.done = std::max(e.end, port.done()) + copy_tail_;
  if (queue_.in_flight() > 1) e.done = std::max(e.done, queue_.second_newest().done);  // retire in order
  occupy(lanes_[e.lane], e.end);
  busy_until_ = e.done;
  occupation_.busy(t, busy_until_);
  if (log_) log_.copied(e.node, e.end, e.done, port.log());
}

void Pipe::retire_work(const Entry& e, u64 t) {
  ports_.executor.retire(e.inst, e.resolved->global);
  if (e.resolved->handover) lanes_[e.lane].unit->retired(*e.resolved, t);
  ++instructions_;
  show(e);
}

// ---------------------------------------------------------------------------------------------------------------------
// What is told of it

void Pipe::note_waiting(u64 t, Doing why) {
  if (all_free_at_ > t || busy_until_ > t) return;  // still busy with the instruction before, or with its data
  if (occupation_.doing() == why) return;
  waiting_since_ = t;
  occupation_.enter(t, why);
}

void Pipe::pass_inserted(u64 t, const isa::Issued& inst, Doing waited) {
  ports_.journal.pass_inserted(inst, occupation_.doing() == waited ? t - waiting_since_ : 0);
}

void Pipe::show(const Entry& e) const {
  if (env_.trace == nullptr) return;
  const Block& block = ports_.journal.block();
  env_.trace->span({.track = lanes_[e.lane].track,
                    .name = e.inst.row->name,
                    .queued = e.queued,
                    .begin = e.begin,
                    .end = e.end,
                    .done = e.done,
                    .detail = isa::to_string(e.inst),
                    .source = block.code->source(e.inst.pc),
                    .line = e.inst.line,
                    .pc = e.inst.pc,
                    .task = block.task});
}

void Pipe::report_waiting(Waits& waits) const {
  if (!held_ && queue_.empty()) return;
  const isa::Code& code = *ports_.journal.block().code;
  if (held_) {
    const isa::Issued& set = queue_.oldest().inst;
    waits.units.push_back({.core = ports_.journal.name(),
                           .unit = name_,
                           .what = fmt::format("waits with {} ({})", isa::to_string(set), code.place(set.pc)),
                           .why = "; no wait_flag has taken the set before it",
                           .since = waiting_since_});
  }
  if (queue_.empty()) return;
  const Entry& e = queue_.head();
  waits.units.push_back(
      {.core = ports_.journal.name(),
       .unit = name_,
       .what = fmt::format("waits for {} ({})", isa::to_string(e.inst), code.place(e.inst.pc)),
       .why = e.kind == &kWaitFlag ? ports_.flags.why_down(isa::args_of<WaitFlag>(e.inst.args), code) : "",
       .since = waiting_since_});
}

bool Pipe::awaits(u64 t, const Flag& flag) const {
  if (held_ || queue_.empty() || free_at_ >= t || queue_.head().kind != &kWaitFlag) return false;
  return same_flag(isa::args_of<WaitFlag>(queue_.head().inst.args), flag);
}

bool Pipe::has_wait_for(const Flag& flag) const {
  return std::any_of(queue_.begin_waiting(), queue_.end_waiting(), [&](const Entry* e) {
    return e->kind == &kWaitFlag && same_flag(isa::args_of<WaitFlag>(e->inst.args), flag);
  });
}

const isa::Issued* Pipe::queued_set_flag(const Flag& flag) const {
  for (auto e = queue_.begin_waiting(); e != queue_.end_waiting(); ++e) {
    const bool sets = (*e)->kind == &kSetFlag;
    if (sets && same_flag(isa::args_of<SetFlag>((*e)->inst.args), flag)) return &(*e)->inst;
  }
  return nullptr;
}

}  // namespace vinci::models
