// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "isa/base/types.h"
#include "sim/kernel/tlm.h"

namespace vinci::test {

// Host memory: each transaction takes `latency`.
class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> socket{"socket"};
  sc_core::sc_time latency;
  bool gives_dmi = false;
  u64 transactions = 0;

  Memory(const sc_core::sc_module_name& name, u64 bytes) : sc_module(name), bytes_(bytes) {
    socket.register_b_transport(this, &Memory::b_transport);
    socket.register_transport_dbg(this, &Memory::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &Memory::get_direct_mem_ptr);
  }

  // Behind the back of the bus, for tests that look at the result.
  std::span<std::byte> at(u64 offset, u64 bytes) { return std::span(bytes_).subspan(offset, bytes); }
  void take_back() { socket->invalidate_direct_mem_ptr(0, bytes_.size() - 1); }

 private:
  bool move(tlm::tlm_generic_payload& t) {
    const u64 address = t.get_address(), n = t.get_data_length();
    if (address > bytes_.size() || n > bytes_.size() - address) return false;
    if (t.is_read()) std::memcpy(t.get_data_ptr(), &bytes_[address], n);
    if (t.is_write()) std::memcpy(&bytes_[address], t.get_data_ptr(), n);
    return true;
  }
  void b_transport(tlm::tlm_generic_payload& t, sc_core::sc_time& delay) {
    ++transactions;
    delay += latency;
    t.set_dmi_allowed(gives_dmi);
    t.set_response_status(move(t) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& t) { return move(t) ? t.get_data_length() : 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& region) {
    region.set_dmi_ptr(reinterpret_cast<unsigned char*>(bytes_.data()));
    region.set_start_address(0);
    region.set_end_address(bytes_.size() - 1);
    region.set_granted_access(gives_dmi ? tlm::tlm_dmi::DMI_ACCESS_READ_WRITE : tlm::tlm_dmi::DMI_ACCESS_NONE);
    region.set_read_latency(latency);
    region.set_write_latency(latency);
    return gives_dmi;
  }

  std::vector<std::byte> bytes_;
};

}  // namespace vinci::test
