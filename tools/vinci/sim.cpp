// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "isa/base/error.h"
#include "sim/config/load.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

struct SimOptions {
  std::string soc, chip, output = {}, mode = "timing";
  bool check = false, numerics = false, trace = false, report = false, quiet = false;
  std::vector<std::string> more;
  u64 timeout = 0;
};

// The built-in chip of a product name as the vendor's tools take it: Ascend910B1 is ascend-910b1.
std::string chip_of_soc(const std::string& soc) {
  std::string plain;
  for (const char c : soc) {
    if (c == '-' || c == '_' || c == ' ') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  std::string names;
  for (const config::ChipSummary& chip : config::builtin_chips()) {
    std::string candidate = chip.name;
    std::erase(candidate, '-');
    if (candidate == plain) return chip.name;
    names += (names.empty() ? "" : ", ") + chip.name;
  }
  fail(Fault::Input, "--soc-version={}: there is no such chip; there are {}", soc, names);
}

void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

[[noreturn]] void simulate(const SimOptions& o, std::vector<std::string> program) {
  if (program.empty()) fail(Fault::Input, "no program; Example: vinci sim ./add");
  std::error_code error;
  set("VINCI", std::filesystem::read_symlink("/proc/self/exe", error).string());
  if (!o.chip.empty()) set("VINCI_CHIP", o.chip);
  if (!o.soc.empty()) set("VINCI_CHIP", chip_of_soc(o.soc));
  if (!o.output.empty()) set("VINCI_OUTPUT", o.output);
  set("VINCI_MODE", o.numerics && o.mode == "timing" ? "full" : o.mode);
  set("VINCI_VERBOSE", o.quiet ? "0" : "1");
  std::string run = "--profile";
  for (const auto& [on, option] :
       {std::pair{o.check, " --check"}, {o.numerics, " --numerics"}, {o.trace, " --trace"}, {o.report, " --report"}}) {
    if (on) run += option;
  }
  for (const std::string& word : o.more)
    run += " " + word;
  set("VINCI_RUN_OPTIONS", run);
  if (o.timeout > 0) ::alarm(static_cast<unsigned>(o.timeout * 60));
  std::vector<char*> argv;
  for (std::string& word : program)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  fail(Fault::Input, "cannot run {}", program[0]);
}

}  // namespace

void add_sim(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("sim", "Run a program of `vinci cc` and say what its kernels cost");
  sub->prefix_command();
  const auto o = std::make_shared<SimOptions>();
  sub->add_option("--soc-version", o->soc, "The chip by its product name, such as Ascend910B1");
  sub->add_option("--chip", o->chip, "The same as a built-in chip or a chip file");
  sub->add_option("--output", o->output, "Folder of the profile; if not given, out/<program>");
  sub->add_option("--mode", o->mode,
                  "timing: bits as the program runs, time afterwards; full: both again in time, and "
                  "compared; functional: no time")
      ->capture_default_str();
  sub->add_flag("--check", o->check, "Look for races and the like, as `vinci run --check`");
  sub->add_flag("--numerics", o->numerics, "Count numeric events, as `vinci run --numerics`; implies --mode full");
  sub->add_flag("--trace", o->trace, "Also write the timeline trace.json");
  sub->add_flag("--report", o->report, "Also make report.html");
  sub->add_option("--set", o->more, "Override a value of the chip, e.g. core.cube.startup=30; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--timeout", o->timeout, "Minutes after which the program is ended")->transform(integer());
  sub->add_flag("-q,--quiet", o->quiet, "Print no summary");
  sub->footer("Example: vinci sim --soc-version=Ascend910B1 --output=prof ./add");
  sub->callback([o, sub] {
    std::vector<std::string> overrides;
    for (const std::string& value : o->more)
      overrides.insert(overrides.end(), {"--set", value});
    o->more = overrides;
    simulate(*o, sub->remaining());
  });
}

}  // namespace vinci::cli
