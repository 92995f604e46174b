// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/validate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "isa/base/error.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "tools/run/interrupts.h"
#include "tools/validate/kernel_stream.h"
#include "tools/validate/report.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"
#include "tools/vinci/step_progress.h"

namespace vinci::cli {
namespace {

constexpr int kTargetMissed = 1;

struct ValidateOptions {
  std::vector<std::string> files;
  validate::Options run;
  bool families = false, detail = false, gates = false;
  std::string csv, write;
};

std::vector<validate::GroupOutcome> run_with_progress(const std::vector<validate::Group>& groups,
                                                      validate::Options options) {
  StepProgress progress;
  options.progress = [&](usize begun, usize all) {
    if (run::interrupted()) fail(Fault::Limit, "interrupted when {} of {} points had begun", begun, all);
    progress.show(fmt::format("point {} of {}", begun, all));
  };
  run::catch_interrupts();
  return validate::run(groups, options);
}

// The kernel of the first case that is chosen, and its chip as a line for the terminal.
void write_kernel(const std::vector<validate::Group>& groups, const ValidateOptions& o) {
  for (const validate::Group& group : groups) {
    for (const validate::Case& c : group.cases) {
      if (c.id.find(o.run.only) == std::string::npos || !c.family->kernel) continue;
      const config::ChipConfig chip = validate::load_chip(c, o.run.overrides);
      write_or_print(o.write, validate::kernel_stream(c.family->kernel(c.points[0].params, chip), chip).yaml());
      if (o.write != "-") {
        std::string set;
        for (const auto* overrides : {&c.overrides, &o.run.overrides})
          for (const std::string& one : *overrides)
            set += fmt::format(" --set {}", one);
        print_out(fmt::format("{}{}: vinci run {} --chip {}{}\n", c.id,
                              c.points.size() > 1 ? fmt::format(", the first of {} points", c.points.size()) : "",
                              o.write, c.chip, set));
      }
      return;
    }
  }
  fail(Fault::Input, "no case whose id contains '{}' is a kernel", o.run.only);
}

void run_validation(const ValidateOptions& o) {
  if (o.families) return print_out(validate::describe_families(o.files));
  std::vector<validate::Group> groups;
  for (const std::string& file : o.files)
    groups.push_back(validate::load_group(file));
  if (o.files.empty()) groups = validate::builtin_groups();
  if (!o.write.empty()) return write_kernel(groups, o);
  if (o.gates) {
    std::erase_if(groups, [](const validate::Group& g) { return g.gates.empty(); });
    if (groups.empty()) fail(Fault::Input, "--gate: none of the files has gates");
  }
  std::optional<io::AtomicFile> csv;  // created now: what cannot be written is known before all is simulated
  if (!o.csv.empty()) {
    io::remove_abandoned_beside(o.csv);
    csv.emplace(o.csv);
  }
  const auto outcome = run_with_progress(groups, o.run);
  if (o.detail) print_out(validate::detail(outcome));
  print_out(validate::summary(outcome));
  if (csv) {
    csv->write(validate::csv(outcome));
    csv->commit();
  }
  const bool holds = o.gates ? validate::holds_gates(outcome) : validate::holds_targets(outcome);
  if (!holds) throw CLI::RuntimeError(kTargetMissed);
}

}  // namespace

void add_validate(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("validate", "Hold simulated times against published measurements");
  const auto o = std::make_shared<ValidateOptions>();
  o->run.jobs = std::max(1u, std::thread::hardware_concurrency());
  sub->add_option("FILE", o->files, "Files of measurements (docs/silicon.md); the built-in ones if none is given");
  sub->add_flag("--families", o->families,
                "List what can be measured, with parameters and metrics; nothing is run. With names in place of files: "
                "these families");
  sub->add_option("--only", o->run.only, "Cases whose id contains this text");
  sub->add_option("--sample", o->run.sample, "Of each curve at most this many points, evenly spread")
      ->transform(integer(1));
  sub->add_option("--set", o->run.overrides, "A value of every chip, core.cube.startup=3; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--jobs", o->run.jobs, "Processes; all processors if not given")->transform(integer(1, 1024));
  sub->add_flag("--detail", o->detail, "Print every value");
  sub->add_option("--csv", o->csv, "File for every value");
  sub->add_option("--write", o->write,
                  "File for the task stream of the first kernel that --only picks; nothing is run");
  sub->add_flag("--gate", o->gates, "Only files with gates, and exit by these: errors may not exceed them again");
  sub->footer(
      "Exit code 0 if the targets of the files hold, 1 if one is missed or a value could not be simulated.\n"
      "Example: vinci validate --only vadd --detail");
  sub->callback([o] { run_validation(*o); });
}

}  // namespace vinci::cli
