// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The target socket of models::Npu: registers, the text of errors, device memory.
#include <algorithm>
#include <cstring>

#include "models/npu/npu.h"

namespace vinci::models {

using npu::Access;
using npu::Register;
using tlm::tlm_generic_payload;
using tlm::tlm_response_status;

namespace {

std::span<std::byte> data_of(tlm_generic_payload& t) {
  return {reinterpret_cast<std::byte*>(t.get_data_ptr()), t.get_data_length()};
}

bool overlaps(u64 address, u64 bytes, u64 begin, u64 length) {
  return address >= begin && address - begin < length && bytes <= length - (address - begin);
}

u32 low(u64 v) { return static_cast<u32>(v); }
u32 high(u64 v) { return static_cast<u32>(v >> 32); }

usize position(Register r) {
  return static_cast<usize>(npu::find_register(static_cast<u64>(r)) - npu::kRegisters.data());
}

}  // namespace

void Npu::b_transport(tlm_generic_payload& t, sc_core::sc_time& delay) {
  t.set_dmi_allowed(false);  // pages of device memory exist only once written
  if (t.get_data_length() == 0 || t.get_streaming_width() < t.get_data_length()) {
    t.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else if (t.get_address() >= npu::kMemoryBase) {
    const config::HostConfig& host = config_.host;
    const double bandwidth = t.is_read() ? host.d2h_bandwidth : host.h2d_bandwidth;
    delay += access_latency_ + sc_core::sc_time(t.get_data_length() / bandwidth, sc_core::SC_SEC);
    t.set_response_status(access_memory(t));
  } else {
    // A register acts when the access arrives, not ahead of time.
    sc_core::wait(delay + access_latency_);
    delay = sc_core::SC_ZERO_TIME;
    t.set_response_status(access_registers(t));
  }
}

unsigned Npu::transport_dbg(tlm_generic_payload& t) {
  const bool memory = t.get_address() >= npu::kMemoryBase;
  if (t.get_data_length() == 0 || (t.is_write() && !memory)) return 0;
  t.set_byte_enable_ptr(nullptr);  // IEEE 1666: debug accesses have none
  const tlm_response_status status = memory ? access_memory(t) : access_registers(t);
  return status == tlm::TLM_OK_RESPONSE ? t.get_data_length() : 0;
}

// Device memory -----------------------------------------------------------------------------------------------------

tlm_response_status Npu::access_memory(tlm_generic_payload& t) {
  const std::span<std::byte> data = data_of(t);
  if (memory_ == nullptr || memory_->gm().find(t.get_address(), data.size()) == nullptr) {
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (t.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_OK_RESPONSE;
  const std::span enables(t.get_byte_enable_ptr(), t.get_byte_enable_ptr() == nullptr ? 0 : t.get_byte_enable_length());
  std::vector<std::byte> present(data.size());
  memory_->read(t.get_address(), present);
  for (usize i = 0; i < data.size(); ++i) {
    if (!enables.empty() && enables[i % enables.size()] != TLM_BYTE_ENABLED) continue;
    t.is_read() ? data[i] = present[i] : present[i] = data[i];
  }
  if (t.is_write()) memory_->write(t.get_address(), present);
  return tlm::TLM_OK_RESPONSE;
}

// Registers ---------------------------------------------------------------------------------------------------------

tlm_response_status Npu::access_registers(tlm_generic_payload& t) {
  const u64 address = t.get_address();
  const std::span<std::byte> data = data_of(t);
  if (t.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (overlaps(address, data.size(), npu::kErrorText, npu::kErrorTextBytes)) {
    if (t.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (t.is_read()) read_error_text(address - npu::kErrorText, data);
    return tlm::TLM_OK_RESPONSE;
  }
  if (data.size() % sizeof(u32) != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  for (usize i = 0; i < data.size(); i += sizeof(u32)) {  // first all that can go wrong
    const npu::RegisterInfo* info = npu::find_register(address + i);
    if (info == nullptr) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if ((t.is_read() && info->access == Access::wo) || (t.is_write() && info->access == Access::ro))
      return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  for (usize i = 0; i < data.size(); i += sizeof(u32)) {
    const auto r = static_cast<Register>(address + i);
    u32 word = 0;
    if (t.is_write()) {
      std::memcpy(&word, &data[i], sizeof word);
      write(r, word);
    } else if (t.is_read()) {
      word = read(r);
      std::memcpy(&data[i], &word, sizeof word);
    }
  }
  return tlm::TLM_OK_RESPONSE;
}

void Npu::read_error_text(u64 offset, std::span<std::byte> into) const {
  std::ranges::fill(into, std::byte{0});
  const std::string_view text = error_text_;
  if (offset < text.size()) text.copy(reinterpret_cast<char*>(into.data()), into.size(), offset);
}

u32 Npu::written(Register r) const { return written_[position(r)]; }

u64 Npu::written_wide(Register lo) const { return written(lo) | u64{written_[position(lo) + 1]} << 32; }

const task::Buffer* Npu::selected_buffer() const {
  const u32 b = written(Register::BUFFER_SELECT);
  return memory_ != nullptr && b < stream_.buffers.size() ? &stream_.buffers[b] : nullptr;
}

u64 Npu::selected_address() const {
  const task::Buffer* b = selected_buffer();
  if (b == nullptr || b->place == task::Buffer::Place::host) return 0;
  return memory_->address({.buffer = written(Register::BUFFER_SELECT)});
}

u32 Npu::read(Register r) const {
  const auto selected_bytes = [&] { return selected_buffer() == nullptr ? 0 : selected_buffer()->bytes; };
  switch (r) {
    case Register::ID: return npu::kId;
    case Register::VERSION: return npu::kVersion;
    case Register::STATUS: return static_cast<u32>(state_);
    case Register::ERROR: return error_;
    case Register::ERROR_BYTES: return low(std::min<u64>(error_text_.size(), npu::kErrorTextBytes));
    case Register::IRQ_STATUS: return irq_status_;
    case Register::HOST_BUFFERS: return low(host_buffers_.size());
    case Register::BUFFER_ADDRESS_LO: return low(selected_address());
    case Register::BUFFER_ADDRESS_HI: return high(selected_address());
    case Register::BUFFER_BYTES_LO: return low(selected_bytes());
    case Register::BUFFER_BYTES_HI: return high(selected_bytes());
    case Register::CYCLES_LO: return low(result_.cycles);
    case Register::CYCLES_HI: return high(result_.cycles);
    case Register::MEMORY_BASE_LO: return low(npu::kMemoryBase);
    case Register::MEMORY_BASE_HI: return high(npu::kMemoryBase);
    case Register::MEMORY_BYTES_LO: return low(config_.memory.hbm.size);
    case Register::MEMORY_BYTES_HI: return high(config_.memory.hbm.size);
    default: return written(r);
  }
}

void Npu::write(Register r, u32 value) {
  switch (r) {
    case Register::DOORBELL: ring(value); break;
    case Register::IRQ_CLEAR: irq_status_ &= ~value; break;
    default: written_[position(r)] = value; break;
  }
  steps_.notify(sc_core::SC_ZERO_TIME);  // the interrupt may follow
}

// The state changes at once, so that the next access sees it; the work is for control().
void Npu::ring(u32 doorbell) {
  const bool busy = state_ == npu::State::loading || state_ == npu::State::running;
  switch (static_cast<npu::Doorbell>(doorbell)) {
    case npu::Doorbell::load:
      if (busy) return refuse("load while the NPU is busy");
      error_ = 0;
      error_text_.clear();
      state_ = npu::State::loading;
      return post([this] { load(); });
    case npu::Doorbell::run:
      if (busy) return refuse("run while the NPU is busy");
      if (state_ != npu::State::loaded) return refuse("run without a task stream that is loaded");
      state_ = npu::State::running;
      return post([this] { start(); });
    case npu::Doorbell::reset: return reset();
  }
  refuse(fmt::format("{} is no doorbell", doorbell));
}

void Npu::refuse(const std::string& why) {
  error_text_ = why;
  raise(npu::kIrqRefused);
}

void Npu::reset() {
  dma_.abort();
  todo_.clear();
  written_ = {};
  irq_status_ = error_ = 0;
  error_text_.clear();
  state_ = npu::State::idle;
  post([this] { unload(); });
}

}  // namespace vinci::models
