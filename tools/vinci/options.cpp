// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/options.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/io/atomic_file.h"

namespace vinci::cli {
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

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const usize end = std::min(text.find('|'), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void keep_source(const std::string& input, const std::string& output) {
  std::error_code none;  // what does not exist is no source
  if (std::filesystem::equivalent(input, output, none))
    fail(Fault::Input, "the output would replace its source '{}'; choose another name", input);
}

std::string counted(u64 n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::optional<isa::Arch> parse_arch(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto arch = isa::parse_enum<isa::Arch>(isa::kArchNames, text);
  if (!arch) {
    fail_at(Fault::Input, "--arch", "no architecture is called '{}'{} (there are {})", text,
            did_you_mean(text, isa::kArchNames), fmt::join(isa::kArchNames, ", "));
  }
  return arch;
}

void print_out(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void write_or_print(const std::string& path, std::string_view text) {
  if (path.empty()) {
    print_out(text);
  } else {
    io::write_file_atomically(path, text);
  }
}

}  // namespace vinci::cli
