// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "isa/text/text.h"
#include "models/soc/functional.h"
#include "sim/task/run_memory.h"
#include "tests/support/timed_run.h"

namespace vinci::test {
namespace {

using isa::Arch;
using testing::HasSubstr;

const std::string kMadEnd = "mad.f162f32 0, 0, 0, 16, 16, 16, 1\nend";  // 25 cycles

config::Seconds cycles(u64 n) { return config::Seconds(static_cast<double>(n) * 1e-9); }

TEST(Blocks, BeyondTheCoresComeInWaves) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.ai_cores = 2;
  const Ran r = run_program(chip, kMadEnd, {.blocks = 5});
  EXPECT_EQ(r.begin_of("mad", 0), 0u);
  EXPECT_EQ(r.begin_of("mad", 1), 0u);
  EXPECT_EQ(r.begin_of("mad", 2), 25u);
  EXPECT_EQ(r.begin_of("mad", 3), 25u);
  EXPECT_EQ(r.begin_of("mad", 4), 50u);
  EXPECT_EQ(r.result.cycles, 75u);
  EXPECT_EQ(r.stat("core0.AI_CORE/blocks"), 3u);
  EXPECT_EQ(r.stat("core1.AI_CORE/blocks"), 2u);
}

TEST(Blocks, PayTheirDispatchAndTheTaskItsStartAndCompletion) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.scheduler = {.task_start = cycles(100), .block_dispatch = cycles(10), .task_completion = cycles(40)};
  chip.host.launch = cycles(1000);
  const Ran r = run_program(chip, kMadEnd, {.blocks = 2});
  EXPECT_EQ(r.begin_of("mad", 0), 1000u + 100 + 10);
  EXPECT_EQ(r.begin_of("mad", 1), 1135u + 10);
  EXPECT_EQ(r.result.cycles, 1170u + 40);
  ASSERT_EQ(r.result.tasks.size(), 1u);
  EXPECT_EQ(r.result.tasks[0].enqueued, 1000u);
  EXPECT_EQ(r.result.tasks[0].start, 1000u);
  EXPECT_EQ(r.result.tasks[0].end, 1210u);
  EXPECT_EQ(r.result.tasks[0].kind, "KERNEL_AICORE");
  EXPECT_EQ(r.result.tasks[0].blocks, 2u);
}

TEST(Blocks, AreGivenOneAfterTheOtherAndPrepareTheirProgram) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.ai_cores = 2;
  chip.scheduler = {.task_start = cycles(0),
                    .block_interval = cycles(3),
                    .block_dispatch = cycles(10),
                    .program_start = cycles(100),
                    .task_completion = cycles(0)};
  const Ran r = run_program(chip, kMadEnd, {.blocks = 4});
  EXPECT_EQ(r.begin_of("mad", 0), 10u + 100);
  EXPECT_EQ(r.begin_of("mad", 1), 3u + 10 + 100);
  EXPECT_EQ(r.begin_of("mad", 2), 135u + 10 + 100);
  EXPECT_EQ(r.begin_of("mad", 3), 138u + 10 + 100);
  EXPECT_EQ(r.result.cycles, 248u + 25);
  EXPECT_EQ(r.stat("core0.AI_CORE/S/busy"), 100u + 100 + 4);  // two instructions a block
}

TEST(Blocks, WaitForTheCodeOfAProgramThatTheirCoreHasNotRun) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.ai_cores = 4;
  chip.scheduler = {.task_start = cycles(0),
                    .block_dispatch = cycles(10),
                    .program_start = cycles(100),
                    .first_start = cycles(1000),
                    .first_start_per_core = cycles(100),
                    .task_completion = cycles(0)};
  const Ran two = run_program(chip, kMadEnd, {.blocks = 2});
  EXPECT_EQ(two.begin_of("mad", 0), 10u + 1000 + 200 + 100);  // two of four cores
  EXPECT_EQ(two.stat("core0.AI_CORE/S/busy"), 100u + 2);      // it waits, and is not busy
  const Ran five = run_program(chip, kMadEnd, {.blocks = 5});
  EXPECT_EQ(five.begin_of("mad", 3), 10u + 1000 + 400 + 100);
  EXPECT_EQ(five.begin_of("mad", 4), 1535u + 10 + 100);  // its core has run the program
}

