// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Random task streams without races: whatever the schedule, the data are those of a serial interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "isa/base/random.h"
#include "models/soc/functional.h"
#include "sim/task/run_memory.h"
#include "tests/support/timed_run.h"

namespace vinci::test {
namespace {

constexpr u32 kWords = 4;  // of each buffer, i32

// Tasks in one order that is legal, spread over streams. A task that touches what a task of another stream touched
// waits for a notify that is recorded behind that task.
class Generator {
 public:
  explicit Generator(u64 seed) : random_(seed) {
    stream_.arch = isa::Arch::c100;
    stream_.name = "random";
    stream_.devices = 1 + pick(3);
    streams_ = 2 + pick(5);
    for (u32 s = 0; s < streams_; ++s) {
      stream_.streams.push_back({.name = fmt::format("s{}", s)});
      stream_.streams[s].device = pick(stream_.devices);
      stream_.streams[s].priority = static_cast<u8>(pick(8));
    }
    for (u32 k = 0; k < 3; ++k)
      stream_.kernels.push_back({.name = fmt::format("k{}", k), .program = {}, .seconds = (1 + pick(300)) * 1e-9});
    for (u32 b = 0; b < 5 * stream_.devices; ++b) {
      task::Buffer buffer;
      buffer.name = fmt::format("d{}", b);
      buffer.bytes = kWords * 4;
      buffer.device = b % stream_.devices;
      stream_.buffers.push_back(buffer);
    }
    device_buffers_ = static_cast<u32>(stream_.buffers.size());
    for (u32 b = 0; b < device_buffers_; ++b) {
      task::Buffer buffer = stream_.buffers[b];
      buffer.name = fmt::format("h{}", b);
      buffer.place = task::Buffer::Place::host;
      buffer.device = 0;
      buffer.pageable = pick(4) == 0;
      for (u32 i = 0; i < kWords * 4; ++i)
        buffer.data.push_back(static_cast<std::byte>(random_.next()));
      stream_.buffers.push_back(buffer);
    }
    last_.resize(stream_.buffers.size());
    known_.assign(streams_, std::vector<u32>(streams_));
    repeats_ = 1 + pick(3);
    for (u32 b = 0; b < device_buffers_; ++b)
      copy_in(b);
    for (u32 n = 10 + pick(60); n > 0; --n)
      step();
    for (u32 b = 0; b < device_buffers_; ++b)
      copy_out(b);
    pick(2) == 0 ? host_program() : sink();
  }

  const task::TaskStream& stream() const { return stream_; }
  config::ChipConfig chip() {
    config::ChipConfig c = round_chip(isa::Arch::c100);
    const auto some = [&](u32 most) { return config::Seconds(pick(most) * 1e-9); };
    c.ai_cores = 1 + pick(3);
    c.limits.stream_depth = stream_.models.empty() ? 1 + pick(5) : 4096;
    c.scheduler = {
        .task_start = some(50), .block_dispatch = some(20), .task_completion = some(50), .control = some(10)};
    c.host.launch = some(30);
    c.host.enqueue = some(30);
    c.aicpu.threads = 1 + pick(3);
    c.aicpu.dispatch = some(100);
    c.links.devices_per_node = 1 + pick(2);
    return c;
  }

  // What the host buffers hold in the end, by doing all tasks in the order of the generator.
  std::vector<std::vector<i32>> expected() const {
    std::vector<std::vector<i32>> memory;
    for (const task::Buffer& b : stream_.buffers) {
      memory.emplace_back(kWords);
      if (!b.data.empty()) std::memcpy(memory.back().data(), b.data.data(), kWords * 4);
    }
    for (u32 r = 0; r < repeats_; ++r) {
      for (const auto& [s, t] : order_)
        interpret(stream_.streams[s].tasks[t], memory);
    }
    return memory;
  }

  // The same with the streams in another order of declaration; what the host does stays the same.
  task::TaskStream shuffled() const {
    task::TaskStream out = stream_;
    const auto fed = static_cast<u32>(out.streams.size());
    std::ranges::reverse(out.streams);
    for (task::HostThread& thread : out.host.threads) {
      for (task::HostStep& step : thread.steps) {
        if (auto* enqueue = std::get_if<task::HostEnqueue>(&step)) enqueue->stream = fed - 1 - enqueue->stream;
      }
    }
    return out;
  }

