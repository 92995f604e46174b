// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Limits of the chip, what the runtime refuses, and what a deadlock report says.
#include "tests/unit/models/runtime_fixture.h"

namespace vinci::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RuntimeErrors : public Runtime {
 protected:
  std::string fault() {
    const std::string timed = fault_of([&] { run(); });
    const std::string untimed = fault_of([&] { functional(); });
    EXPECT_EQ(timed.substr(0, timed.find(':')), untimed.substr(0, untimed.find(':'))) << untimed;
    return timed;
  }
};

TEST_F(RuntimeErrors, LimitsOfTheChip) {
  stream_.events = {"a", "b"};
  add(task::EventRecord{.event = 0}, task::EventRecord{.event = 1});
  add(launch(1));
  chip_.limits.streams = 1;
  EXPECT_EQ(fault(), "limit: the task stream needs 2 streams, but round has 1 (limits.streams)");
  chip_.limits.streams = 2;
  chip_.limits.events = 1;
  EXPECT_EQ(fault(), "limit: the task stream needs 2 events, but round has 1 (limits.events)");
  stream_.devices = 2;
  stream_.streams[0].device = 1;
  EXPECT_EQ(fault(), "limit: the task stream needs 2 events on device 1, but round has 1 (limits.events)");
  chip_.limits.events = 2;
  EXPECT_EQ(fault(), "");
}

TEST_F(RuntimeErrors, AStreamOfAModelFitsAQueue) {
  stream_.models = {"m"};
  chip_.limits.stream_depth = 2;
  add(task::ModelExecute{.model = 0});
  add_bound(0, true, launch(1), launch(1), launch(1));
  EXPECT_EQ(fault(),
            "limit: stream 's1' of model 'm' has 3 tasks, but a stream of round holds 2 (limits.stream_depth)");
}

TEST_F(RuntimeErrors, WithoutDataTheFloatStatusCannotSteerStreams) {
  const u32 status = device_buffer("status"), zero = device_buffer("zero");
  stream_.models = {"m"};
  add(task::ModelExecute{.model = 0});
  add_bound(0, true, task::NpuGetFloatStatus{.dst = {.buffer = status}},
            task::StreamSwitch{.value = {.buffer = status}, .target = {.buffer = zero}, .true_stream = 2});
  add_bound(0, false, launch(1));
  EXPECT_EQ(fault(), "");
  with_data_ = false;
  EXPECT_THAT(fault_of([&] { run(); }), HasSubstr("without data, npu_get_float_status cannot touch buffer 'status'"));
}

TEST_F(RuntimeErrors, AnEventThatNothingRecords) {
  stream_.events = {"e"};
  add(task::StreamWaitEvent{.event = 0});
  EXPECT_THAT(fault(),
              HasSubstr("streams or host threads wait for what never comes:\n  stream 's0' "
                        "waits in task 's0.0' (streams[0].tasks[0]) for event 'e'; no task that is left records it"));
}

TEST_F(RuntimeErrors, ACircle) {
  stream_.events = {"e", "f"};
  add(task::StreamWaitEvent{.event = 0}, task::EventRecord{.event = 1});
  add(task::StreamWaitEvent{.event = 1}, task::EventRecord{.event = 0});
  EXPECT_THAT(
      fault(),
      AllOf(
          HasSubstr(": streams wait for each other:\n"),
          HasSubstr(
              "for event 'e'; task 's1.1' of stream 's1' (streams[1].tasks[1]) records it, and that stream waits too"),
          HasSubstr("circular wait of streams: s0 -> s1 -> s0")));
}

TEST_F(RuntimeErrors, AQueueThatStaysFull) {
  stream_.notifies = {"n"};
  chip_.limits.stream_depth = 2;
  add(task::NotifyWait{.notify = 0}, launch(1), launch(1));
  add(launch(1), launch(1), launch(1), task::NotifyRecord{.notify = 0});
  EXPECT_THAT(
      fault(),
      AllOf(HasSubstr("deadlock"),
            HasSubstr("for notify 'n'; task 's1.3' of stream 's1' (streams[1].tasks[3]) records it, which the host has "
                      "not enqueued"),
            HasSubstr("host thread 'enqueue' waits for room in the queue of stream 's0' to enqueue task 's0.2'")));
}

TEST_F(RuntimeErrors, HostThreadsThatWait) {
  const u32 s = add(launch(1));
  stream_.events = {"e"};
  stream_.host.semaphores = {{.name = "ready"}};
  thread("a", {task::HostWait{0}, task::HostEnqueue{.stream = s}});
  thread("b", {task::SynchronizeEvent{0}});
  EXPECT_THAT(fault(),
              AllOf(HasSubstr("host thread 'a' waits for semaphore 'ready', which no host thread posts any more "
                              "(host.threads[0].steps[0])"),
                    HasSubstr("host thread 'b' waits in synchronize_event for event 'e' "
                              "(host.threads[1].steps[0])")));
}

