// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "isa/base/error.h"
#include "tools/sweep/definition.h"

namespace vinci::sweep {
namespace {

constexpr usize kMostPoints = 1'000'000;

// From 0 to 1, excluded; the same on every machine, which std::uniform_real_distribution does not promise.
double fraction(std::mt19937_64& draw) { return static_cast<double>(draw() >> 11) * 0x1p-53; }

std::string value_of(const Axis& a, std::mt19937_64& draw) {
  const double f = fraction(draw);
  if (!a.values.empty()) return a.values[static_cast<usize>(f * static_cast<double>(a.values.size()))];
  double value = 0;
  if (a.step != 0) {
    value = a.low + std::floor(f * (std::floor((a.high - a.low) / a.step * (1 + 1e-12)) + 1)) * a.step;
  } else if (a.logarithmic) {
    value = a.low * std::pow(a.high / a.low, f);
    if (a.whole) value = std::round(value);
  } else {
    value = a.whole ? a.low + std::floor(f * (a.high - a.low + 1)) : a.low + f * (a.high - a.low);
  }
  return fmt::format("{}{}", value, a.unit.empty() ? "" : " " + a.unit);
}

// Every combination of the values of the axes; the last axis changes first.
std::vector<Point> combinations(const std::vector<Axis>& axes) {
  if (axes.empty()) return {};
  usize all = 1;
  for (const Axis& a : axes) {
    all *= a.values.size();
    if (all > kMostPoints) fail(Fault::Limit, "the grid has more than {} points", kMostPoints);
  }
  std::vector<Point> out(all);
  for (usize i = 0; i < all; ++i) {
    usize rest = i, inner = all;
    for (const Axis& a : axes) {
      inner /= a.values.size();
      out[i].push_back({a.key, a.values[rest / inner]});
      rest %= inner;
    }
  }
  return out;
}

}  // namespace

std::vector<Point> points(const Definition& d) {
  std::vector<Point> out = combinations(d.grid);
  out.insert(out.end(), d.list.begin(), d.list.end());
  std::mt19937_64 draw(d.random.seed);
  for (u32 i = 0; i < d.random.points; ++i) {
    Point p;
    for (const Axis& a : d.random.axes)
      p.push_back({a.key, value_of(a, draw)});
    out.push_back(std::move(p));
  }
  if (out.size() > kMostPoints) fail(Fault::Limit, "{} points, and {} are the most", out.size(), kMostPoints);
  // The same point twice is one.
  std::set<std::vector<std::pair<std::string, std::string>>> seen;
  std::erase_if(out, [&](const Point& p) {
    std::vector<std::pair<std::string, std::string>> settings;
    for (const Setting& s : p)
      settings.emplace_back(s.key, s.value);
    std::ranges::sort(settings);
    return !seen.insert(settings).second;
  });
  return out;
}

}  // namespace vinci::sweep
