// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isa/arch.h"

// What several subcommands need.
namespace vinci::cli {

// "" = not given. Throws Fault::Input with the nearest name.
std::optional<isa::Arch> parse_arch(std::string_view text);

// To standard output; main() notices when it cannot be written.
void print_out(std::string_view text);

// To `path` whole or not at all, or to standard output where `path` is empty.
void write_or_print(const std::string& path, std::string_view text);

}  // namespace vinci::cli
