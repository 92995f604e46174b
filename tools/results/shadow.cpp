// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/results/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "isa/base/suggest.h"
#include "isa/shadow/kernels.h"
#include "models/soc/kernel_codes.h"
#include "sim/task/run_memory.h"
#include "tools/results/numerics_lines.h"

namespace vinci::results {
namespace {

using Json = nlohmann::ordered_json;

constexpr usize kShadowLinesShown = 12;

// Six digits: those that do not depend on the order in which the host adds squares.
Json six_digits(double v) {
  if (!std::isfinite(v)) return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
  return std::stod(fmt::format("{:.6g}", v));
}

// What instructions of one line, or of one task, have together.
struct Group {
  std::string name;
  std::vector<std::string> tasks{}, instructions{};
  isa::ShadowSite sums{};
  std::string worst_task{};

  void add(const isa::ShadowSite& s, const std::string& task) {
    sums.executions += s.executions;
    sums.results += s.results;
    sums.restarted += s.restarted;
    sums.ended += s.ended;
    sums.wrong += s.wrong;
    sums.total.add(s.total);
    sums.made.add(s.made);
    sums.come_in.add(s.come_in);
    sums.cancelled += s.cancelled;
    sums.decided += s.decided;
    sums.absorbed += s.absorbed;
    sums.addends += s.addends;
    if (s.worst.ulp > sums.worst.ulp) {
      sums.worst = s.worst;
      worst_task = task;
    }
  }
  // The worst first: results that are infinite or NaN, then decisions that would be others, then the mean relative
  // error. The largest would be of the reference that is next to zero.
  double mean() const {
    return sums.results == 0 ? 0 : sums.total.squares_relative / static_cast<double>(sums.results);
  }
  bool operator<(const Group& o) const {
    if ((sums.wrong != 0) != (o.sums.wrong != 0)) return sums.wrong != 0;
    if ((sums.decided != 0) != (o.sums.decided != 0)) return sums.decided != 0;
    return mean() > o.mean();
  }
};

double rms(double squares, u64 results) { return results == 0 ? 0 : std::sqrt(squares / static_cast<double>(results)); }

Json errors_json(const isa::ErrorSums& e, u64 results) {
  return {{"max_ulp", six_digits(e.max_ulp)},
          {"rms_ulp", six_digits(rms(e.squares_ulp, results))},
          {"max_relative", six_digits(e.max_relative)},
          {"rms_relative", six_digits(rms(e.squares_relative, results))}};
}

void add_site(Json& out, const isa::ShadowSite& s, const std::string& worst_task) {
  const u64 finite = s.results - std::min(s.results, s.wrong);
  out["executions"] = s.executions;
  out["results"] = s.results;
  out["restarted"] = s.restarted;
  out["ended"] = s.ended;
  out["wrong"] = s.wrong;
  out["error"] = errors_json(s.total, finite);
  out["made"] = errors_json(s.made, finite);
  out["come_in"] = errors_json(s.come_in, finite);
  out["cancelled"] = s.cancelled;
  out["decided_otherwise"] = s.decided;
  out["absorbed_addends"] = s.absorbed;
  out["addends"] = s.addends;
  if (s.worst.ulp < 0) return;
  const auto& w = s.worst;
  out["worst"] = {{"ulp", six_digits(w.ulp)},
                  {"value", six_digits(w.value)},
                  {"exact", six_digits(w.exact)},
                  {"reference", six_digits(w.reference)},
                  {"task", worst_task},
                  {"block", w.moment.block},
                  {"core", w.core},
                  {"element", w.element}};
}

struct Groups {
  std::vector<Group> lines, tasks;
  isa::ShadowSite all;
};

Groups groups_of(const CensusReport& r) {
  const CensusSites names(r);
  Groups out;
  Group all;
  std::map<std::string, usize> by_line, by_task;
  const auto add_once = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (const auto& [task, sites] : r.census.shadow->tasks) {
    for (const auto& [id, site] : sites) {
      const CensusSites::Name name = names.name_of(task, id);
      const auto group = [&](std::map<std::string, usize>& by, std::vector<Group>& groups,
                             const std::string& key) -> Group& {
        const auto [at, is_new] = by.try_emplace(key, groups.size());
        if (is_new) groups.push_back({.name = key});
        return groups[at->second];
      };
      Group& line = group(by_line, out.lines, name.place);
      add_once(line.tasks, name.task);
      add_once(line.instructions, name.instruction);
      line.add(site, name.task);
      group(by_task, out.tasks, name.task).add(site, name.task);
      all.add(site, name.task);
    }
  }
  std::ranges::stable_sort(out.lines, std::less<>());
  out.all = all.sums;
  return out;
}

std::optional<isa::LaneType> float_type(const task::Buffer& b, isa::RefType stored) {
  if (b.dtype == "f2") return isa::LaneType::f16;
  if (b.dtype == "f4") return isa::LaneType::f32;
  if (b.dtype == "bf16") return isa::LaneType::bf16;
  if (!b.dtype.empty() && b.dtype != "u2" && b.dtype != "u1") return {};
  switch (stored) {
    case isa::RefType::f16: return isa::LaneType::f16;
    case isa::RefType::bf16: return isa::LaneType::bf16;
    case isa::RefType::f32: return isa::LaneType::f32;
    default: return {};
  }
}

// Gathers the errors of a buffer, some elements at a time.
class Gathered {
 public:
  Gathered(std::string buffer, isa::LaneType type) : type_(type) {
    out_.buffer = std::move(buffer);
    out_.dtype = isa::name(type);
  }
  // `count` at most kShadowLanes; `values` and `references` have zeros behind it.
  void add(const isa::DoubleLanes& values, const isa::DoubleLanes& references, usize count) {
    namespace kernels = isa::shadow_kernels;
    kernels::tally(kernels::range_of(type_), values.v.data(), values.v.data(), references.v.data(), count, tally_);
    out_.elements += count;
  }
  OutputError result() const {
    OutputError out = out_;
    const u64 finite = out.elements - tally_.wrong;
    out.wrong = tally_.wrong;
    out.max_ulp = tally_.errors[0].max_ulp;
    out.rms_ulp = rms(tally_.errors[0].squares_ulp, finite);
    out.max_relative = tally_.errors[0].max_relative;
    out.rms_relative = rms(tally_.errors[0].squares_relative, finite);
    return out;
  }

