// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/shell.h"

namespace vinci::test {

// The files of a folder with an extension, by name; each is the parameter of one test.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, std::string_view extension) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension) out.push_back(entry.path().filename());
  }
  std::ranges::sort(out);
  return out;
}

// A file name as the name of a test: letters, digits and '_' only.
inline std::string test_name(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
}

// The text must be that of `file`. VINCI_UPDATE_EXPECTED=1 in the environment rewrites the file instead, to be reviewed
// as a difference.
inline void expect_text(const std::string& text, const std::filesystem::path& file) {
  if (std::getenv("VINCI_UPDATE_EXPECTED") != nullptr) std::ofstream(file, std::ios::binary) << text;
  EXPECT_EQ(text, slurp(file));
}

}  // namespace vinci::test
