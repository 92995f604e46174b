// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "isa/base/error.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "sim/task/load.h"
#include "tools/explain/range.h"
#include "tools/run/interrupts.h"
#include "tools/run/run.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"
#include "tools/vinci/step_progress.h"

namespace vinci::cli {
namespace {

struct ExplainOptions {
  std::string run, chip, output;
  std::vector<std::string> overrides;
  u64 seed = 0;
  u32 kernels = 5, limits = 4, jobs = std::max(1u, std::thread::hardware_concurrency());
  bool range = false, cold = false;
};

// The task stream of a run, from its folder.
std::string task_stream_of(const std::string& folder) {
  const std::string file = folder + "/run-info.json";
  if (!std::filesystem::exists(file))
    fail_at(Fault::Input, folder, "no run-info.json: this is neither the output folder of a run nor a task stream");
  std::string stream;
  try {
    stream = nlohmann::json::parse(io::read_file(file)).at("task_stream");
  } catch (const nlohmann::json::exception& e) {
    fail_at(Fault::Input, file, "not as `vinci run` writes it: {}", e.what());
  }
  if (!std::filesystem::exists(stream)) {
    fail_at(Fault::Input, file,
            "its task stream '{}' is gone; a program of `vinci cc` is explained while it runs: vinci sim --explain",
            stream);
  }
  return stream;
}

explain::Explanation with_progress(const config::ChipConfig& chip, const task::TaskStream& stream,
                                   explain::Options options) {
  StepProgress progress;
  options.progress = [&](std::string_view what) { progress.show(fmt::format("simulates {}", what)); };
  return explain::explain(chip, stream, options);
}

explain::TimeRange range_with_progress(const config::ChipConfig& chip, const task::TaskStream& stream,
                                       explain::Options options, unsigned jobs) {
  StepProgress progress;
  options.progress = [&](std::string_view what) { progress.show(fmt::format("simulates {}", what)); };
  return explain::time_range(chip, stream, options, jobs);
}

void explain_run(const ExplainOptions& o) {
  const bool folder = std::filesystem::is_directory(o.run);
  std::optional<io::FolderLock> lock;
  if (folder) lock.emplace(o.run, io::FolderLock::Use::read);
  const task::TaskStream stream = task::load_task_stream(folder ? task_stream_of(o.run) : o.run);
  const std::string chip_name = !o.chip.empty() ? o.chip
                                : folder        ? o.run + "/chip.yaml"
                                                : std::string(run::default_chip(stream.arch));
  const config::ChipConfig chip = config::load_chip(chip_name, o.overrides);
  run::catch_interrupts();
  explain::Options options{.seed = o.seed, .limits = o.limits, .kernels = o.kernels, .interrupted = run::interrupted};
  const explain::Explanation why = with_progress(chip, stream, options);
  print_out(explain::to_text(why, chip.clock, o.kernels, o.cold));
  const std::string json = !o.output.empty() ? o.output : folder ? o.run + "/explain.json" : std::string();
  if (!json.empty()) {
    lock.reset();
    io::remove_abandoned_beside(json);
    io::write_file_atomically(json, explain::to_json(why, chip.clock));
  }
  if (!o.range) return;
  const explain::TimeRange range = range_with_progress(chip, stream, options, o.jobs);
  print_out("\n" + explain::range_text(range, chip.clock));
  if (folder) io::write_file_atomically(o.run + "/range.json", explain::range_json(range, chip.clock));
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("explain", "Say why the kernels of a run take their time");
  const auto o = std::make_shared<ExplainOptions>();
  sub->add_option("RUN", o->run, "Output folder of a run, or a task stream")->required();
  sub->add_option("--chip", o->chip, "Built-in chip or chip file; that of the run if not given");
  sub->add_option("--set", o->overrides, "Override a value of the chip; may be repeated")->allow_extra_args(false);
  sub->add_option("--seed", o->seed, "Seed of buffers that the task stream fills with random values")
      ->capture_default_str()
      ->transform(integer());
  sub->add_option("--kernels", o->kernels, "Explain so many kernels, those that take longest")
      ->capture_default_str()
      ->transform(integer(1, 1000));
  sub->add_option("--limits", o->limits, "Simulate without each of so many costs of a kernel; 0: none")
      ->capture_default_str()
      ->transform(integer(0, 20));
  sub->add_option("-o,--output", o->output, "explain.json; of a folder FOLDER/explain.json if not given");
  sub->add_flag("--range", o->range,
                "Also say how far off the time may be by what the chip assumes; of a folder written to range.json");
  sub->add_option("-j,--jobs", o->jobs, "Processes of --range; one for each processor if not given")
      ->transform(integer(1, 1024));
  sub->add_flag("--cold", o->cold, "Print times with the cold start, as a first launch takes");
  sub->footer(
      "Prints shares of the critical path, which add up to 100 %, the lines on it, what each cost is worth, and "
      "advice.\n"
      "Example: vinci explain out/gemm");
  sub->callback([o] { explain_run(*o); });
}

}  // namespace vinci::cli
