// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "models/soc/kernel_codes.h"
#include "sim/io/text_file.h"

namespace vinci::run {
namespace {

using Json = nlohmann::ordered_json;

constexpr usize kShownSites = 10;

// JSON has no infinity and no NaN.
Json number(double v) {
  if (std::isfinite(v)) return v;
  return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

// A site with what it is called.
struct Site {
  u32 task_id = 0;  // position of the task in the task stream
  const task::Task* task = nullptr;
  usize stream_id = 0;
  const isa::CodeInst* inst = nullptr;
  u32 pc = 0;
  std::string place;  // file:line
  const isa::SiteCensus* census = nullptr;
};

std::string mnemonic(const isa::CodeInst& inst) {
  const isa::Row& row = *inst.row;
  return row.types.empty() ? std::string(row.name) : fmt::format("{}.{}", row.name, row.types[inst.type].name);
}

// Every site, tasks in the order of the task stream, instructions in the order of the program.
class Sites {
 public:
  explicit Sites(const CensusReport& r) : codes_(models::decode_kernels(r.stream)) {
    u32 position = 0;
    for (usize s = 0; s < r.stream.streams.size(); ++s) {
      for (const task::Task& t : r.stream.streams[s].tasks) {
        const auto counted = r.census.tasks.find(position++);
        if (counted == r.census.tasks.end()) continue;
        for (const auto& [id, site] : counted->second.sites) {
          const isa::Code& code = *codes_[id.kernel];
          if (site.results == 0 && std::ranges::all_of(site.counts, [](u64 n) { return n == 0; })) continue;
          sites_.push_back({position - 1, &t, s, &code[id.pc], id.pc, code.place(id.pc), &site});
        }
      }
    }
  }
  const Site* begin() const { return sites_.data(); }
  const Site* end() const { return sites_.data() + sites_.size(); }
  usize size() const { return sites_.size(); }

 private:
  models::KernelCodes codes_;
  std::vector<Site> sites_;
};

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

}  // namespace

std::string numerics_json(const CensusReport& r) {
  Json sites = Json::array();
  for (const Site& s : Sites(r)) {
    Json site = {{"task_id", s.task_id},
                 {"task", s.task->name},
                 {"stream", r.stream.streams[s.stream_id].name},
                 {"pc", s.pc},
                 {"place", s.place},
                 {"instruction", mnemonic(*s.inst)},
                 {"executions", s.census->executions},
                 {"results", s.census->results}};
    Json first = Json::object();
    for (usize e = 0; e < isa::kNumericEvents; ++e) {
      const std::string name(isa::kNumericEventNames[e]);
      site[name] = s.census->counts[e];
      if (s.census->counts[e] != 0) first[name] = occurrence(s.census->first[e]);
    }
    site["first"] = std::move(first);
    sites.push_back(std::move(site));
  }
  const Json out = {{"format", 1},
                    {"task_stream", r.stream.name},
                    {"chip", r.chip.name},
                    {"overflow_mode", isa::name(r.chip.numerics.overflow_mode)},
                    {"precision", isa::name(r.chip.numerics.precision)},
                    {"accumulation", isa::name(r.chip.numerics.accumulation)},
                    {"sites", std::move(sites)}};
  return out.dump(2) + "\n";
}

std::string numerics_csv(const CensusReport& r) {
  std::string out = "task_id,task,stream,pc,place,instruction,executions,results";
  for (const std::string_view name : isa::kNumericEventNames)
    out += fmt::format(",{}", name);
  out += '\n';
  for (const Site& s : Sites(r)) {
    out += fmt::format("{},{},{},{},{},{},{},{}", s.task_id, io::csv_quoted(s.task->name),
                       io::csv_quoted(r.stream.streams[s.stream_id].name), s.pc, io::csv_quoted(s.place),
                       mnemonic(*s.inst), s.census->executions, s.census->results);
    for (const u64 n : s.census->counts)
      out += fmt::format(",{}", n);
    out += '\n';
  }
  return out;
}

std::string opdebug_json(const CensusReport& r) {
  using First = isa::FirstOverflow isa::TaskCensus::*;
  // One object of the dump: the first overflow of a kind, over the tasks in their order. Without a kind, and where
  // there is none, its status is 0.
  const auto object = [&](First kind, bool of_core) {
    Json out = {{"model_id", 0},     {"stream_id", 0},     {"task_id", 0}, {"task_type", 0},
                {"pc_start", "0x0"}, {"para_base", "0x0"}, {"status", 0}};
    if (of_core) out.update({{"kernel_code", "0x0"}, {"block_id", 0}});
    u32 position = 0;
    for (usize s = 0; s < r.stream.streams.size() && kind != nullptr; ++s) {
      for (usize t = 0; t < r.stream.streams[s].tasks.size(); ++t, ++position) {
        const auto task = r.census.tasks.find(position);
        if (task == r.census.tasks.end() || (task->second.*kind).status == 0) continue;
        const isa::FirstOverflow& first = task->second.*kind;
        out["stream_id"] = s;
        out["task_id"] = position;
        out["pc_start"] = fmt::format("{:#x}", first.site.pc * sizeof(isa::Word));
        out["status"] = first.status;
        if (of_core) out["block_id"] = first.moment.block;
        return out;
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

std::string numerics_summary(const CensusReport& r) {
  const Sites sites(r);
  std::array<u64, isa::kNumericEvents> totals{};
  std::array<const Site*, isa::kNumericEvents> firsts{};
  u64 results = 0;
  for (const Site& s : sites) {
    results += s.census->results;
    for (usize e = 0; e < isa::kNumericEvents; ++e) {
      const u64 n = s.census->counts[e];
      totals[e] += n;
      if (n == 0) continue;
      const Site* before = firsts[e];
      if (before == nullptr ||
          (before->task_id == s.task_id && s.census->first[e].moment < before->census->first[e].moment)) {
        firsts[e] = &s;
      }
    }
  }
  std::string out = fmt::format("\nnumeric events of {} results at {} instruction sites, overflow mode {}\n", results,
                                sites.size(), isa::name(r.chip.numerics.overflow_mode));
  for (usize e = 0; e < isa::kNumericEvents; ++e) {
    out += fmt::format("{:<10} {:>12} {:>8.4f} %", isa::kNumericEventNames[e], totals[e],
                       results == 0 ? 0 : 100 * static_cast<double>(totals[e]) / static_cast<double>(results));
    if (const Site* s = firsts[e]) {
      const isa::Occurrence& o = s->census->first[e];
      out += fmt::format("  first: task '{}', {} ({}), block {}, {}, element {}: {} -> {:.9g}", s->task->name,
                         mnemonic(*s->inst), s->place, o.moment.block, o.core, o.element, operands_text(o), o.result);
    }
    out += '\n';
  }
  struct Line {
    const Site* site;
    usize event;
  };
  std::vector<Line> lines;
  for (const Site& s : sites) {
    for (usize e = 0; e < isa::kNumericEvents; ++e) {
      if (s.census->counts[e] != 0) lines.push_back({&s, e});
    }
  }
  if (lines.empty()) return out;
  std::ranges::stable_sort(lines, std::greater<>(), [](const Line& l) { return l.site->census->counts[l.event]; });
  out += fmt::format("\n{:<24} {:<20} {:<24} {:<10} {:>12} {:>10}\n", "task", "instruction", "place", "event",
                     "results", "share");
  for (usize i = 0; i < std::min(lines.size(), kShownSites); ++i) {
    const auto& [s, e] = lines[i];
    const u64 n = s->census->counts[e];
    out += fmt::format("{:<24} {:<20} {:<24} {:<10} {:>12} {:>8.4f} %\n", s->task->name, mnemonic(*s->inst), s->place,
                       isa::kNumericEventNames[e], n,
                       100 * static_cast<double>(n) / static_cast<double>(std::max<u64>(1, s->census->results)));
  }
  if (lines.size() > kShownSites) {
    out += fmt::format("... and {} more (all of them in numerics.csv)\n", lines.size() - kShownSites);
  }
  return out;
}

}  // namespace vinci::run