TEST_F(RuntimeErrors, AHostThreadThatWouldPost) {
  stream_.host.semaphores = {{.name = "x"}, {.name = "y"}};
  thread("a", {task::HostWait{0}, task::HostPost{1}});
  thread("b", {task::HostWait{1}, task::HostPost{0}});
  stream_.places.file = "s.yaml";
  stream_.places.steps = {{11, 12}, {14, 15}};
  EXPECT_THAT(fault(),
              AllOf(HasSubstr("host thread 'a' waits for semaphore 'x', which host thread 'b' posts (s.yaml:15) "
                              "when it gets there (s.yaml:11)"),
                    HasSubstr("host thread 'b' waits for semaphore 'y', which host thread 'a' posts (s.yaml:12) "
                              "when it gets there (s.yaml:14)")));
}

TEST_F(RuntimeErrors, AHostThreadThatSpins) {
  stream_.host.semaphores = {{.name = "s"}};
  thread("a", {task::HostRepeat{.times = ~u64{0}, .length = 1}, task::HostPost{0}});
  EXPECT_THAT(fault(), HasSubstr("limit: host thread 'a' made 100000000 steps that take no time"));
}

TEST_F(RuntimeErrors, AModelThatIsStuck) {
  stream_.models = {"m"};
  stream_.notifies = {"n"};
  add(task::ModelExecute{.model = 0});
  add_bound(0, true, task::NotifyWait{.notify = 0});
  add_bound(0, false, task::NotifyRecord{.notify = 0});
  EXPECT_THAT(fault(), AllOf(HasSubstr("stream 's0' waits in task 's0.0' (streams[0].tasks[0]) for model 'm'"),
                             HasSubstr("task 's2.0' of stream 's2' (streams[2].tasks[0]) records it, but that stream "
                                       "of model 'm' is not active")));
}

TEST_F(RuntimeErrors, AThirdActivation) {
  stream_.models = {"m"};
  add(task::ModelExecute{.model = 0});
  add_bound(0, true, launch(100));
  add_bound(0, true, task::StreamActive{.stream = 1}, task::StreamActive{.stream = 1});
  EXPECT_THAT(fault_of([&] { run(); }),
              HasSubstr("program: streams[2].tasks[1]: stream 's1' is activated a third time"));
}

TEST_F(RuntimeErrors, AicpuArguments) {
  const u32 d = device_buffer("d", 8);
  const auto call = [&](std::string kernel, std::vector<task::Arg> args, double seconds = 0) {
    stream_.streams.clear();
    add(task::CpuKernelLaunch{.kernel = std::move(kernel), .args = std::move(args), .seconds = seconds});
    return fault();
  };
  const task::Slice at{.buffer = d};
  EXPECT_THAT(
      call("AssignAd", {}),
      HasSubstr("unsupported: streams[0].tasks[0]: the AICPU has no function 'AssignAd'; it has Opaque, "
                "Assign, AssignAdd, Cast, Dropout, "
                "ExtractImagePatches, MapIndex, ROIAlign, Compress, NonMaxSuppression, NonZero, Unique; did you mean "
                "'AssignAdd'?\n  task 's0.0', stream 's0'"));
  EXPECT_THAT(call("Assign", {at}),
              HasSubstr("input: streams[0].tasks[0]: Assign takes 4 arguments (ref, value, count, dtype), not 1"));
  EXPECT_THAT(call("Assign", {at, at, u64{1}, u64{5}}), HasSubstr("Assign: argument 3 (dtype) is no type"));
  EXPECT_THAT(call("Assign", {u64{0}, at, u64{1}, u64{0}}), HasSubstr("argument 0 (ref) must be a device buffer"));
  EXPECT_THAT(call("Assign", {at, at, at, u64{0}}), HasSubstr("argument 2 (count) must be a number"));
  EXPECT_THAT(call("Assign", {at, at, u64{3}, u64{0}}),
              HasSubstr("argument 0 (ref) reaches 12 bytes from offset 0, but buffer 'd' has 8"));
  EXPECT_THAT(call("Assign", {at, at, ~u64{0}, u64{9}}), HasSubstr("more than 2^48 bytes"));
  EXPECT_THAT(call("Opaque", {}), HasSubstr("input: streams[0].tasks[0]: Opaque needs a time"));
  EXPECT_EQ(call("Opaque", {at, u64{7}}, 1e-6), "");
}

}  // namespace
}  // namespace vinci::test
