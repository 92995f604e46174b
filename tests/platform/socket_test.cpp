// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// What single transactions on the target socket do.
#include <fmt/format.h>

#include "tests/platform/platform.h"
#include "tests/platform/samples.h"
#include "tests/support/shell.h"

namespace vinci::test {
namespace {

using models::npu::Access;
using models::npu::kIrqDone;
using models::npu::kIrqLoaded;
using models::npu::kRegisters;
using models::npu::RegisterInfo;
using tlm::TLM_ADDRESS_ERROR_RESPONSE;
using tlm::TLM_BURST_ERROR_RESPONSE;
using tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
using tlm::TLM_COMMAND_ERROR_RESPONSE;
using tlm::TLM_IGNORE_COMMAND;
using tlm::TLM_OK_RESPONSE;
using tlm::TLM_READ_COMMAND;
using tlm::TLM_WRITE_COMMAND;

class PlatformSocket : public testing::Test {
 protected:
  tlm::tlm_response_status access(tlm::tlm_command command, u64 offset, usize bytes, unsigned width = ~0u) {
    std::vector<std::byte> data(bytes);
    return p_.cpu.transact(command, Platform::npu_base(0) + offset, data, {}, width);
  }
  static u64 offset(Register r) { return static_cast<u64>(r); }

  config::ChipConfig chip_ = round_chip(isa::Arch::c100);
  Platform p_{{chip_}};
};

TEST_F(PlatformSocket, RegistersAllowWhatTheTableSays) {
  p_.run([&] {
    u64 end = 0;
    for (const RegisterInfo& r : kRegisters) {
      EXPECT_EQ(offset(r.id), end) << r.name;
      end += 4;
      EXPECT_EQ(access(TLM_READ_COMMAND, offset(r.id), 4),
                r.access == Access::wo ? TLM_COMMAND_ERROR_RESPONSE : TLM_OK_RESPONSE)
          << r.name;
      EXPECT_EQ(access(TLM_WRITE_COMMAND, offset(r.id), 4),
                r.access == Access::ro ? TLM_COMMAND_ERROR_RESPONSE : TLM_OK_RESPONSE)
          << r.name;
      if (r.access != Access::rw) continue;
      Driver npu = p_.driver(0);
      npu.set(r.id, 0x1234'0000 + static_cast<u32>(r.id));
      EXPECT_EQ(npu.get(r.id), 0x1234'0000 + static_cast<u32>(r.id)) << r.name;
    }
    EXPECT_EQ(access(TLM_READ_COMMAND, end, 4), TLM_ADDRESS_ERROR_RESPONSE);
  });
}

TEST_F(PlatformSocket, RegistersTakeWholeWords) {
  p_.run([&] {
    const u64 table = offset(Register::BUFFER_TABLE_LO);
    EXPECT_EQ(access(TLM_READ_COMMAND, table, 8), TLM_OK_RESPONSE);
    EXPECT_EQ(access(TLM_READ_COMMAND, table, 2), TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(TLM_READ_COMMAND, table, 6), TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(TLM_READ_COMMAND, table, 0), TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(access(TLM_READ_COMMAND, table, 8, 4), TLM_BURST_ERROR_RESPONSE);  // a stream to one address
    EXPECT_EQ(access(TLM_READ_COMMAND, table + 2, 4), TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(TLM_IGNORE_COMMAND, offset(Register::DOORBELL), 4), TLM_OK_RESPONSE);
    // A burst that cannot be carried out in full leaves all registers alone: HOST_BUFFERS cannot be written.
    Driver npu = p_.driver(0);
    npu.set_wide(Register::BUFFER_TABLE_LO, 0x1122'3344'5566'7788);
    EXPECT_EQ(npu.get(Register::BUFFER_TABLE_LO), 0x5566'7788u);
    EXPECT_EQ(npu.get(Register::BUFFER_TABLE_HI), 0x1122'3344u);
    EXPECT_EQ(access(TLM_WRITE_COMMAND, table, 12), TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(npu.get_wide(Register::BUFFER_TABLE_LO), 0x1122'3344'5566'7788u);
    std::vector<std::byte> word(4);
    std::vector<unsigned char> enables{0xff, 0, 0, 0};
    EXPECT_EQ(p_.cpu.transact(TLM_WRITE_COMMAND, npu.address(Register::IRQ_ENABLE), word, enables),
              TLM_BYTE_ENABLE_ERROR_RESPONSE);
  });
}

TEST_F(PlatformSocket, DebugAccessTakesNoTimeAndWritesNoRegister) {
  p_.run([&] {
    const sc_core::sc_time before = sc_core::sc_time_stamp();
    std::vector<std::byte> word(4);
    EXPECT_EQ(p_.cpu.debug(TLM_READ_COMMAND, p_.driver(0).address(Register::ID), word), 4u);
    EXPECT_EQ(std::memcmp(word.data(), "VNCI", 4), 0);
    EXPECT_EQ(p_.cpu.debug(TLM_WRITE_COMMAND, p_.driver(0).address(Register::DOORBELL), word), 0u);
    EXPECT_EQ(p_.cpu.debug(TLM_READ_COMMAND, p_.driver(0).address(Register::DOORBELL), word), 0u);
    EXPECT_EQ(p_.cpu.debug(TLM_READ_COMMAND, p_.driver(0).window(models::npu::kMemoryBase), word), 0u);
    EXPECT_EQ(sc_core::sc_time_stamp(), before);
  });
}

TEST_F(PlatformSocket, DeviceMemoryIsWhatTheTaskStreamAllocates) {
  constexpr u64 kBytes = 256;
  p_.run([&] {
    Driver npu = p_.driver(0);
    const u64 base = models::npu::kMemoryBase;
    EXPECT_EQ(npu.get_wide(Register::MEMORY_BASE_LO), base);
    EXPECT_EQ(npu.get_wide(Register::MEMORY_BYTES_LO), 64u << 20);
    EXPECT_EQ(access(TLM_READ_COMMAND, base, 4), TLM_ADDRESS_ERROR_RESPONSE);  // nothing is loaded
    // Only from device to device: the window is the way in and out.
    task::TaskStream stream = there_and_back(chip_, kBytes);
    stream.streams[0].tasks = {stream.streams[0].tasks[1]};
    Allocator host;
    const Command command(p_.cpu, host, stream);
    EXPECT_EQ(npu.load(command.image, command.image_bytes), kIrqLoaded);
    EXPECT_EQ(npu.buffer_address(0), 0u);  // of the host
    EXPECT_EQ(npu.get_wide(Register::BUFFER_BYTES_LO), kBytes);
    EXPECT_EQ(npu.buffer_address(4), 0u);  // there is none
    EXPECT_EQ(npu.get_wide(Register::BUFFER_BYTES_LO), 0u);
    const u64 b = npu.buffer_address(2), a = npu.buffer_address(1);
    EXPECT_GE(a, base);
    EXPECT_GE(b, a + kBytes);
    const std::vector<u8> in = pattern(kBytes);
    p_.cpu.write(npu.window(a), std::span<const u8>(in));
    // Any size and alignment inside, with byte enables that repeat.
    std::vector<std::byte> bytes(5, std::byte{0xee});
    std::vector<unsigned char> enables{0xff, 0};
    EXPECT_EQ(p_.cpu.transact(TLM_WRITE_COMMAND, npu.window(a + 3), bytes, enables), TLM_OK_RESPONSE);
    EXPECT_EQ(access(TLM_READ_COMMAND, a + kBytes - 3, 3), TLM_OK_RESPONSE);
    EXPECT_EQ(access(TLM_READ_COMMAND, a + kBytes - 3, 4), TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(TLM_READ_COMMAND, a, 8, 4), TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(npu.run(command.table), kIrqDone);
    std::vector<u8> expected = in;
    expected[3] = expected[5] = expected[7] = 0xee;
    EXPECT_EQ(p_.cpu.read<u8>(npu.window(b), kBytes), expected);
    std::vector<std::byte> some(4, std::byte{0x11});
    EXPECT_EQ(p_.cpu.transact(TLM_READ_COMMAND, npu.window(b), some, enables), TLM_OK_RESPONSE);
    EXPECT_EQ(static_cast<u8>(some[0]), expected[0]);
    EXPECT_EQ(static_cast<u8>(some[1]), 0x11);
    EXPECT_EQ(static_cast<u8>(some[2]), expected[2]);
    // The debugger sees and changes the same.
    EXPECT_EQ(p_.cpu.debug(TLM_READ_COMMAND, npu.window(b + 1), some), 4u);
    EXPECT_EQ(static_cast<u8>(some[0]), expected[1]);
    some[0] = std::byte{0x77};
    EXPECT_EQ(p_.cpu.debug(TLM_WRITE_COMMAND, npu.window(b + 1), some), 4u);
    EXPECT_EQ(p_.cpu.read<u8>(npu.window(b + 1), 1).front(), 0x77);
    npu.ring(Doorbell::reset);
    EXPECT_EQ(access(TLM_READ_COMMAND, a, 4), TLM_ADDRESS_ERROR_RESPONSE);
  });
}

TEST_F(PlatformSocket, TheInterruptFollowsItsRegisters) {
  p_.run([&] {
    Driver npu = p_.driver(0);
    const auto settle = [] { sc_core::wait(1, sc_core::SC_NS); };
    npu.ring(Doorbell::run);  // refused
    settle();
    EXPECT_EQ(npu.get(Register::IRQ_STATUS), models::npu::kIrqRefused);
    EXPECT_FALSE(p_.cpu.irqs[0].read());
    npu.set(Register::IRQ_ENABLE, models::npu::kIrqDone);
    settle();
    EXPECT_FALSE(p_.cpu.irqs[0].read());
    npu.set(Register::IRQ_ENABLE, models::npu::kIrqRefused);
    settle();
    EXPECT_TRUE(p_.cpu.irqs[0].read());
    npu.set(Register::IRQ_CLEAR, ~models::npu::kIrqRefused);
    settle();
    EXPECT_TRUE(p_.cpu.irqs[0].read());
    npu.set(Register::IRQ_CLEAR, models::npu::kIrqRefused);
    settle();
    EXPECT_FALSE(p_.cpu.irqs[0].read());
  });
}

TEST(PlatformDocument, HasTheRegisters) {
  std::string rows;
  for (const RegisterInfo& r : kRegisters) {
    rows += fmt::format("| 0x{:03x} | {} | {} | {} |\n", static_cast<u32>(r.id), r.name,
                        models::npu::kAccessNames[static_cast<usize>(r.access)], r.meaning);
  }
  EXPECT_THAT(slurp(TLM_DOC), testing::HasSubstr(rows));
}

TEST(PlatformKernel, AnNpuNeedsFemtoseconds) {
  const sim::Context context;
  sc_core::sc_simcontext coarse;
  sc_core::sc_simcontext* const fine = sc_core::sc_curr_simcontext;
  sc_core::sc_curr_simcontext = &coarse;
  EXPECT_THAT(fault_of([] { const models::Npu npu("npu", round_chip(isa::Arch::c100), {}); }),
              testing::HasSubstr("input: the time resolution of SystemC is 1 ps"));
  sc_core::sc_curr_simcontext = fine;
}

}  // namespace
}  // namespace vinci::test
