// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Several streams with events, and every kind of copy: in both directions, inside the device, with pitches, and fills.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/task/load.h"
#include "tests/system/all_modes.h"

namespace vinci {
namespace {

task::TaskStream parse(std::string_view text) {
  return task::parse_task_stream(std::as_bytes(std::span(text)), "streams.yaml", task::FolderFiles("."));
}

const models::TaskTime& task_named(const models::Result& r, std::string_view name) {
  const auto it = std::ranges::find(r.tasks, name, &models::TaskTime::name);
  if (it == r.tasks.end()) throw std::runtime_error("no task " + std::string(name));
  return *it;
}

// Two producers, a kernel that adds their data, and copies that run at the same time.
TEST(Streams, EventsOrderThemAndTheRestOverlaps) {
  const config::ChipConfig chip = config::load_chip("tiny");
  const task::TaskStream stream = parse(R"(
vinci: 1
name: streams
arch: c220
buffers:
  a:     {place: host, dtype: i4, shape: [8], data: "01000000 02000000 03000000 04000000 05000000 06000000 07000000 08000000"}
  b:     {place: host, dtype: i4, shape: [8], data: "0a000000 14000000 1e000000 28000000 32000000 3c000000 46000000 50000000"}
  sum:   {place: host, dtype: i4, shape: [8]}
  big:   {place: host, bytes: 256KiB}
  back:  {place: host, bytes: 256KiB}
  a_dev: {place: device, bytes: 32}
  b_dev: {place: device, bytes: 32}
  c_dev: {place: device, bytes: 32}
  big_dev:  {place: device, bytes: 256KiB}
  back_dev: {place: device, bytes: 256KiB}
kernels:
  add:
    type: AIV_ONLY
    code: |
      ld_arg X0, 0
      ld_arg X1, 1
      ld_arg X2, 2
      copy_gm_to_ubuf 0, X0, 0, 1, 1, 0, 0
      copy_gm_to_ubuf 32, X1, 0, 1, 1, 0, 0
      set_flag PIPE_MTE2, PIPE_V, EVENT_ID0
      wait_flag PIPE_MTE2, PIPE_V, EVENT_ID0
      set_vector_mask 0, 0xff
      vadd.s32 64, 0, 32, 1, 1, 1, 1, 8, 8, 8
      set_flag PIPE_V, PIPE_MTE3, EVENT_ID0
      wait_flag PIPE_V, PIPE_MTE3, EVENT_ID0
      copy_ubuf_to_gm X2, 64, 0, 1, 1, 0, 0
      end
streams:
  consumer:
    - {name: wait a, stream_wait_event: a_there}
    - {name: wait b, stream_wait_event: b_there}
    - {name: add, kernel_launch: {kernel: add, args: [a_dev, b_dev, c_dev]}}
    - {name: done, event_record: sum_there}
  first:
    - {name: copy a, memcpy_async: {dst: a_dev, src: a}}
    - {name: tell a, event_record: a_there}
    - {name: up, memcpy_async: {dst: big_dev, src: big}}
  second:
    - {name: copy b, memcpy_async: {dst: b_dev, src: b}}
    - {name: tell b, event_record: b_there}
    - {name: down, memcpy_async: {dst: back, src: back_dev}}
    - {name: wait sum, stream_wait_event: sum_there}
    - {name: copy sum, memcpy_async: {dst: sum, src: c_dev}}
)");
  const test::Outcome out = test::run_all_modes(chip, stream);
  EXPECT_EQ(out.values<i32>(stream, "sum"), (std::vector<i32>{11, 22, 33, 44, 55, 66, 77, 88}));

  const auto at = [&](std::string_view name) { return task_named(out.result, name); };
  EXPECT_GE(at("wait a").end, at("tell a").end);
  EXPECT_GE(at("wait b").end, at("tell b").end);
  EXPECT_GE(at("add").start, at("wait b").end);
  EXPECT_GE(at("wait sum").end, at("add").end);
  EXPECT_EQ(at("copy sum").end, out.result.cycles);
  // One engine for each direction: the long copies run at the same time.
  EXPECT_LT(at("up").start, at("down").end);
  EXPECT_LT(at("down").start, at("up").end);
  // Copies of one direction share their engine: b comes after a.
  EXPECT_GT(at("copy b").end, at("copy a").end);
}

TEST(Streams, CopiesInAllDirectionsAndFills) {
  const config::ChipConfig chip = config::load_chip("tiny-joint");
  const task::TaskStream stream = parse(R"(
vinci: 1
name: copies
arch: c100
buffers:
  in:    {place: host, bytes: 12, data: "00010203 04050607 08090a0b"}
  out:   {place: host, bytes: 24}
  whole: {place: host, bytes: 32}
  d1:    {place: device, bytes: 32}
  d2:    {place: device, bytes: 32}
streams:
  main:
    - memset_async: {dst: d1, value: 0xee}
    - memset_async: {dst: d2, value: 0x77}
    # three rows of 4 at a pitch of 8, from byte 2 on
    - memcpy_async: {dst: {buffer: d1, offset: 2}, src: in, width: 4, height: 3, dst_pitch: 8, src_pitch: 4}
    - memcpy_async: {dst: {buffer: d2, offset: 1}, src: {buffer: d1, offset: 2}, width: 3, height: 3, dst_pitch: 5, src_pitch: 8}
    - memset_async: {dst: {buffer: d2, offset: 6}, value: 0, count: 2}
    - memcpy_async: {dst: {buffer: out, offset: 1}, src: {buffer: d2, offset: 1}, width: 3, height: 3, dst_pitch: 8, src_pitch: 5}
    - memcpy_async: {dst: whole, src: d1, count: 32}
)");
  const test::Outcome out = test::run_all_modes(chip, stream);
  EXPECT_EQ(out.values<u8>(stream, "whole"),
            (std::vector<u8>{0xee, 0xee, 0, 1, 2,  3,  0xee, 0xee, 0xee, 0xee, 4,    5,    6,    7,    0xee, 0xee,
                             0xee, 0xee, 8, 9, 10, 11, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee}));
  EXPECT_EQ(out.values<u8>(stream, "out"),
            (std::vector<u8>{0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 8, 9, 10, 0, 0, 0, 0}));
}

// More blocks than cores, on two streams: each block runs once, on some core.
TEST(Streams, BlocksOfTwoKernelsShareTheCores) {
  const config::ChipConfig chip = config::load_chip("tiny");
  const task::TaskStream stream = parse(R"(
vinci: 1
name: blocks
arch: c220
buffers:
  x:     {place: host, dtype: u4, shape: [64]}
  x_dev: {place: device, bytes: 256}
kernels:
  # word [block] = (block + 1) * factor
  mark:
    type: AIV_ONLY
    code: |
      ld_arg X0, 0
      get_block_idx X1
      shl X2, X1, 2
      add X0, X0, X2
      ld_arg X3, 1
      add X1, X1, 1
      mul X3, X3, X1
      st_dev.b32 X3, X0
      end
streams:
  left:
    - kernel_launch: {kernel: mark, block_dim: 32, args: [x_dev, 1]}
    - kernel_launch: {kernel: mark, block_dim: 7, args: [x_dev, 2]}
    - event_record: left_done
  right:
    - kernel_launch: {kernel: mark, block_dim: 32, args: [{buffer: x_dev, offset: 128}, 1]}
    - stream_wait_event: left_done
    - memcpy_async: {dst: x, src: x_dev}
)");
  const test::Outcome out = test::run_all_modes(chip, stream);
  const std::vector<u32> x = out.values<u32>(stream, "x");
  for (u32 i = 0; i < 32; ++i) {
    EXPECT_EQ(x[i], (i + 1) * (i < 7 ? 2 : 1)) << i;
    EXPECT_EQ(x[32 + i], i + 1) << i;
  }
  u64 blocks = 0;
  for (const auto& [name, group] : out.result.stats.json().items()) {
    if (name.starts_with("core")) blocks += group.at("blocks").get<u64>();
  }
  EXPECT_EQ(blocks, 32u + 7u + 32u);
}

}  // namespace
}  // namespace vinci
