// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/io/text_file.h"

namespace vinci::validate {
namespace {

std::set<std::string> metrics_of(const GroupOutcome& group) {
  std::set<std::string> out;
  for (const Outcome& o : group.values)
    out.insert(o.metric);
  return out;
}

std::string_view unit_of(const Outcome& o) {
  return std::ranges::find(o.of->family->metrics, o.metric, &Metric::name)->unit;
}

std::string verdict(const GroupOutcome& group, const std::string& metric) {
  std::string out;
  if (const auto it = group.of->targets.find(metric); it != group.of->targets.end()) {
    const ErrorTarget& t = it->second;
    const Errors e = errors(group, metric, t.skip);
    const auto bound = [](double percent) { return std::isinf(percent) ? "any" : fmt::format("{:g} %", percent); };
    out += fmt::format("  target {}, worst {}", bound(t.mean), bound(t.worst));
    if (t.skip > 0)
      out += fmt::format(" (without the first {} of a curve: {:.1f} %, {:.1f} %)", t.skip, e.mean, e.worst);
    out += e.count > 0 && e.mean <= t.mean && e.worst <= t.worst ? ": holds" : ": missed";
  }
  return out;
}

// Of a message of several lines, which ends with a colon, the second one too.
std::string headline(const std::string& text) {
  const usize end = text.find('\n');
  if (end == std::string::npos || end == 0 || text[end - 1] != ':') return text.substr(0, end);
  const usize next = text.find_first_not_of(" \n", end);
  return next == std::string::npos ? text.substr(0, end)
                                   : text.substr(0, end) + " " + text.substr(next, text.find('\n', next) - next);
}

std::string faults(const std::vector<GroupOutcome>& groups) {
  std::string out;
  for (const GroupOutcome& group : groups) {
    const Outcome* last = nullptr;
    for (const Outcome& o : group.values) {
      if (o.fault.empty() || (last != nullptr && last->of == o.of && last->fault == o.fault)) continue;
      out += fmt::format("  {}: {}\n", o.name(), headline(o.fault));
      last = &o;
    }
  }
  if (out.empty()) return out;
  return "\nno simulated value\n" + out + "  (lines are those of the kernel that --only ID --write FILE writes)\n";
}

std::string ratios(const std::vector<GroupOutcome>& groups) {
  constexpr double kClose = 15;  // percent
  std::string out;
  for (const GroupOutcome& group : groups) {
    for (const RatioOutcome& r : group.ratios)
      out +=
          fmt::format("  {:<56} {:>9.3f} {:>9.3f}  {:>+6.1f} %  {}\n",
                      fmt::format("{} / {} ({})", r.of->of, r.of->to, r.of->metric), r.measured, r.simulated, r.error(),
                      !r.same_side()                   ? "wrong side of 1"
                      : std::fabs(r.error()) <= kClose ? ""
                                                       : "off");
  }
  if (out.empty()) return out;
  return fmt::format("\n{:<58} {:>9} {:>9}\n", "variants of the same work", "measured", "simulated") + out;
}

bool all_ran(const GroupOutcome& group) {
  std::set<const Case*> ran;
  for (const Outcome& o : group.values)
    ran.insert(o.of);
  return ran.size() == group.of->cases.size();
}

// Of the groups of which no case was left out.
std::string not_expressed(const std::vector<GroupOutcome>& groups) {
  std::string out;
  u64 points = 0;
  for (const GroupOutcome& group : groups) {
    if (!all_ran(group)) continue;
    for (const NotExpressed& n : group.of->not_expressed) {
      out += fmt::format("  {:<12} {:>5}  {}: {}\n", group.of->name, n.points, n.what, n.reason);
      points += n.points;
    }
  }
  return out.empty() ? out : fmt::format("\nnot expressed: {} points\n", points) + out;
}

// What the cases that ran assume, each text once.
std::string assumptions(const std::vector<GroupOutcome>& groups) {
  std::vector<std::pair<std::string, std::string>> texts;  // with the ids
  for (const GroupOutcome& group : groups) {
    const Case* last = nullptr;
    for (const Outcome& o : group.values) {
      if (o.of == last || o.of->assumed.empty()) continue;
      last = o.of;
      if (texts.empty() || texts.back().first != o.of->assumed)
        texts.emplace_back(o.of->assumed, o.of->id);
      else
        texts.back().second += ", " + o.of->id;
    }
  }
  std::string out;
  for (const auto& [text, ids] : texts)
    out += fmt::format("  {}: {}\n", ids, text);
  return out.empty() ? out : "\nassumed\n" + out;
}

}  // namespace

std::string summary(const std::vector<GroupOutcome>& groups) {
  std::string out = fmt::format("{:<16} {:<16} {:>5} {:>8} {:>8}\n", "group", "metric", "n", "mean", "worst");
  for (const GroupOutcome& group : groups) {
    for (const std::string& metric : metrics_of(group)) {
      const Errors e = errors(group, metric);
      out += fmt::format("{:<16} {:<16} {:>5} ", group.of->name, metric, e.count);
      out += e.count == 0 ? "no value" : fmt::format("{:>6.1f} % {:>6.1f} %", e.mean, e.worst);
      if (e.at != nullptr)
        out +=
            fmt::format("  {} ({:g} {}, measured {:g})", e.at->name(), e.at->simulated, unit_of(*e.at), e.at->measured);
      out += "\n";
      if (const std::string v = verdict(group, metric); !v.empty()) out += fmt::format("{:<16}{}\n", "", v);
    }
  }
  return out + ratios(groups) + faults(groups) + not_expressed(groups);
}

std::string detail(const std::vector<GroupOutcome>& groups) {
  std::string out =
      fmt::format("{:<64} {:<12} {:>14} {:>14} {:>9}\n", "point", "metric", "measured", "simulated", "error");
  for (const GroupOutcome& group : groups) {
    for (const Outcome& o : group.values) {
      out += fmt::format("{:<64} {:<12} {:>14.6g}", o.name(), o.metric, o.measured);
      out += o.fault.empty() ? fmt::format(" {:>14.6g} {:>+7.1f} %\n", o.simulated, o.error())
                             : fmt::format(" {}\n", headline(o.fault));
    }
  }
  return out + assumptions(groups) + "\n";
}

std::string csv(const std::vector<GroupOutcome>& groups) {
  std::string out = "group,point,metric,unit,measured,simulated,error_percent,fault\n";
  for (const GroupOutcome& group : groups) {
    for (const Outcome& o : group.values)
      out += fmt::format("{},{},{},{},{},{},{},{}\n", group.of->name, io::csv_field(o.name()), o.metric, unit_of(o),
                         o.measured, o.fault.empty() ? fmt::format("{}", o.simulated) : "",
                         o.fault.empty() ? fmt::format("{:.3f}", o.error()) : "", io::csv_field(o.fault));
  }
  return out;
}

}  // namespace vinci::validate
