// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every tests/bad/chip/x.yaml must fail with exactly the message in x.expected.
#include "isa/base/error.h"
#include "sim/config/load.h"
#include "tests/support/expected.h"

namespace vinci::config {
namespace {

namespace fs = std::filesystem;

class BadChip : public testing::TestWithParam<fs::path> {};

TEST_P(BadChip, FailsWithItsMessage) {
  fs::current_path(BAD_CHIP_DIR);  // so that messages show short paths
  try {
    load_chip(GetParam().string());
    FAIL() << "it loads";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    test::expect_text(std::string(e.what()) + '\n', fs::path(GetParam()).replace_extension(".expected"));
  }
}

INSTANTIATE_TEST_SUITE_P(Chip, BadChip, testing::ValuesIn(test::files_in(BAD_CHIP_DIR, ".yaml")),
                         [](const auto& p) { return test::test_name(p.param); });

}  // namespace
}  // namespace vinci::config
