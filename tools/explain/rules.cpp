// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Rules about pipes that wait for each other.
#include "tools/explain/rules.h"

#include <algorithm>
#include <array>

#include "isa/insns/scalar.h"

namespace vinci::explain {
namespace {

using isa::PipeId;
using models::CostKind;
using models::PathEdge;
using models::Why;

// Works on what a copy brought: computes, or moves it on.
constexpr bool works_on(PipeId p) {
  const isa::PipeUse use = isa::row_of(p).use;
  return use == isa::PipeUse::compute || use == isa::PipeUse::move;
}

// By CostKind, whether pipes of such a use are charged to it.
template <class Where>
constexpr std::array<bool, enum_count<CostKind>> costs_of_pipes(Where where) {
  std::array<bool, enum_count<CostKind>> out{};
  for (usize p = 0; p < isa::kPipeCount; ++p) {
    const auto pipe = static_cast<PipeId>(p);
    if (where(pipe)) out[enum_index(models::cost_kind(pipe))] = true;
  }
  return out;
}
constexpr auto kWork = costs_of_pipes(works_on);
constexpr auto kCompute = costs_of_pipes([](PipeId p) { return isa::row_of(p).use == isa::PipeUse::compute; });

u64 cycles_of(const models::CriticalPath& path, const std::array<bool, enum_count<CostKind>>& kinds) {
  u64 sum = 0;
  for (usize k = 0; k < kinds.size(); ++k)
    sum += kinds[k] ? path.cycles[k] : 0;
  return sum;
}

// Copies in and the work on them take turns: the path goes from MTE2 to a consumer and from a consumer back to MTE2
// again and again. With two buffers it stays in the slower one, and two tiles are under way at a time, so that at most
// half of the time goes.
std::optional<Advice> double_buffer(const Facts& f) {
  const u64 back =
      f.count([](const PathEdge& e) { return e.to == PipeId::MTE2 && e.why == Why::flag && works_on(e.from); });
  const u64 there =
      f.count([](const PathEdge& e) { return e.from == PipeId::MTE2 && e.why == Why::flag && e.to != PipeId::MTE2; });
  const double in = f.copies_in(), rest = f.share(cycles_of(f.path, kWork));
  const bool latency = rest < 0.1 && f.share({CostKind::l2, CostKind::hbm_latency}) >= 0.2;
  if (back < 2 || there < 2 || in < 0.1 || (rest < 0.1 && !latency)) return std::nullopt;
  std::optional<double> gain = f.turns(back + 1);
  if (gain) gain = std::min(0.5, *gain);
  return Advice{.rule = "double-buffer",
                .found = fmt::format("copies in and the work on them take turns {} times: MTE2 waits until a buffer is "
                                     "free, and the other pipes wait for MTE2",
                                     back),
                .todo =
                    "use two buffers (BUFFER_NUM 2 of a TQue, two event ids), so that MTE2 fills one while the "
                    "other is in use; where there are two, use more or larger tiles",
                .share = f.turns(),
                .gain = gain};
}

// The scalar unit waits for a pipe and only then issues the next copy.
std::optional<Advice> prefetch(const Facts& f) {
  u64 times = 0, waited = 0;
  bool scalar_waited = false;
  for (const PathEdge& e : f.path.edges) {
    if (e.to == PipeId::S && (e.why == Why::flag || e.why == Why::drained) && e.from != PipeId::MTE2) {
      scalar_waited = true;
    } else if (e.to == PipeId::MTE2 && e.why == Why::issue && scalar_waited) {
      scalar_waited = false;
      ++times;
      waited += e.waited;
    } else if (e.why == Why::issue) {
      scalar_waited = false;
    }
  }
  if (times < 2 || f.share(waited) < 0.1) return std::nullopt;
  return Advice{.rule = "prefetch",
                .found = fmt::format("{} times MTE2 has nothing to do while the scalar unit waits for results of a "
                                     "reduction or of other vector work",
                                     times),
                .todo = "issue the copy of the next tile before the wait (GetValue, DeQue of a reduction)",
                .share = f.turns(),
                .gain = f.turns(times + 1)};
}

// Of a long run of accesses, a recording has the first ones; the others are the time of a `nop` and what they touch.
std::optional<Advice> scalar_loop(const Facts& f) {
  const auto touches = [](const models::SiteSums& s) {
    return s.row != nullptr && s.row->opcode == isa::insn::TouchUbuf::opcode;
  };
  const auto loads =
      f.sites([&](const models::SiteSums& s) { return s.pipe == PipeId::S && s.row != nullptr && !touches(s); });
  const bool more = f.sites(touches).sum.count > 0;
  const double accesses = more ? f.share({CostKind::scalar_load, CostKind::scalar}) : f.share({CostKind::scalar_load});
  if ((loads.sum.count < 64 && !more) || loads.sum.count == 0 || accesses < (more ? 0.3 : 0.1)) return std::nullopt;
  // The loop goes with the accesses.
  const double share = f.share({CostKind::scalar_load, CostKind::scalar, CostKind::issue});
  return Advice{.rule = "scalar-access",
                .found = fmt::format("the scalar unit reads or writes single elements {}{} times, most often at {}",
                                     more ? "more than " : "", loads.sum.count, loads.place),
                .todo =
                    "replace GetValue and SetValue in a loop by vector instructions (Duplicate, Gather, a "
                    "reduction, a copy)",
                .share = share,
                .gain = share};
}

// Vector instructions of few repeats, each of which is issued by itself.
std::optional<Advice> small_instructions(const Facts& f) {
  const auto small =
      f.sites([](const models::SiteSums& s) { return s.pipe == PipeId::V && s.count > 0 && s.steps <= 4 * s.count; });
  const auto all = f.sites([](const models::SiteSums& s) { return s.pipe == PipeId::V; });
  const double share = f.share({CostKind::issue, CostKind::scalar, CostKind::vector});
  if (small.sum.count < 64 || 2 * small.sum.count < all.sum.count || share < 0.3) return std::nullopt;
  return Advice{
      .rule = "small-instructions",
      .found = fmt::format("{} vector instructions compute at most four repeats each, most often {} at {}; "
                           "their start and their issue take longer than the work",
                           small.sum.count, small.what, small.place),
      .todo = "give one instruction the repeats of all (repeat count and strides, or a larger calCount)",
      .share = share,
      .gain = share - std::min(share, f.share(f.of_a_core(small.sum.steps + static_cast<u64>(small.sum.conflicts))))};
}

std::optional<Advice> bank_conflicts(const Facts& f) {
  const auto sites = f.sites([](const models::SiteSums& s) { return s.conflicts > 0; });
  const auto all = f.sites([](const models::SiteSums& s) { return s.pipe == PipeId::V; });
  const double part = all.sum.cycles == 0 ? 0 : sites.sum.conflicts / static_cast<double>(all.sum.cycles);
  const double share = part * f.share({CostKind::vector});
  if (part < 0.1 || share < 0.05) return std::nullopt;
  return Advice{.rule = "bank-conflicts",
                .found = fmt::format("{:.0f} % of the vector cycles are conflicts in banks of UB, most at {} ({})",
                                     100 * part, sites.place, sites.what),
                .todo =
                    "move an operand by one block of 32 B, or change block strides, so that operands are in "
                    "different bank groups",
                .share = share,
                .gain = share};
}

std::optional<Advice> fixpipe(const Facts& f) {
  const auto of_cube = [](const PathEdge& e) {
    return e.from == PipeId::FIX && (e.to == PipeId::M || e.to == PipeId::MTE1);
  };
  const u64 count = f.count(of_cube);
  const double share = f.share({CostKind::fixpipe}), waited = f.share(f.waited(of_cube));
  if (count < 2 || share < 0.1 || waited < 0.05) return std::nullopt;
  return Advice{.rule = "fixpipe",
                .found = fmt::format("the cube waits {} times until FIXPIPE has emptied L0C", count),
                .todo = "use two tiles of L0C in turn, add up more of K in L0C before FIXPIPE writes, or unitFlag",
                .share = f.turns(),
                .gain = f.turns(count + 1)};
}

// pipe_barrier PIPE_ALL inside a block; its end drains the pipes, too.
std::optional<Advice> barriers(const Facts& f) {
  u64 stops = 0, waited = 0;
  for (const models::ScalarNode& n : f.log.last->scalars()) {
    if (!n.waits || n.cause.why != Why::drained || n.row == nullptr) continue;
    ++stops;
    waited += n.end - n.begin;
  }
  const u64 on_path = f.count([](const PathEdge& e) { return e.why == Why::drained; });
  if (stops < 2 || on_path < 3 || f.share(waited) < 0.15) return std::nullopt;
  return Advice{
      .rule = "barriers",
      .found = fmt::format("pipe_barrier of all pipes stops the scalar unit of a block {} times, for {:.0f} % "
                           "of the time",
                           stops, 100 * f.share(waited)),
      .todo =
          "order the two instructions alone that depend on each other: set_flag and wait_flag, or "
          "PipeBarrier of one pipe",
      .share = f.turns(),
      .gain = f.turns(stops)};
}

constexpr std::array<Rule, 7> kPipelineRules{double_buffer,  prefetch, scalar_loop, small_instructions,
                                             bank_conflicts, fixpipe,  barriers};

}  // namespace

std::span<const Rule> rules_of_pipelines() { return kPipelineRules; }

u64 Facts::body() const {
  u64 out = time();
  for (const CostKind k : {CostKind::launch, CostKind::cold_start, CostKind::program_start, CostKind::other_kernel})
    out -= path.cycles[static_cast<usize>(k)];
  return std::max<u64>(1, out);
}

double Facts::share(u64 cycles) const { return static_cast<double>(cycles) / static_cast<double>(body()); }

double Facts::share(std::initializer_list<CostKind> kinds) const {
  u64 sum = 0;
  for (const CostKind k : kinds)
    sum += path.cycles[static_cast<usize>(k)];
  return share(sum);
}

double Facts::copies_in() const {
  u64 sum = 0;
  for (const models::PathStep& s : path.steps)
    sum += s.pipe == PipeId::MTE2 ? s.end - s.begin : 0;
  return share(sum);
}

double Facts::turns() const {
  u64 in = 0;
  for (const models::PathStep& s : path.steps) {
    const bool latency = s.kind == CostKind::l2 || s.kind == CostKind::hbm_latency;
    in += s.pipe == PipeId::MTE2 && !latency ? s.end - s.begin : 0;
  }
  // A pipe that is occupied for less than the path spends there has its end in the latency of the last request.
  const auto copies = sites([](const models::SiteSums& s) { return s.pipe == PipeId::MTE2; });
  double longest = std::min(share(in), share(of_a_core(copies.sum.cycles)));
  for (usize k = 0; k < kWork.size(); ++k)
    longest = std::max(longest, kWork[k] ? share(path.cycles[k]) : 0.0);
  longest = std::max(longest, share({CostKind::scalar, CostKind::scalar_load, CostKind::issue}));
  // What is hidden now is the next limit.
  for (usize i = 0; i < isa::kPipeCount; ++i) {
    const auto p = static_cast<PipeId>(i);
    if (works_on(p))
      longest = std::max(longest, share(of_a_core(sites([&](const auto& s) { return s.pipe == p; }).sum.cycles)));
  }
  u64 scalar = 0;
  for (const models::ScalarNode& n : log.last->scalars())
    scalar += n.waits ? 0 : n.end - n.begin;
  if (log.blocks_asked <= log.slots) longest = std::max(longest, share(scalar));
  return 1 - std::min(1.0, longest);
}

std::optional<double> Facts::turns(u64 tiles) const {
  constexpr double kShared = 0.1;  // more waiting for what all cores share, and they would wait for it together
  if (share({CostKind::hbm_busy, CostKind::l2_busy}) > kShared) return std::nullopt;
  return turns() * (1 - 1 / static_cast<double>(std::max<u64>(1, tiles)));
}

u64 Facts::of_a_core(u64 cycles) const {
  return cycles / std::max<u64>(1, std::min<u64>(log.blocks_asked, log.slots) * log.parts);
}

double Facts::compute() const { return share(cycles_of(path, kCompute)); }

u64 Facts::count(const Where& where) const { return static_cast<u64>(std::ranges::count_if(path.edges, where)); }

u64 Facts::waited(const Where& where) const {
  u64 sum = 0;
  for (const PathEdge& e : path.edges)
    sum += where(e) ? e.waited : 0;
  return sum;
}

Facts::Sites Facts::sites(const std::function<bool(const models::SiteSums&)>& where) const {
  Sites out;
  u64 most = 0;
  for (const auto& [key, s] : log.sites) {
    if (!where(s)) continue;
    out.sum += s;
    out.sum.same_address &= s.same_address;
    out.sum.blocks = std::max(out.sum.blocks, s.blocks);
    if (s.cycles < most || (s.cycles == most && !out.place.empty() && s.place >= out.place)) continue;
    most = s.cycles;
    out.place = s.place;
    out.what = s.row != nullptr ? s.row->name : "";
  }
  return out;
}

std::vector<Advice> find_advice(const models::KernelLog& log, const models::CriticalPath& path) {
  std::vector<Advice> out;
  const Facts facts{log, path};
  if (log.last == nullptr || log.last->code() == nullptr) return out;
  for (const auto rules : {rules_of_pipelines(), rules_of_copies(), rules_of_cores()}) {
    for (const Rule rule : rules)
      if (auto advice = rule(facts)) out.push_back(std::move(*advice));
  }
  std::ranges::stable_sort(out, std::ranges::greater(), [](const Advice& a) {
    constexpr double kUnknown = 0.5;  // of the bound, where no gain is predicted
    return a.gain.value_or(kUnknown * a.share);
  });
  return out;
}

}  // namespace vinci::explain
