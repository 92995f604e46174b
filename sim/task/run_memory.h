// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/mem/global_memory.h"
#include "sim/task/task.h"

namespace vinci::isa {
class CensusPoint;  // isa/census/census.h
}

namespace vinci::task {

// The memories of one run: host buffers as bytes, device buffers as allocations of global memory. The timed and the
// untimed runner move data through this object, so a copy means the same in both.
class RunMemory {
 public:
  // Who owns the contents of host buffers: the run, or the embedding program, which then carries out the copies from
  // and to them.
  enum class HostBytes : u8 { held, outside };
  // Without data (timing only), addresses exist but no bytes, except those of control buffers: the ones that steer
  // streams, and those that tasks other than kernels feed into them. Then a kernel must not get the address of a
  // control buffer: Fault::Unsupported. `seed` is for buffers that ask for random contents.
  RunMemory(const TaskStream& stream, bool with_data, u64 seed = 0, HostBytes host_bytes = HostBytes::held);
  // Takes over the buffers that the task stream has gained at its end. Throws Fault::Unsupported where, without data, a
  // buffer that was there becomes a control buffer.
  void append();

  // Hears of accesses to device memory before they happen, except those of kernels.
  class Watcher {
   public:
    virtual void before(u64 address, u64 bytes, bool write) = 0;

   protected:
    ~Watcher() = default;
  };
  void set_watcher(Watcher* watcher) { watcher_ = watcher; }  // null: none

  // For allocations; bytes are for read() and write(), and for kernels.
  isa::GlobalMemory& gm() { return gm_; }
  bool with_data() const { return with_data_; }

  u64 address(const Slice& slice) const;
  std::vector<u64> arguments(const KernelLaunch& launch) const;

  // The effects of tasks; without data, no bytes move. Throw Fault::Program on a device buffer that is freed.
  void copy(const MemcpyAsync& op);
  void fill(const MemsetAsync& op);
  void free(const Free& op);
  // dst[i] = dst[i] kind src[i], on `bytes` of elements of a type.
  void reduce(const Slice& dst, const Slice& src, u64 bytes, ReduceKind kind, ElementType type,
              isa::CensusPoint* census = nullptr);
  void put_float_status(const NpuGetFloatStatus& op, bool overflow);
  // Whether a buffer can still be used; host buffers always can.
  bool alive(u32 buffer) const { return !freed_[buffer]; }
  // Throws Fault::Program where it cannot; `what` is for the message: "stream_switch on".
  void need(u32 buffer, std::string_view what) const;

  // Whether a buffer has bytes: always, or in runs without data for control buffers.
  bool has_bytes(u32 buffer) const { return with_data_ || control_[buffer]; }
  // Parts of device buffers that have bytes; `what` is for the message of need().
  void read(const Slice& slice, std::span<std::byte> into, std::string_view what) const;
  void write(const Slice& slice, std::span<const std::byte> from, std::string_view what);
  // Device memory by address.
  void read(u64 address, std::span<std::byte> into) const;
  void write(u64 address, std::span<const std::byte> from);
  template <class T>
  T read(const Slice& slice, std::string_view what) const {
    T value;
    read(slice, std::as_writable_bytes(std::span(&value, 1)), what);
    return value;
  }

  std::span<const std::byte> host(u32 buffer) const { return host_[buffer]; }
  // Writes every buffer that names an output into the folder; returns the file names.
  std::vector<std::string> write_outputs(const std::string& folder) const;

 private:
  const TaskStream& stream_;
  bool with_data_;
  u64 seed_;
  HostBytes host_bytes_;
  isa::GlobalMemory gm_;
  Watcher* watcher_ = nullptr;
  void find_control_buffers();
  bool steers_streams();

  std::vector<u64> device_;                   // address by buffer, 0 for host buffers
  std::vector<bool> freed_, control_;         // by buffer
  std::vector<std::vector<std::byte>> host_;  // bytes by buffer, empty for device buffers and for those outside
  std::vector<usize> known_;                  // by stream: tasks whose buffers are known
  bool steered_ = false;                      // some buffer is a control buffer
};

}  // namespace vinci::task
