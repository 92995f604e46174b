// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The library as a program sees it, compared with the simulator behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vinci/vinci.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "tests/capi/bench.h"

namespace vinci {
namespace {

using namespace capi_test;  // NOLINT
using testing::HasSubstr;

TEST(CApi, ARunIsThatOfTheSimulator) {
  const Bench b;
  RunHandle run;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &run.p), VINCI_OK) << vinci_last_error();
  EXPECT_EQ(vinci_run_cycles(run), 0u);  // nothing happens before the wait
  ASSERT_EQ(vinci_wait(run), VINCI_OK) << vinci_last_error();
  EXPECT_EQ(vinci_wait(run), VINCI_OK);

  const std::string text = stream_text();
  const task::TaskStream stream =
      task::parse_task_stream(std::as_bytes(std::span(text)), "double.yaml", task::MemoryFiles());
  task::RunMemory memory(stream, true, 0);
  const models::Result direct = models::simulate(config::load_chip("ascend-910b1"), stream, memory, {});
  EXPECT_EQ(vinci_run_cycles(run), direct.cycles);
  EXPECT_EQ(vinci_run_kernel_cycles(run), direct.kernel_cycles);
  EXPECT_EQ(vinci_run_instructions(run), direct.instructions);
  EXPECT_GT(vinci_run_seconds(run), 0);
  EXPECT_EQ(nlohmann::ordered_json::parse(vinci_run_stats(run)).at("counters"), direct.stats.json());
  std::vector<float> expected(192);
  std::memcpy(expected.data(), memory.host(1).data(), 768);
  EXPECT_EQ(output(run, "b"), expected);

  u64 busy = 0;
  ASSERT_EQ(vinci_run_counter(run, "core0.AIV/V/busy", &busy), VINCI_OK) << vinci_last_error();
  EXPECT_EQ(busy, direct.stats.json().at("core0.AIV").at("V").at("busy").get<u64>());
  EXPECT_EQ(vinci_run_counter(run, "core0.AIV/V/busyness", &busy), VINCI_ERROR_INPUT);
}

TEST(CApi, InputsComeFromMemoryAndOutputsSayWhatTheyAre) {
  const Bench b;
  std::vector<float> a(192);
  for (usize i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(i);
  RunHandle before, after;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &before.p), VINCI_OK);
  ASSERT_EQ(vinci_stream_set_input(b.stream, "a", a.data(), a.size() * 4), VINCI_OK) << vinci_last_error();
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &after.p), VINCI_OK);
  ASSERT_EQ(vinci_wait(after), VINCI_OK);
  ASSERT_EQ(vinci_wait(before), VINCI_OK);
  for (usize i = 0; i < a.size(); ++i)
    ASSERT_EQ(output(after, "b")[i], 2 * a[i]);
  EXPECT_NE(output(before, "b"), output(after, "b"));  // what was submitted is not changed any more

  ASSERT_EQ(vinci_run_output_count(after), 1u);
  vinci_output out{};
  out.size = sizeof out;
  ASSERT_EQ(vinci_run_output(after, 0, &out), VINCI_OK);
  EXPECT_STREQ(out.name, "b");
  EXPECT_STREQ(out.dtype, "f4");
  EXPECT_THAT(std::vector<u64>(out.shape, out.shape + out.dimensions), testing::ElementsAre(3, 64));
  EXPECT_EQ(vinci_stream_set_input(b.stream, "a", a.data(), 4), VINCI_ERROR_INPUT);
  EXPECT_EQ(vinci_stream_set_input(b.stream, "ad", a.data(), 768), VINCI_ERROR_INPUT);
  EXPECT_THAT(vinci_last_error(), HasSubstr("no host buffer 'ad'"));
}

