// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "isa/builder/program_builder.h"
#include "sim/task/ops.h"

// Task streams from C++: the door for compilers. docs/builder.md explains it and has an example.
namespace vinci::io {
class LockedFolder;
}

namespace vinci::task {

class Files;
struct Kernel;
struct TaskStream;

// The files of a task stream by name, with the one that names the others.
struct StreamFiles {
  std::string main = {};
  std::map<std::string, std::vector<std::byte>> files = {};

  // Writes the folder, which is made if need be; returns the path of the task stream. Throws Fault::Input when another
  // process of Vinci uses the folder.
  std::string write(const std::string& folder) const;
  // The same in a folder that the caller has reserved.
  std::string write(const io::LockedFolder& folder) const;
};

// A verified task stream with the texts of its kernels. Copies share both.
class BuiltStream {
 public:
  const TaskStream& stream() const { return *stream_; }
  std::string yaml() const;            // in one file: programs as inline assembly, data as text
  std::vector<std::byte> vts() const;  // in one file
  // As a folder: <name>.yaml, kernels as .s, data of buffers as .npy or .bin.
  StreamFiles files() const;
  std::string write(const std::string& folder) const { return files().write(folder); }

 private:
  friend class StreamBuilder;
  std::shared_ptr<const TaskStream> stream_;
  std::shared_ptr<const std::vector<std::string>> texts_;  // of the kernels, "" without one
  std::string comment_;
};

// A position in a buffer.
struct BufferRef {
  u32 index = 0;
  u64 offset = 0;  // bytes

  BufferRef operator+(u64 bytes) const { return {index, offset + bytes}; }
  operator Slice() const { return {index, offset}; }  // NOLINT(google-explicit-constructor)
};
struct KernelRef {
  u32 index = 0;
};
struct EventRef {
  u32 index = 0;
};
struct NotifyRef {
  u32 index = 0;
};
struct LabelRef {
  u32 index = 0;
};
struct ModelRef {
  u32 index = 0;
};
struct CommRef {
  u32 index = 0;
};
struct SemaphoreRef {
  u32 index = 0;
};

// An argument of a launch.
class LaunchArg {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  LaunchArg(BufferRef buffer) : arg_(Slice(buffer)) {}
  template <std::integral T>
  LaunchArg(T number) : arg_(static_cast<u64>(number)) {}
  operator const Arg&() const { return arg_; }
  // NOLINTEND(google-explicit-constructor)

 private:
  Arg arg_;
};

class StreamBuilder;

// Adds tasks to a stream, in order. `name` is what reports call the task; by default its kernel, or what it does.
class StreamRef {
 public:
  u32 index() const { return index_; }
  u32 size() const;  // tasks so far

  StreamRef& launch(KernelRef kernel, u32 blocks, std::vector<LaunchArg> args = {}, std::string name = {});
  // A MIX task: each block is an AIC with `kernel` and `aivs` AIVs with `aiv_kernel`.
  StreamRef& launch_mix(KernelRef kernel, KernelRef aiv_kernel, u32 aivs, u32 blocks, std::vector<LaunchArg> args = {},
                        std::string name = {});
  // A function on the AICPU; `seconds` > 0 is how long it takes.
  StreamRef& launch_cpu(std::string kernel, std::vector<LaunchArg> args = {}, u32 blocks = 1, double seconds = 0,
                        std::string name = {});
  // Without `bytes`, all that is behind both positions, which must be the same.
  StreamRef& memcpy(BufferRef dst, BufferRef src, std::optional<u64> bytes = std::nullopt, std::string name = {});
  StreamRef& memcpy_2d(BufferRef dst, u64 dst_pitch, BufferRef src, u64 src_pitch, u64 width, u64 height,
                       std::string name = {});
  StreamRef& memset(BufferRef dst, u8 value, std::optional<u64> bytes = std::nullopt, std::string name = {});
  StreamRef& record(EventRef event);
  StreamRef& wait(EventRef event);
  StreamRef& reset(EventRef event);
  StreamRef& record(NotifyRef notify);
  StreamRef& wait(NotifyRef notify);
  StreamRef& execute(ModelRef model);
  StreamRef& end_graph(ModelRef model);
  StreamRef& activate(StreamRef stream);
  // Any task; indices are those of the references.
  StreamRef& add(TaskOp op, std::string name = {});

