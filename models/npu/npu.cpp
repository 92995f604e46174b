// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The steps from a doorbell to an interrupt; npu_target.cpp has the target socket.
#include "models/npu/npu.h"

#include <cstring>

#include "models/core/core_spec.h"
#include "models/runtime/limits.h"
#include "sim/kernel/run.h"
#include "sim/task/load.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

using npu::HostDma;
using sc_core::sc_time;

namespace {

sc_time seconds(double s) { return sc_time(s, sc_core::SC_SEC); }

// Clocks count whole femtoseconds; a platform sets the resolution before it makes its first sc_time.
sc_time checked_resolution(double of_access) {
  if (sc_core::sc_get_time_resolution().to_seconds() > 1.5e-15) {
    fail(Fault::Input, "the time resolution of SystemC is {}; an NPU needs 1 fs, see sc_set_time_resolution",
         sc_core::sc_get_time_resolution().to_string());
  }
  return seconds(of_access);
}

// Enqueuing is the platform's own: what it does before the doorbell takes its time there.
config::ChipConfig without_host_program(config::ChipConfig config) {
  config.host.launch = config.host.enqueue = config.host.synchronize = config::Seconds(0);
  return config;
}

// What a task stream must not have when its host is outside.
void check_command(const task::TaskStream& stream) {
  if (stream.devices != 1) {
    fail(Fault::Unsupported, "the task stream is for {} devices; an NPU in a platform is one", stream.devices);
  }
  if (!stream.host.threads.empty()) {
    fail(Fault::Unsupported, "the task stream has a host program; in a platform, the host is the platform's own");
  }
  for (const task::Buffer& b : stream.buffers) {
    if (!b.data.empty() || b.random) {
      fail(Fault::Unsupported, "host buffer '{}' has initial contents; in a platform, they are put into host memory",
           b.name);
    }
  }
}

}  // namespace

Npu::Npu(const sc_core::sc_module_name& name, const config::ChipConfig& config, const Options& options)
    : sc_module(name),
      target("target"),
      initiator("initiator"),
      irq("irq"),
      config_(without_host_program(config)),
      options_(options),
      access_latency_(checked_resolution(options.access_latency)),
      dma_(initiator, options.burst, options.use_dmi) {
  target.register_b_transport(this, &Npu::b_transport);
  target.register_transport_dbg(this, &Npu::transport_dbg);
  initiator.register_invalidate_direct_mem_ptr(this, &Npu::invalidate_direct_mem_ptr);
  sc_core::sc_spawn_options method;
  method.spawn_method();
  method.set_sensitivity(&steps_);
  sc_core::sc_spawn([this] { control(); }, "control", &method);
}

Npu::~Npu() = default;

void Npu::invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) { dma_.invalidate(begin, end); }

// Steps -------------------------------------------------------------------------------------------------------------

void Npu::post(std::function<void()> step) {
  todo_.push_back(std::move(step));
  steps_.notify(sc_core::SC_ZERO_TIME);
}

// All that builds and tears down happens here, never in a process of the platform or of the chip itself.
void Npu::control() {
  while (!todo_.empty()) {
    const auto step = std::move(todo_.front());
    todo_.pop_front();
    try {
      step();
    } catch (const Error& e) {
      stop(e.fault(), e.what());
    } catch (const std::bad_alloc&) {
      stop(Fault::Limit, "out of memory");
    }
  }
  irq.write((irq_status_ & written(npu::Register::IRQ_ENABLE)) != 0);
}

void Npu::raise(npu::Irq bit) {
  irq_status_ |= bit;
  steps_.notify(sc_core::SC_ZERO_TIME);
}

void Npu::stop(Fault fault, const std::string& why) {
  dma_.abort();
  todo_.clear();
  soc_.reset();
  if (state_ == npu::State::loading) unload();
  state_ = npu::State::failed;
  error_ = static_cast<u32>(fault);
  error_text_ = why;
  raise(npu::kIrqFailed);
}

void Npu::unload() {
  soc_.reset();
  memory_.reset();
  stream_ = {};
  host_buffers_.clear();
}

void Npu::fetch(u64 address, std::span<std::byte> into, void (Npu::*then)()) {
  const config::HostConfig& host = config_.host;
  dma_.add({.address = address,
            .width = into.size(),
            .start = sc_core::sc_time_stamp(),
            .length = seconds(host.copy_latency + static_cast<double>(into.size()) / host.h2d_bandwidth),
            .step = sc_time::from_value(1),
            .at_end = true,
            .device = [into](u64, u64 at, std::span<std::byte> bytes) { std::ranges::copy(bytes, into.begin() + at); },
            .done =
                [this, then](const HostDma::Outcome& o) {
                  arrived(o, [this, then] { post([this, then] { (this->*then)(); }); });
                }});
}

