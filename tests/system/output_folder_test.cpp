// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What a run leaves in its folder, and what it must not touch there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/shell.h"

namespace vinci {
namespace {

using test::slurp;

class OutputFolder : public testing::Test {
 protected:
  test::ShellResult vinci(const std::string& arguments) const {
    return test::shell(folder_.path(), "'" VINCI_BINARY "' " + arguments + " 2>&1");
  }
  void write(const std::string& name, std::string_view text) const { std::ofstream(folder_ / name) << text; }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  test::TempFolder folder_{fmt::format("vinci_{}", testing::UnitTest::GetInstance()->current_test_info()->name())};
};

// A copy to the device and back; `more` are further keys of the host buffer.
std::string copies(const std::string& more) {
  return "vinci: 1\nname: copies\narch: c220\nbuffers:\n  h: {place: host, bytes: 64" + more +
         "}\n  d: {place: device, bytes: 64}\nstreams:\n  main:\n    - memcpy_async: {dst: d, src: h}\n"
         "    - memcpy_async: {dst: h, src: d}\n";
}

constexpr const char* kDeadlock =
    "vinci: 1\nname: stuck\narch: c220\nbuffers:\n  x: {place: device, bytes: 64}\nkernels:\n  k:\n    type: AIV_ONLY\n"
    "    code: |\n      ld_arg X0, 0\n      copy_gm_to_ubuf 0, X0, 0, 1, 2, 0, 0\n"
    "      wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0\n      vrelu.f16 0, 0, 1, 1, 1, 8, 8\n      end\n"
    "streams:\n  main:\n    - kernel_launch: {kernel: k, args: [x]}\n";

TEST_F(OutputFolder, TheDefaultOneIsNamedAfterTheTaskStreamAndItsFolder) {
  write("s.yaml", copies(""));
  std::filesystem::create_directories(folder_.path() / "sub/deep");
  write("sub/s.yaml", copies(""));
  for (const std::string file : {"s.yaml", "./s.yaml", "sub/s.yaml", "./sub/deep/../s.yaml"})
    ASSERT_EQ(vinci("run " + file + " --chip tiny -q").exit_code, 0);
  ASSERT_EQ(test::shell(folder_.path() / "sub/deep", "'" VINCI_BINARY "' run ../s.yaml --chip tiny -q").exit_code, 0);
  std::vector<std::string> made;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "out"))
    made.push_back(entry.path().filename().string());
  std::ranges::sort(made);
  EXPECT_EQ(made, (std::vector<std::string>{"s", "sub-s"}));
  EXPECT_TRUE(exists("sub/deep/out/s/summary.txt"));
}

TEST_F(OutputFolder, NamesOfTheRunAreReserved) {
  write("s.yaml", copies(", output: stats.json"));
  const auto r = vinci("run s.yaml --chip tiny --out o");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_EQ(r.output,
            "error: s.yaml:5:39: buffer 'h' writes 'stats.json', which is a file of every run; choose another name\n");
}

TEST_F(OutputFolder, InputsAreNotReplaced) {
  write("a.bin", std::string(64, 'x'));
  write("s.yaml", copies(", file: a.bin, output: a.bin"));
  const auto data = vinci("run s.yaml --chip tiny --out .");
  EXPECT_EQ(data.exit_code, 2) << data.output;
  EXPECT_EQ(slurp(folder_ / "a.bin"), std::string(64, 'x'));
  EXPECT_EQ(vinci("run s.yaml --chip tiny --out o -q").exit_code, 0);

  write("chip.yaml", "extends: tiny\nname: mine\n");
  write("t.yaml", copies(""));
  const auto chip = vinci("run t.yaml --chip ./chip.yaml --out .");
  EXPECT_EQ(chip.exit_code, 2);
  EXPECT_EQ(chip.output, "error: ./chip.yaml: the run would replace its own input; choose another folder with --out\n");
  EXPECT_EQ(slurp(folder_ / "chip.yaml"), "extends: tiny\nname: mine\n");
}

