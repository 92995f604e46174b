// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The end of the process: what was recorded runs in time, by the command line tool, so that its files and its figures
// are those of `vinci run`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "sim/io/atomic_file.h"
#include "sim/io/program.h"
#include "sim/io/temp_folder.h"
#include "sim/task/fold.h"
#include "sim/task/load.h"
#include "sim/task/write.h"
#include "tools/ascendc/runtime/device.h"

namespace vinci::ascendc {
namespace {

// Mode full: what the run gave the host must be what the program has seen.
void compare(const Device& d, const std::string& folder, const Recorder& recorder) {
  for (const auto& [file, seen] : recorder.results()) {
    const std::string text = io::read_file(folder + "/" + file);
    const auto bytes = io::as_bytes(text);
    const auto [a, b] = std::ranges::mismatch(bytes, seen);
    if (a == bytes.end() && b == seen.end()) continue;
    fail(Fault::Internal, "mode full: {} of {} differs from what the program got, at byte {}", file, d.chip().name,
         a - bytes.begin());
  }
}

// Runs the recording in the folder with the tool. Returns its exit code, 127 where there is no tool.
int simulate(const Device& d, const Recorder& recorder, const std::string& folder, std::vector<std::string> options) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_at(Fault::Input, folder, "cannot make the output folder: {}", error.message());
  const std::string file = folder + "/stream.vts";
  io::write_file_atomically(file, task::to_vts(recorder.stream()));
  std::vector<std::string> words{d.settings().tool, "run", file, "--chip", d.settings().chip, "--out", folder};
  words.insert(words.end(), options.begin(), options.end());
  const int code = io::run_program(words, io::Stdout::to_stderr);  // stdout is the user's
  if (code == 127)
    fmt::print(stderr, "vinci: no time: cannot run '{}'; set VINCI to the path of the tool\n", d.settings().tool);
  return code;
}

// The task stream as a file, and how much smaller its kernels are for what repeats in them.
void record(const Recorder& recorder, const Settings& settings) {
  const std::vector<std::byte> bytes = task::to_vts(recorder.stream());
  if (bytes.size() > task::kMaxFileBytes) {
    fail(Fault::Limit, "{} would have {} bytes; a task stream has at most {}{}", settings.record, bytes.size(),
         task::kMaxFileBytes, settings.record_data ? "; leave out the data with --no-data" : "");
  }
  io::write_file_atomically(settings.record, bytes);
  usize instructions = 0, stated = 0;
  for (const task::Kernel& k : recorder.stream().kernels) {
    instructions += k.program.code.size();
    stated += task::stated(task::fold(k.program));
  }
  fmt::print(stderr, "vinci: {}: {} bytes, {} instructions stated as {} ({:.1f} to 1)\n", settings.record, bytes.size(),
             instructions, stated, static_cast<double>(instructions) / static_cast<double>(std::max<usize>(1, stated)));
}

// When tasks ended, in microseconds, by stream and position: the table task_time of a profile.
std::map<std::pair<u32, u32>, double> ends_of_tasks(const std::string& folder) {
  std::map<std::pair<u32, u32>, double> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("task_time_")) continue;
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);  // the names of the columns
    while (std::getline(file, line)) {
      // Names may have commas, numbers at the end of a line have none: stream, task, time, start, stop.
      std::array<std::string, 5> last;
      for (usize n = last.size(); n-- > 0;) {
        const usize comma = line.rfind(',');
        if (comma == std::string::npos) break;
        last[n] = line.substr(comma + 1);
        line.erase(comma);
      }
      out[{static_cast<u32>(std::stoul(last[0])), static_cast<u32>(std::stoul(last[1]))}] = std::stod(last[4]);
    }
  }
  return out;
}

}  // namespace

std::vector<double> event_times() {
  Device& d = device();
  Recorder now = d.recorder();
  if (!now.gap().empty()) fail(Fault::Limit, "the time of an event is not known: {}", now.gap());
  now.synchronize_device();
  const io::TempFolder scratch("vinci-events");
  const std::string folder = scratch.path().string();
  const int code = simulate(d, now, folder, {"--mode", "timing", "--quiet"});
  const auto ends = code == 0 ? ends_of_tasks(folder) : std::map<std::pair<u32, u32>, double>{};
  if (code != 0) fail(Fault::Unsupported, "the time of an event is not known: the simulation ended with code {}", code);
  const task::TaskStream& stream = now.stream();
  std::vector<double> out(stream.events.size());
  for (u32 s = 0; s < stream.streams.size(); ++s) {
    for (u32 t = 0; t < stream.streams[s].tasks.size(); ++t) {
      const auto* record = std::get_if<task::EventRecord>(&stream.streams[s].tasks[t].op);
      if (record != nullptr) out[record->event] = ends.at({s, t});
    }
  }
  return out;
}

void finish() {
  Device& d = device();
  Recorder& recorder = d.recorder();
  const Settings& settings = d.settings();
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
  const bool full = settings.mode == Settings::Mode::full;
  std::vector<std::string> options{"--mode", full ? "full" : "timing"};
  if (settings.quiet) options.emplace_back("--quiet");
  std::istringstream more(settings.options);
  for (std::string word; more >> word;)
    options.push_back(word);
  const int code = simulate(d, recorder, settings.output, std::move(options));
  if (code == 127) return;
  if (code != 0) {
    std::fflush(nullptr);
    ::_exit(code);
  }
  if (full && d.recorded_all_stores()) compare(d, settings.output, recorder);
  if (full && !d.recorded_all_stores())
    fmt::print(stderr, "vinci: results are not compared: long runs of SetValue in UB are not in the recording\n");
  fmt::print(stderr, "vinci: {}/summary.txt\n", settings.output);
}

}  // namespace vinci::ascendc
