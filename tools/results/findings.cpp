// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/results/findings.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "isa/check/checker.h"
#include "tools/results/outputs.h"

namespace vinci::results {
namespace {

using isa::check::Finding;
using isa::check::Site;
using Json = nlohmann::ordered_json;

std::string site_text(const Site& s) {
  if (s.is_task()) return fmt::format("{}{}task '{}'", s.place, s.place.empty() ? "" : "  ", s.task);
  return fmt::format("{}  {}\n           instruction {} on PIPE_{}, block {} of task '{}' on {}", s.place, s.text,
                     s.index, name(s.pipe), *s.block, s.task, s.core);
}

// Findings that a reader takes for one: of one kind, on the same lines of source. A recorded program has an instruction
// for each turn of a loop and for each block, so it has many of them.
struct Alike {
  const Finding* first;
  u64 count;  // times
  u64 pairs;  // of instructions
};

std::vector<Alike> alike(const std::vector<Finding>& all) {
  std::vector<Alike> out;
  std::map<std::tuple<isa::check::FaultId, std::string, std::string>, usize> seen;
  for (const Finding& f : all) {
    const std::string other = f.other ? f.other->place : "";
    const bool known = !f.at.place.empty() && (!f.other || !other.empty());
    const auto [it, first] = seen.emplace(std::tuple(f.id, f.at.place, other), out.size());
    if (first || !known) {
      out.push_back({&f, f.count, 1});
    } else {
      out[it->second].count += f.count;
      ++out[it->second].pairs;
    }
  }
  return out;
}

std::string finding_text(usize number, const Alike& found) {
  const Finding& f = *found.first;
  const std::string times = found.pairs > 1
                                ? fmt::format(" ({} times, {} pairs of instructions)", found.count, found.pairs)
                            : found.count > 1 ? fmt::format(" ({} times)", found.count)
                                              : "";
  std::string out = fmt::format("\n{}. {}{}\n   {}\n", number, name(f.id), times, f.message);
  out += fmt::format("   at      {}\n", site_text(f.at));
  if (f.other) out += fmt::format("   with    {}\n", site_text(*f.other));
  if (f.end > f.begin && f.buffer) {
    out += fmt::format("   bytes   {} [{:#x}, {:#x}){}\n", name(*f.buffer), f.begin, f.end,
                       f.allocation.empty() ? std::string() : fmt::format(" of '{}'", f.allocation));
  }
  if (!f.suggestion.empty()) out += fmt::format("   remedy  {}\n", f.suggestion);
  return out;
}

Json site_json(const Site& s) {
  Json out = {{"task", s.task}};
  if (s.is_task()) {
    if (!s.place.empty()) out["place"] = s.place;
    return out;
  }
  out["block"] = *s.block;
  out["core"] = s.core;
  out["pipe"] = fmt::format("PIPE_{}", name(s.pipe));
  out["instruction"] = s.index;
  out["place"] = s.place;
  out["line"] = s.line;
  out["text"] = s.text;
  return out;
}

}  // namespace

std::string findings_text(const isa::check::Findings& findings, usize limit, const Error* cut_short) {
  const std::vector<Finding> sorted = findings.sorted();
  const std::vector<Alike> all = alike(sorted);
  const auto counted = [](u64 n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  std::string out = fmt::format("check               {}", cut_short != nullptr ? "incomplete, " : "");
  out += all.empty()
             ? "no findings"
             : fmt::format("{}, {}", counted(all.size(), "finding"), counted(findings.occurrences(), "occurrence"));
  if (cut_short != nullptr) {
    out += fmt::format(": the run ended early ({}), what comes after was not checked", fault_name(cut_short->fault()));
  }
  out += '\n';
  if (findings.same_writes() != 0) {
    out += fmt::format("same writes         {}: of the same bytes of global memory, unordered, but of equal values\n",
                       counted(findings.same_writes(), "pair"));
  }
  for (usize i = 0; i < std::min(limit, all.size()); ++i)
    out += finding_text(i + 1, all[i]);
  if (all.size() > limit) out += fmt::format("\n... and {} more in findings.json\n", all.size() - limit);
  return out;
}

std::string findings_json(const isa::check::Findings& findings, const Error* cut_short) {
  Json list = Json::array();
  for (const Finding& f : findings.sorted()) {
    Json entry = {{"id", name(f.id)}, {"message", f.message}, {"count", f.count}, {"at", site_json(f.at)}};
    if (f.other) entry["conflict"] = site_json(*f.other);
    if (f.buffer && f.end > f.begin) {
      entry["buffer"] = name(*f.buffer);
      if (!f.allocation.empty()) entry["allocation"] = f.allocation;
      entry["begin"] = f.begin;
      entry["end"] = f.end;
    }
    if (!f.suggestion.empty()) entry["suggestion"] = f.suggestion;
    list.push_back(std::move(entry));
  }
  Json out = {{"format", 1}, {"complete", cut_short == nullptr}};
  if (cut_short != nullptr) {
    out["ended_by"] = {{"fault", fault_name(cut_short->fault())},
                       {"message", cut_short->message()},
                       {"location", cut_short->location()}};
  }
  out["occurrences"] = findings.occurrences();
  out["dropped"] = findings.dropped();
  out["same_writes"] = findings.same_writes();
  out["findings"] = std::move(list);
  return out.dump(2) + "\n";
}

constinit const OutputFile files::findings_json{
    .name = "findings.json",
    .exists = [](const EndedRun& r) { return r.findings != nullptr; },
    .contents = [](const EndedRun& r) { return results::findings_json(*r.findings, r.cut_short); }};

}  // namespace vinci::results
