// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every broken task stream of tests/bad/task gives exactly the message beside it. VINCI_UPDATE=1 in the environment
// rewrites the messages; read the difference before keeping it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "isa/base/error.h"
#include "sim/task/load.h"

namespace vinci::task {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> broken_files() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(VINCI_BAD_TASKS)) {
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class BadTask : public testing::TestWithParam<std::string> {};

TEST_P(BadTask, IsRefusedWithItsMessage) {
  const fs::path file = fs::path(VINCI_BAD_TASKS) / (GetParam() + ".yaml");
  const std::string text = slurp(file);
  std::string message = "accepted\n";
  Fault fault = Fault::Internal;
  try {
    parse_task_stream({reinterpret_cast<const std::byte*>(text.data()), text.size()}, file.filename().string(),
                      FolderFiles(VINCI_BAD_TASKS));
  } catch (const Error& e) {
    message = std::string(e.what()) + "\n";
    fault = e.fault();
  }
  const fs::path expected = fs::path(file).replace_extension(".expected");
  if (std::getenv("VINCI_UPDATE") != nullptr) std::ofstream(expected, std::ios::binary) << message;
  EXPECT_EQ(message, slurp(expected));
  EXPECT_EQ(fault, Fault::Input);
}

INSTANTIATE_TEST_SUITE_P(Files, BadTask, testing::ValuesIn(broken_files()),
                         [](const auto& param_info) { return param_info.param; });

}  // namespace
}  // namespace vinci::task
