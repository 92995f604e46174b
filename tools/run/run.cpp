// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "isa/check/checker.h"
#include "models/soc/functional.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/trace/chrome_trace.h"
#include "sim/trace/instruction_csv.h"
#include "sim/trace/perfetto_trace.h"
#include "tools/explain/explain.h"
#include "tools/explain/range.h"
#include "tools/results/findings.h"
#include "tools/results/numerics.h"
#include "tools/results/outputs.h"
#include "tools/results/shadow.h"
#include "tools/run/arguments.h"
#include "tools/run/interrupts.h"
#include "tools/run/report.h"
#include "tools/run/run_info.h"
#include "tools/run/summary.h"

namespace vinci::run {

std::string_view default_chip(isa::Arch arch) {
  switch (arch) {
    case isa::Arch::m100: return "ascend-310";
    case isa::Arch::c100: return "ascend-910a";
    case isa::Arch::m200: return "ascend-310p3";
    case isa::Arch::c220: return "ascend-910b1";
  }
  return "ascend-910b1";
}

Run::Run(const Options& o, const task::TaskStream& stream, Host host, std::FILE* out,
         std::shared_ptr<const io::LockedFolder> reserved)
    : o_(o),
      stream_(stream),
      host_(host),
      print_to_(out),
      chip_(config::load_chip(o.chip.empty() ? std::string(default_chip(stream.arch)) : o.chip, o.overrides)),
      out_(o.out, o.file, o.chip, stream, std::move(reserved)),
      line_(o.quiet, chip_.clock) {
  // The chip comes first: it shows before a long run whether the folder can be written at all.
  for (const results::OutputFile* file : results::kOutputFiles) {
    if (file->early) io::write_file_atomically(out_.path(std::string(file->name)), file->contents(ended(nullptr)));
  }
  memory_.emplace(stream, o.mode != "timing", o.seed);
  if (o_.check) checker_ = std::make_unique<isa::check::Checker>(memory_->gm());
  if (o_.mode != "functional") make_sinks();
  if (o_.explain) causes_.emplace();
  if (o_.numerics == "shadow") census_.shadow = std::make_shared<isa::Shadow>();
  if (!o_.what_if.empty()) census_.what_if = std::make_shared<isa::Shadow>(results::parse_what_if(o_.what_if, stream_));
}

Run::~Run() = default;

void Run::print(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), print_to_); }

models::Options Run::model_options() {
  models::Options out{.max_cycles = o_.max_cycles,
                      .interrupted = interrupted,
                      .census = o_.numerics.empty() ? nullptr : &census_,
                      .checker = checker_.get(),
                      .recall = !o_.simulate_equal,
                      .threads = o_.threads};
  if (line_.enabled()) out.progress = [this](const models::Progress& p) { line_.show(p); };
  if (tee_) out.trace = &*tee_;
  if (tables_) out.tasks = &*tables_;
  if (causes_) out.causes = &*causes_;
  return out;
}

void Run::make_sinks() {
  if (!o_.trace.empty()) {
    sinks_.push_back(make_timeline());
    sinks_.push_back(std::make_unique<trace::InstructionCsv>(out_.path("instructions.csv")));
  }
  const bool all = o_.profile_level == "all";
  if (all) {
    const u32 vectors = chip_.vector_cores / std::max(1u, chip_.ai_cores);
    sinks_.push_back(std::make_unique<profile::SimulatorTree>(
        out_.path(profile::simulator_folder(o_.timestamp)) + "/simulator", chip_.clock, vectors, filter()));
  }
  std::vector<trace::Sink*> shown;
  for (const auto& sink : sinks_)
    shown.push_back(sink.get());
  if (!shown.empty()) tee_.emplace(std::move(shown));
  if (o_.profile_level == "off") return;
  tables_.emplace(out_.folder(), o_.timestamp, all ? profile::Level::all : profile::Level::csv, chip_, stream_);
}

profile::TreeFilter Run::filter() const {
  profile::TreeFilter out{.kernels = split_list(o_.profile_kernels), .cores = {}};
  for (const std::string& id : split_list(o_.profile_cores))
    out.cores.push_back(static_cast<u32>(parse_list("--profile-cores", id).front()));
  return out;
}

std::string Run::timeline_name() const { return o_.trace == "json" ? "trace.json" : "trace.perfetto-trace"; }

std::unique_ptr<trace::FileSink> Run::make_timeline() const {
  const std::string path = out_.path(timeline_name());
  if (o_.trace == "json") return std::make_unique<trace::ChromeTrace>(path, chip_.clock);
  return std::make_unique<trace::PerfettoTrace>(path, chip_.clock);
}

void Run::commit() {
  for (const auto& sink : sinks_)
    sink->commit();
  if (tables_) tables_->commit();
}

void Run::advance(const std::function<void(models::Session&)>& step) {
  try {
    if (!session_) session_.emplace(chip_, stream_, *memory_, model_options(), host_);
    step(*session_);
  } catch (const Error& e) {
    keep_timeline(e);
    explain(e);
    throw;
  }
}

// The timeline up to a fault shows the way to it; the disk may not take it.
void Run::keep_timeline(const Error& fault) {
  try {
    commit();
  } catch (const Error& lost) {
    if (lost.message() != fault.message())
      throw Error(fault.fault(), fmt::format("{}\n{}", fault.message(), lost.what()), fault.location());
  }
}

