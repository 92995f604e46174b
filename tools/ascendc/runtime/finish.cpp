// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// At the end of a program in Ascend C: writes its recorded task stream and simulates it. The simulation runs in the
// same process and by the code of `vinci run`, so both give the same files and figures.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "isa/program/loops.h"
#include "sim/io/atomic_file.h"
#include "sim/io/folder_lock.h"
#include "sim/task/fold.h"
#include "sim/task/load.h"
#include "sim/task/write.h"
#include "tools/ascendc/runtime/device.h"
#include "tools/run/run.h"

namespace vinci::ascendc {
namespace {

// Mode full: what the run gave the host must be what the program has seen. Natively a core executes in the order of its
// program, in time its pipes are side by side, so results differ where a program lacks synchronisation. The check finds
// that; with no findings, the difference is a fault of Vinci.
void compare(const Device& d, const std::string& folder, const Recorder& recorder, bool checked) {
  for (const auto& [file, seen] : recorder.results()) {
    const std::string text = io::read_file(fmt::format("{}/{}", folder, file));
    const auto bytes = io::as_bytes(text);
    const auto [a, b] = std::ranges::mismatch(bytes, seen);
    if (a == bytes.end() && b == seen.end()) continue;
    const std::string what = fmt::format("mode full: {} of {} differs from what the program got, at byte {}", file,
                                         d.chip().name, a - bytes.begin());
    if (checked) fail(Fault::Internal, "{}, and the check has no findings", what);
    fail(Fault::Program,
         "{}: the result depends on the order of pipes, blocks or tasks, as where a flag, a barrier or an event is "
         "missing; --check names the place (VINCI_RUN_OPTIONS=--check)",
         what);
  }
}

// The output folder is reserved from the first file in it until the process ends. Throws Fault::Input when another
// process uses it.
std::shared_ptr<const io::LockedFolder> reserve_output(const Settings& settings) {
  static auto* const reserved = new std::shared_ptr<const io::LockedFolder>;  // not released before finish() ends
  if (*reserved == nullptr) *reserved = std::make_shared<const io::LockedFolder>(settings.output);
  return *reserved;
}

void write_recording(const Device& d, const std::string& file) {
  if (d.settings().record.empty()) reserve_output(d.settings());
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) fail_at(Fault::Input, folder.string(), "cannot make the output folder: {}", error.message());
  io::write_file_atomically(file, task::to_vts(d.recorder().stream()));
}

// How the recording is run, with VINCI_RUN_OPTIONS.
run::Options run_options(const Settings& settings) {
  run::Options o;
  o.file = settings.recording();
  o.chip = settings.chip;
  o.mode = settings.mode == Settings::Mode::full ? "full" : "timing";
  o.out = settings.output;
  o.quiet = settings.quiet;
  CLI::App parser;
  run::add_options(parser, o);
  std::vector<std::string> words;
  std::istringstream more(settings.options);
  for (std::string word; more >> word;)
    words.insert(words.begin(), word);  // the parser takes them from the end
  try {
    parser.parse(words);
  } catch (const CLI::ParseError& e) {
    fail(Fault::Input, "VINCI_RUN_OPTIONS: {}", e.what());
  }
  run::check(o);
  o.jobs = 1;  // the program may have threads, so nothing is forked
  return o;
}

// The simulation of a program that has asked for a time: it goes on with the program.
struct LiveRun {
  explicit LiveRun(const Device& d)
      : options(run_options(d.settings())),
        run(options, d.recorder().stream(), run::Run::Host::open, stderr,  // stdout is the user's
            reserve_output(d.settings())) {}

  run::Options options;
  run::Run run;
};
std::unique_ptr<LiveRun>& live_run() {
  static auto* const one = new std::unique_ptr<LiveRun>;  // not destroyed before finish()
  return *one;
}

// The launches that are recorded, and the kernel of the latest of them in the order of the host.
struct Launches {
  u64 count = 0;
  std::string latest;
};

Launches launches(const task::TaskStream& stream) {
  Launches out;
  for (const task::HostStep& step : stream.host.threads[0].steps) {
    const auto* enqueue = std::get_if<task::HostEnqueue>(&step);
    for (u32 t = 0; enqueue != nullptr && t < enqueue->count; ++t) {
      const task::Task& task = stream.streams[enqueue->stream].tasks[enqueue->first + t];
      if (!std::holds_alternative<task::KernelLaunch>(task.op)) continue;
      ++out.count;
      out.latest = task.name;
    }
  }
  return out;
}

bool g_ends = false;  // finish() has begun

// What was recorded, in time, into the output folder.
void simulate(Device& d) {
  write_recording(d, d.settings().recording());
  d.recorder().written();
  if (const auto live = std::move(live_run())) {
    live->run.finish();
    return;
  }
  const run::Options options = run_options(d.settings());
  const task::TaskStream stream = task::load_task_stream(options.file);
  run::Run(options, stream, run::Run::Host::complete, stderr, reserve_output(d.settings())).finish();
}

// The task stream as a file, and how much smaller its kernels are for what repeats in them.
void record(Recorder& recorder, const Settings& settings) {
  const std::vector<std::byte> bytes = task::to_vts(recorder.stream());
  if (bytes.size() > task::kMaxFileBytes) {
    fail(Fault::Limit, "{} would have {} bytes; a task stream has at most {}", settings.record, bytes.size(),
         task::kMaxFileBytes);
  }
  io::remove_abandoned_beside(settings.record);
  io::write_file_atomically(settings.record, bytes, io::Durability::durable);
  recorder.written();
  if (!settings.says_size) return;
  usize instructions = 0, stated = 0;
  for (const task::Kernel& k : recorder.stream().kernels) {
    instructions += isa::positions(k.program);
    stated += task::stated(task::fold(k.program)) + k.program.strides.size();
  }
  fmt::print(stderr, "vinci: {}: {} bytes, {} instructions stated as {} ({:.1f} to 1)\n", settings.record, bytes.size(),
             instructions, stated, static_cast<double>(instructions) / static_cast<double>(std::max<usize>(1, stated)));
}

}  // namespace

