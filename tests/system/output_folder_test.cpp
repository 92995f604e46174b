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
            "error: s.yaml: buffer 'h' writes 'stats.json', which is a file of every run; choose another name\n");
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

TEST_F(OutputFolder, AnInterruptedRunEndsInOrder) {
  write("s.yaml",
        "vinci: 1\nname: forever\narch: c220\nkernels:\n  k: {type: AIV_ONLY, code: \"loop: b loop\"}\n"
        "streams:\n  main:\n    - kernel_launch: {kernel: k}\n");
  const auto r = test::shell(
      folder_.path(), "timeout --foreground -s INT 1 '" VINCI_BINARY "' run s.yaml --chip tiny --out o --trace 2>&1");
  EXPECT_NE(r.output.find("error: interrupted at cycle "), std::string::npos) << r.output;
  EXPECT_TRUE(exists("o/trace.json"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "o")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with('.')) << entry.path();
  }
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
  EXPECT_NE(slurp(folder_ / "o/summary.txt").find(fmt::format("while kernels ran ({} cycles)", end - begin)),
            std::string::npos);
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
