// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/validate.h"

#include <fmt/format.h>

#include <memory>
#include <thread>

#include "tools/validate/report.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

constexpr int kTargetMissed = 1;

struct ValidateOptions {
  std::vector<std::string> files;
  validate::Options run;
  bool families = false, detail = false, gates = false;
  std::string csv;
};

void run_validation(const ValidateOptions& o) {
  if (o.families) return print_out(validate::describe_families());
  std::vector<validate::Group> groups;
  for (const std::string& file : o.files)
    groups.push_back(validate::load_group(file));
  if (o.files.empty()) groups = validate::builtin_groups();
  if (o.gates) std::erase_if(groups, [](const validate::Group& g) { return g.gates.empty(); });
  const auto outcome = validate::run(groups, o.run);
  if (o.detail) print_out(validate::detail(outcome));
  print_out(validate::summary(outcome));
  if (!o.csv.empty()) write_or_print(o.csv, validate::csv(outcome));
  const bool holds = o.gates ? validate::holds_gates(outcome) : validate::holds_targets(outcome);
  if (!holds) throw CLI::RuntimeError(kTargetMissed);
}

}  // namespace

void add_validate(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("validate", "Hold simulated times against published measurements");
  const auto o = std::make_shared<ValidateOptions>();
  o->run.jobs = std::max(1u, std::thread::hardware_concurrency());
  sub->add_option("FILE", o->files, "Files of measurements (docs/silicon.md); the built-in ones if none is given");
  sub->add_flag("--families", o->families, "List what can be measured, with parameters and metrics; nothing is run");
  sub->add_option("--only", o->run.only, "Cases whose id contains this text");
  sub->add_option("--sample", o->run.sample, "Of each curve at most this many points, evenly spread")
      ->transform(integer(1));
  sub->add_option("--set", o->run.overrides, "A value of every chip, core.cube.startup=3; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--jobs", o->run.jobs, "Processes; all processors if not given")->transform(integer(1, 1024));
  sub->add_flag("--detail", o->detail, "Print every value");
  sub->add_option("--csv", o->csv, "File for every value");
  sub->add_flag("--gate", o->gates, "Only files with gates, and exit by these: errors may not exceed them again");
  sub->footer(
      "Exit code 0 if the targets of the files hold, 1 if one is missed or a value could not be simulated.\n"
      "Example: vinci validate --only vadd --detail");
  sub->callback([o] { run_validation(*o); });
}

}  // namespace vinci::cli