// What came before the fault may be its cause.
void Run::explain(const Error& fault) {
  write_files(ended(&fault));
  if (checker_) report_findings(&fault);
  if (o_.report && (!o_.numerics.empty() || checker_)) write_report(out_.folder());
}

// Runs to the end in the mode that was asked for; returns the summary.
std::string Run::execute() {
  catch_interrupts();
  if (o_.mode == "functional") {
    try {
      instructions_ = models::run_functional(chip_, stream_, *memory_, model_options());
    } catch (const Error& e) {
      explain(e);
      throw;
    }
    return fmt::format("{} on {} ({}), mode functional (no time)\n\ninstructions        {}\n", stream_.name, chip_.name,
                       chip_.product, instructions_);
  }
  models::Result& result = result_.emplace();
  advance([&](models::Session& session) { result = session.finish(); });
  commit();
  instructions_ = result.instructions;
  if (result.threads_missing > 0)
    fmt::print(stderr, "vinci: the system refused to start more threads; {} fewer did the work\n",
               result.threads_missing);
  return summary(chip_, stream_, result, o_.mode, o_.cold);
}

void Run::finish() {
  std::string text = execute();
  const results::EndedRun end = ended(nullptr);
  write_files(end);
  if (end.census != nullptr) text += results::numerics_summary(end.census_report());
  if (o_.explain) text += write_explanation();
  if (o_.range) text += write_range();
  const std::vector<std::string> outputs = memory_->write_outputs(out_.folder());
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  io::write_file_atomically(out_.path("summary.txt"), text);
  io::write_file_atomically(out_.path("run-info.json"),
                            run_info_json(o_.file, wall, instructions_, result_ ? result_->equal_launches : 0));
  if (!o_.quiet) print_result(text, outputs, wall);
  if (checker_) report_findings(nullptr);
  if (o_.report) {
    const std::string page = write_report(out_.folder());
    if (!o_.quiet) print(fmt::format("report              {} (open it in a browser)\n", page));
  }
  // A run with findings is not a success.
  if (checker_ && !checker_->findings().empty()) {
    fail(Fault::Program, "the check found faults in the program; all of them are in {}", out_.path("findings.json"));
  }
}

void Run::print_result(const std::string& text, const std::vector<std::string>& outputs, double wall) const {
  print(text);
  print(fmt::format("\nsimulator           {:.3f} s, {:.2f} M instructions/s\n", wall,
                    static_cast<double>(instructions_) / wall * 1e-6));
  if (result_ && result_->equal_launches > 0) {
    print(fmt::format("equal launches      {}, which took what an equal one before them took\n",
                      result_->equal_launches));
  }
  print(fmt::format("output folder       {}\n", out_.folder()));
  for (const std::string& name : outputs)
    print(fmt::format("result              {}\n", out_.path(name)));
  if (!o_.trace.empty()) {
    print(fmt::format("timeline            {} (open it in ui.perfetto.dev{})\n", out_.path(timeline_name()),
                      o_.trace == "json" ? " or chrome://tracing" : ""));
  }
}

void Run::report_findings(const Error* cut_short) const {
  constexpr usize kShown = 20;
  if (!o_.quiet || cut_short != nullptr || !checker_->findings().empty())
    print(results::findings_text(checker_->findings(), kShown, cut_short));
}

std::string Run::write_explanation() {
  constexpr usize kExplained = 5;
  explain::Explanation why = causes_->take();
  session_.reset();
  try {
    explain::add_limits(why, chip_, stream_,
                        {.seed = o_.seed, .max_cycles = o_.max_cycles, .interrupted = interrupted});
  } catch (const Error& e) {
    // A recording may hold what only the run itself could do; the path is known without.
    if (e.fault() != Fault::Unsupported && e.fault() != Fault::Program) throw;
  }
  io::write_file_atomically(out_.path("explain.json"), explain::to_json(why, chip_.clock));
  return "\n" + explain::to_text(why, chip_.clock, kExplained, o_.cold);
}

std::string Run::write_range() {
  session_.reset();
  try {
    const explain::TimeRange range =
        explain::time_range(chip_, stream_, {.seed = o_.seed, .max_cycles = o_.max_cycles, .interrupted = interrupted},
                            o_.jobs > 0 ? o_.jobs : std::max(1u, std::thread::hardware_concurrency()));
    io::write_file_atomically(out_.path("range.json"), explain::range_json(range, chip_.clock));
    return "\n" + explain::range_text(range, chip_.clock);
  } catch (const Error& e) {
    // A recording may hold what only the run itself could do.
    if (e.fault() != Fault::Unsupported && e.fault() != Fault::Program) throw;
    return fmt::format("\nno range of the time: {}\n", e.what());
  }
}

results::EndedRun Run::ended(const Error* cut_short) const {
  const isa::Census* census = o_.numerics.empty() ? nullptr : &census_;
  results::EndedRun out{.chip = chip_, .stream = stream_, .census = census, .cut_short = cut_short};
  if (result_ && cut_short == nullptr) out.result = &*result_;
  if (checker_) out.findings = &checker_->findings();
  if (memory_) out.shadow = results::shadow_of(census, stream_, *memory_);
  return out;
}

void Run::write_files(const results::EndedRun& run) const {
  results::for_each_output(run, [&](std::string_view name, const std::string& contents) {
    io::write_file_atomically(out_.path(std::string(name)), contents);
  });
}

}  // namespace vinci::run
