// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// When things happen on a platform, to the cycle of 1 ns.
#include "sim/task/run_memory.h"
#include "tests/platform/platform.h"
#include "tests/platform/samples.h"

namespace vinci::test {
namespace {

using models::npu::kIrqDone;
using models::npu::kIrqLoaded;
using sc_core::SC_NS;
using sc_core::sc_time;
using sc_core::sc_time_stamp;

constexpr u64 kBytes = 64 << 10;

sc_time cycles(u64 n) { return {static_cast<double>(n), SC_NS}; }

// Runs there_and_back() on a platform whose memory takes `latency` cycles for each burst; returns its three tasks.
std::vector<models::TaskRecord> run_with(u64 latency, models::Npu::Options options = {}) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  Platform p({chip}, options);
  const std::vector<u8> in = pattern(kBytes);
  std::vector<u8> out;
  p.run([&] {
    Allocator host;
    const Command command(p.cpu, host, there_and_back(chip, kBytes));
    p.cpu.write(command.buffers[0], std::span<const u8>(in));
    Driver npu = p.driver(0);
    EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded);
    p.memory.latency = cycles(latency);
    EXPECT_EQ(npu.run(command.table), kIrqDone);
    EXPECT_EQ(npu.get_wide(Register::CYCLES_LO), p.npus[0].result().cycles);
    p.memory.latency = cycles(0);
    out = p.cpu.read<u8>(command.buffers[1], kBytes);
  });
  EXPECT_EQ(out, in);
  return p.tasks[0].all;
}

u64 length(const models::TaskRecord& r) { return r.end - r.start; }

// The link needs 100 cycles and one for each 16 B to the device, 8 B from it; 16 bursts are 262.25 cycles apart to the
// device, and the last one begins 262.25 cycles before the end.
TEST(PlatformTiming, MemoryThatKeepsUpWithTheLinkCostsNothing) {
  for (const u64 latency : {0, 262}) {
    const auto tasks = run_with(latency);
    ASSERT_EQ(tasks.size(), 3u);
    EXPECT_EQ(length(tasks[0]), 100u + kBytes / 16) << latency;
    EXPECT_EQ(length(tasks[2]), 100u + kBytes / 8) << latency;
  }
}

TEST(PlatformTiming, SlowMemorySetsThePaceOfItsLink) {
  const auto tasks = run_with(263);
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(length(tasks[0]), 16u * 263);          // 12 more than the link needs
  EXPECT_EQ(length(tasks[2]), 100u + kBytes / 8);  // 16 x 518.25
  EXPECT_EQ(tasks[1].start, tasks[0].end);
  EXPECT_EQ(length(run_with(1000)[2]), 16'000u);
}

TEST(PlatformTiming, LargerBurstsWaitLessOften) {
  const auto tasks = run_with(1000, {.burst = 16 << 10});
  EXPECT_EQ(length(tasks[0]), 100u + kBytes / 16);  // the last one begins after 3/4 of them
  EXPECT_EQ(length(run_with(2000, {.burst = 16 << 10})[0]), 8000u);
}

TEST(PlatformTiming, DirectPointersTakeTheTimeThatTheyDeclare) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  for (const bool use : {true, false}) {
    Platform p({chip}, {.use_dmi = use});
    p.memory.gives_dmi = true;
    const std::vector<u8> in = pattern(kBytes);
    p.run([&] {
      Allocator host;
      const Command command(p.cpu, host, there_and_back(chip, kBytes));
      p.cpu.write(command.buffers[0], std::span<const u8>(in));
      Driver npu = p.driver(0);
      npu.load(command.image, command.image_bytes);
      p.memory.take_back();
      p.memory.latency = cycles(300);
      const u64 bursts = p.npus[0].dma().bursts();
      EXPECT_EQ(npu.run(command.table), kIrqDone);
      // The table, or the first burst, asks for the pointer; everything else goes through it.
      EXPECT_EQ(p.npus[0].dma().bursts() - bursts, use ? 1u : 1u + 2 * 16);
      EXPECT_EQ(p.npus[0].dma().direct_bytes() >= 2 * kBytes, use);
      EXPECT_EQ(p.cpu.read<u8>(command.buffers[1], kBytes), in);
    });
    EXPECT_EQ(length(p.tasks[0].all.at(0)), 16u * 300);
  }
}

TEST(PlatformTiming, LoadAndInterruptComeWhenTheyShould) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  Platform p({chip}, {.access_latency = config::Seconds(50e-9)});
  p.run([&] {
    Allocator host;
    const Command command(p.cpu, host, there_and_back(chip, kBytes));
    Driver npu = p.driver(0);
    npu.begin_load(command.image, command.image_bytes);
    const sc_time rung = sc_time_stamp();
    p.cpu.wait_for_irq(0);
    // 16 B a cycle and 100 before them, here without rounding to cycles
    const double bits = 100 + command.image_bytes / 16.0;
    EXPECT_EQ(sc_time_stamp() - rung, sc_time(bits, SC_NS));
    npu.set(Register::IRQ_CLEAR, ~0u);
    npu.begin_run(command.table);
    const sc_time run = sc_time_stamp();
    p.cpu.wait_for_irq(0);
    const sc_time table = cycles(100 + 1);  // 16 B
    EXPECT_EQ(sc_time_stamp() - run, table + cycles(p.npus[0].result().cycles));
    // A register takes its 50 cycles.
    const sc_time before = sc_time_stamp();
    npu.get(Register::STATUS);
    EXPECT_EQ(sc_time_stamp() - before, cycles(50));
    // 8 B on a link of 8 B a cycle
    npu.set(Register::BUFFER_SELECT, 1);
    const u64 a = npu.get_wide(Register::BUFFER_ADDRESS_LO);
    const sc_time before_window = sc_time_stamp();
    p.cpu.read64(npu.window(a));
    EXPECT_EQ(sc_time_stamp() - before_window, cycles(50 + 1));
  });
}

// simulate() may be called while a platform lives.
TEST(PlatformTiming, ASimulationInsideTheLifeOfAPlatform) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  const task::TaskStream stream = there_and_back(chip, kBytes);
  Platform p({chip});
  task::RunMemory memory(stream, true);
  const u64 alone = models::simulate(chip, stream, memory, {}).cycles;
  p.run([&] {
    Allocator host;
    const Command command(p.cpu, host, stream);
    Driver npu = p.driver(0);
    npu.load(command.image, command.image_bytes);
    EXPECT_EQ(npu.run(command.table), kIrqDone);
    EXPECT_EQ(npu.get_wide(Register::CYCLES_LO), alone);
  });
}

// An initiator that runs ahead of time rings at the time of its access, not before.
TEST(PlatformTiming, ADoorbellRingsWhenTheAccessArrives) {
  const config::ChipConfig chip = round_chip(isa::Arch::c100);
  Platform p({chip}, {.access_latency = config::Seconds(50e-9)});
  p.run([&] {
    u32 value = static_cast<u32>(Doorbell::run);
    tlm::tlm_generic_payload t;
    t.set_command(tlm::TLM_WRITE_COMMAND);
    t.set_address(p.driver(0).address(Register::DOORBELL));
    t.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    t.set_data_length(sizeof value);
    t.set_streaming_width(sizeof value);
    sc_time ahead = cycles(1000);
    p.cpu.socket->b_transport(t, ahead);
    EXPECT_EQ(sc_time_stamp() + ahead, cycles(1050));
    EXPECT_EQ(p.driver(0).get(Register::IRQ_STATUS), models::npu::kIrqRefused);
  });
}

}  // namespace
}  // namespace vinci::test
