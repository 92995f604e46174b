// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "sim/io/temp_folder.h"
#include "tools/run/interrupts.h"
#include "tools/vinci/commands.h"
#include "tools/vinci/options.h"
#include "tools/vinci/step_progress.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kPointFailed = 1;
constexpr usize kShown = 10;

struct SweepOptions {
  std::string file, job, folder;
  unsigned jobs = 1;
  bool slurm = false, list = false, retry = false, quiet = false;
  std::vector<std::string> slurm_options;
};

// A command line of this tool, in this process.
void run_words(std::vector<std::string> words) {
  CLI::App app{"", "vinci"};
  app.require_subcommand(1);
  add_run(app);
  add_gen(app);
  add_compile(app);
  std::ranges::reverse(words);  // as the parser takes them
  try {
    app.parse(words);
  } catch (const CLI::RuntimeError&) {
    throw;
  } catch (const CLI::ParseError& e) {
    fail(Fault::Input, "{}", e.what());
  }
}

// Runs the job of a file, as a worker, and writes its result into the folder of results.
void do_job(const std::string& file) {
  const sweep::Job job = sweep::read_job(file);
  const fs::path folder = fs::path(file).parent_path().parent_path();
  const io::TempFolder work("vinci-sweep");
  const sweep::Result result = sweep::do_job(job, work.path(), run_words);
  io::write_file_atomically((folder / "results" / (job.key + ".json")).string(), sweep::to_json(result));
}

std::string default_folder(const std::string& file) { return "out/" + fs::path(file).stem().string(); }

std::unique_ptr<sweep::Executor> make_executor(const SweepOptions& o, const std::string& folder) {
  const std::string tool = fs::read_symlink("/proc/self/exe");
  if (o.slurm) return std::make_unique<sweep::SlurmExecutor>(tool, folder, o.jobs, o.slurm_options);
  return std::make_unique<sweep::LocalExecutor>(tool, folder, o.jobs);
}

void print_points(const sweep::Definition& d) {
  if (d.optimise) return print_out(fmt::format("{} points that the optimiser chooses\n", d.optimise->trials));
  const std::vector<sweep::Point> points = sweep::points(d);
  for (usize i = 0; i < points.size(); ++i) {
    std::string line = fmt::format("{:>6}", i);
    for (const sweep::Setting& s : points[i])
      line += fmt::format("  {}={}", s.key, s.value);
    print_out(line + "\n");
  }
}

void run_points(const SweepOptions& o, const sweep::Definition& definition) {
  const io::LockedFolder folder(o.folder.empty() ? default_folder(o.file) : o.folder);
  StepProgress progress;
  sweep::Request request{.folder = folder.path(), .retry = o.retry, .interrupted = run::interrupted, .progress = {}};
  if (!o.quiet) {
    request.progress = [&](const sweep::Progress& p) {
      progress.show(
          fmt::format("point {} of {}{}", p.done, p.all, p.failed > 0 ? fmt::format(", {} failed", p.failed) : ""));
    };
  }
  run::catch_interrupts();
  const std::unique_ptr<sweep::Executor> executor = make_executor(o, folder.path());
  const sweep::Outcome outcome = sweep::run_sweep(definition, request, *executor);
  io::write_file_atomically(folder.path() + "/sweep.csv", sweep::to_csv(outcome));
  io::write_file_atomically(folder.path() + "/index.html", sweep::to_html(definition, outcome));
  const usize failed = outcome.failed();
  if (!o.quiet) {
    print_out(
        fmt::format("{}: {}, {} known, {} failed\n\n{}\ntable    {}/sweep.db, sweep.csv\npage     {}/index.html\n",
                    definition.name, counted(outcome.rows.size(), "point"), outcome.known, failed,
                    sweep::to_text(outcome, kShown), folder.path(), folder.path()));
  }
  if (failed == 0) return;
  const auto first = std::ranges::find_if(outcome.rows, [](const sweep::Row& r) { return !r.error.empty(); });
  fmt::print(stderr, "vinci: {} failed, the first with: {}\n", counted(failed, "point"), first->error);
  throw CLI::RuntimeError(kPointFailed);
}

void sweep_points(const SweepOptions& o) {
  if (!o.job.empty()) return do_job(o.job);
  if (o.file.empty()) fail(Fault::Input, "vinci sweep needs a file that says which points; see docs/sweep.md");
  if (!o.slurm_options.empty() && !o.slurm) fail(Fault::Input, "--slurm-option belongs to --slurm");
  const sweep::Definition definition = sweep::read_definition(o.file);
  if (o.list) return print_points(definition);
  run_points(o, definition);
}

}  // namespace

void add_sweep(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("sweep", "Simulate many points: values of a chip, of a generator, of the compiler");
  const auto o = std::make_shared<SweepOptions>();
  o->jobs = std::max(1u, std::thread::hardware_concurrency());
  sub->add_option("POINTS", o->file, "A .yaml file with a command, a chip, and which of their values change");
  sub->add_option("-o,--output", o->folder, "Folder for sweep.db, sweep.csv and index.html; out/NAME if not given");
  sub->add_option("--jobs", o->jobs, "Points that are simulated at the same time; one for each processor if not given")
      ->transform(integer(1, 1024));
  sub->add_flag("--list", o->list, "Only list the points");
  sub->add_flag("--retry", o->retry, "Try points again that failed");
  sub->add_flag("--slurm", o->slurm, "Submit the points to Slurm as job arrays; the folder must be seen by its nodes");
  sub->add_option("--slurm-option", o->slurm_options, "An option of sbatch, --partition=short; may be repeated")
      ->allow_extra_args(false);
  sub->add_flag("-q,--quiet", o->quiet, "No progress and no table");
  sub->add_option("--job", o->job, "")->group("");  // what a worker is given
  sub->footer(
      "Points that sweep.db has already are not simulated again, so the same command goes on after an interruption.\n"
      "Exit code 0 if all points were simulated, 1 if one failed. Errors as everywhere.\n"
      "Example: vinci sweep examples/sweep/buffers.yaml --jobs 4");
  sub->callback([o] { sweep_points(*o); });
}

}  // namespace vinci::cli
