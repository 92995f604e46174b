// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "isa/base/error.h"

namespace vinci::run {
namespace {

// Nothing but digits, or 0x and hexadecimal digits, that fit 64 bits.
std::optional<u64> parse_integer(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

CLI::Validator integer(u64 low, u64 high) {
  const auto check = [=](std::string& text) -> std::string {
    const auto value = parse_integer(text);
    if (!value || *value < low || *value > high)
      return fmt::format("'{}' is no integer from {} to {}", text, low, high);
    text = fmt::format("{}", *value);  // the parser would take a leading 0 for octal
    return {};
  };
  return {check, low == 0 && high == ~u64{0} ? std::string{} : fmt::format("from {} to {}", low, high)};
}

CLI::Validator positive_number() {
  const auto check = [](std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && value > 0;
    return good ? std::string{} : fmt::format("'{}' is no finite number above 0", text);
  };
  return {check, "above 0"};
}

std::vector<u64> parse_list(const std::string& option, std::string_view text) {
  std::vector<u64> out;
  for (usize at = 0; at <= text.size();) {
    const std::string_view item = text.substr(at, text.find(',', at) - at);
    const auto value = parse_integer(item);
    if (!value) fail_at(Fault::Input, option, "'{}' in '{}' is no integer from 0 to {}", item, text, ~u64{0});
    out.push_back(*value);
    at += item.size() + 1;
  }
  return out;
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const usize end = std::min(text.find(separator), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace vinci::run
