// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/check/core_checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/check/repeats.h"
#include "isa/insns/sync.h"
#include "isa/insns/system.h"

namespace vinci::isa::check {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string name_of(const insn::FlagBase::Args& a) {
  return fmt::format("PIPE_{} -> PIPE_{} EVENT_ID{}", name(a.src), name(a.dst), a.event);
}

CoreChecker::CoreChecker(Checker& checker, const CoreSpec& spec, std::string name, bool with_data)
    : checker_(checker),
      spec_(spec),
      name_(std::move(name)),
      computes_(with_data),
      flags_(kPipeCount * kPipeCount * spec.flags_per_pair) {
  for (usize b = 0; b < kBufCount; ++b) {
    if (spec.sizes[b] != 0 && static_cast<BufId>(b) != BufId::GM) shadows_[b].emplace(spec.sizes[b]);
  }
}

void CoreChecker::begin(u32 task, u32 block, const Code& code) {
  code_ = &code;
  task_ = task;
  block_ = block;
  cross_sets_ = {};
  cross_waits_ = {};
  cross_wait_.reset();
  actor_ = checker_.new_actor(task, block, code, name_);
  running_ = true;
  ended_ = false;
  stuck_ = false;
  issued_ = 0;
  last_pc_ = 0;
  positions_ = {};
  worked_ = {};
  clocks_ = {};
  issue_clock_ = {};
  unit_flags_.clear();
  unit_clocks_.clear();
  for (auto& q : queues_)
    q.clear();
  waiting_ = 0;
  computed_.clear();
  for (Flag& f : flags_)
    f = {};
  for (auto& buffers : buffers_)
    buffers.clear();
  const bool fresh_numbers = !records_.forget();
  for (auto& s : shadows_) {
    if (!s) continue;
    s->begin_block();
    if (fresh_numbers) s->clear();
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The program

void CoreChecker::issued(const Issued& inst) {
  cross_released();
  ++issued_;
  last_pc_ = inst.pc;
  auto& queue = queues_[index(inst.pipe == PipeId::ALL ? PipeId::S : inst.pipe)];
  if (!queue.empty() || !run(inst, issued_, issue_clock_)) {
    queue.push_back({inst, issued_, issue_clock_});
    ++waiting_;
  } else if (waiting_ != 0) {
    drain();
  }
}

void CoreChecker::accessed(const Issued& inst) {
  cross_released();
  ++issued_;
  last_pc_ = inst.pc;
  VectorClock& own = clocks_[index(PipeId::S)];
  own.own[index(PipeId::S)] = ++positions_[index(PipeId::S)];
  Record record{.actor = actor_,
                .position = positions_[index(PipeId::S)],
                .issued = issued_,
                .pc = inst.pc,
                .pipe = PipeId::S,
                .opcode = inst.row->opcode,
                .order = inst.order};
  WaitLoops::Kind kind = WaitLoops::Kind::none;
  const MemoryWaits::Pieces waited = waited_for(inst, record, kind);
  touch(inst, record);
  if (!waited.empty()) checker_.memory_waits().waited(*this, issued_, waited, kind);
}

void CoreChecker::executing(const Issued& inst) { checker_.same_writes().executing(actor_, inst); }

void CoreChecker::executed(const Issued& inst, const BlockSet& computed) {
  checker_.same_writes().executed(actor_, inst);
  if (inst.row->computes == Computes::nothing) return;
  computed_.push_back(computed);
  drain();
  end_when_drained();
}

MemoryWaits::Pieces CoreChecker::waited_for(const Issued& inst, Record& record, WaitLoops::Kind& kind) {
  MemoryWaits::Pieces out;
  for (const Access& a : inst.row->footprint(inst.args, inst.spr, spec_.arch)) {
    if (a.write || a.empty()) continue;
    each_piece(a, [&](u64 begin, u64 end) {
      if (a.buffer == BufId::GM) {
        kind = checker_.memory_waits().waits(*code_, inst.pc, inst.pc);
        record.polls = kind != WaitLoops::Kind::none;
        if (record.polls && kind != WaitLoops::Kind::poll) out.emplace_back(begin, end);
      } else {
        shadows_[index(a.buffer)]->latest_writes(begin, end, [&](u32 number, u64, u64) {
          if (!records_.holds(number) || records_[number].pipe != PipeId::MTE2) return;
          const Record& copy = records_[number];
          const WaitLoops::Kind found = checker_.memory_waits().waits(*code_, inst.pc, copy.pc);
          if (found == WaitLoops::Kind::none) return;
          kind = found;
          for (const auto& piece : checker_.memory_waits().take_copy(copy))
            if (kind != WaitLoops::Kind::poll) out.push_back(piece);
        });
      }
    });
  }
  return out;
}

void CoreChecker::remarked(const Issued& inst) {
  if (inst.row->opcode == insn::LocalBuffer::opcode) {
    const auto& b = args_of<insn::LocalBuffer>(inst.args);
    if (b.memory >= kBufCount) return;
    auto& buffers = buffers_[b.memory];
    std::erase_if(buffers, [&](const auto& old) {
      return b.bytes == 0 || (old.first < b.address + b.bytes && b.address < old.second);
    });
    if (b.bytes != 0) buffers[b.address] = b.address + b.bytes;
    return;
  }
  const auto& m = args_of<insn::Misuse>(inst.args);
  Finding f{.id = FaultId::illegal_operand};
  switch (m.what) {
    case insn::Misuse::mask:
      f.message = fmt::format("a mask of {} elements: a repeat of this type has {}", m.value, m.limit);
      f.suggestion = "use more repeats";
      break;
    case insn::Misuse::repeats:
      f.message = fmt::format("{} repeats: an instruction has 8 bits for them, so it does {}",
                              static_cast<i32>(static_cast<u32>(m.value)), m.value & m.limit);
      f.suggestion = fmt::format("at most {} repeats in a call, or the form with a count", m.limit);
      break;
    default:
      f.message =
          fmt::format("flag {} between cores: SyncAll and the Matmul API take those above {}", m.value, m.limit);
      f.suggestion = fmt::format("use flags 0 to {}", m.limit);
  }
  checker_.report(std::move(f), {.actor = actor_, .issued = issued_ + 1, .pc = inst.pc, .pipe = PipeId::S}, &inst);
}

Finding CoreChecker::finding_of(const Error& why, FaultId otherwise) const {
  Finding f{.id = otherwise, .message = first_line(why.message())};
  const auto* illegal = dynamic_cast<const IllegalIssue*>(&why);
  if (illegal == nullptr) return f;
  f.id = illegal->id();
  f.begin = illegal->begin();
  f.end = illegal->end();
  if (const auto& access = illegal->access()) {
    f.buffer = access->buffer;
    f.at.write = access->write;
  }
  if (f.id == FaultId::use_after_free && !checker_.freed_before(task_, f.begin)) {
    f.id = FaultId::unordered_free;
    f.message += "; nothing orders the free before or after the use";
  }
  return f;
}

bool CoreChecker::refused(const Issued& inst, const Error& why) {
  ++issued_;
  last_pc_ = inst.pc;
  const PipeId pipe = inst.pipe == PipeId::ALL ? PipeId::S : inst.pipe;
  checker_.report(finding_of(why, FaultId::illegal_operand),
                  {.actor = actor_, .issued = issued_, .pc = inst.pc, .pipe = pipe}, &inst);
  return true;
}

void CoreChecker::failed(u32 pc, const Issued* inst, const Error& why) {
  if (why.fault() != Fault::Program) return;  // a limit of the run or of the simulator, not of the program
  const CodeInst& c = (*code_)[std::min(pc, code_->size() - 1)];
  PipeId pipe = PipeId::S;
  if (inst != nullptr) {
    pipe = inst->pipe;
  } else if (c.row->pipe != nullptr) {
    pipe = c.row->pipe(c.args, spec_.arch);
  }
  if (pipe == PipeId::ALL) pipe = PipeId::S;
  checker_.report(finding_of(why, FaultId::program_fault),
                  {.actor = actor_, .issued = issued_ + 1, .pc = pc, .pipe = pipe}, inst);
}

void CoreChecker::ended() {
  cross_released();
  checker_.cross_rounds().ended({task_, block_, spec_.kind}, cross_waits_);
  ended_ = true;
  end_when_drained();
}

void CoreChecker::end_when_drained() {
  if (!ended_ || !running_ || waiting_ != 0) return;
  checker_.memory_waits().settle_copies(actor_);
  running_ = false;
  report_leftovers();
}

void CoreChecker::drain() {
  for (bool moved = true; moved && waiting_ != 0;) {
    moved = false;
    for (auto& queue : queues_) {
      while (!queue.empty() && run(queue.front().inst, queue.front().issued, queue.front().clock)) {
        queue.pop_front();
        --waiting_;
        moved = true;
      }
    }
  }
}

bool CoreChecker::run(const Issued& inst, u32 issued, const VectorClock& clock) {
  const Role role = inst.row->role;
  const bool all = inst.pipe == PipeId::ALL;
  if (role == Role::wait_flag && flag(inst.args).up.empty()) return false;
  if (role == Role::pipe_barrier && all && !pipes_drained()) return false;
  const auto unit = role == Role::work ? unit_flag_use(inst, spec_.arch) : std::nullopt;
  if (unit && !unit_flags_.ready(*unit)) return false;
  const bool computes = computes_ && role == Role::work && inst.row->computes != Computes::nothing;
  if (computes && computed_.empty()) return false;

  const PipeId pipe = all ? PipeId::S : inst.pipe;
  VectorClock& own = clocks_[index(pipe)];
  const u32 position = ++positions_[index(pipe)];
  if (pipe == PipeId::S) {
    own.own[index(pipe)] = position;  // the scalar unit does one thing after the other
  } else {
    own.join(clock);
  }
  const Record record{.actor = actor_,
                      .position = position,
                      .issued = issued,
                      .pc = inst.pc,
                      .pipe = pipe,
                      .opcode = inst.row->opcode,
                      .order = inst.order,
                      .forwards = inst.row->forwards != nullptr && inst.row->forwards(inst.args, spec_.arch)};
  switch (role) {
    case Role::work:
      if (unit) pass_unit_flags(*unit, record);
      touch(inst, record);
      break;
    case Role::set_flag: raise(inst, record); break;
    case Role::wait_flag: lower(inst, record); break;
    case Role::pipe_barrier:
      own.own[index(pipe)] = position;
      if (all) join_all_pipes();
      break;
    case Role::cross_set: cross_set(inst, record); break;
    case Role::cross_wait: cross_wait_ = {args_of<insn::WaitFlagDev>(inst.args).flag, record, inst}; break;
    case Role::scalar:
    case Role::end: break;
  }
  return true;
}

bool CoreChecker::pipes_drained() const {
  for (usize p = 1; p < kPipeCount; ++p) {
    if (!queues_[p].empty()) return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Order

CoreChecker::Flag& CoreChecker::flag(const ArgsStorage& args) {
  const auto& a = args_of<insn::SetFlag>(args);
  return flags_[(index(a.src) * kPipeCount + index(a.dst)) * spec_.flags_per_pair + a.event];
}

void CoreChecker::raise(const Issued& inst, const Record& record) {
  const auto& a = args_of<insn::SetFlag>(inst.args);
  Flag& f = flag(inst.args);
  const VectorClock& known = clocks_[index(record.pipe)];
  const bool still_up = !f.up.empty();
  const bool perhaps_up = f.taken && a.dst != PipeId::S && known.own[index(a.dst)] < f.taken->position;
  if (still_up || perhaps_up) {
    const Record& before = still_up ? f.up.back().by : *f.set;
    Finding finding{.id = FaultId::duplicate_set_flag};
    finding.message = still_up
                          ? fmt::format("duplicate set_flag: {} is already set ({}) and not yet waited for", name_of(a),
                                        code_->place(before.pc))
                          : fmt::format(
                                "duplicate set_flag: {} may still be set ({}); nothing makes PIPE_{} come after the "
                                "wait_flag at {}",
                                name_of(a), code_->place(before.pc), name(a.src), code_->place(f.taken->pc));
    finding.suggestion =
        fmt::format("use another event id, or let PIPE_{} wait for PIPE_{} before it sets the flag again", name(a.src),
                    name(a.dst));
    checker_.report(std::move(finding), record, &inst, &before);
  }
  VectorClock clock = known;
  clock.own[index(record.pipe)] = record.position;
  f.up.push_back({std::move(clock), record});
  f.set = record;
}

void CoreChecker::lower(const Issued& inst, const Record& record) {
  Flag& f = flag(inst.args);
  const VectorClock clock = std::move(f.up.front().clock);
  f.up.erase(f.up.begin());
  f.taken = record;
  if (record.pipe == PipeId::S) {
    join_scalar(clock);
  } else {
    clocks_[index(record.pipe)].join(clock);
  }
}

// A unit flag carries the clock of the pipe that changed it to the pipe that waits for it.
void CoreChecker::pass_unit_flags(const UnitFlagUse& unit, const Record& record) {
  VectorClock& own = clocks_[index(record.pipe)];
  each_block(unit, [&](u64 i) {
    if (i < unit_clocks_.size()) own.join(unit_clocks_[i]);
  });
  unit_flags_.finish(unit);
  if (!unit.update) return;
  VectorClock clock = own;
  clock.own[index(record.pipe)] = record.position;
  each_block(unit, [&](u64 i) {
    if (i >= unit_clocks_.size()) unit_clocks_.resize(i + 1);
    unit_clocks_[i] = clock;
  });
}

// The scalar unit issues everything, so what it knows, all later instructions know; except of its own loads and stores,
// which set_flag(PIPE_S, ..) or a barrier orders before other pipes.
void CoreChecker::join_scalar(const VectorClock& clock) {
  clocks_[index(PipeId::S)].join(clock);
  issue_clock_.join(clock);
}

void CoreChecker::join_all_pipes() {
  VectorClock all;
  for (const VectorClock& c : clocks_)
    all.join(c);
  all.own = positions_;
  join_scalar(all);
}

void CoreChecker::cross_set(const Issued& inst, const Record& record) {
  const CrossCoreSet what = CrossCoreSet::parse(args_of<insn::FftsCrossCoreSync>(inst.args).config);
  const u32 nth = cross_sets_[what.mode][what.flag]++;
  checker_.cross_rounds().set({task_, block_, spec_.kind}, what, nth, release(inst.pipe), record);
}

// The scalar unit goes on after a wait_flag_dev only when its partners have set, so by then their clocks are known.
void CoreChecker::cross_released() {
  if (!cross_wait_) return;
  const u32 flag = cross_wait_->flag;
  cross_wait_.reset();
  acquire(checker_.cross_rounds().wait({task_, block_, spec_.kind}, flag, cross_waits_[flag]++));
}

VectorClock CoreChecker::release(PipeId pipe) const {
  const VectorClock& known = clocks_[index(pipe)];
  PipeCounts marks = known.own;
  marks[index(pipe)] = positions_[index(pipe)];
  VectorClock out;
  if (known.others != nullptr) out.others = known.others;
  out.join_others({{actor_, marks}});
  return out;
}

void CoreChecker::acquire(const VectorClock& from) {
  VectorClock clock;
  clock.others = from.others;
  if (from.others != nullptr) {
    const auto mine = from.others->find(actor_);
    if (mine != from.others->end()) clock.own = mine->second;
  }
  join_scalar(clock);
  if (waiting_ != 0) drain();
}

// ---------------------------------------------------------------------------------------------------------------------
// Accesses

void CoreChecker::touch(const Issued& inst, Record record) {
  const Footprint footprint = inst.row->footprint(inst.args, inst.spr, spec_.arch);
  bool gm = false;
  for (const Access& a : footprint) {
    gm |= a.buffer == BufId::GM && !a.empty();
    record.atomic |= a.atomic;
  }
  check_buffers(inst, footprint, record);
  check_repeats(inst, footprint, record);
  const Present now{.record = record,
                    .clock = clocks_[index(record.pipe)],
                    .inst = &inst,
                    .number = records_.add(record),
                    .before = worked_[index(record.pipe)]};
  worked_[index(record.pipe)] = record.position;
  if (gm) checker_.touch_gm(now, footprint);
  const auto each_local = [&](bool write, auto&& f) {
    for (const Access& a : footprint) {
      if (a.buffer == BufId::GM || a.write != write) continue;
      each_piece(a, [&](u64 begin, u64 end) { f(a, *shadows_[index(a.buffer)], begin, end); });
    }
    if (inst.row->computes != (write ? Computes::writes : Computes::reads) || computed_.empty()) return;
    const Access a{.buffer = BufId::UB, .write = write, .operand = "an element"};
    computed_.front().each_run([&](u64 begin, u64 end) { f(a, *shadows_[index(a.buffer)], begin, end); });
    computed_.pop_front();
  };
  // What it writes is not known, so nothing is known to be undefined behind it.
  if (inst.row->computes == Computes::writes && computed_.empty()) shadows_[index(BufId::UB)]->define_all();
  each_local(false, [&](const Access& a, LocalShadow& shadow, u64 begin, u64 end) {
    shadow.undefined(begin, end, a.unit, [&](u64 b, u64 e) { checker_.undefined(now, a, b, e); });
    shadow.read(record.pipe, now.number, begin, end, [&](u32 other, u64 b, u64 e) { met(now, a, other, true, b, e); });
  });
  each_local(true, [&](const Access& a, LocalShadow& shadow, u64 begin, u64 end) {
    shadow.write(record.pipe, now.number, begin, end,
                 [&](u32 other, u64 b, u64 e, bool was_write) { met(now, a, other, was_write, b, e); });
  });
}

void CoreChecker::met(const Present& now, const Access& a, u32 other, bool was_write, u64 begin, u64 end) {
  if (!records_.holds(other) || other == now.number) return;
  const Record& r = records_[other];
  if (checker_.ordered(r, was_write, now, a)) return;
  checker_.conflict(r, was_write, now, a, begin, end);
}

// An access that begins in a buffer of the program ends in it.
void CoreChecker::check_buffers(const Issued& inst, const Footprint& footprint, const Record& record) {
  for (const Access& a : footprint) {
    const auto& buffers = buffers_[index(a.buffer)];
    if (a.empty() || buffers.empty()) continue;
    const auto above = buffers.upper_bound(a.address);
    if (above == buffers.begin()) continue;
    const auto [begin, end] = *std::prev(above);
    if (a.address >= end) continue;
    u64 last = 0;
    each_piece(a, [&](u64 /*from*/, u64 to) { last = std::max(last, to); });
    if (last <= end) continue;
    Finding f{.id = FaultId::buffer_overrun, .buffer = a.buffer, .begin = end, .end = last};
    f.at.write = a.write;
    f.message = fmt::format("{} of {} goes {} bytes past the end of its buffer: {} [{:#x}, {:#x})", a.operand,
                            inst.row->name, last - end, name(a.buffer), begin, end);
    f.suggestion = text(f.id).suggestion;
    checker_.report(std::move(f), record, &inst);
  }
}

void CoreChecker::check_repeats(const Issued& inst, const Footprint& footprint, const Record& record) {
  const auto fault = find_repeat_fault(footprint);
  if (!fault) return;
  Finding f{.buffer = fault->dst->buffer, .begin = fault->begin, .end = fault->end};
  f.at.write = true;
  if (fault->later) {
    f.id = FaultId::repeat_dependency;
    f.message = fmt::format("UB aliasing: repeat {} of {} writes a block of {} that repeat {} reads", fault->repeat,
                            inst.row->name, fault->src->operand, fault->src_repeat);
    f.suggestion = text(f.id).suggestion;
  } else {
    f.id = FaultId::repeat_overlap;
    f.message = fmt::format("UB aliasing: in repeat {} of {}, dst and {} overlap in part", fault->repeat,
                            inst.row->name, fault->src->operand);
    f.suggestion = text(f.id).suggestion;
  }
  checker_.report(std::move(f), record, &inst);
}

}  // namespace vinci::isa::check
