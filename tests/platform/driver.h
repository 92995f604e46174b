// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "models/npu/registers.h"
#include "tests/platform/cpu.h"

namespace vinci::test {

using models::npu::Doorbell;
using models::npu::Register;
using models::npu::State;

// What a device driver does: registers of one NPU, and the memory that it shares with it.
class Driver {
 public:
  Driver(Cpu& cpu, usize irq, u64 base) : cpu_(cpu), irq_(irq), base_(base) {}

  u64 address(Register r) const { return base_ + static_cast<u64>(r); }
  u64 window(u64 device_address) const { return base_ + device_address; }
  u32 get(Register r) { return cpu_.read32(address(r)); }
  u64 get_wide(Register lo) { return cpu_.read64(address(lo)); }
  void set(Register r, u32 value) { cpu_.write32(address(r), value); }
  void set_wide(Register lo, u64 value) { cpu_.write64(address(lo), value); }
  void ring(Doorbell d) { set(Register::DOORBELL, static_cast<u32>(d)); }
  State state() { return static_cast<State>(get(Register::STATUS)); }

  // Waits for the interrupt and takes it back; returns why it was raised.
  u32 wait() {
    cpu_.wait_for_irq(irq_);
    const u32 why = get(Register::IRQ_STATUS);
    set(Register::IRQ_CLEAR, why);
    while (cpu_.irqs[irq_].read())
      sc_core::wait(cpu_.irqs[irq_].negedge_event());
    return why;
  }
  void begin_load(u64 image, u32 bytes) {
    set(Register::IRQ_ENABLE, ~0u);
    set_wide(Register::COMMAND_ADDRESS_LO, image);
    set(Register::COMMAND_BYTES, bytes);
    ring(Doorbell::load);
  }
  u32 load(u64 image, u32 bytes) {
    begin_load(image, bytes);
    return wait();
  }
  void begin_run(u64 table) {
    set_wide(Register::BUFFER_TABLE_LO, table);
    ring(Doorbell::run);
  }
  u32 run(u64 table) {
    begin_run(table);
    return wait();
  }
  std::string error_text() {
    const auto text = cpu_.read<char>(base_ + models::npu::kErrorText, get(Register::ERROR_BYTES));
    return {text.begin(), text.end()};
  }
  // Where a buffer of the task stream is in device memory.
  u64 buffer_address(u32 buffer) {
    set(Register::BUFFER_SELECT, buffer);
    return get_wide(Register::BUFFER_ADDRESS_LO);
  }

 private:
  Cpu& cpu_;
  usize irq_;
  u64 base_;
};

}  // namespace vinci::test