TEST(Blocks, OfMixKernelsHaveAPaceOfTheirOwn) {
  config::ChipConfig chip = round_chip(Arch::c220);
  chip.ai_cores = chip.vector_cores = 2;
  chip.scheduler = {.task_start = cycles(0),
                    .block_interval = cycles(3),
                    .mix_block_interval = cycles(40),
                    .block_dispatch = cycles(10),
                    .task_completion = cycles(0)};
  task::TaskStream stream = kernel_stream(chip, kMadEnd, {.kind = isa::CoreKind::cube, .blocks = 2});
  const auto begins = [&](usize block) {
    task::RunMemory memory(stream, true);
    Recorder seen;
    models::simulate(chip, stream, memory, {.trace = &seen, .progress = {}});
    return seen.nth("mad", block).begin;
  };
  EXPECT_EQ(begins(0), 10u);
  EXPECT_EQ(begins(1), 3u + 10);
  auto& launch = std::get<task::KernelLaunch>(stream.streams[0].tasks[0].op);
  stream.kernels.push_back(
      {.name = "v", .type = task::KernelType::AIV_ONLY, .program = isa::assemble("end", "v.s", chip.arch)});
  launch.aiv_kernel = 1;
  launch.aivs = 1;
  EXPECT_EQ(begins(0), 10u);
  EXPECT_EQ(begins(1), 40u + 10);
}

TEST(Blocks, RunOnCoresOfTheirKind) {
  const config::ChipConfig chip = round_chip(Arch::c220);
  const Ran cube = run_program(chip, kMadEnd, {.kind = isa::CoreKind::cube});
  EXPECT_EQ(cube.stat("core0.AIC/blocks"), 1u);
  EXPECT_EQ(cube.stat("core0.AIV/blocks"), 0u);
  const Ran vector =
      run_program(chip, "vector_dup.f16 0, 0, 1, 1, 1, 8, 8\nend", {.kind = isa::CoreKind::vector, .blocks = 2});
  EXPECT_EQ(vector.stat("core0.AIC/blocks"), 0u);
  EXPECT_EQ(vector.stat("core0.AIV/blocks"), 2u);
  EXPECT_EQ(vector.result.tasks[0].kind, "KERNEL_AIVEC");
}

// Task streams by hand: buffers h0, h1 on the host and d0, d1 on the device, of 8000 bytes each.
class Tasks : public testing::Test {
 protected:
  Tasks() {
    stream_.arch = chip_.arch;
    for (const std::string name : {"h0", "h1", "d0", "d1"}) {
      task::Buffer b;
      b.name = name;
      b.place = name[0] == 'h' ? task::Buffer::Place::host : task::Buffer::Place::device;
      b.bytes = 8000;
      stream_.buffers.push_back(b);
    }
    stream_.events = {"e"};
    stream_.kernels.push_back({.name = "k", .program = isa::assemble(kMadEnd, "k.s", chip_.arch)});
  }

  static task::MemcpyAsync copy(u32 dst, u32 src, u64 bytes) {
    return {.dst = {.buffer = dst}, .src = {.buffer = src}, .width = bytes, .dst_pitch = bytes, .src_pitch = bytes};
  }
  template <class... Op>
  void add_stream(Op... op) {
    task::Stream s;
    s.name = fmt::format("s{}", stream_.streams.size());
    (s.tasks.push_back({.name = fmt::format("{}.{}", s.name, s.tasks.size()), .op = op}), ...);
    stream_.streams.push_back(s);
  }
  // End of the task "s0.1" and so on.
  u64 end_of(std::string_view name) const { return task_of(name).end; }
  const models::TaskTime& task_of(std::string_view name) const {
    for (const models::TaskTime& t : result_.tasks) {
      if (t.name == name) return t;
    }
    fail(Fault::Internal, "no task {}", name);
  }
  void run() {
    task::RunMemory memory(stream_, true);
    result_ = models::simulate(chip_, stream_, memory, {});
  }

