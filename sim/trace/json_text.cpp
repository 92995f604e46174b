// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/trace/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace vinci::trace {

std::string json_string(std::string_view s) {
  // Names of instructions and operands need no escaping; names of tasks and files may.
  const bool plain = std::ranges::all_of(s, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) return '"' + std::string(s) + '"';
  return nlohmann::json(std::string(s)).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace vinci::trace
