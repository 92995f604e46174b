// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

// Programs of `vinci cc`, which find what is asked of them in their environment (docs/ascendc.md).
namespace vinci::cli {

void set_variable(const char* name, const std::string& value);

// The built-in chip of a product name as the vendor's tools take it: Ascend910B1 is ascend-910b1.
std::string chip_of_soc(const std::string& soc);

// The chip of programs: as a built-in chip or a chip file, or by its product name as the vendor's tools take it.
// Without either it stays the one that they were compiled for.
void set_chip(const std::string& chip, const std::string& soc_version);

// A command whose last words are a program and its arguments, or a compiler's: `rest` names them in its help.
void take_command_line(CLI::App& command, const std::string& rest);

// Those words. Throws Fault::Input where an option that the command does not have is in front of them.
std::vector<std::string> command_line_of(const CLI::App& command);
// "unknown option '--chek'; did you mean '--check'?"
std::string unknown_option(const CLI::App& command, const std::string& option);

// The option --native-timeout of a command that runs a program.
void add_native_timeout(CLI::App& command);
// --cce-auto-sync for programs of `vinci cc`.
void add_auto_sync(CLI::App& command);
// --scalar-code, the same.
void add_scalar_code(CLI::App& command);
void add_allocation(CLI::App& command);

// Goes on as this program.
[[noreturn]] void become(std::vector<std::string> program);

// Runs this program to its end; it and what it has started end after so many minutes. Throws Fault::Limit then, and
// where it ends with another code than 0, CLI::RuntimeError with it.
void run_to_end(const std::vector<std::string>& program, double minutes = std::numeric_limits<double>::infinity());

}  // namespace vinci::cli
