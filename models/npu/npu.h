// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/npu/host_dma.h"
#include "models/npu/registers.h"
#include "models/soc/soc.h"

namespace vinci::models {

// A chip as a part of a virtual platform: a SystemC module that is driven by memory-mapped access alone and raises an
// interrupt (docs/tlm.md). A driver has it load a task stream from host memory, rings the doorbell, and copies of the
// task stream read and write host memory by TLM-2.0. Inside is the same Soc that simulate() runs, with the same cycles;
// the host program is the platform's own, so enqueuing tasks takes no time here.
class Npu : public sc_core::sc_module, private HostLink {
 public:
  struct Options {
    config::Seconds access_latency{
        500e-9};                // of an access to a register or to device memory, in addition to the time of its bytes
    u32 burst = 4096;           // bytes of a transaction to host memory at most, a power of two
    bool use_dmi = true;        // use direct pointers to host memory where the platform gives them
    TaskSink* tasks = nullptr;  // gets every task as it ends: cycles from the start of the run, names until a load
    trace::Sink* trace = nullptr;
  };

  // Throws Fault::Input where SystemC does not count in femtoseconds.
  Npu(const sc_core::sc_module_name& name, const config::ChipConfig& config, const Options& options);
  ~Npu() override;

  tlm_utils::simple_target_socket<Npu> target;        // registers, text of errors, device memory: npu/registers.h
  tlm_utils::simple_initiator_socket<Npu> initiator;  // host memory
  sc_core::sc_out<bool> irq;                          // IRQ_STATUS & IRQ_ENABLE is not 0

  // For the builder of the platform, in addition to what a driver sees.
  const Result& result() const { return result_; }  // of the latest run that is done
  const npu::HostDma& dma() const { return dma_; }

 private:
  // Target socket.
  void b_transport(tlm::tlm_generic_payload& t, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& t);
  tlm::tlm_response_status access_memory(tlm::tlm_generic_payload& t);
  tlm::tlm_response_status access_registers(tlm::tlm_generic_payload& t);
  void read_error_text(u64 offset, std::span<std::byte> into) const;
  u32 read(npu::Register r) const;
  void write(npu::Register r, u32 value);
  u32 written(npu::Register r) const;  // what a driver has put into a rw register
  u64 written_wide(npu::Register lo) const;
  const task::Buffer* selected_buffer() const;
  u64 selected_address() const;
  void ring(u32 doorbell);
  void refuse(const std::string& why);
  void reset();
  // Initiator socket.
  void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end);

  // HostLink
  void copy(const task::MemcpyAsync& op, const Engines::Job& job,
            std::function<void(const Engines::Job&)> done) override;

  // Steps, in the process of the module.
  void control();
  void post(std::function<void()> step);
  void load();
  void parse();
  void start();
  void begin_run();
  void look();
  void unload();
  void stop(Fault fault, const std::string& why);
  void raise(npu::Irq bit);
  // Reads host memory at the pace of the link, then goes on with a step.
  void fetch(u64 address, std::span<std::byte> into, void (Npu::*then)());
  // A step that follows a transfer which the platform may have refused.
  void arrived(const npu::HostDma::Outcome& outcome, const std::function<void()>& then);

  config::ChipConfig config_;
  Options options_;
  sc_core::sc_time access_latency_;
  npu::HostDma dma_;
  sc_core::sc_event steps_;
  std::deque<std::function<void()>> todo_;

  npu::State state_ = npu::State::idle;
  std::array<u32, npu::kRegisters.size()> written_{};  // what was written to rw registers, by their position
  u32 irq_status_ = 0, error_ = 0;
  std::string error_text_;

  std::vector<std::byte> image_;
  task::TaskStream stream_;
  std::vector<u32> host_buffers_;
  std::vector<u64> table_;                   // address in host memory by host buffer
  std::vector<u64> host_addresses_;          // the same by buffer
  std::unique_ptr<task::RunMemory> memory_;  // while a task stream is loaded
  std::unique_ptr<Soc> soc_;                 // while it runs
  Result result_;
};

}  // namespace vinci::models
