// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isa/text/text.h"
#include "models/soc/functional.h"
#include "sim/task/run_memory.h"
#include "tests/support/timed_run.h"

// Task streams by hand for tests of the runtime: round chips, opaque kernels whose times are cycles.
namespace vinci::test {

inline config::Seconds cycles(u64 n) { return config::Seconds(static_cast<double>(n) * 1e-9); }  // of 1 GHz
inline constexpr double kCycle = 1e-9;

// Keeps the record of each task as it ends.
class Records final : public models::TaskSink {
 public:
  void task(const models::TaskRecord& r) override { all.push_back(r); }
  // The `n`th execution of a task by name.
  const models::TaskRecord& of(std::string_view name, usize n = 0) const {
    for (const models::TaskRecord& r : all) {
      if (r.name == name && n-- == 0) return r;
    }
    fail(Fault::Internal, "no such record of {}", name);
  }
  usize count(std::string_view name) const {
    return static_cast<usize>(std::ranges::count(all, name, &models::TaskRecord::name));
  }

  std::vector<models::TaskRecord> all;
};

class Runtime : public testing::Test {
 protected:
  Runtime() { stream_.arch = chip_.arch; }

  u32 device_buffer(std::string name, u64 bytes = 64, u32 device = 0) {
    task::Buffer b;
    b.name = std::move(name);
    b.bytes = bytes;
    b.device = device;
    stream_.buffers.push_back(b);
    return static_cast<u32>(stream_.buffers.size() - 1);
  }
  u32 host_buffer(std::string name, u64 bytes = 64) {
    const u32 id = device_buffer(std::move(name), bytes);
    stream_.buffers[id].place = task::Buffer::Place::host;
    return id;
  }
  // A host buffer with contents.
  template <class T>
  u32 host_values(const std::string& name, const std::vector<T>& values) {
    const u32 id = host_buffer(name, values.size() * sizeof(T));
    const auto bytes = std::as_bytes(std::span(values));
    stream_.buffers[id].data.assign(bytes.begin(), bytes.end());
    return id;
  }
  // An opaque kernel of so many cycles for each block.
  u32 opaque(u64 n) {
    stream_.kernels.push_back(
        {.name = fmt::format("k{}", n), .program = {}, .seconds = static_cast<double>(n) * kCycle});
    return static_cast<u32>(stream_.kernels.size() - 1);
  }
  task::KernelLaunch launch(u64 n, u32 blocks = 1) { return {.kernel = opaque(n), .block_dim = blocks}; }
  task::MemcpyAsync copy(u32 dst, u32 src, u64 bytes) const {
    return {.dst = {.buffer = dst}, .src = {.buffer = src}, .width = bytes, .dst_pitch = bytes, .src_pitch = bytes};
  }
  // A stream "s0" with tasks "s0.0", "s0.1", ...; returns its number.
  template <class... Op>
  u32 add(Op... op) {
    task::Stream s;
    s.name = fmt::format("s{}", stream_.streams.size());
    (s.tasks.push_back({.name = fmt::format("{}.{}", s.name, s.tasks.size()), .op = std::move(op)}), ...);
    stream_.streams.push_back(s);
    return static_cast<u32>(stream_.streams.size() - 1);
  }
  template <class... Op>
  u32 add_bound(u32 model, bool head, Op... op) {
    const u32 s = add(std::move(op)...);
    stream_.streams[s].model = model;
    stream_.streams[s].head = head;
    return s;
  }
  void thread(std::string name, std::vector<task::HostStep> steps) {
    stream_.host.threads.push_back({.name = std::move(name), .steps = std::move(steps)});
  }

  void run(u64 max_cycles = 1'000'000'000) {
    records_.all.clear();
    task::RunMemory memory(stream_, with_data_);
    result_ = models::simulate(chip_, stream_, memory, {.max_cycles = max_cycles, .tasks = &records_});
    if (with_data_) host_ = contents(memory);
  }
  // The host buffers after a run without time.
  std::vector<std::vector<std::byte>> functional() const {
    task::RunMemory memory(stream_, true);
    models::run_functional(chip_, stream_, memory, {.max_cycles = 1'000'000});
    return contents(memory);
  }
  std::vector<std::vector<std::byte>> contents(const task::RunMemory& memory) const {
    std::vector<std::vector<std::byte>> out;
    for (u32 b = 0; b < stream_.buffers.size(); ++b) {
      const auto bytes = memory.host(b);
      out.emplace_back(bytes.begin(), bytes.end());
    }
    return out;
  }
  template <class T>
  std::vector<T> values(const std::vector<std::vector<std::byte>>& host, u32 buffer) const {
    std::vector<T> out(host[buffer].size() / sizeof(T));
    std::memcpy(out.data(), host[buffer].data(), host[buffer].size());
    return out;
  }
  const models::TaskRecord& of(std::string_view name, usize n = 0) const { return records_.of(name, n); }
  u64 end_of(std::string_view name, usize n = 0) const { return of(name, n).end; }

  config::ChipConfig chip_ = round_chip(isa::Arch::c100);
  task::TaskStream stream_;
  bool with_data_ = true;
  models::Result result_;
  Records records_;
  std::vector<std::vector<std::byte>> host_;
};

}  // namespace vinci::test
