// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What goes wrong, as a driver sees it: an interrupt, a code, a text, and an NPU that can be used again.
#include "isa/text/text.h"
#include "tests/platform/platform.h"
#include "tests/platform/samples.h"

namespace vinci::test {
namespace {

using models::npu::kIrqDone;
using models::npu::kIrqFailed;
using models::npu::kIrqLoaded;
using models::npu::kIrqRefused;
using testing::HasSubstr;
using testing::StartsWith;

class PlatformErrors : public testing::Test {
 protected:
  void run(const std::function<void(Driver&, Allocator&)>& program) {
    p_.run([&] {
      Driver npu = p_.driver(0);
      Allocator host;
      program(npu, host);
    });
  }
  Command put(Allocator& host, const task::TaskStream& stream) { return {p_.cpu, host, stream}; }
  // The driver is told so, and everything works again after that.
  void expect_failed(Driver& npu, Allocator& host, u32 irq, Fault fault, const std::string& text) {
    EXPECT_EQ(irq, kIrqFailed);
    EXPECT_EQ(npu.state(), State::failed);
    EXPECT_EQ(npu.get(Register::ERROR), static_cast<u32>(fault));
    EXPECT_THAT(npu.error_text(), HasSubstr(text));
    const Command good = put(host, there_and_back(chip_, 64));
    EXPECT_EQ(npu.load(good.image, good.image_bytes), kIrqLoaded);
    EXPECT_EQ(npu.get(Register::ERROR), 0u);
    EXPECT_EQ(npu.get(Register::ERROR_BYTES), 0u);
    EXPECT_EQ(npu.run(good.table), kIrqDone);
  }
  void expect_refused_at_load(const task::TaskStream& stream, Fault fault, const std::string& text) {
    run([&](Driver& npu, Allocator& host) {
      const Command command = put(host, stream);
      expect_failed(npu, host, npu.load(command.image, command.image_bytes), fault, text);
    });
  }
  task::TaskStream kernel(const std::string& text) const { return kernel_stream(chip_, text); }

