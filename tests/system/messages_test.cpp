// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Where messages of the command line point, and what they may contain.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/shell.h"

namespace vinci {
namespace {

class Messages : public testing::Test {
 protected:
  test::ShellResult vinci(const std::string& arguments) const {
    return test::shell(folder_.path(), "'" VINCI_BINARY "' " + arguments + " 2>&1");
  }
  void write(const std::string& name, std::string_view text) const { std::ofstream(folder_ / name) << text; }

  test::TempFolder folder_{"vinci_messages"};
};

TEST_F(Messages, AnOptionInFrontOfAProgramIsNoProgram) {
  for (const std::string command : {"sim", "record -o a.vts"}) {
    const auto r = vinci(command + " --chack ./app");
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_EQ(r.output, command == "sim" ? "error: unknown option '--chack'; did you mean '--check'?\n"
                                         : "error: unknown option '--chack'\n");
  }
}

TEST_F(Messages, ATaskStreamMayBeginWithAByteOrderMark) {
  write("s.yaml", "\xef\xbb\xbfvinci: 1\nname: s\narch: c220\nstreams:\n  main: []\n");
  const auto r = vinci("check s.yaml");
  EXPECT_EQ(r.exit_code, 0) << r.output;
  EXPECT_NE(r.output.find("task stream 's'"), std::string::npos) << r.output;
}

TEST_F(Messages, ABrokenTaskStreamIsNoChipFile) {
  write("s.yaml", "name: s\narch: c220\nstreams:\n  main: []\n");
  EXPECT_EQ(vinci("check s.yaml").output, "error: s.yaml:1:1: a task stream starts with 'vinci: 1'\n");
  write("t.yaml", "vinci 1\nkernels:\n  k: {\n");
  EXPECT_NE(vinci("check t.yaml").output.find("not valid YAML"), std::string::npos);
  write("large.yaml", "streams:\n  main: []\n#" + std::string(2 << 20, ' ') + "\n");
  EXPECT_EQ(vinci("check large.yaml").output, "error: large.yaml:1:1: a task stream starts with 'vinci: 1'\n");
  write("chip.yaml", "extends: tiny\ncore:\n  buffers: {ub: 1KiB}\n");
  EXPECT_NE(vinci("check chip.yaml").output.find("chip"), std::string::npos);
}

TEST_F(Messages, TheNameOfAChipIsThatOfTheFileOfTheUser) {
  write("my{chip}.yaml", "extends: ascend-910b1\n");
  const auto r = vinci("check './my{chip}.yaml'");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_NE(r.output.find("error: ./my{chip}.yaml: chip.name is missing"), std::string::npos) << r.output;
}

TEST_F(Messages, ControlCharactersAndBytesOutsideUtf8AreSpelledOut) {
  const auto r = vinci("run \"$(printf '\\033[31mred\\302\\233 \\303\\274 \\374.yaml')\"");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.output.find('\x1b'), std::string::npos);
  EXPECT_NE(r.output.find("\\x1b[31mred\\xc2\\x9b \303\274 \\xfc.yaml"), std::string::npos) << r.output;
}

}  // namespace
}  // namespace vinci
