// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/studies/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "tools/run/interrupts.h"
#include "tools/studies/summary.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"
#include "tools/vinci/step_progress.h"

namespace vinci::cli {
namespace {

constexpr int kCriterionFailed = 1;
constexpr unsigned kMostJobs = 2;  // by default: a process holds up to half a GiB

struct StudyOptions {
  std::string id;
  std::vector<std::string> set;
  bool list = false, all = false;
  std::string chip, folder;
  unsigned jobs = 1;
};

std::string all_studies() {
  std::string out;
  for (const studies::Entry& e : studies::entries())
    out += fmt::format("{:<4} {}\n", e.id, studies::builtin_definition(e.id).title);
  return out;
}

// What a study asks, its knobs and its criteria.
std::string describe(const studies::Definition& d) {
  std::string out = fmt::format("{}  {}\n{}\nfrom {}\nchip {}\n\nknobs\n", d.id, d.title, d.question, d.from, d.chip);
  for (const studies::Knob& k : d.knobs) {
    const std::string values =
        k.choices.empty() ? fmt::format("{} .. {}", k.low, k.high) : fmt::format("{}", fmt::join(k.choices, " | "));
    out += fmt::format("  {:<16} {:<10} {:<8} {:<20} {}\n", k.name, k.fallback, k.unit, values, k.doc);
  }
  out += "\ncriteria\n";
  for (const studies::Criterion& c : d.criteria)
    out += fmt::format("  {:<28} {:<10} {:>16} {:<6} {}\n", c.name,
                       studies::kCriterionKindNames[static_cast<usize>(c.kind)], c.bound_text(), c.unit, c.doc);
  return out;
}

// Every study with its defaults: the table, and in the folder the page and the table for documents.
void run_all(const StudyOptions& o) {
  if (!o.id.empty() || !o.set.empty() || !o.chip.empty() || o.list) {
    fail(Fault::Input, "--all runs every study with its defaults: without STUDY, --set, --chip and --list");
  }
  StepProgress progress;
  run::catch_interrupts();
  const std::vector<studies::Outcome> outcomes = studies::run_all(
      {.jobs = o.jobs, .folder = o.folder, .interrupted = run::interrupted, .progress = [&](usize begun, usize all) {
         progress.show(fmt::format("study {} of {}", begun, all));
       }});
  print_out(studies::table(outcomes));
  if (!o.folder.empty()) {
    io::write_file_atomically(o.folder + "/index.html", studies::page(outcomes));
    io::write_file_atomically(o.folder + "/table.md", studies::markdown(outcomes));
  }
  for (const studies::Outcome& outcome : outcomes)
    if (!outcome.fault.empty() || outcome.findings.missed()) throw CLI::RuntimeError(kCriterionFailed);
}

void study(const StudyOptions& o) {
  if (o.all) return run_all(o);
  if (o.id.empty() && (!o.set.empty() || !o.chip.empty() || !o.folder.empty())) {
    fail(Fault::Input, "--set, --chip and --output belong to one STUDY, such as S09; `vinci study` lists all");
  }
  if (o.id.empty()) return print_out(all_studies());
  if (o.list) return print_out(describe(studies::builtin_definition(studies::entry(o.id).id)));
  StepProgress progress;
  studies::Request request{.chip = o.chip,
                           .folder = o.folder,
                           .interrupted = run::interrupted,
                           .jobs = o.jobs,
                           .progress = [&](usize begun, usize all) {
                             progress.show(fmt::format("{}: variant {} of {}", o.id, begun, all));
                           }};
  for (const std::string& text : o.set) {
    const usize equals = text.find('=');
    if (equals == std::string::npos) fail_at(Fault::Input, "--set " + text, "a setting is knob=value");
    const std::string name = text.substr(0, equals);
    if (name.find('.') != std::string::npos)
      request.overrides.push_back(text);
    else
      request.set.emplace_back(name, text.substr(equals + 1));
  }
  run::catch_interrupts();
  const studies::Study done = studies::run_study(o.id, request);
  print_out(done.report());
  if (!o.folder.empty()) io::write_file_atomically(done.report_file(), done.report());
  if (!done.passed()) throw CLI::RuntimeError(kCriterionFailed);
}

}  // namespace

void add_study(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("study", "Run a study: task streams, what they show, and criteria for it");
  const auto o = std::make_shared<StudyOptions>();
  o->jobs = std::clamp(std::thread::hardware_concurrency(), 1u, kMostJobs);
  sub->add_option("STUDY", o->id, "Its name, such as S09; without it, all are listed");
  sub->add_option(
         "--set", o->set,
         "A knob of the study (see --list), batch=4, or a value of the chip, core.cube.startup=30; may be repeated")
      ->allow_extra_args(false);
  sub->add_flag("--all", o->all,
                "Run every study with its defaults; -o gets a page with charts, index.html, and table.md");
  sub->add_option("--jobs", o->jobs, "Processes; 2 if not given, or 1 on one processor")->transform(integer(1, 1024));
  sub->add_flag("--list", o->list, "Describe the study, its knobs and its criteria; nothing is run");
  sub->add_option("--chip", o->chip, "Chip (see `vinci chips`), or a chip file; the one of the study if not given");
  sub->add_option("-o,--output", o->folder, "Folder that keeps the report, the task streams and their outputs");
  sub->footer(
      "Exit code 0 if all criteria hold, 1 if one does not; with --all, open criteria do not count. Errors as "
      "everywhere.\n"
      "Examples: vinci study S22 --list; vinci study S22 --set channels=32 --set core.cube.startup=30 -o out");
  sub->callback([o] { study(*o); });
}

}  // namespace vinci::cli
