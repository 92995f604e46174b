// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Streams and host threads in time, to the cycle.
#include <nlohmann/json.hpp>

#include "isa/check/checker.h"
#include "sim/task/run_memory.h"
#include "tests/unit/models/runtime_fixture.h"

namespace vinci::test {
namespace {

using task::HostCompute;
using task::HostEnqueue;
using task::HostPost;
using task::HostRepeat;
using task::HostWait;
using task::SynchronizeDevice;
using task::SynchronizeEvent;
using task::SynchronizeStream;
using testing::HasSubstr;

TEST_F(Runtime, OpaqueBlocksOccupyTheirCoresInWaves) {
  chip_.ai_cores = 2;
  chip_.scheduler = {.task_start = cycles(100), .block_dispatch = cycles(10), .task_completion = cycles(40)};
  add(launch(25, 5));
  run();
  // Three waves, each after its dispatch.
  EXPECT_EQ(end_of("s0.0"), 100u + 3 * (10 + 25) + 40);
  EXPECT_EQ(result_.kernel_cycles, end_of("s0.0"));
  EXPECT_TRUE(result_.pipes.empty());  // no kernel has a program: no cores are built
  EXPECT_EQ(of("s0.0").block_dim, 5u);
  const models::CoreSums& sums = of("s0.0").cores[static_cast<usize>(isa::CoreKind::joint)];
  EXPECT_EQ(sums.blocks, 5u);
  EXPECT_EQ(sums.cycles, 5u * 25);
}

TEST_F(Runtime, RecordsSayWhatTheCoresDid) {
  chip_.scheduler.block_dispatch = cycles(10);
  stream_.kernels.push_back(
      {.name = "k", .program = isa::assemble("mad.f162f32 0, 0, 0, 16, 16, 16, 1\nend", "k.s", chip_.arch)});
  add(task::KernelLaunch{.kernel = 0, .block_dim = 3});
  run();
  ASSERT_EQ(result_.tasks.size(), 1u);
  EXPECT_EQ(result_.tasks[0].work, (models::WorkSums{.cube_macs = 3 * 16 * 16 * 16}));
  const models::CoreSums& sums = of("s0.0").cores[static_cast<usize>(isa::CoreKind::joint)];
  EXPECT_EQ(sums.blocks, 3u);
  EXPECT_EQ(sums.cycles, 3u * 25);
  EXPECT_EQ(sums.busy[isa::index(isa::PipeId::M)], 3u * 4);  // the cost line: at least 4 cycles, 21 of tail
  EXPECT_EQ(of("s0.0").kind, "KERNEL_AICORE");
}

TEST_F(Runtime, UrgentStreamsGetCoresFirst) {
  add(launch(100), launch(100));
  add(launch(10));
  stream_.streams[0].priority = 5;
  stream_.streams[1].priority = 2;
  run();
  // Both are ready at 0; the urgent one starts although the other is older.
  EXPECT_EQ(end_of("s1.0"), 10u);
  EXPECT_EQ(end_of("s0.0"), 110u);
  stream_.streams[1].priority = 5;
  run();
  EXPECT_EQ(end_of("s0.0"), 100u);
  EXPECT_EQ(end_of("s1.0"), 110u);  // of equally urgent ones the one that was ready first: s0.1 became so later
  EXPECT_EQ(end_of("s0.1"), 210u);
}

TEST_F(Runtime, AFullQueueBlocksItsHostThread) {
  chip_.limits.stream_depth = 2;
  chip_.host.launch = cycles(10);
  add(launch(100), launch(100), launch(100), launch(100));
  run();
  EXPECT_EQ(of("s0.0").enqueued, 10u);
  EXPECT_EQ(of("s0.1").enqueued, 20u);
  EXPECT_EQ(of("s0.2").enqueued, 110u);  // ready to go in at 30, but the first one leaves the queue at 110
  EXPECT_EQ(of("s0.3").enqueued, 210u);
  EXPECT_EQ(end_of("s0.3"), 410u);
}

TEST_F(Runtime, HostThreadsPrefetchThroughSemaphores) {
  const u32 h = host_buffer("h", 1600), d = device_buffer("d", 1600);
  const u32 copies = add(copy(d, h, 1600));  // 200 cycles
  const u32 kernels = add(launch(300));
  stream_.host.semaphores = {{.name = "free", .initial = 2}, {.name = "ready"}};
  thread("loader", {HostRepeat{.times = 4, .length = 5}, HostWait{0}, HostCompute{100 * kCycle, "preprocess"},
                    HostEnqueue{.stream = copies}, SynchronizeStream{copies}, HostPost{1}});
  thread("main", {HostRepeat{.times = 4, .length = 4}, HostWait{1}, HostEnqueue{.stream = kernels},
                  SynchronizeStream{kernels}, HostPost{0}});
  run();
  for (const auto& [n, copied, computed] :
       {std::tuple{0u, 300u, 600u}, {1u, 600u, 900u}, {2u, 900u, 1200u}, {3u, 1200u, 1500u}}) {
    EXPECT_EQ(end_of("s0.0", n), copied) << n;
    EXPECT_EQ(end_of("s1.0", n), computed) << n;
    EXPECT_EQ(of("s0.0", n).iteration, n);
  }
  EXPECT_EQ(result_.stats["host"]["busy"], 4u * 100);
}

TEST_F(Runtime, WaitsOfTheHostCostTheirTime) {
  chip_.host.synchronize = cycles(7);
  stream_.events = {"e"};
  const u32 s = add(launch(100), task::EventRecord{.event = 0}, launch(50));
  thread("t", {HostEnqueue{.stream = s}, SynchronizeEvent{0}, HostCompute{1 * kCycle, "a"}, SynchronizeDevice{0},
               HostCompute{1 * kCycle, "b"}, SynchronizeStream{s}});
  run();
  EXPECT_EQ(end_of("s0.1"), 100u);
  EXPECT_EQ(end_of("s0.2"), 150u);
  EXPECT_EQ(result_.cycles, 150u + 7 + 1 + 7);
  EXPECT_EQ(result_.stats["host"]["busy"], 3u * 7 + 2);
}

TEST_F(Runtime, NestedRepeatsRunAllTheirSteps) {
  const u32 s = add(launch(10), launch(20));
  thread("t", {HostRepeat{.times = 3, .length = 3}, HostEnqueue{.stream = s, .first = 0, .count = 1},
               HostRepeat{.times = 2, .length = 1}, HostEnqueue{.stream = s, .first = 1, .count = 1},
               HostRepeat{.times = 0, .length = 1}, HostEnqueue{.stream = s}});
  run();
  EXPECT_EQ(records_.count("s0.0"), 3u);
  EXPECT_EQ(records_.count("s0.1"), 6u);
  EXPECT_EQ(result_.cycles, 3u * 10 + 6 * 20);
}

TEST_F(Runtime, PageableCopiesKeepTheirThread) {
  chip_.host.pageable_bandwidth = config::BytesPerSecond(4e9);
  const u32 h = host_buffer("h", 1600), d = device_buffer("d", 1600);
  add(copy(d, h, 1600));
  add(launch(10));
  run();
  EXPECT_EQ(end_of("s0.0"), 100u + 1600 / 16);
  EXPECT_EQ(of("s1.0").enqueued, 0u);
  stream_.buffers[h].pageable = true;
  run();
  EXPECT_EQ(end_of("s0.0"), 100u + 1600 / 4);
  EXPECT_EQ(of("s1.0").enqueued, 500u);
}

TEST_F(Runtime, EventsCanBeReset) {
  chip_.scheduler.control = cycles(5);
  stream_.events = {"e", "f"};
  add(launch(100), task::EventRecord{.event = 0}, task::StreamWaitEvent{.event = 1}, task::EventRecord{.event = 0});
  add(task::StreamWaitEvent{.event = 0}, task::EventReset{.event = 0}, task::EventRecord{.event = 1},
      task::StreamWaitEvent{.event = 0});
  run();
  EXPECT_EQ(end_of("s0.1"), 105u);
  EXPECT_EQ(end_of("s1.0"), 110u);
  EXPECT_EQ(end_of("s1.1"), 115u);
  EXPECT_EQ(end_of("s1.2"), 120u);
  EXPECT_EQ(end_of("s0.2"), 125u);
  EXPECT_EQ(end_of("s0.3"), 130u);
  EXPECT_EQ(end_of("s1.3"), 135u);
  EXPECT_EQ(of("s1.1").kind, "EVENT_RESET");
  functional();
}

TEST_F(Runtime, ARecordLetsAWaitOfTheHostPassThoughAResetFollows) {
  stream_.events = {"e"};
  const u32 s = add(task::EventRecord{.event = 0}, task::EventReset{.event = 0});
  thread("waiter", {SynchronizeEvent{0}});
  thread("main", {HostCompute{10 * kCycle, "a"}, HostEnqueue{.stream = s}});
  run();
  EXPECT_EQ(records_.count("s0.1"), 1u);
  functional();
}

TEST_F(Runtime, ANotifyLetsOneWaitPass) {
  stream_.notifies = {"n"};
  add(task::NotifyWait{.notify = 0}, launch(10));
  add(task::NotifyWait{.notify = 0}, launch(10));
  add(launch(100), task::NotifyRecord{.notify = 0}, launch(100), task::NotifyRecord{.notify = 0});
  chip_.ai_cores = 4;
  run();
  EXPECT_EQ(end_of("s0.0"), 100u);
  EXPECT_EQ(end_of("s1.0"), 200u);
  // Recorded before it is waited for, it stays up until the wait.
  stream_.streams.clear();
  add(task::NotifyRecord{.notify = 0}, launch(10));
  add(launch(50), task::NotifyWait{.notify = 0}, launch(5));
  run();
  EXPECT_EQ(end_of("s1.1"), 50u);
  functional();
}

// A loop on the device: counter += one until it is `limit`; in each turn a kernel and a copy of the counter.
class SunkLoop : public Runtime {
 protected:
  void build(i32 limit) {
    const u32 zero = host_values<i32>("zero", {0}), one = host_values<i32>("one", {1});
    const u32 end = host_values<i32>("end", {limit});
    out_ = host_buffer("out", 4);
    const u32 counter = device_buffer("counter", 4), step = device_buffer("step", 4), last = device_buffer("last", 4);
    stream_.models = {"loop"};
    add(copy(counter, zero, 4), copy(step, one, 4), copy(last, end, 4), task::ModelExecute{.model = 0},
        copy(out_, counter, 4));
    const task::CpuKernelLaunch increment{
        .kernel = "AssignAdd",
        .args = {task::Slice{.buffer = counter}, task::Slice{.buffer = step}, u64{1}, u64{3}},
        .seconds = 20 * kCycle};
    add_bound(
        0, true, launch(100),
        task::StreamSwitch{
            .value = {.buffer = counter}, .target = {.buffer = last}, .cond = task::Condition::LESS, .true_stream = 2});
    add_bound(0, false, increment, task::StreamActive{.stream = 1});
    chip_.aicpu.dispatch = cycles(30);
  }
  u32 out_ = 0;
};

TEST_F(SunkLoop, RunsOnTheDevice) {
  build(9);
  run();
  EXPECT_EQ(values<i32>(host_, out_), std::vector<i32>{9});
  EXPECT_EQ(records_.count("s1.0"), 10u);
  EXPECT_EQ(of("s1.0", 9).iteration, 9u);
  // A turn: kernel 100, switch 1, AICPU 30 + 20, activation 1.
  EXPECT_EQ(of("s1.0", 1).start - of("s1.0", 0).start, 152u);
  EXPECT_EQ(end_of("s0.3"), end_of("s0.2") + 9 * 152 + 101);
  EXPECT_EQ(functional(), host_);
  task::RunMemory memory(stream_, true);
  isa::check::Checker checker(memory.gm());
  models::simulate(chip_, stream_, memory, {.checker = &checker});
  EXPECT_TRUE(checker.findings().sorted().empty());
}

// Tasks before a loop count to its first turn, tasks after it to its last: each turn has its own time.
TEST_F(SunkLoop, EachTurnIsAnIteration) {
  build(3);
  add_bound(0, false, launch(70), task::ModelEndGraph{.model = 0});  // when the loop is over
  stream_.streams[1].tasks.push_back({.name = "s1.2", .op = stream_.streams[1].tasks[1].op});
  auto& over = std::get<task::StreamSwitch>(stream_.streams[1].tasks[2].op);
  over.cond = task::Condition::GREATER_OR_EQUAL;
  over.true_stream = 3;
  stream_.streams[0].tasks.push_back(
      {.name = "again", .op = task::MemcpyAsync(std::get<task::MemcpyAsync>(stream_.streams[0].tasks[0].op))});
  stream_.streams[0].tasks.push_back({.name = "second", .op = task::ModelExecute{.model = 0}});
  run();
  for (usize n = 0; n < 8; ++n) {
    EXPECT_EQ(of("s1.0", n).iteration, n);
    EXPECT_EQ(of("s1.1", n).iteration, n);
  }
  for (usize n = 0; n < 6; ++n)
    EXPECT_EQ(of("s2.0", n).iteration, n + n / 3);  // after the last turn of the first execution comes none
  EXPECT_EQ(of("s3.0", 0).iteration, 3u);
  EXPECT_EQ(of("s3.1", 0).iteration, 3u);
  EXPECT_EQ(of("s3.0", 1).iteration, 7u);
  EXPECT_EQ(of("second").iteration, 0u);  // of the host, which has no loop
}

TEST_F(SunkLoop, KeepsItsCountersWithoutData) {
  build(9);
  run();
  const u64 with = result_.cycles;
  with_data_ = false;
  run();
  EXPECT_EQ(result_.cycles, with);
  EXPECT_EQ(records_.count("s1.0"), 10u);
  // A kernel with a program could change the counter, but has no data.
  stream_.kernels[0] = {.name = "k", .program = isa::assemble("end", "k.s", chip_.arch)};
  std::get<task::KernelLaunch>(stream_.streams[1].tasks[0].op).args = {task::Slice{.buffer = 4}};
  EXPECT_THAT(fault_of([&] { run(); }),
              HasSubstr("task 's1.0': without data, a kernel cannot touch buffer 'counter', whose contents steer"));
}

TEST_F(Runtime, LabelsJumpInsideAStream) {
  const u32 index = host_values<u32>("index", {1, 7});
  const u32 d = device_buffer("d", 8);
  stream_.labels = {"a", "b", "c"};
  stream_.models = {"m"};
  add(copy(d, index, 8), task::ModelExecute{.model = 0});
  add_bound(0, true, task::LabelSwitch{.index = {.buffer = d}, .labels = {0, 1, 2}}, task::LabelSet{.label = 0},
            launch(1000), task::LabelSet{.label = 1}, launch(10),
            task::LabelSwitch{.index = {.buffer = d, .offset = 4}, .labels = {0, 2}}, launch(2000),
            task::LabelSet{.label = 2}, launch(20));
  run();
  EXPECT_EQ(records_.count("s1.2"), 0u);
  EXPECT_EQ(records_.count("s1.6"), 0u);
  const u64 begin = of("s1.0").start;
  EXPECT_EQ(end_of("s1.4"), begin + 1 + 10);
  EXPECT_EQ(end_of("s1.8"), begin + 1 + 10 + 1 + 20);  // index 7: the last label
  functional();
}

// A loop that tests before its body, with work before and behind it.
TEST_F(Runtime, TurnsOfALoopOfLabels) {
  const u32 values = host_values<u32>("values", {0, 1, 0, 2});
  const u32 d = device_buffer("d", 16);
  stream_.labels = {"test", "body", "end"};
  stream_.models = {"m"};
  add(copy(d, values, 16), task::ModelExecute{.model = 0});
  const auto shift = [&](u32 to, u32 from) {  // AICPU: the next value moves up
    return task::CpuKernelLaunch{
        .kernel = "Assign",
        .args = {task::Slice{.buffer = d, .offset = to}, task::Slice{.buffer = d, .offset = from}, u64{1}, u64{3}},
        .seconds = kCycle};
  };
  add_bound(0, true, launch(5), task::LabelSet{.label = 0},
            task::LabelSwitch{.index = {.buffer = d}, .labels = {1, 1, 2}}, task::LabelSet{.label = 1}, launch(10),
            shift(0, 4), shift(4, 12), task::LabelGoto{.label = 0}, task::LabelSet{.label = 2}, launch(20));
  run();
  ASSERT_EQ(records_.count("s1.4"), 2u);
  EXPECT_EQ(of("s1.0").iteration, 0u);
  EXPECT_EQ(of("s1.4", 0).iteration, 0u);
  EXPECT_EQ(of("s1.4", 1).iteration, 1u);
  EXPECT_EQ(of("s1.6", 1).iteration, 1u);
  EXPECT_EQ(of("s1.2", 2).iteration, 1u);  // the test that ends the loop begins no turn
  EXPECT_EQ(of("s1.9").iteration, 1u);
}

TEST_F(Runtime, TurnsOfTheHostProgram) {
  const u32 a = add(launch(10), launch(20)), b = add(launch(30));
  thread("main", {HostEnqueue{.stream = b}, HostRepeat{.times = 3, .length = 1}, HostEnqueue{.stream = a},
                  HostEnqueue{.stream = b}});
  run();
  EXPECT_EQ(of("s1.0", 0).iteration, 0u);
  for (u32 n = 0; n < 3; ++n) {
    EXPECT_EQ(of("s0.0", n).iteration, n);
    EXPECT_EQ(of("s0.1", n).iteration, n);
  }
  EXPECT_EQ(of("s1.0", 1).iteration, 2u);
}

TEST_F(Runtime, ALoopOfLabelsIsADeadlock) {
  stream_.labels = {"a"};
  stream_.models = {"m"};
  add(task::ModelExecute{.model = 0});
  add_bound(0, true, task::LabelSet{.label = 0}, task::LabelGoto{.label = 0});
  for (const std::string& fault : {fault_of([&] { run(100'000); }), fault_of([&] { functional(); })})
    EXPECT_THAT(fault, HasSubstr("deadlock: nothing can move: streams repeat for ever"));
}

TEST_F(Runtime, EndGraphEndsAModelAndItsNextRunWaitsForTheRest) {
  stream_.models = {"m"};
  add(task::ModelExecute{.model = 0}, task::ModelExecute{.model = 0});
  add_bound(0, true, launch(10), task::ModelEndGraph{.model = 0});
  add_bound(0, true, launch(100));
  chip_.ai_cores = 2;
  chip_.scheduler.task_start = cycles(0);
  run();
  EXPECT_EQ(end_of("s0.0"), 10u);
  EXPECT_EQ(end_of("s1.0", 1), 20u);
  EXPECT_EQ(end_of("s0.1"), 20u);
  EXPECT_EQ(end_of("s2.0"), 100u);
  EXPECT_EQ(end_of("s2.0", 1), 200u);  // activated while it ran: again when it has ended
}

TEST_F(Runtime, ReductionsAreCarriedOutByTheSdma) {
  const u32 a = host_values<float>("a", {1.5f, -2, 3, 1e30f}), b = host_values<float>("b", {0.25f, 2, 4, 1e30f});
  const u32 da = device_buffer("da", 16), db = device_buffer("db", 16), out = host_buffer("out", 16);
  for (const auto& [kind, expected] :
       {std::pair{task::ReduceAsync::Kind::ADD, std::vector<float>{1.75f, 0, 7, 2e30f}},
        std::pair{task::ReduceAsync::Kind::MAX, std::vector<float>{1.5f, 2, 4, 1e30f}},
        std::pair{task::ReduceAsync::Kind::MIN, std::vector<float>{0.25f, -2, 3, 1e30f}}}) {
    stream_.streams.clear();
    add(copy(da, a, 16), copy(db, b, 16),
        task::ReduceAsync{.dst = {.buffer = da}, .src = {.buffer = db}, .bytes = 16, .kind = kind}, copy(out, da, 16));
    run();
    EXPECT_EQ(values<float>(host_, out), expected);
    EXPECT_EQ(functional(), host_);
    EXPECT_EQ(of("s0.2").end - of("s0.2").start, 1u + 200);  // 48 bytes at 512 B a cycle, latency of the memory
    EXPECT_EQ(of("s0.2").kind, "REDUCE_ASYNC");
  }
}

TEST_F(Runtime, AValueIsWrittenInTheOrderOfItsStream) {
  const u32 d = device_buffer("d", 24), out = host_buffer("out", 24);
  add(task::MemsetAsync{.dst = {.buffer = d}, .bytes = 24, .value = 0xff},
      task::ValueWrite{.dst = {.buffer = d, .offset = 8}, .value = 0x0123456789abcdef}, copy(out, d, 24));
  run();
  EXPECT_EQ(values<u64>(host_, out), (std::vector<u64>{~u64{0}, 0x0123456789abcdef, ~u64{0}}));
  EXPECT_EQ(functional(), host_);
  EXPECT_EQ(of("s0.1").end - of("s0.1").start, 200u);  // the latency of the memory
  EXPECT_EQ(of("s0.1").kind, "VALUE_WRITE");
  EXPECT_EQ(of("s0.1").bytes, 8u);
}

TEST_F(Runtime, AValueMaySteerStreamsWithoutData) {
  const u32 flag = device_buffer("flag", 8), zero = device_buffer("zero", 8);
  stream_.models = {"m"};
  add(task::ValueWrite{.dst = {.buffer = flag}, .value = 1}, task::ValueWrite{.dst = {.buffer = zero}},
      task::ModelExecute{.model = 0});
  add_bound(0, true,
            task::StreamSwitch{.value = {.buffer = flag},
                               .target = {.buffer = zero},
                               .cond = task::Condition::GREATER,
                               .bytes = 8,
                               .true_stream = 2});
  add_bound(0, false, launch(10));
  with_data_ = false;
  run();
  EXPECT_EQ(records_.count("s2.0"), 1u);
}

TEST_F(Runtime, AicpuThreadsWorkBesideTheCores) {
  chip_.aicpu = {.threads = 2, .dispatch = cycles(10), .bandwidth = config::BytesPerSecond(1e9)};
  const u32 x = device_buffer("x", 100), y = device_buffer("y", 100);
  const auto assign = [&](u32 blocks) {
    return task::CpuKernelLaunch{.kernel = "Assign",
                                 .block_dim = blocks,
                                 .args = {task::Slice{.buffer = x}, task::Slice{.buffer = y}, u64{100}, u64{2}}};
  };
  add(assign(1));
  add(launch(100));
  add(assign(1));
  add(assign(1));
  run();
  EXPECT_EQ(end_of("s0.0"), 210u);  // 100 bytes read and 100 written
  EXPECT_EQ(end_of("s1.0"), 100u);
  EXPECT_EQ(end_of("s2.0"), 210u);
  EXPECT_EQ(of("s3.0").start, 210u);
  EXPECT_EQ(end_of("s3.0"), 420u);
  EXPECT_EQ(of("s0.0").kind, "KERNEL_AICPU");
  stream_.streams.clear();
  add(assign(4));  // a quarter of the work each, two at once
  run();
  EXPECT_EQ(end_of("s0.0"), 2u * (10 + 50));
}

TEST_F(Runtime, DevicesHaveCoresEnginesAndALinkBetweenThem) {
  chip_.links = {.devices_per_node = 2,
                 .hccs_bandwidth = config::BytesPerSecond(16e9),
                 .hccs_latency = cycles(30),
                 .roce_bandwidth = config::BytesPerSecond(4e9),
                 .roce_latency = cycles(50)};
  stream_.devices = 4;
  const u32 h = host_values<u8>("h", std::vector<u8>(1600, 7)), out = host_buffer("out", 1600);
  const u32 d0 = device_buffer("d0", 1600, 0), d1 = device_buffer("d1", 1600, 1), d3 = device_buffer("d3", 1600, 3);
  add(copy(d0, h, 1600), copy(d1, d0, 1600), copy(d3, d0, 1600));
  stream_.events = {"e"};
  const u32 other = add(launch(25));
  stream_.streams[other].device = 1;
  add(launch(25));
  stream_.streams[0].tasks.push_back({.name = "s0.3", .op = task::EventRecord{.event = 0}});
  const u32 back = add(task::StreamWaitEvent{.event = 0}, copy(out, d3, 1600));
  stream_.streams[back].device = 3;
  run();
  EXPECT_EQ(end_of("s0.0"), 200u);
  EXPECT_EQ(end_of("s0.1"), 200u + 100 + 30);
  EXPECT_EQ(end_of("s0.2"), 330u + 400 + 50);
  EXPECT_EQ(end_of("s1.0"), 25u);  // both kernels at once: each device has its core
  EXPECT_EQ(end_of("s2.0"), 25u);
  EXPECT_EQ(of("s1.0").device, 1u);
  EXPECT_EQ(values<u8>(host_, out), std::vector<u8>(1600, 7));
  EXPECT_EQ(functional(), host_);
  EXPECT_EQ(result_.stats["npu0"]["device"]["d2d_bytes"], 3200u);
  EXPECT_EQ(result_.stats["npu3"]["device"]["d2h_bytes"], 1600u);
}

// What the checker knows of the order that the host makes.
TEST_F(Runtime, TheCheckerKnowsWhatTheHostOrders) {
  const u32 h = host_buffer("h"), d = device_buffer("d"), out = host_buffer("out");
  stream_.events = {"e"};
  const u32 in = add(copy(d, h, 64), task::EventRecord{.event = 0});
  const u32 back = add(copy(out, d, 64));
  stream_.host.semaphores = {{.name = "there"}};
  const std::vector<task::HostStep> wait_and_copy{HostWait{0}, HostEnqueue{.stream = back}};
  const auto program = [&](std::vector<task::HostStep> one, std::vector<task::HostStep> two) {
    stream_.host.threads.clear();
    thread("one", std::move(one));
    thread("two", std::move(two));
    for (const bool timed : {true, false}) {
      task::RunMemory memory(stream_, true);
      isa::check::Checker checker(memory.gm());
      if (timed) {
        models::simulate(chip_, stream_, memory, {.checker = &checker});
      } else {
        models::run_functional(chip_, stream_, memory, {.max_cycles = 1000, .checker = &checker});
      }
      if (!checker.findings().sorted().empty()) return false;
    }
    return true;
  };
  EXPECT_TRUE(program({HostEnqueue{.stream = in}, SynchronizeStream{in}, HostPost{0}}, wait_and_copy));
  EXPECT_TRUE(program({HostEnqueue{.stream = in}, SynchronizeEvent{0}, HostPost{0}}, wait_and_copy));
  EXPECT_TRUE(program({HostEnqueue{.stream = in}, SynchronizeDevice{0}, HostEnqueue{.stream = back}}, {}));
  EXPECT_FALSE(program({HostEnqueue{.stream = in}, HostPost{0}}, wait_and_copy));
  EXPECT_FALSE(program({HostEnqueue{.stream = in}}, {HostEnqueue{.stream = back}}));
}

// Without a host program one thread hands over everything, and a copy of pageable memory keeps it.
TEST_F(Runtime, TheCheckerKnowsThatPageableCopiesOrderWhatFollows) {
  const u32 h = host_buffer("h"), x = device_buffer("x"), y = device_buffer("y");
  add(copy(x, h, 64));
  add(task::MemsetAsync{.dst = {.buffer = y}, .bytes = 64}, copy(y, x, 64));
  const auto findings = [&] {
    task::RunMemory memory(stream_, true);
    isa::check::Checker checker(memory.gm());
    models::simulate(chip_, stream_, memory, {.checker = &checker});
    return checker.findings().sorted().size();
  };
  EXPECT_EQ(findings(), 1u);
  stream_.buffers[h].pageable = true;
  EXPECT_EQ(findings(), 0u);
}

// Executed tasks are not held, and no step walks all streams.
TEST_F(Runtime, MillionsOfTasksTakeNoMemory) {
  const u32 s = add(launch(10));
  thread("t", {HostRepeat{.times = 1'000'000, .length = 1}, HostEnqueue{.stream = s}});
  task::RunMemory memory(stream_, false);
  result_ = models::simulate(chip_, stream_, memory, {});
  EXPECT_EQ(result_.cycles, 10'000'000u);
  EXPECT_EQ(result_.task_count, 1'000'000u);
  EXPECT_EQ(result_.tasks.size(), models::Result::kTasksKept);
}

TEST_F(Runtime, ThirtyTwoThousandStreams) {
  chip_.limits.streams = 32'768;
  const task::KernelLaunch kernel = launch(10);
  for (u32 s = 0; s < 32'768; ++s)
    add(kernel);
  task::RunMemory memory(stream_, false);
  result_ = models::simulate(chip_, stream_, memory, {});
  EXPECT_EQ(result_.cycles, 327'680u);
}

}  // namespace
}  // namespace vinci::test
