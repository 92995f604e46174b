// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>

#include "isa/base/suggest.h"
#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/task/load.h"
#include "sim/trace/chrome_trace.h"
#include "sim/trace/instruction_csv.h"
#include "sim/trace/perfetto_trace.h"
#include "tools/profile/profile.h"
#include "tools/profile/simulator_tree.h"
#include "tools/results/findings.h"
#include "tools/results/stats_json.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/numerics.h"
#include "tools/vinci/options.h"
#include "tools/vinci/output_folder.h"
#include "tools/vinci/progress.h"
#include "tools/vinci/report.h"
#include "tools/vinci/run_info.h"
#include "tools/vinci/summary.h"

namespace vinci::cli {
namespace {

// Set by the first Ctrl-C, which lets a timed run end in order: no half-written file, the timeline kept. The second one
// ends the process at once.
volatile std::sig_atomic_t g_interrupted = 0;

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { g_interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    ::sigaction(signal, &action, nullptr);
}

struct RunOptions {
  std::string file;
  std::string chip;
  std::vector<std::string> overrides;
  std::string mode = "full";
  std::string out;
  u64 max_cycles = 1'000'000'000'000;
  u64 seed = 0;
  u32 threads = 0;
  std::string trace;                  // "", json, perfetto
  std::string profile_level = "csv";  // off, csv, all
  std::string timestamp{profile::kTimestamp};
  std::string profile_kernels, profile_cores;  // Add|Sub, 0|31
  bool numerics = false;
  bool check = false;
  bool report = false;
  bool quiet = false;
};

// The built-in chip that a task stream runs on when none is named.
std::string_view default_chip(isa::Arch arch) {
  switch (arch) {
    case isa::Arch::m100: return "ascend-310";
    case isa::Arch::c100: return "ascend-910a";
    case isa::Arch::m200: return "ascend-310p3";
    case isa::Arch::c220: return "ascend-910b1";
  }
  return "ascend-910b1";
}

// What the parser cannot check; before anything is read or made.
const RunOptions& checked(const RunOptions& o) {
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
  if (!profile::is_timestamp(o.timestamp)) {
    fail(Fault::Input, "--timestamp {}: 14 digits are expected, such as 20240131235959", o.timestamp);
  }
  if (o.profile_level == "all" && o.mode == "functional")
    fail(Fault::Input, "--profile shows time; mode functional has none");
  if (!o.trace.empty() && o.mode == "functional") fail(Fault::Input, "--trace shows time; mode functional has none");
  if (o.numerics && o.mode == "timing") fail(Fault::Input, "--numerics looks at data; mode timing has none");
  if (o.report && o.mode == "functional" && !o.numerics && !o.check) {
    fail(Fault::Input, "--report shows time, numeric events and findings; mode functional alone has none of them");
  }
  return o;
}

class Run {
 public:
  explicit Run(const RunOptions& o)
      : o_(checked(o)),
        stream_(task::load_task_stream(o.file)),
        chip_(config::load_chip(o.chip.empty() ? std::string(default_chip(stream_.arch)) : o.chip, o.overrides)),
        out_(o.out, o.file, o.chip, stream_) {
    // The chip comes first: it shows before a long run whether the folder can be written at all.
    io::write_file_atomically(out_.path("chip.yaml"), config::write_chip(chip_));
  }

  void run() {
    const auto begin = std::chrono::steady_clock::now();
    task::RunMemory memory(stream_, o_.mode != "timing", o_.seed);
    if (o_.check) checker_ = std::make_unique<isa::check::Checker>(memory.gm());
    ProgressLine line(o_.quiet, chip_.clock);
    std::function<void(const models::Progress&)> progress;
    if (line.enabled()) progress = [&](const models::Progress& p) { line.show(p); };

    u64 instructions = 0;
    std::string text;
    try {
      text = execute(memory, progress, instructions);
    } catch (const Error& e) {
      // What came before the fault may be its cause.
      if (o_.numerics) write_numerics();
      if (checker_) report_findings(&e);
      if (o_.report && (o_.numerics || checker_)) write_report(out_.folder());
      throw;
    }
    if (o_.numerics) text += write_numerics();
    const std::vector<std::string> outputs = memory.write_outputs(out_.folder());
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    io::write_file_atomically(out_.path("summary.txt"), text);
    io::write_file_atomically(out_.path("run-info.json"), run_info_json(o_.file, wall, instructions));
    if (!o_.quiet) print_result(text, outputs, wall, instructions);
    if (checker_) report_findings(nullptr);
    if (o_.report) {
      const std::string page = write_report(out_.folder());
      if (!o_.quiet) print_out(fmt::format("report              {} (open it in a browser)\n", page));
    }
    // A run with findings is not a success.
    if (checker_ && !checker_->findings().empty()) {
      fail(Fault::Program, "the check found faults in the program; all of them are in {}", out_.path("findings.json"));
    }
  }

