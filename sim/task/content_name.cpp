// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/content_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "isa/base/types.h"

namespace vinci::task {
namespace {

constexpr std::string_view kSuffix = ".bin", kFolderSuffix = ".data";
constexpr usize kDigits = 16;

}  // namespace

std::string content_digits(std::span<const std::byte> contents) {
  u64 hash = contents.size();
  for (usize at = 0; at < contents.size(); at += sizeof(u64)) {
    u64 word = 0;
    std::memcpy(&word, contents.data() + at, std::min(sizeof word, contents.size() - at));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return fmt::format("{:0{}x}", hash, kDigits);
}

std::string_view digits_of_name(std::string_view name) {
  if (name.size() < kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return {};
  const std::string_view digits = name.substr(0, kDigits);
  const std::string_view number = name.substr(kDigits, name.size() - kDigits - kSuffix.size());
  const bool good = digits.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                    (number.empty() || (number.size() > 1 && number.front() == '-' &&
                                        number.find_first_not_of("0123456789", 1) == std::string_view::npos));
  return good ? digits : std::string_view{};
}

bool was_changed(std::string_view file, std::span<const std::byte> contents) {
  const usize slash = file.rfind('/');
  if (slash == std::string_view::npos || !file.substr(0, slash).ends_with(kFolderSuffix)) return false;
  const std::string_view digits = digits_of_name(file.substr(slash + 1));
  return !digits.empty() && digits != content_digits(contents);
}

}  // namespace vinci::task
