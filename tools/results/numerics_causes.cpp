// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/results/numerics_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "isa/census/origins.h"

namespace vinci::results {
namespace {

using Json = nlohmann::ordered_json;

constexpr usize kShownCauses = 3, kShownSteps = 4;

// The earliest event that bore special values at a site.
const isa::Occurrence* first_of(const CensusSite& site, isa::NumericEvents events) {
  const isa::Occurrence* first = nullptr;
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    if ((events >> e & 1) == 0 || site.census->counts[e] == 0) continue;
    const isa::Occurrence& now = site.census->first[e];
    if (first == nullptr || now.moment < first->moment) first = &now;
  }
  return first;
}

void add_line(std::vector<CensusSites::Name>& lines, CensusSites::Name name) {
  const bool known = std::ranges::any_of(lines, [&](const CensusSites::Name& n) { return n.place == name.place; });
  if (!known) lines.push_back(std::move(name));
}

std::string text(const CensusSites::Name& n) { return fmt::format("'{}', {} ({})", n.task, n.instruction, n.place); }

std::string events_text(isa::NumericEvents events) {
  std::string out;
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    if ((events >> e & 1) != 0) out += fmt::format("{}{}", out.empty() ? "" : ", ", isa::kNumericEventNames[e]);
  }
  return out;
}

Json name_json(const CensusSites::Name& n) {
  return {{"task", n.task}, {"instruction", n.instruction}, {"place", n.place}};
}

Json names_json(const std::vector<CensusSites::Name>& names) {
  Json out = Json::array();
  for (const CensusSites::Name& n : names)
    out.push_back(name_json(n));
  return out;
}

}  // namespace

std::vector<CensusCause> census_causes(const CensusSites& sites, const isa::Census& census) {
  std::vector<CensusCause> out;
  if (census.origins == nullptr) return out;
  std::map<u32, usize> by_birth;
  std::map<std::string, usize> by_place;  // launches of a kernel are one cause
  const auto sequence_of = [&](u32 task) {
    const auto counted = census.tasks.find(task);
    return counted == census.tasks.end() ? u64{0} : counted->second.sequence;
  };
  u32 number = 0;
  for (const isa::Origins::Node& n : census.origins->nodes()) {
    ++number;
    CensusSites::Name name = sites.name_of(n.task, n.site);
    if (n.parent == 0) {
      const auto [known, is_new] = by_place.try_emplace(name.place, out.size());
      by_birth.emplace(number, known->second);
      if (is_new) out.emplace_back();
      CensusCause& cause = out[known->second];
      cause.events |= n.events;
      if (!is_new && cause.sequence <= sequence_of(n.task)) continue;
      const CensusSite* site = sites.find(n.task, n.site);
      cause.born = std::move(name);
      cause.sequence = sequence_of(n.task);
      cause.first = site != nullptr ? first_of(*site, n.events) : nullptr;
      continue;
    }
    CensusCause& cause = out[by_birth.at(n.birth)];
    if (n.leaves_the_device) {
      add_line(cause.to_the_host, std::move(name));
    } else if (name.place != cause.born.place) {
      add_line(cause.through, std::move(name));
    }
  }
  // Data of cores move in batches, so that nodes do not come in the order of time.
  std::ranges::stable_sort(out, [](const CensusCause& a, const CensusCause& b) {
    if (a.to_the_host.empty() != b.to_the_host.empty()) return b.to_the_host.empty();
    if (a.sequence != b.sequence) return a.sequence < b.sequence;
    if (a.first == nullptr || b.first == nullptr) return a.first != nullptr && b.first == nullptr;
    return a.first->moment < b.first->moment;
  });
  return out;
}

std::set<std::string> reaching_lines(const std::vector<CensusCause>& causes) {
  const auto compares = [](const CensusSites::Name& n) {
    return n.instruction.starts_with("vcmp") || n.instruction.starts_with("scatter_vcmp") ||
           n.instruction.starts_with("vbitsort") || n.instruction.starts_with("vmrgsort");
  };
  std::set<std::string> out;
  for (const CensusCause& c : causes) {
    if (!c.to_the_host.empty() || std::ranges::any_of(c.through, compares)) out.insert(c.born.place);
  }
  return out;
}

Json causes_json(const std::vector<CensusCause>& causes) {
  Json out = Json::array();
  for (const CensusCause& c : causes) {
    Json cause = {{"born", name_json(c.born)}, {"events", Json::array()}};
    for (usize e = 0; e < isa::kNumericEvents; ++e) {
      if ((c.events >> e & 1) != 0) cause["events"].push_back(isa::kNumericEventNames[e]);
    }
    cause["through"] = names_json(c.through);
    cause["to_the_host"] = names_json(c.to_the_host);
    out.push_back(std::move(cause));
  }
  return out;
}

std::string causes_text(const std::vector<CensusCause>& causes) {
  if (causes.empty()) return "";
  std::string out = "\ncauses of infinities, NaN, largest values and zeros, those that reach the host first\n";
  for (usize i = 0; i < std::min(causes.size(), kShownCauses); ++i) {
    const CensusCause& c = causes[i];
    out += fmt::format("{:<10} task {}", events_text(c.events), text(c.born));
    if (c.first != nullptr) {
      out += fmt::format(", block {}, element {}:", c.first->moment.block, c.first->element);
      for (u8 o = 0; o < c.first->operand_count; ++o)
        out += fmt::format("{} {} = {:.9g}", o == 0 ? "" : ",", c.first->operands[o].name, c.first->operands[o].value);
    }
    out += '\n';
    for (usize s = 0; s < std::min(c.through.size(), kShownSteps); ++s)
      out += fmt::format("{:10} through {}\n", "", text(c.through[s]));
    if (c.through.size() > kShownSteps)
      out += fmt::format("{:10} and {} more lines\n", "", c.through.size() - kShownSteps);
    for (const CensusSites::Name& copy : c.to_the_host)
      out += fmt::format("{:10} to the host by {}\n", "", text(copy));
  }
  if (causes.size() > kShownCauses)
    out += fmt::format("... and {} more causes (all of them in numerics.json)\n", causes.size() - kShownCauses);
  return out;
}

}  // namespace vinci::results