 private:
  void print_result(const std::string& text, const std::vector<std::string>& outputs, double wall, u64 instructions) {
    print_out(text);
    print_out(fmt::format("\nsimulator           {:.3f} s, {:.2f} M instructions/s\n", wall,
                          static_cast<double>(instructions) / wall * 1e-6));
    print_out(fmt::format("output folder       {}\n", out_.folder()));
    for (const std::string& name : outputs)
      print_out(fmt::format("result              {}\n", out_.path(name)));
    if (!o_.trace.empty()) {
      print_out(fmt::format("timeline            {} (open it in ui.perfetto.dev{})\n", out_.path(timeline_name()),
                            o_.trace == "json" ? " or chrome://tracing" : ""));
    }
  }

  // Runs in the mode that was asked for; returns what there is to say about it.
  std::string execute(task::RunMemory& memory, const std::function<void(const models::Progress&)>& progress,
                      u64& instructions) {
    if (o_.mode == "functional") {
      const models::Options options{
          .max_cycles = o_.max_cycles, .census = census(), .progress = progress, .checker = checker_.get()};
      instructions = models::run_functional(chip_, stream_, memory, options);
      return fmt::format("{} on {} ({}), mode functional (no time)\n\ninstructions        {}\n", stream_.name,
                         chip_.name, chip_.product, instructions);
    }
    const models::Result result = simulate(memory, progress);
    instructions = result.instructions;
    io::write_file_atomically(out_.path("stats.json"), results::stats_json(chip_, stream_, result));
    return summary(chip_, stream_, result, o_.mode);
  }

  void report_findings(const Error* cut_short) {
    constexpr usize kShown = 20;
    io::write_file_atomically(out_.path("findings.json"), results::findings_json(checker_->findings(), cut_short));
    if (!o_.quiet || cut_short != nullptr || !checker_->findings().empty())
      print_out(results::findings_text(checker_->findings(), kShown, cut_short));
  }

  models::Result simulate(task::RunMemory& memory, const std::function<void(const models::Progress&)>& progress) {
    catch_interrupts();
    models::Options options{.max_cycles = o_.max_cycles,
                            .interrupted = [] { return g_interrupted != 0; },
                            .census = census(),
                            .progress = progress,
                            .checker = checker_.get(),
                            .threads = o_.threads};
    std::vector<std::unique_ptr<trace::FileSink>> shown = make_sinks();
    std::vector<trace::Sink*> sinks;
    for (const auto& sink : shown)
      sinks.push_back(sink.get());
    trace::Tee all(std::move(sinks));
    if (!shown.empty()) options.trace = &all;
    std::optional<profile::Profile> tables;
    if (o_.profile_level != "off") {
      tables.emplace(out_.folder(), o_.timestamp, o_.profile_level == "all" ? profile::Level::all : profile::Level::csv,
                     chip_, stream_);
      options.tasks = &*tables;
    }
    const auto commit = [&] {
      for (const auto& sink : shown)
        sink->commit();
      if (tables) tables->commit();
    };
    try {
      models::Result result = models::simulate(chip_, stream_, memory, options);
      commit();
      return result;
    } catch (const Error&) {
      commit();  // the way to the fault is what one wants to see
      throw;
    }
  }

  std::vector<std::unique_ptr<trace::FileSink>> make_sinks() const {
    std::vector<std::unique_ptr<trace::FileSink>> out;
    if (!o_.trace.empty()) {
      out.push_back(make_timeline());
      out.push_back(std::make_unique<trace::InstructionCsv>(out_.path("instructions.csv")));
    }
    if (o_.profile_level == "all") {
      const u32 vectors = chip_.vector_cores / std::max(1u, chip_.ai_cores);
      out.push_back(std::make_unique<profile::SimulatorTree>(
          out_.path(profile::simulator_folder(o_.timestamp)) + "/simulator", chip_.clock, vectors, filter()));
    }
    return out;
  }

  profile::TreeFilter filter() const {
    profile::TreeFilter out{.kernels = split_list(o_.profile_kernels), .cores = {}};
    for (const std::string& id : split_list(o_.profile_cores))
      out.cores.push_back(static_cast<u32>(parse_list("--profile-cores", id).front()));
    return out;
  }