 private:
  friend class StreamBuilder;
  StreamRef(StreamBuilder& builder, u32 index) : builder_(&builder), index_(index) {}

  StreamBuilder* builder_;
  u32 index_;
};

// Adds steps to a thread of the host, in order.
class ThreadRef {
 public:
  // All tasks of a stream, or some of them.
  ThreadRef& enqueue(const StreamRef& stream, u32 first = 0, u32 count = HostEnqueue::kAll);
  ThreadRef& compute(double seconds, std::string name = {});
  ThreadRef& synchronize(const StreamRef& stream);
  ThreadRef& synchronize(EventRef event);
  ThreadRef& synchronize_device(u32 device);
  ThreadRef& post(SemaphoreRef semaphore);
  ThreadRef& wait(SemaphoreRef semaphore);
  // Repeats the steps that body() adds.
  template <class Body>
  ThreadRef& repeat(u64 times, const Body& body) {
    const usize at = begin_repeat(times);
    body();
    return end_repeat(at);
  }
  // The two ends of a repeat whose body is no function; the first returns what the second is given.
  usize begin_repeat(u64 times);
  ThreadRef& end_repeat(usize at);

 private:
  friend class StreamBuilder;
  ThreadRef(StreamBuilder& builder, u32 index) : builder_(&builder), index_(index) {}
  ThreadRef& add(HostStep step);

  StreamBuilder* builder_;
  u32 index_;
};

// Puts a task stream together. References stay valid as long as the builder lives and is not moved.
class StreamBuilder {
 public:
  struct StreamOptions {
    u32 device = 0;
    u8 priority = 0;
    std::optional<ModelRef> model = std::nullopt;  // that it is bound to
    bool head = true;                              // it starts with the model
  };

  // `comment` is the first line of the YAML text.
  StreamBuilder(std::string name, isa::Arch arch, u32 devices = 1, std::string comment = {});
  ~StreamBuilder();
  StreamBuilder(const StreamBuilder&) = delete;
  StreamBuilder& operator=(const StreamBuilder&) = delete;

  // Buffers -----------------------------------------------------------------------------------------------------------
  BufferRef buffer(Buffer description);
  BufferRef device(std::string name, u64 bytes, u32 device = 0, CacheHint l2 = CacheHint::normal);
  // A buffer of the host; `description.place` is set.
  BufferRef host(Buffer description);
  // With contents; an empty shape is one dimension.
  template <class T>  // NOLINTNEXTLINE(performance-unnecessary-value-param): they are moved
  BufferRef host_data(std::string name, std::string dtype, std::span<const T> values, std::vector<u64> shape = {}) {
    const auto bytes = std::as_bytes(values);
    if (shape.empty()) shape = {values.size()};
    return host({.name = std::move(name),
                 .dtype = std::move(dtype),
                 .shape = std::move(shape),
                 .data = {bytes.begin(), bytes.end()}});
  }

  // Kernels -----------------------------------------------------------------------------------------------------------
  KernelRef kernel(std::string name, KernelType type, const isa::BuiltProgram& program);
  // `text` is what files() writes; without it, the program is printed.
  KernelRef kernel(std::string name, KernelType type, const isa::Program& program, std::string text = {});
  // As a recording has it, with the places where its cores begin.
  KernelRef kernel(const Kernel& kernel);
  // Without a program: each block occupies its core for so long.
  KernelRef opaque_kernel(std::string name, KernelType type, double seconds);

  // What tasks name. A name that is there already gives the same reference.
  EventRef event(std::string_view name);
  NotifyRef notify(std::string_view name);
  LabelRef label(std::string_view name);
  ModelRef model(std::string_view name);
  CommRef comm(std::string_view name, std::vector<u32> devices);
  CommRef world();  // of all devices

  StreamRef stream(std::string name, const StreamOptions& options);
  StreamRef stream(std::string name) { return stream(std::move(name), StreamOptions{}); }
  ThreadRef thread(std::string name);
  SemaphoreRef semaphore(std::string name, u64 initial = 0);

  // The task stream, verified as loading does it. The builder is used up. Throws Fault::Input. `files` are those that
  // buffers name.
  BuiltStream finish();
  BuiltStream finish(const Files& files);

 private:
  friend class StreamRef;
  friend class ThreadRef;
  struct State;
  State& state() const;  // throws Fault::Input behind finish()
  std::unique_ptr<State> state_;
};

}  // namespace vinci::task