TEST(CApi, ModesDifferInWhatTheyKnow) {
  const Bench b;
  RunHandle full, timing, functional;
  const vinci_options t = options(VINCI_MODE_TIMING), f = options(VINCI_MODE_FUNCTIONAL);
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &full.p), VINCI_OK);
  ASSERT_EQ(vinci_submit(b.chip, b.stream, &t, &timing.p), VINCI_OK);
  ASSERT_EQ(vinci_submit(b.chip, b.stream, &f, &functional.p), VINCI_OK);
  for (vinci_run* run : {full.p, timing.p, functional.p})
    ASSERT_EQ(vinci_wait(run), VINCI_OK) << vinci_last_error();
  EXPECT_EQ(vinci_run_cycles(timing), vinci_run_cycles(full));
  EXPECT_STREQ(vinci_run_stats(timing), vinci_run_stats(full));
  EXPECT_EQ(vinci_run_cycles(functional), 0u);
  EXPECT_STREQ(vinci_run_stats(functional), "");
  EXPECT_EQ(output(functional, "b"), output(full, "b"));
  vinci_output out{};
  out.size = sizeof out;
  ASSERT_EQ(vinci_run_output(timing, 0, &out), VINCI_OK);
  EXPECT_EQ(out.data, nullptr);
}

TEST(CApi, ErrorsHaveAStatusAndAText) {
  vinci_chip* chip = nullptr;
  EXPECT_EQ(vinci_chip_create("ascend-910b7", nullptr, 0, &chip), VINCI_ERROR_INPUT);
  EXPECT_THAT(vinci_last_error(), HasSubstr("ascend-910b7"));
  EXPECT_EQ(chip, nullptr);
  const char* wrong[] = {"core.cube.startup=many"};
  EXPECT_EQ(vinci_chip_create("ascend-910b1", wrong, 1, &chip), VINCI_ERROR_INPUT);
  const char* null[] = {nullptr};
  EXPECT_EQ(vinci_chip_create("ascend-910b1", null, 1, &chip), VINCI_ERROR_INPUT);
  EXPECT_EQ(vinci_chip_create(nullptr, nullptr, 0, &chip), VINCI_ERROR_INPUT);
  EXPECT_STREQ(vinci_last_error(), "name_or_file is NULL");
  vinci_stream* stream = nullptr;
  EXPECT_EQ(vinci_stream_parse("vinci: 2\n", 9, nullptr, &stream), VINCI_ERROR_INPUT);
  EXPECT_EQ(vinci_stream_load("/nowhere/x.yaml", &stream), VINCI_ERROR_INPUT);
  EXPECT_EQ(vinci_wait(nullptr), VINCI_ERROR_INPUT);
  // Of another architecture than the chip.
  const Bench b;
  ChipHandle other;
  ASSERT_EQ(vinci_chip_create("ascend-910a", nullptr, 0, &other.p), VINCI_OK);
  vinci_run* run = nullptr;
  EXPECT_EQ(vinci_submit(other, b.stream, nullptr, &run), VINCI_ERROR_INPUT);
  EXPECT_STREQ(vinci_status_name(VINCI_ERROR_DEADLOCK), "deadlock");
}

TEST(CApi, OverridesAndTextsMakeChips) {
  const Bench b;
  const char* slow[] = {"core.vector.binary.tail=4000"};
  ChipHandle changed, again;
  ASSERT_EQ(vinci_chip_create("ascend-910b1", slow, 1, &changed.p), VINCI_OK) << vinci_last_error();
  const std::string text = vinci_chip_text(changed);
  ASSERT_EQ(vinci_chip_parse(text.data(), text.size(), nullptr, 0, &again.p), VINCI_OK) << vinci_last_error();
  RunHandle one, two, three;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &one.p), VINCI_OK);
  ASSERT_EQ(vinci_submit(changed, b.stream, nullptr, &two.p), VINCI_OK);
  ASSERT_EQ(vinci_submit(again, b.stream, nullptr, &three.p), VINCI_OK);
  for (vinci_run* run : {one.p, two.p, three.p})
    ASSERT_EQ(vinci_wait(run), VINCI_OK) << vinci_last_error();
  EXPECT_GT(vinci_run_cycles(two), vinci_run_cycles(one));
  EXPECT_EQ(vinci_run_cycles(three), vinci_run_cycles(two));
  EXPECT_EQ(output(two, "b"), output(one, "b"));
  EXPECT_STREQ(vinci_chip_arch(b.chip), "c220");
  EXPECT_EQ(vinci_chip_vector_cores(b.chip), 2 * vinci_chip_ai_cores(b.chip));
}

