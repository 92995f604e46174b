// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/equal_launches.h"

#include <algorithm>
#include <set>
#include <utility>

namespace vinci::models {
namespace {

constexpr u64 kMostNoted = u64{1} << 28;  // bytes; further kinds of launches are simulated each time

u64 bytes_of(const MemorySystem::Served& served) { return served.lines.size() * sizeof(served.lines[0]); }

}  // namespace

bool launches_follow_one_another(const task::TaskStream& stream, u32 device) {
  std::set<u32> fed;     // streams of the host with such tasks, or that execute models with them
  std::set<u32> models;  // with such tasks
  for (u32 s = 0; s < stream.streams.size(); ++s) {
    const task::Stream& of = stream.streams[s];
    const bool counts = std::ranges::any_of(of.tasks, [&](const task::Task& t) {
      return (of.device == device && std::holds_alternative<task::KernelLaunch>(t.op)) ||
             std::holds_alternative<task::Free>(t.op);
    });
    if (!counts) continue;
    if (of.model == task::kNone) {
      fed.insert(s);
    } else if (!models.insert(of.model).second) {
      return false;
    }
  }
  for (u32 s = 0; s < stream.streams.size(); ++s) {
    for (const task::Task& t : stream.streams[s].tasks) {
      const auto* execute = std::get_if<task::ModelExecute>(&t.op);
      if (execute == nullptr || !models.contains(execute->model)) continue;
      if (stream.streams[s].model != task::kNone) return false;
      fed.insert(s);
    }
  }
  return fed.size() <= 1;
}

EqualLaunches::EqualLaunches(sim::Env& env, Chip& chip, const KernelCodes& codes, u64 last_cycle)
    : env_(env), chip_(chip), codes_(codes), last_cycle_(last_cycle), counters_(chip.launch_counters()) {}

bool EqualLaunches::depends_on_time(const task::KernelLaunch& op) const {
  const auto reads = [&](u32 kernel) {
    const isa::Code* code = codes_[kernel].get();
    return code != nullptr &&
           std::ranges::any_of(code->stored(), [](const isa::CodeInst& inst) { return inst.row->reads_results; });
  };
  return reads(op.kernel) || (op.mix() && reads(op.aiv_kernel));
}

std::vector<u64> EqualLaunches::counts() const {
  std::vector<u64> out;
  for (const stats::Group* group : counters_)
    group->append_values(out);
  return out;
}

void EqualLaunches::settle() {
  for (const auto& core : chip_.cores())
    core->settle(env_.agenda.now());
}

EqualLaunches::Watched EqualLaunches::watch() const {
  Watched out{.counts = counts(),
              .instructions = env_.instructions,
              .sums = {},
              .moment = chip_.memory().moment(),
              .not_served = chip_.memory().not_served()};
  for (const auto& core : chip_.cores())
    out.sums.push_back(core->sums());
  return out;
}

void EqualLaunches::note(Key key, const task::KernelLaunch& op) {
  if (noted_ >= kMostNoted) return;
  noted_ += sizeof(Known) + key.args.size() * sizeof(u64);
  known_.try_emplace(std::move(key), Known{.depends_on_time = depends_on_time(op)});
}

// The first launch of its kind is not watched: most have no second one.
std::optional<u64> EqualLaunches::begin(const task::KernelLaunch& op, const std::vector<u64>& args) {
  latest_ = nullptr;
  watched_.reset();
  begin_ = env_.agenda.now();
  if (!chip_.at_rest(begin_)) return std::nullopt;
  Key key{.kernel = op.kernel, .aiv_kernel = op.aiv_kernel, .aivs = op.aivs, .block_dim = op.block_dim, .args = args};
  const auto at = known_.find(key);
  if (at == known_.end()) {
    note(std::move(key), op);
    return std::nullopt;
  }
  Known& known = at->second;
  if (known.depends_on_time) return std::nullopt;
  latest_ = &known;
  if (known.past && known.memory_changes != memory_changes_) {
    noted_ -= bytes_of(known.past->served);
    known.past.reset();
  }
  if (!known.past) {
    if (noted_ >= kMostNoted) return std::nullopt;
    known.memory_changes = memory_changes_;
    settle();
    watched_ = watch();
    return std::nullopt;
  }
  if (known.past->cycles > last_cycle_ - std::min(begin_, last_cycle_)) return std::nullopt;
  if (!chip_.memory().would_serve(known.past->served)) return std::nullopt;
  settle();
  return begin_ + known.past->cycles;
}

void EqualLaunches::simulated(const Outcome& outcome) {
  const std::optional<Watched> watched = std::exchange(watched_, std::nullopt);
  if (!watched || chip_.memory().not_served() != watched->not_served) return;
  settle();
  latest_->past = past_since(*watched, outcome);
  noted_ += bytes_of(latest_->past->served);
}

EqualLaunches::Past EqualLaunches::past_since(const Watched& before, const Outcome& outcome) const {
  const u64 t = env_.agenda.now();
  Past out{.cycles = t - begin_,
           .outcome = outcome,
           .counts = counts(),
           .instructions = env_.instructions - before.instructions,
           .sums = {},
           .served = chip_.memory().served_since(before.moment, begin_),
           .ffts = chip_.cross().ffts().free_at()};
  out.outcome.next_start -= std::min(begin_, out.outcome.next_start);
  out.ffts -= std::min(to_ticks(begin_), out.ffts);
  std::ranges::transform(out.counts, before.counts, out.counts.begin(), std::minus());
  for (usize i = 0; i < before.sums.size(); ++i)
    out.sums.push_back(chip_.cores()[i]->sums().since(before.sums[i]));
  return out;
}

EqualLaunches::Outcome EqualLaunches::end() {
  const Past& past = *latest_->past;
  const u64 t = env_.agenda.now();
  std::span<const u64> counts = past.counts;
  for (stats::Group* group : counters_)
    counts = group->add_to_values(counts);
  for (usize i = 0; i < past.sums.size(); ++i)
    chip_.cores()[i]->skip_to(t, past.sums[i]);
  env_.instructions += past.instructions;
  ++env_.changes;
  chip_.memory().serve_again(past.served, begin_);
  chip_.cross().ffts().reserve_until(to_ticks(begin_) + past.ffts);
  ++count_;
  for (const CoreSums& cores : past.outcome.cores)
    cube_macs_ += cores.work.cube_macs;
  Outcome out = past.outcome;
  out.next_start += begin_;
  return out;
}

}  // namespace vinci::models