TEST_F(OutputFolder, AFailedRunIsNotMistakenForTheOneBefore) {
  write("s.yaml", copies(", output: c.bin"));
  ASSERT_EQ(vinci("run s.yaml --chip tiny --out o -q --trace").exit_code, 0);
  ASSERT_TRUE(exists("o/summary.txt") && exists("o/c.bin") && exists("o/trace.json"));
  EXPECT_EQ(vinci("run s.yaml --chip tiny --out o -q --max-cycles 10").exit_code, 7);
  EXPECT_FALSE(exists("o/summary.txt") || exists("o/stats.json") || exists("o/c.bin") || exists("o/trace.json"));
}

TEST_F(OutputFolder, TheTimelineOfADeadlockIsKept) {
  write("s.yaml", kDeadlock);
  EXPECT_EQ(vinci("run s.yaml --chip tiny --out o --trace").exit_code, 6);
  const auto trace = nlohmann::json::parse(slurp(folder_ / "o/trace.json"));
  int copies_shown = 0;
  for (const auto& e : trace["traceEvents"])
    copies_shown += e["name"] == "copy_gm_to_ubuf" ? 1 : 0;
  EXPECT_EQ(copies_shown, 1);
  EXPECT_NE(slurp(folder_ / "o/instructions.csv").find("copy_gm_to_ubuf"), std::string::npos);
}

// Makes progress in the vector pipe for ever.
constexpr const char* kForever =
    "vinci: 1\nname: forever\narch: c220\nkernels:\n  k:\n    type: AIV_ONLY\n    code: |\n"
    "      loop: copy_ubuf_to_ubuf 0x100, 0, 0, 1, 1, 0, 0\n      b loop\n"
    "streams:\n  main:\n    - kernel_launch: {kernel: k}\n";

TEST_F(OutputFolder, AnInterruptedRunEndsInOrder) {
  write("s.yaml", kForever);
  const auto r = test::shell(
      folder_.path(), "timeout --foreground -s INT 1 '" VINCI_BINARY "' run s.yaml --chip tiny --out o --trace 2>&1");
  EXPECT_NE(r.output.find("error: interrupted at cycle "), std::string::npos) << r.output;
  EXPECT_TRUE(exists("o/trace.json"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "o")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with('.')) << entry.path();
  }
}

TEST_F(OutputFolder, ASecondRunIntoTheSameFolderIsRefused) {
  write("first.yaml", kForever);
  write("second.yaml", copies(", output: h.bin"));
  const auto r =
      test::shell(folder_.path(), "'" VINCI_BINARY
                                  "' run first.yaml --chip tiny --out o -q 2>/dev/null &\nfirst=$!\n"
                                  "while [ ! -e o/chip.yaml ]; do sleep 0.05; done\n'" VINCI_BINARY
                                  "' run second.yaml --chip tiny --out o 2>&1\necho \"exit $?\"\nkill -9 $first");
  EXPECT_EQ(r.output,
            "error: o: another process of vinci uses this folder; wait for its end or choose another folder\nexit 2\n");
  EXPECT_FALSE(exists("o/h.bin"));
  EXPECT_EQ(vinci("run second.yaml --chip tiny --out o -q").exit_code, 0);  // the lock ends with its process
}

// Hidden files anywhere beneath a folder.
int hidden_files(const std::filesystem::path& folder) {
  int n = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    n += entry.path().filename().string().starts_with('.') ? 1 : 0;
  return n;
}

TEST_F(OutputFolder, TemporaryFilesOfKilledRunsAreRemovedByTheNextRun) {
  write("forever.yaml", kForever);
  write("s.yaml", copies(", output: sub/h.bin"));
  ASSERT_EQ(
      test::shell(folder_.path(),
                  "timeout -s KILL 1 '" VINCI_BINARY
                  "' run forever.yaml --chip tiny --trace --profile --out o -q 2>/dev/null; ls -A o | grep -q '^[.]'")
          .exit_code,
      0)
      << "the killed run must leave temporary files for this test";
  EXPECT_EQ(vinci("run s.yaml --chip tiny --out o -q").exit_code, 0);
  EXPECT_EQ(hidden_files(folder_ / "o"), 0);
  EXPECT_TRUE(exists("o/sub/h.bin"));
}

