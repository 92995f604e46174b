// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "isa/base/error.h"
#include "sim/config/load.h"
#include "tools/processes/processes.h"

namespace vinci::validate {
namespace {

// What one process simulates: all metrics of a point.
struct Piece {
  usize group = 0;
  const Case* of = nullptr;
  usize point = 0;
  const config::ChipConfig* chip = nullptr;
};

// Chips by name and overrides, each read once.
using Chips = std::map<std::vector<std::string>, config::ChipConfig>;
const config::ChipConfig& chip_of(Chips& chips, const Case& c, const Options& options) {
  std::vector<std::string> key{c.chip};
  key.insert(key.end(), c.overrides.begin(), c.overrides.end());
  auto it = chips.find(key);
  if (it == chips.end()) {
    it = chips.emplace(key, load_chip(c, options.overrides)).first;
  }
  return it->second;
}

// `sample` of 0 .. count - 1, both ends among them.
bool in_sample(usize i, usize count, u64 sample) {
  if (sample == 0 || count <= sample) return true;
  if (sample == 1) return i == count / 2;
  for (u64 k = 0; k < sample; ++k)
    if (i == k * (count - 1) / (sample - 1)) return true;
  return false;
}

std::vector<Piece> pieces_of(const std::vector<Group>& groups, Chips& chips, const Options& options) {
  std::vector<Piece> out;
  for (usize g = 0; g < groups.size(); ++g) {
    for (const Case& c : groups[g].cases) {
      if (c.id.find(options.only) == std::string::npos) continue;
      for (usize i = 0; i < c.points.size(); ++i)
        if (in_sample(i, c.points.size(), options.sample)) out.push_back({g, &c, i, &chip_of(chips, c, options)});
    }
  }
  if (out.empty() && !options.only.empty()) fail(Fault::Input, "no case has an id that contains '{}'", options.only);
  return out;
}

// The simulated values in the order of the measured ones, or "!" and why there are none.
std::string simulate(const Piece& piece) {
  const Point& point = piece.of->points[piece.point];
  try {
    const Values values = piece.of->family->measure(point.params, *piece.chip);
    std::string out;
    for (const auto& [metric, measured] : point.measured)
      out += fmt::format("{:a} ", values.at(metric));
    return out;
  } catch (const Error& e) {
    return std::string("!") + e.what();
  } catch (const std::exception& e) {
    return std::string("!internal error: ") + e.what();
  }
}

const Outcome* find(const GroupOutcome& group, std::string_view id, std::string_view metric) {
  const auto it = std::ranges::find_if(
      group.values, [&](const Outcome& o) { return o.of->id == id && o.metric == metric && o.fault.empty(); });
  return it == group.values.end() ? nullptr : &*it;
}

void add_ratios(GroupOutcome& group) {
  for (const Ratio& r : group.of->ratios) {
    const Outcome* of = find(group, r.of, r.metric);
    const Outcome* to = find(group, r.to, r.metric);
    if (of == nullptr || to == nullptr) continue;
    group.ratios.push_back({&r, of->measured / to->measured, of->simulated / to->simulated});
  }
}

bool no_faults(const GroupOutcome& group) {
  return std::ranges::all_of(group.values, [](const Outcome& o) { return o.fault.empty(); });
}

}  // namespace

config::ChipConfig load_chip(const Case& c, const std::vector<std::string>& overrides) {
  try {
    config::ChipConfig chip = config::load_chip(c.chip, c.overrides);
    if (overrides.empty()) return chip;
  } catch (const Error& e) {
    fail_at(e.fault(), c.points[0].params.place(), "{}", e.what());
  }
  std::vector<std::string> all = c.overrides;
  all.insert(all.end(), overrides.begin(), overrides.end());
  return config::load_chip(c.chip, all);
}

std::string Outcome::name() const {
  std::string out = of->id;
  if (of->points.size() == 1) return out;
  for (const auto& [name, value] : of->points[point].params.all()) {
    const bool swept =
        std::ranges::any_of(of->points, [&, &n = name, &v = value](const Point& p) { return p.params.text(n) != v; });
    if (swept) out += fmt::format(", {}={}", name, value);
  }
  return out;
}

Errors errors(const GroupOutcome& group, std::string_view metric, u64 skip) {
  Errors e;
  for (const Outcome& o : group.values) {
    if (o.metric != metric || !o.fault.empty() || (o.of->points.size() > 1 && o.point < skip)) continue;
    const double size = std::fabs(o.error());
    ++e.count;
    e.mean += size;
    if (e.at != nullptr && size <= e.worst) continue;
    e.worst = size;
    e.at = &o;
  }
  if (e.count > 0) e.mean /= static_cast<double>(e.count);
  return e;
}

std::vector<GroupOutcome> run(const std::vector<Group>& groups, const Options& options) {
  Chips chips;
  const std::vector<Piece> pieces = pieces_of(groups, chips, options);
  std::function<void(usize)> progress;
  if (options.progress) progress = [&](usize begun) { options.progress(begun, pieces.size()); };
  const std::vector<std::string> texts = processes::in_processes(
      pieces.size(), options.jobs, [&](usize i) { return simulate(pieces[i]); }, progress);
  std::vector<GroupOutcome> out;
  for (const Group& g : groups)
    out.push_back({.of = &g, .values = {}, .ratios = {}});
  for (usize i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    const bool failed = texts[i].starts_with('!');
    const char* at = texts[i].c_str();
    for (const auto& [metric, measured] : piece.of->points[piece.point].measured) {
      Outcome o{.of = piece.of, .point = piece.point, .metric = metric, .measured = measured, .fault = {}};
      char* end = nullptr;
      if (failed)
        o.fault = texts[i].substr(1);
      else
        o.simulated = std::strtod(at, &end), at = end;
      out[piece.group].values.push_back(std::move(o));
    }
  }
  for (GroupOutcome& group : out)
    add_ratios(group);
  return out;
}

bool holds_targets(const std::vector<GroupOutcome>& groups) {
  return std::ranges::all_of(groups, [](const GroupOutcome& group) {
    return no_faults(group) && std::ranges::all_of(group.of->targets, [&group](const auto& target) {
             const Errors e = errors(group, target.first, target.second.skip);
             return e.mean <= target.second.mean && e.worst <= target.second.worst;
           });
  });
}

bool holds_gates(const std::vector<GroupOutcome>& groups) {
  return std::ranges::all_of(groups, [](const GroupOutcome& group) {
    return no_faults(group) && std::ranges::all_of(group.of->gates, [&group](const auto& gate) {
             return errors(group, gate.first).mean <= gate.second;
           });
  });
}

}  // namespace vinci::validate
