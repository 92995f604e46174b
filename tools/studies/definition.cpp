// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/definition.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "configs/embedded.h"
#include "isa/arch.h"
#include "isa/base/enums.h"
#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/io/yaml_tree.h"

namespace vinci::studies {
namespace {

using io::YamlTree;

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : source_(source), tree_(YamlTree::parse(text, source)) {}

  Definition read(const std::string& id) {
    Definition d{.id = id};
    each(tree_.root(), [&](const std::string& key, const YamlTree::Node& value) {
      if (key == "title")
        d.title = text(value);
      else if (key == "question")
        d.question = text(value);
      else if (key == "from")
        d.from = text(value);
      else if (key == "answer")
        d.answer = text(value);
      else if (key == "advice")
        d.advice = text(value);
      else if (key == "chart")
        d.chart = chart(value);
      else if (key == "chip")
        d.chip = text(value);
      else if (key == "knobs")
        each(value, [&](const auto& name, const auto& v) { d.knobs.push_back(knob(name, v)); });
      else if (key == "criteria")
        each(value, [&](const auto& name, const auto& v) { d.criteria.push_back(criterion(name, v)); });
      else
        unknown(value, key);
    });
    for (const std::string* needed : {&d.title, &d.question, &d.from, &d.chip, &d.answer, &d.advice}) {
      if (needed->empty())
        fail_at(Fault::Input, source_, "a study has a title, a question, from, a chip, an answer and advice");
    }
    if (d.chart.bars.empty()) fail_at(Fault::Input, source_, "a study has a chart with bars");
    if (d.criteria.empty()) fail_at(Fault::Input, source_, "a study has criteria");
    return d;
  }

 private:
  std::string at(const YamlTree::Node& node) const { return tree_.at(source_, node); }
  [[noreturn]] void unknown(const YamlTree::Node& node, std::string_view key) const {
    fail_at(Fault::Input, at(node), "unknown key '{}'", key);
  }

  template <class F>
  void each(const YamlTree::Node& map, F&& f) const {
    if (map.kind != YamlTree::Kind::map) fail_at(Fault::Input, at(map), "a map belongs here");
    for (const auto& [key, value] : map.entries())
      f(std::string(key.text()), value);
  }
  std::string text(const YamlTree::Node& node) const {
    if (node.kind != YamlTree::Kind::scalar) fail_at(Fault::Input, at(node), "a text belongs here");
    return std::string(node.text());
  }
  double number(const YamlTree::Node& node) const {
    const auto value = parse_number(text(node));
    if (!value) fail_at(Fault::Input, at(node), "'{}' is no number", node.text());
    return *value;
  }
  std::pair<double, double> pair(const YamlTree::Node& node) const {
    if (node.kind != YamlTree::Kind::sequence || node.children().size() != 2) {
      fail_at(Fault::Input, at(node), "[lowest, highest] belongs here");
    }
    return {number(node.children()[0]), number(node.children()[1])};
  }

  Chart chart(const YamlTree::Node& node) const {
    Chart c;
    each(node, [&](const std::string& key, const YamlTree::Node& value) {
      if (key == "bars")
        for (const YamlTree::Node& child : value.children())
          c.bars.push_back(text(child));
      else if (key == "scale" && text(value) == "logarithmic")
        c.logarithmic = true;
      else
        unknown(value, key);
    });
    return c;
  }

  Knob knob(const std::string& name, const YamlTree::Node& node) const {
    Knob k{.name = name};
    each(node, [&](const std::string& key, const YamlTree::Node& value) {
      if (key == "default")
        k.fallback = text(value);
      else if (key == "unit")
        k.unit = text(value);
      else if (key == "doc")
        k.doc = text(value);
      else if (key == "range")
        std::tie(k.low, k.high) = pair(value);
      else if (key == "choices")
        for (const YamlTree::Node& child : value.children())
          k.choices.push_back(text(child));
      else
        unknown(value, key);
    });
    if (const std::string why = k.why_not(k.fallback); !why.empty()) {
      fail_at(Fault::Input, at(node), "the default of {}: {}", name, why);
    }
    return k;
  }

  Criterion criterion(const std::string& name, const YamlTree::Node& node) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Criterion c{.name = name};
    usize bounds = 0;
    each(node, [&](const std::string& key, const YamlTree::Node& value) {
      if (key == "kind") {
        const auto kind = parse_enum<CriterionKind>(kCriterionKindNames, text(value));
        if (!kind) fail_at(Fault::Input, at(value), "a kind is one of {}", fmt::join(kCriterionKindNames, ", "));
        c.kind = *kind;
      } else if (key == "unit") {
        c.unit = text(value);
      } else if (key == "doc") {
        c.doc = text(value);
      } else if (key == "open") {
        c.open = text(value);
      } else if (const auto bound = parse_enum<Criterion::Bound>(kBoundNames, key)) {
        ++bounds;
        c.bound = *bound;
        switch (*bound) {
          case Criterion::Bound::equals: c.low = c.high = number(value); break;
          case Criterion::Bound::at_least: c.low = number(value), c.high = kInfinity; break;
          case Criterion::Bound::at_most: c.low = -kInfinity, c.high = number(value); break;
          case Criterion::Bound::within: std::tie(c.low, c.high) = pair(value); break;
        }
      } else {
        unknown(value, key);
      }
    });
    if (bounds != 1) fail_at(Fault::Input, at(node), "{} has one of {}", name, fmt::join(kBoundNames, ", "));
    return c;
  }

  std::string source_;
  YamlTree tree_;
};

}  // namespace

std::string Knob::why_not(std::string_view text) const {
  if (!choices.empty()) {
    if (std::ranges::find(choices, text) != choices.end()) return {};
    return fmt::format("'{}' is none of {}{}", text, fmt::join(choices, ", "), did_you_mean(text, choices));
  }
  const auto value = parse_number(text);
  if (!value) return fmt::format("'{}' is no number", text);
  if (whole() && *value != std::floor(*value)) return fmt::format("{} is no whole number", text);
  if (*value < low || *value > high) return fmt::format("{} is not within {} to {}", text, low, high);
  return {};
}

bool Criterion::holds(double value) const { return value >= low && value <= high; }

std::string Criterion::bound_text() const {
  switch (bound) {
    case Bound::equals: return fmt::format("= {}", low);
    case Bound::at_least: return fmt::format(">= {}", low);
    case Bound::at_most: return fmt::format("<= {}", high);
    case Bound::within: return fmt::format("{} .. {}", low, high);
  }
  return {};
}

Definition parse_definition(std::string_view text, const std::string& id, const std::string& source) {
  return Reader(text, source).read(id);
}

Definition builtin_definition(std::string_view id) {
  const std::string path = fmt::format("studies/{}.yaml", id);
  for (const config::EmbeddedFile& f : config::embedded_files()) {
    if (f.path == path) return parse_definition(f.text, std::string(id), "configs/" + path);
  }
  fail(Fault::Internal, "study {} has no configs/{}", id, path);
}

}  // namespace vinci::studies
