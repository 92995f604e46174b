// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The profile of whole runs: files that other programs can read, whose sums agree with each other and with stats.json.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/shell.h"

namespace vinci {
namespace {

class ProfileOfARun : public testing::Test {
 protected:
  test::ShellResult vinci(const std::string& arguments) const {
    return test::shell(folder_.path(), "'" VINCI_BINARY "' " + arguments + " 2>&1");
  }
  // What does not add up in the profile of a run, read with Python.
  std::string problems(const std::string& run) const {
    const test::ShellResult r = test::shell(folder_.path(), "python3 '" VINCI_CHECK_PROFILE "' " + run + " 2>&1");
    EXPECT_EQ(r.exit_code, 0);
    return r.output;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  void write(const std::string& name, std::string_view text) const { std::ofstream(folder_ / name) << text; }

  test::TempFolder folder_{
      fmt::format("vinci_{}_{}", testing::UnitTest::GetInstance()->current_test_info()->name(), ::getpid())};
};

TEST_F(ProfileOfARun, AddsUpOnSplitAndJointCores) {
  for (const std::string chip : {"ascend-910b1", "ascend-910a"}) {
    ASSERT_EQ(vinci("gen gemm --m 300 --n 500 --k 200 --chip " + chip + " -o " + chip).exit_code, 0);
    ASSERT_EQ(
        vinci("run " + chip + "/gemm.yaml --chip " + chip + " --mode timing -q --profile --out o-" + chip).exit_code,
        0);
    EXPECT_EQ(problems("o-" + chip), "") << chip;
  }
  EXPECT_TRUE(
      exists("o-ascend-910b1/OPPROF_19700101000000_VINCI/simulator/core0.cubecore0/core0.cubecore0_instr_exe.csv"));
  EXPECT_TRUE(exists("o-ascend-910a/OPPROF_19700101000000_VINCI/simulator/core0/trace.json"));
}

// A host program: each turn copies, then launches a kernel of given time, on two streams.
TEST_F(ProfileOfARun, CountsTheTurnsOfTheHostProgram) {
  write("s.yaml", R"(vinci: 1
name: s
arch: c220
buffers:
  h: {place: host, bytes: 4096}
  d: {place: device, bytes: 4096}
kernels:
  k: {type: AIV_ONLY, time: 5us}
streams:
  copy:
    - memcpy_async: {dst: d, src: h}
  main:
    - kernel_launch: {kernel: k, block_dim: 3}
host:
  threads:
    main:
      - repeat: {times: 7, steps: [{enqueue: copy}, {synchronize_stream: copy}, {enqueue: main}, {synchronize_stream: main}]}
)");
  const test::ShellResult run = vinci("run s.yaml --chip ascend-910b1 --mode timing -q --profile --out o");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(problems("o"), "");
  EXPECT_EQ(test::shell(folder_.path(), "cut -d, -f2 o/step_trace_*.csv").output,
            "Iteration ID\n1\n2\n3\n4\n5\n6\n7\n");
  EXPECT_EQ(test::shell(folder_.path(), "grep -c MEMCPY_ASYNC o/task_time_*.csv").output, "7\n");
}

TEST_F(ProfileOfARun, IsTheSameEachTime) {
  ASSERT_EQ(vinci("gen gemm --m 64 --n 64 --k 64 --chip tiny -o g").exit_code, 0);
  for (const std::string out : {"one", "two"})
    ASSERT_EQ(vinci("run g/gemm.yaml --chip tiny -q --profile --out " + out).exit_code, 0);
  EXPECT_EQ(test::shell(folder_.path(), "rm one/run-info.json two/run-info.json; diff -r one two").output, "");
}

TEST_F(ProfileOfARun, OfAnEarlierRunGoesAway) {
  ASSERT_EQ(vinci("gen gemm --m 64 --n 64 --k 64 --chip tiny -o g").exit_code, 0);
  const std::string run = "run g/gemm.yaml --chip tiny --mode timing -q --out o ";
  ASSERT_EQ(vinci(run + "--profile --timestamp 20200101000000").exit_code, 0);
  EXPECT_TRUE(exists("o/msprof_20200101000000.json") && exists("o/OPPROF_20200101000000_VINCI"));
  write("o/op_summary_of_mine.csv", "x");
  ASSERT_EQ(vinci(run).exit_code, 0);
  EXPECT_FALSE(exists("o/msprof_20200101000000.json") || exists("o/OPPROF_20200101000000_VINCI") ||
               exists("o/op_summary_20200101000000.csv"));
  EXPECT_TRUE(exists("o/op_summary_19700101000000.csv"));
  EXPECT_FALSE(exists("o/msprof_19700101000000.json"));
  ASSERT_EQ(vinci(run + "--profile=off").exit_code, 0);
  EXPECT_FALSE(exists("o/op_summary_19700101000000.csv"));
  EXPECT_TRUE(exists("o/op_summary_of_mine.csv"));
}

TEST_F(ProfileOfARun, WrongOptionsAreRefused) {
  write("s.yaml",
        "vinci: 1\nname: s\narch: c220\nbuffers:\n  h: {place: host, bytes: 64, output: msprof_20200101000000.json}\n"
        "  d: {place: device, bytes: 64}\nstreams:\n  main:\n    - memcpy_async: {dst: d, src: h}\n");
  EXPECT_EQ(vinci("run s.yaml --profile=cvs").output,
            "error: --profile=cvs: the levels are off, csv and all; did you mean 'csv'?\n");
  EXPECT_EQ(vinci("run s.yaml --timestamp 2020").output,
            "error: --timestamp 2020: 14 digits are expected, such as 20240131235959\n");
  EXPECT_EQ(vinci("run s.yaml --profile --mode functional").output,
            "error: --profile shows time; mode functional has none\n");
  EXPECT_EQ(
      vinci("run s.yaml").output,
      "error: s.yaml: buffer 'h' writes 'msprof_20200101000000.json', which is a name of the profile; choose another "
      "name\n");
}

}  // namespace
}  // namespace vinci
