// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>

#include "tools/explain/explain.h"

namespace vinci::explain {
namespace {

using models::CostKind;
using models::Why;

constexpr usize kLines = 8, kHandovers = 6;

double percent(u64 part, u64 whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string us(u64 cycles, double hertz) { return fmt::format("{:.3f} us", static_cast<double>(cycles) / hertz * 1e6); }

std::string why(const Handover& h) {
  switch (h.why) {
    case Why::issue: return fmt::format("{} waits for the scalar unit to issue its instruction", isa::name(h.to));
    case Why::flag: return fmt::format("{} waits for a flag of {}", isa::name(h.to), isa::name(h.from));
    case Why::results: return fmt::format("{} waits for its own results (barrier)", isa::name(h.to));
    case Why::unit_flag: return fmt::format("{} waits for a unit flag of {}", isa::name(h.to), isa::name(h.from));
    case Why::queue: return fmt::format("the scalar unit waits for room in the queue of {}", isa::name(h.from));
    case Why::drained: return fmt::format("the scalar unit waits until {} has drained", isa::name(h.from));
    case Why::cross_core: return "the scalar unit waits for another core";
    case Why::order: return "a block waits for the one before it on its core";
  }
  return {};
}

u64 shown(const KernelExplanation& k, bool cold) { return cold ? k.slowest : k.slowest - k.cold; }

std::string shares(const KernelExplanation& k, double hertz, bool cold) {
  const auto without = [&](const Limit& l) -> std::string {
    if (!l.without || l.kind == CostKind::cold_start) return {};
    return fmt::format("{} at most", us(*l.without - (cold ? 0 : std::min(*l.without, k.cold)), hertz));
  };
  std::string out = fmt::format("\n  {:<20} {:>10} {:>8}  {}\n", "critical path", "cycles", "share", "without it");
  std::string start;  // shares of the warm time add up to 100 % without it
  for (const Limit& l : k.limits) {
    if (l.kind == CostKind::cold_start && !cold) {
      start = fmt::format("  {:<20} {:>10}           besides, of a first launch\n", name(l.kind), l.cycles);
      continue;
    }
    out += fmt::format("  {:<20} {:>10} {:>6.1f} %  {}\n", name(l.kind), l.cycles, percent(l.cycles, shown(k, cold)),
                       without(l));
  }
  return out + start;
}

std::string lines(const KernelExplanation& k, bool cold) {
  if (k.lines.empty()) return {};
  std::string out =
      fmt::format("\n  {:<28} {:<26} {:>10} {:>8}  {}\n", "line", "instruction", "cycles", "share", "mostly");
  for (usize i = 0; i < std::min(kLines, k.lines.size()); ++i) {
    const LineCost& l = k.lines[i];
    out += fmt::format("  {:<28} {:<26} {:>10} {:>6.1f} %  {}\n", l.place, l.what, l.cycles,
                       percent(l.cycles, shown(k, cold)), name(l.kind));
  }
  if (k.lines.size() > kLines) out += fmt::format("  ... and {} more: explain.json\n", k.lines.size() - kLines);
  return out;
}

std::string handovers(const KernelExplanation& k) {
  std::string out;
  for (usize i = 0; i < std::min(kHandovers, k.handovers.size()); ++i) {
    const Handover& h = k.handovers[i];
    out += fmt::format("  {:>10} {:>10}  {}\n", h.count, h.waited, why(h));
  }
  if (out.empty()) return out;
  return fmt::format("\n  {:>10} {:>10}  {}\n", "times", "waited", "on the path") + out;
}

std::string advice(const KernelExplanation& k) {
  std::string out;
  for (const Advice& a : k.advice)
    out += fmt::format("\n  {} ({:.0f} %{}): {}.\n    -> {}.\n", a.rule, 100 * a.share,
                       a.gain ? fmt::format(", about {:.0f} % to gain", 100 * *a.gain) : "", a.found, a.todo);
  return out;
}

std::string kernel_text(const KernelExplanation& k, double hertz, bool cold) {
  const u64 time = shown(k, cold);
  std::string out = fmt::format("{}: {}, {} cycles; {} block{} on {} core{}{}\n", k.name, us(time, hertz), time,
                                k.blocks, k.blocks == 1 ? "" : "s", k.slots, k.slots == 1 ? "" : "s",
                                k.launches > 1 ? fmt::format("; the slowest of {} launches", k.launches) : "");
  if (!k.complete && k.limits.empty()) return out + "  too many instructions for a critical path\n";
  if (k.cold > 0) {
    out += cold ? fmt::format("  with a cold start of {}; warm {}\n", us(k.cold, hertz), us(k.slowest - k.cold, hertz))
                : fmt::format("  warm; a first launch takes {} more, its cold start\n", us(k.cold, hertz));
  }
  out += fmt::format("  {}\n", limit_sentence(k, hertz));
  return out + shares(k, hertz, cold) + lines(k, cold) + handovers(k) + advice(k);
}

}  // namespace

std::string limit_sentence(const KernelExplanation& k, double hertz) {
  const u64 warm = k.slowest - k.cold;
  for (const Limit& l : k.limits) {
    if (l.kind == CostKind::cold_start) continue;
    std::string out = fmt::format("limited by {}, {:.1f} % of the warm time: {}", name(l.kind), percent(l.cycles, warm),
                                  models::kCostKindDocs[static_cast<usize>(l.kind)]);
    if (l.without) out += fmt::format("; without it {} at most", us(*l.without - std::min(*l.without, k.cold), hertz));
    return out;
  }
  return {};
}

std::string to_text(const Explanation& e, double hertz, usize most, bool cold) {
  std::string out;
  for (usize i = 0; i < std::min(most, e.kernels.size()); ++i)
    out += (i > 0 ? "\n" : "") + kernel_text(e.kernels[i], hertz, cold);
  if (e.kernels.empty()) out = "no kernels ran\n";
  if (e.kernels.size() > most) out += fmt::format("\n... and {} more kernels: explain.json\n", e.kernels.size() - most);
  return out;
}

}  // namespace vinci::explain
