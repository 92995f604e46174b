// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isa/base/error.h"
#include "tools/report/page_files.h"

namespace vinci::report {
namespace {

// In the order in which they use each other.
constexpr std::array kScripts{"format.js",   "table.js",    "lanes.js",   "timeline_draw.js", "timeline.js",
                              "charts.js",   "roofline.js", "figures.js", "why.js",           "range.js",
                              "sections.js", "checks.js",   "main.js"};

std::string_view file(std::string_view name) {
  const auto files = embedded_files();
  const auto it = std::ranges::find(files, name, &EmbeddedFile::path);
  if (it == files.end()) fail(Fault::Internal, "the page of the report has no file {}", name);
  return it->text;
}

std::string scripts() {
  std::string out;
  for (const char* name : kScripts)
    out += file(name);
  return out;
}

// As text of an element.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

// As the content of a script element, which any "</script" or "<!--" in a name would end or change.
std::string script_json(const Json& data) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string content(std::string_view marker, const Json& data) {
  if (marker == "title") {
    return escaped(fmt::format("{} on {}", data.value("name", "run"), data.at("chip").at("name").get<std::string>()));
  }
  if (marker == "style") return std::string(file("report.css"));
  if (marker == "script") return scripts();
  if (marker == "data") return script_json(data);
  fail(Fault::Internal, "the page of the report has no {{{{{}}}}}", marker);
}

}  // namespace

std::string page(const Json& data) {
  std::string out;
  std::string_view rest = file("report.html");
  for (usize open = rest.find("{{"); open != std::string_view::npos; open = rest.find("{{")) {
    const usize close = rest.find("}}", open);
    out += rest.substr(0, open);
    out += content(rest.substr(open + 2, close - open - 2), data);
    rest.remove_prefix(close + 2);
  }
  return out += rest;
}

}  // namespace vinci::report
