// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The page of a sweep: plots of what was measured over each key, the Pareto front, and the table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "sim/io/text_file.h"
#include "tools/sweep/sweep.h"

namespace vinci::sweep {
namespace {

using io::html_text;

constexpr std::string_view kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } .scroll { overflow-x: auto; }
th, td { text-align: right; padding: .2em .7em; border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums; }
tr.front td { background: #fff3e0; } .plots { display: flex; flex-wrap: wrap; gap: 1em; }
figure { margin: 0; flex: 1 1 330px; max-width: 540px; } svg { width: 100%; } code { background: #f4f4f4; }
text { font-size: 12px; fill: #555; } circle { fill: #4477aa; fill-opacity: .7; } circle.front { fill: #d66400; }
)";
constexpr usize kMostRows = 500;

// Where values are on an axis of a plot: numbers by size, texts in the order in which they appear.
class Scale {
 public:
  Scale(const Outcome& o, const std::string& column) {
    for (const Row& r : o.rows) {
      if (!r.error.empty()) continue;
      const auto value = value_of(r, column);
      numeric_ &= value.has_value();
      if (!value) continue;
      low_ = count_ == 0 ? *value : std::min(low_, *value);
      high_ = count_ == 0 ? *value : std::max(high_, *value);
      ++count_;
    }
    numeric_ &= count_ > 0;
    // Values of several magnitudes are placed by their logarithms.
    logarithmic_ = numeric_ && low_ > 0 && high_ / low_ >= 8;
    for (const Row& r : o.rows) {
      for (const Setting& s : r.point) {
        if (column_of(s.key) != column || std::ranges::find(texts_, s.value) != texts_.end()) continue;
        texts_.push_back(s.value);
        text_values_.push_back(value_of(r, column).value_or(0));
      }
    }
  }

  // From 0 to 1; nothing where the row has no value.
  std::optional<double> place(const Row& row, const std::string& column) const {
    if (numeric_) {
      const auto value = value_of(row, column);
      return value ? std::optional(share(*value)) : std::nullopt;
    }
    for (const Setting& s : row.point) {
      if (column_of(s.key) != column) continue;
      const auto at = std::ranges::find(texts_, s.value);
      return (static_cast<double>(at - texts_.begin()) + 0.5) / static_cast<double>(texts_.size());
    }
    return std::nullopt;
  }

  struct Mark {
    double place;
    std::string text;
  };
  std::vector<Mark> marks() const {
    std::vector<Mark> out;
    // A few values that were asked for are marked as they were written.
    if (!numeric_ || (!texts_.empty() && texts_.size() <= kMostMarks)) {
      for (usize i = 0; i < std::min(texts_.size(), kMostMarks); ++i) {
        const double between = (static_cast<double>(i) + 0.5) / static_cast<double>(texts_.size());
        out.push_back({numeric_ ? share(text_values_[i]) : between, texts_[i]});
      }
      return out;
    }
    for (const double f : {0.0, 0.5, 1.0}) {
      const double value = logarithmic_ ? low_ * std::pow(high_ / low_, f) : low_ + f * (high_ - low_);
      out.push_back({share(value), fmt::format("{:.4g}", value)});
      if (low_ == high_) break;
    }
    return out;
  }

 private:
  double share(double value) const {
    if (low_ == high_) return 0.5;
    return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  }

  bool numeric_ = true, logarithmic_ = false;
  double low_ = 0, high_ = 0;
  usize count_ = 0;
  static constexpr usize kMostMarks = 6;
  std::vector<std::string> texts_;  // of a key, in the order in which they appear
  std::vector<double> text_values_;
};

std::string point_text(const Row& r) {
  std::string out;
  for (const Setting& s : r.point)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", column_of(s.key), s.value);
  return out;
}

// A plot of one column over another.
std::string scatter(const Outcome& o, const std::string& x, const std::string& y) {
  constexpr double kLeft = 62, kTop = 16, kWidth = 396, kHeight = 230;
  const Scale across(o, x), up(o, y);
  std::string out = fmt::format(
      "<figure><svg viewBox=\"0 0 500 290\" role=\"img\"><title>{} over {}</title>"
      "<path d=\"M{} {}V{}H{}\" fill=\"none\" stroke=\"#999\"/>\n",
      html_text(y), html_text(x), kLeft, kTop, kTop + kHeight, kLeft + kWidth);
  out += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"600\">{}</text>\n", kLeft + 6, kTop + 2, html_text(y));
  const auto x_of = [&](double f) { return kLeft + 12 + f * (kWidth - 24); };
  const auto y_of = [&](double f) { return kTop + kHeight - 10 - f * (kHeight - 20); };
  for (const Scale::Mark& m : across.marks())
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x_of(m.place),
                       kTop + kHeight + 16, html_text(m.text));
  for (const Scale::Mark& m : up.marks())
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 6, y_of(m.place) + 4,
                       html_text(m.text));
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"600\">{}</text>\n",
                     kLeft + kWidth / 2, kTop + kHeight + 36, html_text(x));
  std::vector<usize> order(o.rows.size());
  std::iota(order.begin(), order.end(), usize{0});
  std::stable_partition(order.begin(), order.end(), [&](usize i) { return !o.front[i]; });  // the front over all others
  for (const usize i : order) {
    const Row& r = o.rows[i];
    const auto fx = across.place(r, x), fy = up.place(r, y);
    if (!r.error.empty() || !fx || !fy) continue;
    out += fmt::format("<circle{} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}: {} {}</title></circle>",
                       o.front[i] ? " class=\"front\"" : "", x_of(*fx), y_of(*fy), html_text(point_text(r)),
                       html_text(y), number_of(r, y));
  }
  return out + "</svg></figure>\n";
}

