// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The page of all studies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/io/text_file.h"
#include "tools/studies/summary.h"

namespace vinci::studies {
namespace {

using io::html_text;

constexpr std::string_view kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; width: 100%; margin: 1em 0; }
th, td { text-align: left; vertical-align: top; padding: .3em .6em; border-bottom: 1px solid #ddd; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
section { margin-top: 3em; } svg { width: 100%; } .open { color: #a60; } .missed { color: #b00; }
)";

// Horizontal bars, each with its name and its value. A logarithmic scale begins a decade below the least value.
std::string chart(const Findings& f) {
  constexpr double kName = 400, kBar = 460, kRow = 22;
  const std::vector<Fact> bars = f.bars();
  const bool logarithmic = f.definition.chart.logarithmic;
  double least = 0, most = 0;
  for (const Fact& b : bars) {
    most = std::max(most, std::fabs(b.value));
    if (b.value != 0 && (least == 0 || std::fabs(b.value) < least)) least = std::fabs(b.value);
  }
  const double low = least > 0 ? std::log10(least) - 1 : 0;
  const auto length = [&](double value) {
    const double size = std::fabs(value);
    if (size == 0) return 0.0;
    return kBar * (logarithmic ? (std::log10(size) - low) / (std::log10(most) - low) : size / most);
  };
  std::string out =
      fmt::format("<svg viewBox=\"0 0 1000 {}\" role=\"img\">\n", kRow * static_cast<double>(bars.size()) + 4);
  double y = 2;
  for (const Fact& b : bars) {
    const double width = length(b.value);
    out += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"13\">{}</text>"
        "<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"#4477aa\"/>"
        "<text x=\"{:.1f}\" y=\"{}\" font-size=\"13\">{} {}</text>\n",
        kName, y + 15, html_text(b.what), kName + 8, y + 2, width, kRow - 4, kName + 14 + width, y + 15,
        readable(b.value), html_text(b.unit));
    y += kRow;
  }
  return out + "</svg>\n" + (logarithmic ? "<p>Logarithmic scale.</p>\n" : "");
}

std::string criteria(const Findings& f) {
  std::string out = "<table><tr><th>criterion</th><th>kind</th><th>bound</th><th>measured</th><th></th></tr>\n";
  for (usize i = 0; i < f.values.size(); ++i) {
    const Criterion& c = f.definition.criteria[i];
    const std::string_view state = f.holds(i) ? "met" : c.open.empty() ? "missed" : "open";
    std::string doc = html_text(c.doc);
    if (state == "open") doc += fmt::format(" <b>Open:</b> {}", html_text(c.open));
    out += fmt::format(
        "<tr><td>{}<br><small>{}</small></td><td>{}</td><td class=n>{} {}</td><td class=n>{}</td><td "
        "class={}>{}</td></tr>\n",
        c.name, doc, kCriterionKindNames[static_cast<usize>(c.kind)], html_text(c.bound_text()), html_text(c.unit),
        f.values[i] ? readable(*f.values[i]) : "nothing", state, state);
  }
  return out + "</table>\n";
}

std::string section(const Outcome& o) {
  const Findings& f = o.findings;
  const Definition& d = f.definition;
  std::string out =
      fmt::format("<section id={0}><h2>{0} {1}</h2>\n<p>{2}</p>\n", d.id, html_text(d.title), html_text(d.question));
  if (!o.fault.empty()) return out + fmt::format("<p class=missed>{}</p></section>\n", html_text(o.fault));
  out += fmt::format("<p><b>{}</b></p>\n{}<p>{}</p>\n{}", html_text(f.answer()), chart(f), html_text(d.advice),
                     criteria(f));
  return out + fmt::format("<p><small>From: {}. Default chip: {}.</small></p></section>\n", html_text(d.from),
                           html_text(d.chip));
}

}  // namespace

std::string page(const std::vector<Outcome>& outcomes) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=en><meta charset=utf-8><title>Vinci: studies</title>\n<style>{}</style>\n"
      "<h1>Studies</h1>\n<table><tr><th>study</th><th>question</th><th>answer</th><th>criteria met</th></tr>\n",
      kStyle);
  for (const Outcome& o : outcomes) {
    const Definition& d = o.findings.definition;
    out += fmt::format("<tr><td><a href=\"#{0}\">{0}</a></td><td>{1}</td><td>{2}</td><td>{3}</td></tr>\n", d.id,
                       html_text(short_question(d)), html_text(o.fault.empty() ? o.findings.answer() : o.fault),
                       html_text(o.findings.verdict()));
  }
  out += "</table>\n";
  for (const Outcome& o : outcomes)
    out += section(o);
  return out + "</html>\n";
}

}  // namespace vinci::studies