double event_time(u32 event) {
  Device& d = device();
  if (!d.recorder().gap().empty()) fail(Fault::Limit, "the time of an event is not known: {}", d.recorder().gap());
  if (live_run() == nullptr) live_run() = std::make_unique<LiveRun>(d);
  std::optional<u64> cycle;
  live_run()->run.advance([&](models::Session& session) {
    const auto go_on = [&] {
      session.run();
      cycle = session.recorded(event);
    };
    go_on();
    if (cycle) return;
    d.recorder().synchronize_event(event);  // the host cannot know the time before
    go_on();
  });
  if (!cycle) fail(Fault::Internal, "event {} has no time", event);
  return static_cast<double>(*cycle) / live_run()->run.chip().clock;
}

void save_recording(const char* signal) {
  const Device& d = device();
  const Settings& settings = d.settings();
  if (g_ends || (settings.mode == Settings::Mode::functional && settings.record.empty())) return;
  const std::string what = signal == nullptr
                               ? std::string("the fault")
                               : fmt::format("{}{}", signal, present() == nullptr ? "" : " in " + present()->name());
  try {
    const Launches known = launches(d.recorder().stream());
    if (known.count == 0 || !d.recorder().gap().empty()) {
      if (signal != nullptr) fmt::print(stderr, "vinci: {}: no launch is recorded\n", what);
      return;
    }
    const std::string file = settings.recording();
    write_recording(d, file);
    fmt::print(stderr, "vinci: {}: {} launch{} before it {} recorded, the latest of kernel '{}': {}\n", what,
               known.count, known.count == 1 ? "" : "es", known.count == 1 ? "is" : "are", known.latest, file);
  } catch (const std::exception& e) {
    fmt::print(stderr, "vinci: {}: the recording could not be written: {}\n", what, e.what());
  }
}

void finish() {
  g_ends = true;
  Device& d = device();
  Recorder& recorder = d.recorder();
  const Settings& settings = d.settings();
  if (!settings.auto_sync_log.empty())
    io::write_file_atomically(settings.auto_sync_log, d.auto_sync_log().text(recorder.stream().name));
  if (!recorder.any_kernel() && recorder.gap().empty()) return;
  if (settings.mode == Settings::Mode::functional && settings.record.empty()) return;
  if (!recorder.gap().empty()) {
    if (!settings.record.empty()) fail(Fault::Limit, "{} is not written: {}", settings.record, recorder.gap());
    if (settings.mode == Settings::Mode::full) fail(Fault::Limit, "mode full cannot compare: {}", recorder.gap());
    fmt::print(stderr, "vinci: no time: {}\n", recorder.gap());
    return;
  }
  recorder.synchronize_device();
  if (!settings.record.empty()) {
    record(recorder, settings);
    if (!d.recorded_all_stores())
      fmt::print(
          stderr,
          "vinci: long runs of SetValue in UB are not in the recording: its bits are not those of the program\n");
    return;
  }
  simulate(d);
  const bool full = settings.mode == Settings::Mode::full;
  if (full && d.recorded_all_stores()) {
    // With findings, the simulation has failed.
    compare(d, settings.output, recorder, settings.options.find("--check") != std::string::npos);
  }
  if (full && !d.recorded_all_stores())
    fmt::print(stderr, "vinci: results are not compared: long runs of SetValue in UB are not in the recording\n");
  // With findings, the simulation has failed.
  const bool checked = settings.quiet && settings.options.find("--check") != std::string::npos;
  fmt::print(stderr, "vinci: {}{}/summary.txt\n", checked ? "the check has no findings; " : "", settings.output);
}

}  // namespace vinci::ascendc
