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
#if defined(VINCI_SANITIZED)
  GTEST_SKIP() << "AddressSanitizer maps more memory than the limit allows";
#endif
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

// The limit of processes and threads of a user other than root, of which this process may already use all.
class NoMoreThreads : public Interrupt {
 protected:
  // In a folder of that user; no limit where `limit` is empty.
  test::ShellResult as_nobody(const std::string& command, const std::string& limit = "prlimit --nproc=1:1 ") const {
    return shell("exec setpriv --reuid 65534 --regid 65534 --clear-groups " + limit + command);
  }
  void SetUp() override {
#if defined(VINCI_SANITIZED)
    GTEST_SKIP() << "what looks for leaks at the end needs a thread";
#endif
    for (const auto& folder : {folder_.path().parent_path(), folder_.path()})
      std::filesystem::permissions(folder, std::filesystem::perms::all);
    if (as_nobody("true").exit_code != 0) GTEST_SKIP() << "needs root, setpriv and prlimit";
    if (as_nobody("'" VINCI_BINARY "' --version", "").exit_code != 0) GTEST_SKIP() << "other users cannot run the tool";
    if (as_nobody("sh -c 'true & wait $!'").exit_code == 0) GTEST_SKIP() << "the limit of processes has no effect";
    ASSERT_EQ(as_nobody("'" VINCI_BINARY "' gen gemm --m 512 --n 512 --k 256 --chip tiny -o g").exit_code, 0);
  }
};

TEST_F(NoMoreThreads, CommandsGoOnWithTheThreadThatThereIs) {
  for (const char* threads : {"0", "2", "1024"}) {
    const auto r =
        as_nobody(fmt::format("'" VINCI_BINARY "' run g/gemm.yaml --chip tiny --out o -q --threads {}", threads));
    EXPECT_EQ(r.exit_code, 0) << r.output;
    const bool refused = r.output.find("the system refused to start ") != std::string::npos;
    EXPECT_TRUE(refused || std::string(threads) == "0") << r.output;
  }
  const auto study = as_nobody("'" VINCI_BINARY "' study S07 -o s");
  EXPECT_EQ(study.exit_code, 0) << study.output;
  const std::string cases = "validate --only vadd --sample 1 --csv ";
  const auto several = as_nobody("'" VINCI_BINARY "' " + cases + "several.csv --jobs 4");
  EXPECT_EQ(several.exit_code, 0) << several.output;
  const auto one = as_nobody("'" VINCI_BINARY "' " + cases + "one.csv --jobs 1");
  EXPECT_EQ(one.exit_code, 0) << one.output;
  EXPECT_EQ(test::slurp(folder_ / "several.csv"), test::slurp(folder_ / "one.csv"));
}

TEST_F(NoMoreThreads, ProgramsThatCannotStartAreALimit) {
  std::ofstream(folder_ / "k.asc") << "int main() {}\n";
  for (const char* command : {"sim --timeout 1 true", "cc k.asc -o k"}) {
    const auto r = as_nobody(fmt::format("'" VINCI_BINARY "' {}", command));
    EXPECT_EQ(r.exit_code, 7) << r.output;
    EXPECT_NE(r.output.find("error: cannot start "), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("Resource temporarily unavailable"), std::string::npos) << r.output;
  }
}

}  // namespace
}  // namespace vinci
