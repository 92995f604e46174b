// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tools/results/stats_json.h"

namespace vinci::test {

// The name of the running test with the number of the run in it, as the name of a folder.
inline std::string freeze_name() {
  static std::map<std::string, int> runs;
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = fmt::format("{}.{}", test->test_suite_name(), test->name());
  std::ranges::replace(name, '/', '.');
  return fmt::format("{}.{}", name, ++runs[name]);
}

// Writes the statistics and the final host buffers of a run into $VINCI_FREEZE_FOLDER, where `./dev freeze` compares
// them with its baseline. Does nothing when the variable is not set.
inline void keep_for_freeze(const config::ChipConfig& chip, const task::TaskStream& stream,
                            const models::Result& result, const std::vector<std::vector<std::byte>>& host) {
  const char* const root = std::getenv("VINCI_FREEZE_FOLDER");
  if (root == nullptr) return;
  const std::filesystem::path folder = std::filesystem::path(root) / freeze_name();
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "stats.json") << results::stats_json(chip, stream, result);
  for (usize i = 0; i < host.size(); ++i)
    std::ofstream(folder / fmt::format("{:03}.bin", i), std::ios::binary)
        .write(reinterpret_cast<const char*>(host[i].data()), static_cast<std::streamsize>(host[i].size()));
}

}  // namespace vinci::test
