// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A GEMM on one NPU and on two, driven by memory-mapped access only.
#include "tools/gen/gemm.h"

#include <bit>

#include "sim/config/load.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"
#include "tests/platform/platform.h"
#include "tests/support/shell.h"

namespace vinci::test {
namespace {

using models::npu::kIrqDone;
using models::npu::kIrqLoaded;

constexpr u64 kSize = 128;

// The bits of a small integer in FP16.
u16 half(int v) {
  if (v == 0) return 0;
  const auto magnitude = static_cast<u32>(v < 0 ? -v : v);
  const auto exponent = static_cast<u32>(std::bit_width(magnitude) - 1);
  return static_cast<u16>((v < 0 ? 0x8000u : 0u) | (exponent + 15) << 10 | (magnitude << (10 - exponent) & 0x3ff));
}

// C = A * B of small integers, so that every sum is exact.
struct Gemm {
  explicit Gemm(const config::ChipConfig& chip, int seed) {
    const test::TempFolder folder("vinci_platform_" + chip.name);
    gen::write_gemm({.m = kSize, .n = kSize, .k = kSize, .out_f32 = true}, chip, 7, folder.path().string());
    stream = task::load_task_stream(folder / "gemm.yaml");
    for (task::Buffer& buffer : stream.buffers)
      buffer.file = buffer.output = "";
    for (u64 i = 0; i < kSize * kSize; ++i) {
      a.push_back(static_cast<int>(i * 7 + i / kSize + static_cast<u64>(seed)) % 9 - 4);
      b.push_back(static_cast<int>(i * 5 + i / kSize * 3) % 7 - 3);
    }
  }

  std::vector<float> expected() const {
    std::vector<float> c(kSize * kSize);
    for (u64 i = 0; i < kSize; ++i) {
      for (u64 j = 0; j < kSize; ++j) {
        int sum = 0;
        for (u64 k = 0; k < kSize; ++k)
          sum += a[i * kSize + k] * b[k * kSize + j];
        c[i * kSize + j] = static_cast<float>(sum);
      }
    }
    return c;
  }
  static std::vector<u16> halves(const std::vector<int>& values) {
    std::vector<u16> out;
    for (const int v : values)
      out.push_back(half(v));
    return out;
  }
  usize host_buffer(std::string_view name) const {
    usize n = 0;
    for (const task::Buffer& buffer : stream.buffers) {
      if (buffer.name == name) return n;
      n += buffer.place == task::Buffer::Place::host ? 1 : 0;
    }
    fail(Fault::Internal, "no buffer {}", name);
  }

  task::TaskStream stream;
  std::vector<int> a, b;
};

Command put(Cpu& cpu, Allocator& host, const Gemm& gemm) {
  Command command(cpu, host, gemm.stream);
  cpu.write(command.buffers[gemm.host_buffer("a")], std::span<const u16>(Gemm::halves(gemm.a)));
  cpu.write(command.buffers[gemm.host_buffer("b")], std::span<const u16>(Gemm::halves(gemm.b)));
  return command;
}

// The same task stream as `vinci run` has it, on a chip whose host needs no time.
std::vector<models::TaskRecord> simulated(config::ChipConfig chip, const task::TaskStream& stream) {
  chip.host.launch = chip.host.enqueue = chip.host.synchronize = config::Seconds(0);
  task::RunMemory memory(stream, true);
  Tasks tasks;
  const models::Result result = models::simulate(chip, stream, memory, {.tasks = &tasks});
  EXPECT_GT(result.cycles, 0u);
  return tasks.all;
}

void expect_same(const std::vector<models::TaskRecord>& a, const std::vector<models::TaskRecord>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (usize i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].task_id, b[i].task_id);
    EXPECT_EQ(a[i].kind, b[i].kind);
    EXPECT_EQ(a[i].start, b[i].start) << a[i].kind;
    EXPECT_EQ(a[i].end, b[i].end) << a[i].kind;
    EXPECT_EQ(a[i].cores[0].busy, b[i].cores[0].busy);
    EXPECT_EQ(a[i].cores[1].busy, b[i].cores[1].busy);
  }
}

class PlatformGemm : public testing::TestWithParam<const char*> {};

TEST_P(PlatformGemm, IsRightAndTakesTheCyclesOfARunWithoutPlatform) {
  const config::ChipConfig chip = config::load_chip(GetParam());
  const Gemm gemm(chip, 0);
  Platform p({chip});
  std::vector<float> c;
  p.run([&] {
    Allocator host;
    const Command command = put(p.cpu, host, gemm);
    Driver npu = p.driver(0);
    EXPECT_EQ(npu.get(Register::ID), models::npu::kId);
    EXPECT_EQ(npu.state(), State::idle);
    EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded) << npu.error_text();
    EXPECT_EQ(npu.get(Register::HOST_BUFFERS), 3u);
    EXPECT_EQ(npu.run(command.table), kIrqDone) << npu.error_text();
    EXPECT_EQ(npu.state(), State::loaded);
    c = p.cpu.read<float>(command.buffers[gemm.host_buffer("c")], kSize * kSize);
  });
  EXPECT_EQ(c, gemm.expected());
  expect_same(p.tasks[0].all, simulated(chip, gemm.stream));
}

INSTANTIATE_TEST_SUITE_P(Chips, PlatformGemm, testing::Values("ascend-910b1", "ascend-910a"),
                         [](const auto& chip) { return std::string(chip.param).substr(7); });

// Two kinds of chip at once, each as if it were alone, and again with other data.
TEST(PlatformGemms, TwoChipsAtOnceAndTwice) {
  const std::vector<config::ChipConfig> chips{config::load_chip("tiny"), config::load_chip("tiny-joint")};
  const std::vector<Gemm> first{Gemm(chips[0], 1), Gemm(chips[1], 2)};
  const std::vector<Gemm> second{Gemm(chips[0], 3), Gemm(chips[1], 4)};
  Platform p(chips);
  double together = 0;
  p.run([&] {
    Allocator host;
    for (const std::vector<Gemm>& round : {first, second}) {
      std::vector<Command> commands;
      for (usize n = 0; n < 2; ++n)
        commands.push_back(put(p.cpu, host, round[n]));
      for (usize n = 0; n < 2; ++n)
        EXPECT_EQ(p.driver(n).load(commands[n].image, commands[n].image_bytes), kIrqLoaded);
      const sc_core::sc_time begin = sc_core::sc_time_stamp();
      for (usize n = 0; n < 2; ++n)
        p.driver(n).begin_run(commands[n].table);
      for (usize n = 0; n < 2; ++n)
        EXPECT_EQ(p.driver(n).wait(), kIrqDone);
      together = (sc_core::sc_time_stamp() - begin).to_seconds();
      for (usize n = 0; n < 2; ++n) {
        EXPECT_EQ(p.cpu.read<float>(commands[n].buffers[round[n].host_buffer("c")], kSize * kSize),
                  round[n].expected());
      }
    }
  });
  for (usize n = 0; n < 2; ++n) {
    const std::vector<models::TaskRecord> alone = simulated(chips[n], first[n].stream);
    std::vector<models::TaskRecord> twice = alone;
    twice.insert(twice.end(), alone.begin(), alone.end());
    expect_same(p.tasks[n].all, twice);
  }
  EXPECT_LT(together, p.npus[0].result().seconds + p.npus[1].result().seconds);
}

}  // namespace
}  // namespace vinci::test
