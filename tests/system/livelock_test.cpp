// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Programs that make no progress end as a deadlock, and programs that only look like it do not (docs/livelock.md).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"

namespace vinci {
namespace {

using testing::AllOf;
using testing::HasSubstr;

task::TaskStream parse(std::string_view text) {
  return task::parse_task_stream(std::as_bytes(std::span(text)), "live.yaml", task::FolderFiles("."));
}

template <class F>
std::string fault_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(fault_name(e.fault())) + ": " + e.what();
  }
  return "";
}

std::string simulated(const task::TaskStream& stream, const std::string& chip, bool with_data = true) {
  task::RunMemory memory(stream, with_data);
  return fault_of([&] { models::simulate(config::load_chip(chip), stream, memory, {}); });
}
std::string functional(const task::TaskStream& stream, const std::string& chip) {
  task::RunMemory memory(stream, true);
  return fault_of([&] { models::run_functional(config::load_chip(chip), stream, memory, {}); });
}

// A kernel of vector cores with a flag in global memory as its argument; its first instruction is in line 10.
std::string kernel(const std::string& body, u32 blocks) {
  return fmt::format(R"(vinci: 1
name: live
arch: c220
buffers:
  one:  {{place: host, dtype: i4, shape: [1], data: "01000000"}}
  flag: {{place: device, bytes: 64}}
kernels:
  k:
    type: AIV_ONLY
    code: |
      ld_arg X1, 0
{0}      end
streams:
  main:
    - kernel_launch: {{kernel: k, block_dim: {1}, args: [flag]}}
)",
                     body, blocks);
}

TEST(Livelock, ALoopWithoutExitEndsInEveryMode) {
  const task::TaskStream stream = parse(kernel("      l:\n      b l\n", 1));
  const auto lines = HasSubstr("deadlock: nothing can move");
  const auto timed = AllOf(lines, HasSubstr("core0.AIV.S repeats live.yaml:13 of block 0; nothing can end it"));
  EXPECT_THAT(simulated(stream, "tiny"), timed);
  EXPECT_THAT(simulated(stream, "tiny", false), timed);
  EXPECT_THAT(functional(stream, "tiny"),
              AllOf(lines, HasSubstr("AIV of block 0 repeats live.yaml:13; nothing can end it")));
}

TEST(Livelock, ALoopThatOnlyCountsEndsInEveryMode) {
  const task::TaskStream stream = parse(kernel("      l:\n      add X2, X2, 1\n      nop 1000\n      b l\n", 2));
  const auto timed = HasSubstr("core0,1.AIV.S repeats live.yaml:13..15 of blocks 0,1; nothing can end it");
  EXPECT_THAT(simulated(stream, "tiny"), timed);
  EXPECT_THAT(simulated(stream, "tiny", false), timed);
  EXPECT_THAT(functional(stream, "tiny"), HasSubstr("AIV of block 1 repeats live.yaml:13..15; nothing can end it"));
}

TEST(Livelock, CoresThatPollWhatIsNeverWrittenEnd) {
  const task::TaskStream stream = parse(kernel("      l:\n      ld_dev.b32 X2, X1\n      beq X2, 0, l\n", 48));
  EXPECT_THAT(simulated(stream, "ascend-910b1"),
              HasSubstr("core0..47.AIV.S repeats live.yaml:13..14 of blocks 0..47; it reads 'flag' at 0 "
                        "(live.yaml:13): no task, copy or core that runs can change it"));
  EXPECT_THAT(functional(stream, "ascend-910b1"),
              HasSubstr("AIV of block 0 repeats live.yaml:13..14; it reads 'flag' at 0 (live.yaml:13)"));
}

TEST(Livelock, ACoreThatWaitsBesideOneThatPollsIsNamedToo) {
  const task::TaskStream stream =
      parse(kernel("      get_block_idx X3\n      beq X3, 1, w\n      l:\n      ld_dev.b32 X2, X1\n      beq X2, 0, l\n"
                   "      w:\n      wait_flag PIPE_MTE2, PIPE_S, EVENT_ID0\n",
                   2));
  EXPECT_THAT(
      simulated(stream, "tiny"),
      AllOf(HasSubstr("core0.AIV.S repeats live.yaml:15..16 of block 0"),
            HasSubstr("core1.AIV.S waits for wait_flag src=PIPE_MTE2 dst=PIPE_S event=EVENT_ID0 (live.yaml:18)")));
}

