// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>

#include "isa/base/error.h"
#include "tools/vinci/app.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

struct SimOptions {
  std::string soc, chip, output = {}, mode = "timing", application, kernels, cores;
  bool check = false, trace = false, explain = false, range = false, cold = false, report = false, quiet = false;
  std::vector<std::string> overrides;
  std::string numerics;             // "", events, shadow
  double timeout = 0;               // minutes
  std::string metrics, mstx, dump;  // of other tools, without effect
};

// Names and numbers, of which a run gets a list in one word.
const std::string& checked(std::string_view option, const std::string& list) {
  const auto part = [](char c) { return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_' || c == '|'; };
  if (!std::ranges::all_of(list, part)) fail(Fault::Input, "{} {}: names are separated by |", option, list);
  return list;
}

void simulate(const SimOptions& o, std::vector<std::string> program) {
  if (!o.application.empty()) {
    std::istringstream words(o.application);
    std::vector<std::string> named;
    for (std::string word; words >> word;)
      named.push_back(word);
    program.insert(program.begin(), named.begin(), named.end());
  }
  if (program.empty()) fail(Fault::Input, "no program; Example: vinci sim ./add");
  set_chip(o.chip, o.soc);
  if (!o.output.empty()) set_variable("VINCI_OUTPUT", o.output);
  set_variable("VINCI_MODE", !o.numerics.empty() && o.mode == "timing" ? "full" : o.mode);
  set_variable("VINCI_VERBOSE", o.quiet ? "0" : "1");
  std::string run = "--profile";
  for (const auto& [on, option] : {std::pair{o.check, " --check"},
                                   {o.trace, " --trace"},
                                   {o.explain, " --explain"},
                                   {o.range, " --range"},
                                   {o.cold, " --cold"},
                                   {o.report, " --report"}}) {
    if (on) run += option;
  }
  if (!o.numerics.empty()) run += " --numerics=" + checked("--numerics", o.numerics);
  if (!o.kernels.empty()) run += " --profile-kernels=" + checked("--kernel-name", o.kernels);
  if (!o.cores.empty()) run += " --profile-cores=" + checked("--core-id", o.cores);
  for (const std::string& value : o.overrides)
    run += " --set " + value;
  set_variable("VINCI_RUN_OPTIONS", run);
  for (const auto& [option, value] : {std::pair("--aic-metrics", o.metrics), {"--mstx", o.mstx}, {"--dump", o.dump}}) {
    if (!value.empty()) fmt::print(stderr, "vinci: {} has no effect\n", option);
  }
  if (o.timeout > 0) {
    run_to_end(program, o.timeout);
  } else {
    become(std::move(program));
  }
}

void add_options(CLI::App* sub) {
  take_command_line(*sub, "PROGRAM [ARGUMENT...]");

  const auto o = std::make_shared<SimOptions>();
  sub->add_option("--soc-version", o->soc, "The chip by its product name, such as Ascend910B1");
  sub->add_option("--chip", o->chip, "The same as a built-in chip or a chip file");
  sub->add_option("--output", o->output, "Folder of the profile; if not given, out/<program>");
  sub->add_option("--mode", o->mode,
                  "timing: bits as the program runs, time afterwards; full: both again in time, and "
                  "compared; functional: no time")
      ->capture_default_str();
  sub->add_flag("--check", o->check, "Look for races and the like, as `vinci run --check`");
  sub->add_flag("--numerics{events}", o->numerics,
                "Count numeric events, as `vinci run --numerics`; --numerics=shadow as there; implies --mode full");
  sub->add_flag("--trace", o->trace, "Also write the timeline trace.json");
  sub->add_flag("--explain", o->explain, "Also say why the kernels take their time, as `vinci run --explain`");
  sub->add_flag("--range", o->range, "Also say how far off the time may be, as `vinci run --range`");
  sub->add_flag("--cold", o->cold, "Print kernel times with the cold start, as a first launch takes");
  sub->add_flag("--report", o->report, "Also make report.html");
  sub->add_option("--kernel-name", o->kernels,
                  "Show only these kernels in the simulator folder, by the beginning of their names: Add|Sub");
  sub->add_option("--core-id", o->cores, "Show only these cores: 0|31");
  sub->add_option("--application", o->application, "The program with its arguments, in place of the last words");
  sub->add_option("--set", o->overrides, "Override a value of the chip, e.g. core.cube.startup=30; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--timeout", o->timeout, "Minutes after which the program is ended")->check(positive_number());
  add_native_timeout(*sub);
  add_auto_sync(*sub);
  add_scalar_code(*sub);
  add_allocation(*sub);
  sub->add_option("--aic-metrics", o->metrics, "Has no effect: all there is, is always shown");
  sub->add_option("--mstx", o->mstx, "Has no effect");
  sub->add_option("--dump", o->dump, "Has no effect");
  sub->add_flag("-q,--quiet", o->quiet, "Print no summary");
  sub->footer("Example: vinci sim --soc-version=Ascend910B1 --output=prof ./add");
  sub->callback([o, sub] { simulate(*o, command_line_of(*sub)); });
}

}  // namespace

void add_sim(CLI::App& app) {
  add_options(app.add_subcommand("sim", "Run a program of `vinci cc` and say what its kernels cost"));
}

void add_msprof(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("msprof", "`vinci msprof op simulator` is `vinci sim`, for scripts");
  sub->require_subcommand(1);
  sub->footer("Example: vinci msprof op simulator --soc-version=Ascend910B1 --output=prof ./add");
  CLI::App* op = sub->add_subcommand("op", "Of operators");
  op->require_subcommand(1);
  op->footer(sub->get_footer());
  add_options(op->add_subcommand("simulator", "The same as `vinci sim`"));
}

}  // namespace vinci::cli
