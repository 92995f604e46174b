// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/explain/critical_path.h"

#include <algorithm>
#include <numeric>

namespace vinci::models {
namespace {

// What the time between a cause and its effect is spent on.
CostKind kind_of_gap(Why why) {
  switch (why) {
    case Why::flag: return CostKind::flag;
    case Why::cross_core: return CostKind::cross_core_flag;
    default: return CostKind::other;
  }
}

// Walks from the end of a kernel to its start. `t_` only decreases; what is later is explained.
class Walk {
 public:
  explicit Walk(const KernelLog& log) : log_(log), t_(log.end) {}

  CriticalPath run() {
    spend(log_.blocks_done, CostKind::launch);
    const BlockLog* block = log_.last;
    while (block != nullptr && t_ > log_.start)
      block = through(*block);
    spend(log_.ready, CostKind::other);
    spend(log_.start, CostKind::launch);
    std::ranges::reverse(path_.steps);
    std::ranges::reverse(path_.edges);
    return std::move(path_);
  }

 private:
  // Explains the time back to `from`, which may have been explained already.
  void spend(u64 from, CostKind kind) { spend(from, PathStep{.kind = kind}); }
  void spend(u64 from, PathStep step) {
    from = std::max(from, log_.start);
    if (from >= t_) return;
    path_.cycles[static_cast<usize>(step.kind)] += t_ - from;
    step.end = std::exchange(t_, from);
    step.begin = from;
    path_.steps.push_back(step);
  }

  // Through the block, back to its start; returns the block that it continues in, or null.
  const BlockLog* through(const BlockLog& first) {
    const BlockLog* b = &first;
    Cause at{.at = t_};
    while (t_ > b->start().begin || at.node != Cause::kScalar) {
      at = at.node == Cause::kScalar ? scalar(*b) : pipe(*b, at.node);
      if (at.block != nullptr) b = at.block;
      if (++steps_ > kMostSteps) return nullptr;
    }
    return start_of(*b);
  }

  const BlockLog* start_of(const BlockLog& b) {
    const BlockLog::Start& s = b.start();
    spend(s.dispatched, {.kind = CostKind::cold_start, .block = &b});
    spend(s.asked, {.kind = CostKind::launch, .block = &b});
    if (s.waited_for != nullptr) {
      path_.edges.push_back({.why = Why::order, .at = t_});
      return s.waited_for;
    }
    if (s.core_was_taken) spend(log_.ready, CostKind::other_kernel);
    return nullptr;
  }

  // The scalar unit up to t_.
  Cause scalar(const BlockLog& b) {
    const auto& all = b.scalars();
    const auto after = std::ranges::partition_point(all, [&](const ScalarNode& n) { return n.begin < t_; });
    if (after == all.begin()) {
      spend(b.start().begin, {.kind = CostKind::other, .block = &b});
      return {};
    }
    const ScalarNode& n = *std::prev(after);
    spend(n.end, {.kind = CostKind::other, .block = &b});
    PathStep step{.kind = n.kind, .block = &b, .row = n.row, .pc = n.pc, .line = n.line};
    if (!n.waits) {
      spend(n.begin, step);
      return {};
    }
    const isa::PipeId from =
        n.cause.node == Cause::kScalar || n.cause.block != nullptr ? isa::PipeId::S : b.nodes()[n.cause.node].pipe;
    path_.edges.push_back({.why = n.cause.why, .from = from, .at = t_, .waited = t_ - n.begin});
    step.kind = kind_of_gap(n.cause.why);
    spend(n.cause.at, step);
    return n.cause;
  }

  Cause pipe(const BlockLog& b, u32 index) {
    const PipeNode* n = &b.nodes()[index];
    // A queue has room as soon as its head is taken, which may take effect later.
    while (n->begin > t_ && n->previous != Cause::kScalar)
      n = &b.nodes()[n->previous];
    if (n->begin > t_) return {};
    PathStep step{
        .kind = cost_kind(n->pipe), .block = &b, .pipe = n->pipe, .row = n->row, .pc = n->pc, .line = n->line};
    if (n->copy != ~u32{0}) memory(b, *n, step);
    spend(n->begin, step);
    step.kind = kind_of_gap(n->cause.why);
    // A set_flag is behind the results of its pipe by its nature.
    const bool natural = n->cause.why == Why::results && n->row->role != isa::Role::pipe_barrier;
    if (n->cause.why != Why::order && !natural) {
      const isa::PipeId from = n->cause.node == Cause::kScalar ? isa::PipeId::S : b.nodes()[n->cause.node].pipe;
      const u64 idle_since = n->previous == Cause::kScalar ? t_ : b.nodes()[n->previous].end;
      path_.edges.push_back({.why = n->cause.why,
                             .from = from,
                             .to = n->pipe,
                             .at = t_,
                             .waited = idle_since < t_ ? t_ - idle_since : 0});
    }
    spend(n->cause.at, step);
    return n->cause;
  }

  // The part of a copy that waits for the memory system, from t_ back; the rest is its pipe's.
  void memory(const BlockLog& b, const PipeNode& n, PathStep step) {
    const CopyNode& copy = b.copies()[n.copy];
    if (t_ > n.end) {
      const u64 own = n.done - n.end - std::min(n.done - n.end, copy.after_end.sum());
      spend(std::max(n.end, n.done - std::min(n.done, own)), step);
      spend_on(copy.after_end, n.end, step);
    }
    spend_on(copy.before_end, n.begin, step);
  }

  void spend_on(const MemoryCycles& m, u64 back_to, PathStep step) {
    const auto part = [&](CostKind kind, u64 cycles) {
      step.kind = kind;
      spend(std::max(back_to, t_ - std::min(t_, cycles)), step);
    };
    part(CostKind::l2, m.l2);
    part(CostKind::l2_busy, m.l2_busy);
    part(CostKind::port, m.port);
    part(CostKind::hbm_latency, m.hbm_latency);
    part(CostKind::hbm_busy, m.hbm_busy);
  }

  static constexpr u64 kMostSteps = 4 * KernelLog::kMostNodes;
  const KernelLog& log_;
  u64 t_;
  u64 steps_ = 0;
  CriticalPath path_;
};

}  // namespace

u64 CriticalPath::total() const { return std::accumulate(cycles.begin(), cycles.end(), u64{0}); }

CriticalPath critical_path(const KernelLog& log) { return Walk(log).run(); }

}  // namespace vinci::models
