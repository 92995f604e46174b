// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/stream_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "isa/base/error.h"
#include "sim/task/draft.h"
#include "sim/task/task.h"

namespace vinci::task {

struct [[gnu::visibility("hidden")]] StreamBuilder::State {
  struct Whole {  // a copy or memset of all that is behind its positions
    u32 stream, task;
  };

  TaskStream stream = {};
  std::vector<std::string> texts = {};  // of the kernels
  std::string comment = {};
  std::vector<Whole> wholes = {};

  void resolve_wholes();
};

namespace {

// The index of a name, which is added where it is not there.
u32 named(std::vector<std::string>& names, std::string_view name) {
  const auto it = std::ranges::find(names, name);
  if (it != names.end()) return static_cast<u32>(it - names.begin());
  names.emplace_back(name);
  return static_cast<u32>(names.size() - 1);
}

std::vector<Arg> plain(std::vector<LaunchArg>&& args) { return {args.begin(), args.end()}; }

// Bytes from a position to the end of its buffer.
u64 rest(const TaskStream& s, const Slice& slice) {
  if (slice.buffer >= s.buffers.size())
    fail_at(Fault::Input, s.name, "a task names buffer {}, but there are {}", slice.buffer, s.buffers.size());
  const u64 bytes = s.buffers[slice.buffer].bytes;
  return bytes - std::min(bytes, slice.offset);
}

}  // namespace

// Streams and tasks ---------------------------------------------------------------------------------------------------

u32 StreamRef::size() const { return static_cast<u32>(builder_->state().stream.streams[index_].tasks.size()); }

StreamRef& StreamRef::add(TaskOp op, std::string name) {
  builder_->state().stream.streams[index_].tasks.push_back({std::move(name), std::move(op)});
  return *this;
}

StreamRef& StreamRef::launch(KernelRef kernel, u32 blocks, std::vector<LaunchArg> args, std::string name) {
  return add(KernelLaunch{.kernel = kernel.index, .block_dim = blocks, .args = plain(std::move(args))},
             std::move(name));
}

StreamRef& StreamRef::launch_mix(KernelRef kernel, KernelRef aiv_kernel, u32 aivs, u32 blocks,
                                 std::vector<LaunchArg> args, std::string name) {
  return add(KernelLaunch{.kernel = kernel.index,
                          .block_dim = blocks,
                          .args = plain(std::move(args)),
                          .aivs = aivs,
                          .aiv_kernel = aiv_kernel.index},
             std::move(name));
}

StreamRef& StreamRef::launch_cpu(std::string kernel, std::vector<LaunchArg> args, u32 blocks, double seconds,
                                 std::string name) {
  return add(
      CpuKernelLaunch{
          .kernel = std::move(kernel), .block_dim = blocks, .args = plain(std::move(args)), .seconds = seconds},
      std::move(name));
}

StreamRef& StreamRef::memcpy(BufferRef dst, BufferRef src, std::optional<u64> bytes, std::string name) {
  if (!bytes) builder_->state().wholes.push_back({index_, size()});
  const u64 width = bytes.value_or(0);
  return add(MemcpyAsync{.dst = dst, .src = src, .width = width, .dst_pitch = width, .src_pitch = width},
             std::move(name));
}

StreamRef& StreamRef::memcpy_2d(BufferRef dst, u64 dst_pitch, BufferRef src, u64 src_pitch, u64 width, u64 height,
                                std::string name) {
  return add(
      MemcpyAsync{
          .dst = dst, .src = src, .width = width, .height = height, .dst_pitch = dst_pitch, .src_pitch = src_pitch},
      std::move(name));
}

StreamRef& StreamRef::memset(BufferRef dst, u8 value, std::optional<u64> bytes, std::string name) {
  if (!bytes) builder_->state().wholes.push_back({index_, size()});
  return add(MemsetAsync{.dst = dst, .bytes = bytes.value_or(0), .value = value}, std::move(name));
}

StreamRef& StreamRef::record(EventRef event) { return add(EventRecord{event.index}); }
StreamRef& StreamRef::wait(EventRef event) { return add(StreamWaitEvent{event.index}); }
StreamRef& StreamRef::reset(EventRef event) { return add(EventReset{event.index}); }
StreamRef& StreamRef::record(NotifyRef notify) { return add(NotifyRecord{notify.index}); }
StreamRef& StreamRef::wait(NotifyRef notify) { return add(NotifyWait{notify.index}); }
StreamRef& StreamRef::execute(ModelRef model) { return add(ModelExecute{model.index}); }
StreamRef& StreamRef::end_graph(ModelRef model) { return add(ModelEndGraph{model.index}); }
StreamRef& StreamRef::activate(StreamRef stream) { return add(StreamActive{stream.index()}); }

// The host ------------------------------------------------------------------------------------------------------------

ThreadRef& ThreadRef::add(HostStep step) {
  builder_->state().stream.host.threads[index_].steps.push_back(std::move(step));
  return *this;
}

ThreadRef& ThreadRef::enqueue(const StreamRef& stream, u32 first, u32 count) {
  return add(HostEnqueue{.stream = stream.index(), .first = first, .count = count});
}
ThreadRef& ThreadRef::compute(double seconds, std::string name) {
  return add(HostCompute{.seconds = seconds, .name = std::move(name)});
}
ThreadRef& ThreadRef::synchronize(const StreamRef& stream) { return add(SynchronizeStream{stream.index()}); }
ThreadRef& ThreadRef::synchronize(EventRef event) { return add(SynchronizeEvent{event.index}); }
ThreadRef& ThreadRef::synchronize_device(u32 device) { return add(SynchronizeDevice{device}); }
ThreadRef& ThreadRef::post(SemaphoreRef semaphore) { return add(HostPost{semaphore.index}); }
ThreadRef& ThreadRef::wait(SemaphoreRef semaphore) { return add(HostWait{semaphore.index}); }

usize ThreadRef::begin_repeat(u64 times) {
  add(HostRepeat{.times = times});
  return builder_->state().stream.host.threads[index_].steps.size();
}
ThreadRef& ThreadRef::end_repeat(usize at) {
  auto& steps = builder_->state().stream.host.threads[index_].steps;
  std::get<HostRepeat>(steps[at - 1]).length = static_cast<u32>(steps.size() - at);
  return *this;
}

// The parts -----------------------------------------------------------------------------------------------------------

StreamBuilder::StreamBuilder(std::string name, isa::Arch arch, u32 devices, std::string comment)
    : state_(std::make_unique<State>()) {
  state_->stream.name = std::move(name);
  state_->stream.arch = arch;
  state_->stream.devices = devices;
  state_->comment = std::move(comment);
  std::ranges::replace_if(
      state_->comment, [](char c) { return c == '\n' || c == '\r'; }, ' ');
}
StreamBuilder::~StreamBuilder() = default;

StreamBuilder::State& StreamBuilder::state() const {
  if (state_ == nullptr) fail(Fault::Input, "this StreamBuilder has been finished; each makes one task stream");
  return *state_;
}

BufferRef StreamBuilder::buffer(Buffer description) {
  auto& buffers = state().stream.buffers;
  buffers.push_back(std::move(description));
  return {static_cast<u32>(buffers.size() - 1)};
}
BufferRef StreamBuilder::device(std::string name, u64 bytes, u32 device, CacheHint l2) {
  return buffer({.name = std::move(name), .bytes = bytes, .device = device, .l2 = l2});
}
BufferRef StreamBuilder::host(Buffer description) {
  description.place = Buffer::Place::host;
  return buffer(std::move(description));
}

KernelRef StreamBuilder::kernel(std::string name, KernelType type, const isa::BuiltProgram& program) {
  return kernel(std::move(name), type, program.program(), program.text());
}
KernelRef StreamBuilder::kernel(std::string name, KernelType type, const isa::Program& program, std::string text) {
  auto& kernels = state().stream.kernels;
  kernels.push_back({.name = std::move(name), .type = type, .program = program});
  state().texts.push_back(std::move(text));
  return {static_cast<u32>(kernels.size() - 1)};
}
KernelRef StreamBuilder::kernel(const Kernel& kernel) {
  auto& kernels = state().stream.kernels;
  kernels.push_back(kernel);
  state().texts.emplace_back();
  return {static_cast<u32>(kernels.size() - 1)};
}
KernelRef StreamBuilder::opaque_kernel(std::string name, KernelType type, double seconds) {
  const KernelRef made = kernel(std::move(name), type, isa::Program{});
  state().stream.kernels.back().program.arch = state().stream.arch;
  state().stream.kernels.back().seconds = seconds;
  return made;
}

EventRef StreamBuilder::event(std::string_view name) { return {named(state().stream.events, name)}; }
NotifyRef StreamBuilder::notify(std::string_view name) { return {named(state().stream.notifies, name)}; }
LabelRef StreamBuilder::label(std::string_view name) { return {named(state().stream.labels, name)}; }
ModelRef StreamBuilder::model(std::string_view name) { return {named(state().stream.models, name)}; }
CommRef StreamBuilder::comm(std::string_view name, std::vector<u32> devices) {
  auto& comms = state().stream.comms;
  comms.push_back({.name = std::string(name), .devices = std::move(devices)});
  return {static_cast<u32>(comms.size() - 1)};
}
CommRef StreamBuilder::world() {
  const auto& comms = state().stream.comms;
  const auto it = std::ranges::find(comms, kWorld, &Comm::name);
  if (it != comms.end()) return {static_cast<u32>(it - comms.begin())};
  std::vector<u32> devices(state().stream.devices);
  std::iota(devices.begin(), devices.end(), 0u);
  return comm(kWorld, std::move(devices));
}

StreamRef StreamBuilder::stream(std::string name, const StreamOptions& o) {
  auto& streams = state().stream.streams;
  streams.push_back({.name = std::move(name),
                     .device = o.device,
                     .priority = o.priority,
                     .model = o.model ? o.model->index : kNone,
                     .head = o.head});
  return {*this, static_cast<u32>(streams.size() - 1)};
}
ThreadRef StreamBuilder::thread(std::string name) {
  auto& threads = state().stream.host.threads;
  threads.push_back({.name = std::move(name)});
  return {*this, static_cast<u32>(threads.size() - 1)};
}
SemaphoreRef StreamBuilder::semaphore(std::string name, u64 initial) {
  auto& semaphores = state().stream.host.semaphores;
  semaphores.push_back({.name = std::move(name), .initial = initial});
  return {static_cast<u32>(semaphores.size() - 1)};
}

// The end -------------------------------------------------------------------------------------------------------------

// Needs the sizes of all buffers.
void StreamBuilder::State::resolve_wholes() {
  for (const Whole& w : wholes) {
    TaskOp& op = stream.streams[w.stream].tasks[w.task].op;
    if (auto* set = std::get_if<MemsetAsync>(&op)) {
      set->bytes = rest(stream, set->dst);
      continue;
    }
    auto& copy = std::get<MemcpyAsync>(op);
    const u64 from = rest(stream, copy.src), to = rest(stream, copy.dst);
    if (from != to) {
      fail_at(Fault::Input, fmt::format("{}: streams[{}].tasks[{}]", stream.name, w.stream, w.task),
              "memcpy: the source has {} bytes, the destination {}; give the number of bytes", from, to);
    }
    copy.width = copy.dst_pitch = copy.src_pitch = from;
  }
}

BuiltStream StreamBuilder::finish() { return finish(MemoryFiles()); }

BuiltStream StreamBuilder::finish(const Files& files) {
  State& s = state();
  const PathLocator where(s.stream.name);
  config::Problems problems;
  check_buffers(s.stream, where, files, problems);
  problems.throw_if_any();
  s.resolve_wholes();
  check_rest(s.stream, where, problems);
  problems.throw_if_any();
  BuiltStream out;
  out.stream_ = std::make_shared<const TaskStream>(std::move(s.stream));
  out.texts_ = std::make_shared<const std::vector<std::string>>(std::move(s.texts));
  out.comment_ = std::move(s.comment);
  state_ = nullptr;
  return out;
}

}  // namespace vinci::task
