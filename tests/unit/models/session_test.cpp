// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/session.h"

#include "isa/base/random.h"
#include "isa/census/census.h"
#include "sim/config/load.h"
#include "sim/task/run_memory.h"
#include "tests/unit/models/runtime_fixture.h"

namespace vinci::test {
namespace {

using models::Session;
using testing::HasSubstr;

// A host program as a program in Ascend C would leave it: one thread, tasks and what they need in the order of the
// calls. Every choice follows from the seed.
class RandomProgram {
 public:
  explicit RandomProgram(u64 seed) : random_(seed) {
    stream_.arch = isa::Arch::c220;
    stream_.host.threads.push_back({.name = "main"});
    for (const auto& [name, text] : {std::pair{"copy", kCopy}, std::pair{"add", kAdd}}) {
      stream_.kernels.push_back({.name = name,
                                 .type = task::KernelType::AIV_ONLY,
                                 .program = isa::assemble(text, fmt::format("{}.s", name), stream_.arch)});
    }
    const u64 steps = 10 + random_.next() % 30;
    for (u64 i = 0; i < steps; ++i)
      step();
    stream_.host.threads[0].steps.emplace_back(task::SynchronizeDevice{0});
  }
  const task::TaskStream& stream() const { return stream_; }

 private:
  static constexpr const char* kCopy =
      "ld_arg X1, 0\ncopy_gm_to_ubuf 0, X1, 0, 1, 64, 0, 0\nset_flag PIPE_MTE2, PIPE_MTE3, 0\n"
      "wait_flag PIPE_MTE2, PIPE_MTE3, 0\ncopy_ubuf_to_gm X1, 0, 0, 1, 64, 0, 0\nend";
  static constexpr const char* kAdd = "vector_dup.f32 0, 0, 8, 1, 1, 8, 8\nvadd.f32 0, 0, 0, 8, 1, 1, 1, 8, 8, 8\nend";
  static constexpr u64 kBytes = 4096;

  u32 any(usize count) { return static_cast<u32>(random_.next() % count); }
  u32 a_stream() {
    const u32 s = any(std::min<usize>(3, stream_.streams.size() + 1));
    if (s == stream_.streams.size()) stream_.streams.push_back({.name = fmt::format("s{}", s)});
    return s;
  }
  u32 buffer(task::Buffer::Place place) {
    task::Buffer& b = stream_.buffers.emplace_back();
    b.name = fmt::format("b{}", stream_.buffers.size());
    b.place = place;
    b.bytes = kBytes;
    b.random = place == task::Buffer::Place::host;
    b.pageable = place == task::Buffer::Place::host && any(2) == 0;
    return static_cast<u32>(stream_.buffers.size() - 1);
  }
  u32 device_buffer() {
    if (device_.empty() || any(4) == 0) device_.push_back(buffer(task::Buffer::Place::device));
    return device_[any(device_.size())];
  }
  template <class Op>
  void enqueue(u32 s, Op op) {
    auto& tasks = stream_.streams[s].tasks;
    auto& steps = stream_.host.threads[0].steps;
    auto* last = steps.empty() ? nullptr : std::get_if<task::HostEnqueue>(&steps.back());
    if (last != nullptr && last->stream == s) {
      ++last->count;
    } else {
      steps.emplace_back(task::HostEnqueue{s, static_cast<u32>(tasks.size()), 1});
    }
    tasks.push_back({.name = fmt::format("t{}", names_++), .op = op});
  }
  void copy(u32 s, bool up) {
    const u32 device = device_buffer(), host = buffer(task::Buffer::Place::host);
    task::MemcpyAsync op;
    op.width = op.dst_pitch = op.src_pitch = kBytes;
    op.dst.buffer = up ? device : host;
    op.src.buffer = up ? host : device;
    enqueue(s, op);
  }
  void step() {
    auto& steps = stream_.host.threads[0].steps;
    switch (any(10)) {
      case 0:
      case 1: copy(a_stream(), true); break;
      case 2: copy(a_stream(), false); break;
      case 3:
      case 4:
      case 5: {
        task::KernelLaunch op{.kernel = any(2), .block_dim = 1 + any(60)};
        op.args.emplace_back(task::Slice{.buffer = device_buffer()});
        enqueue(a_stream(), op);
        break;
      }
      case 6: {
        const u32 s = a_stream();
        stream_.events.push_back(fmt::format("e{}", stream_.events.size()));
        enqueue(s, task::EventRecord{static_cast<u32>(stream_.events.size() - 1)});
        break;
      }
      case 7: {
        const u32 s = a_stream();
        if (!stream_.events.empty()) enqueue(s, task::StreamWaitEvent{any(stream_.events.size())});
        break;
      }
      case 8: steps.emplace_back(task::HostCompute{.seconds = 1e-7 * any(50), .name = "host"}); break;
      default:
        if (stream_.streams.empty()) break;
        if (any(2) == 0 && !stream_.events.empty()) {
          steps.emplace_back(task::SynchronizeEvent{any(stream_.events.size())});
        } else if (const u32 s = any(stream_.streams.size()); !stream_.streams[s].tasks.empty()) {
          steps.emplace_back(task::SynchronizeStream{s});
        }
    }
  }