// Files that the profile and the timeline have in several sizes: at each limit another one is the first that fails.
TEST_F(OutputFolder, AFileThatCannotBeStoredIsALimitThatNamesIt) {
  std::string s = copies("");
  for (int i = 0; i < 300; ++i)
    s += "    - memcpy_async: {dst: d, src: h}\n    - cpu_kernel_launch: {kernel: Opaque, time: 1us}\n";
  write("s.yaml", s);
  for (int blocks = 8; blocks < 400; blocks += 16) {
    for (const char* trace : {"json", "perfetto"}) {
      const auto limited =
          test::shell(folder_.path(), fmt::format("ulimit -f {}; GCOV_PREFIX=/tmp/vinci-gcov '{}' run s.yaml --chip "
                                                  "ascend-910b1 --out o --trace={} --profile -q 2>&1",
                                                  blocks, VINCI_BINARY, trace));
      if (limited.exit_code == 0) continue;
      EXPECT_EQ(limited.exit_code, 7) << limited.output;
      EXPECT_NE(limited.output.find("cannot write 'o/"), std::string::npos) << limited.output;
      EXPECT_NE(limited.output.find("File too large"), std::string::npos) << limited.output;
      EXPECT_EQ(hidden_files(folder_ / "o"), 0);
    }
  }
}

TEST_F(OutputFolder, OutputsThatCannotBeCreatedAreRefusedBeforeTheRun) {
  const auto refused = [&](const std::string& output, const std::string& why) {
    write("s.yaml", copies(", output: " + output));
    const auto r = vinci("run s.yaml --chip tiny --out o");
    EXPECT_EQ(r.exit_code, 2) << r.output;
    EXPECT_NE(r.output.find("error: s.yaml:5:39: " + why), std::string::npos) << r.output;
    EXPECT_FALSE(exists("o/stats.json"));
  };
  refused("\".\"", "'.' names a folder");
  refused("sub/", "'sub/' names a folder");
  refused("trace.json/x", "buffer 'h' writes 'trace.json/x', which is a file of every run; choose another name");
  refused("op_summary_19700101000000.csv/x", "buffer 'h' writes 'op_summary_19700101000000.csv/x'");
  std::filesystem::create_directories(folder_.path() / "o/there");
  refused("there", "buffer 'h' writes 'there', which is a folder in o; choose another name");
  write("o/file", "");
  refused("file/x", "buffer 'h' writes 'file/x', whose folder cannot be made: Not a directory");
  std::filesystem::create_directories(folder_.path() / "elsewhere");
  std::filesystem::create_directory_symlink("../elsewhere", folder_.path() / "o/link");
  refused("link/x", "buffer 'h' writes 'link/x', through a symbolic link that leaves the output folder o");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "elsewhere"));
}

TEST_F(OutputFolder, KernelsThatOverlapAreCountedOnce) {
  std::string s =
      "vinci: 1\nname: two\narch: c220\nbuffers:\n  x: {place: device, bytes: 65536}\nkernels:\n  k:\n"
      "    type: AIV_ONLY\n    code: |\n      ld_arg X0, 0\n      copy_gm_to_ubuf 0, X0, 0, 1, 2048, 0, 0\n"
      "      pipe_barrier PIPE_ALL\n      end\nstreams:\n";
  for (const char* stream : {"a", "b"}) {
    s += fmt::format("  {}:\n    - kernel_launch: {{kernel: k, args: [x]}}\n", stream);
  }
  write("s.yaml", s);
  ASSERT_EQ(vinci("run s.yaml --chip tiny --set host.launch=1ns --out o -q").exit_code, 0);
  const auto stats = nlohmann::json::parse(slurp(folder_ / "o/stats.json"));
  const auto& tasks = stats["tasks"];
  ASSERT_EQ(tasks.size(), 2u);
  ASSERT_LT(tasks[1]["start"].get<long>(), tasks[0]["end"].get<long>()) << "they must overlap for this test";
  const long begin = std::min(tasks[0]["start"].get<long>(), tasks[1]["start"].get<long>());
  const long end = std::max(tasks[0]["end"].get<long>(), tasks[1]["end"].get<long>());
  // Both have a cold start, and these overlap as well.
  const long cold = stats["cold_cycles"].get<long>(), of_one = tasks[0]["cold"].get<long>();
  EXPECT_GT(cold, 0);
  EXPECT_LT(cold, 2 * of_one);
  const auto shows = [&](const std::string& file, long cycles) {
    return slurp(folder_ / file).find(fmt::format("while kernels ran ({} cycles)", cycles)) != std::string::npos;
  };
  EXPECT_TRUE(shows("o/summary.txt", end - begin - cold));
  ASSERT_EQ(vinci("run s.yaml --chip tiny --set host.launch=1ns --cold --out c -q").exit_code, 0);
  EXPECT_TRUE(shows("c/summary.txt", end - begin));
}

