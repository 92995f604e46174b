// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The one place that prints errors and chooses exit codes.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "tools/vinci/commands.h"

namespace vinci::cli {
namespace {

// In the order of the help text.
constexpr void (*kCommands[])(CLI::App&) = {add_run,   add_gen,   add_asm,  add_dis,    add_isa,
                                            add_chips, add_check, add_pack, add_convert};

int print_error(std::string_view message, int exit_code) {
  const bool colour = ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  std::fprintf(stderr, "%s %.*s\n", colour ? "\033[1;31merror:\033[0m" : "error:", static_cast<int>(message.size()),
               message.data());
  return exit_code;
}

std::string help_hint(const CLI::App& app) {
  return "\nTry '" + (app.get_parent() != nullptr ? "vinci " + app.get_name() : std::string("vinci")) + " --help'.";
}

const CLI::App& chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : *subcommands.front();
}

std::string unknown_argument(const CLI::App& app) {
  const CLI::App& sub = chosen(app);
  const std::vector<std::string> rest = sub.remaining();
  const std::string argument = rest.empty() ? std::string() : rest.front();
  std::vector<std::string> names;
  for (const CLI::Option* option : sub.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string& name : option->get_snames())
      names.push_back("-" + name);
  }
  if (!argument.starts_with('-')) return "unexpected argument '" + argument + "'" + help_hint(sub);
  return "unknown option '" + argument + "'" + did_you_mean(argument.substr(0, argument.find('=')), names) +
         help_hint(sub);
}

int run(int argc, char** argv) {
  CLI::App app{"Simulator of Da Vinci-style NPUs (Ascend AI Core family)", "vinci"};
  app.set_version_flag("--version", "vinci " VINCI_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(
      "Each command explains itself: vinci asm --help\n"
      "Exit codes: 0 success, 2 wrong input, 3 program fault, 4 unsupported, 5 uncalibrated, 6 deadlock, 7 limit, "
      "8 internal error");
  for (const auto add : kCommands)
    add(app);

  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({}))
    names.push_back(sub->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::ranges::find(names, argv[1]) == names.end()) {
    return print_error("unknown command '" + std::string(argv[1]) + "'" + did_you_mean(argv[1], names) + help_hint(app),
                       static_cast<int>(Fault::Input));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help and --version
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
  try {
    return run(argc, argv);
  } catch (const Error& e) {
    return print_error(e.what(), static_cast<int>(e.fault()));
  } catch (const std::bad_alloc&) {
    return print_error("out of memory", static_cast<int>(Fault::Limit));
  } catch (const std::exception& e) {
    return print_error(std::string("internal error: ") + e.what() + "\nThis is a bug of vinci; please report it.",
                       static_cast<int>(Fault::Internal));
  }
}

}  // namespace
}  // namespace vinci::cli

int main(int argc, char** argv) { return vinci::cli::finish_output(vinci::cli::guarded(argc, argv)); }
