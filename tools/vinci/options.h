// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isa/arch.h"
#include "tools/run/arguments.h"

// What several subcommands need.
namespace vinci::cli {

// "" = not given. Throws Fault::Input with the nearest name.
std::optional<isa::Arch> parse_arch(std::string_view text);

using run::integer;
using run::parse_list;
using run::positive_number;
using run::split_list;

// Before `output` is written: throws Fault::Input where it is the same file as `input`, whatever their names, and
// removes temporary files next to it whose processes were killed.
void prepare_output(const std::string& input, const std::string& output);

// "1 tile", "2 tiles".
std::string counted(u64 n, std::string_view what);

// To standard output; main() notices when it cannot be written.
void print_out(std::string_view text);

// To `path` whole or not at all, or to standard output where `path` is empty.
void write_or_print(const std::string& path, std::string_view text);

}  // namespace vinci::cli
