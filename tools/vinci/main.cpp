// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The one place that prints errors and chooses exit codes.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "isa/base/text.h"
#include "isa/base/types.h"
#include "tools/vinci/app.h"
#include "tools/vinci/commands.h"

namespace vinci::cli {
namespace {

struct Command {
  std::string_view name;
  void (*add)(CLI::App&);
};
// In the order of the help text.
constexpr Command kCommands[] = {
    {"run", add_run},         {"report", add_report}, {"explain", add_explain},   {"diff", add_diff},
    {"gen", add_gen},         {"asm", add_asm},       {"dis", add_dis},           {"isa", add_isa},
    {"chips", add_chips},     {"check", add_check},   {"pack", add_pack},         {"convert", add_convert},
    {"study", add_study},     {"sweep", add_sweep},   {"validate", add_validate}, {"cc", add_cc},
    {"compile", add_compile}, {"sim", add_sim},       {"record", add_record},     {"completion", add_completion},
    {"msprof", add_msprof},   {"op", add_op},
};

// Adds the command that the first argument names, with its options: those of others take longer than a small run. Where
// it names none, and for the completion, which lists all, adds all. The version needs none.
void add_commands(CLI::App& app, const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "--version") return;
  const auto named = std::ranges::find(kCommands, arguments.empty() ? "" : arguments.front(), &Command::name);
  if (named != std::end(kCommands) && named->name != "completion") {
    named->add(app);
  } else {
    for (const Command& command : kCommands)
      command.add(app);
  }
}

// A message in which control characters, and bytes that are no UTF-8, are spelled out: names in it come from files and
// must not steer a terminal.
std::string printable(std::string_view message) {
  std::string out;
  while (!message.empty()) {
    const usize length = character_length(message);
    if (length > 0) {
      out += message.substr(0, length);
    } else if (message[0] == '\n' || message[0] == '\t') {
      out += message[0];
    } else {
      out += fmt::format("\\x{:02x}", static_cast<u8>(message[0]));
    }
    message.remove_prefix(std::max<usize>(1, length));
  }
  return out;
}

int print_error(std::string_view text, int exit_code) {
  const std::string message = printable(text);
  std::fflush(stdout);  // where both go to one file, the error comes after what was printed before
  const bool colour = ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  std::fprintf(stderr, "%s %.*s\n", colour ? "\033[1;31merror:\033[0m" : "error:", static_cast<int>(message.size()),
               message.data());
  return exit_code;
}

// "vinci gen gemm"
std::string command_line(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : command_line(*app.get_parent()) + " " + app.get_name();
}

std::string help_hint(const CLI::App& app) { return "\nTry '" + command_line(app) + " --help'."; }

const CLI::App& chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : chosen(*subcommands.front());
}

// Nothing is named by an empty text, and an option that is given means more than one that is not.
void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    option->check(CLI::Validator([](std::string& v) { return v.empty() ? "the value is empty" : ""; }, ""));
  }
  for (CLI::App* sub : app.get_subcommands({}))
    refuse_empty_values(*sub);
}

std::string unknown_argument(const CLI::App& app) {
  const CLI::App& sub = chosen(app);
  const std::vector<std::string> rest = sub.remaining();
  const std::string argument = rest.empty() ? std::string() : rest.front();
  if (!argument.starts_with('-')) return "unexpected argument '" + argument + "'" + help_hint(sub);
  return unknown_option(sub, argument) + help_hint(sub);
}

// The words at the front that choose a command.
void refuse_unknown_command(const CLI::App& app, std::span<const std::string> words) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({}))
    names.push_back(sub->get_name());
  if (names.empty() || words.empty() || words.front().starts_with('-')) return;
  const auto at = std::ranges::find(names, words.front());
  if (at == names.end()) {
    fail(Fault::Input, "unknown command '{}'{}{}", words.front(), did_you_mean(words.front(), names), help_hint(app));
  }
  refuse_unknown_command(*app.get_subcommand(*at), words.subspan(1));
}

// `--chip= x`: the parser would take x for the value.
void refuse_empty_assignment(const std::vector<std::string>& arguments) {
  for (const std::string& a : arguments) {
    if (a.starts_with("--") && a.find('=') == a.size() - 1)
      fail(Fault::Input, "{}: the value is empty", a.substr(0, a.size() - 1));
  }
}

int run(int argc, char** argv) {
  CLI::App app{"Simulator of Da Vinci-style NPUs (Ascend AI Core family)", "vinci"};
  app.set_version_flag("--version", "vinci " VINCI_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(
      "Each command explains itself: vinci asm --help\n"
      "Exit codes: 0 success, 1 a criterion of a study or a target of validation is missed, 2 wrong input (or an "
      "output that cannot be opened),\n"
      "3 program fault or findings of --check, 4 unsupported, 5 uncalibrated, 6 deadlock or livelock, 7 limit (also an "
      "interruption, a full disk, no memory, stdout that cannot be written), 8 internal error");
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  add_commands(app, arguments);
  refuse_empty_values(app);
  refuse_unknown_command(app, arguments);
  refuse_empty_assignment(arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help and --version
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();  // a command that has printed what it found
  } catch (const CLI::ExtrasError&) {
    return print_error(unknown_argument(app), static_cast<int>(Fault::Input));
  } catch (const CLI::ParseError& e) {
    return print_error(e.what() + help_hint(chosen(app)), static_cast<int>(Fault::Input));
  }
  return 0;
}

// Whatever stdout could not take is an error, except that its reader has gone away.
int finish_output(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0) return exit_code;
  return exit_code != 0 ? exit_code : print_error("cannot write the standard output", static_cast<int>(Fault::Limit));
}

int guarded(int argc, char** argv) {
  // A run whose output is piped into `head` still has its files to write.
  std::signal(SIGPIPE, SIG_IGN);
  // A file that outgrows RLIMIT_FSIZE is a write that fails, with a message, and no reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const Error& e) {
    return print_error(e.what(), static_cast<int>(e.fault()));
  } catch (const std::bad_alloc&) {
    return print_error("out of memory", static_cast<int>(Fault::Limit));
  } catch (const std::system_error& e) {
    return print_error(std::string("the system refuses: ") + e.what(), static_cast<int>(Fault::Limit));
  } catch (const std::exception& e) {
    return print_error(std::string("internal error: ") + e.what() + "\nThis is a bug of vinci; please report it.",
                       static_cast<int>(Fault::Internal));
  }
}

}  // namespace
}  // namespace vinci::cli

int main(int argc, char** argv) { return vinci::cli::finish_output(vinci::cli::guarded(argc, argv)); }
