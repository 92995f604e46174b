// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "isa/base/error.h"

namespace vinci::studies {
namespace {

// The criterion or the fact of this name.
std::optional<double> value_of(const Findings& f, std::string_view name) {
  for (usize i = 0; i < f.values.size(); ++i)
    if (f.definition.criteria[i].name == name) return f.values[i];
  const auto fact = std::ranges::find(f.facts, name, &Fact::what);
  if (fact != f.facts.end()) return fact->value;
  return std::nullopt;
}

}  // namespace

bool Findings::holds(usize criterion) const {
  return values[criterion] && definition.criteria[criterion].holds(*values[criterion]);
}

bool Findings::passed() const {
  for (usize i = 0; i < values.size(); ++i)
    if (!holds(i)) return false;
  return true;
}

bool Findings::missed() const {
  for (usize i = 0; i < values.size(); ++i)
    if (!holds(i) && definition.criteria[i].open.empty()) return true;
  return false;
}

std::string Findings::verdict() const {
  usize met = 0, open = 0;
  for (usize i = 0; i < values.size(); ++i) {
    if (holds(i))
      ++met;
    else if (!definition.criteria[i].open.empty())
      ++open;
  }
  std::string out = fmt::format("{} of {}", met, values.size());
  if (open > 0) out += fmt::format(", {} open", open);
  if (met + open < values.size()) out += fmt::format(", {} missed", values.size() - met - open);
  return out;
}

std::string Findings::answer() const {
  std::string out;
  std::string_view rest = definition.answer;
  for (usize open = 0; (open = rest.find('{')) != std::string_view::npos;) {
    const usize close = rest.find('}', open);
    VINCI_CHECK(close != std::string_view::npos);
    const std::string_view name = rest.substr(open + 1, close - open - 1);
    const std::optional<double> value = value_of(*this, name);
    out += rest.substr(0, open);
    out += value ? readable(*value) : "nothing";
    rest.remove_prefix(close + 1);
  }
  return out += rest;
}

std::vector<Fact> Findings::bars() const {
  std::vector<Fact> out;
  for (const std::string& name : definition.chart.bars) {
    for (usize i = 0; i < values.size(); ++i) {
      const Criterion& c = definition.criteria[i];
      if (c.name == name && values[i]) out.push_back({c.name, *values[i], c.unit});
    }
    for (const Fact& f : facts)
      if (f.what.find(name) != std::string::npos) out.push_back(f);
  }
  return out;
}

std::string readable(double value) {
  const double size = std::fabs(value);
  if (size == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;  // digits in front of the point
  if (size >= 1e12 || size < 1e-6) return fmt::format("{:.3g}", value);
  std::string out = fmt::format("{:.{}f}", value, std::max(0, 3 - before));
  if (out.find('.') == std::string::npos) return out;
  while (out.back() == '0')
    out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out;
}

}  // namespace vinci::studies