 private:
  u32 pick(u32 n) { return static_cast<u32>(random_.next() % n); }
  u32 device_of(u32 s) const { return stream_.streams[s].device; }
  // A stream of the device, or any where it has none.
  u32 stream_on(u32 device) {
    const u32 first = pick(streams_);
    for (u32 i = 0; i < streams_; ++i) {
      const u32 s = (first + i) % streams_;
      if (device_of(s) == device) return s;
    }
    return first;
  }
  u32 buffer_on(u32 device) { return device + stream_.devices * pick(5); }

  void append(u32 s, auto op) {
    task::Stream& stream = stream_.streams[s];
    order_.emplace_back(s, static_cast<u32>(stream.tasks.size()));
    stream.tasks.push_back({.name = fmt::format("{}.{}", stream.name, stream.tasks.size()), .op = op});
  }

  // The next task of `s` comes after all that has touched the buffer.
  void claim(u32 s, u32 buffer) {
    if (const auto& last = last_[buffer]; last && last->first != s && known_[s][last->first] < last->second) {
      const u32 from = last->first;
      const auto notify = static_cast<u32>(stream_.notifies.size());
      stream_.notifies.push_back(fmt::format("n{}", notify));
      append(from, task::NotifyRecord{.notify = notify});
      append(s, task::NotifyWait{.notify = notify});
      for (u32 i = 0; i < streams_; ++i)
        known_[s][i] = std::max(known_[s][i], known_[from][i]);
      known_[s][from] = static_cast<u32>(stream_.streams[from].tasks.size());
    }
    last_[buffer] = {s, static_cast<u32>(stream_.streams[s].tasks.size()) + 1};
  }

  task::MemcpyAsync copy(u32 dst, u32 src) const {
    constexpr u64 kBytes = kWords * 4;
    return {.dst = {.buffer = dst}, .src = {.buffer = src}, .width = kBytes, .dst_pitch = kBytes, .src_pitch = kBytes};
  }
  void copy_in(u32 b) {
    const u32 s = stream_on(stream_.buffers[b].device);
    claim(s, b);
    claim(s, b);  // the first claim may have added a wait
    append(s, copy(b, device_buffers_ + b));
  }
  void copy_out(u32 b) {
    const u32 s = stream_on(stream_.buffers[b].device);
    claim(s, b);
    claim(s, b);
    append(s, copy(device_buffers_ + b, b));
  }
  void step() {
    const u32 s = pick(streams_), to = buffer_on(device_of(s)), from = pick(device_buffers_);
    const u32 near = buffer_on(device_of(s));
    for (const u32 b : {to, from, near, to, from, near})
      claim(s, b);
    switch (pick(6)) {
      case 0: return append(s, task::KernelLaunch{.kernel = pick(3), .block_dim = 1 + pick(4)});
      case 1: return append(s, copy(to, from));
      case 2:
        return append(s, task::MemsetAsync{.dst = {.buffer = to}, .bytes = 8, .value = static_cast<u8>(pick(256))});
      case 3: {
        const auto kind = static_cast<task::ReduceAsync::Kind>(pick(3));
        return append(s, task::ReduceAsync{.dst = {.buffer = to},
                                           .src = {.buffer = from},
                                           .bytes = kWords * 4,
                                           .kind = kind,
                                           .type = task::ElementType::int32});
      }
      default:
        return append(s, task::CpuKernelLaunch{
                             .kernel = "AssignAdd",
                             .args = {task::Slice{.buffer = to}, task::Slice{.buffer = near}, u64{kWords}, u64{3}}});
    }
  }

  // The host feeds all streams in the order of the generator, again and again.
  void host_program() {
    task::HostThread t{.name = "host"};
    t.steps.emplace_back(
        task::HostRepeat{.times = repeats_, .length = static_cast<u32>(order_.size()) + stream_.devices});
    for (const auto& [s, task] : order_)
      t.steps.emplace_back(task::HostEnqueue{.stream = s, .first = task, .count = 1});
    for (u32 d = 0; d < stream_.devices; ++d)
      t.steps.emplace_back(task::SynchronizeDevice{d});
    stream_.host.threads.push_back(t);
  }