void Npu::arrived(const HostDma::Outcome& outcome, const std::function<void()>& then) {
  if (outcome.error.empty()) {
    then();
  } else {
    post([why = outcome.error] { fail(Fault::Program, "{}", why); });
  }
}

// Load --------------------------------------------------------------------------------------------------------------

void Npu::load() {
  unload();
  const u32 bytes = written(npu::Register::COMMAND_BYTES);
  if (bytes == 0 || bytes > task::kMaxFileBytes) {
    fail(Fault::Input, "COMMAND_BYTES is {}; a task stream has 1 to {} bytes", bytes, task::kMaxFileBytes);
  }
  image_.resize(bytes);
  fetch(written_wide(npu::Register::COMMAND_ADDRESS_LO), image_, &Npu::parse);
}

void Npu::parse() {
  stream_ = task::parse_task_stream(image_, std::string(basename()) + ".vts", task::MemoryFiles());
  image_ = {};
  check_command(stream_);
  check_fit(config_, stream_);
  Limits(config_, stream_).append();
  for (u32 b = 0; b < stream_.buffers.size(); ++b) {
    if (stream_.buffers[b].place == task::Buffer::Place::host) host_buffers_.push_back(b);
  }
  memory_ = std::make_unique<task::RunMemory>(stream_, true, 0, task::RunMemory::HostBytes::outside);
  state_ = npu::State::loaded;
  raise(npu::kIrqLoaded);
}

// Run ---------------------------------------------------------------------------------------------------------------

void Npu::start() {
  table_.resize(host_buffers_.size());
  if (table_.empty()) return begin_run();
  fetch(written_wide(npu::Register::BUFFER_TABLE_LO), std::as_writable_bytes(std::span(table_)), &Npu::begin_run);
}

void Npu::begin_run() {
  host_addresses_.assign(stream_.buffers.size(), 0);
  for (usize i = 0; i < table_.size(); ++i) {
    const task::Buffer& b = stream_.buffers[host_buffers_[i]];
    if (b.bytes > ~table_[i]) {
      fail(Fault::Input, "host buffer '{}' of {} bytes at {:#x} goes beyond 64 bits of address", b.name, b.bytes,
           table_[i]);
    }
    host_addresses_[host_buffers_[i]] = table_[i];
  }
  soc_ = std::make_unique<Soc>(config_, stream_, *memory_,
                               models::Options{.trace = options_.trace, .tasks = options_.tasks},
                               sim::Clock(config_.clock, sc_core::sc_time_stamp()), static_cast<HostLink*>(this));
  soc_->env().quiet = [this] { post([this] { look(); }); };
}

// Whether the run has come to its end, once nothing moves by itself any more.
void Npu::look() {
  if (soc_ == nullptr) return;
  sim::Env& env = soc_->env();
  if (env.error) {
    soc_->finish_data();  // a fault of what has retired before came first
    std::rethrow_exception(env.error);
  }
  if (!env.agenda.idle() || dma_.busy()) return;
  if (!soc_->finished()) {
    if (sim::go_on_anyway(env)) return;
    sim::report_deadlock(env);
  }
  result_ = soc_->take_result();
  soc_.reset();
  state_ = npu::State::loaded;
  raise(npu::kIrqDone);
}

void Npu::copy(const task::MemcpyAsync& op, const Engines::Job& job, std::function<void(const Engines::Job&)> done) {
  const bool to_host = stream_.buffers[op.dst.buffer].place == task::Buffer::Place::host;
  const task::Slice& host = to_host ? op.dst : op.src;
  const u64 device = memory_->address(to_host ? op.src : op.dst);
  const u64 device_pitch = to_host ? op.src_pitch : op.dst_pitch;
  const sim::Clock& clock = soc_->env().clock;
  dma_.add({.to_host = to_host,
            .address = host_addresses_[host.buffer] + host.offset,
            .width = op.width,
            .height = op.height,
            .pitch = to_host ? op.dst_pitch : op.src_pitch,
            .start = clock.begin_of(job.start),
            .length = clock.cycles(job.end - job.start),
            .step = clock.cycles(1),
            .device =
                [&memory = *memory_, device, device_pitch, to_host](u64 row, u64 at, std::span<std::byte> bytes) {
                  const u64 address = device + row * device_pitch + at;
                  to_host ? memory.read(address, bytes) : memory.write(address, bytes);
                },
            .done =
                [this, &clock, lane = job.lane, done = std::move(done)](const HostDma::Outcome& o) {
                  const u64 end = std::max(clock.cycle_of(o.end), clock.now());
                  arrived(o, [&] { done({.start = clock.cycle_of(o.start), .end = end, .lane = lane, .free = end}); });
                }});
}

}  // namespace vinci::models
