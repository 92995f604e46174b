// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The frame of the command line tool: exit codes, messages, and what is left on disk.
#include <gmock/gmock.h>
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
  const std::string text = ".arch c220\nend\n";
  const std::string_view tasks = "vinci: 1\nname: t\narch: c220\n";
  write("k.bin", text);
  write("t.yaml", tasks);
  ASSERT_EQ(vinci("asm k.bin -o program.bin").exit_code, 0);
  const std::string program = read("program.bin");
  fs::create_hard_link(folder_ / "program.bin", folder_ / "same.s");
  fs::create_symlink("t.yaml", folder_ / "link.yaml");

  const auto refused = [](const std::string& file) {
    return "error: the output would replace its source '" + file + "'; choose another name\n";
  };
  expect(vinci("asm k.bin"), 2, refused("k.bin"));
  expect(vinci("asm k.bin -o ./k.bin"), 2, refused("k.bin"));
  expect(vinci("dis program.bin -o program.bin"), 2, refused("program.bin"));
  expect(vinci("dis program.bin -o same.s"), 2, refused("program.bin"));
  expect(vinci("pack t.yaml -o t.yaml"), 2, refused("t.yaml"));
  expect(vinci("pack t.yaml -o link.yaml"), 2, refused("t.yaml"));
  EXPECT_EQ(read("k.bin"), text);
  EXPECT_EQ(read("program.bin"), program);
  EXPECT_EQ(read("t.yaml"), tasks);
}

