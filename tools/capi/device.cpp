// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <cstring>

#include "isa/base/error.h"
#include "isa/program/program_file.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"
#include "sim/task/load.h"
#include "tools/capi/handles.h"

namespace vinci::capi {
namespace {

// The task stream that waits: of one stream, with the device's buffers that tasks have named so far.
PendingTasks begin(const config::ChipConfig& chip) {
  PendingTasks out;
  out.tasks.name = "device";
  out.tasks.arch = chip.arch;
  out.tasks.streams.push_back({.name = "stream"});
  return out;
}

u32 index_of(vinci_device& d, const vinci_buffer& b) {
  task::TaskStream& tasks = d.pending.tasks;
  const auto [it, fresh] = d.pending.buffers.try_emplace(&b, static_cast<u32>(tasks.buffers.size()));
  if (fresh) {
    task::Buffer& buffer = tasks.buffers.emplace_back();
    buffer.name = fmt::format("buffer{}", it->second);
    buffer.bytes = b.bytes;
  }
  return it->second;
}

u32 host_buffer(vinci_device& d, size_t bytes) {
  auto& buffers = d.pending.tasks.buffers;
  task::Buffer& buffer = buffers.emplace_back();
  buffer.name = fmt::format("host{}", buffers.size() - 1);
  buffer.place = task::Buffer::Place::host;
  buffer.bytes = bytes;
  return static_cast<u32>(buffers.size() - 1);
}

u32 index_of(vinci_device& d, const vinci_kernel& k) {
  task::TaskStream& tasks = d.pending.tasks;
  const auto [it, fresh] = d.pending.kernels.try_emplace(&k, static_cast<u32>(tasks.kernels.size()));
  if (!fresh) return it->second;
  tasks.kernels.push_back(k.kernel);
  // Names are told apart.
  const auto same = std::ranges::count(tasks.kernels, k.kernel.name, &task::Kernel::name);
  if (same > 1) tasks.kernels.back().name += fmt::format("#{}", it->second);
  return it->second;
}

void enqueue(vinci_device& d, std::string name, decltype(task::Task::op) op) {
  d.pending.tasks.streams[0].tasks.push_back({.name = std::move(name), .op = std::move(op)});
}

void check_alive(const vinci_buffer& b) {
  if (b.freed) fail(Fault::Input, "the buffer is freed");
}

// A buffer that is not freed, with its device for this thread alone.
template <class B>
class Locked {
 public:
  explicit Locked(B* b) : buffer_(need(b, "buffer")), lock_(buffer_.device->mutex) { check_alive(buffer_); }
  B& operator*() const { return buffer_; }

 private:
  B& buffer_;
  std::scoped_lock<std::mutex> lock_;
};

void check_range(const vinci_buffer& b, size_t offset, size_t bytes) {
  if (offset > b.bytes || bytes > b.bytes - offset)
    fail(Fault::Input, "[{}, {} + {}) is not within the {} bytes of the buffer", offset, offset, bytes, b.bytes);
}

void copy(vinci_device& d, const task::Slice& dst, const task::Slice& src, size_t bytes) {
  task::MemcpyAsync op{.dst = dst, .src = src};
  op.width = op.dst_pitch = op.src_pitch = bytes;
  enqueue(d, "MemcpyAsync", op);
}

isa::Program program_of(const config::ChipConfig& chip, const std::string& name, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("VNCPROG")) return isa::read_program(bytes, name);
  return isa::assemble(text, name, chip.arch);
}

}  // namespace

void put_device_memory(const vinci_run& run) {
  for (const auto& [buffer, index] : run.pending.buffers) {
    if (!buffer->contents.empty()) run.memory->write(run.memory->address({index, 0}), buffer->contents);
  }
}

