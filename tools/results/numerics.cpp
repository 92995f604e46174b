// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/results/numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/io/text_file.h"
#include "tools/results/numerics_causes.h"
#include "tools/results/outputs.h"
#include "tools/results/shadow.h"

namespace vinci::results {
namespace {

using Json = nlohmann::ordered_json;

constexpr usize kShownLines = 10;

// JSON has no infinity and no NaN.
Json number(double v) {
  if (std::isfinite(v)) return v;
  return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

std::string operands_text(const isa::Occurrence& o) {
  std::string out;
  for (u8 i = 0; i < o.operand_count; ++i)
    out += fmt::format("{}{} = {:.9g}", i == 0 ? "" : ", ", o.operands[i].name, o.operands[i].value);
  return out;
}

Json occurrence(const isa::Occurrence& o) {
  Json operands = Json::object();
  for (u8 i = 0; i < o.operand_count; ++i)
    operands[std::string(o.operands[i].name)] = number(o.operands[i].value);
  return {{"block", o.moment.block}, {"order", o.moment.order},         {"core", o.core},
          {"element", o.element},    {"operands", std::move(operands)}, {"result", number(o.result)}};
}

// Counts by the name of the event.
template <class Counts>
void add_counts(Json& to, const Counts& counts) {
  for (usize e = 0; e < isa::kNumericEvents; ++e)
    to[std::string(isa::kNumericEventNames[e])] = counts[e];
}

Json site_json(const CensusReport& r, const CensusSite& s) {
  Json out = {{"task_id", s.task_id},
              {"task", s.task->name},
              {"stream", r.stream.streams[s.stream].name},
              {"sequence", s.sequence},
              {"pc", s.pc},
              {"place", s.place},
              {"instruction", s.instruction},
              {"executions", s.census->executions},
              {"results", s.census->results}};
  add_counts(out, s.census->counts);
  Json first = Json::object();
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    if (s.census->counts[e] != 0) first[std::string(isa::kNumericEventNames[e])] = occurrence(s.census->first[e]);
  }
  out["first"] = std::move(first);
  return out;
}

Json line_json(const CensusLine& line) {
  Json out = {{"place", line.place},       {"tasks", line.tasks},           {"instructions", line.instructions},
              {"sites", line.sites},       {"executions", line.executions}, {"results", line.results},
              {"harm", name(line.harm())}, {"reaches", line.reaches}};
  add_counts(out, line.counts);
  Json first = Json::object();
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    if (line.first[e] == nullptr) continue;
    Json event = occurrence(line.first[e]->census->first[e]);
    event["task_id"] = line.first[e]->task_id;
    event["sequence"] = line.first[e]->sequence;
    event["task"] = line.first[e]->task->name;
    event["instruction"] = line.first[e]->instruction;
    first[std::string(isa::kNumericEventNames[e])] = std::move(event);
  }
  out["first"] = std::move(first);
  return out;
}

}  // namespace

std::string numerics_json(const CensusReport& r) {
  const CensusSites all(r);
  Json sites = Json::array(), lines = Json::array();
  const std::vector<CensusCause> causes = census_causes(all, r.census);
  for (const CensusLine& line : census_lines(all, reaching_lines(causes)))
    lines.push_back(line_json(line));
  for (const CensusSite& s : all)
    sites.push_back(site_json(r, s));
  Json out = {{"format", 2},
              {"task_stream", r.stream.name},
              {"chip", r.chip.name},
              {"overflow_mode", isa::name(r.chip.numerics.overflow_mode)},
              {"precision", isa::name(r.chip.numerics.precision)},
              {"accumulation", isa::name(r.chip.numerics.accumulation)},
              {"multiply_add", isa::name(r.chip.numerics.multiply_add)},
              {"half_sums", isa::name(r.chip.numerics.half_sums)},
              {"hf32_ties", isa::name(r.chip.numerics.hf32_ties)},
              {"subnormals", isa::name(r.chip.numerics.subnormals)},
              {"moved_specials", isa::name(r.chip.numerics.moved_specials)},
              {"causes", causes_json(causes)},
              {"lines", std::move(lines)},
              {"sites", std::move(sites)}};
  if (r.census.shadow != nullptr)
    out["shadow"] = shadow_json(r, r.outputs != nullptr ? *r.outputs : std::vector<ShadowOutput>{});
  return out.dump(2) + "\n";
}

std::string numerics_csv(const CensusReport& r) {
  std::string out = "task_id,task,stream,pc,place,instruction,executions,results";
  for (const std::string_view name : isa::kNumericEventNames)
    out += fmt::format(",{}", name);
  out += '\n';
  for (const CensusSite& s : CensusSites(r)) {
    out += fmt::format("{},{},{},{},{},{},{},{}", s.task_id, io::csv_quoted(s.task->name),
                       io::csv_quoted(r.stream.streams[s.stream].name), s.pc, io::csv_quoted(s.place), s.instruction,
                       s.census->executions, s.census->results);
    for (const u64 n : s.census->counts)
      out += fmt::format(",{}", n);
    out += '\n';
  }
  return out;
}

