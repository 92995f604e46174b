// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A run that would not end by itself ends when it is cancelled, in each mode, and at its limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <ostream>
#include <string>
#include <thread>

#include "tests/capi/bench.h"

namespace vinci {
namespace {

using namespace capi_test;  // NOLINT
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kHead = "vinci: 1\nname: endless\narch: c220\n";
constexpr std::string_view kScalarLoop =
    "kernels:\n  k: {type: AIV_ONLY, code: \"loop: add X1, X1, 1\\nbne X1, 0, loop\\nend\\n\"}\n"
    "streams:\n  main:\n    - kernel_launch: {kernel: k, block_dim: 1}\n";
constexpr std::string_view kVectorLoop =
    "kernels:\n  k: {type: AIV_ONLY, code: \"loop: vector_dup.f32 0, X1, 255, 1, 1, 8, 0\\nadd X1, X1, 1\\nbeq "
    "X2, 0, loop\\nend\\n\"}\n"
    "streams:\n  main:\n    - kernel_launch: {kernel: k, block_dim: 3}\n";
constexpr std::string_view kHostLoop =
    "streams: {}\nhost:\n  threads:\n    main:\n      - repeat:\n          times: 1000000000000\n          steps:\n"
    "            - repeat:\n                times: 1000000000000\n                steps:\n"
    "                  - compute: {name: think, time: 1us}\n";
// Simulated time passes fast for 20 s, and slowly afterwards.
constexpr std::string_view kLateLoop =
    "kernels:\n  k: {type: AIV_ONLY, code: \"loop: vector_dup.f32 0, X1, 255, 1, 1, 8, 0\\nadd X1, X1, 1\\nbeq "
    "X2, 0, loop\\nend\\n\"}\n"
    "streams:\n  main:\n    - kernel_launch: {kernel: k, block_dim: 40}\n"
    "host:\n  threads:\n    main:\n      - repeat: {times: 20000, steps: [compute: {name: think, time: 1ms}]}\n"
    "      - enqueue: {stream: main}\n      - synchronize_stream: main\n";

// The same with a unit that goes on by itself.
constexpr std::string_view kLateScalarLoop =
    "kernels:\n  k: {type: AIV_ONLY, code: \"loop: add X1, X1, 1\\nbne X1, 0, loop\\nend\\n\"}\n"
    "streams:\n  main:\n    - kernel_launch: {kernel: k, block_dim: 1}\n"
    "host:\n  threads:\n    main:\n      - repeat: {times: 20000, steps: [compute: {name: think, time: 1ms}]}\n"
    "      - enqueue: {stream: main}\n      - synchronize_stream: main\n";

struct Endless {
  std::string name;
  std::string_view text;
  vinci_mode mode;
};

void PrintTo(const Endless& e, std::ostream* out) { *out << e.name; }

class CApiCancel : public testing::TestWithParam<Endless> {
 protected:
  CApiCancel() {
    EXPECT_EQ(vinci_chip_create("ascend-910b1", nullptr, 0, &chip_.p), VINCI_OK);
    const std::string text = std::string(kHead) + std::string(GetParam().text);
    EXPECT_EQ(vinci_stream_parse(text.data(), text.size(), nullptr, &stream_.p), VINCI_OK) << vinci_last_error();
  }
  ChipHandle chip_;
  StreamHandle stream_;
};

double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

TEST_P(CApiCancel, EndsSoon) {
  RunHandle run;
  vinci_options o = options(GetParam().mode);
  o.threads = 1;
  ASSERT_EQ(vinci_submit(chip_, stream_, &o, &run.p), VINCI_OK) << vinci_last_error();
  double called = 0;
  std::thread other([&] {
    std::this_thread::sleep_for(500ms);
    called = cpu_seconds();
    vinci_cancel(run);
  });
  EXPECT_EQ(vinci_wait(run), VINCI_ERROR_LIMIT);
  const double took = cpu_seconds() - called;
  EXPECT_THAT(vinci_last_error(), HasSubstr("interrupted"));
  other.join();
  EXPECT_LT(took, 0.2 * slowness());  // of the processor: other programs may have it in between
}

TEST_P(CApiCancel, HasALimit) {
  RunHandle run;
  vinci_options o = options(GetParam().mode);
  o.max_cycles = 10'000;
  ASSERT_EQ(vinci_submit(chip_, stream_, &o, &run.p), VINCI_OK) << vinci_last_error();
  EXPECT_EQ(vinci_wait(run), VINCI_ERROR_LIMIT);
  EXPECT_THAT(vinci_last_error(), HasSubstr("limit of"));
}

INSTANTIATE_TEST_SUITE_P(Modes, CApiCancel,
                         testing::Values(Endless{"ScalarFull", kScalarLoop, VINCI_MODE_FULL},
                                         Endless{"ScalarTiming", kScalarLoop, VINCI_MODE_TIMING},
                                         Endless{"ScalarFunctional", kScalarLoop, VINCI_MODE_FUNCTIONAL},
                                         Endless{"VectorFull", kVectorLoop, VINCI_MODE_FULL},
                                         Endless{"VectorTiming", kVectorLoop, VINCI_MODE_TIMING},
                                         Endless{"VectorFunctional", kVectorLoop, VINCI_MODE_FUNCTIONAL},
                                         Endless{"LateFull", kLateLoop, VINCI_MODE_FULL},
                                         Endless{"LateTiming", kLateLoop, VINCI_MODE_TIMING},
                                         Endless{"LateScalarFull", kLateScalarLoop, VINCI_MODE_FULL},
                                         Endless{"LateScalarTiming", kLateScalarLoop, VINCI_MODE_TIMING},
                                         Endless{"HostFull", kHostLoop, VINCI_MODE_FULL},
                                         Endless{"HostTiming", kHostLoop, VINCI_MODE_TIMING},
                                         Endless{"HostFunctional", kHostLoop, VINCI_MODE_FUNCTIONAL}),
                         [](const auto& i) { return i.param.name; });

TEST(CApiCancelled, ARunThatHasNotBegunDoesNotBegin) {
  for (const vinci_mode mode : {VINCI_MODE_FULL, VINCI_MODE_FUNCTIONAL, VINCI_MODE_TIMING}) {
    const Bench b;
    RunHandle run;
    const vinci_options o = options(mode);
    ASSERT_EQ(vinci_submit(b.chip, b.stream, &o, &run.p), VINCI_OK);
    vinci_cancel(run);
    EXPECT_EQ(vinci_wait(run), VINCI_ERROR_LIMIT);
    EXPECT_STREQ(vinci_last_error(), "the run is cancelled");
  }
}

// The second run waits for its turn when it is cancelled.
TEST(CApiCancelled, ARunThatWaitsForAnotherEnds) {
  const Bench b;
  const std::string text = std::string(kHead) + std::string(kScalarLoop);
  StreamHandle endless;
  ASSERT_EQ(vinci_stream_parse(text.data(), text.size(), nullptr, &endless.p), VINCI_OK) << vinci_last_error();
  RunHandle first, second;
  ASSERT_EQ(vinci_submit(b.chip, endless, nullptr, &first.p), VINCI_OK);
  ASSERT_EQ(vinci_submit(b.chip, b.stream, nullptr, &second.p), VINCI_OK);
  std::thread holder([&] { EXPECT_EQ(vinci_wait(first), VINCI_ERROR_LIMIT); });
  std::this_thread::sleep_for(100ms);
  std::thread waiter([&] { EXPECT_EQ(vinci_wait(second), VINCI_ERROR_LIMIT); });
  std::this_thread::sleep_for(100ms);
  vinci_cancel(second);
  waiter.join();
  vinci_cancel(first);
  holder.join();
}

}  // namespace
}  // namespace vinci
