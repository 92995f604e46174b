// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Values, sizes and handles that no correct program passes are refused and change nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "tests/capi/bench.h"

namespace vinci {
namespace {

using namespace capi_test;  // NOLINT
using testing::HasSubstr;

constexpr int kWrongEnumerators[] = {-1,
                                     -2,
                                     -100,
                                     -253,
                                     -254,
                                     -255,
                                     -256,
                                     3,
                                     4,
                                     255,
                                     256,
                                     257,
                                     65536,
                                     1 << 30,
                                     std::numeric_limits<int>::min(),
                                     std::numeric_limits<int>::max()};
constexpr size_t kMostSize = std::numeric_limits<size_t>::max();

TEST(CApiMisuse, AKernelRunsOnAKindOfCoreThatExists) {
  const DeviceBench d;
  for (const int wrong : kWrongEnumerators) {
    vinci_kernel* kernel = nullptr;
    EXPECT_EQ(vinci_kernel_create(d.device, "k", static_cast<vinci_core>(wrong), "end\n", 4, &kernel),
              VINCI_ERROR_INPUT)
        << wrong;
    EXPECT_EQ(vinci_last_error(), "there is no kind of core " + std::to_string(wrong));
    EXPECT_EQ(kernel, nullptr);
  }
}

TEST(CApiMisuse, ARunHasAModeThatExists) {
  const Bench b;
  DeviceBench d;
  for (const int wrong : kWrongEnumerators) {
    const vinci_options o = options(static_cast<vinci_mode>(wrong));
    vinci_run* run = nullptr;
    EXPECT_EQ(vinci_submit(b.chip, b.stream, &o, &run), VINCI_ERROR_INPUT) << wrong;
    EXPECT_EQ(vinci_last_error(), "there is no mode " + std::to_string(wrong));
    EXPECT_EQ(vinci_device_submit(d.device, &o, &run), VINCI_ERROR_INPUT) << wrong;
    EXPECT_EQ(run, nullptr);
  }
}

TEST(CApiMisuse, AStatusWithoutANameIsUnknown) {
  for (const int wrong : {-1, 1, 9, 100, 1 << 30, std::numeric_limits<int>::min()})
    EXPECT_STREQ(vinci_status_name(static_cast<vinci_status>(wrong)), "unknown") << wrong;
  EXPECT_STREQ(vinci_status_name(VINCI_OK), "ok");
  EXPECT_STREQ(vinci_status_name(VINCI_ERROR_INTERNAL), "internal");
}

TEST(CApiMisuse, ThreadsAreLimited) {
  const Bench b;
  for (const uint32_t wrong : {1025u, 65536u, 1u << 31, 4'000'000'000u, ~0u}) {
    vinci_options o = VINCI_OPTIONS_INIT;
    o.threads = wrong;
    vinci_run* run = nullptr;
    EXPECT_EQ(vinci_submit(b.chip, b.stream, &o, &run), VINCI_ERROR_INPUT);
    EXPECT_EQ(vinci_last_error(), "threads = " + std::to_string(wrong) + ": 1 to 1024 are possible, or 0");
    EXPECT_EQ(run, nullptr);
  }
}

TEST(CApiMisuse, StructuresHaveASizeOfAVersion) {
  const Bench b;
  constexpr size_t kFirst = offsetof(vinci_options, numerics);
  for (const size_t wrong : {size_t{0}, size_t{1}, sizeof(size_t), kFirst - 1, size_t{4097}, kMostSize}) {
    vinci_options o = VINCI_OPTIONS_INIT;
    o.size = wrong;
    vinci_run* run = nullptr;
    EXPECT_EQ(vinci_submit(b.chip, b.stream, &o, &run), VINCI_ERROR_INPUT) << wrong;
    EXPECT_THAT(vinci_last_error(), HasSubstr("vinci_options.size is " + std::to_string(wrong)));
  }
  // A program of the first version has no `numerics`: bytes behind its structure are not read.
  vinci_options earlier = VINCI_OPTIONS_INIT;
  earlier.size = kFirst;
  earlier.mode = VINCI_MODE_TIMING;
  earlier.numerics = 1;
  RunHandle timed;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, &earlier, &timed.p), VINCI_OK) << vinci_last_error();
  // A program of a later version: what follows is unknown and not looked at.
  struct {
    vinci_options known = VINCI_OPTIONS_INIT;
    uint64_t more[4] = {~0ull, ~0ull, ~0ull, ~0ull};
  } later;
  later.known.size = sizeof later;
  RunHandle run;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, &later.known, &run.p), VINCI_OK) << vinci_last_error();
  ASSERT_EQ(vinci_wait(run), VINCI_OK);
  for (const size_t wrong : {size_t{0}, size_t{1}, sizeof(vinci_output) - 1, kMostSize}) {
    vinci_output out{};
    out.size = wrong;
    EXPECT_EQ(vinci_run_output(run, 0, &out), VINCI_ERROR_INPUT) << wrong;
    EXPECT_EQ(vinci_run_find_output(run, "b", &out), VINCI_ERROR_INPUT) << wrong;
    EXPECT_EQ(out.name, nullptr);
  }
}