  config::ChipConfig chip_ = round_chip(isa::Arch::c100);
  Platform p_{{chip_}, {.access_latency = config::Seconds(10e-9)}};  // a register is faster than a load
};

TEST_F(PlatformErrors, AnImageThatIsNone) {
  run([&](Driver& npu, Allocator& host) {
    const u64 image = host.take(1000);
    const std::vector<u8> noise = pattern(1000);
    p_.cpu.write(image, std::span<const u8>(noise));
    expect_failed(npu, host, npu.load(image, 1000), Fault::Input, "npu0.vts: not a binary task stream");
  });
}

TEST_F(PlatformErrors, AnImageThatIsCutShort) {
  run([&](Driver& npu, Allocator& host) {
    const Command command = put(host, there_and_back(chip_, 64));
    expect_failed(npu, host, npu.load(command.image, command.image_bytes / 2), Fault::Input, "npu0.vts");
  });
}

TEST_F(PlatformErrors, AnImageOfNoLengthOrTooMuch) {
  for (const u32 bytes : {0u, (64u << 20) + 1}) {
    SCOPED_TRACE(bytes);
    Platform p({chip_});
    p.run([&] {
      Driver npu = p.driver(0);
      EXPECT_EQ(npu.load(Platform::kHostBase, bytes), kIrqFailed);
      EXPECT_THAT(npu.error_text(), StartsWith(fmt::format("COMMAND_BYTES is {}", bytes)));
    });
  }
}

TEST_F(PlatformErrors, AnImageWhereThereIsNoMemory) {
  run([&](Driver& npu, Allocator& host) {
    expect_failed(npu, host, npu.load(0x1000, 5000), Fault::Program,
                  "reading 4096 bytes of host memory at 0x1000: TLM_ADDRESS_ERROR_RESPONSE");
  });
}

TEST_F(PlatformErrors, TaskStreamsThatAPlatformCannotRun) {
  task::TaskStream stream = there_and_back(chip_, 64);
  stream.buffers[0].data.resize(64);
  expect_refused_at_load(stream, Fault::Unsupported, "host buffer 'in' has initial contents");
}

TEST_F(PlatformErrors, SeveralDevices) {
  task::TaskStream stream = there_and_back(chip_, 64);
  stream.devices = 2;
  expect_refused_at_load(stream, Fault::Unsupported, "for 2 devices");
}

TEST_F(PlatformErrors, AHostProgram) {
  task::TaskStream stream = there_and_back(chip_, 64);
  stream.host.threads.push_back({.name = "t", .steps = {task::HostEnqueue{.stream = 0}}});
  expect_refused_at_load(stream, Fault::Unsupported, "the task stream has a host program");
}

TEST_F(PlatformErrors, AnotherArchitecture) {
  expect_refused_at_load(there_and_back(round_chip(isa::Arch::c220), 64), Fault::Input, "is compiled for c220");
}

TEST_F(PlatformErrors, AHostBufferWhereThereIsNoMemory) {
  for (const usize wrong : {0, 1}) {
    Platform p({chip_});
    p.run([&] {
      Driver npu = p.driver(0);
      Allocator host;
      const Command command(p.cpu, host, there_and_back(chip_, 64));
      EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded);
      const u64 end = Platform::kHostBase + Platform::kHostBytes;
      p.cpu.write64(command.table + wrong * 8, end - 32);  // half of it inside
      EXPECT_EQ(npu.run(command.table), kIrqFailed);
      EXPECT_EQ(npu.error_text(), fmt::format("{} 32 bytes of host memory at {:#x}: TLM_ADDRESS_ERROR_RESPONSE",
                                              wrong == 0 ? "reading" : "writing", end));
      EXPECT_EQ(npu.get(Register::ERROR), static_cast<u32>(Fault::Program));
      p.cpu.write64(command.table + wrong * 8, ~u64{0} - 10);
      EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded);
      EXPECT_EQ(npu.run(command.table), kIrqFailed);
      EXPECT_THAT(npu.error_text(), HasSubstr("goes beyond 64 bits of address"));
    });
  }
}

TEST_F(PlatformErrors, ATableWhereThereIsNoMemory) {
  run([&](Driver& npu, Allocator& host) {
    const Command command = put(host, there_and_back(chip_, 64));
    EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded);
    expect_failed(npu, host, npu.run(0), Fault::Program, "reading 16 bytes of host memory at 0x0");
  });
}

TEST_F(PlatformErrors, DoorbellsThatAreRefusedDisturbNothing) {
  run([&](Driver& npu, Allocator& host) {
    npu.set(Register::IRQ_ENABLE, ~0u);
    npu.ring(Doorbell::run);
    EXPECT_EQ(npu.wait(), kIrqRefused);
    EXPECT_EQ(npu.error_text(), "run without a task stream that is loaded");
    npu.set(Register::DOORBELL, 9);
    EXPECT_EQ(npu.wait(), kIrqRefused);
    EXPECT_EQ(npu.error_text(), "9 is no doorbell");
    EXPECT_EQ(npu.state(), State::idle);

    const Command command = put(host, there_and_back(chip_, 1 << 20));
    const std::vector<u8> in = pattern(1 << 20);
    p_.cpu.write(command.buffers[0], std::span<const u8>(in));
    npu.begin_load(command.image, command.image_bytes);
    EXPECT_EQ(npu.state(), State::loading);
    npu.ring(Doorbell::load);
    EXPECT_EQ(npu.wait(), kIrqRefused);
    EXPECT_EQ(npu.wait(), kIrqLoaded);
    npu.begin_run(command.table);
    for (const Doorbell d : {Doorbell::run, Doorbell::load}) {
      npu.ring(d);
      EXPECT_EQ(npu.wait(), kIrqRefused);
      EXPECT_EQ(npu.state(), State::running);
      EXPECT_THAT(npu.error_text(), HasSubstr("while the NPU is busy"));
    }
    EXPECT_EQ(npu.wait(), kIrqDone);
    EXPECT_EQ(npu.get(Register::ERROR), 0u);
    EXPECT_EQ(p_.cpu.read<u8>(command.buffers[1], 1 << 20), in);
  });
}

