// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/explain/collector.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "tools/explain/rules.h"

namespace vinci::explain {
namespace {

using models::CostKind;
using models::PathStep;

std::string place_of(const PathStep& s) {
  return s.block == nullptr || s.line == 0 ? std::string() : s.block->place(s.pc, s.line);
}

// Scalar code is known by its lines.
std::string what_of(const PathStep& s) {
  return s.row == nullptr || s.kind == CostKind::scalar ? std::string() : std::string(s.row->name);
}

std::vector<LineCost> lines_of(const models::CriticalPath& path) {
  std::map<std::pair<std::string, std::string>, Cycles> sums;
  for (const PathStep& s : path.steps) {
    if (const std::string place = place_of(s); !place.empty())
      sums[{place, what_of(s)}][static_cast<usize>(s.kind)] += s.end - s.begin;
  }
  std::vector<LineCost> out;
  for (const auto& [key, kinds] : sums) {
    LineCost line{.place = key.first, .what = key.second};
    for (const u64 cycles : kinds)
      line.cycles += cycles;
    line.kind = static_cast<CostKind>(std::ranges::max_element(kinds) - kinds.begin());
    out.push_back(std::move(line));
  }
  std::ranges::stable_sort(out, std::ranges::greater(), &LineCost::cycles);
  return out;
}

std::vector<Handover> handovers_of(const models::CriticalPath& path) {
  std::map<std::tuple<models::Why, isa::PipeId, isa::PipeId>, Handover> sums;
  for (const models::PathEdge& e : path.edges) {
    Handover& h = sums[{e.why, e.from, e.to}];
    h.why = e.why;
    h.from = e.from;
    h.to = e.to;
    ++h.count;
    h.waited += e.waited;
  }
  std::vector<Handover> out;
  for (const auto& [key, h] : sums)
    out.push_back(h);
  std::ranges::stable_sort(out, std::ranges::greater(), &Handover::waited);
  return out;
}

void add_chain(const models::KernelLog& log, const models::CriticalPath& path, KernelExplanation& out) {
  out.chain.clear();
  for (const PathStep& s : path.steps) {
    ChainStep step{.begin = s.begin - log.start,
                   .end = s.end - log.start,
                   .kind = s.kind,
                   .core = s.block != nullptr ? s.block->core() : std::string(),
                   .what = what_of(s),
                   .place = place_of(s)};
    if (!out.chain.empty()) {
      ChainStep& last = out.chain.back();
      if (last.kind == step.kind && last.core == step.core && last.what == step.what && last.place == step.place) {
        last.end = step.end;
        continue;
      }
    }
    out.chain.push_back(std::move(step));
  }
  out.chain_steps = out.chain.size();
  if (out.chain.size() > KernelExplanation::kChain)
    out.chain.erase(out.chain.begin(), out.chain.end() - static_cast<std::ptrdiff_t>(KernelExplanation::kChain));
}

void describe(const models::KernelLog& log, const models::CriticalPath& path, KernelExplanation& out) {
  out.slowest = log.end - log.start;
  out.cold = path.cycles[static_cast<usize>(CostKind::cold_start)];
  out.slowest_by_kind = path.cycles;
  out.stream = log.stream;
  out.task = log.task;
  out.start = log.start;
  out.blocks = log.blocks_asked;
  out.slots = log.slots;
  out.lines = lines_of(path);
  out.handovers = handovers_of(path);
  add_chain(log, path, out);
  out.limits.clear();
  for (usize k = 0; k < path.cycles.size(); ++k)
    if (path.cycles[k] > 0) out.limits.push_back({.kind = static_cast<CostKind>(k), .cycles = path.cycles[k]});
  std::ranges::stable_sort(out.limits, std::ranges::greater(), &Limit::cycles);
  out.advice = find_advice(log, path);
}

}  // namespace

void Collector::kernel(const models::KernelLog& log) {
  const auto it = kernels_.find(log.name);
  if (it == kernels_.end() && kernels_.size() == Explanation::kNames) {
    ++dropped_;
    return;
  }
  KernelExplanation& k = kernels_[log.name];
  k.name = log.name;
  ++k.launches;
  k.cycles += log.end - log.start;
  if (!log.complete()) {
    k.complete = false;
    return;
  }
  const models::CriticalPath path = models::critical_path(log);
  for (usize i = 0; i < path.cycles.size(); ++i)
    k.by_kind[i] += path.cycles[i];
  if (log.end - log.start > k.slowest) describe(log, path, k);
}

Explanation Collector::take() {
  Explanation out{.dropped = dropped_};
  for (auto& [name, k] : kernels_)
    out.kernels.push_back(std::move(k));
  kernels_.clear();
  std::ranges::stable_sort(out.kernels, std::ranges::greater(), &KernelExplanation::cycles);
  return out;
}

}  // namespace vinci::explain
