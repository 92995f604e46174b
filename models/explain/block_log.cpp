// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/explain/block_log.h"

#include <algorithm>
#include <utility>

namespace vinci::models {
namespace {

// The later one; of two at the same time the first.
Cause later(const Cause& a, const Cause& b) { return b.at > a.at ? b : a; }

Cause issued(u64 queued) { return {.why = Why::issue, .at = queued}; }

u32 key_of(const isa::insn::SetFlag::Args& f) {
  return static_cast<u32>(isa::index(f.src) << 16 | isa::index(f.dst) << 8 | f.event);
}

}  // namespace

void SiteSums::operator+=(const SiteSums& o) {
  count += o.count;
  cycles += o.cycles;
  steps += o.steps;
  bytes += o.bytes;
  bursts += o.bursts;
  startup += o.startup;
  conflicts += o.conflicts;
  global |= o.global;
}

std::string BlockLog::place(u32 pc, u32 line) const {
  return code_ == nullptr ? std::string() : fmt::format("{}:{}", code_->source(pc), line);
}

bool BlockLog::full() const { return ++kernel_.nodes > KernelLog::kMostNodes; }

u32 BlockLog::add(PipeNode node, isa::PipeId pipe, const isa::Issued& inst) {
  PipeState& s = state(pipe);
  if (full()) return Cause::kScalar;
  node.row = inst.row;
  node.pc = inst.pc;
  node.line = inst.line;
  node.pipe = pipe;
  node.previous = s.latest;
  s.latest = static_cast<u32>(nodes_.size());
  nodes_.push_back(node);
  return s.latest;
}

// What takes no time itself.
u32 BlockLog::add_point(isa::PipeId pipe, const isa::Issued& inst, u64 t, const Cause& cause) {
  const u32 n = add({.begin = t, .end = t, .done = t, .cause = cause}, pipe, inst);
  if (n != Cause::kScalar) state(pipe).head = {.why = Why::order, .node = n, .at = t};
  return n;
}

Cause BlockLog::first_free(const PipeState& s) { return *std::ranges::min_element(s.free, {}, &Cause::at); }

u32 BlockLog::wait_flag(isa::PipeId pipe, const isa::Issued& inst, u64 queued, u64 t, u64 set_at, u64 since) {
  PipeState& s = state(pipe);
  const u32 setter = lowered(isa::args_of<isa::insn::WaitFlag>(inst.args), set_at);
  // The pipe looks at the flag when it is free for work; then, or when it is set, it takes a while to be seen.
  const Cause flag{.why = Why::flag, .node = setter, .at = set_at};
  const Cause free = first_free(s);
  const Cause look{.why = Why::flag, .node = free.node, .at = free.at};
  const Cause& seen = set_at >= since ? flag : look;
  const Cause before = later(s.head, issued(queued));
  return add_point(pipe, inst, t, before.at < t ? seen : before);
}

u32 BlockLog::barrier(isa::PipeId pipe, const isa::Issued& inst, u64 queued, u64 t) {
  PipeState& s = state(pipe);
  return add_point(pipe, inst, t, later(later(s.done, s.head), issued(queued)));
}

u32 BlockLog::set_flag(isa::PipeId pipe, const isa::Issued& inst, u64 queued, u64 t, u64 effect, bool holds) {
  PipeState& s = state(pipe);
  const Cause before = effect > t ? s.done : later(later(s.done.at <= t ? s.done : Cause{}, s.head), issued(queued));
  const u32 n = add({.begin = effect, .end = effect, .done = effect, .cause = before}, pipe, inst);
  for (Cause& free : s.free)
    if (holds && s.done.at > free.at) free = {.why = Why::results, .node = s.done.node, .at = s.done.at};
  if (n != Cause::kScalar) s.done = {.why = Why::results, .node = n, .at = effect};
  return n;
}

u32 BlockLog::work(isa::PipeId pipe, const isa::Issued& inst, const Resolved& resolved, u64 queued, u64 t, u64 end,
                   u64 done, bool alone, const UnitOf& unit) {
  PipeState& s = state(pipe);
  s.free.resize(unit.count);
  Cause& free = s.free[unit.number];
  Cause cause = later(later(free, s.head), issued(queued));
  if (unit.behind != Cause::kScalar)
    cause = later(cause, {.why = Why::order, .node = unit.behind, .at = nodes_[unit.behind].end});
  if (alone) cause = later(cause, s.done);
  if (resolved.handover) {
    const u32 other = handed_over_[resolved.handover->writes ? 0 : 1];
    if (cause.at < t && other != Cause::kScalar) cause = {.why = Why::unit_flag, .node = other, .at = t};
  }
  const u32 n = add({.begin = t, .end = end, .done = done, .cause = cause}, pipe, inst);
  SiteSums& site = kernel_.sites[{code_, inst.pc}];
  site.row = inst.row;
  site.pipe = pipe;
  if (site.place.empty()) site.place = place(inst.pc, inst.line);
  const double startup = resolved.line->startup;
  site += {.count = 1,
           .cycles = end > t ? end - t : 0,
           .steps = resolved.work.steps,
           .bytes = resolved.work.bytes,
           .bursts = resolved.work.bursts,
           .startup = startup,
           .conflicts = pipe == isa::PipeId::V ? resolved.steady - steady_cycles(*resolved.line, resolved.work) : 0,
           .global = resolved.global};
  if (n == Cause::kScalar) return n;
  s.latest_work = n;
  free = {.why = Why::order, .node = n, .at = end};
  s.head = {.why = Why::order, .node = n, .at = t};  // in another unit the next one may begin at the same time
  s.done = {.why = Why::results, .node = n, .at = done};
  if (resolved.handover) handed_over_[resolved.handover->writes ? 1 : 0] = n;
  return n;
}

void BlockLog::copied(u32 node, u64 end, u64 done, const CopyLog& log) {
  if (node == Cause::kScalar) return;
  PipeNode& n = nodes_[node];
  kernel_.sites[{code_, n.pc}].cycles += end - n.begin;
  n.end = end;
  n.done = done;
  n.copy = static_cast<u32>(copies_.size());
  // The memory system answers the last request at latest_done(); what is later is the pipe's own.
  const u64 answered = std::min(std::max(log.latest_done(), end), done);
  copies_.push_back({.before_end = log.waits(), .after_end = log.tail(answered - end)});
  PipeState& s = state(n.pipe);
  s.free.front() = {.why = Why::order, .node = node, .at = end};  // copies have one unit
  s.done = {.why = Why::results, .node = node, .at = done};
}

void BlockLog::touches(u32 node, u64 address) {
  if (node == Cause::kScalar) return;
  SiteSums& site = kernel_.sites[{code_, nodes_[node].pc}];
  if (std::exchange(site.latest_block, block_) == block_) return;
  if (site.blocks++ == 0) site.address = address;
  site.same_address &= site.address == address;
}

void BlockLog::raised(const isa::insn::SetFlag::Args& flag, u32 node, u64 t) {
  flags_[key_of(flag)].push_back({node, t});
}

u32 BlockLog::lowered(const isa::insn::SetFlag::Args& flag, u64 set_at) {
  auto& up = flags_[key_of(flag)];
  while (!up.empty() && up.front().at < set_at)
    up.pop_front();
  if (up.empty()) return Cause::kScalar;
  const u32 node = up.front().node;
  up.pop_front();
  return node;
}

void BlockLog::scalar(CostKind kind, const isa::Row* row, u32 pc, u32 line, u64 begin, u64 end) {
  if (begin == end) return;
  if (kind == CostKind::scalar_load) {
    SiteSums& site = kernel_.sites[{code_, pc}];
    site.row = row;
    if (site.place.empty()) site.place = place(pc, line);
    site += {.count = 1, .cycles = end - begin};
  }
  if (!scalars_.empty()) {  // loops repeat lines
    ScalarNode& last = scalars_.back();
    if (!last.waits && last.kind == kind && last.line == line && last.end == begin && last.row == row) {
      last.end = end;
      return;
    }
  }
  if (!full()) scalars_.push_back({.begin = begin, .end = end, .kind = kind, .row = row, .pc = pc, .line = line});
}

void BlockLog::add_wait(const isa::Issued* inst, u64 since, u64 t, CostKind kind, const Cause& cause) {
  if (since == t || full()) return;
  scalars_.push_back({.begin = since,
                      .end = t,
                      .kind = kind,
                      .waits = true,
                      .cause = cause,
                      .row = inst != nullptr ? inst->row : nullptr,
                      .pc = inst != nullptr ? inst->pc : 0,
                      .line = inst != nullptr ? inst->line : 0});
}

void BlockLog::waited_for_flag(const isa::Issued& inst, u64 since, u64 t, u64 set_at) {
  const u32 setter = lowered(isa::args_of<isa::insn::WaitFlag>(inst.args), set_at);
  add_wait(&inst, since, t, CostKind::flag, {.why = Why::flag, .node = setter, .at = set_at});
}

void BlockLog::waited_for_room(const isa::Issued& inst, u64 since, u64 t) {
  add_wait(&inst, since, t, CostKind::issue, {.why = Why::queue, .node = state(inst.pipe).latest, .at = t});
}

void BlockLog::waited_for_pipes(const isa::Issued* inst, u64 since, u64 t) {
  Cause last{.why = Why::drained, .at = since};
  for (const PipeState& s : pipes_) {
    if (s.done.node != Cause::kScalar && s.done.at >= last.at) last = {Why::drained, s.done.node, s.done.at};
    if (s.head.node != Cause::kScalar && s.head.at > last.at) last = {Why::drained, s.head.node, s.head.at};
  }
  add_wait(inst, since, t, CostKind::issue, last);
}

void BlockLog::waited_for_core(const isa::Issued& inst, u64 since, u64 t, u32 flag) {
  const auto it = arrived_.find(flag);
  Cause cause{.why = Why::cross_core, .at = since};
  if (it != arrived_.end()) cause = it->second;
  add_wait(&inst, since, t, CostKind::cross_core_flag, cause);
}

void BlockLog::arrived(u32 flag, const BlockLog* from, u32 node, u64 set_at) {
  arrived_[flag] = {.why = Why::cross_core, .node = node, .at = set_at, .block = from};
}

}  // namespace vinci::models
