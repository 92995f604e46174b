// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/app.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/config/load.h"
#include "sim/io/program.h"
#include "tools/vinci/options.h"

namespace vinci::cli {
namespace {

class UsageWithRest : public CLI::Formatter {
 public:
  explicit UsageWithRest(std::string rest) : rest_(std::move(rest)) {}
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    return usage.insert(usage.find_last_not_of('\n') + 1, " " + rest_);
  }

 private:
  std::string rest_;
};

// The program of run_to_end(), which gets the signals that end this one.
volatile pid_t g_child = 0;

}  // namespace

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

void set_variable(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

void set_chip(const std::string& chip, const std::string& soc_version) {
  if (!chip.empty()) set_variable("VINCI_CHIP", chip);
  if (!soc_version.empty()) set_variable("VINCI_CHIP", chip_of_soc(soc_version));
}

void take_command_line(CLI::App& command, const std::string& rest) {
  command.prefix_command();
  command.formatter(std::make_shared<UsageWithRest>(rest));
}

std::string unknown_option(const CLI::App& command, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options()) {
    for (const std::string& name : known->get_lnames())
      names.push_back("--" + name);
    for (const std::string& name : known->get_snames())
      names.push_back("-" + name);
  }
  return "unknown option '" + option + "'" + did_you_mean(option.substr(0, option.find('=')), names);
}

std::vector<std::string> command_line_of(const CLI::App& command) {
  std::vector<std::string> words = command.remaining();
  if (!words.empty() && words.front().starts_with('-'))
    fail(Fault::Input, "{}", unknown_option(command, words.front()));
  return words;
}

void add_native_timeout(CLI::App& command) {
  command
      .add_option_function<u32>(
          "--native-timeout", [](const u32& seconds) { set_variable("VINCI_NATIVE_TIMEOUT", std::to_string(seconds)); },
          "End the program with exit code 7 when the native code of a kernel has made no progress for so many seconds; "
          "after 60 s there is a warning with the line")
      ->transform(integer(1, 1'000'000));
}

void add_auto_sync(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--cce-auto-sync", [](const std::string& value) { set_variable("VINCI_AUTO_SYNC", value); },
          "on or off: insert the synchronisation that the vendor's compiler inserts; if not given, as `vinci cc` was "
          "told")
      ->check(CLI::IsMember({"on", "off"}));
}

void add_scalar_code(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--scalar-code", [](const std::string& value) { set_variable("VINCI_SCALAR_CODE", value); },
          "on or off: whether the kernels' own scalar code takes time, as `vinci cc` has counted it (default: on)")
      ->check(CLI::IsMember({"on", "off"}));
}

void add_allocation(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--allocation", [](const std::string& value) { set_variable("VINCI_ALLOCATION", value); },
          "exact: an access past the end of an allocation of aclrtMalloc is a fault; pages: allocations are whole "
          "pages "
          "of 2 MiB, as on the device, where such accesses go unnoticed (default: exact)")
      ->check(CLI::IsMember({"exact", "pages"}));
}

void become(std::vector<std::string> program) {
  std::vector<char*> argv;
  for (std::string& word : program)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  fail(Fault::Input, "cannot run {}", program[0]);
}

void run_to_end(const std::vector<std::string>& program, double minutes) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail(Fault::Limit, "cannot start {}: {}", program[0], std::strerror(errno));
  if (child == 0) {
    io::end_with_parent(parent);
    ::setpgid(0, 0);  // so that all that it starts can be ended
    try {
      become(program);
    } catch (const Error& e) {
      fmt::print(stderr, "error: {}\n", e.what());
      ::_exit(static_cast<int>(e.fault()));
    }
  }
  ::setpgid(child, child);
  g_child = child;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, [](int s) { ::kill(-g_child, s); });
  const std::chrono::duration<double, std::ratio<60>> limit(minutes);
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() - begin >= limit) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      fail(Fault::Limit, "{} has taken longer than {} minutes and is ended", program[0], minutes);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0) throw CLI::RuntimeError(code);
}

}  // namespace vinci::cli
