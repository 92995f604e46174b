// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The profile of whole runs: files that other programs can read, whose sums agree with each other and with stats.json.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "isa/base/types.h"
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

  test::TempFolder folder_{fmt::format("vinci_{}", testing::UnitTest::GetInstance()->current_test_info()->name())};
};

TEST_F(ProfileOfARun, AddsUpOnSplitAndJointCores) {
  for (const std::string chip : {"ascend-910b1", "ascend-910a"}) {
    ASSERT_EQ(vinci(fmt::format("gen gemm --m 300 --n 500 --k 200 --chip {0} -o {0}", chip)).exit_code, 0);
    const std::string run = fmt::format("run {0}/gemm.yaml --chip {0} --mode timing -q --profile --out o-{0}", chip);
    ASSERT_EQ(vinci(run).exit_code, 0);
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

// A rank of each collective on each of four devices; device 3 comes last, after 500 us of work.
TEST_F(ProfileOfARun, ShowsTheCollectivesOfFourDevices) {
  std::string buffers, streams;
  for (u32 d = 0; d < 4; ++d) {
    buffers += fmt::format("  part{0}: {{place: device, bytes: 1024, device: {0}}}\n", d);
    buffers += fmt::format("  whole{0}: {{place: device, bytes: 4096, device: {0}}}\n", d);
    streams += fmt::format(R"(  s{0}:
    device: {0}
    tasks:
      - kernel_launch: {{kernel: {1}}}
      - hccl: {{op: all_reduce, send: whole{0}, recv: whole{0}, count: 1024, dtype: f4}}
      - hccl: {{op: all_gather, send: part{0}, recv: whole{0}, count: 512, dtype: bf2, algorithm: ring}}
)",
                           d, d == 3 ? "slow" : "fast");
  }
  write("s.yaml", "vinci: 1\nname: s\narch: c100\ndevices: 4\nbuffers:\n" + buffers +
                      "kernels:\n  fast: {time: 1us}\n  slow: {time: 500us}\nstreams:\n" + streams);
  const test::ShellResult run = vinci("run s.yaml --chip ascend-910a --mode timing -q --profile --out o");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(problems("o"), "");
  EXPECT_EQ(test::shell(folder_.path(), "grep COMMUNICATION o/op_summary_*.csv | cut -d, -f1,6,8 | sort").output,
            "0,hcom_allGather_,COMMUNICATION\n0,hcom_allReduce_,COMMUNICATION\n"
            "1,hcom_allGather_,COMMUNICATION\n1,hcom_allReduce_,COMMUNICATION\n"
            "2,hcom_allGather_,COMMUNICATION\n2,hcom_allReduce_,COMMUNICATION\n"
            "3,hcom_allGather_,COMMUNICATION\n3,hcom_allReduce_,COMMUNICATION\n");
  EXPECT_EQ(test::shell(folder_.path(), "grep COMMUNICATION o/op_statistic_*.csv | cut -d, -f1-4 | sort").output,
            "0,hcom_allGather_,COMMUNICATION,1\n0,hcom_allReduce_,COMMUNICATION,1\n"
            "1,hcom_allGather_,COMMUNICATION,1\n1,hcom_allReduce_,COMMUNICATION,1\n"
            "2,hcom_allGather_,COMMUNICATION,1\n2,hcom_allReduce_,COMMUNICATION,1\n"
            "3,hcom_allGather_,COMMUNICATION,1\n3,hcom_allReduce_,COMMUNICATION,1\n");
  EXPECT_EQ(test::shell(folder_.path(), "grep -c ',COMMUNICATION,' o/task_time_*.csv").output, "8\n");

  const auto events = nlohmann::json::parse(test::slurp(folder_ / "o/msprof_19700101000000.json"));
  std::map<u64, u64> device_of;  // by pid
  for (const auto& e : events) {
    if (e.at("name") == "process_name" && e.at("args").at("name") == "Communication")
      device_of[e.at("pid")] = e.at("pid").get<u64>() % 32;
  }
  EXPECT_EQ(device_of.size(), 4u);
  usize reduces = 0, gathers = 0;
  for (const auto& e : events) {
    if (e.at("ph") != "X" || !device_of.contains(e.at("pid"))) continue;
    const auto& args = e.at("args");
    EXPECT_EQ(e.at("tid"), device_of.at(e.at("pid")));  // stream sN is of device N
    EXPECT_EQ(args.at("Task Type"), "COMMUNICATION");
    if (args.at("op_type") == "hcom_allReduce_") {
      ++reduces;
      EXPECT_EQ(args.at("size(B)"), 4096);
      EXPECT_EQ(args.at("data_type"), "FP32");
      EXPECT_GT(e.at("ts").get<double>() + e.at("dur").get<double>(), 500);  // none is done before the last has come
      EXPECT_EQ(e.at("ts").get<double>() < 500, device_of.at(e.at("pid")) != 3);
    } else {
      ++gathers;
      EXPECT_EQ(args.at("op_type"), "hcom_allGather_");
      EXPECT_EQ(args.at("size(B)"), 1024);
      EXPECT_EQ(args.at("count"), 512);
      EXPECT_EQ(args.at("data_type"), "BFP16");
      EXPECT_EQ(args.at("alg_type"), "ring");
    }
  }
  EXPECT_EQ(reduces, 4u);
  EXPECT_EQ(gathers, 4u);
}

// The second kernel reads through a null pointer; what came before it is in the tables.
TEST_F(ProfileOfARun, ThatEndsWithAFaultHasTheTasksThatEnded) {
  write("s.yaml", R"(vinci: 1
name: s
arch: c220
kernels:
  good: {type: AIV_ONLY, time: 5us}
  bad:
    type: AIV_ONLY
    code: |
      copy_gm_to_ubuf 0, 0, 0, 1, 1, 0, 0
      end
streams:
  main:
    - kernel_launch: {kernel: good, block_dim: 2}
    - kernel_launch: {kernel: bad}
    - kernel_launch: {kernel: good}
)");
  EXPECT_EQ(vinci("run s.yaml --chip tiny -q --profile --out o").exit_code, 3);
  EXPECT_EQ(test::shell(folder_.path(), "cut -d, -f2,3 o/task_time_*.csv").output,
            "kernel_name,kernel_type\ngood,KERNEL_AIVEC\n");
  EXPECT_EQ(test::shell(folder_.path(), "cut -d, -f1-4 o/op_statistic_*.csv").output,
            "Device_id,OP Type,Core Type,Count\n0,good,AI_VECTOR_CORE,1\n");
  EXPECT_TRUE(nlohmann::json::accept(test::slurp(folder_ / "o/msprof_19700101000000.json")));
}

TEST_F(ProfileOfARun, IsTheSameEachTime) {
  ASSERT_EQ(vinci("gen gemm --m 64 --n 64 --k 64 --chip tiny -o g").exit_code, 0);
  for (const std::string out : {"one", "two"})
    ASSERT_EQ(vinci("run g/gemm.yaml --chip tiny -q --profile --out " + out).exit_code, 0);
  EXPECT_EQ(test::shell(folder_.path(), "rm one/run-info.json two/run-info.json; diff -r one two").output, "");
}

// Six launches of a product: the last ones are not simulated, and the files say the same.
TEST_F(ProfileOfARun, IsTheSameWhereLaunchesEqualEarlierOnes) {
  for (const std::string chip : {"ascend-910b1", "ascend-310p3"}) {
    ASSERT_EQ(vinci(fmt::format("gen gemm --m 300 --n 500 --k 200 --chip {0} -o {0}", chip)).exit_code, 0);
    const std::string once = test::slurp(folder_ / (chip + "/gemm.yaml"));
    const usize at = once.find("    - kernel_launch:"), end = once.find("    - ", at + 1);
    ASSERT_NE(end, std::string::npos);
    std::string six = once.substr(0, at);
    for (int i = 0; i < 6; ++i)
      six += once.substr(at, end - at);
    write(chip + "/six.yaml", six + once.substr(end));
    const std::string run = fmt::format("run {0}/six.yaml --chip {0} --mode timing -q --out ", chip);
    ASSERT_EQ(vinci(run + "some").exit_code, 0);
    ASSERT_EQ(vinci(run + "all --simulate-equal").exit_code, 0);
    const auto equal = [&](const std::string& out) {
      return nlohmann::json::parse(test::slurp(folder_ / (out + "/run-info.json"))).at("equal_launches").get<u64>();
    };
    EXPECT_GE(equal("some"), 3u) << chip;
    EXPECT_EQ(equal("all"), 0u);
    EXPECT_EQ(test::shell(folder_.path(), "rm some/run-info.json all/run-info.json; diff -r some all").output, "");
  }
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
  EXPECT_EQ(vinci("run s.yaml").output,
            "error: s.yaml:5:39: buffer 'h' writes 'msprof_20200101000000.json', which is a name of the profile; "
            "choose another "
            "name\n");
}

}  // namespace
}  // namespace vinci