  std::string timeline_name() const { return o_.trace == "json" ? "trace.json" : "trace.perfetto-trace"; }
  std::unique_ptr<trace::FileSink> make_timeline() const {
    const std::string path = out_.path(timeline_name());
    if (o_.trace == "json") return std::make_unique<trace::ChromeTrace>(path, chip_.clock);
    return std::make_unique<trace::PerfettoTrace>(path, chip_.clock);
  }

  isa::Census* census() { return o_.numerics ? &census_ : nullptr; }

  std::string write_numerics() const {
    const CensusReport report{chip_, stream_, census_};
    io::write_file_atomically(out_.path("numerics.json"), numerics_json(report));
    io::write_file_atomically(out_.path("numerics.csv"), numerics_csv(report));
    io::write_file_atomically(out_.path("opdebug.json"), opdebug_json(report));
    return numerics_summary(report);
  }

  const RunOptions& o_;
  task::TaskStream stream_;
  config::ChipConfig chip_;
  OutputFolder out_;
  isa::Census census_;
  std::unique_ptr<isa::check::Checker> checker_;
};

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("run", "Run a task stream on a simulated chip");
  const auto o = std::make_shared<RunOptions>();
  sub->add_option("TASKS", o->file, "Task stream (.yaml or .vts)")->required();
  sub->add_option(
      "--chip", o->chip,
      "Built-in chip (see `vinci chips`) or chip file; the usual one of the stream's architecture if not given");
  sub->add_option("--set", o->overrides, "Override a value of the chip, e.g. core.cube.startup=30; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--mode", o->mode,
                  "full: data and time; functional: data only, on the untimed machine; timing: time only")
      ->capture_default_str();
  sub->add_option(
      "--out", o->out,
      "Output folder; if not given, out/<folder>-<name> for TASKS = <folder>/<name>.yaml, out/<name> for one of this "
      "folder");
  sub->add_option("--max-cycles", o->max_cycles,
                  "Stop with exit code 7 after so many simulated cycles of the whole run; in mode functional, which "
                  "has no cycles, "
                  "after so many instructions of all cores together")
      ->capture_default_str()
      ->transform(integer(1, 1'000'000'000'000'000));
  sub->add_option("--threads", o->threads,
                  "Threads of the host that move data in mode full; results do not depend on it. 0: one for each "
                  "processor")
      ->capture_default_str()
      ->transform(integer(0, 1024));
  sub->add_option("--seed", o->seed, "Seed of buffers that the task stream fills with random values")
      ->capture_default_str()
      ->transform(integer());
  sub->add_flag(
      "--trace{json}", o->trace,
      "Also write the timeline and instructions.csv. json: trace.json; --trace=perfetto: trace.perfetto-trace, "
      "for long runs: smaller, and not bound to what a browser can parse as JSON");
  sub->add_flag(
      "--profile{all}", o->profile_level,
      "Files with the names and columns of the vendor's profiler. --profile=csv, the default: op_summary, "
      "op_statistic, task_time, step_trace; all, or --profile alone: also msprof_<time>.json and, for each core, "
      "timeline and costs of instructions and lines in OPPROF_<time>_VINCI/simulator; off: none");
  sub->add_option("--profile-kernels", o->profile_kernels,
                  "Of --profile=all, show in the simulator folder only kernels whose names begin so: Add|Sub");
  sub->add_option("--profile-cores", o->profile_cores, "The same for the cores of these numbers: 0|31");
  sub->add_option("--timestamp", o->timestamp,
                  "The <time> in the names of these files, 14 digits YYYYMMDDhhmmss; the times in them count from "
                  "simulated time zero, whatever it says")
      ->capture_default_str();
  sub->add_flag(
      "--numerics", o->numerics,
      "Also count overflows, NaN, saturation, subnormals, results flushed to zero and absorbed addends of every\n"
      "instruction, with first occurrences: numerics.json, numerics.csv, opdebug.json");
  sub->add_flag("--check", o->check,
                "Look for races, reads of what was never written, accesses outside and flags that do not pair; what is "
                "found is printed and written to findings.json, with exit code 3");
  sub->add_flag("--report", o->report,
                "Also make report.html, one page with timeline, pipes, roofline, traffic, numeric events and findings, "
                "from these files; `vinci report` makes it later");
  sub->add_flag("-q,--quiet", o->quiet, "Print nothing but errors and findings");
  sub->footer(
      "Writes summary.txt, stats.json, run-info.json, chip.yaml and the outputs of the task stream into the folder.\n"
      "Example: vinci run gemm/gemm.yaml --chip ascend-910b1 --trace --out out/gemm");
  sub->callback([o] { Run(*o).run(); });
}

}  // namespace vinci::cli
