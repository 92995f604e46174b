// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every file tests/bad/run/*.expected is a transcript: lines `$ vinci ...`, what the tool prints, and its exit code.
// The commands run in that folder and must give exactly that. VINCI_UPDATE_EXPECTED=1 in the environment rewrites the
// transcripts from their commands; read the difference before keeping it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/expected.h"

namespace vinci {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// `vinci run` writes into a folder that goes away, unless the command says where.
std::string run(const std::string& command) {
  const test::TempFolder out("vinci_bad_run");
  const bool into_temp = command.starts_with("$ vinci run ") && command.find(" --out ") == std::string::npos;
  const auto r = test::shell(BAD_RUN_DIR, "'" VINCI_BINARY "'" + command.substr(std::string("$ vinci").size()) +
                                              (into_temp ? " -q --out '" + out.path().string() + "'" : "") + " 2>&1");
  std::string text = fmt::format("{}\n{}[exit {}]\n", command, r.output, r.exit_code);
  replace_all(text, out.path().string(), "OUT");
  return text;
}

class BadRun : public testing::TestWithParam<fs::path> {};

TEST_P(BadRun, PrintsExactlyThis) {
  const fs::path file = fs::path(BAD_RUN_DIR) / GetParam();
  const std::string expected = test::slurp(file);
  std::string now;
  std::istringstream lines(expected);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("$ vinci")) now += run(line);
  }
  ASSERT_FALSE(now.empty()) << file << " has no command";
  test::expect_text(now, file);
}

INSTANTIATE_TEST_SUITE_P(Transcripts, BadRun, testing::ValuesIn(test::files_in(BAD_RUN_DIR, ".expected")),
                         [](const auto& p) { return test::test_name(p.param); });

}  // namespace
}  // namespace vinci
