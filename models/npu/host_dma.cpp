// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/npu/host_dma.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace vinci::models::npu {

using sc_core::sc_time;
using sc_core::sc_time_stamp;
using sc_core::SC_ZERO_TIME;

namespace {

// The part of a duration in which so many bytes of all have passed.
sc_time part(const sc_time& length, u64 bytes, u64 all) {
  return sc_time::from_value(
      static_cast<u64>(static_cast<double>(length.value()) * (static_cast<double>(bytes) / static_cast<double>(all))));
}

}  // namespace

HostDma::HostDma(Socket& socket, u32 burst, bool use_dmi) : socket_(socket), burst_(burst), use_dmi_(use_dmi) {
  for (Channel& c : channels_)
    sc_core::sc_spawn([this, &c] { serve(c); }, &c == &channels_[0] ? "read_host" : "write_host");
}

void HostDma::add(Transfer transfer) {
  Channel& channel = channels_[transfer.to_host ? 1 : 0];
  channel.queue.push_back(std::move(transfer));
  channel.more.notify(SC_ZERO_TIME);
}

bool HostDma::busy() const {
  return std::ranges::any_of(channels_,
                             [&](const Channel& c) { return !c.queue.empty() || (c.active && !aborted(c)); });
}

void HostDma::abort() {
  ++generation_;
  aborted_.notify(SC_ZERO_TIME);
  for (Channel& c : channels_) {
    c.queue.clear();
    c.free_at = SC_ZERO_TIME;
  }
}

void HostDma::invalidate(u64 begin, u64 end) {
  std::erase_if(regions_,
                [&](const tlm::tlm_dmi& r) { return r.get_start_address() <= end && r.get_end_address() >= begin; });
}

void HostDma::serve(Channel& channel) {
  for (;;) {
    while (channel.queue.empty())
      sc_core::wait(channel.more);
    const Transfer transfer = std::move(channel.queue.front());
    channel.queue.pop_front();
    channel.active = true;
    channel.generation = generation_;
    Outcome outcome;
    const bool valid = carry_out(transfer, channel, outcome);
    channel.active = false;
    if (valid) transfer.done(outcome);
  }
}

// Or until it is aborted.
void HostDma::wait_until(const sc_time& t, const Channel& channel) {
  while (t > sc_time_stamp() && !aborted(channel))
    sc_core::wait(t - sc_time_stamp(), aborted_);
}

// False: it was aborted.
bool HostDma::carry_out(const Transfer& t, Channel& channel, Outcome& outcome) {
  wait_until(std::max(t.start, channel.free_at), channel);
  if (aborted(channel)) return false;
  outcome.start = sc_time_stamp();
  outcome.end = outcome.start + t.length;
  const u64 all = t.width * t.height;
  std::vector<std::byte> bytes(std::min<u64>(burst_, t.width));
  u64 moved = 0;
  for (u64 row = 0; row < t.height && outcome.error.empty(); ++row) {
    for (u64 at = 0; at < t.width && outcome.error.empty();) {
      wait_until(outcome.start + part(t.length, moved, all), channel);
      if (aborted(channel)) return false;
      const u64 address = t.address + row * t.pitch + at;
      const auto piece = std::span(bytes).first(std::min(t.width - at, burst_ - address % burst_));
      if (t.to_host) t.device(row, at, piece);
      outcome.error = move(t.to_host, address, piece);
      if (aborted(channel)) return false;
      if (!t.to_host && outcome.error.empty()) t.device(row, at, piece);
      at += piece.size();
      moved += piece.size();
    }
  }
  if (t.at_end) wait_until(outcome.end, channel);
  const sc_time beyond = (sc_time_stamp() - t.start) % t.step;
  if (beyond != SC_ZERO_TIME) wait_until(sc_time_stamp() + t.step - beyond, channel);
  if (aborted(channel)) return false;
  channel.free_at = std::max(outcome.end, sc_time_stamp());
  return true;
}

std::string HostDma::move(bool to_host, u64 address, std::span<std::byte> bytes) {
  sc_time delay;
  std::string error;
  if (!move_direct(to_host, address, bytes, delay)) {
    tlm::tlm_generic_payload t;
    t.set_command(to_host ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    t.set_address(address);
    t.set_data_ptr(reinterpret_cast<unsigned char*>(bytes.data()));
    t.set_data_length(static_cast<unsigned>(bytes.size()));
    t.set_streaming_width(static_cast<unsigned>(bytes.size()));
    ++bursts_;
    socket_->b_transport(t, delay);
    if (t.is_response_error()) {
      error = fmt::format("{} {} bytes of host memory at {:#x}: {}", to_host ? "writing" : "reading", bytes.size(),
                          address, t.get_response_string());
    } else if (use_dmi_ && t.is_dmi_allowed()) {
      tlm::tlm_dmi region;
      t.set_address(address);  // routers may have changed it
      if (socket_->get_direct_mem_ptr(t, region)) regions_.push_back(region);
    }
  }
  if (delay != SC_ZERO_TIME) sc_core::wait(delay);
  return error;
}

bool HostDma::move_direct(bool to_host, u64 address, std::span<std::byte> bytes, sc_time& delay) {
  const u64 last = address + bytes.size() - 1;
  const auto region = std::ranges::find_if(regions_, [&](const tlm::tlm_dmi& r) {
    return r.get_start_address() <= address && last <= r.get_end_address() &&
           (to_host ? r.is_write_allowed() : r.is_read_allowed());
  });
  if (region == regions_.end()) return false;
  unsigned char* memory = region->get_dmi_ptr() + (address - region->get_start_address());
  if (to_host) {
    std::memcpy(memory, bytes.data(), bytes.size());
  } else {
    std::memcpy(bytes.data(), memory, bytes.size());
  }
  direct_bytes_ += bytes.size();
  delay += to_host ? region->get_write_latency() : region->get_read_latency();
  return true;
}

}  // namespace vinci::models::npu