std::string table(const Outcome& o) {
  std::string out = "<div class=scroll><table><tr><th></th>";
  for (const auto* names : {&o.keys, &o.measures})
    for (const std::string& name : *names)
      out += fmt::format("<th>{}</th>", html_text(column_of(name)));
  out += "<th></th></tr>\n";
  for (usize i = 0; i < std::min(o.rows.size(), kMostRows); ++i) {
    const Row& r = o.rows[i];
    out += fmt::format("<tr{}><td>{}</td>", o.front[i] ? " class=front" : "", i);
    for (const std::string& key : o.keys)
      out += fmt::format("<td>{}</td>", html_text(setting_of(r, key)));
    for (const std::string& measure : o.measures)
      out += fmt::format("<td>{}</td>", number_of(r, measure));
    out += fmt::format("<td style=\"text-align:left\">{}</td></tr>\n", html_text(r.error));
  }
  out += "</table></div>\n";
  if (o.rows.size() > kMostRows)
    out += fmt::format("<p>The first {} of {} rows; all are in sweep.csv.</p>\n", kMostRows, o.rows.size());
  return out;
}

}  // namespace

std::string to_html(const Definition& d, const Outcome& o) {
  std::string command = "vinci";
  for (const std::string& word : d.command)
    command += " " + word;
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
      "<title>Vinci: {0}</title>\n<style>{1}</style>\n<h1>{0}</h1>\n<p><code>{2}</code>{3}, mode {4}: {5} "
      "points{6}.</p>\n",
      html_text(d.name), kStyle, html_text(command), d.chip.empty() ? "" : " on " + html_text(d.chip), d.mode,
      o.rows.size(), o.failed() > 0 ? fmt::format(", of which {} failed", o.failed()) : "");
  if (d.pareto.size() >= 2) {
    out += fmt::format(
        "<h2>Pareto front</h2>\n<p>Orange points: no other point has less of one of {} without more of another.</p>\n"
        "<div class=plots>{}</div>\n",
        html_text(fmt::format("{}", fmt::join(d.pareto, ", "))), scatter(o, d.pareto[1], d.pareto[0]));
  }
  if (!o.measures.empty()) {
    out += fmt::format("<h2>{} over each key</h2>\n<div class=plots>\n", html_text(o.measures.front()));
    for (const std::string& key : o.keys)
      out += scatter(o, column_of(key), o.measures.front());
    out += "</div>\n";
  }
  return out + "<h2>All points</h2>\n" + table(o) + "</html>\n";
}

}  // namespace vinci::sweep
