// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Ctrl-C, limits and missing threads: the tool ends in order, with the documented code and a message.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/shell.h"

namespace vinci {
namespace {

class Interrupt : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  test::ShellResult shell(const std::string& command) const { return test::shell(folder_.path(), command + " 2>&1"); }
  test::ShellResult vinci(const std::string& arguments) const { return shell("'" VINCI_BINARY "' " + arguments); }
  // The signal comes when the tool catches it: then the last digit of SigCgt has the bits of SIGHUP and SIGINT.
  test::ShellResult interrupted(const std::string& arguments, const std::string& signal) const {
    return shell(fmt::format("{{ '" VINCI_BINARY "' {} & tool=$!; tries=0\n"
                             "until grep -q '^SigCgt:.*[37bf]$' /proc/$tool/status || [ $tries -gt 1000 ]\n"
                             "do tries=$((tries + 1)); sleep 0.05; done\n"
                             "kill -{} $tool; wait $tool; }}",
                             arguments, signal));
  }

  test::TempFolder folder_{testing::UnitTest::GetInstance()->current_test_info()->name()};
};

constexpr const char* kEndless =
    "vinci: 1\nname: forever\narch: c220\nkernels:\n  k:\n    type: AIV_ONLY\n    code: |\n"
    "      loop: copy_ubuf_to_ubuf 0x100, 0, 0, 1, 1, 0, 0\n      b loop\n"
    "streams:\n  main:\n    - kernel_launch: {kernel: k}\n";
constexpr const char* kEndlessHost =
    "vinci: 1\nname: forever\narch: c220\nstreams: {}\nhost:\n  threads:\n    main:\n"
    "      - repeat:\n          times: 1000000000000\n          steps:\n"
    "            - repeat: {times: 1000000000000, steps: [compute: {name: think, time: 1us}]}\n";

TEST_F(Interrupt, ARunEndsInEachMode) {
  for (const char* text : {kEndless, kEndlessHost}) {
    write("s.yaml", text);
    for (const char* mode : {"full", "timing", "functional"}) {
      for (const char* signal : {"INT", "TERM", "HUP"}) {
        const auto r = interrupted(fmt::format("run s.yaml --chip tiny --out o -q --mode {}", mode), signal);
        EXPECT_EQ(r.exit_code, 7) << mode << ' ' << r.output;
        EXPECT_NE(r.output.find("error: interrupted a"), std::string::npos) << mode << ' ' << r.output;
      }
    }
  }
}

TEST_F(Interrupt, ALimitEndsEndlessHostProgramsInEachMode) {
  write("s.yaml", kEndlessHost);
  for (const char* mode : {"full", "timing", "functional"}) {
    const auto r = vinci(fmt::format("run s.yaml --chip tiny --out o -q --max-cycles 1000 --mode {}", mode));
    EXPECT_EQ(r.exit_code, 7) << mode << ' ' << r.output;
    EXPECT_NE(r.output.find("the limit of 1000 "), std::string::npos) << mode << ' ' << r.output;
  }
}

TEST_F(Interrupt, AStudyEnds) {
  const auto r = interrupted("study S01", "INT");
  EXPECT_EQ(r.exit_code, 7) << r.output;
  EXPECT_NE(r.output.find("error: interrupted at cycle "), std::string::npos) << r.output;
}

TEST_F(Interrupt, AValidationEnds) {
  for (const char* jobs : {"1", "2"}) {
    const auto r = interrupted(fmt::format("validate --csv values.csv --jobs {}", jobs), "INT");
    EXPECT_EQ(r.exit_code, 7) << r.output;
    EXPECT_NE(r.output.find("error: interrupted when "), std::string::npos) << r.output;
    EXPECT_NE(shell("test -e values.csv").exit_code, 0) << "a file of half the values";
  }
}

// The stacks of 1023 threads do not fit: the run goes on with those that do and says so, or it has no memory itself.
TEST_F(Interrupt, ThreadsThatCannotStartAreNoBug) {
  ASSERT_EQ(vinci("gen gemm --m 512 --n 512 --k 256 --chip tiny -o g").exit_code, 0);
  bool without_some = false;
  for (const int kib : {200'000, 400'000, 600'000, 800'000, 1'200'000, 2'000'000}) {
    const auto r = shell(fmt::format(
        "ulimit -v {}; '" VINCI_BINARY "' run g/gemm.yaml --chip tiny --out o -q --profile=off --threads 1024", kib));
    EXPECT_TRUE(r.exit_code == 0 || r.exit_code == 7) << kib << ": " << r.exit_code << ' ' << r.output;
    without_some |= r.exit_code == 0 && r.output.find("the system refused to start ") != std::string::npos;
  }
  EXPECT_TRUE(without_some);
}

}  // namespace
}  // namespace vinci
