// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/text.h"
#include "sim/task/load.h"
#include "sim/task/write.h"

namespace vinci::ascendc {
namespace {

constexpr u64 kAddress = 0x1'0000'0000;

task::Kernel kernel(const std::string& name, const std::string& text) {
  return {.name = name, .type = task::KernelType::AIV_ONLY, .program = isa::assemble(text, "k.s", isa::Arch::c220)};
}

Recorder sample(bool with_data) {
  Recorder r("app", isa::Arch::c220, with_data);
  const u32 a = r.add_stream(), b = r.add_stream();
  r.add_device_buffer(kAddress, 1024);
  r.add_device_buffer(kAddress + 2048, 512);
  const std::vector<std::byte> bytes(64, std::byte{7});
  r.copy(a, kAddress + 128, 0, 64, Recorder::Direction::to_device, bytes, true);
  r.kernel(a, kernel("k", "end"), {.block_dim = 2});
  const u32 event = r.event_record(a);
  r.event_wait(b, event);
  r.kernel(b, kernel("k", "end"), {.block_dim = 2});
  r.kernel(b, kernel("k", "nop 3\nend"), {.block_dim = 2});
  r.copy(b, kAddress + 2048, kAddress, 32, Recorder::Direction::on_device, {}, false);
  r.copy(b, 0, kAddress + 2048, 64, Recorder::Direction::from_device, bytes, false);
  r.synchronize_stream(b);
  r.free(kAddress);
  return r;
}

TEST(Recorder, WhatAProgramDidIsATaskStream) {
  const Recorder r = sample(true);
  const task::TaskStream& s = r.stream();
  EXPECT_TRUE(task::same_meaning(task::parse_task_stream(task::to_vts(s), "app.vts", task::MemoryFiles()),
                                 s));  // which verifies it
  ASSERT_EQ(s.streams.size(), 2u);
  EXPECT_EQ(std::get<task::MemcpyAsync>(s.streams[0].tasks[0].op).dst, (task::Slice{0, 128}));
  EXPECT_EQ(std::get<task::MemcpyAsync>(s.streams[1].tasks[3].op).dst, (task::Slice{1, 0}));
  EXPECT_EQ(std::get<task::Free>(s.streams[0].tasks.back().op).buffer, 0u);
}

TEST(Recorder, TheSameKernelIsStoredOnce) {
  const Recorder r = sample(false);
  const task::TaskStream& s = r.stream();
  ASSERT_EQ(s.kernels.size(), 2u);
  EXPECT_EQ(s.kernels[0].name, "k");
  EXPECT_EQ(s.kernels[1].name, "k#1");
  EXPECT_EQ(std::get<task::KernelLaunch>(s.streams[1].tasks[1].op).kernel, 0u);
  EXPECT_EQ(std::get<task::KernelLaunch>(s.streams[1].tasks[2].op).kernel, 1u);
}

TEST(Recorder, TheHostHandsOverInTheOrderOfItsCalls) {
  const Recorder r = sample(false);
  const auto& steps = r.stream().host.threads.at(0).steps;
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(std::get<task::HostEnqueue>(steps[0]), (task::HostEnqueue{0, 0, 3}));
  EXPECT_EQ(std::get<task::HostEnqueue>(steps[1]), (task::HostEnqueue{1, 0, 5}));
  EXPECT_EQ(std::get<task::SynchronizeStream>(steps[2]).stream, 1u);
  EXPECT_TRUE(std::holds_alternative<task::SynchronizeDevice>(steps[3]));
  EXPECT_EQ(std::get<task::HostEnqueue>(steps[4]), (task::HostEnqueue{0, 3, 1}));
}

TEST(Recorder, DataAreKeptOnlyForRunsWithData) {
  const auto host_bytes = [](const Recorder& r) {
    usize sum = 0;
    for (const task::Buffer& b : r.stream().buffers)
      sum += b.data.size();
    return sum;
  };
  EXPECT_EQ(host_bytes(sample(false)), 0u);
  EXPECT_TRUE(sample(false).results().empty());
  EXPECT_EQ(host_bytes(sample(true)), 64u);
  const Recorder full = sample(true);
  ASSERT_EQ(full.results().size(), 1u);
  EXPECT_EQ(full.results().begin()->second, std::vector<std::byte>(64, std::byte{7}));
}

}  // namespace
}  // namespace vinci::ascendc
