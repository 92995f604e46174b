// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "models/npu/npu.h"
#include "sim/kernel/context.h"
#include "sim/task/write.h"
#include "tests/platform/bus.h"
#include "tests/platform/driver.h"
#include "tests/platform/memory.h"
#include "tests/support/timed_run.h"

// A small virtual platform: a CPU, host memory and any number of NPUs on a bus.
namespace vinci::test {

// Keeps the record of each task as it ends.
class Tasks final : public models::TaskSink {
 public:
  void task(const models::TaskRecord& r) override { all.push_back(r); }
  std::vector<models::TaskRecord> all;
};

struct Platform {
  static constexpr u64 kHostBytes = 16 << 20;
  static constexpr u64 kHostBase = 0x4000'0000;
  static constexpr u64 kNpuBytes = u64{1} << 48;
  static constexpr u64 npu_base(usize n) { return u64{n + 1} << 50; }

  explicit Platform(const std::vector<config::ChipConfig>& chips, models::Npu::Options options = {})
      : memory("memory", kHostBytes), cpu("cpu", chips.size()), bus("bus", 1 + chips.size(), ranges(chips.size())) {
    cpu.socket.bind(bus.in(0));
    bus.out(0).bind(memory.socket);
    for (usize i = 0; i < chips.size(); ++i) {
      options.tasks = &tasks.emplace_back();
      models::Npu& npu = npus.emplace_back(sc_core::sc_module_name(fmt::format("npu{}", i).c_str()), chips[i], options);
      npu.initiator.bind(bus.in(1 + i));
      bus.out(1 + i).bind(npu.target);
      npu.irq.bind(irqs.emplace_back(fmt::format("irq{}", i).c_str()));
      cpu.irqs[i].bind(irqs.back());
    }
  }

  // Runs the platform until the program of the CPU has ended and nothing moves any more.
  void run(std::function<void()> program) {
    cpu.program = std::move(program);
    sc_core::sc_start();
    EXPECT_TRUE(cpu.ended()) << "the CPU waits for ever";
  }
  Driver driver(usize npu) { return {cpu, npu, npu_base(npu)}; }

  sim::Context context;
  Memory memory;
  Cpu cpu;
  Bus bus;
  std::deque<Tasks> tasks;  // by NPU
  std::deque<models::Npu> npus;
  std::deque<sc_core::sc_signal<bool>> irqs;

 private:
  static std::vector<Bus::Range> ranges(usize npus) {
    std::vector<Bus::Range> out{{kHostBase, kHostBytes}};
    for (usize i = 0; i < npus; ++i)
      out.push_back({npu_base(i), kNpuBytes});
    return out;
  }
};

// Deals out host memory, so that a burst of up to 16 KiB never meets the beginning of a buffer in its middle.
class Allocator {
 public:
  u64 take(u64 bytes) {
    const u64 at = next_;
    next_ += align_up(bytes, u64{16 << 10});
    return at;
  }

 private:
  u64 next_ = Platform::kHostBase;
};

// A task stream in host memory, ready for a driver: image, host buffers and the table of their addresses.
struct Command {
  u64 image = 0, table = 0;
  u32 image_bytes = 0;
  std::vector<u64> buffers;  // by host buffer

  // Executed by the CPU.
  Command(Cpu& cpu, Allocator& memory, const task::TaskStream& stream) {
    const std::vector<std::byte> bytes = task::to_vts(stream);
    image = memory.take(bytes.size());
    image_bytes = static_cast<u32>(bytes.size());
    cpu.write(image, std::span<const std::byte>(bytes));
    for (const task::Buffer& b : stream.buffers) {
      if (b.place == task::Buffer::Place::host) buffers.push_back(memory.take(b.bytes));
    }
    table = memory.take(buffers.size() * sizeof(u64));
    if (!buffers.empty()) cpu.write(table, std::span<const u64>(buffers));
  }
};

}  // namespace vinci::test