TEST(CApi, LimitsAndCancellationEndARun) {
  const Bench b;
  vinci_options few = VINCI_OPTIONS_INIT;
  few.max_cycles = 100;
  RunHandle short_run, cancelled;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, &few, &short_run.p), VINCI_OK);
  EXPECT_EQ(vinci_wait(short_run), VINCI_ERROR_LIMIT);
  EXPECT_EQ(vinci_wait(short_run), VINCI_ERROR_LIMIT);
  EXPECT_THAT(vinci_last_error(), HasSubstr("cycles"));
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &cancelled.p), VINCI_OK);
  vinci_cancel(cancelled);
  EXPECT_EQ(vinci_wait(cancelled), VINCI_ERROR_LIMIT);
}

TEST(CApi, ThreadsTakeTurns) {
  const Bench b;
  constexpr usize kThreads = 4;
  std::vector<RunHandle> runs(kThreads);
  for (RunHandle& run : runs)
    ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &run.p), VINCI_OK);
  std::atomic<usize> good = 0;
  std::vector<std::thread> threads;
  for (RunHandle& run : runs)
    threads.emplace_back([&] { good += vinci_wait(run) == VINCI_OK; });
  vinci_chip* none = nullptr;
  EXPECT_EQ(vinci_chip_create("nothing", nullptr, 0, &none), VINCI_ERROR_INPUT);
  for (std::thread& t : threads)
    t.join();
  EXPECT_EQ(good, kThreads);
  EXPECT_THAT(vinci_last_error(), HasSubstr("nothing"));  // of this thread
  for (RunHandle& run : runs) {
    EXPECT_STREQ(vinci_run_stats(run), vinci_run_stats(runs[0]));
    EXPECT_EQ(output(run, "b"), output(runs[0], "b"));
  }
}

TEST(CApi, DeviceMemoryStaysFromRunToRun) {
  DeviceBench d;
  const std::vector<float> x(192, 1.5f);
  std::vector<float> y(192), z(192);
  ASSERT_EQ(vinci_copy_in(d.a, 0, x.data(), 768), VINCI_OK);
  ASSERT_EQ(d.launch(d.a, d.b), VINCI_OK) << vinci_last_error();
  ASSERT_EQ(vinci_copy_out(y.data(), d.b, 0, 768), VINCI_OK);
  EXPECT_EQ(y, std::vector<float>(192, 0.0f));
  ASSERT_EQ(d.run(), VINCI_OK) << vinci_last_error();
  EXPECT_EQ(y, std::vector<float>(192, 3.0f));
  ASSERT_EQ(d.launch(d.b, d.a, 256, 2), VINCI_OK);  // the last two thirds, from what is there
  ASSERT_EQ(d.run(), VINCI_OK) << vinci_last_error();
  ASSERT_EQ(vinci_read(d.a, 0, z.data(), 768), VINCI_OK);
  EXPECT_EQ(z[63], 1.5f);
  EXPECT_EQ(z[64], 6.0f);
  EXPECT_EQ(z[191], 6.0f);
  const float one = 1;
  ASSERT_EQ(vinci_write(d.a, 0, &one, 4), VINCI_OK);
  ASSERT_EQ(vinci_read(d.a, 0, z.data(), 8), VINCI_OK);
  EXPECT_EQ(z[0], 1.0f);
  EXPECT_EQ(z[1], 1.5f);
}

TEST(CApi, AFailedRunLeavesDeviceMemory) {
  DeviceBench d;
  const std::vector<float> x(192, 1.0f);
  std::vector<float> y(192, -1.0f);
  ASSERT_EQ(vinci_copy_in(d.a, 0, x.data(), 768), VINCI_OK);
  ASSERT_EQ(d.launch(d.a, d.b, 0, 4), VINCI_OK);  // the fourth block is outside
  ASSERT_EQ(vinci_copy_out(y.data(), d.b, 0, 768), VINCI_OK);
  EXPECT_EQ(d.run(), VINCI_ERROR_PROGRAM);
  EXPECT_EQ(y, std::vector<float>(192, -1.0f));
  ASSERT_EQ(vinci_read(d.a, 0, y.data(), 768), VINCI_OK);
  EXPECT_EQ(y, std::vector<float>(192, 0.0f));
  EXPECT_EQ(d.run(), VINCI_OK);  // of no task
}

