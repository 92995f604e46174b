// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "isa/base/suggest.h"
#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/task/load.h"
#include "sim/trace/chrome_trace.h"
#include "sim/trace/instruction_csv.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"
#include "tools/vinci/progress.h"
#include "tools/vinci/summary.h"

namespace vinci::cli {
namespace {

using Json = nlohmann::ordered_json;

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
  bool trace = false;
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

// out/<folder>-<name> of the task stream, so that gemm.yaml of two folders do not share one.
std::string default_folder(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  const std::string folder = path.parent_path().filename().string();
  const std::string stem = path.stem().string();
  return "out/" + (folder.empty() || folder == ".." || folder == "." ? stem : folder + "-" + stem);
}

// Names that a run writes itself, whatever the task stream.
constexpr std::array kOwnFiles{"summary.txt", "stats.json", "run-info.json",
                               "chip.yaml",   "trace.json", "instructions.csv"};

// Everything that is not the same in each run: it stays out of stats.json.
Json run_info(const RunOptions& o, double wall, u64 instructions) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return {{"version", VINCI_VERSION},
          {"task_stream", std::filesystem::absolute(o.file).string()},
          {"finished", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"host", host},
          {"wall_seconds", wall},
          {"instructions_per_second", static_cast<double>(instructions) / wall},
          {"peak_rss_kib", usage.ru_maxrss}};
}

Json stats(const RunOptions& o, const config::ChipConfig& chip, const task::TaskStream& stream,
           const models::Result& r) {
  Json tasks = Json::array();
  for (const models::TaskTime& t : r.tasks) {
    tasks.push_back({{"name", t.name},
                     {"type", t.kind},
                     {"stream", t.stream},
                     {"blocks", t.blocks},
                     {"bytes", t.bytes},
                     {"enqueued", t.enqueued},
                     {"start", t.start},
                     {"end", t.end}});
  }
  Json pipes = Json::array();
  for (const models::PipeTime& p : r.pipes) {
    pipes.push_back(
        {{"core", p.core}, {"pipe", isa::name(p.pipe)}, {"busy", p.busy}, {"stalled", p.stalled}, {"idle", p.idle}});
  }
  // Modes full and timing give the same numbers, so the mode is not among them.
  (void)o;
  return {{"format", 1},
          {"task_stream", stream.name},
          {"chip", chip.name},
          {"clock_hz", chip.clock.value},
          {"cycles", r.cycles},
          {"seconds", r.seconds},
          {"instructions", r.instructions},
          {"cube_macs", r.cube_macs},
          {"tasks", std::move(tasks)},
          {"pipes", std::move(pipes)},
          {"counters", r.stats}};
}

class Run {
 public:
  explicit Run(const RunOptions& o)
      : o_(o),
        stream_(task::load_task_stream(o.file)),
        chip_(config::load_chip(o.chip.empty() ? std::string(default_chip(stream_.arch)) : o.chip, o.overrides)),
        out_(o.out.empty() ? default_folder(o.file) : o.out) {
    if (o.mode != "full" && o.mode != "functional" && o.mode != "timing") {
      fail(Fault::Input, "--mode {}: the modes are full, functional and timing{}", o.mode,
           did_you_mean(o.mode, std::array{"full", "functional", "timing"}));
    }
    if (o.trace && o.mode == "functional") fail(Fault::Input, "--trace shows time; mode functional has none");
    std::error_code error;
    std::filesystem::create_directories(out_, error);
    if (error) fail_at(Fault::Input, out_, "cannot make the output folder: {}", error.message());
    prepare_folder();
  }

