// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "isa/mem/global_memory.h"
#include "sim/task/task.h"

namespace vinci::task {

// The memories of one run: host buffers as bytes, device buffers as allocations of global memory. The timed and the
// untimed runner move data through this object, so a copy means the same in both.
class RunMemory {
 public:
  // Without data (timing only), addresses exist but no bytes. `seed` is for buffers that ask for random contents.
  RunMemory(const TaskStream& stream, bool with_data, u64 seed = 0);

  isa::GlobalMemory& gm() { return gm_; }
  bool with_data() const { return with_data_; }

  u64 address(const Slice& slice) const;
  std::vector<u64> arguments(const KernelLaunch& launch) const;

  // The effects of tasks; without data, no bytes move. Throw Fault::Program on a device buffer that is freed.
  void copy(const MemcpyAsync& op);
  void fill(const MemsetAsync& op);
  void free(const Free& op);
  void put_float_status(const NpuGetFloatStatus& op, bool overflow);
  // Whether a buffer can still be used; host buffers always can.
  bool alive(u32 buffer) const { return !freed_[buffer]; }

  std::span<const std::byte> host(u32 buffer) const { return host_[buffer]; }
  // Writes every buffer that names an output into the folder; returns the file names.
  std::vector<std::string> write_outputs(const std::string& folder) const;

 private:
  const TaskStream& stream_;
  bool with_data_;
  isa::GlobalMemory gm_;
  void need(u32 buffer, std::string_view what) const;

  std::vector<u64> device_;                   // address by buffer, 0 for host buffers
  std::vector<bool> freed_;                   // by buffer
  std::vector<std::vector<std::byte>> host_;  // bytes by buffer, empty for device buffers
};

}  // namespace vinci::task