 private:
  isa::LaneType type_;
  OutputError out_;
  isa::shadow_kernels::Tally tally_;
};

Json output_json(const OutputError& e) {
  return {{"max_ulp", six_digits(e.max_ulp)},
          {"rms_ulp", six_digits(e.rms_ulp)},
          {"max_relative", six_digits(e.max_relative)},
          {"rms_relative", six_digits(e.rms_relative)},
          {"wrong", e.wrong}};
}

std::string list_of(const std::vector<std::string>& names) {
  return names.size() <= 2 ? fmt::format("{}", fmt::join(names, ", "))
                           : fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

}  // namespace

std::vector<ShadowOutput> shadow_outputs(const isa::Census& census, const task::TaskStream& stream,
                                         const task::RunMemory& memory) {
  std::vector<ShadowOutput> out;
  for (u32 i = 0; i < stream.buffers.size(); ++i) {
    const task::Buffer& b = stream.buffers[i];
    const std::span<const std::byte> bytes = memory.host(i);
    if (b.place != task::Buffer::Place::host || bytes.empty()) continue;
    const isa::RefSpace& references = census.shadow->host(i);
    const isa::RefType stored = references.type(0, bytes.size());
    if (stored == isa::RefType::none) continue;
    const std::optional<isa::LaneType> type = float_type(b, stored);
    if (!type) continue;
    const usize size = isa::lane_bytes(*type), count = bytes.size() / size, at_once = isa::kRepeatBytes / size;
    Gathered as_it_is(b.name, *type), what_if(b.name, *type);
    for (usize e = 0; e < count; e += at_once) {
      const usize now = std::min(at_once, count - e);
      isa::LaneBuffer lanes{};
      std::ranges::copy(bytes.subspan(e * size, now * size), lanes.bytes.begin());
      isa::DoubleLanes values{}, reference{}, other{};
      isa::shadow_kernels::lane_doubles(*type, lanes, static_cast<u32>(now), values);
      const auto some = [now](isa::DoubleLanes& of) { return std::span(of.v).first(now); };
      references.load(*type, e * size, some(values), some(reference));
      as_it_is.add(values, reference, now);
      if (census.what_if == nullptr) continue;
      census.what_if->host(i).load(*type, e * size, some(values), some(other));
      what_if.add(other, reference, now);
    }
    ShadowOutput o{.as_it_is = as_it_is.result(), .what_if = {}};
    if (census.what_if != nullptr) o.what_if = what_if.result();
    out.push_back(std::move(o));
  }
  return out;
}

Json shadow_json(const CensusReport& r, const std::vector<ShadowOutput>& outputs) {
  const Groups groups = groups_of(r);
  const CensusSites names(r);
  Json lines = Json::array(), tasks = Json::array(), sites = Json::array(), made = Json::array();
  for (const ShadowOutput& o : outputs) {
    Json entry = {{"buffer", o.as_it_is.buffer}, {"type", o.as_it_is.dtype}, {"elements", o.as_it_is.elements}};
    entry["error"] = output_json(o.as_it_is);
    if (o.what_if) entry["what_if"] = output_json(*o.what_if);
    made.push_back(std::move(entry));
  }
  for (const Group& g : groups.lines) {
    Json entry = {{"place", g.name}, {"tasks", g.tasks}, {"instructions", g.instructions}};
    add_site(entry, g.sums, g.worst_task);
    lines.push_back(std::move(entry));
  }
  for (const Group& g : groups.tasks) {
    Json entry = {{"task", g.name}};
    add_site(entry, g.sums, g.worst_task);
    tasks.push_back(std::move(entry));
  }
  for (const auto& [task, of_task] : r.census.shadow->tasks) {
    for (const auto& [id, site] : of_task) {
      const CensusSites::Name name = names.name_of(task, id);
      Json entry = {{"task_id", task},
                    {"task", name.task},
                    {"pc", id.pc},
                    {"place", name.place},
                    {"instruction", name.instruction}};
      add_site(entry, site, name.task);
      sites.push_back(std::move(entry));
    }
  }
  return {{"results", groups.all.results}, {"restarted", groups.all.restarted}, {"ended", groups.all.ended},
          {"outputs", std::move(made)},    {"lines", std::move(lines)},         {"tasks", std::move(tasks)},
          {"sites", std::move(sites)}};
}

std::string shadow_summary(const CensusReport& r, const std::vector<ShadowOutput>& outputs) {
  const Groups groups = groups_of(r);
  const isa::ShadowSite& all = groups.all;
  const double covered = all.results + all.ended == 0
                             ? 100
                             : 100 * static_cast<double>(all.results - std::min(all.results, all.restarted)) /
                                   static_cast<double>(all.results + all.ended);
  std::string out =
      fmt::format("\nshadow of {} results in double, {:.2f} % with a whole reference\n", all.results, covered);
  if (!outputs.empty()) {
    out += fmt::format("\n{:<24} {:<5} {:>10} {:>11} {:>11} {:>12} {:>12} {:>8}\n", "output", "type", "elements",
                       "max ulp", "rms ulp", "max relative", "rms relative", "inf, nan");
    const auto row = [&](const std::string& name, const OutputError& e) {
      out += fmt::format("{:<24} {:<5} {:>10} {:>11.4g} {:>11.4g} {:>12.3e} {:>12.3e} {:>8}\n", name, e.dtype,
                         e.elements, e.max_ulp, e.rms_ulp, e.max_relative, e.rms_relative, e.wrong);
    };
    for (const ShadowOutput& o : outputs) {
      row(o.as_it_is.buffer, o.as_it_is);
      if (o.what_if) row("  what if", *o.what_if);
    }
  }
  if (groups.lines.empty()) return out;
  if (groups.tasks.size() > 1) {  // of a compiled network its nodes
    out += fmt::format("\n{:<32} {:>10} {:>12} {:>10} {:>10} {:>8}\n", "task", "results", "rms relative", "made",
                       "come in", "inf, nan");
    for (usize i = 0; i < std::min(groups.tasks.size(), kShadowLinesShown); ++i) {
      const isa::ShadowSite& s = groups.tasks[i].sums;
      out += fmt::format("{:<32} {:>10} {:>12.3e} {:>10.4g} {:>10.4g} {:>8}\n", groups.tasks[i].name, s.results,
                         std::sqrt(groups.tasks[i].mean()), s.made.max_ulp, s.come_in.max_ulp, s.wrong);
    }
    if (groups.tasks.size() > kShadowLinesShown)
      out += fmt::format("... and {} more tasks (all of them in numerics.json)\n",
                         groups.tasks.size() - kShadowLinesShown);
  }
  out += fmt::format("\n{:<24} {:>12} {:>12} {:>10} {:>10} {:>10} {:>8}  {:<34} {}\n", "line", "rms relative",
                     "max relative", "max ulp", "made", "come in", "inf, nan", "of note", "task, instruction");
  for (usize i = 0; i < std::min(groups.lines.size(), kShadowLinesShown); ++i) {
    const Group& g = groups.lines[i];
    const isa::ShadowSite& s = g.sums;
    std::vector<std::string> notes;
    const auto note = [&](std::string_view what, u64 n) {
      if (n != 0) notes.push_back(fmt::format("{} {}", what, n));
    };
    note("cancelled", s.cancelled);
    note("otherwise", s.decided);
    note("absorbed", s.absorbed);
    note("ended", s.ended);
    out += fmt::format("{:<24} {:>12.3e} {:>12.3e} {:>10.4g} {:>10.4g} {:>10.4g} {:>8}  {:<34} {}; {}\n", g.name,
                       std::sqrt(g.mean()), s.total.max_relative, s.total.max_ulp, s.made.max_ulp, s.come_in.max_ulp,
                       s.wrong, fmt::format("{}", fmt::join(notes, ", ")), list_of(g.tasks), list_of(g.instructions));
  }
  if (groups.lines.size() > kShadowLinesShown)
    out +=
        fmt::format("... and {} more lines (all of them in numerics.json)\n", groups.lines.size() - kShadowLinesShown);
  return out;
}

isa::WhatIf parse_what_if(const std::string& text, const task::TaskStream& stream) {
  const usize equals = text.rfind('=');
  const auto refuse = [&](std::string_view why) {
    fail(Fault::Input,
         "--what-if {}: {}; expected WHAT=FORMAT, WHAT=FORMAT*2^S or WHAT=FORMAT@ORDER, where WHAT is all, a task or a "
         "line",
         text, why);
  };
  if (equals == std::string::npos) refuse("no '='");
  const std::string what = text.substr(0, equals);
  std::string format = text.substr(equals + 1);
  isa::WhatIf out;
  if (const usize at = format.find('@'); at != std::string::npos) {
    const std::string order = format.substr(at + 1);
    const auto known = std::ranges::find(isa::kSumOrderNames, order);
    if (known == isa::kSumOrderNames.end()) {
      refuse(fmt::format("the orders of sums are {}{}", fmt::join(isa::kSumOrderNames, ", "),
                         did_you_mean(order, isa::kSumOrderNames)));
    }
    out.order = static_cast<isa::SumOrder>(known - isa::kSumOrderNames.begin());
    format.resize(at);
  }
  if (const usize star = format.find("*2^"); star != std::string::npos) {
    const char* begin = format.data() + star + 3;
    const char* end = format.data() + format.size();
    const auto [stop, error] = std::from_chars(begin, end, out.scale);
    if (error != std::errc() || stop != end || std::abs(out.scale) > 200) refuse("S is an integer from -200 to 200");
    format.resize(star);
  }
  const auto named = std::ranges::find(isa::kShadowFormatNames, format);
  if (named == isa::kShadowFormatNames.end()) {
    refuse(fmt::format("the formats are {}{}", fmt::join(isa::kShadowFormatNames, ", "),
                       did_you_mean(format, isa::kShadowFormatNames)));
  }
  out.format = static_cast<isa::ShadowFormat>(named - isa::kShadowFormatNames.begin());
  if (what == "all") {
    out.chosen = [](u32, const isa::Site&) { return true; };
    return out;
  }
  std::vector<bool> tasks;
  for (const task::Stream& s : stream.streams) {
    for (const task::Task& t : s.tasks)
      tasks.push_back(t.name == what);
  }
  if (std::ranges::find(tasks, true) != tasks.end()) {
    out.chosen = [tasks](u32 task, const isa::Site&) { return task < tasks.size() && tasks[task]; };
    return out;
  }
  const models::KernelCodes codes = models::decode_kernels(stream);
  std::vector<std::vector<bool>> lines(codes.size());
  bool any = false;
  for (usize k = 0; k < codes.size(); ++k) {
    if (codes[k] == nullptr) continue;
    lines[k].resize(codes[k]->size());
    for (u32 pc = 0; pc < codes[k]->size(); ++pc) {
      lines[k][pc] = codes[k]->place(pc) == what;
      any |= lines[k][pc];
    }
  }
  if (!any) refuse(fmt::format("neither a task nor a line of a kernel is called '{}'", what));
  out.chosen = [lines](u32, const isa::Site& site) {
    return site.kernel < lines.size() && site.pc < lines[site.kernel].size() && lines[site.kernel][site.pc];
  };
  return out;
}

}  // namespace vinci::results
