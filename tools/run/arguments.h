// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

// How values of options are written.
namespace vinci::run {

// For Option::transform(): an integer from `low` to `high`, decimal or 0x.
CLI::Validator integer(u64 low = 0, u64 high = ~u64{0});
// For Option::check(): a finite number above zero.
CLI::Validator positive_number();

// The integers of a text such as 1,3,224. Throws Fault::Input at `option`.
std::vector<u64> parse_list(const std::string& option, std::string_view text);

// The parts of a text such as Add|Sub; empty ones are left out.
std::vector<std::string> split_list(std::string_view text, char separator = '|');

}  // namespace vinci::run
