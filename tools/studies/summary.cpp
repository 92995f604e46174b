// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/summary.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace vinci::studies {
namespace {

using Json = nlohmann::json;

double cpu_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}
// The most memory that this process has held since forget_peak().
void forget_peak() { std::ofstream("/proc/self/clear_refs") << '5'; }
double peak_mebibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

// An outcome on its way from the process that made it. Its definition is known on both sides.
std::string to_text(const Outcome& o) {
  Json values = Json::array(), facts = Json::array();
  for (const auto& v : o.findings.values)
    values.push_back(v ? Json(*v) : Json());
  for (const Fact& f : o.findings.facts)
    facts.push_back({f.what, f.value, f.unit});
  return Json{{"values", values}, {"facts", facts}, {"fault", o.fault}, {"cpu", o.cpu}, {"memory", o.mebibytes}}.dump();
}

Outcome from_text(const std::string& text, std::string_view id) {
  const Json in = Json::parse(text);
  Outcome o{
      .findings = Findings(builtin_definition(id)), .fault = in["fault"], .cpu = in["cpu"], .mebibytes = in["memory"]};
  for (usize i = 0; i < in["values"].size(); ++i)
    if (!in["values"][i].is_null()) o.findings.values[i] = in["values"][i].get<double>();
  for (const Json& f : in["facts"])
    o.findings.facts.push_back({f[0], f[1], f[2]});
  return o;
}

// Errors belong to the study that has them: the others go on.
Outcome run_one(std::string_view id, const SummaryOptions& options) {
  ::malloc_trim(0);  // of the study before
  forget_peak();
  const double before = cpu_seconds();
  Outcome o{.findings = Findings(builtin_definition(id))};
  try {
    Request request{.interrupted = options.interrupted};
    if (!options.folder.empty()) request.folder = fmt::format("{}/{}", options.folder, id);
    o.findings = run_study(id, request).findings();
  } catch (const Error& e) {
    if (e.fault() == Fault::Limit && options.interrupted && options.interrupted()) throw;
    o.fault = e.what();
  }
  o.cpu = cpu_seconds() - before;
  o.mebibytes = peak_mebibytes();
  return o;
}

std::string answer_of(const Outcome& o) { return o.fault.empty() ? o.findings.answer() : o.fault; }

}  // namespace

std::vector<Outcome> run_all(const SummaryOptions& options) {
  const auto list = entries();
  std::function<void(usize)> begun;
  if (options.progress || options.interrupted) {
    begun = [&](usize count) {
      if (options.interrupted && options.interrupted()) {
        fail(Fault::Limit, "interrupted when {} of {} studies had begun", count, list.size());
      }
      if (options.progress) options.progress(count, list.size());
    };
  }
  const auto run = [&](usize i) { return to_text(run_one(list[i].id, options)); };
  std::vector<Outcome> out;
  for (const std::string& text : run_variants(list.size(), options.jobs, run, begun))
    out.push_back(from_text(text, list[out.size()].id));
  return out;
}

std::string_view short_question(const Definition& definition) {
  const std::string_view all = definition.question;
  usize at = 0;
  for (const std::string_view end : {". ", "? ", "): ", ": "}) {
    const usize i = all.rfind(end);
    if (i != std::string_view::npos) at = std::max(at, i + end.size());
    if (at > 0) break;
  }
  return all.substr(at);
}

std::string table(const std::vector<Outcome>& outcomes) {
  std::string out;
  double cpu = 0;
  for (const Outcome& o : outcomes) {
    const Definition& d = o.findings.definition;
    out += fmt::format("{:<4} {}\n     {}\n     {}; {:.1f} s of CPU, {:.0f} MiB\n", d.id, short_question(d),
                       answer_of(o), o.findings.verdict(), o.cpu, o.mebibytes);
    for (usize i = 0; i < d.criteria.size(); ++i)
      if (!o.findings.holds(i) && !d.criteria[i].open.empty())
        out += fmt::format("     open: {}: {}\n", d.criteria[i].name, d.criteria[i].open);
    cpu += o.cpu;
  }
  return out + fmt::format("{} studies, {:.1f} s of CPU\n", outcomes.size(), cpu);
}

std::string markdown(const std::vector<Outcome>& outcomes) {
  std::string out = "| study | question | answer | criteria met |\n|---|---|---|---|\n";
  for (const Outcome& o : outcomes) {
    const Definition& d = o.findings.definition;
    out += fmt::format("| {} | {} | {} | {} |\n", d.id, short_question(d), answer_of(o), o.findings.verdict());
  }
  return out;
}

}  // namespace vinci::studies