void take_device_memory(vinci_run& run) {
  for (const auto& [buffer, index] : run.pending.buffers) {
    auto& own = const_cast<vinci_buffer&>(*buffer);
    run.memory->read(run.memory->address({index, 0}), own.data());
  }
  for (const PendingOut& out : run.pending.outs) {
    const auto bytes = run.memory->host(out.buffer);
    std::memcpy(out.dst, bytes.data(), bytes.size());
  }
}

}  // namespace vinci::capi

using namespace vinci::capi;  // NOLINT: what the functions of the API are made of
using vinci::Fault;

extern "C" {

vinci_status vinci_device_create(const vinci_chip* chip, vinci_device** out) {
  return guarded([&] {
    vinci_device*& result = need(out, "out");
    auto device = std::make_unique<vinci_device>();
    device->config = need(chip, "chip").config;
    device->pending = begin(*device->config);
    result = device.release();
  });
}

void vinci_device_destroy(vinci_device* device) {
  if (device != nullptr && device->run != nullptr) device->run->device = nullptr;
  delete device;
}

vinci_status vinci_malloc(vinci_device* device, size_t bytes, vinci_buffer** out) {
  return guarded([&] {
    vinci_device& d = need(device, "device");
    const std::scoped_lock lock(d.mutex);
    size_t used = 0;
    for (const auto& b : d.buffers)
      used += b->freed ? 0 : b->bytes;
    const auto capacity = static_cast<vinci::u64>(d.config->memory.hbm.size);
    if (bytes == 0) vinci::fail(Fault::Input, "a buffer of 0 bytes");
    if (bytes > capacity - used) {
      vinci::fail(Fault::Limit, "{} bytes of device memory are wanted, {} of {} are free", bytes, capacity - used,
                  capacity);
    }
    vinci_buffer*& result = need(out, "out");
    d.buffers.push_back(std::make_unique<vinci_buffer>(vinci_buffer{.device = &d, .bytes = bytes}));
    result = d.buffers.back().get();
  });
}

vinci_status vinci_free(vinci_buffer* buffer) {
  return guarded([&] {
    const Locked locked(buffer);
    vinci_buffer& b = *locked;
    if (b.device->pending.buffers.contains(&b) ||
        (b.device->run != nullptr && b.device->run->pending.buffers.contains(&b))) {
      vinci::fail(Fault::Input, "tasks that use the buffer wait for a run");
    }
    b.freed = true;  // the handle stays, so that a later use is noticed
    b.contents = {};
  });
}

vinci_status vinci_write(vinci_buffer* buffer, size_t offset, const void* data, size_t bytes) {
  return guarded([&] {
    const Locked locked(buffer);
    vinci_buffer& b = *locked;
    check_range(b, offset, bytes);
    if (bytes > 0) std::memcpy(b.data().data() + offset, &need(static_cast<const char*>(data), "data"), bytes);
  });
}

vinci_status vinci_read(const vinci_buffer* buffer, size_t offset, void* data, size_t bytes) {
  return guarded([&] {
    const Locked locked(buffer);
    const vinci_buffer& b = *locked;
    check_range(b, offset, bytes);
    if (bytes == 0) return;
    char* to = &need(static_cast<char*>(data), "data");
    if (b.contents.empty()) {
      std::memset(to, 0, bytes);
    } else {
      std::memcpy(to, b.contents.data() + offset, bytes);
    }
  });
}

vinci_status vinci_kernel_create(vinci_device* device, const char* name, vinci_core core, const void* program,
                                 size_t bytes, vinci_kernel** out) {
  return guarded([&] {
    vinci_device& d = need(device, "device");
    check_enumerator(core, VINCI_CORE_VECTOR, "kind of core");
    vinci_kernel made{.device = &d, .kernel = {}};
    made.kernel.name = &need(name, "name");
    made.kernel.type = static_cast<vinci::task::KernelType>(core);
    const std::span data(&need(static_cast<const std::byte*>(program), "program"), bytes);
    made.kernel.program = program_of(*d.config, made.kernel.name, data);
    // What loading a task stream would find.
    vinci::task::TaskStream alone = begin(*d.config).tasks;
    alone.kernels.push_back(made.kernel);
    vinci::task::verify(alone, made.kernel.name, vinci::task::MemoryFiles());
    vinci_kernel*& result = need(out, "out");
    const std::scoped_lock lock(d.mutex);
    d.kernels.push_back(std::make_unique<vinci_kernel>(std::move(made)));
    result = d.kernels.back().get();
  });
}

vinci_status vinci_copy_in(vinci_buffer* dst, size_t offset, const void* src, size_t bytes) {
  return guarded([&] {
    const Locked locked(dst);
    const vinci_buffer& b = *locked;
    check_range(b, offset, bytes);
    if (bytes == 0) return;
    const auto* from = &need(static_cast<const std::byte*>(src), "src");
    vinci_device& d = *b.device;
    const vinci::u32 to = index_of(d, b), host = host_buffer(d, bytes);
    d.pending.tasks.buffers[host].data.assign(from, from + bytes);
    copy(d, {to, offset}, {host, 0}, bytes);
  });
}

vinci_status vinci_copy_out(void* dst, const vinci_buffer* src, size_t offset, size_t bytes) {
  return guarded([&] {
    const Locked locked(src);
    const vinci_buffer& b = *locked;
    check_range(b, offset, bytes);
    if (bytes == 0) return;
    need(static_cast<char*>(dst), "dst");
    vinci_device& d = *b.device;
    const vinci::u32 from = index_of(d, b), host = host_buffer(d, bytes);
    copy(d, {host, 0}, {from, offset}, bytes);
    d.pending.outs.push_back({host, dst});
  });
}

vinci_status vinci_launch(vinci_kernel* kernel, uint32_t block_dim, const vinci_arg* args, size_t count) {
  return guarded([&] {
    vinci_kernel& k = need(kernel, "kernel");
    vinci_device& d = *k.device;
    const std::scoped_lock lock(d.mutex);
    if (count > 0) need(args, "args");
    if (count > vinci::task::kMaxArgs)
      vinci::fail(Fault::Input, "{} arguments; a launch has at most {}", count, vinci::task::kMaxArgs);
    if (block_dim == 0 || block_dim > vinci::task::kMaxBlockDim)
      vinci::fail(Fault::Input, "block_dim = {}: 1 to {} are possible", block_dim, vinci::task::kMaxBlockDim);
    for (size_t i = 0; i < count; ++i) {
      if (args[i].buffer == nullptr) continue;
      if (args[i].buffer->device != &d)
        vinci::fail(Fault::Input, "argument {} of the kernel is of another device", i + 1);
      check_alive(*args[i].buffer);
      check_range(*args[i].buffer, args[i].value, 0);
    }
    vinci::task::KernelLaunch op{.kernel = index_of(d, k), .block_dim = block_dim};
    for (size_t i = 0; i < count; ++i) {
      if (args[i].buffer == nullptr) {
        op.args.emplace_back(vinci::u64{args[i].value});
      } else {
        op.args.emplace_back(vinci::task::Slice{index_of(d, *args[i].buffer), args[i].value});
      }
    }
    enqueue(d, k.kernel.name, std::move(op));
  });
}

vinci_status vinci_device_submit(vinci_device* device, const vinci_options* options, vinci_run** out) {
  return guarded([&] {
    vinci_device& d = need(device, "device");
    vinci_run*& result = need(out, "out");
    const std::scoped_lock lock(d.mutex);
    if (d.run != nullptr) vinci::fail(Fault::Input, "a run of the device waits; vinci_wait() does it");
    vinci::task::TaskStream tasks = d.pending.tasks;
    vinci::task::verify(tasks, "device", vinci::task::MemoryFiles());
    auto run = make_run(d.config, std::make_shared<const vinci::task::TaskStream>(std::move(tasks)), options);
    run->device = &d;
    run->of_device = true;
    run->pending = std::exchange(d.pending, begin(*d.config));
    run->pending.tasks = {};
    d.run = run.get();
    result = run.release();
  });
}
}
