// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/run_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "isa/base/error.h"
#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "sim/task/load.h"

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
    for (usize i = 0; i < bytes.size(); i += 2)
      put(i, isa::f32_to_f16(std::bit_cast<u32>(random.uniform())));
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

RunMemory::RunMemory(const TaskStream& stream, bool with_data, u64 seed)
    : stream_(stream),
      with_data_(with_data),
      device_(stream.buffers.size()),
      freed_(stream.buffers.size()),
      host_(stream.buffers.size()) {
  for (u32 i = 0; i < stream.buffers.size(); ++i) {
    const Buffer& b = stream.buffers[i];
    if (b.place == Buffer::Place::device) {
      device_[i] = gm_.allocate(b.bytes, b.name);
    } else if (with_data) {
      host_[i] = initial_data(stream, i);
      host_[i].resize(b.bytes);
      if (b.random) fill_random(b, seed, host_[i]);
    }
  }
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
  if (!with_data_) return;
  const bool from_host = stream_.buffers[op.src.buffer].place == Buffer::Place::host;
  const bool to_host = stream_.buffers[op.dst.buffer].place == Buffer::Place::host;
  std::vector<std::byte> row;
  for (u64 r = 0; r < op.height; ++r) {
    const u64 src = op.src.offset + r * op.src_pitch;
    const u64 dst = op.dst.offset + r * op.dst_pitch;
    if (from_host) {
      gm_.write(device_[op.dst.buffer] + dst, std::span(host_[op.src.buffer]).subspan(src, op.width));
    } else if (to_host) {
      gm_.read(device_[op.src.buffer] + src, std::span(host_[op.dst.buffer]).subspan(dst, op.width));
    } else {
      row.resize(op.width);
      gm_.read(device_[op.src.buffer] + src, row);
      gm_.write(device_[op.dst.buffer] + dst, row);
    }
  }
}

void RunMemory::fill(const MemsetAsync& op) {
  need(op.dst.buffer, "memset_async of");
  if (!with_data_) return;
  constexpr u64 kPiece = 1 << 20;
  const std::vector<std::byte> piece(std::min(op.bytes, kPiece), std::byte{op.value});
  for (u64 done = 0; done < op.bytes; done += piece.size()) {
    const u64 n = std::min<u64>(piece.size(), op.bytes - done);
    gm_.write(address(op.dst) + done, std::span(piece).first(n));
  }
}

void RunMemory::put_float_status(const NpuGetFloatStatus& op, bool overflow) {
  need(op.dst.buffer, "npu_get_float_status to");
  if (!with_data_) return;
  const std::array<u32, NpuGetFloatStatus::kBytes / sizeof(u32)> tensor{std::bit_cast<u32>(overflow ? 1.0f : 0.0f)};
  gm_.write(address(op.dst), std::as_bytes(std::span(tensor)));
}

std::vector<std::string> RunMemory::write_outputs(const std::string& folder) const {
  std::vector<std::string> files;
  for (u32 i = 0; i < stream_.buffers.size(); ++i) {
    const Buffer& b = stream_.buffers[i];
    if (!with_data_ || b.place != Buffer::Place::host || b.output.empty()) continue;
    write_output(stream_, i, host_[i], folder);
    files.push_back(b.output);
  }
  return files;
}

}  // namespace vinci::task