  Random random_;
  task::TaskStream stream_;
  std::vector<u32> device_;
  u32 names_ = 0;
};

// Gives away a task stream piece by piece, in the order of its host thread: a task, or another step, at a time.
class Growing {
 public:
  explicit Growing(const task::TaskStream& whole) : whole_(whole) {
    stream.arch = whole.arch;
    stream.host.threads.push_back({.name = whole.host.threads[0].name});
  }

  // False: there is nothing left.
  bool grow() {
    const auto& all = whole_.host.threads[0].steps;
    auto& steps = stream.host.threads[0].steps;
    if (next_ == all.size()) return false;
    const auto* enqueue = std::get_if<task::HostEnqueue>(&all[next_]);
    if (enqueue == nullptr) {
      steps.push_back(all[next_++]);
      return true;
    }
    if (tasks_ == 0) {
      steps.emplace_back(task::HostEnqueue{enqueue->stream, enqueue->first, 0});
    }
    ++std::get<task::HostEnqueue>(steps.back()).count;
    take(enqueue->stream, whole_.streams[enqueue->stream].tasks[enqueue->first + tasks_]);
    if (++tasks_ == enqueue->count) {
      tasks_ = 0;
      ++next_;
    }
    return true;
  }

  task::TaskStream stream;

 private:
  void take(u32 s, const task::Task& task) {
    while (stream.streams.size() <= s)
      stream.streams.push_back({.name = whole_.streams[stream.streams.size()].name});
    const auto need = [](auto& list, const auto& all, u32 index) {
      while (list.size() <= index)
        list.push_back(all[list.size()]);
    };
    if (const auto* copy = std::get_if<task::MemcpyAsync>(&task.op)) {
      need(stream.buffers, whole_.buffers, std::max(copy->dst.buffer, copy->src.buffer));
    } else if (const auto* launch = std::get_if<task::KernelLaunch>(&task.op)) {
      need(stream.kernels, whole_.kernels, launch->kernel);
      for (const task::Arg& arg : launch->args)
        need(stream.buffers, whole_.buffers, std::get<task::Slice>(arg).buffer);
    } else if (const auto* record = std::get_if<task::EventRecord>(&task.op)) {
      need(stream.events, whole_.events, record->event);
    }
    stream.streams[s].tasks.push_back(task);
  }

  const task::TaskStream& whole_;
  usize next_ = 0;  // step
  u32 tasks_ = 0;   // of an enqueue that are taken
};

std::string text_of(const Seen& s) {
  return fmt::format("{} {} {} {} {} {} {} {}", s.core, s.pipe, s.name, s.detail, s.queued, s.begin, s.end, s.done);
}
std::string text_of(const models::TaskRecord& r) {
  return fmt::format("{} {} {} {}/{} {} {} {} {} {}", r.name, r.kind, r.stream, r.stream_id, r.task_id, r.iteration,
                     r.bytes, r.enqueued, r.start, r.end);
}
template <class T>
std::vector<std::string> texts(const std::vector<T>& all) {
  std::vector<std::string> out;
  for (const T& t : all)
    out.push_back(text_of(t));
  return out;
}

// Everything that a run leaves.
struct Observed {
  models::Result result;
  Records records;
  Recorder seen;
  isa::Census census;
  std::vector<std::byte> outputs;