TEST_F(PlatformErrors, AFaultOfAKernel) {
  run([&](Driver& npu, Allocator& host) {
    const Command command = put(host, kernel("mov X1, 0\ntrap 5\nend"));
    EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded);
    expect_failed(npu, host, npu.run(command.table), Fault::Program, "task 't', block 0, core0.AI_CORE");
  });
}

// Others move on, but nothing in this NPU can.
TEST_F(PlatformErrors, ADeadlock) {
  run([&](Driver& npu, Allocator& host) {
    const Command command = put(host, kernel("wait_flag PIPE_V, PIPE_S, 1\nend"));
    EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded);
    expect_failed(npu, host, npu.run(command.table), Fault::Deadlock, "nothing can move at cycle");
  });
}

TEST_F(PlatformErrors, ResetEndsALoadARunAndACopy) {
  run([&](Driver& npu, Allocator& host) {
    const Command endless = put(host, kernel("l: mov X1, 1\nb l\nend"));
    const Command copies = put(host, there_and_back(chip_, 1 << 20));
    const auto wait = [](int us) { sc_core::wait(us, sc_core::SC_US); };
    npu.begin_load(endless.image, endless.image_bytes);
    npu.ring(Doorbell::reset);
    EXPECT_EQ(npu.state(), State::idle);
    wait(100);
    EXPECT_EQ(npu.get(Register::IRQ_STATUS), 0u);  // it does not come to its end
    EXPECT_EQ(npu.get(Register::IRQ_ENABLE), 0u);

    EXPECT_EQ(npu.load(endless.image, endless.image_bytes), kIrqLoaded);
    npu.begin_run(endless.table);
    wait(100);
    EXPECT_EQ(npu.state(), State::running);
    npu.ring(Doorbell::reset);
    npu.begin_load(copies.image, copies.image_bytes);  // at once
    EXPECT_EQ(npu.wait(), kIrqLoaded);

    npu.begin_run(copies.table);
    wait(10);
    npu.ring(Doorbell::reset);
    wait(1000);
    EXPECT_EQ(npu.state(), State::idle);
    EXPECT_TRUE(p_.tasks[0].all.empty());
    EXPECT_EQ(npu.load(copies.image, copies.image_bytes), kIrqLoaded);
    EXPECT_EQ(npu.run(copies.table), kIrqDone);
    EXPECT_EQ(p_.tasks[0].all.size(), 3u);
  });
}

// Device memory stays between runs of one load.
TEST_F(PlatformErrors, RunAgainFindsWhatTheRunBeforeLeft) {
  run([&](Driver& npu, Allocator& host) {
    task::TaskStream stream = there_and_back(chip_, 64);
    std::swap(stream.streams[0].tasks[0], stream.streams[0].tasks[2]);  // out, move, in
    const Command command = put(host, stream);
    const std::vector<u8> first = pattern(64, 5), second = pattern(64, 6);
    EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded);
    p_.cpu.write(command.buffers[0], std::span<const u8>(first));
    EXPECT_EQ(npu.run(command.table), kIrqDone);
    EXPECT_EQ(p_.cpu.read<u8>(command.buffers[1], 64), std::vector<u8>(64));
    p_.cpu.write(command.buffers[0], std::span<const u8>(second));
    EXPECT_EQ(npu.run(command.table), kIrqDone);
    EXPECT_EQ(p_.cpu.read<u8>(command.buffers[1], 64), std::vector<u8>(64));
    EXPECT_EQ(npu.run(command.table), kIrqDone);
    EXPECT_EQ(p_.cpu.read<u8>(command.buffers[1], 64), first);
    EXPECT_EQ(npu.run(command.table), kIrqDone);
    EXPECT_EQ(p_.cpu.read<u8>(command.buffers[1], 64), second);
  });
}

}  // namespace
}  // namespace vinci::test
