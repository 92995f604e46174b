// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include "isa/check/core_checker.h"
#include "isa/insns/sync.h"

// What a block leaves behind at its end, and why one that has not ended cannot go on.
namespace vinci::isa::check {

void CoreChecker::report_leftovers() {
  for (usize i = 0; i < flags_.size(); ++i) {
    for (const Raised& up : flags_[i].up) {
      const insn::FlagBase::Args a{.src = static_cast<PipeId>(i / spec_.flags_per_pair / kPipeCount),
                                   .dst = static_cast<PipeId>(i / spec_.flags_per_pair % kPipeCount),
                                   .event = static_cast<u8>(i % spec_.flags_per_pair)};
      Finding f{.id = FaultId::unpaired_set_flag};
      f.message = fmt::format(
          "Unpaired set_flag instructions detected: {} is still set when the block ends, and leaks into the next one",
          name_of(a));
      f.suggestion =
          fmt::format("wait_flag(PIPE_{}, PIPE_{}, EVENT_ID{}) before the end", name(a.src), name(a.dst), a.event);
      checker_.report(std::move(f), up.by, nullptr);
    }
  }
}

bool CoreChecker::set_comes_later(const Issued& wait) const {
  const auto& w = args_of<insn::WaitFlag>(wait.args);
  Cursor cursor;
  cursor.start(*code_);
  for (u32 pc = last_pc_ + 1; pc < code_->size(); ++pc) {
    const CodeInst& c = *cursor.find(pc);
    if (c.row->role != Role::set_flag) continue;
    ArgsStorage args = c.args;
    cursor.grow(c, args);
    const auto& s = args_of<insn::SetFlag>(args);
    if (s.src == w.src && s.dst == w.dst && (s.event == w.event || c.patch_count != 0)) return true;
  }
  return false;
}

bool CoreChecker::would_set(u32 flag) const {
  if (!stuck_) return false;
  const auto sets = [&](const ArgsStorage& args) {
    return CrossCoreSet::parse(args_of<insn::FftsCrossCoreSync>(args).config).flag == flag;
  };
  for (const auto& queue : queues_) {
    for (const Waiting& q : queue) {
      if (q.inst.row->role == Role::cross_set && sets(q.inst.args)) return true;
    }
  }
  Cursor cursor;
  cursor.start(*code_);
  for (u32 pc = last_pc_ + 1; pc < code_->size(); ++pc) {
    const CodeInst& c = *cursor.find(pc);
    if (c.row->role != Role::cross_set) continue;
    ArgsStorage args = c.args;
    cursor.grow(c, args);
    if (c.patch_count != 0 || sets(args)) return true;
  }
  return false;
}

std::optional<PipeId> CoreChecker::blocker(PipeId pipe) const {
  const Issued& head = queues_[index(pipe)].front().inst;
  if (head.row->role == Role::pipe_barrier) {
    for (usize p = 1; p < kPipeCount; ++p) {
      if (!queues_[p].empty()) return static_cast<PipeId>(p);
    }
    return std::nullopt;
  }
  if (head.row->role == Role::work) {  // for a unit flag, which M and FIX change for each other
    const PipeId other = pipe == PipeId::M ? PipeId::FIX : PipeId::M;
    return queues_[index(other)].empty() ? std::nullopt : std::optional(other);
  }
  const auto& w = args_of<insn::WaitFlag>(head.args);
  for (const Waiting& q : queues_[index(w.src)]) {
    if (q.inst.row->role != Role::set_flag) continue;
    const auto& s = args_of<insn::SetFlag>(q.inst.args);
    if (s.src == w.src && s.dst == w.dst && s.event == w.event) return w.src;
  }
  if (pipe != PipeId::S && set_comes_later(head)) return PipeId::S;
  return std::nullopt;
}

void CoreChecker::finish() {
  if (!running_) return;
  if (std::exchange(computes_, false)) drain();  // what has not been executed by now never will be
  end_when_drained();
  if (!running_) return;
  running_ = false;
  stuck_ = true;
  u32 reported = 0;
  for (usize start = 0; start < kPipeCount; ++start) {
    if (queues_[start].empty()) continue;
    // Follows who waits for whom, up to a pipe that nothing will wake, or round a circle.
    auto pipe = static_cast<PipeId>(start);
    u32 seen = 0;
    std::string chain;
    std::optional<PipeId> next;
    while ((seen & bit(pipe)) == 0 && !queues_[index(pipe)].empty()) {
      seen |= bit(pipe);
      const Waiting& head = queues_[index(pipe)].front();
      chain += fmt::format("{}PIPE_{} at {} ({})", chain.empty() ? "" : " <- ", name(pipe), to_string(head.inst),
                           code_->place(head.inst.pc));
      next = blocker(pipe);
      if (!next) break;
      pipe = *next;
    }
    // A circle through a scalar unit that waits for room in a queue ends at its empty queue.
    const PipeId at = queues_[index(pipe)].empty() ? static_cast<PipeId>(start) : pipe;
    if ((reported & bit(at)) != 0) continue;
    reported |= bit(at);
    const Waiting& head = queues_[index(at)].front();
    const Record record{.actor = actor_, .issued = head.issued, .pc = head.inst.pc, .pipe = at};
    Finding f;
    if (next) {
      reported |= seen;
      f.id = FaultId::circular_wait;
      f.message =
          fmt::format("circular wait, the block cannot go on (on a device: aicore timeout, 507014): {}{}", chain,
                      queues_[index(pipe)].empty() ? " <- the scalar unit, which waits for room in a queue" : "");
      f.suggestion = text(f.id).suggestion;
    } else if (head.inst.row->role == Role::work) {
      f.id = FaultId::unit_flag_wait;
      f.message = fmt::format(
          "wait without set: nothing is left that would {} the unit flags of L0C, the block cannot go "
          "on (on a device: aicore timeout, 507014)",
          at == PipeId::M ? "lower" : "raise");
      f.suggestion = text(f.id).suggestion;
    } else {
      f.id = FaultId::wait_without_set;
      const auto& w = args_of<insn::WaitFlag>(head.inst.args);
      f.message = fmt::format(
          "wait_flag without set_flag: no set_flag for {} is left, the block cannot go on (on a "
          "device: aicore timeout, 507014)",
          name_of(w));
      f.suggestion = fmt::format("set_flag(PIPE_{}, PIPE_{}, EVENT_ID{}) before, or no wait_flag here", name(w.src),
                                 name(w.dst), w.event);
    }
    checker_.report(std::move(f), record, &head.inst);
  }
}

}  // namespace vinci::isa::check
