// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/sweep/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <span>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/io/input_file.h"
#include "sim/io/yaml_tree.h"

namespace vinci::sweep {
namespace {

using io::YamlTree;

constexpr std::array<std::string_view, 3> kCommands{"gen", "compile", "run"};

// A number and the unit behind it: "192 KiB".
struct Quantity {
  double number = 0;
  std::string unit;
};

std::optional<Quantity> parse_quantity(std::string_view text) {
  Quantity q;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), q.number);
  if (error != std::errc() || !std::isfinite(q.number)) return std::nullopt;
  std::string_view rest = text.substr(static_cast<usize>(end - text.data()));
  while (rest.starts_with(' '))
    rest.remove_prefix(1);
  q.unit = rest;
  return q;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : source_(source), tree_(YamlTree::parse(text, source)) {}

  Definition read() {
    Definition d;
    each(tree_.root(), [&](const std::string& key, const Node& value) { entry(d, key, value); });
    if (d.command.empty())
      fail_at(Fault::Input, source_, "command: is missing, such as gen gemm --m 1024 --n 1024 --k 1024");
    if (d.grid.empty() && d.list.empty() && d.random.points == 0 && !d.optimise) {
      fail_at(Fault::Input, source_, "no points: grid, list, random or optimise says which values change");
    }
    const bool other = !d.grid.empty() || !d.list.empty() || d.random.points != 0;
    if (d.optimise && other)
      fail_at(Fault::Input, source_, "optimise chooses the points: without grid, list and random");
    const std::vector<std::string> keys = d.keys();
    if (d.chip.empty() && std::ranges::find(keys, "chip") == keys.end()) {
      fail_at(Fault::Input, source_, "chip: is missing, such as ascend-910b1 (see `vinci chips`)");
    }
    if (d.pareto.empty() && d.optimise) d.pareto = d.optimise->minimise;
    return d;
  }

 private:
  using Node = YamlTree::Node;

  std::string at(const Node& node) const { return tree_.at(source_, node); }

  [[noreturn]] void unknown(const Node& node, std::string_view key, std::span<const std::string_view> known) const {
    const std::vector<std::string> names(known.begin(), known.end());
    fail_at(Fault::Input, at(node), "unknown key '{}'{}", key, did_you_mean(key, names));
  }

  template <class F>
  void each(const Node& map, F&& f) const {
    if (map.kind != YamlTree::Kind::map)
      fail_at(Fault::Input, at(map), "a map belongs here, and this is {}", name(map.kind));
    std::set<std::string> seen;
    for (const auto& [key, value] : map.entries()) {
      if (key.kind != YamlTree::Kind::scalar || key.text().empty())
        fail_at(Fault::Input, at(key), "a name belongs here");
      if (!seen.emplace(key.text()).second) fail_at(Fault::Input, at(key), "'{}' is given twice", key.text());
      f(std::string(key.text()), value);
    }
  }

  std::string text(const Node& node) const {
    if (node.kind != YamlTree::Kind::scalar || node.text().empty()) {
      fail_at(Fault::Input, at(node), "a text or a number belongs here, and this is {}", name(node.kind));
    }
    return std::string(node.text());
  }

  std::vector<std::string> texts(const Node& node) const {
    if (node.kind != YamlTree::Kind::sequence) return {text(node)};
    std::vector<std::string> out;
    for (const Node& child : node.children())
      out.push_back(text(child));
    if (out.empty()) fail_at(Fault::Input, at(node), "the list is empty");
    return out;
  }