  // All streams are of one model, which one more stream executes.
  void sink() {
    stream_.models = {"m"};
    for (task::Stream& s : stream_.streams)
      s.model = 0;
    task::Stream main{.name = "main"};
    for (u32 r = 0; r < repeats_; ++r)
      main.tasks.push_back({.name = fmt::format("run {}", r), .op = task::ModelExecute{.model = 0}});
    stream_.streams.push_back(main);
  }

  void interpret(const task::Task& t, std::vector<std::vector<i32>>& memory) const {
    const auto wrap = [](i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b)); };
    if (const auto* copy = std::get_if<task::MemcpyAsync>(&t.op)) {
      memory[copy->dst.buffer] = memory[copy->src.buffer];
    } else if (const auto* fill = std::get_if<task::MemsetAsync>(&t.op)) {
      std::memset(memory[fill->dst.buffer].data(), fill->value, fill->bytes);
    } else if (const auto* reduce = std::get_if<task::ReduceAsync>(&t.op)) {
      for (u32 i = 0; i < kWords; ++i) {
        i32& d = memory[reduce->dst.buffer][i];
        const i32 s = memory[reduce->src.buffer][i];
        using enum task::ReduceKind;
        d = reduce->kind == ADD ? wrap(d, s) : reduce->kind == MAX ? std::max(d, s) : std::min(d, s);
      }
    } else if (const auto* call = std::get_if<task::CpuKernelLaunch>(&t.op)) {
      const u32 to = std::get<task::Slice>(call->args[0]).buffer, from = std::get<task::Slice>(call->args[1]).buffer;
      for (u32 i = 0; i < kWords; ++i)
        memory[to][i] = wrap(memory[to][i], memory[from][i]);
    }
  }

  Random random_;
  task::TaskStream stream_;
  u32 streams_ = 0, device_buffers_ = 0, repeats_ = 1;
  std::vector<std::pair<u32, u32>> order_;                // stream and task
  std::vector<std::optional<std::pair<u32, u32>>> last_;  // by buffer: stream and number of tasks up to its last use
  std::vector<std::vector<u32>> known_;                   // by stream: so many tasks of each are over before its next
};

std::vector<std::vector<i32>> host_data(const task::TaskStream& stream, const task::RunMemory& memory) {
  std::vector<std::vector<i32>> out;
  for (u32 b = 0; b < stream.buffers.size(); ++b) {
    const auto bytes = memory.host(b);
    out.emplace_back(bytes.size() / 4);
    if (!bytes.empty()) std::memcpy(out.back().data(), bytes.data(), bytes.size());
  }
  return out;
}

class RandomStreams : public testing::TestWithParam<u64> {};

TEST_P(RandomStreams, MeanTheSameInEverySchedule) {
  for (u64 seed = GetParam() * 100; seed < GetParam() * 100 + 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Generator g(seed);
    const config::ChipConfig chip = g.chip();
    auto expected = g.expected();
    for (u32 b = 0; b < expected.size(); ++b) {
      if (g.stream().buffers[b].place == task::Buffer::Place::device) expected[b].clear();
    }
    const auto timed = [&](const task::TaskStream& stream) {
      task::RunMemory memory(stream, true);
      const u64 cycles = models::simulate(chip, stream, memory, {}).cycles;
      EXPECT_EQ(host_data(stream, memory), expected);
      return cycles;
    };
    const u64 cycles = timed(g.stream());
    EXPECT_EQ(timed(g.stream()), cycles);
    if (g.stream().models.empty()) {
      EXPECT_EQ(timed(g.shuffled()), cycles);
    }
    task::RunMemory memory(g.stream(), true);
    models::run_functional(chip, g.stream(), memory, {.max_cycles = 1'000'000});
    EXPECT_EQ(host_data(g.stream(), memory), expected);
    task::RunMemory no_data(g.stream(), false);
    EXPECT_EQ(models::simulate(chip, g.stream(), no_data, {}).cycles, cycles);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomStreams, testing::Range<u64>(0, 4));

}  // namespace
}  // namespace vinci::test
