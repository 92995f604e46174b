// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <CLI/CLI.hpp>

// The subcommands of `vinci`. Each lives in a file of its own: its function adds the subcommand with its options and
// an example as footer, and a callback that does the work and throws vinci::Error. To add one: declare it here, list it
// in main.cpp, name its file in CMakeLists.txt.
namespace vinci::cli {

void add_asm(CLI::App& app);
void add_cc(CLI::App& app);
void add_check(CLI::App& app);
void add_chips(CLI::App& app);
void add_compile(CLI::App& app);
void add_completion(CLI::App& app);
void add_convert(CLI::App& app);
void add_diff(CLI::App& app);
void add_dis(CLI::App& app);
void add_explain(CLI::App& app);
void add_gen(CLI::App& app);
void add_isa(CLI::App& app);
void add_msprof(CLI::App& app);
void add_op(CLI::App& app);
void add_pack(CLI::App& app);
void add_record(CLI::App& app);
void add_report(CLI::App& app);
void add_run(CLI::App& app);
void add_sim(CLI::App& app);
void add_study(CLI::App& app);
void add_sweep(CLI::App& app);
void add_validate(CLI::App& app);

}  // namespace vinci::cli
