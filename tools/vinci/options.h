// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/arch.h"

// What several subcommands need.
namespace vinci::cli {

// "" = not given. Throws Fault::Input with the nearest name.
std::optional<isa::Arch> parse_arch(std::string_view text);

// For Option::transform(): an integer from `low` to `high`, decimal or 0x.
CLI::Validator integer(u64 low = 0, u64 high = ~u64{0});
// For Option::check(): a finite number above zero.
CLI::Validator positive_number();

// The integers of a text such as 1,3,224. Throws Fault::Input at `option`.
std::vector<u64> parse_list(const std::string& option, std::string_view text);

// The parts of a text such as Add|Sub.
std::vector<std::string> split_list(std::string_view text);

// Throws Fault::Input where `output` is the same file as `input`, whatever their names.
void keep_source(const std::string& input, const std::string& output);

// "1 tile", "2 tiles".
std::string counted(u64 n, std::string_view what);

// To standard output; main() notices when it cannot be written.
void print_out(std::string_view text);

// To `path` whole or not at all, or to standard output where `path` is empty.
void write_or_print(const std::string& path, std::string_view text);

}  // namespace vinci::cli