TEST(Livelock, PollingWhatAnotherCoreWritesLaterPasses) {
  // Block 1 counts for long, and then writes the flag that block 0 polls.
  const task::TaskStream stream = parse(kernel(
      "      get_block_idx X3\n      beq X3, 1, w\n      l:\n      ld_dev.b32 X2, X1\n      beq X2, 0, l\n      b e\n"
      "      w:\n      add X4, X4, 1\n      blt X4, 1000000, w\n      st_dev.b32 1, X1\n      e:\n",
      2));
  EXPECT_EQ(simulated(stream, "tiny"), "");
  EXPECT_EQ(functional(stream, "tiny"), "");
}

TEST(Livelock, PollingWhatACopyWritesLaterPasses) {
  const task::TaskStream stream =
      parse(kernel("      l:\n      ld_dev.b32 X2, X1\n      beq X2, 0, l\n", 4) +
            "  late:\n    - memcpy_async: {dst: flag, src: one, count: 4}\n"
            "host:\n  threads:\n    main:\n      - enqueue: main\n      - compute: {name: think, time: 20ms}\n"
            "      - enqueue: late\n");
  EXPECT_EQ(simulated(stream, "tiny"), "");
}

TEST(Livelock, LongFiniteLoopsPass) {
  const task::TaskStream stream = parse(kernel("      l:\n      add X2, X2, 1\n      blt X2, 2000000, l\n", 1));
  EXPECT_EQ(simulated(stream, "tiny"), "");
  EXPECT_EQ(simulated(stream, "tiny", false), "");
  EXPECT_EQ(functional(stream, "tiny"), "");
}

TEST(Livelock, WaitingForTimePasses) {
  const task::TaskStream stream = parse(kernel(
      "      get_sys_cnt X2\n      add X2, X2, 200000\n      l:\n      get_sys_cnt X3\n      blt X3, X2, l\n", 1));
  EXPECT_EQ(simulated(stream, "tiny"), "");
  EXPECT_EQ(functional(stream, "tiny"), "");
}

// Streams of a model: `head` begins with it.
std::string model(const std::string& head, const std::string& side) {
  return "vinci: 1\nname: live\narch: c220\nbuffers:\n"
         "  one:  {place: host, dtype: i4, shape: [1], data: \"01000000\"}\n  flag: {place: device, bytes: 64}\n"
         "kernels:\n  k: {type: AIV_ONLY, time: 1us}\nlabels: [again, other]\n"
         "models:\n  m: {head: [head], streams: [side]}\nstreams:\n  main:\n    - model_execute: m\n"
         "  head:\n" +
         head + "  side:\n" + side;
}

void expect_streams_go_round(const std::string& head, const std::string& side, const std::string& line) {
  const task::TaskStream stream = parse(model(head, side));
  const auto expected =
      AllOf(HasSubstr("deadlock: nothing can move: streams repeat for ever, and none of their tasks does work:\n"),
            HasSubstr(line));
  EXPECT_THAT(simulated(stream, "tiny"), expected);
  EXPECT_THAT(functional(stream, "tiny"), expected);
}

TEST(Livelock, StreamsThatActivateEachOtherWithoutWorkEnd) {
  expect_streams_go_round("    - stream_active: side\n", "    - stream_active: head\n", "executes task");
}

TEST(Livelock, AStreamThatJumpsBackWithoutWorkEnds) {
  expect_streams_go_round(
      "    - label_set: again\n    - label_switch: {index: flag, labels: [again, other]}\n    - label_set: other\n",
      "    - stream_active: head\n", "stream 'head' executes task 'label_switch' (live.yaml:17) again and again");
}

// The flag that ends the loop is copied after 500 us.
TEST(Livelock, AStreamThatWaitsForACopyPasses) {
  const task::TaskStream stream = parse(
      model("    - stream_switch: {value: flag, cond: EQUAL, target: {buffer: flag, offset: 4}, true_stream: side}\n",
            "    - stream_active: head\n") +
      "  late:\n    - memcpy_async: {dst: flag, src: one, count: 4}\n"
      "host:\n  threads:\n    main:\n      - enqueue: main\n      - compute: {name: think, time: 500us}\n"
      "      - enqueue: late\n");
  EXPECT_EQ(simulated(stream, "tiny"), "");
  EXPECT_EQ(functional(stream, "tiny"), "");
}

TEST(Livelock, LongChainsOfActivationsPass) {
  // Each run of `head` activates `side` again, as often as the host executes the model.
  const task::TaskStream stream = parse(
      model("    - stream_active: side\n    - kernel_launch: {kernel: k}\n", "    - kernel_launch: {kernel: k}\n") +
      "host:\n  threads:\n    main:\n      - repeat: {times: 3000, steps: [{enqueue: main}]}\n");
  EXPECT_EQ(simulated(stream, "tiny"), "");
  EXPECT_EQ(functional(stream, "tiny"), "");
}

}  // namespace
}  // namespace vinci