  void run() {
    const auto begin = std::chrono::steady_clock::now();
    task::RunMemory memory(stream_, o_.mode != "timing", o_.seed);
    ProgressLine line(o_.quiet, chip_.clock);
    std::function<void(const models::Progress&)> progress;
    if (line.enabled()) progress = [&](const models::Progress& p) { line.show(p); };

    std::string text;
    u64 instructions = 0;
    if (o_.mode == "functional") {
      instructions = models::run_functional(chip_, stream_, memory, o_.max_cycles, progress);
      text = fmt::format("{} on {} ({}), mode functional (no time)\n\ninstructions        {}\n", stream_.name,
                         chip_.name, chip_.product, instructions);
    } else {
      const models::Result result = simulate(memory, progress);
      instructions = result.instructions;
      text = summary(chip_, stream_, result, o_.mode);
      io::write_file_atomically(path("stats.json"), stats(o_, chip_, stream_, result).dump(2) + "\n");
    }
    const std::vector<std::string> outputs = memory.write_outputs(out_);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    io::write_file_atomically(path("summary.txt"), text);
    io::write_file_atomically(path("run-info.json"), run_info(o_, wall, instructions).dump(2) + "\n");
    if (o_.quiet) return;
    print_out(text);
    print_out(fmt::format("\nsimulator           {:.3f} s, {:.2f} M instructions/s\n", wall,
                          static_cast<double>(instructions) / wall * 1e-6));
    print_out(fmt::format("output folder       {}\n", out_));
    for (const std::string& name : outputs)
      print_out(fmt::format("result              {}\n", path(name)));
    if (o_.trace) {
      print_out(
          fmt::format("timeline            {} (open it in ui.perfetto.dev or chrome://tracing)\n", path("trace.json")));
    }
  }

 private:
  std::string path(const std::string& name) const { return out_ + "/" + name; }

  // Refuses to overwrite what the run reads, and removes what an earlier run left, so that a run that fails is not
  // mistaken for the one before. Writing the chip first shows early whether the folder can be written at all.
  void prepare_folder() const {
    const std::filesystem::path folder(stream_.folder);
    std::vector<std::string> inputs{o_.file};
    for (const task::Kernel& k : stream_.kernels)
      inputs.push_back((folder / k.program.source).string());
    if (!o_.chip.empty()) inputs.push_back(o_.chip);
    std::vector<std::string> outputs(kOwnFiles.begin(), kOwnFiles.end());
    for (const task::Buffer& b : stream_.buffers) {
      if (!b.file.empty()) inputs.push_back((folder / b.file).string());
      if (b.output.empty()) continue;
      const std::string output = std::filesystem::path(b.output).lexically_normal().string();
      if (std::ranges::find(kOwnFiles, output) != kOwnFiles.end()) {
        fail_at(Fault::Input, o_.file, "buffer '{}' writes '{}', which is a file of every run; choose another name",
                b.name, b.output);
      }
      outputs.push_back(b.output);
    }
    std::error_code ignored;
    for (const std::string& out : outputs) {
      for (const std::string& in : inputs) {
        if (std::filesystem::equivalent(path(out), in, ignored)) {
          fail_at(Fault::Input, path(out), "the run would replace its own input; choose another folder with --out");
        }
      }
    }
    for (const std::string& out : outputs)
      std::filesystem::remove(path(out), ignored);
    io::write_file_atomically(path("chip.yaml"), config::write_chip(chip_));
  }

  models::Result simulate(task::RunMemory& memory, const std::function<void(const models::Progress&)>& progress) {
    catch_interrupts();
    models::Options options{
        .max_cycles = o_.max_cycles, .interrupted = [] { return g_interrupted != 0; }, .progress = progress};
    if (!o_.trace) return models::simulate(chip_, stream_, memory, options);
    trace::ChromeTrace timeline(path("trace.json"), chip_.clock);
    trace::InstructionCsv instructions(path("instructions.csv"));
    trace::Tee both({&timeline, &instructions});
    options.trace = &both;
    const auto commit = [&] {
      timeline.commit();
      instructions.commit();
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

  const RunOptions& o_;
  task::TaskStream stream_;
  config::ChipConfig chip_;
  std::string out_;
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
  sub->add_option("--out", o->out, "Output folder; out/<folder>-<name of TASKS> if not given");
  sub->add_option("--max-cycles", o->max_cycles,
                  "Stop with exit code 7 when this much is simulated (instructions, in mode functional)")
      ->capture_default_str()
      ->check(CLI::Range(u64{1}, u64{1'000'000'000'000'000}));
  sub->add_option("--seed", o->seed, "Seed of buffers that the task stream fills with random values")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--trace", o->trace, "Also write trace.json (timeline) and instructions.csv");
  sub->add_flag("-q,--quiet", o->quiet, "Print nothing but errors");
  sub->footer(
      "Writes summary.txt, stats.json, run-info.json, chip.yaml and the outputs of the task stream into the folder.\n"
      "Example: vinci run gemm/gemm.yaml --chip ascend-910b1 --trace --out out/gemm");
  sub->callback([o] { Run(*o).run(); });
}

}  // namespace vinci::cli
