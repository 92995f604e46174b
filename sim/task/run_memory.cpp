// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/run_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "isa/base/error.h"
#include "isa/base/random.h"
#include "isa/sem/fractal_kernel.h"
#include "sim/task/load.h"
#include "sim/task/reduce.h"

namespace vinci::task {

namespace {

// Floats uniform in [-1, 1), other types uniform over all their bits. Each buffer has a sequence of its own, so that
// adding one does not change the others.
void fill_random(const Buffer& b, u64 seed, std::span<std::byte> bytes) {
  Random random(seed);
  for (const char c : b.name)
    random = Random(random.next() ^ static_cast<u8>(c));
  const auto put = [&](usize at, auto value) {
    std::memcpy(&bytes[at], &value, std::min(sizeof value, bytes.size() - at));
  };
  if (b.dtype == "f2") {
    constexpr usize kAtOnce = 1024;
    std::array<float, kAtOnce> wide;
    std::array<std::byte, kAtOnce * 2> narrow;
    for (usize i = 0; i < bytes.size(); i += narrow.size()) {
      const usize now = std::min(narrow.size(), bytes.size() - i), count = ceil_div<usize>(now, 2);
      std::ranges::generate(std::span(wide).first(count), [&] { return random.uniform(); });
      isa::narrow_f32(std::as_bytes(std::span(wide)).data(), narrow.data(), count, {});
      std::memcpy(&bytes[i], narrow.data(), now);
    }
  } else if (b.dtype == "f4") {
    for (usize i = 0; i < bytes.size(); i += 4)
      put(i, random.uniform());
  } else if (b.dtype == "f8") {
    for (usize i = 0; i < bytes.size(); i += 8)
      put(i, double{random.uniform()});
  } else {
    for (usize i = 0; i < bytes.size(); i += 8)
      put(i, random.next());
  }
}

}  // namespace

RunMemory::RunMemory(const TaskStream& stream, bool with_data, u64 seed, HostBytes host_bytes)
    : stream_(stream), with_data_(with_data), seed_(seed), host_bytes_(host_bytes) {
  append();
}

void RunMemory::append() {
  if (with_data_ && stream_.without_data) {
    fail(Fault::Input,
         "the task stream was recorded without the contents of its buffers (--no-data): it runs in mode timing alone");
  }
  const auto first = static_cast<u32>(device_.size());
  const usize count = stream_.buffers.size();
  device_.resize(count);
  freed_.resize(count);
  control_.resize(count);
  host_.resize(count);
  if (!with_data_ && steers_streams()) {
    const std::vector<bool> before = control_;
    find_control_buffers();
    for (u32 i = 0; i < first; ++i) {
      if (control_[i] == before[i]) continue;
      fail(Fault::Unsupported, "without data, buffer '{}' cannot steer streams: tasks that ran have used it",
           stream_.buffers[i].name);
    }
  }
  for (u32 i = first; i < count; ++i) {
    const Buffer& b = stream_.buffers[i];
    if (b.place == Buffer::Place::device) {
      device_[i] = gm_.allocate(b.bytes, b.name);
    } else if (has_bytes(i) && host_bytes_ == HostBytes::held) {
      host_[i] = initial_data(stream_, i);
      host_[i].resize(b.bytes);
      if (b.random) fill_random(b, seed_, host_[i]);
    }
  }
}

namespace {

// Calls visit(slice) for each part whose contents decide what streams do.
template <class Op, class Visit>
void for_each_steering(const Op& op, const Visit& visit) {
  for_each_spelled<as::part, Op>([&](const auto& field) {
    if (field.spelling.steers) visit(field.of(op));
  });
}

// Calls `flow(to, from)` for the buffers between which a task moves bytes, other than through kernels on cores; an
// AICPU task may move them between all of its arguments.
template <class Flow>
void for_each_flow(const Task& task, const Flow& flow) {
  std::visit(
      [&]<class Op>(const Op& op) {
        if constexpr (requires { op.dst, op.src; }) flow(op.dst.buffer, op.src.buffer);
      },
      task.op);
  if (const auto* aicpu = std::get_if<CpuKernelLaunch>(&task.op)) {
    for (const Arg& to : aicpu->args) {
      for (const Arg& from : aicpu->args) {
        if (std::holds_alternative<Slice>(to) && std::holds_alternative<Slice>(from))
          flow(std::get<Slice>(to).buffer, std::get<Slice>(from).buffer);
      }
    }
  }
}

}  // namespace

// Whether a task reads memory to decide what streams do; looks at tasks once.
bool RunMemory::steers_streams() {
  known_.resize(stream_.streams.size());
  for (usize s = 0; s < known_.size(); ++s) {
    const auto& tasks = stream_.streams[s].tasks;
    for (usize& t = known_[s]; t < tasks.size(); ++t) {
      std::visit([&](const auto& op) { for_each_steering(op, [&](const Slice&) { steered_ = true; }); }, tasks[t].op);
    }
  }
  return steered_;
}

void RunMemory::find_control_buffers() {
  bool any = false;
  const auto mark = [&](u32 buffer) {
    const bool is_new = !control_[buffer];
    control_[buffer] = true;
    any = true;
    return is_new;
  };
  const auto for_each_task = [&](const auto& visit) {
    for (const Stream& s : stream_.streams) {
      for (const Task& t : s.tasks)
        visit(t);
    }
  };
  for_each_task([&](const Task& t) {
    std::visit([&](const auto& op) { for_each_steering(op, [&](const Slice& s) { mark(s.buffer); }); }, t.op);
  });
  for (bool more = any; more;) {
    more = false;
    for_each_task([&](const Task& t) {
      for_each_flow(t, [&](u32 to, u32 from) {
        if (control_[to] && mark(from)) more = true;
      });
    });
  }
  if (!any) return;
  for_each_task([&](const Task& t) {
    const auto refuse = [&](u32 buffer, std::string_view what) {
      if (!control_[buffer]) return;
      fail(Fault::Unsupported,
           "task '{}': without data, {} cannot touch buffer '{}', whose contents steer streams; run it with data",
           t.name, what, stream_.buffers[buffer].name);
    };
    if (const auto* launch = std::get_if<KernelLaunch>(&t.op);
        launch != nullptr && !stream_.kernels[launch->kernel].opaque()) {
      for (const Arg& a : launch->args) {
        if (const auto* slice = std::get_if<Slice>(&a)) refuse(slice->buffer, "a kernel");
      }
    } else if (const auto* hccl = std::get_if<Hccl>(&t.op)) {
      refuse(hccl->recv.buffer, "a collective");
    } else if (const auto* status = std::get_if<NpuGetFloatStatus>(&t.op)) {
      refuse(status->dst.buffer, "npu_get_float_status");
    }
  });
}

u64 RunMemory::address(const Slice& slice) const { return device_[slice.buffer] + slice.offset; }

std::vector<u64> RunMemory::arguments(const KernelLaunch& launch) const {
  std::vector<u64> out;
  for (const Arg& a : launch.args) {
    out.push_back(std::holds_alternative<u64>(a) ? std::get<u64>(a) : address(std::get<Slice>(a)));
  }
  return out;
}

void RunMemory::need(u32 buffer, std::string_view what) const {
  if (alive(buffer)) return;
  fail(Fault::Program, "{}: {} buffer '{}', which an earlier task freed",
       what == "free of" ? "double free" : "use after free", what, stream_.buffers[buffer].name);
}

void RunMemory::free(const Free& op) {
  need(op.buffer, "free of");
  freed_[op.buffer] = true;
  gm_.free(device_[op.buffer]);
}

void RunMemory::copy(const MemcpyAsync& op) {
  need(op.src.buffer, "memcpy_async from");
  need(op.dst.buffer, "memcpy_async to");
  if (!has_bytes(op.dst.buffer)) return;
  const bool from_host = stream_.buffers[op.src.buffer].place == Buffer::Place::host;
  const bool to_host = stream_.buffers[op.dst.buffer].place == Buffer::Place::host;
  if (host_bytes_ == HostBytes::outside && (from_host || to_host)) return;
  std::vector<std::byte> row;
  for (u64 r = 0; r < op.height; ++r) {
    const u64 src = op.src.offset + r * op.src_pitch;
    const u64 dst = op.dst.offset + r * op.dst_pitch;
    if (from_host) {
      write(device_[op.dst.buffer] + dst, std::span(host_[op.src.buffer]).subspan(src, op.width));
    } else if (to_host) {
      read(device_[op.src.buffer] + src, std::span(host_[op.dst.buffer]).subspan(dst, op.width));
    } else {
      row.resize(op.width);
      read(device_[op.src.buffer] + src, row);
      write(device_[op.dst.buffer] + dst, row);
    }
  }
}

void RunMemory::fill(const MemsetAsync& op) {
  need(op.dst.buffer, "memset_async of");
  if (!has_bytes(op.dst.buffer)) return;
  constexpr u64 kPiece = 1 << 20;
  const std::vector<std::byte> piece(std::min(op.bytes, kPiece), std::byte{op.value});
  for (u64 done = 0; done < op.bytes; done += piece.size()) {
    const u64 n = std::min<u64>(piece.size(), op.bytes - done);
    write(address(op.dst) + done, std::span(piece).first(n));
  }
}

void RunMemory::reduce(const Slice& dst, const Slice& src, u64 bytes, ReduceKind kind, ElementType type,
                       isa::CensusPoint* census) {
  if (!has_bytes(dst.buffer)) return;
  constexpr u64 kPiece = 1 << 16;
  std::vector<std::byte> from(std::min(bytes, kPiece)), to(from.size());
  for (u64 done = 0; done < bytes; done += from.size()) {
    const u64 n = std::min<u64>(from.size(), bytes - done);
    read(address(src) + done, std::span(from).first(n));
    read(address(dst) + done, std::span(to).first(n));
    std::optional<isa::ReductionCensus> counted;
    if (census != nullptr) counted.emplace(isa::ReductionCensus{*census, done / element_bytes(type)});
    task::reduce(reduce_of(kind), type, std::span(to).first(n), std::span(from).first(n),
                 counted ? &*counted : nullptr);
    write(address(dst) + done, std::span(to).first(n));
  }
}

void RunMemory::put_float_status(const NpuGetFloatStatus& op, bool overflow) {
  need(op.dst.buffer, "npu_get_float_status to");
  if (!has_bytes(op.dst.buffer)) return;
  const std::array<u32, NpuGetFloatStatus::kBytes / sizeof(u32)> tensor{std::bit_cast<u32>(overflow ? 1.0f : 0.0f)};
  write(address(op.dst), std::as_bytes(std::span(tensor)));
}

void RunMemory::read(const Slice& slice, std::span<std::byte> into, std::string_view what) const {
  need(slice.buffer, what);
  read(address(slice), into);
}

void RunMemory::write(const Slice& slice, std::span<const std::byte> from, std::string_view what) {
  need(slice.buffer, what);
  write(address(slice), from);
}

void RunMemory::read(u64 address, std::span<std::byte> into) const {
  if (watcher_ != nullptr) watcher_->before(address, into.size(), false);
  gm_.read(address, into);
}

void RunMemory::write(u64 address, std::span<const std::byte> from) {
  if (watcher_ != nullptr) watcher_->before(address, from.size(), true);
  gm_.write(address, from);
}

std::vector<std::string> RunMemory::write_outputs(const std::string& folder) const {
  std::vector<std::string> files;
  for (u32 i = 0; i < stream_.buffers.size(); ++i) {
    const Buffer& b = stream_.buffers[i];
    if (!with_data_ || host_bytes_ == HostBytes::outside || b.place != Buffer::Place::host || b.output.empty())
      continue;
    write_output(stream_, i, host_[i], folder);
    files.push_back(b.output);
  }
  return files;
}

}  // namespace vinci::task