  models::Options options() { return {.trace = &seen, .census = &census, .tasks = &records}; }
  void take_outputs(const task::TaskStream& stream, const task::RunMemory& memory) {
    for (u32 b = 0; b < stream.buffers.size(); ++b)
      outputs.insert(outputs.end(), memory.host(b).begin(), memory.host(b).end());
  }
};

void expect_same(const Observed& a, const Observed& b) {
  EXPECT_EQ(a.result.cycles, b.result.cycles);
  EXPECT_EQ(a.result.stats, b.result.stats);
  EXPECT_EQ(texts(a.records.all), texts(b.records.all));
  EXPECT_EQ(texts(a.seen.spans()), texts(b.seen.spans()));
  EXPECT_EQ(a.outputs, b.outputs);
  ASSERT_EQ(a.census.tasks.size(), b.census.tasks.size());
  for (auto x = a.census.tasks.begin(), y = b.census.tasks.begin(); x != a.census.tasks.end(); ++x, ++y) {
    EXPECT_EQ(x->first, y->first);
    ASSERT_EQ(x->second.sites.size(), y->second.sites.size());
    for (auto p = x->second.sites.begin(), q = y->second.sites.begin(); p != x->second.sites.end(); ++p, ++q)
      EXPECT_EQ(p->second.executions, q->second.executions);
  }
}

TEST(Sessions, GiveWhatOneRunOfTheWholeTaskStreamGives) {
  const config::ChipConfig chip = config::load_chip("ascend-910b1");
  u64 pauses_before_the_end = 0;
  for (u64 seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed);
    if (program.stream().streams.empty() || program.stream().streams[0].tasks.empty()) continue;
    Observed once;
    {
      task::RunMemory memory(program.stream(), true);
      // The cores are there, whether a kernel is launched or not.
      Session session(chip, program.stream(), memory, once.options());
      once.result = session.finish();
      once.take_outputs(program.stream(), memory);
    }
    Observed grown;
    Growing growing(program.stream());  // records have its names
    {
      task::RunMemory memory(growing.stream, true);
      Session session(chip, growing.stream, memory, grown.options());
      Random random(seed);
      u64 last = 0;
      while (growing.grow()) {
        if (random.next() % 3 == 0) continue;
        const auto events = static_cast<u32>(growing.stream.events.size());
        if (random.next() % 4 == 0 && events > 0) {
          session.run_until(events - 1);
        } else {
          session.run();
        }
        EXPECT_GE(session.now(), last);
        last = session.now();
        if (last < once.result.cycles) ++pauses_before_the_end;
        if (random.next() % 4 == 0) session.result();
      }
      grown.result = session.finish();
      grown.take_outputs(growing.stream, memory);
      for (u32 e = 0; e < growing.stream.events.size(); ++e)
        EXPECT_TRUE(session.recorded(e).has_value());
    }
    expect_same(once, grown);
  }
  EXPECT_GT(pauses_before_the_end, 300u);
}

class SessionTest : public Runtime {
 protected:
  SessionTest() {
    chip_.host.launch = cycles(100);
    chip_.host.enqueue = cycles(10);
    chip_.host.synchronize = cycles(7);
    add(launch(1000));
    thread("main", {task::HostEnqueue{0, 0, 1}});
  }
  void append_launch(u64 n) {
    const task::KernelLaunch op = launch(n);
    stream_.streams[0].tasks.push_back({.name = fmt::format("k{}", n), .op = op});
    ++std::get<task::HostEnqueue>(stream_.host.threads[0].steps.back()).count;
  }
  void append_record() {
    const auto event = static_cast<u32>(stream_.events.size());
    stream_.events.push_back(fmt::format("e{}", event));
    stream_.streams[0].tasks.push_back({.name = "record", .op = task::EventRecord{event}});
    ++std::get<task::HostEnqueue>(stream_.host.threads[0].steps.back()).count;
  }
};

TEST_F(SessionTest, TimeStandsStillWhereTheHostHasNoStep) {
  task::RunMemory memory(stream_, true);
  Session session(chip_, stream_, memory, {.tasks = &records_});
  session.run();
  EXPECT_EQ(session.now(), 100u);
  EXPECT_EQ(records_.count("s0.0"), 0u);
  append_record();
  EXPECT_EQ(session.run_until(0), std::nullopt);  // the host has no step at cycle 110
  EXPECT_EQ(session.now(), 110u);
  stream_.host.threads[0].steps.emplace_back(task::SynchronizeEvent{0});
  session.run();
  EXPECT_EQ(session.recorded(0), 1100u);
  EXPECT_EQ(session.now(), 1107u);
}

TEST_F(SessionTest, StopsAtTheEndOfARecordAndGoesOn) {
  append_record();
  append_launch(500);
  stream_.host.threads[0].steps.emplace_back(task::SynchronizeDevice{0});
  task::RunMemory memory(stream_, true);
  Session session(chip_, stream_, memory, {.tasks = &records_});
  EXPECT_EQ(session.run_until(0), 1100u);
  EXPECT_EQ(session.now(), 1100u);
  EXPECT_EQ(session.result().task_count, 2u);
  EXPECT_EQ(session.result().cycles, 1100u);
  session.run();
  EXPECT_EQ(end_of("k500"), 1600u);
}

TEST_F(SessionTest, WhatIsAppendedBehindTheEndBeginsThere) {
  task::RunMemory memory(stream_, true);
  Session session(chip_, stream_, memory, {.tasks = &records_});
  session.run_to_end();
  EXPECT_EQ(session.now(), 1100u);
  append_launch(500);
  session.run_to_end();
  EXPECT_EQ(end_of("k500"), 1100u + 100 + 500);
  EXPECT_EQ(session.finish().cycles, 1700u);
}

TEST_F(SessionTest, WithoutAHostProgramTasksAreEnqueuedAsTheyCome) {
  stream_.host = {};
  task::RunMemory memory(stream_, true);
  Session session(chip_, stream_, memory, {.tasks = &records_});
  session.run();
  stream_.streams[0].tasks.push_back({.name = "more", .op = launch(500)});
  add(launch(300));
  EXPECT_EQ(session.finish().cycles, 1100u + 500 + 300);  // one core
  EXPECT_EQ(of("more").enqueued, 200u);
  EXPECT_EQ(of("s1.0").enqueued, 300u);
}

TEST_F(SessionTest, SeveralTakeTurns) {
  task::RunMemory memory(stream_, true), other_memory(stream_, true);
  Session one(chip_, stream_, memory, {});
  Session other(chip_, stream_, other_memory, {});
  one.run();
  other.run();
  const models::Result inner = models::simulate(chip_, stream_, memory, {});
  EXPECT_EQ(inner.cycles, 1100u);
  one.run_to_end();
  EXPECT_EQ(one.now(), 1100u);
  EXPECT_EQ(other.now(), 100u);
  EXPECT_EQ(other.finish().cycles, 1100u);
  EXPECT_EQ(one.finish().cycles, 1100u);
}

TEST_F(SessionTest, AWaitThatNothingCanEndIsADeadlock) {
  stream_.events.push_back("never");
  stream_.host.threads[0].steps.emplace_back(task::SynchronizeEvent{0});
  task::RunMemory memory(stream_, true);
  Session session(chip_, stream_, memory, {});
  EXPECT_THAT(fault_of([&] { session.run(); }),
              HasSubstr("host thread 'main' waits in synchronize_event for event 'never'"));
  EXPECT_EQ(session.result().task_count, 1u);
}

TEST_F(SessionTest, WhatCannotGrowIsRefused) {
  task::RunMemory memory(stream_, true);
  Session session(chip_, stream_, memory, {});
  session.run();
  thread("another", {});
  EXPECT_THAT(fault_of([&] { session.run(); }), HasSubstr("host threads and semaphores cannot be appended"));
}

TEST_F(SessionTest, WithoutDataABufferThatTasksHaveUsedCannotSteerStreams) {
  const u32 index = device_buffer("index");
  task::RunMemory memory(stream_, false);
  Session session(chip_, stream_, memory, {});
  session.run();
  stream_.models.push_back("m");
  stream_.labels.push_back("l");
  add_bound(0, true, task::LabelSet{0}, task::LabelSwitch{.index = {.buffer = index}, .labels = {0}});
  EXPECT_THAT(fault_of([&] { session.run(); }), HasSubstr("buffer 'index' cannot steer streams"));
}

}  // namespace
}  // namespace vinci::test