  config::ChipConfig chip_ = round_chip(Arch::c100);
  task::TaskStream stream_;
  models::Result result_;
};

TEST_F(Tasks, CopiesTakeLatencyAndTheRateOfTheirDirection) {
  add_stream(copy(2, 0, 1600), copy(0, 2, 1600), copy(3, 2, 5120),
             task::MemsetAsync{.dst = {.buffer = 2}, .bytes = 5120});
  run();
  EXPECT_EQ(end_of("s0.0"), 200u);             // 100 + 1600 / 16
  EXPECT_EQ(end_of("s0.1"), 200u + 300);       // 100 + 1600 / 8
  EXPECT_EQ(end_of("s0.2"), 500u + 20 + 200);  // read and written at 512 B a cycle, latency of the memory
  EXPECT_EQ(end_of("s0.3"), 720u + 10 + 200);  // written only
  EXPECT_EQ(result_.stats["device"]["h2d_bytes"], 1600u);
  EXPECT_EQ(result_.stats["device"]["d2h_bytes"], 1600u);
  EXPECT_EQ(result_.stats["device"]["d2d_bytes"], 2u * 5120);
  EXPECT_EQ(task_of("s0.0").kind, "MEMCPY_ASYNC");
  EXPECT_EQ(task_of("s0.3").kind, "MEMSET_ASYNC");
  EXPECT_EQ(task_of("s0.3").bytes, 5120u);
}

TEST_F(Tasks, OfTheFloatStatusPayStartAndCompletionAndAGetTheMemory) {
  chip_.scheduler = {.task_start = cycles(100), .block_dispatch = cycles(10), .task_completion = cycles(40)};
  add_stream(task::NpuClearFloatStatus{}, task::NpuGetFloatStatus{.dst = {.buffer = 2}});
  run();
  EXPECT_EQ(end_of("s0.0"), 140u);
  EXPECT_EQ(task_of("s0.1").start, 140u);
  EXPECT_EQ(end_of("s0.1"), 280u + 200);  // latency of the memory
  EXPECT_EQ(task_of("s0.0").kind, "NPU_CLEAR_FLOAT_STATUS");
  EXPECT_EQ(task_of("s0.1").kind, "NPU_GET_FLOAT_STATUS");
  EXPECT_EQ(task_of("s0.1").bytes, 32u);
}

TEST_F(Tasks, DirectionsHaveEnginesOfTheirOwn) {
  add_stream(copy(2, 0, 1600));
  add_stream(copy(1, 3, 1600));
  run();
  EXPECT_EQ(end_of("s0.0"), 200u);
  EXPECT_EQ(end_of("s1.0"), 300u);
}

TEST_F(Tasks, OneDirectionIsOneEngine) {
  add_stream(copy(2, 0, 1600));
  add_stream(copy(3, 1, 1600));
  run();
  EXPECT_EQ(end_of("s0.0"), 200u);
  EXPECT_EQ(end_of("s1.0"), 400u);
}

TEST_F(Tasks, StreamsRunAtOnceAndEventsOrderThem) {
  add_stream(copy(2, 0, 1600), task::EventRecord{.event = 0}, copy(3, 0, 1600));
  add_stream(task::StreamWaitEvent{.event = 0}, task::KernelLaunch{});
  run();
  EXPECT_EQ(end_of("s0.1"), 200u);
  EXPECT_EQ(task_of("s1.0").start, 0u);
  EXPECT_EQ(end_of("s1.0"), 200u);
  EXPECT_EQ(task_of("s1.1").start, 200u);
  EXPECT_EQ(end_of("s1.1"), 225u);
  EXPECT_EQ(end_of("s0.2"), 400u);
}

