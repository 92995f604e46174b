// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "isa/base/types.h"
#include "sim/kernel/tlm.h"

namespace vinci::test {

// A CPU whose program is a C++ function: it can only read and write memory and wait for interrupts.
class Cpu : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Cpu> socket{"socket"};
  sc_core::sc_vector<sc_core::sc_in<bool>> irqs;
  std::function<void()> program;

  Cpu(const sc_core::sc_module_name& name, usize interrupts) : sc_module(name), irqs("irqs", interrupts) {
    sc_core::sc_spawn_options options;
    options.set_stack_size(1 << 20);
    sc_core::sc_spawn(
        [this] {
          program();
          ended_ = true;
        },
        "program", &options);
  }
  bool ended() const { return ended_; }

  tlm::tlm_response_status transact(tlm::tlm_command command, u64 address, std::span<std::byte> data,
                                    std::span<unsigned char> enables = {}, unsigned streaming_width = ~0u) {
    tlm::tlm_generic_payload t;
    fill(t, command, address, data);
    t.set_streaming_width(std::min<unsigned>(streaming_width, static_cast<unsigned>(data.size())));
    t.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
    t.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    sc_core::sc_time delay;
    socket->b_transport(t, delay);
    sc_core::wait(delay);
    return t.get_response_status();
  }
  unsigned debug(tlm::tlm_command command, u64 address, std::span<std::byte> data) {
    tlm::tlm_generic_payload t;
    fill(t, command, address, data);
    return socket->transport_dbg(t);
  }

  template <class T>
  void write(u64 address, std::span<const T> values) {
    std::vector<std::byte> bytes(values.size_bytes());
    std::memcpy(bytes.data(), values.data(), bytes.size());
    EXPECT_EQ(transact(tlm::TLM_WRITE_COMMAND, address, bytes), tlm::TLM_OK_RESPONSE) << std::hex << address;
  }
  template <class T>
  std::vector<T> read(u64 address, usize count) {
    std::vector<T> values(count);
    EXPECT_EQ(transact(tlm::TLM_READ_COMMAND, address, std::as_writable_bytes(std::span(values))), tlm::TLM_OK_RESPONSE)
        << std::hex << address;
    return values;
  }
  void write32(u64 address, u32 value) { write(address, std::span<const u32>(&value, 1)); }
  void write64(u64 address, u64 value) { write(address, std::span<const u64>(&value, 1)); }
  u32 read32(u64 address) { return read<u32>(address, 1).front(); }
  u64 read64(u64 address) { return read<u64>(address, 1).front(); }
  void wait_for_irq(usize n) {
    while (!irqs[n].read())
      sc_core::wait(irqs[n].posedge_event());
  }

 private:
  static void fill(tlm::tlm_generic_payload& t, tlm::tlm_command command, u64 address, std::span<std::byte> data) {
    t.set_command(command);
    t.set_address(address);
    t.set_data_ptr(reinterpret_cast<unsigned char*>(data.data()));
    t.set_data_length(static_cast<unsigned>(data.size()));
  }

  bool ended_ = false;
};

}  // namespace vinci::test
