// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every tests/bad/task/x.yaml must be refused with exactly the message in x.expected.
#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/task/load.h"
#include "tests/support/expected.h"

namespace vinci::task {
namespace {

namespace fs = std::filesystem;

class BadTask : public testing::TestWithParam<fs::path> {};

TEST_P(BadTask, IsRefusedWithItsMessage) {
  const fs::path file = fs::path(BAD_TASK_DIR) / GetParam();
  const std::string text = test::slurp(file);
  try {
    parse_task_stream(io::as_bytes(text), GetParam().string(), FolderFiles(BAD_TASK_DIR));
    FAIL() << "it is accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    test::expect_text(std::string(e.what()) + '\n', fs::path(file).replace_extension(".expected"));
  }
}

INSTANTIATE_TEST_SUITE_P(Task, BadTask, testing::ValuesIn(test::files_in(BAD_TASK_DIR, ".yaml")),
                         [](const auto& p) { return test::test_name(p.param); });

}  // namespace
}  // namespace vinci::task