TEST(CApiMisuse, CountersHaveNamesThatExist) {
  const Bench b;
  RunHandle run;
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &run.p), VINCI_OK);
  uint64_t value = 7;
  EXPECT_EQ(vinci_run_counter(run, "core0.AIV/V/busy", &value), VINCI_ERROR_INPUT) << "not done";
  ASSERT_EQ(vinci_wait(run), VINCI_OK);
  for (const char* wrong :
       {"", "/", "~", "a~b", "~2", "a~", "core0.AIV", "core0.AIV/", "core0.AIV/V", "core0.AIV/V/", "/core0.AIV/V/busy",
        "core0.AIV/V/busy/", "core0.AIV/V/busy/x", "core0.AIV//busy", "-", "0", "\xff\xfe", "core0.AIV/~0/busy"}) {
    EXPECT_EQ(vinci_run_counter(run, wrong, &value), VINCI_ERROR_INPUT) << wrong;
    EXPECT_THAT(vinci_last_error(), HasSubstr("there is no counter")) << wrong;
  }
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(vinci_run_counter(run, "core0.AIV/V/busy", &value), VINCI_OK);
  EXPECT_GT(value, 7u);
}

TEST(CApiMisuse, RangesDoNotOverflow) {
  DeviceBench d;
  char byte = 0;
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{768}, size_t{769}, kMostSize - 768, kMostSize}) {
    for (const size_t bytes : {size_t{769}, kMostSize - 768, kMostSize - 1, kMostSize}) {
      EXPECT_EQ(vinci_write(d.a, offset, &byte, bytes), VINCI_ERROR_INPUT);
      EXPECT_EQ(vinci_read(d.a, offset, &byte, bytes), VINCI_ERROR_INPUT);
      EXPECT_EQ(vinci_copy_in(d.a, offset, &byte, bytes), VINCI_ERROR_INPUT);
      EXPECT_EQ(vinci_copy_out(&byte, d.a, offset, bytes), VINCI_ERROR_INPUT);
    }
  }
  EXPECT_EQ(d.launch(d.a, d.b, 769), VINCI_ERROR_INPUT);
  EXPECT_EQ(d.launch(d.a, d.b, std::numeric_limits<uint64_t>::max()), VINCI_ERROR_INPUT);
  EXPECT_EQ(d.launch(d.a, d.b, 0, std::numeric_limits<uint32_t>::max()), VINCI_ERROR_INPUT);
  const vinci_arg arg{d.a, 0};
  EXPECT_EQ(vinci_launch(d.twice, 1, &arg, kMostSize), VINCI_ERROR_INPUT);
  vinci_buffer* buffer = nullptr;
  EXPECT_EQ(vinci_malloc(d.device, kMostSize, &buffer), VINCI_ERROR_LIMIT);
  EXPECT_EQ(vinci_malloc(d.device, 0, &buffer), VINCI_ERROR_INPUT);
  EXPECT_EQ(d.run(), VINCI_OK);  // of no task: none of these is left
}