TEST(CApi, DevicesRefuseWhatCannotBe) {
  DeviceBench d;
  float x = 0;
  EXPECT_EQ(vinci_read(d.a, 768, &x, 4), VINCI_ERROR_INPUT);
  EXPECT_EQ(vinci_copy_in(d.a, 765, &x, 4), VINCI_ERROR_INPUT);
  EXPECT_EQ(d.launch(d.a, d.b, 0, 0), VINCI_ERROR_INPUT);
  vinci_buffer* large = nullptr;
  EXPECT_EQ(vinci_malloc(d.device, size_t{1} << 40, &large), VINCI_ERROR_LIMIT);
  vinci_kernel* kernel = nullptr;
  EXPECT_EQ(vinci_kernel_create(d.device, "k", VINCI_CORE_VECTOR, "nop\n", 4, &kernel), VINCI_ERROR_INPUT);
  EXPECT_EQ(vinci_kernel_create(d.device, "k", VINCI_CORE_AI, "end\n", 4, &kernel), VINCI_ERROR_INPUT);
  EXPECT_EQ(vinci_kernel_create(d.device, "k", VINCI_CORE_CUBE, "vxor\n", 5, &kernel), VINCI_ERROR_INPUT);
  ASSERT_EQ(d.launch(d.a, d.b), VINCI_OK);
  EXPECT_EQ(vinci_free(d.a), VINCI_ERROR_INPUT);
  ASSERT_EQ(d.run(), VINCI_OK);
  EXPECT_EQ(vinci_free(d.a), VINCI_OK);
  EXPECT_EQ(vinci_free(d.a), VINCI_ERROR_INPUT);
  EXPECT_EQ(d.launch(d.a, d.b), VINCI_ERROR_INPUT);
  DeviceBench other;
  EXPECT_EQ(d.launch(other.a, d.b), VINCI_ERROR_INPUT);
  RunHandle one;
  ASSERT_EQ(vinci_device_submit(other.device, nullptr, &one.p), VINCI_OK);
  vinci_run* two = nullptr;
  EXPECT_EQ(vinci_device_submit(other.device, nullptr, &two), VINCI_ERROR_INPUT);
}

TEST(CApi, FindingsOfTheCheckAreAFailure) {
  DeviceBench d;
  std::string racy(kDouble);
  racy.erase(racy.find("wait_flag PIPE_MTE2"), racy.find("vadd") - racy.find("wait_flag PIPE_MTE2"));
  vinci_kernel* kernel = nullptr;
  ASSERT_EQ(vinci_kernel_create(d.device, "racy", VINCI_CORE_VECTOR, racy.data(), racy.size(), &kernel), VINCI_OK);
  const vinci_arg args[] = {{d.a, 0}, {d.b, 0}};
  const std::vector<float> x(192, 1.0f);
  ASSERT_EQ(vinci_copy_in(d.a, 0, x.data(), 768), VINCI_OK);
  ASSERT_EQ(vinci_launch(kernel, 1, args, 2), VINCI_OK);
  vinci_options checked = VINCI_OPTIONS_INIT;
  checked.check = 1;
  RunHandle run;
  ASSERT_EQ(vinci_device_submit(d.device, &checked, &run.p), VINCI_OK);
  EXPECT_EQ(vinci_wait(run), VINCI_ERROR_PROGRAM);
  EXPECT_THAT(vinci_run_findings(run), HasSubstr("racy"));
}

TEST(CApi, NumericEventsAreThoseOfTheTool) {
  DeviceBench d;
  const std::string adds =
      "set_vector_mask -1, -1\nvector_dup.f16 0, 0x7bff, 1, 1, 0, 8, 0\n"
      "vadd.f16 256, 0, 0, 1, 1, 1, 1, 8, 8, 8\nend\n";
  vinci_kernel* kernel = nullptr;
  ASSERT_EQ(vinci_kernel_create(d.device, "adds", VINCI_CORE_VECTOR, adds.data(), adds.size(), &kernel), VINCI_OK);
  ASSERT_EQ(vinci_launch(kernel, 2, nullptr, 0), VINCI_OK);
  vinci_options counted = VINCI_OPTIONS_INIT;
  counted.numerics = 1;
  RunHandle run;
  ASSERT_EQ(vinci_device_submit(d.device, &counted, &run.p), VINCI_OK);
  EXPECT_STREQ(vinci_run_numerics(run), "");
  EXPECT_EQ(vinci_wait(run), VINCI_OK);
  const auto report = nlohmann::json::parse(vinci_run_numerics(run));
  ASSERT_EQ(report.at("lines").size(), 1u);
  EXPECT_EQ(report.at("lines").at(0).at("overflow"), 2 * 128);
  EXPECT_EQ(report.at("causes").at(0).at("born").at("instruction"), "vadd.f16");
  counted.mode = VINCI_MODE_TIMING;
  vinci_run* none = nullptr;
  EXPECT_EQ(vinci_device_submit(d.device, &counted, &none), VINCI_ERROR_INPUT);
}

