// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/task/task.h"
#include "tools/ascendc/runtime/data_files.h"

namespace vinci::ascendc {

// What a host program does, as a task stream: its buffers, kernels as they were traced, streams, and the steps of its
// one thread.
class Recorder {
 public:
  // With `with_data`, host buffers keep what they held when they were copied, so that the stream can run in mode full.
  // `file`: where the recording will be; large buffers are kept next to it; "": all are kept in the stream.
  Recorder(std::string name, isa::Arch arch, bool with_data, const std::string& file = {});

  u32 add_stream();
  // `address`: what the allocation of global memory got. The order is that of the allocations of a run.
  void add_device_buffer(u64 address, u64 bytes);
  void set_l2(u64 address, task::CacheHint hint);

  enum class Direction : u8 { to_device, from_device, on_device };
  // One side of a copy is host memory, with its present bytes (of a copy to the host: those that it gets).
  void copy(u32 stream, u64 dst, u64 src, u64 bytes, Direction direction, std::span<const std::byte> host,
            bool pageable) {
    copy_rows(stream, dst, src, {.width = bytes, .height = 1, .dst_pitch = bytes, .src_pitch = bytes}, direction, host,
              pageable);
  }
  // Rows that are a pitch apart, in bytes. Those of `host` follow each other, whatever the pitch of that side is.
  struct Rows {
    u64 width, height, dst_pitch, src_pitch;
  };
  void copy_rows(u32 stream, u64 dst, u64 src, const Rows& rows, Direction direction, std::span<const std::byte> host,
                 bool pageable);
  void fill(u32 stream, u64 dst, u64 bytes, u8 value);
  void free(u64 address);
  void kernel(u32 stream, task::Kernel kernel, task::KernelLaunch launch);
  void mix_kernel(u32 stream, task::Kernel cube, task::Kernel vector, task::KernelLaunch launch);
  // A record of an event is one of its own; a wait is for the latest.
  u32 event_record(u32 stream);
  void event_wait(u32 stream, u32 event);

  void synchronize_stream(u32 stream);
  void synchronize_event(u32 event);
  void synchronize_device();

  bool with_data() const { return with_data_; }
  // Why the recording does not say what the program did, "" as long as it does.
  const std::string& gap() const { return gap_; }
  void give_up(std::string why) { gap_ = std::move(why); }

  const task::TaskStream& stream() const { return stream_; }
  // The stream was written, and replaces an earlier recording.
  void written() {
    if (files_) files_->remove_others();
  }
  bool any_kernel() const { return !stream_.kernels.empty(); }
  // The names of host buffers that got data, and what: for comparison with a run.
  const std::map<std::string, std::vector<std::byte>>& results() const { return results_; }

 private:
  task::Slice slice(u64 address) const;
  void enqueue(u32 stream, task::Task task);
  u32 keep(task::Kernel kernel);  // its index; one that is the same as the latest of its name is not stored again

  task::TaskStream stream_;
  bool with_data_;
  std::optional<DataFiles> files_;
  std::map<u64, u32> by_address_;                  // device buffers
  std::map<std::string, std::vector<u32>> named_;  // kernels
  std::map<std::string, std::vector<std::byte>> results_;
  std::string gap_;
};

}  // namespace vinci::ascendc
