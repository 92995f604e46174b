// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/run_info.h"

#include <fmt/chrono.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace vinci::run {

std::string run_info_json(const std::string& task_file, double wall, u64 instructions, u64 equal_launches) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const nlohmann::ordered_json out = {
      {"version", VINCI_VERSION},
      {"task_stream", std::filesystem::absolute(task_file).string()},
      {"finished", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"host", host},
      {"wall_seconds", wall},
      {"instructions_per_second", static_cast<double>(instructions) / wall},
      {"equal_launches", equal_launches},
      {"peak_rss_kib", usage.ru_maxrss}};
  return out.dump(2) + "\n";
}

}  // namespace vinci::run