TEST_F(Tasks, KernelsOfTwoStreamsShareTheCores) {
  add_stream(task::KernelLaunch{.kernel = 0, .block_dim = 1, .args = {}});
  add_stream(task::KernelLaunch{.kernel = 0, .block_dim = 1, .args = {}});
  run();
  EXPECT_EQ(end_of("s0.0"), 25u);
  EXPECT_EQ(end_of("s1.0"), 50u);
  chip_.ai_cores = 2;
  run();
  EXPECT_EQ(end_of("s1.0"), 25u);
}

TEST_F(Tasks, TheHostEnqueuesOneAfterTheOtherInTurns) {
  chip_.host.enqueue = cycles(50);
  chip_.host.launch = cycles(70);
  add_stream(task::EventRecord{.event = 0}, task::KernelLaunch{});
  add_stream(copy(2, 0, 160));
  run();
  EXPECT_EQ(task_of("s0.0").enqueued, 50u);
  EXPECT_EQ(task_of("s1.0").enqueued, 100u);
  EXPECT_EQ(task_of("s0.1").enqueued, 170u);
  EXPECT_EQ(end_of("s0.1"), 195u);
  EXPECT_EQ(end_of("s1.0"), 100u + 110);
  EXPECT_EQ(result_.stats["host"]["busy"], 170u);
}

TEST_F(Tasks, WaitForNothingIsADeadlock) {
  add_stream(task::StreamWaitEvent{.event = 0});
  EXPECT_THAT(fault_of([&] { run(); }),
              HasSubstr("stream 's0' waits in task 's0.0' (streams[0].tasks[0]) for event 'e'"));
  task::RunMemory memory(stream_, true);
  EXPECT_THAT(
      fault_of([&] { models::run_functional(chip_, stream_, memory, {.max_cycles = 1000}); }),
      HasSubstr("deadlock: nothing can move: streams or host threads wait for what never comes:\n  stream 's0' waits"));
}

TEST_F(Tasks, KernelsMustFitTheChip) {
  stream_.arch = Arch::c220;
  EXPECT_EQ(fault_of([&] { run(); }), "input: the task stream is compiled for c220, but round is a c100");
  stream_.arch = Arch::c100;
  stream_.kernels[0].type = task::KernelType::AIV_ONLY;
  EXPECT_EQ(fault_of([&] { run(); }), "input: kernel 'k' is of type AIV_ONLY, but round has joint AI cores");
  stream_.kernels[0].type = task::KernelType::AI_CORE;
  chip_.memory.hbm.size = config::Bytes(15'999);
  EXPECT_EQ(fault_of([&] { run(); }),
            "limit: the device buffers need 16000 bytes, but round has 15999 bytes of memory");
}

// Copies mean the same in both runners, and a later task of the stream sees what an earlier one moved.
TEST_F(Tasks, CopiesMoveRowsByTheirPitches) {
  stream_.buffers[0].data = std::vector<std::byte>(8000);
  for (usize i = 0; i < 8000; ++i)
    stream_.buffers[0].data[i] = static_cast<std::byte>(i % 251);
  task::MemcpyAsync rows{.dst = {.buffer = 2, .offset = 10},
                         .src = {.buffer = 0, .offset = 1},
                         .width = 3,
                         .height = 2,
                         .dst_pitch = 5,
                         .src_pitch = 100};
  add_stream(rows, copy(1, 2, 20));
  for (const bool timed : {true, false}) {
    task::RunMemory memory(stream_, true);
    if (timed) {
      models::simulate(chip_, stream_, memory, {});
    } else {
      models::run_functional(chip_, stream_, memory, {.max_cycles = 1000});
    }
    const auto out = memory.host(1);
    const std::vector<int> expected{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 101, 102, 103, 0, 0};
    for (usize i = 0; i < expected.size(); ++i)
      EXPECT_EQ(std::to_integer<int>(out[i]), expected[i]) << "byte " << i << (timed ? " timed" : " functional");
  }
}

}  // namespace
}  // namespace vinci::test
