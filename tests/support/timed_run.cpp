// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/support/timed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "isa/text/text.h"
#include "sim/task/run_memory.h"

namespace vinci::test {

trace::TrackId Recorder::track(std::string_view group, std::string_view name) {
  tracks_.push_back({std::string(group), std::string(name)});
  return static_cast<trace::TrackId>(tracks_.size() - 1);
}

void Recorder::span(const trace::Span& s) {
  const Track& t = tracks_.at(s.track);
  spans_.push_back({.core = t.group,
                    .pipe = t.name,
                    .name = std::string(s.name),
                    .detail = std::string(s.detail),
                    .source = std::string(s.source),
                    .queued = s.queued,
                    .begin = s.begin,
                    .end = s.end,
                    .done = s.done,
                    .line = s.line});
}

void Recorder::flow(trace::TrackId from, u64 from_cycle, trace::TrackId to, u64 to_cycle, std::string_view name) {
  const auto lane = [&](trace::TrackId id) { return tracks_.at(id).group + "." + tracks_.at(id).name; };
  arrows_.push_back(
      {.from = lane(from), .to = lane(to), .begin = from_cycle, .end = to_cycle, .name = std::string(name)});
}

const Seen& Recorder::nth(std::string_view name, usize n) const {
  usize left = n;
  for (const Seen& s : spans_) {
    if (s.name == name && left-- == 0) return s;
  }
  fail(Fault::Internal, "the trace has {} spans '{}', not {}", count(name), name, n + 1);
}

usize Recorder::count(std::string_view name) const {
  return static_cast<usize>(std::ranges::count(spans_, name, &Seen::name));
}

config::ChipConfig round_chip(isa::Arch arch) {
  using config::BytesPerCycle;
  const bool split = isa::contains(isa::kSplitArchs, arch);
  config::ChipConfig chip;
  chip.name = "round";
  chip.arch = arch;
  chip.clock = config::Hertz(1e9);
  chip.ai_cores = 1;
  chip.vector_cores = split ? 1 : 0;
  config::CoreConfig& core = chip.core;
  using namespace config::laws;
  core.buffers = {.l1 = config::Bytes(64 << 10),
                  .l0a = config::Bytes(16 << 10),
                  .l0b = config::Bytes(16 << 10),
                  .l0c = config::Bytes(32 << 10),
                  .ub = config::Bytes(64 << 10)};
  core.queues.depth.fill(8);
  core.flags_per_pair = 4;
  core.line("scalar.load"_cost).minimum = 10;
  core.line("scalar.store"_cost).minimum = 4;
  core.line("cube"_cost) = {.law = Rows{.per_step = 1}, .startup = 2, .minimum = 4, .tail = 21};
  core.line("vector.unary"_cost) = {.law = Repeats{.per_step = 2}, .tail = 5};
  core.line("vector.binary"_cost) = {.law = Repeats{.per_step = 1}, .head = 10, .minimum = 3, .tail = 14};
  core.line("vector.scalar"_cost) = {.law = Repeats{.per_step = 3}};
  core.line("vector.dup"_cost) = {.law = Repeats{.per_step = 1}};
  core.line("vector.convert"_cost) = {.law = Repeats{.per_step = 4}};
  core.line("move.gm_to_ub"_cost) = {.law = Port{.bytes_per_cycle = BytesPerCycle(32)}, .startup = 20};
  core.line("move.gm_to_l1"_cost) = {.law = Port{.bytes_per_cycle = BytesPerCycle(64)}, .startup = 20};
  core.line("move.gm_to_l1_nd2nz"_cost) = {.law = Bursts{.per_burst = 4, .bytes_per_cycle = BytesPerCycle(64)},
                                           .startup = 20};
  core.line("move.ub_to_gm"_cost) = {.law = Port{.bytes_per_cycle = BytesPerCycle(32)}, .startup = 30, .tail = 7};
  core.line("move.ub_to_ub"_cost) = {.law = Rate{.bytes_per_cycle = BytesPerCycle(64)}};
  core.line("move.l1_to_ub"_cost) = {.law = Rate{.bytes_per_cycle = BytesPerCycle(64)}};
  core.line("move.ub_to_l1"_cost) = {.law = Rate{.bytes_per_cycle = BytesPerCycle(64)}};
  core.line("move.l1_to_l0a"_cost) = {.law = Rate{.bytes_per_cycle = BytesPerCycle(256)}, .startup = 2};
  core.line("move.l1_to_l0b"_cost) = {.law = Rate{.bytes_per_cycle = BytesPerCycle(128)}, .startup = 2};
  core.line("move.l0c_to_ub"_cost) = {.law = Rate{.bytes_per_cycle = BytesPerCycle(256)}, .startup = 2};
  core.line("move.l0c_to_gm"_cost) = {.law = Port{.bytes_per_cycle = BytesPerCycle(64)}, .startup = 10};
  core.line("move.l0c_to_gm_nz2nd"_cost) = {.law = Bursts{.per_burst = 2, .bytes_per_cycle = BytesPerCycle(64)},
                                            .startup = 10};
  core.dma_chunk = config::Bytes(512);
  core.dma_requests = 128;
  chip.memory.l2 = {.size = config::Bytes(1 << 20),
                    .line = config::Bytes(512),
                    .ways = 4,
                    .slices = 1,
                    .slice_read = BytesPerCycle(512),
                    .slice_write = BytesPerCycle(512),
                    .hit_latency = config::Cycles(100)};
  chip.memory.hbm = {.size = config::Bytes(64 << 20),
                     .channels = 1,
                     .bandwidth = config::BytesPerSecond(512e9),
                     .latency = config::Cycles(200)};
  chip.scheduler = {
      .task_start = config::Seconds(0), .block_dispatch = config::Seconds(0), .task_completion = config::Seconds(0)};
  chip.host = {.launch = config::Seconds(0),
               .enqueue = config::Seconds(0),
               .copy_latency = config::Seconds(100e-9),
               .h2d_bandwidth = config::BytesPerSecond(16e9),
               .d2h_bandwidth = config::BytesPerSecond(8e9)};
  return chip;
}

task::TaskStream kernel_stream(const config::ChipConfig& chip, std::string_view text, const Launch& launch) {
  task::TaskStream stream;
  stream.name = "test";
  stream.arch = chip.arch;
  stream.buffers.push_back(
      {.name = "gm", .bytes = launch.gm_bytes, .file = {}, .output = {}, .dtype = {}, .shape = {}});
  const auto type = launch.kind == isa::CoreKind::joint  ? task::KernelType::AI_CORE
                    : launch.kind == isa::CoreKind::cube ? task::KernelType::AIC_ONLY
                                                         : task::KernelType::AIV_ONLY;
  stream.kernels.push_back({.name = "k", .type = type, .program = isa::assemble(text, "k.s", chip.arch)});
  task::KernelLaunch op{.kernel = 0, .block_dim = launch.blocks, .args = {task::Slice{.buffer = 0}}};
  stream.streams.push_back({.name = "s", .tasks = {{.name = "t", .op = op}}});
  return stream;
}

u64 Ran::stat(std::string_view path) const {
  return result.stats.json().at(nlohmann::ordered_json::json_pointer("/" + std::string(path))).get<u64>();
}

Ran run_program(const config::ChipConfig& chip, std::string_view text, const Launch& launch) {
  const task::TaskStream stream = kernel_stream(chip, text, launch);
  task::RunMemory memory(stream, launch.with_data);
  Ran out;
  out.result =
      models::simulate(chip, stream, memory, {.max_cycles = launch.max_cycles, .trace = &out.seen, .progress = {}});
  if (launch.with_data) {
    out.gm.resize(launch.gm_bytes);
    memory.gm().read(kGm, out.gm);
  }
  return out;
}

}  // namespace vinci::test