TEST(CApiMisuse, NullIsRefusedOrNothing) {
  EXPECT_STREQ(vinci_chip_name(nullptr), "");
  EXPECT_STREQ(vinci_chip_arch(nullptr), "");
  EXPECT_STREQ(vinci_chip_text(nullptr), "");
  EXPECT_EQ(vinci_chip_clock(nullptr), 0);
  EXPECT_EQ(vinci_chip_ai_cores(nullptr), 0u);
  EXPECT_EQ(vinci_chip_vector_cores(nullptr), 0u);
  EXPECT_STREQ(vinci_stream_name(nullptr), "");
  EXPECT_STREQ(vinci_stream_arch(nullptr), "");
  vinci_cancel(nullptr);
  EXPECT_EQ(vinci_run_cycles(nullptr), 0u);
  EXPECT_EQ(vinci_run_seconds(nullptr), 0);
  EXPECT_EQ(vinci_run_kernel_cycles(nullptr), 0u);
  EXPECT_EQ(vinci_run_instructions(nullptr), 0u);
  EXPECT_EQ(vinci_run_output_count(nullptr), 0u);
  EXPECT_STREQ(vinci_run_stats(nullptr), "");
  EXPECT_STREQ(vinci_run_findings(nullptr), "");
  EXPECT_EQ(vinci_run_file_count(nullptr), 0u);
  EXPECT_STREQ(vinci_run_file_name(nullptr, 0), "");
  const Bench b;
  const DeviceBench d;
  const std::string text = stream_text();
  uint64_t value = 0;
  vinci_output out{};
  out.size = sizeof out;
  for (const vinci_status status : {vinci_chip_create("tiny", nullptr, 0, nullptr),
                                    vinci_chip_create("tiny", nullptr, 1, nullptr),
                                    vinci_chip_parse(nullptr, 5, nullptr, 0, nullptr),
                                    vinci_chip_parse("a: 1", 4, nullptr, 0, nullptr),
                                    vinci_stream_load("x.yaml", nullptr),
                                    vinci_stream_parse(text.data(), text.size(), nullptr, nullptr),
                                    vinci_stream_set_input(nullptr, "a", &value, 8),
                                    vinci_stream_set_input(b.stream, nullptr, &value, 8),
                                    vinci_stream_set_input(b.stream, "a", nullptr, 768),
                                    vinci_submit(b.chip, b.stream, nullptr, nullptr),
                                    vinci_submit(nullptr, b.stream, nullptr, nullptr),
                                    vinci_device_create(b.chip, nullptr),
                                    vinci_device_create(nullptr, nullptr),
                                    vinci_malloc(d.device, 1, nullptr),
                                    vinci_malloc(nullptr, 1, nullptr),
                                    vinci_free(nullptr),
                                    vinci_write(d.a, 0, nullptr, 1),
                                    vinci_read(d.a, 0, nullptr, 1),
                                    vinci_copy_in(d.a, 0, nullptr, 1),
                                    vinci_copy_out(nullptr, d.a, 0, 1),
                                    vinci_launch(nullptr, 1, nullptr, 0),
                                    vinci_launch(d.twice, 1, nullptr, 1),
                                    vinci_device_submit(d.device, nullptr, nullptr),
                                    vinci_kernel_create(d.device, nullptr, VINCI_CORE_VECTOR, "end\n", 4, nullptr),
                                    vinci_kernel_create(d.device, "k", VINCI_CORE_VECTOR, nullptr, 4, nullptr),
                                    vinci_kernel_create(d.device, "k", VINCI_CORE_VECTOR, "end\n", 4, nullptr),
                                    vinci_wait(nullptr),
                                    vinci_run_counter(nullptr, "a", &value),
                                    vinci_run_file(nullptr, "stats.json", nullptr, nullptr),
                                    vinci_run_output(nullptr, 0, &out),
                                    vinci_run_find_output(nullptr, "b", &out)}) {
    EXPECT_EQ(status, VINCI_ERROR_INPUT);
    EXPECT_THAT(vinci_last_error(), HasSubstr("is NULL"));
  }
}

}  // namespace
}  // namespace vinci
