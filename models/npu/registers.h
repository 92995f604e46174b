// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"
#include "isa/mem/global_memory.h"

// What models::Npu shows at its target socket. No public source describes the registers of a chip; these are ours.
// docs/tlm.md repeats the table for who writes a driver.
namespace vinci::models::npu {

// Offsets of 32-bit registers. Of a value of 64 bits, _HI is 4 behind _LO.
enum class Register : u32 {
  ID = 0x000,
  VERSION = 0x004,
  STATUS = 0x008,
  ERROR = 0x00c,
  ERROR_BYTES = 0x010,
  DOORBELL = 0x014,
  IRQ_STATUS = 0x018,
  IRQ_ENABLE = 0x01c,
  IRQ_CLEAR = 0x020,
  COMMAND_BYTES = 0x024,
  COMMAND_ADDRESS_LO = 0x028,
  COMMAND_ADDRESS_HI = 0x02c,
  BUFFER_TABLE_LO = 0x030,
  BUFFER_TABLE_HI = 0x034,
  HOST_BUFFERS = 0x038,
  BUFFER_SELECT = 0x03c,
  BUFFER_ADDRESS_LO = 0x040,
  BUFFER_ADDRESS_HI = 0x044,
  BUFFER_BYTES_LO = 0x048,
  BUFFER_BYTES_HI = 0x04c,
  CYCLES_LO = 0x050,
  CYCLES_HI = 0x054,
  MEMORY_BASE_LO = 0x058,
  MEMORY_BASE_HI = 0x05c,
  MEMORY_BYTES_LO = 0x060,
  MEMORY_BYTES_HI = 0x064,
};

enum class Access : u8 { ro, rw, wo };  // what a register does not allow is TLM_COMMAND_ERROR_RESPONSE
inline constexpr auto kAccessNames = enum_names<Access>;

struct RegisterInfo {
  Register id;
  std::string_view name;
  Access access;
  std::string_view meaning;
};

inline constexpr auto kRegisters = std::to_array<RegisterInfo>({
    {Register::ID, "ID", Access::ro, "0x49434e56, in memory the letters VNCI"},
    {Register::VERSION, "VERSION", Access::ro, "1, of this table"},
    {Register::STATUS, "STATUS", Access::ro, "0 idle, 1 loading, 2 loaded, 3 running, 4 failed"},
    {Register::ERROR, "ERROR", Access::ro, "why it failed: an exit code of the command line tool; 0: it has not"},
    {Register::ERROR_BYTES, "ERROR_BYTES", Access::ro, "length of the text that begins at 0x1000"},
    {Register::DOORBELL, "DOORBELL", Access::wo, "1 load, 2 run, 3 reset"},
    {Register::IRQ_STATUS, "IRQ_STATUS", Access::ro, "bit 0 loaded, 1 run is done, 2 failed, 3 a doorbell was refused"},
    {Register::IRQ_ENABLE, "IRQ_ENABLE", Access::rw, "bits of IRQ_STATUS that raise the interrupt"},
    {Register::IRQ_CLEAR, "IRQ_CLEAR", Access::wo, "clears the bits of IRQ_STATUS that are written as 1"},
    {Register::COMMAND_BYTES, "COMMAND_BYTES", Access::rw, "length of the task stream to load, a .vts file"},
    {Register::COMMAND_ADDRESS_LO, "COMMAND_ADDRESS_LO", Access::rw, "where it is in host memory"},
    {Register::COMMAND_ADDRESS_HI, "COMMAND_ADDRESS_HI", Access::rw, "the same, upper half"},
    {Register::BUFFER_TABLE_LO, "BUFFER_TABLE_LO", Access::rw,
     "host memory: for each host buffer of the task stream, in its order, its address there as 64 bits"},
    {Register::BUFFER_TABLE_HI, "BUFFER_TABLE_HI", Access::rw, "the same, upper half"},
    {Register::HOST_BUFFERS, "HOST_BUFFERS", Access::ro, "host buffers of the task stream that is loaded"},
    {Register::BUFFER_SELECT, "BUFFER_SELECT", Access::rw, "a buffer, counted over all of the task stream"},
    {Register::BUFFER_ADDRESS_LO, "BUFFER_ADDRESS_LO", Access::ro,
     "address of the selected buffer in device memory, 0 where it has none"},
    {Register::BUFFER_ADDRESS_HI, "BUFFER_ADDRESS_HI", Access::ro, "the same, upper half"},
    {Register::BUFFER_BYTES_LO, "BUFFER_BYTES_LO", Access::ro, "length of the selected buffer"},
    {Register::BUFFER_BYTES_HI, "BUFFER_BYTES_HI", Access::ro, "the same, upper half"},
    {Register::CYCLES_LO, "CYCLES_LO", Access::ro, "cycles of the latest run that is done"},
    {Register::CYCLES_HI, "CYCLES_HI", Access::ro, "the same, upper half"},
    {Register::MEMORY_BASE_LO, "MEMORY_BASE_LO", Access::ro, "lowest address of device memory"},
    {Register::MEMORY_BASE_HI, "MEMORY_BASE_HI", Access::ro, "the same, upper half"},
    {Register::MEMORY_BYTES_LO, "MEMORY_BYTES_LO", Access::ro, "size of device memory"},
    {Register::MEMORY_BYTES_HI, "MEMORY_BYTES_HI", Access::ro, "the same, upper half"},
});

inline constexpr u32 kId = 0x49434e56;
inline constexpr u32 kVersion = 1;

// Null: there is no register at the offset.
constexpr const RegisterInfo* find_register(u64 offset) {
  const auto* it = std::ranges::find(kRegisters, offset, [](const RegisterInfo& r) { return static_cast<u64>(r.id); });
  return it == kRegisters.end() ? nullptr : it;
}

enum class Doorbell : u32 { load = 1, run = 2, reset = 3 };
enum class State : u32 { idle, loading, loaded, running, failed };

// Bits of IRQ_STATUS.
enum Irq : u32 { kIrqLoaded = 1, kIrqDone = 2, kIrqFailed = 4, kIrqRefused = 8 };

// Read-only bytes that say why a doorbell failed or was refused, zeros behind the text.
inline constexpr u64 kErrorText = 0x1000;
inline constexpr u64 kErrorTextBytes = 0x1000;

// From here on offsets are addresses of device memory, as kernels see them.
inline constexpr u64 kMemoryBase = isa::GlobalMemory::kBase;

}  // namespace vinci::models::npu