TEST_F(Cli, UsageErrorsHintAtHelp) {
  expect(vinci("ams k.s"), 2, "error: unknown command 'ams'; did you mean 'asm'?\nTry 'vinci --help'.\n");
  expect(vinci("asm k.s --ouput=x"), 2,
         "error: unknown option '--ouput=x'; did you mean '--output'?\nTry 'vinci asm --help'.\n");
  expect(vinci("asm k.s more"), 2, "error: unexpected argument 'more'\nTry 'vinci asm --help'.\n");
  expect(vinci("asm"), 2, "error: FILE is required\nTry 'vinci asm --help'.\n");
  expect(vinci("isa --arch c200"), 2,
         "error: --arch: no architecture is called 'c200'; did you mean 'c100'? (there are m100, c100, m200, c220)\n");
  expect(vinci("gen gem"), 2, "error: unknown command 'gem'; did you mean 'gemm'?\nTry 'vinci gen --help'.\n");
  expect(vinci("gen gemm --m 1 --n 1 -o g"), 2, "error: --k is required\nTry 'vinci gen gemm --help'.\n");
  expect(vinci("gen gemm --m 1 --n 1 --k 1 -o g --cip tiny"), 2,
         "error: unknown option '--cip'; did you mean '--chip'?\nTry 'vinci gen gemm --help'.\n");
  expect(vinci("check t.yaml --manual"), 2, "error: FILE excludes --manual\nTry 'vinci check --help'.\n");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(Cli, ASelectionOfNothingIsAnError) {
  expect(vinci("validate --only no-such-case"), 2, "error: no case has an id that contains 'no-such-case'\n");
}

TEST_F(Cli, IntegersAreWholeAndFit64Bits) {
  const auto refused = [](const std::string& option, const std::string& value, const std::string& range) {
    return "error: " + option + ": '" + value + "' is no integer from " + range;
  };
  const std::string any = "0 to 18446744073709551615\nTry 'vinci ";
  for (const std::string value : {"-1", "18446744073709551616", "1.5", "1e3", "0x", "+1", "1 "}) {
    expect(vinci("run none.yaml --seed '" + value + "'"), 2, refused("--seed", value, any + "run --help'.\n"));
    expect(vinci("gen gemm --m 1 --n 1 --k 1 -o g --seed '" + value + "'"), 2,
           refused("--seed", value, any + "gen gemm --help'.\n"));
  }
  expect(vinci("gen gemm --m 18446744073709551617 --n 1 --k 1 -o g"), 2,
         refused("--m", "18446744073709551617", "1 to 1048576\nTry 'vinci gen gemm --help'.\n"));
  expect(vinci("gen db-loss-scale --log2-scale 41 -o g"), 2,
         refused("--log2-scale", "41", "0 to 40\nTry 'vinci gen db-loss-scale --help'.\n"));
  for (const std::string value : {"nan", "inf", "1e999", "0", "-1", "x"}) {
    expect(vinci("gen db-maxpoolgrad -o g --scale " + value), 2,
           "error: --scale: '" + value + "' is no finite number above 0\nTry 'vinci gen db-maxpoolgrad --help'.\n");
  }
  EXPECT_EQ(files(), std::vector<std::string>{});
}

// The same number, however it is written, and the largest one.
TEST_F(Cli, SeedsMayBeHexadecimal) {
  const auto inputs = [&](const std::string& seed) {
    const Result r = vinci("gen gemm --m 2 --n 2 --k 2 -o g --seed " + seed);
    EXPECT_EQ(r.exit_code, 0) << r.output;
    return read("g/a.npy");
  };
  const std::string ten = inputs("10");
  EXPECT_EQ(inputs("0xa"), ten);
  EXPECT_EQ(inputs("010"), ten) << "no octal numbers";
  EXPECT_NE(inputs("8"), ten);
  EXPECT_EQ(inputs("18446744073709551615"), inputs("0xffffffffffffffff"));
}

TEST_F(Cli, EmptyValuesAreErrors) {
  for (const std::string command : {"run t.yaml --chip ''", "run t.yaml --out ''", "run t.yaml --set ''", "asm ''",
                                    "asm k.s -o ''", "dis ''", "chips ''", "check ''", "isa ''", "isa --arch ''",
                                    "gen gemm --m 1 --n 1 --k 1 -o ''", "run t.yaml --chip= -q"}) {
    const Result r = vinci(command);
    EXPECT_EQ(r.exit_code, 2) << command;
    EXPECT_NE(r.output.find(": the value is empty\n"), std::string::npos) << command << "\n" << r.output;
  }
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(Cli, AGemmThatFitsNothingIsRefusedAtOnce) {
  expect(vinci("gen gemm --m 1048576 --n 1048576 --k 1048576 -o g"), 7,
         "error: a GEMM of 1048576 x 1048576 x 1048576 needs 6TiB of device memory, but ascend-910b1 has 64GiB\n");
  expect(vinci("gen gemm --m 131072 --n 131072 --k 65536 -o g"), 7,
         "error: a GEMM of 131072 x 131072 x 65536 needs buffers of 64GiB on the host and 64GiB on the device; a task "
         "stream has at most 64GiB\n");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(Cli, CountsInWords) {
  EXPECT_NE(vinci("gen gemm --m 1 --n 1 --k 1 -o g").output.find(", 1 tile of 16 x 16 on 1 block, "),
            std::string::npos);
  EXPECT_NE(vinci("gen gemm --m 4000 --n 16 --k 16 -o g").output.find(" tiles of "), std::string::npos);
}

TEST_F(Cli, AQuietCheckedRunPrintsOnlyFindings) {
  write("good.yaml",
        "vinci: 1\nname: t\narch: c220\nbuffers:\n  d: {place: device, bytes: 64}\n"
        "streams:\n  main:\n    - memset_async: {dst: d, value: 0}\n");
  write("bad.yaml", read("good.yaml") + "    - free: d\n    - free: d\n");
  expect(vinci("run good.yaml --chip tiny --check -q --out o"), 0, "");
  EXPECT_NE(vinci("run good.yaml --chip tiny --check --out o").output.find("check               no findings\n"),
            std::string::npos);
  const Result bad = vinci("run bad.yaml --chip tiny --check -q --out o");
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_NE(bad.output.find("1. double-free\n"), std::string::npos) << bad.output;
}

TEST_F(Cli, FilesThatCannotBeUsed) {
  expect(vinci("asm none.s"), 2, "error: cannot read 'none.s': No such file or directory\n");
  expect(vinci("asm ."), 2, "error: cannot read '.': it is a folder\n");
  write("k.s", ".arch c220\nend\n");
  expect(vinci("asm k.s -o /dev/full"), 7, "error: cannot write '/dev/full': No space left on device\n");
  expect(vinci("asm k.s -o none/k.bin"), 2, "error: cannot write 'none/k.bin': No such file or directory\n");
  expect(vinci("asm k.s -o ."), 2, "error: cannot write '.': it is a folder\n");
  expect(vinci("dis k.s"), 2, "error: k.s: this is no program file; it does not start with VNCPROG\n");
}

TEST_F(Cli, CompilesAndRunsAscendCOnlyWithItsParts) {
  expect(vinci("cc"), 2, "error: no input file; Example: vinci cc add.asc -o add\n");
  expect(vinci("cc a.asc -o"), 2, "error: -o: a value is missing\n");
  expect(
      vinci("cc a.asc --npu-arch=dav-3510"), 4,
      "error: --npu-arch=dav-3510: supported are dav-2201 (Ascend 910B), dav-2002 (Ascend 310P) and dav-1001 (Ascend "
      "910), or by their older names dav-c220, dav-c220-vec, dav-c220-cube, dav-m200 and dav-c100\n");
  expect(vinci("cc a.asc --run-mode=npu"), 2, "error: --run-mode=npu: the modes are sim and cpu\n");
  write("open.asc", "void k(int); void f() {\n  k<<<1, 0, 0>>>(1;\n}\n");
  const Result open = vinci("cc -c open.asc");
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_TRUE(open.output.starts_with("error: open.asc: line ")) << open.output;
  EXPECT_EQ(files(), std::vector<std::string>{"open.asc"});
  expect(vinci("sim"), 2, "error: no program; Example: vinci sim ./add\n");
  expect(vinci("sim ./gone"), 2, "error: cannot run ./gone\n");
  EXPECT_TRUE(vinci("sim --soc-version=Ascend1 true").output.starts_with("error: --soc-version=Ascend1: there is no"));
  expect(vinci("sim --core-id='1;2' true"), 2, "error: --core-id 1;2: names are separated by |\n");
  expect(vinci("sim --timeout=1 ./gone"), 2, "error: cannot run ./gone\n");
  expect(vinci("record -o a.vts"), 2, "error: no program; Example: vinci record -o add.vts ./add\n");
  expect(vinci("record -o a.yaml true"), 2, "error: 'a.yaml' does not end in .vts\n");
  expect(vinci("record -o a.vts true"), 2,
         "error: true has recorded nothing: it is no program of `vinci cc`, or uses no device\n");
  EXPECT_EQ(vinci("sim --soc-version=Ascend910B1 --mode full sh -c 'exit 9'").exit_code, 9);
}

TEST_F(Cli, DescribesInstructions) {
  EXPECT_NE(vinci("isa").output.find("\nmad "), std::string::npos);
  EXPECT_EQ(vinci("isa --arch c220").output.find("copy_matrix_cc_to_ubuf"), std::string::npos);
  EXPECT_NE(vinci("isa --arch c100").output.find("copy_matrix_cc_to_ubuf"), std::string::npos);
  EXPECT_NE(vinci("isa mad").output.find("rows of A"), std::string::npos);
  EXPECT_EQ(vinci("isa --json mad").output.rfind("[\n {\n  \"name\": \"mad\",\n  \"opcode\": 320,", 0), 0u);
  expect(vinci("isa mad_b8u2"), 4,
         "error: mad_b8u2 is a public name, but not supported: weights of two bits and sparse weights have no public "
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
  EXPECT_EQ(vinci("isa mad.f162f32").output, vinci("isa mad").output);
  expect(vinci("isa mad.f16 --arch c100"), 2,
         "error: mad has no type 'f16' on c100; there is mad.f162f32, mad.f162f16, mad.s8, mad.u8, mad.u8s8\n");
  EXPECT_EQ(vinci("isa mad.bf162f32").exit_code, 0);
  EXPECT_EQ(vinci("isa mad.bf162f32 --arch c100").exit_code, 2) << "belongs to c220";
  EXPECT_EQ(vinci("isa vadd.").exit_code, 2);
  expect(vinci("isa mov.s64"), 2, "error: mov has no types\n");
  expect(vinci("isa load_cbuf_to_c"), 2,
         "error: no instruction is called 'load_cbuf_to_c'; did you mean 'load_cbuf_to_ca'?\n");
}

TEST_F(Cli, TheOutputOfARunHasTheNamesOfOtherCommands) {
  write("t.yaml", "vinci: 1\nname: t\narch: c220\nstreams: {}\n");
  for (const std::string option : {"-o ", "--out ", "--output "}) {
    EXPECT_EQ(vinci("run t.yaml -q " + option + "here").exit_code, 0) << option;
    EXPECT_TRUE(fs::exists(folder_ / "here/summary.txt")) << option;
    fs::remove_all(folder_ / "here");
  }
}

TEST_F(Cli, HelpAndVersionSucceed) {
  const Result version = vinci("--version");
  EXPECT_EQ(version.exit_code, 0);
  // The commit is in brackets where the build was made of a checkout.
  EXPECT_THAT(version.output, ::testing::MatchesRegex("vinci [0-9]+[.][0-9]+[.][0-9]+( [(][-.A-Za-z0-9_]+[)])?\n"));
  for (const std::string command :
       {"asm", "dis", "isa", "gen gemm", "gen db-log1p", "cc", "sim", "record", "msprof", "msprof op"}) {
    const Result help = vinci(command + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_NE(help.output.find("Example: vinci " + command), std::string::npos) << help.output;
  }
}

TEST_F(Cli, HelpOfCommandsThatRunAProgramNamesIt) {
  for (const std::string command : {"sim", "record", "msprof op simulator"}) {
    const std::string help = vinci(command + " --help").output;
    EXPECT_NE(help.find("Usage: vinci " + command + " [OPTIONS] PROGRAM [ARGUMENT...]\n"), std::string::npos) << help;
    EXPECT_NE(help.find("--native-timeout UINT"), std::string::npos) << help;
  }
  const std::string cc = vinci("cc --help").output;
  EXPECT_NE(cc.find("Usage: vinci cc [OPTIONS] [COMPILER_OPTION...] SOURCE...\n"), std::string::npos) << cc;
}

TEST_F(Cli, AReaderThatLeavesIsNoError) {
  expect(shell("{ '" VINCI_BINARY "' isa --json 2>&1 1>&3 | cat >&2; } 3>&1 2>errors | true; cat errors"), 0, "");
}

TEST_F(Cli, AFullDiskIsOne) {
  expect(shell("'" VINCI_BINARY "' isa 2>&1 >/dev/full"), 7, "error: cannot write the standard output\n");
}

// The shell counts `ulimit -f` in blocks of 512 or 1024 bytes: what is written here is larger than either. Counters of
// coverage, which the limit would cut off, go elsewhere.
TEST_F(Cli, AFileBeyondTheLimitOfTheShellIsOne) {
  std::string program = ".arch c220\n";
  for (int i = 0; i < 1000; ++i)
    program += "add X1, X1, 1\n";
  write("k.s", program + "end\n");
  write("k.bin", "precious");
  expect(shell("ulimit -f 4; GCOV_PREFIX=/tmp/vinci-gcov '" VINCI_BINARY "' asm k.s 2>&1"), 7,
         "error: cannot write 'k.bin': File too large\n");
  EXPECT_EQ(read("k.bin"), "precious");
  EXPECT_EQ(files(), (std::vector<std::string>{"k.bin", "k.s"}));
  expect(shell("(ulimit -f 4; GCOV_PREFIX=/tmp/vinci-gcov '" VINCI_BINARY "' isa 2>&1 >table); echo $?"), 0,
         "error: cannot write the standard output\n7\n");
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

TEST_F(Cli, StudiesRefuseWhatTheyWouldIgnore) {
  expect(vinci("study --all --list"), 2,
         "error: --all runs every study with its defaults: without STUDY, --set, --chip and --list\n");
  for (const char* const option : {"--set batch=3", "--chip tiny", "-o out"}) {
    expect(vinci(std::string("study ") + option), 2,
           "error: --set, --chip and --output belong to one STUDY, such as S09; `vinci study` lists all\n");
  }
  expect(vinci("study S09 --set chanels=3"), 2,
         "error: --set chanels=3: S09 has no knob 'chanels' (it has mebibytes, stream_mebibytes); `vinci study S09 "
         "--list` describes them\n");
  expect(vinci("study S28 --set largest=100"), 2,
         "error: --set largest=100: '100' is none of 64, 128, 256, 512, 1024; did you mean '128'?\n");
}

// A convolution that one of the two cores cannot hold is refused before anything runs, with the buffer that is full.
TEST_F(Cli, AStudySaysWhyAConvolutionDoesNotFit) {
  const auto refused = [&](const std::string& knobs, const std::string& why) {
    const Result r = vinci("study S22 --jobs 1 --set batch=1 " + knobs);
    EXPECT_EQ(r.exit_code, 2) << r.output;
    EXPECT_THAT(r.output, AllOf(testing::HasSubstr(why), Not(testing::HasSubstr("variant"))));
  };
  refused("--set channels=256 --set window=1 --set edge=28",
          "the split core: all weights and an image take 521 KiB of 512 in L1");
  refused("--set channels=128 --set edge=28", "the joint core: the weights of 16 channels take 36 KiB of 32 in L0B");
  refused("--set channels=40", "channels must be multiples of 16");
  refused("--set window=4", "the window must be odd");
  refused("--set edge=18", "the edge must be a multiple of 4");
}

}  // namespace
}  // namespace vinci
