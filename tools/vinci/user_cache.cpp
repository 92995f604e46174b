// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/user_cache.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace vinci::cli {

namespace fs = std::filesystem;

std::string user_cache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path out;
  if (cache != nullptr && *cache == '/') {
    out = fs::path(cache) / "vinci";
  } else if (home != nullptr && *home == '/') {
    out = fs::path(home) / ".cache/vinci";
  } else {
    return {};
  }
  std::error_code error;
  fs::create_directories(out, error);
  return ::access(out.c_str(), W_OK) == 0 ? out.string() : std::string();
}

void remove_old(const std::string& folder, std::string_view prefix) {
  std::error_code error;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with(prefix) && fs::last_write_time(entry.path(), ignored) < limit)
      fs::remove(entry.path(), ignored);
  }
}

}  // namespace vinci::cli
