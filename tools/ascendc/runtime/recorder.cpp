// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/recorder.h"

#include <fmt/format.h>

#include "isa/base/error.h"

namespace vinci::ascendc {

Recorder::Recorder(std::string name, isa::Arch arch, bool with_data, const std::string& file) : with_data_(with_data) {
  if (with_data && !file.empty()) {
    files_.emplace(file);
    stream_.folder = files_->folder();
  }
  stream_.name = std::move(name);
  stream_.arch = arch;
  stream_.places.file = "stream.vts";  // the file that the run of the program leaves
  stream_.host.threads.push_back({.name = "main"});
}

u32 Recorder::add_stream() {
  const auto id = static_cast<u32>(stream_.streams.size());
  stream_.streams.push_back({.name = fmt::format("stream{}", id)});
  return id;
}

void Recorder::add_device_buffer(u64 address, u64 bytes) {
  by_address_[address] = static_cast<u32>(stream_.buffers.size());
  task::Buffer& b = stream_.buffers.emplace_back();
  b.name = fmt::format("device{}", by_address_.size() - 1);
  b.bytes = bytes;
}

task::Slice Recorder::slice(u64 address) const {
  const auto above = by_address_.upper_bound(address);
  if (above == by_address_.begin()) fail(Fault::Program, "{:#x} is no address of device memory", address);
  const auto& [begin, buffer] = *std::prev(above);
  return {buffer, address - begin};
}

void Recorder::set_l2(u64 address, task::CacheHint hint) { stream_.buffers[slice(address).buffer].l2 = hint; }

void Recorder::enqueue(u32 stream, task::Task task) {
  auto& tasks = stream_.streams[stream].tasks;
  auto& steps = stream_.host.threads[0].steps;
  auto* last = steps.empty() ? nullptr : std::get_if<task::HostEnqueue>(&steps.back());
  if (last != nullptr && last->stream == stream) {
    ++last->count;
  } else {
    steps.emplace_back(task::HostEnqueue{stream, static_cast<u32>(tasks.size()), 1});
  }
  tasks.push_back(std::move(task));
}

void Recorder::copy_rows(u32 stream, u64 dst, u64 src, const Rows& rows, Direction direction,
                         std::span<const std::byte> host, bool pageable) {
  const u64 bytes = rows.width * rows.height;
  if (bytes == 0) return;
  task::MemcpyAsync op;
  op.width = rows.width;
  op.height = rows.height;
  op.dst_pitch = direction == Direction::from_device ? rows.width : rows.dst_pitch;
  op.src_pitch = direction == Direction::to_device ? rows.width : rows.src_pitch;
  if (direction == Direction::on_device) {
    op.dst = slice(dst);
    op.src = slice(src);
  } else {
    const auto buffer = static_cast<u32>(stream_.buffers.size());
    task::Buffer b;
    b.name = fmt::format("host{}", buffer);
    b.place = task::Buffer::Place::host;
    b.bytes = bytes;
    b.pageable = pageable;
    if (direction == Direction::to_device) {
      if (with_data_ && files_ && files_->takes(bytes)) {
        b.file = files_->keep(host);
      } else if (with_data_) {
        b.data.assign(host.begin(), host.end());
      } else {
        stream_.without_data = true;
      }
      op.dst = slice(dst);
      op.src = {buffer, 0};
    } else {
      if (with_data_) {
        b.output = b.name + ".bin";
        results_[b.output].assign(host.begin(), host.end());
      }
      op.dst = {buffer, 0};
      op.src = slice(src);
    }
    stream_.buffers.push_back(std::move(b));
  }
  enqueue(stream, {.name = "MemcpyAsync", .op = op});
}

void Recorder::fill(u32 stream, u64 dst, u64 bytes, u8 value) {
  if (bytes == 0) return;
  enqueue(stream, {.name = "MemsetAsync", .op = task::MemsetAsync{.dst = slice(dst), .bytes = bytes, .value = value}});
}

void Recorder::free(u64 address) {
  if (stream_.streams.empty()) add_stream();
  synchronize_device();
  enqueue(0, {.name = "Free", .op = task::Free{slice(address).buffer}});
}

u32 Recorder::keep(task::Kernel kernel) {
  std::vector<u32>& same = named_[kernel.name];
  if (!same.empty()) {
    const task::Kernel& last = stream_.kernels[same.back()];
    if (last.type == kernel.type && last.program == kernel.program && last.entries == kernel.entries)
      return same.back();
    kernel.name += fmt::format("#{}", same.size());
  }
  same.push_back(static_cast<u32>(stream_.kernels.size()));
  stream_.kernels.push_back(std::move(kernel));
  return same.back();
}

void Recorder::kernel(u32 stream, task::Kernel kernel, task::KernelLaunch launch) {
  const std::string name = kernel.name;
  launch.kernel = keep(std::move(kernel));
  enqueue(stream, {.name = name, .op = std::move(launch)});
}

void Recorder::mix_kernel(u32 stream, task::Kernel cube, task::Kernel vector, task::KernelLaunch launch) {
  const std::string name = cube.name;
  cube.name += ".aic";
  vector.name += ".aiv";
  launch.kernel = keep(std::move(cube));
  launch.aiv_kernel = keep(std::move(vector));
  enqueue(stream, {.name = name, .op = std::move(launch)});
}

u32 Recorder::event_record(u32 stream) {
  const auto event = static_cast<u32>(stream_.events.size());
  stream_.events.push_back(fmt::format("event{}", event));
  enqueue(stream, {.name = "EventRecord", .op = task::EventRecord{event}});
  return event;
}

void Recorder::event_wait(u32 stream, u32 event) {
  enqueue(stream, {.name = "StreamWaitEvent", .op = task::StreamWaitEvent{event}});
}

void Recorder::synchronize_stream(u32 stream) {
  stream_.host.threads[0].steps.emplace_back(task::SynchronizeStream{stream});
}

void Recorder::synchronize_event(u32 event) {
  stream_.host.threads[0].steps.emplace_back(task::SynchronizeEvent{event});
}

void Recorder::synchronize_device() { stream_.host.threads[0].steps.emplace_back(task::SynchronizeDevice{0}); }

}  // namespace vinci::ascendc
