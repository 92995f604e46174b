// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The end of the process: what was recorded runs in time, by the command line tool, so that its files and its figures
// are those of `vinci run`.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/io/atomic_file.h"
#include "sim/task/write.h"
#include "tools/ascendc/runtime/device.h"

namespace vinci::ascendc {
namespace {

int run_tool(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& w : words)
    argv.push_back(const_cast<char*>(w.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast): execvp's interface
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is the user's
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

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

}  // namespace

void finish() {
  Device& d = device();
  Recorder& recorder = d.recorder();
  const Settings& settings = d.settings();
  if (!recorder.any_kernel() && recorder.gap().empty()) return;
  if (settings.mode == Settings::Mode::functional) return;
  if (!recorder.gap().empty()) {
    fmt::print(stderr, "vinci: no time: {}\n", recorder.gap());
    return;
  }
  recorder.synchronize_device();
  std::filesystem::create_directories(settings.output);
  const std::string file = settings.output + "/stream.vts";
  io::write_file_atomically(file, task::to_vts(recorder.stream()));
  const bool full = settings.mode == Settings::Mode::full;
  std::vector<std::string> words{settings.tool,   "run",         file,
                                 "--chip",        settings.chip, "--out",
                                 settings.output, "--mode",      full ? "full" : "timing"};
  if (settings.quiet) words.emplace_back("--quiet");
  std::istringstream more(settings.options);
  for (std::string word; more >> word;)
    words.push_back(word);
  const int code = run_tool(words);
  if (code == 127) {
    fmt::print(stderr, "vinci: no time: cannot run '{}'; set VINCI to the path of the tool\n", settings.tool);
    return;
  }
  if (code != 0) {
    std::fflush(nullptr);
    ::_exit(code);
  }
  if (full) compare(d, settings.output, recorder);
  fmt::print(stderr, "vinci: {}/summary.txt\n", settings.output);
}

}  // namespace vinci::ascendc