std::string opdebug_json(const CensusReport& r) {
  using First = isa::FirstOverflow isa::TaskCensus::*;
  // One object of the dump: the first overflow of a kind, by the task that computes first. Without a kind, and where
  // there is none, its status is 0.
  const auto object = [&](First kind, bool of_core) {
    Json out = {{"model_id", 0},     {"stream_id", 0},     {"task_id", 0}, {"task_type", 0},
                {"pc_start", "0x0"}, {"para_base", "0x0"}, {"status", 0}};
    if (of_core) out.update({{"kernel_code", "0x0"}, {"block_id", 0}});
    u32 position = 0;
    u64 sequence = 0;  // of what was found
    for (usize s = 0; s < r.stream.streams.size() && kind != nullptr; ++s) {
      for (usize t = 0; t < r.stream.streams[s].tasks.size(); ++t, ++position) {
        const auto task = r.census.tasks.find(position);
        if (task == r.census.tasks.end() || (task->second.*kind).status == 0) continue;
        if (sequence != 0 && sequence < task->second.sequence) continue;
        const isa::FirstOverflow& first = task->second.*kind;
        sequence = task->second.sequence;
        out["stream_id"] = s;
        out["task_id"] = position;
        out["pc_start"] = fmt::format("{:#x}", first.site.pc * sizeof(isa::Word));
        out["status"] = first.status;
        if (of_core) out["block_id"] = first.moment.block;
      }
    }
    return out;
  };
  const Json core = object(&isa::TaskCensus::first_overflow, true);
  // An overflow of a core hides those of atomic writes, as in the vendor's dump.
  const Json l2 = object(core["status"] == 0 ? &isa::TaskCensus::first_atomic : nullptr, false);
  const Json out = {{"DHA Atomic Add", object(nullptr, false)}, {"L2 Atomic Add", l2}, {"AI Core", core}};
  return out.dump(2) + "\n";
}

namespace {

std::string event_line(const CensusSites& sites, usize e, u64 results) {
  const auto event = static_cast<isa::NumericEvent>(e);
  const CensusSite* first = nullptr;
  u64 total = 0;
  for (const CensusSite& s : sites) {
    if (s.census->counts[e] == 0) continue;
    total += s.census->counts[e];
    if (first == nullptr || comes_before(s, *first, event)) first = &s;
  }
  std::string out = fmt::format("{:<10} {:>12} {:>8.4f} %", isa::name(event), total,
                                results == 0 ? 0 : 100 * static_cast<double>(total) / static_cast<double>(results));
  if (first != nullptr) {
    const isa::Occurrence& o = first->census->first[e];
    out += fmt::format("  first: task '{}', {} ({}), block {}, {}, element {}: {} -> {:.9g}", first->task->name,
                       first->instruction, first->place, o.moment.block, o.core, o.element, operands_text(o), o.result);
  }
  return out + "\n";
}

// "overflow 3, flushed 12"
std::string counts_text(const CensusLine& line) {
  std::string out;
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    if (line.counts[e] != 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", isa::kNumericEventNames[e], line.counts[e]);
  }
  return out;
}

std::string joined(const std::vector<std::string>& names) {
  return names.size() <= 2 ? fmt::format("{}", fmt::join(names, ", "))
                           : fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

std::string events_summary(const CensusReport& r) {
  const CensusSites sites(r);
  const std::vector<CensusCause> causes = census_causes(sites, r.census);
  std::vector<CensusLine> lines = census_lines(sites, reaching_lines(causes));
  u64 results = 0;
  for (const CensusSite& s : sites)
    results += s.census->results;
  std::string out = fmt::format("\nnumeric events of {} results of {} instructions in {} lines, overflow mode {}\n",
                                results, sites.size(), lines.size(), isa::name(r.chip.numerics.overflow_mode));
  for (usize e = 0; e < isa::kNumericEvents; ++e)
    out += event_line(sites, e, results);
  std::erase_if(lines, [](const CensusLine& line) { return line.harm() == Harm::none; });
  out += causes_text(causes);
  if (lines.empty()) return out;
  out += fmt::format("\n{:<24} {:<9} {:<7} {:>12}  {:<40} {}\n", "line", "harm", "reaches", "results", "events",
                     "task, instruction");
  for (usize i = 0; i < std::min(lines.size(), kShownLines); ++i) {
    const CensusLine& line = lines[i];
    out += fmt::format("{:<24} {:<9} {:<7} {:>12}  {:<40} {}, {}\n", line.place, name(line.harm()),
                       line.reaches ? "yes" : "", line.results, counts_text(line), joined(line.tasks),
                       joined(line.instructions));
  }
  if (lines.size() > kShownLines)
    out += fmt::format("... and {} more lines (all of them in numerics.json)\n", lines.size() - kShownLines);
  return out;
}

}  // namespace

std::string numerics_summary(const CensusReport& r) {
  std::string out = events_summary(r);
  if (r.census.shadow != nullptr)
    out += shadow_summary(r, r.outputs != nullptr ? *r.outputs : std::vector<ShadowOutput>{});
  return out;
}

namespace {

constexpr bool counted(const EndedRun& r) { return r.census != nullptr; }

}  // namespace

constinit const OutputFile files::numerics_json{
    .name = "numerics.json", .exists = counted, .contents = [](const EndedRun& r) {
      return results::numerics_json(r.census_report());
    }};
constinit const OutputFile files::numerics_csv{
    .name = "numerics.csv", .exists = counted, .contents = [](const EndedRun& r) {
      return results::numerics_csv(r.census_report());
    }};
constinit const OutputFile files::opdebug_json{
    .name = "opdebug.json", .exists = counted, .contents = [](const EndedRun& r) {
      return results::opdebug_json(r.census_report());
    }};

}  // namespace vinci::results
