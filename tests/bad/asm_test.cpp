// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every tests/bad/asm/x.s must fail with exactly the message in x.expected. A first line "; --arch NAME" passes the
// architecture as an argument. VINCI_UPDATE_EXPECTED=1 rewrites the expected messages, to be reviewed as a diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "isa/base/error.h"
#include "isa/text.h"

namespace vinci::isa {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> cases() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(BAD_ASM_DIR)) {
    if (entry.path().extension() == ".s") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

class BadAssembly : public testing::TestWithParam<fs::path> {};

TEST_P(BadAssembly, FailsWithItsMessage) {
  const std::string text = read(GetParam());
  constexpr std::string_view kArchLine = "; --arch ";
  std::optional<Arch> arch;
  if (text.starts_with(kArchLine)) {
    arch = parse_enum<Arch>(kArchNames, std::string_view(text).substr(kArchLine.size(), 4));
    ASSERT_TRUE(arch.has_value());
  }
  const fs::path expected = fs::path(GetParam()).replace_extension(".expected");
  try {
    assemble(text, GetParam().filename().string(), arch);
    FAIL() << "it assembles";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    if (std::getenv("VINCI_UPDATE_EXPECTED") != nullptr) std::ofstream(expected) << e.what() << '\n';
    EXPECT_EQ(std::string(e.what()) + '\n', read(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Asm, BadAssembly, testing::ValuesIn(cases()),
                         [](const auto& p) { return p.param.stem().string(); });

}  // namespace
}  // namespace vinci::isa
