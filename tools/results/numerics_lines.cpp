// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/results/numerics_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "isa/base/enums.h"

namespace vinci::results {
namespace {

std::string mnemonic(const isa::CodeInst& inst) {
  const isa::Row& row = *inst.row;
  return row.types.empty() ? std::string(row.name) : fmt::format("{}.{}", row.name, row.types[inst.type].name);
}

void add_once(std::vector<std::string>& list, const std::string& name) {
  if (std::ranges::find(list, name) == list.end()) list.push_back(name);
}

// The first harmful event of a line, for the order of lines.
const CensusSite* first_of(const CensusLine& line, Harm harm, isa::NumericEvent& event) {
  const CensusSite* first = nullptr;
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    const auto now = static_cast<isa::NumericEvent>(e);
    if (line.first[e] == nullptr || harm_of(now) != harm) continue;
    if (first == nullptr || comes_before(*line.first[e], *first, now)) {
      first = line.first[e];
      event = now;
    }
  }
  return first;
}

}  // namespace

CensusSites::CensusSites(const CensusReport& r) : stream_(r.stream), codes_(models::decode_kernels(r.stream)) {
  u32 position = 0;
  for (usize s = 0; s < r.stream.streams.size(); ++s) {
    for (const task::Task& t : r.stream.streams[s].tasks) {
      const auto counted = r.census.tasks.find(position++);
      if (counted == r.census.tasks.end()) continue;
      for (const auto& [id, site] : counted->second.sites) {
        if (site.results == 0 && std::ranges::all_of(site.counts, [](u64 n) { return n == 0; })) continue;
        Name name = name_of(position - 1, id);
        sites_.push_back({.task_id = position - 1,
                          .task = &t,
                          .stream = s,
                          .sequence = counted->second.sequence,
                          .instruction = std::move(name.instruction),
                          .site = id,
                          .pc = id.pc,
                          .place = std::move(name.place),
                          .census = &site});
      }
    }
  }
}

CensusSites::Name CensusSites::name_of(u32 task_id, const isa::Site& site) const {
  usize s = 0, t = task_id;
  while (t >= stream_.streams[s].tasks.size())
    t -= stream_.streams[s++].tasks.size();
  const task::Task& task = stream_.streams[s].tasks[t];
  if (site.kernel == isa::Site::kNoKernel)
    return {task.name, std::string(task::kOpNames[task.op.index()]), task::place(stream_, s, t)};
  const isa::Code& code = *codes_[site.kernel];
  return {task.name, mnemonic(code[site.pc]), code.place(site.pc)};
}

const CensusSite* CensusSites::find(u32 task_id, const isa::Site& site) const {
  const auto found =
      std::ranges::find_if(sites_, [&](const CensusSite& s) { return s.task_id == task_id && s.site == site; });
  return found == sites_.end() ? nullptr : &*found;
}

bool comes_before(const CensusSite& a, const CensusSite& b, isa::NumericEvent event) {
  if (a.sequence != b.sequence) return a.sequence < b.sequence;
  const usize e = static_cast<usize>(event);
  return a.census->first[e].moment < b.census->first[e].moment;
}

Harm harm_of(isa::NumericEvent event) {
  using enum isa::NumericEvent;
  constexpr auto kHarm = enum_table<isa::NumericEvent, Harm>({{overflow, Harm::wrong},
                                                              {nan, Harm::wrong},
                                                              {saturated, Harm::wrong},
                                                              {subnormal, Harm::rounding},
                                                              {flushed, Harm::lost},
                                                              {absorbed, Harm::rounding},
                                                              {wrapped, Harm::wrong},
                                                              {clipped, Harm::lost}});
  return kHarm[static_cast<usize>(event)];
}

Harm CensusLine::harm() const {
  Harm worst = Harm::none;
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    if (counts[e] != 0) worst = std::max(worst, harm_of(static_cast<isa::NumericEvent>(e)));
  }
  return worst;
}

u64 CensusLine::harmful() const {
  u64 sum = 0;
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    if (harm_of(static_cast<isa::NumericEvent>(e)) == harm()) sum += counts[e];
  }
  return sum;
}

std::vector<CensusLine> census_lines(const CensusSites& sites, const std::set<std::string>& reaching) {
  std::map<std::string, usize> by_place;
  std::vector<CensusLine> out;
  for (const CensusSite& s : sites) {
    const auto [at, is_new] = by_place.try_emplace(s.place, out.size());
    if (is_new) out.push_back({.place = s.place});
    CensusLine& line = out[at->second];
    add_once(line.tasks, s.task->name);
    add_once(line.instructions, s.instruction);
    ++line.sites;
    line.executions += s.census->executions;
    line.results += s.census->results;
    for (usize e = 0; e < isa::kNumericEvents; ++e) {
      if (s.census->counts[e] == 0) continue;
      line.counts[e] += s.census->counts[e];
      const CensusSite*& first = line.first[e];
      if (first == nullptr || comes_before(s, *first, static_cast<isa::NumericEvent>(e))) first = &s;
    }
  }
  for (CensusLine& line : out)
    line.reaches = reaching.contains(line.place);
  std::ranges::stable_sort(out, [](const CensusLine& a, const CensusLine& b) {
    const Harm harm = a.harm();
    if (a.reaches != b.reaches) return a.reaches;
    if (harm != b.harm()) return harm > b.harm();
    if (harm == Harm::none) return false;
    if (harm == Harm::rounding) return a.harmful() > b.harmful();
    isa::NumericEvent of_a{}, of_b{};
    const CensusSite *first_a = first_of(a, harm, of_a), *first_b = first_of(b, harm, of_b);
    if (first_a->sequence != first_b->sequence) return first_a->sequence < first_b->sequence;
    return first_a->census->first[static_cast<usize>(of_a)].moment <
           first_b->census->first[static_cast<usize>(of_b)].moment;
  });
  return out;
}

}  // namespace vinci::results