// The file of a run, "" where there is none.
std::string file(const RunHandle& run, const char* name) {
  const void* data = nullptr;
  size_t bytes = 0;
  if (vinci_run_file(run.p, name, &data, &bytes) != VINCI_OK) return {};
  return {static_cast<const char*>(data), bytes};
}

std::vector<std::string> file_names(const RunHandle& run) {
  std::vector<std::string> out;
  for (size_t i = 0; i < vinci_run_file_count(run); ++i)
    out.emplace_back(vinci_run_file_name(run, i));
  return out;
}

TEST(CApi, AFileOfARunHasTheNameThatItHasInTheFolderOfTheTool) {
  const Bench b;
  vinci_options options = VINCI_OPTIONS_INIT;
  options.check = options.numerics = 1;
  RunHandle run, plain;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, &options, &run.p), VINCI_OK) << vinci_last_error();
  EXPECT_THAT(file_names(run), testing::IsEmpty());
  EXPECT_EQ(file(run, "stats.json"), "");
  EXPECT_STREQ(vinci_last_error(), "the run is not done");
  ASSERT_EQ(vinci_wait(run), VINCI_OK) << vinci_last_error();
  EXPECT_THAT(file_names(run), testing::ElementsAre("chip.yaml", "findings.json", "numerics.csv", "numerics.json",
                                                    "opdebug.json", "stats.json"));
  EXPECT_STREQ(vinci_run_file_name(run, 6), "");
  EXPECT_EQ(file(run, "chip.yaml"), vinci_chip_text(b.chip));
  EXPECT_EQ(file(run, "stats.json"), vinci_run_stats(run));
  EXPECT_EQ(file(run, "numerics.json"), vinci_run_numerics(run));
  EXPECT_EQ(file(run, "findings.json"), vinci_run_findings(run));
  EXPECT_THAT(file(run, "numerics.csv"), testing::StartsWith("task"));
  EXPECT_THAT(file(run, "opdebug.json"), testing::StartsWith("{"));

  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &plain.p), VINCI_OK);
  ASSERT_EQ(vinci_wait(plain), VINCI_OK);
  EXPECT_EQ(file(plain, "numerics.json"), "");
  EXPECT_STREQ(vinci_last_error(),
               "the run has no file 'numerics.json'; it has chip.yaml, stats.json, explain.json, range.json, "
               "trace.json, report.html");
}

TEST(CApi, FilesThatTakeTimeAreMadeWhenTheyAreAskedFor) {
  const Bench b;
  RunHandle run;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &run.p), VINCI_OK) << vinci_last_error();
  ASSERT_EQ(vinci_wait(run), VINCI_OK) << vinci_last_error();
  const std::string before = file(run, "report.html"), explanation = file(run, "explain.json");
  EXPECT_THAT(explanation, HasSubstr("kernels"));
  const char* text = nullptr;
  ASSERT_EQ(vinci_run_explain(run, &text), VINCI_OK);
  EXPECT_EQ(explanation, text);
  EXPECT_GT(file(run, "report.html").size(), before.size());  // with the explanation
  EXPECT_THAT(file_names(run), testing::ElementsAre("chip.yaml", "stats.json"));
}

TEST(CApi, ARunThatIsCutShortHasTheFilesThatExplainIt) {
  const Bench b;
  vinci_options options = VINCI_OPTIONS_INIT;
  options.check = 1;
  options.numerics = VINCI_NUMERICS_SHADOW;
  options.max_cycles = 10;
  RunHandle run;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, &options, &run.p), VINCI_OK) << vinci_last_error();
  ASSERT_EQ(vinci_wait(run), VINCI_ERROR_LIMIT);
  EXPECT_THAT(file_names(run),
              testing::ElementsAre("chip.yaml", "findings.json", "numerics.csv", "numerics.json", "opdebug.json"));
  EXPECT_THAT(file(run, "findings.json"), HasSubstr("the limit of 10 cycles is reached"));
}

}  // namespace
}  // namespace vinci
