// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every tests/bad/chip/x.yaml must fail with exactly the message in x.expected. VINCI_UPDATE_EXPECTED=1 rewrites the
// expected messages, to be reviewed as a diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "sim/config/load.h"

namespace vinci::config {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> cases() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(BAD_CHIP_DIR)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().filename());
  }
  std::ranges::sort(paths);
  return paths;
}

class BadChip : public testing::TestWithParam<fs::path> {};

TEST_P(BadChip, FailsWithItsMessage) {
  fs::current_path(BAD_CHIP_DIR);  // so that messages show short paths
  const fs::path expected = fs::path(GetParam()).replace_extension(".expected");
  try {
    load_chip(GetParam().string());
    FAIL() << "it loads";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    if (std::getenv("VINCI_UPDATE_EXPECTED") != nullptr) std::ofstream(expected) << e.what() << '\n';
    std::ifstream in(expected);
    EXPECT_EQ(std::string(e.what()) + '\n', std::string(std::istreambuf_iterator<char>(in), {}));
  }
}

INSTANTIATE_TEST_SUITE_P(Chip, BadChip, testing::ValuesIn(cases()), [](const auto& p) {
  std::string name = p.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace vinci::config