TEST_F(OutputFolder, TheSummaryOfARunWithoutKernels) {
  std::string s =
      "vinci: 1\nname: moves\narch: c100\ndevices: 2\nbuffers:\n  h: {place: host, bytes: 1MiB}\n"
      "  a: {place: device, bytes: 1MiB}\n  b: {place: device, bytes: 1MiB, device: 1}\nstreams:\n";
  for (const auto& [stream, buffer] : {std::pair{0, "a"}, {1, "b"}}) {
    s += fmt::format("  s{}:\n    device: {}\n    tasks:\n", stream, stream);
    for (int i = 0; i < 20; ++i)
      s += fmt::format("    - memcpy_async: {{dst: {}, src: h}}\n", buffer);
    s += fmt::format("    - hccl: {{op: all_reduce, send: {0}, recv: {0}, count: 16, dtype: f4}}\n", buffer);
    s += fmt::format("    - cpu_kernel_launch: {{kernel: Opaque, time: 7us}}\n");
  }
  write("s.yaml", s);
  ASSERT_EQ(vinci("run s.yaml --chip ascend-910a --set host.copy_latency=0s --set host.h2d_bandwidth=10GB/s --out o -q")
                .exit_code,
            0);
  const std::string text = slurp(folder_ / "o/summary.txt");
  // 1 MiB at 10 GB/s is 104858 cycles of 1 GHz.
  const std::string copies = "40 tasks, 4194.320 us in sum, 41943040 B, 10.0 GB/s";
  EXPECT_NE(text.find("host to device      " + copies), std::string::npos) << copies << "\n" << text;
  EXPECT_NE(text.find("collectives         2 tasks, "), std::string::npos) << text;
  EXPECT_NE(text.find("AICPU               2 tasks, "), std::string::npos) << text;
  EXPECT_NE(text.find("type                   device stream"), std::string::npos) << text;
  EXPECT_NE(text.find("... and 14 more of 44 tasks: task_time_*.csv has all"), std::string::npos) << text;
  EXPECT_EQ(text.find("HBM "), std::string::npos) << text;
  EXPECT_EQ(text.find("while kernels ran"), std::string::npos) << text;
}

TEST_F(OutputFolder, TheSummaryMeasuresTheCubeByThePeakOfAllDevices) {
  const auto peak = [&](int devices) {
    std::string s = fmt::format(
        "vinci: 1\nname: mads\narch: c220\ndevices: {}\nkernels:\n  k:\n    type: AIC_ONLY\n    code: |\n"
        "      mad.f162f32 0, 0, 0, 16, 16, 16, 1\n      end\nstreams:\n",
        devices);
    for (int d = 0; d < devices; ++d)
      s += fmt::format("  s{0}: {{device: {0}, tasks: [{{kernel_launch: {{kernel: k}}}}]}}\n", d);
    write("s.yaml", s);
    EXPECT_EQ(vinci("run s.yaml --chip ascend-910b1 --mode timing --out o -q").exit_code, 0);
    const std::string text = slurp(folder_ / "o/summary.txt"), before = "% of the FP16 peak of ";
    const auto at = text.find(before);
    EXPECT_NE(at, std::string::npos) << text;
    return at == std::string::npos ? 0 : std::stod(text.substr(at + before.size()));
  };
  const double one = peak(1);
  EXPECT_GT(one, 300);  // TFLOPS
  EXPECT_NEAR(peak(3), 3 * one, 0.2);
}

}  // namespace
}  // namespace vinci
