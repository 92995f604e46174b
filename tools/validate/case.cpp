// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "configs/embedded.h"
#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/io/yaml_tree.h"
#include "sim/task/load.h"

namespace vinci::validate {
namespace {

using io::YamlTree;
using Node = YamlTree::Node;

template <class T>
std::vector<std::string_view> names_of(const std::vector<T>& list) {
  std::vector<std::string_view> out;
  for (const T& item : list)
    out.push_back(item.name);
  return out;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : source_(source), tree_(YamlTree::parse(text, source)) {}

  Group read() {
    Group g{.place = source_};
    const usize slash = source_.rfind('/');
    g.name = source_.substr(slash == std::string::npos ? 0 : slash + 1);
    if (g.name.ends_with(".yaml")) g.name.resize(g.name.size() - 5);
    each(tree_.root(), [&](const std::string& key, const Node& value) {
      if (key == "title")
        g.title = text(value);
      else if (key == "from")
        from_ = text(value);
      else if (key == "targets")
        each(value, [&](const std::string& metric, const Node& v) { g.targets[metric] = target(v); });
      else if (key == "gates")
        each(value, [&](const std::string& metric, const Node& v) { g.gates[metric] = with_unit(v, "%"); });
      else if (key == "assumed")
        assumed_ = text(value);
      else if (key == "cases")
        items(value, [&](const Node& v) { g.cases.push_back(read_case(v)); });
      else if (key == "ratios")
        items(value, [&](const Node& v) { g.ratios.push_back(ratio(v)); });
      else if (key == "not_expressed")
        items(value, [&](const Node& v) { g.not_expressed.push_back(not_expressed(v)); });
      else
        unknown(value, key);
    });
    if (g.title.empty()) fail_at(Fault::Input, source_, "title is missing");
    check(g);
    return g;
  }

 private:
  std::string at(const Node& node) const { return fmt::format("{}:{}", source_, tree_.mark(node).line); }
  [[noreturn]] void unknown(const Node& node, std::string_view key) const {
    fail_at(Fault::Input, at(node), "unknown key '{}'", key);
  }

  template <class F>
  void each(const Node& map, F&& f) const {
    if (map.kind != YamlTree::Kind::map) fail_at(Fault::Input, at(map), "a map belongs here");
    std::set<std::string_view> keys;
    for (const auto& [key, value] : map.entries()) {
      if (!keys.insert(key.text()).second) fail_at(Fault::Input, at(key), "'{}' is there twice", key.text());
      f(std::string(key.text()), value);
    }
  }
  template <class F>
  void items(const Node& list, F&& f) const {
    if (list.kind != YamlTree::Kind::sequence) fail_at(Fault::Input, at(list), "a list belongs here");
    for (const Node& child : list.children())
      f(child);
  }
  std::string text(const Node& node) const {
    if (node.kind != YamlTree::Kind::scalar) fail_at(Fault::Input, at(node), "a text belongs here");
    return std::string(node.text());
  }
  // "3 %" or "3".
  double with_unit(const Node& node, std::string_view unit) const {
    const std::string s = text(node);
    double value = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    std::string_view rest(end, s.data() + s.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (error != std::errc() || !std::isfinite(value) || (!rest.empty() && rest != unit))
      fail_at(Fault::Input, at(node), "'{}' is no number{}", s,
              unit.empty() ? "" : fmt::format("; its unit is {}", unit));
    return value;
  }

  ErrorTarget target(const Node& node) const {
    ErrorTarget t;
    each(node, [&](const std::string& key, const Node& value) {
      if (key == "mean")
        t.mean = with_unit(value, "%");
      else if (key == "worst")
        t.worst = with_unit(value, "%");
      else if (key == "skip")
        t.skip = static_cast<u64>(with_unit(value, ""));
      else
        unknown(value, key);
    });
    return t;
  }

  Ratio ratio(const Node& node) const {
    Ratio r{.place = at(node)};
    each(node, [&](const std::string& key, const Node& value) {
      if (key == "of")
        r.of = text(value);
      else if (key == "to")
        r.to = text(value);
      else if (key == "metric")
        r.metric = text(value);
      else
        unknown(value, key);
    });
    return r;
  }

  NotExpressed not_expressed(const Node& node) const {
    NotExpressed n{.source = from_};
    each(node, [&](const std::string& key, const Node& value) {
      if (key == "what")
        n.what = text(value);
      else if (key == "reason")
        n.reason = text(value);
      else if (key == "points")
        n.points = static_cast<u64>(with_unit(value, ""));
      else if (key == "source")
        n.source = text(value);
      else
        unknown(value, key);
    });
    if (n.what.empty() || n.reason.empty() || n.points == 0)
      fail_at(Fault::Input, at(node), "what, reason and points belong here");
    return n;
  }

  // What a case says before its lists are spread over the points.
  struct Series {
    std::string name;
    const Node* node = nullptr;
    bool swept = false;
  };
  // The value of a series at a point.
  const Node& value_at(const Series& s, usize point) const { return s.swept ? s.node->children()[point] : *s.node; }

  Case read_case(const Node& node) const {
    Case c{.source = from_, .assumed = assumed_};
    std::vector<Series> params, measured;
    each(node, [&](const std::string& key, const Node& value) {
      const auto series = [&value](const std::string& name) {
        return Series{name, &value, value.kind == YamlTree::Kind::sequence};
      };
      if (key == "id")
        c.id = text(value);
      else if (key == "family")
        c.family = &family_of(value);
      else if (key == "chip")
        c.chip = text(value);
      else if (key == "source")
        c.source = text(value);
      else if (key == "assumed")
        c.assumed = text(value);
      else if (key == "set")
        items(value, [&](const Node& v) { c.overrides.push_back(text(v)); });
      else if (key == "measured")
        each(value, [&](const std::string& metric, const Node& v) {
          measured.push_back({metric, &v, v.kind == YamlTree::Kind::sequence});
        });
      else
        params.push_back(series(key));
    });
    const auto need = [&](bool there, std::string_view what) {
      if (!there) fail_at(Fault::Input, at(node), "this case has no {}", what);
    };
    need(c.family != nullptr, "family");
    need(!c.chip.empty(), "chip");
    need(!c.source.empty(), "source, and the file no from");
    need(!measured.empty(), "measured");
    const usize points = count_points(node, params, measured);
    for (usize i = 0; i < points; ++i)
      c.points.push_back(point(c, at(node), params, measured, i));
    if (c.id.empty()) c.id = made_id(c, params);
    return c;
  }

  const Family& family_of(const Node& node) const {
    try {
      return family(text(node));
    } catch (const Error& e) {
      fail_at(e.fault(), at(node), "{}", e.what());
    }
  }

  // All lists of a case have one length.
  usize count_points(const Node& node, const std::vector<Series>& params, const std::vector<Series>& measured) const {
    std::optional<usize> count;
    for (const auto* list : {&params, &measured}) {
      for (const Series& s : *list) {
        const usize n = s.swept ? s.node->children().size() : 1;
        if (!s.swept && list == &params) continue;
        if (count && *count != n)
          fail_at(Fault::Input, at(*s.node), "{} has {} values where others have {}", s.name, n, *count);
        count = n;
      }
    }
    if (!count || *count == 0) fail_at(Fault::Input, at(node), "a case has points");
    return *count;
  }

  Point point(const Case& c, const std::string& place, const std::vector<Series>& params,
              const std::vector<Series>& measured, usize i) const {
    Point p{.params = Params(place), .measured = {}};
    for (const Series& s : params) {
      const auto known = std::ranges::find(c.family->parameters, s.name, &Parameter::name);
      if (known == c.family->parameters.end())
        fail_at(Fault::Input, at(*s.node), "{} has no parameter '{}'{}", c.family->name, s.name,
                did_you_mean(s.name, names_of(c.family->parameters)));
      p.params.set(s.name, text(value_at(s, i)));
    }
    for (const Parameter& known : c.family->parameters) {
      if (p.params.has(known.name)) continue;
      if (known.fallback.empty()) fail_at(Fault::Input, place, "{} needs the parameter {}", c.family->name, known.name);
      p.params.set(known.name, std::string(known.fallback));
    }
    for (const Series& s : measured) {
      const auto metric = std::ranges::find(c.family->metrics, s.name, &Metric::name);
      if (metric == c.family->metrics.end())
        fail_at(Fault::Input, at(*s.node), "{} does not measure '{}'{}", c.family->name, s.name,
                did_you_mean(s.name, names_of(c.family->metrics)));
      const double value = with_unit(value_at(s, i), metric->unit);
      if (value <= 0) fail_at(Fault::Input, at(*s.node), "a measured value is above zero");
      p.measured[s.name] = value;
    }
    return p;
  }

  // "instruction_loop vadd.f16" from what is fixed; the chip where it is not the first.
  static std::string made_id(const Case& c, const std::vector<Series>& params) {
    std::string id(c.family->name);
    for (const Series& s : params)
      if (!s.swept) id += " " + (s.name == params.front().name ? "" : s.name + "=") + std::string(s.node->text());
    return id + " " + c.chip;
  }

  void check(const Group& g) const {
    std::set<std::string_view> ids;
    std::set<std::string_view> metrics;
    for (const Case& c : g.cases) {
      if (!ids.insert(c.id).second)
        fail_at(Fault::Input, c.points[0].params.place(), "the id '{}' is there twice", c.id);
      for (const auto& [metric, value] : c.points[0].measured)
        metrics.insert(metric);
    }
    for (const auto& [metric, target] : g.targets)
      if (!metrics.contains(metric)) fail_at(Fault::Input, source_, "targets: no case measures '{}'", metric);
    for (const auto& [metric, gate] : g.gates)
      if (!metrics.contains(metric)) fail_at(Fault::Input, source_, "gates: no case measures '{}'", metric);
    for (const Ratio& r : g.ratios) {
      for (const std::string& id : {r.of, r.to}) {
        const auto it = std::ranges::find(g.cases, id, &Case::id);
        if (it == g.cases.end()) fail_at(Fault::Input, r.place, "there is no case '{}'", id);
        if (it->points.size() != 1 || !it->points[0].measured.contains(r.metric))
          fail_at(Fault::Input, r.place, "'{}' is not one point that measures '{}'", id, r.metric);
      }
    }
  }

  std::string source_, from_, assumed_;
  YamlTree tree_;
};

// The built-in groups. Those in folders below it need task streams that a program records first.
constexpr std::string_view kFolder = "silicon/";

}  // namespace

Group parse_group(std::string_view text, const std::string& source) { return Reader(text, source).read(); }

Group load_group(const std::string& file) {
  const std::vector<std::byte> bytes = task::read_whole_file(file);
  return parse_group({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
}

std::vector<Group> builtin_groups() {
  std::vector<Group> out;
  for (const config::EmbeddedFile& f : config::embedded_files()) {
    const bool in_folder = f.path.starts_with(kFolder) && f.path.find('/', kFolder.size()) == f.path.npos;
    if (in_folder) out.push_back(parse_group(f.text, "configs/" + std::string(f.path)));
  }
  return out;
}

}  // namespace vinci::validate
