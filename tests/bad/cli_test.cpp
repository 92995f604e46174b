// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The frame of the command line tool: exit codes, messages, and what is left on disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/shell.h"

namespace vinci {
namespace {

namespace fs = std::filesystem;

using Result = test::ShellResult;

class Cli : public testing::Test {
 protected:
  Cli() : folder_(fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Cli() override { fs::remove_all(folder_); }

  Result vinci(const std::string& arguments) const { return shell("'" VINCI_BINARY "' " + arguments + " 2>&1"); }

  Result shell(const std::string& command) const { return test::shell(folder_, command); }

  void write(const std::string& name, std::string_view text) const { std::ofstream(folder_ / name) << text; }
  std::string read(const std::string& name) const { return test::slurp(folder_ / name); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  fs::path folder_;
};

void expect(const Result& r, int exit_code, const std::string& output) {
  EXPECT_EQ(r.exit_code, exit_code);
  EXPECT_EQ(r.output, output);
}

TEST_F(Cli, AssemblesAndDisassembles) {
  write("k.s", ".arch c220\nloop: add X1, X1, 1\nblt X1, 8, loop\nend\n");
  expect(vinci("asm k.s -o k.bin"), 0, "");
  EXPECT_EQ(files(), (std::vector<std::string>{"k.bin", "k.s"}));
  expect(vinci("dis k.bin"), 0, ".arch c220\nloop:\n  add X1, X1, 1\n  blt X1, 8, loop\n  end\n");
  expect(vinci("dis k.bin -o again.s"), 0, "");
  EXPECT_EQ(read("again.s"), vinci("dis k.bin").output);
}

TEST_F(Cli, FailureLeavesTheOldFileAndNothingElse) {
  write("k.s", ".arch c220\n  bogus\n");
  write("k.bin", "precious");
  expect(vinci("asm k.s"), 2, "error: k.s:2:3: no instruction is called 'bogus'\n");
  EXPECT_EQ(read("k.bin"), "precious");
  EXPECT_EQ(files(), (std::vector<std::string>{"k.bin", "k.s"}));
}

TEST_F(Cli, NeverReplacesItsSource) {
  write("k.bin", ".arch c220\nend\n");
  expect(vinci("asm k.bin"), 2, "error: the output would replace its source 'k.bin'; name it with -o\n");
  EXPECT_EQ(read("k.bin"), ".arch c220\nend\n");
}

TEST_F(Cli, UsageErrorsHintAtHelp) {
  expect(vinci("ams k.s"), 2, "error: unknown command 'ams'; did you mean 'asm'?\nTry 'vinci --help'.\n");
  expect(vinci("asm k.s --ouput=x"), 2,
         "error: unknown option '--ouput=x'; did you mean '--output'?\nTry 'vinci asm --help'.\n");
  expect(vinci("asm k.s more"), 2, "error: unexpected argument 'more'\nTry 'vinci asm --help'.\n");
  expect(vinci("asm"), 2, "error: FILE is required\nTry 'vinci asm --help'.\n");
  expect(vinci("isa --arch c200"), 2,
         "error: --arch: no architecture is called 'c200'; did you mean 'c100'? (there are m100, c100, m200, c220)\n");
}

TEST_F(Cli, FilesThatCannotBeUsed) {
  expect(vinci("asm none.s"), 2, "error: cannot read 'none.s': No such file or directory\n");
  expect(vinci("asm ."), 2, "error: cannot read '.': it is a folder\n");
  write("k.s", ".arch c220\nend\n");
  expect(vinci("asm k.s -o none/k.bin"), 2, "error: cannot write 'none/k.bin': No such file or directory\n");
  expect(vinci("asm k.s -o ."), 2, "error: cannot write '.': it is a folder\n");
  expect(vinci("dis k.s"), 2, "error: k.s: this is no program file; it does not start with VNCPROG\n");
}

TEST_F(Cli, DescribesInstructions) {
  EXPECT_NE(vinci("isa").output.find("\nmad "), std::string::npos);
  EXPECT_EQ(vinci("isa --arch c220").output.find("copy_matrix_cc_to_ubuf"), std::string::npos);
  EXPECT_NE(vinci("isa --arch c100").output.find("copy_matrix_cc_to_ubuf"), std::string::npos);
  EXPECT_NE(vinci("isa mad").output.find("rows of A"), std::string::npos);
  EXPECT_EQ(vinci("isa --json mad").output.rfind("[\n {\n  \"name\": \"mad\",\n  \"opcode\": 320,", 0), 0u);
  expect(vinci("isa mad_sp"), 4,
         "error: mad_sp is a public name, but not supported: weights of two bits and sparse weights have no public "
         "layout\n");
  expect(vinci("isa mad_s4"), 2, "error: mad_s4 is written mad.s4\n");
  const std::string names = vinci("isa --arch c100 --public").output;
  for (const std::string_view line :
       {"vadd                           implemented\n",
        "depthwise_conv_v2              refused: no public source says what it computes\n",
        "mmad f16u2                     on c100 refused: weights of two bits have no "})
    EXPECT_NE(names.find(line), std::string::npos) << line;
  EXPECT_EQ(names.find("copy_matrix_cc_to_gm "), std::string::npos) << "belongs to c220";
  EXPECT_NE(vinci("isa --count").output.find("\nc220 "), std::string::npos);
  expect(vinci("isa load_cbuf_to_c"), 2,
         "error: no instruction is called 'load_cbuf_to_c'; did you mean 'load_cbuf_to_ca'?\n");
}

TEST_F(Cli, HelpAndVersionSucceed) {
  const Result version = vinci("--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.output.rfind("vinci ", 0), 0u);
  for (const std::string command : {"asm", "dis", "isa"}) {
    const Result help = vinci(command + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.output.find("Example: vinci " + command), std::string::npos) << help.output;
  }
}

TEST_F(Cli, AReaderThatLeavesIsNoError) {
  expect(shell("{ '" VINCI_BINARY "' isa --json 2>&1 1>&3 | cat >&2; } 3>&1 2>errors | true; cat errors"), 0, "");
}

TEST_F(Cli, AFullDiskIsOne) {
  expect(shell("'" VINCI_BINARY "' isa 2>&1 >/dev/full"), 7, "error: cannot write the standard output\n");
}

TEST_F(Cli, WritesThroughLinksAndDevices) {
  write("k.s", ".arch c220\nend\n");
  write("real.bin", "old");
  fs::create_symlink("real.bin", folder_ / "link.bin");
  expect(vinci("asm k.s -o link.bin"), 0, "");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.bin"));
  EXPECT_EQ(read("real.bin").substr(0, 7), "VNCPROG");
  expect(vinci("asm k.s -o /dev/null"), 0, "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace vinci
