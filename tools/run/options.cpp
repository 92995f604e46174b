// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/options.h"

#include <algorithm>
#include <array>
#include <string>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "tools/run/arguments.h"

namespace vinci::run {

void check(const Options& o) {
  if (o.mode != "full" && o.mode != "functional" && o.mode != "timing") {
    fail(Fault::Input, "--mode {}: the modes are full, functional and timing{}", o.mode,
         did_you_mean(o.mode, std::array{"full", "functional", "timing"}));
  }
  if (!o.trace.empty() && o.trace != "json" && o.trace != "perfetto") {
    fail(Fault::Input, "--trace={}: the formats are json and perfetto{}", o.trace,
         did_you_mean(o.trace, std::array{"json", "perfetto"}));
  }
  if (o.profile_level != "off" && o.profile_level != "csv" && o.profile_level != "all") {
    fail(Fault::Input, "--profile={}: the levels are off, csv and all{}", o.profile_level,
         did_you_mean(o.profile_level, std::array{"off", "csv", "all"}));
  }
  for (const std::string& id : split_list(o.profile_cores)) {
    if (id.size() > 9 || !std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; }))
      fail(Fault::Input, "--profile-cores {}: numbers of cores are separated by |, such as 0|31", o.profile_cores);
  }
  if (!o.profile_kernels.empty() && o.profile_level != "all")
    fail(Fault::Input, "--profile-kernels needs --profile=all");
  if (!o.profile_cores.empty() && o.profile_level != "all") fail(Fault::Input, "--profile-cores needs --profile=all");
  if (!profile::is_timestamp(o.timestamp)) {
    fail(Fault::Input, "--timestamp {}: 14 digits are expected, such as 20240131235959", o.timestamp);
  }
  if (o.profile_level == "all" && o.mode == "functional")
    fail(Fault::Input, "--profile shows time; mode functional has none");
  if (!o.trace.empty() && o.mode == "functional") fail(Fault::Input, "--trace shows time; mode functional has none");
  if (o.explain && o.mode == "functional") fail(Fault::Input, "--explain is about time; mode functional has none");
  if (o.range && o.mode == "functional") fail(Fault::Input, "--range is about time; mode functional has none");
  if (!o.numerics.empty() && o.numerics != "events" && o.numerics != "shadow") {
    fail(Fault::Input, "--numerics={}: there are events and shadow{}", o.numerics,
         did_you_mean(o.numerics, std::array{"events", "shadow"}));
  }
  if (!o.what_if.empty() && o.numerics != "shadow") fail(Fault::Input, "--what-if needs --numerics=shadow");
  if (!o.numerics.empty() && o.mode == "timing") fail(Fault::Input, "--numerics looks at data; mode timing has none");
  if (o.report && o.mode == "functional" && o.numerics.empty() && !o.check) {
    fail(Fault::Input, "--report shows time, numeric events and findings; mode functional alone has none of them");
  }
}

void add_options(CLI::App& command, Options& o) {
  command.add_option(
      "--chip", o.chip,
      "Built-in chip (see `vinci chips`) or chip file; the usual one of the stream's architecture if not given");
  command.add_option("--set", o.overrides, "Override a value of the chip, e.g. core.cube.startup=30; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option("--mode", o.mode,
                  "full: data and time; functional: data only, on the untimed machine; timing: time only")
      ->capture_default_str();
  command.add_option(
      "-o,--out,--output", o.out,
      "Output folder; if not given, out/<folder>-<name> for TASKS = <folder>/<name>.yaml, out/<name> for one of this "
      "folder");
  command
      .add_option(
          "--max-cycles", o.max_cycles,
          "Stop with exit code 7 after so many simulated cycles of the whole run; in mode functional, which "
          "has no cycles, after so many instructions of all cores together, and after so many steps of loops of "
          "the host and repeated tasks of models; no limit if not given")
      ->transform(integer(1, 1'000'000'000'000'000));
  command
      .add_option("--threads", o.threads,
                  "Threads of the host that move data in mode full; results do not depend on it. 0: one for each "
                  "processor")
      ->capture_default_str()
      ->transform(integer(0, 1024));
  command.add_flag("--simulate-equal", o.simulate_equal,
                   "In mode timing, also simulate launches of kernels again that begin as an equal one before them "
                   "began; results do "
                   "not depend on it (docs/performance.md)");
  command.add_option("--seed", o.seed, "Seed of buffers that the task stream fills with random values")
      ->capture_default_str()
      ->transform(integer());
  command.add_flag(
      "--trace{json}", o.trace,
      "Also write the timeline and instructions.csv. json: trace.json; --trace=perfetto: trace.perfetto-trace, "
      "for long runs: smaller, and not bound to what a browser can parse as JSON");
  command.add_flag(
      "--profile{all}", o.profile_level,
      "Files with the names and columns of the vendor's profiler. --profile=csv, the default: op_summary, "
      "op_statistic, task_time, step_trace; all, or --profile alone: also msprof_<time>.json and, for each core, "
      "timeline and costs of instructions and lines in OPPROF_<time>_VINCI/simulator; off: none");
  command.add_option("--profile-kernels", o.profile_kernels,
                     "Of --profile=all, show in the simulator folder only kernels whose names begin so: Add|Sub");
  command.add_option("--profile-cores", o.profile_cores, "The same for the cores of these numbers: 0|31");
  command
      .add_option("--timestamp", o.timestamp,
                  "The <time> in the names of these files, 14 digits YYYYMMDDhhmmss; the times in them count from "
                  "simulated time zero, whatever it says")
      ->capture_default_str();
  command.add_flag(
      "--numerics{events}", o.numerics,
      "Also count overflows, NaN, saturation, subnormals, results flushed to zero and absorbed addends of every\n"
      "instruction, with first occurrences: numerics.json, numerics.csv, opdebug.json. --numerics=shadow: also errors "
      "of\n"
      "results and outputs against a reference in double, by line and task");
  command.add_option(
      "--what-if", o.what_if,
      "With --numerics=shadow, also the errors of the outputs if a line, a task or `all` had another format:\n"
      "LINE=f32, TASK=bf16, all=f64; own*2^10 keeps formats, with a loss scale of 2^10; own@reversed keeps them, with\n"
      "another order of sums (sequential, reversed, pairwise)");
  command.add_flag(
      "--check", o.check,
      "Look for races, reads of what was never written, accesses outside and flags that do not pair; what is "
      "found is printed and written to findings.json, with exit code 3");
  command.add_flag(
      "--explain", o.explain,
      "Also say why the kernels take their time: shares of the critical path, lines, what each cost is worth, advice; "
      "printed and written to explain.json. Simulates up to ten times more; `vinci explain` does it later");
  command.add_flag(
      "--range", o.range,
      "Also say how far off the time may be by what the chip assumes: simulates again with each assumed cost at both "
      "ends\n"
      "of its range (docs/chips.md), in processes; printed and written to range.json");
  command.add_flag(
      "--cold", o.cold,
      "Print kernel times with the cold start, as a first launch takes; without it, times are warm and the "
      "cold start is a row of its own");
  command.add_flag(
      "--report", o.report,
      "Also make report.html, one page with timeline, pipes, roofline, traffic, numeric events and findings, "
      "from these files; `vinci report` makes it later");
  command.add_flag("-q,--quiet", o.quiet, "Print nothing but errors and findings");
}

}  // namespace vinci::run
