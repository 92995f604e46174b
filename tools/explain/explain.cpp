// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/explain/explain.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/explain/collector.h"
#include "tools/explain/simulate.h"
#include "tools/explain/without.h"

namespace vinci::explain {
namespace {

using models::CostKind;

// The longest launch of each position in the task stream.
class KernelTimes final : public models::TaskSink {
 public:
  void task(const models::TaskRecord& r) override {
    u64& t = times_[{r.stream_id, r.task_id}];
    t = std::max(t, r.end - r.start);
  }
  std::optional<u64> of(const KernelExplanation& k) const {
    const auto it = times_.find({k.stream, k.task});
    return it == times_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  std::map<std::pair<u32, u32>, u64> times_;
};

// A pipe's instructions on the critical path of a kernel.
std::set<std::string> instructions_of(const KernelExplanation& k, CostKind kind) {
  std::set<std::string> out;
  for (const ChainStep& s : k.chain)
    if (s.kind == kind && !s.what.empty()) out.insert(s.what);
  return out;
}

bool is_wanted(const KernelExplanation& k, const Limit& limit) {
  constexpr u64 kLeast = 20;  // one part of so many
  return limit.cycles * kLeast >= k.slowest;
}

}  // namespace

Explanation explain(const config::ChipConfig& chip, const task::TaskStream& stream, const Options& o) {
  Explanation out;
  simulate_fastest(o, [&](bool with_data) {
    Collector collector;
    simulate(chip, stream, o, with_data, &collector, nullptr);
    out = collector.take();
  });
  add_limits(out, chip, stream, o);
  return out;
}

void add_limits(Explanation& explanation, const config::ChipConfig& chip, const task::TaskStream& stream,
                const Options& o) {
  if (o.limits == 0) return;
  const std::span kernels(explanation.kernels.data(), std::min<usize>(o.kernels, explanation.kernels.size()));
  std::map<CostKind, std::set<std::string>> wanted;
  for (const KernelExplanation& k : kernels) {
    u32 taken = 0;  // the cold start is no cost of the program
    for (const Limit& limit : k.limits) {
      if (taken == o.limits || !is_wanted(k, limit)) break;
      taken += limit.kind == CostKind::cold_start ? 0 : 1;
      wanted[limit.kind].merge(instructions_of(k, limit.kind));
    }
  }
  for (const auto& [kind, instructions] : wanted) {
    const auto cheaper = without(chip, kind, instructions);
    if (!cheaper) continue;
    if (o.progress) o.progress(fmt::format("without {}", name(kind)));
    KernelTimes times;
    simulate_fastest(o, [&](bool with_data) {
      times = {};
      simulate(*cheaper, stream, o, with_data, nullptr, &times);
    });
    for (KernelExplanation& k : kernels) {
      for (Limit& limit : k.limits)
        if (limit.kind == kind && is_wanted(k, limit)) limit.without = times.of(k);
    }
  }
}

}  // namespace vinci::explain