  u64 count(const Node& node, u64 most) const {
    const std::string word = text(node);
    u64 value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value == 0 || value > most) {
      fail_at(Fault::Input, at(node), "a whole number from 1 to {} belongs here", most);
    }
    return value;
  }

  // The words of a command line; a list has a word in each item, so that words may hold blanks.
  std::vector<std::string> words(const Node& node) const {
    std::vector<std::string> out;
    if (node.kind == YamlTree::Kind::sequence) {
      out = texts(node);
    } else {
      const std::string line = text(node);
      for (usize begin = 0; begin < line.size();) {
        const usize end = std::min(line.find_first_of(" \t\n", begin), line.size());
        if (end > begin) out.push_back(line.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    if (!out.empty() && out.front() == "vinci") out.erase(out.begin());
    if (out.empty() || std::ranges::find(kCommands, out.front()) == kCommands.end()) {
      fail_at(Fault::Input, at(node),
              "a command of vinci belongs here that makes or names a task stream: gen, compile or run");
    }
    for (const std::string_view option : {"-o", "--output", "--out", "--chip", "--soc_version"}) {
      const bool there = std::ranges::any_of(out, [&](const std::string& word) {
        return word == option || (word.starts_with(option) && word[option.size()] == '=');
      });
      if (there)
        fail_at(Fault::Input, at(node), "{} does not belong into the command: the sweep sets folder and chip", option);
    }
    return out;
  }

  // {low, high, step, scale}, or the values themselves.
  Axis axis(const std::string& key, const Node& node) const {
    Axis a{.key = key};
    if (node.kind != YamlTree::Kind::map) {
      a.values = texts(node);
      return a;
    }
    std::optional<Quantity> low, high;
    each(node, [&](const std::string& part, const Node& value) {
      constexpr std::array<std::string_view, 4> kParts{"low", "high", "step", "scale"};
      if (part == "low" || part == "high") {
        const auto q = parse_quantity(text(value));
        if (!q) fail_at(Fault::Input, at(value), "a number belongs here");
        (part == "low" ? low : high) = q;
      } else if (part == "step") {
        const auto q = parse_quantity(text(value));
        if (!q || q->number <= 0) fail_at(Fault::Input, at(value), "a number above zero belongs here");
        a.step = q->number;
      } else if (part == "scale") {
        if (text(value) != "linear" && text(value) != "log")
          fail_at(Fault::Input, at(value), "a scale is linear or log");
        a.logarithmic = text(value) == "log";
      } else {
        unknown(value, part, kParts);
      }
    });
    if (!low || !high || low->number > high->number)
      fail_at(Fault::Input, at(node), "low and high belong here, low first");
    if (low->unit != high->unit) fail_at(Fault::Input, at(node), "low and high have one unit");
    if (a.logarithmic && low->number <= 0) fail_at(Fault::Input, at(node), "the scale log needs a low above zero");
    if (a.logarithmic && a.step != 0) fail_at(Fault::Input, at(node), "a step belongs to a linear scale");
    a.low = low->number;
    a.high = high->number;
    a.unit = low->unit;
    a.whole = std::trunc(a.low) == a.low && std::trunc(a.high) == a.high && std::trunc(a.step) == a.step;
    return a;
  }

  std::vector<Axis> axes(const Node& node) const {
    std::vector<Axis> out;
    each(node, [&](const std::string& key, const Node& value) { out.push_back(axis(key, value)); });
    return out;
  }

  std::vector<Axis> grid(const Node& node) const {
    std::vector<Axis> out;
    each(node, [&](const std::string& key, const Node& value) {
      Axis a = axis(key, value);
      if (!a.values.empty()) return out.push_back(a);
      if (a.step == 0) fail_at(Fault::Input, at(value), "a range of a grid has a step");
      const auto steps = std::floor((a.high - a.low) / a.step * (1 + 1e-12));
      if (steps > 1e6) fail_at(Fault::Input, at(value), "more than a million values");
      for (double i = 0; i <= steps; ++i)
        a.values.push_back(fmt::format("{}{}", a.low + i * a.step, a.unit.empty() ? "" : " " + a.unit));
      out.push_back(a);
    });
    return out;
  }

  Point point(const Node& node) const {
    Point out;
    each(node, [&](const std::string& key, const Node& value) { out.push_back({key, text(value)}); });
    return out;
  }

  Random random(const Node& node) const {
    Random r;
    each(node, [&](const std::string& key, const Node& value) {
      constexpr std::array<std::string_view, 3> kKeys{"points", "seed", "axes"};
      if (key == "points")
        r.points = static_cast<u32>(count(value, kMostPoints));
      else if (key == "seed")
        r.seed = count(value, ~u64{0});
      else if (key == "axes")
        r.axes = axes(value);
      else
        unknown(value, key, kKeys);
    });
    if (r.points == 0 || r.axes.empty()) fail_at(Fault::Input, at(node), "random has points and axes");
    return r;
  }

  Optimise optimise(const Node& node) const {
    Optimise o;
    each(node, [&](const std::string& key, const Node& value) {
      constexpr std::array<std::string_view, 5> kKeys{"trials", "group", "seed", "minimise", "axes"};
      if (key == "trials")
        o.trials = static_cast<u32>(count(value, kMostPoints));
      else if (key == "group")
        o.group = static_cast<u32>(count(value, 1024));
      else if (key == "seed")
        o.seed = count(value, ~u32{0});
      else if (key == "minimise")
        o.minimise = texts(value);
      else if (key == "axes")
        o.axes = axes(value);
      else
        unknown(value, key, kKeys);
    });
    if (o.trials == 0 || o.axes.empty()) fail_at(Fault::Input, at(node), "optimise has trials and axes");
    if (o.minimise.empty()) o.minimise = {"us"};
    return o;
  }

  void entry(Definition& d, const std::string& key, const Node& value) const {
    constexpr std::array<std::string_view, 11> kKeys{"name", "command", "chip",     "set",      "mode",  "grid",
                                                     "list", "random",  "optimise", "measures", "pareto"};
    if (key == "name") {
      d.name = text(value);
    } else if (key == "command") {
      d.command = words(value);
    } else if (key == "chip") {
      d.chip = text(value);
    } else if (key == "set") {
      d.set = point(value);
    } else if (key == "mode") {
      d.mode = text(value);
      if (d.mode != "timing" && d.mode != "full") fail_at(Fault::Input, at(value), "a mode is timing or full");
    } else if (key == "grid") {
      d.grid = grid(value);
    } else if (key == "list") {
      if (value.kind != YamlTree::Kind::sequence) fail_at(Fault::Input, at(value), "a list of maps belongs here");
      for (const Node& child : value.children())
        d.list.push_back(point(child));
    } else if (key == "random") {
      d.random = random(value);
    } else if (key == "optimise") {
      d.optimise = optimise(value);
    } else if (key == "measures") {
      d.measures = texts(value);
    } else if (key == "pareto") {
      d.pareto = texts(value);
    } else {
      unknown(value, key, kKeys);
    }
  }

  static constexpr u64 kMostPoints = 1'000'000;

  const std::string source_;
  YamlTree tree_;
};

}  // namespace

std::string column_of(std::string_view key) {
  return std::string(key.substr(std::min(key.find_first_not_of('-'), key.size())));
}

std::vector<std::string> Definition::keys() const {
  std::vector<std::string> out;
  const auto add = [&](const std::string& key) {
    if (std::ranges::find(out, key) == out.end()) out.push_back(key);
  };
  for (const Axis& axis : grid)
    add(axis.key);
  for (const Point& point : list)
    for (const Setting& s : point)
      add(s.key);
  for (const Axis& axis : random.axes)
    add(axis.key);
  if (optimise)
    for (const Axis& axis : optimise->axes)
      add(axis.key);
  return out;
}

Definition parse_definition(std::string_view text, const std::string& source) { return Reader(text, source).read(); }

Definition read_definition(const std::string& file) {
  Definition out = parse_definition(io::read_file(file), file);
  if (out.name.empty()) out.name = file;
  return out;
}

}  // namespace vinci::sweep
