// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/task/load.h"
#include "tests/check/checked_run.h"
#include "tests/support/timed_run.h"

// Tasks whose order decides where a run goes: what the checker says does not depend on the schedule.
namespace vinci::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

task::TaskStream parse(const std::string& yaml) {
  return task::parse_task_stream(std::as_bytes(std::span(yaml)), "t.yaml", task::MemoryFiles());
}

// "unordered-notify t.yaml:7 t.yaml:9": id and places. The same in each mode.
std::vector<std::string> found(const std::string& yaml) {
  const std::string whole = "vinci: 1\nname: t\narch: c100\n" + yaml;
  std::vector<std::string> first;
  std::string first_text;
  for (const Mode mode : {Mode::functional, Mode::full, Mode::timing}) {
    const Checked c = check(round_chip(isa::Arch::c100), parse(whole), mode);
    std::vector<std::string> out;
    for (const auto& f : c.findings) {
      out.push_back(fmt::format("{} {} {}", name(f.id), f.other ? f.other->place : "-", f.at.place));
    }
    if (mode == Mode::functional) {
      first = out;
      first_text = c.text();
    }
    EXPECT_EQ(out, first) << c.text() << "\nis not\n" << first_text;
  }
  return first;
}

const std::string kTwoDevices = R"(devices: 2
buffers:
  a: {place: device, bytes: 64}
  b: {place: device, bytes: 64, device: 1}
kernels: {k: {time: 100us}}
)";
const std::string kSum = "    - hccl: {op: all_reduce, send: a, recv: a, count: 4, dtype: i4}\n";
const std::string kFarSum = "    - hccl: {op: all_reduce, send: b, recv: b, count: 4, dtype: i4}\n";
const std::string kSetBoth = R"(  set:
    - memset_async: {dst: a, value: 1}
    - event_record: set_a
  far_set:
    device: 1
    tasks:
    - memset_async: {dst: b, value: 1}
    - event_record: set_b
)";

TEST(TaskOrder, CollectivesOfTwoStreamsOfADevice) {
  const std::string far = "  far:\n    device: 1\n    tasks:\n    - stream_wait_event: set_b\n" + kFarSum + kFarSum;
  const std::string one = "  one:\n    - stream_wait_event: set_a\n" + kSum;
  EXPECT_THAT(
      found(kTwoDevices + "streams:\n" + kSetBoth + one + "  two:\n    - stream_wait_event: set_a\n" + kSum + far),
      ElementsAre("task-overlap t.yaml:20 t.yaml:23", "unordered-collective t.yaml:20 t.yaml:23"));
  // Ordered by an event, on the one device and on the other.
  EXPECT_THAT(found(kTwoDevices + "streams:\n" + kSetBoth + one + "    - event_record: e\n  two:\n" +
                    "    - stream_wait_event: e\n" + kSum + far),
              IsEmpty());
}

// Only the order of arrival counts: that ranks meet orders nothing on their own device.
TEST(TaskOrder, CollectivesOrderedOnTheOtherDeviceOnly) {
  const std::string streams = R"(devices: 2
buffers:
  a: {place: device, bytes: 64}
  a2: {place: device, bytes: 64}
  b: {place: device, bytes: 64, device: 1}
streams:
  set:
    - memset_async: {dst: a, value: 1}
    - memset_async: {dst: a2, value: 1}
    - event_record: set_a
  one:
    - stream_wait_event: set_a
    - hccl: {op: all_reduce, send: a, recv: a, count: 4, dtype: i4}
  two:
    - stream_wait_event: set_a
    - hccl: {op: all_reduce, send: a2, recv: a2, count: 4, dtype: i4}
  far:
    device: 1
    tasks:
    - memset_async: {dst: b, value: 1}
    - hccl: {op: all_reduce, send: b, recv: b, count: 4, dtype: i4}
    - hccl: {op: all_reduce, send: b, recv: b, count: 4, dtype: i4}
)";
  EXPECT_THAT(found(streams), ElementsAre("unordered-collective t.yaml:16 t.yaml:19"));
}

TEST(TaskOrder, AnEventThatIsResetWhileOthersUseIt) {
  // Without the reset the wait passes always; with it, whether the wait comes first depends on the kernel's time.
  for (const char* time : {"1us", "900us"}) {
    EXPECT_THAT(found(fmt::format(R"(kernels: {{short: {{time: 100us}}, other: {{time: {}}}}}
streams:
  a:
    - event_record: e
    - kernel_launch: {{kernel: short}}
    - event_reset: e
  b:
    - kernel_launch: {{kernel: other}}
    - stream_wait_event: e
)",
                                  time)),
                ElementsAre("unordered-event-reset t.yaml:9 t.yaml:12"))
        << time;
  }
}

TEST(TaskOrder, AnEventThatIsResetWhenAllHavePassed) {
  EXPECT_THAT(found(R"(kernels: {k: {time: 10us}}
streams:
  a:
    - event_record: e
    - stream_wait_event: passed
    - event_reset: e
    - event_record: e2
  b:
    - kernel_launch: {kernel: k}
    - stream_wait_event: e
    - event_record: passed
)"),
              IsEmpty());
  // A reset before the first record does not affect streams that wait for that record.
  EXPECT_THAT(found("streams:\n  a:\n    - event_reset: e\n    - event_record: e\n  b:\n    - stream_wait_event: e\n"),
              IsEmpty());
}

TEST(TaskOrder, AResetThatMayTakeARecordBack) {
  EXPECT_THAT(found("streams:\n  a:\n    - event_record: e\n  b:\n    - event_reset: e\n"),
              ElementsAre("unordered-event-reset t.yaml:6 t.yaml:8"));
}

// Each turn of a loop waits for the reset of the turn before, or does not.
std::string loop(bool ordered) {
  std::string a = "    - event_record: e\n", b = "    - stream_wait_event: e\n    - event_reset: e\n";
  if (ordered) {
    a += "    - stream_wait_event: back\n    - event_reset: back\n    - event_record: again\n";
    b += "    - event_record: back\n    - stream_wait_event: again\n    - event_reset: again\n";
  }
  // `again` is reset before `back` is recorded next, which is before `again` is recorded next.
  return "streams:\n  a:\n" + a + "  b:\n" + b + R"(host:
  threads:
    one: [{repeat: {times: 5, steps: [{enqueue: a}]}}]
    two: [{repeat: {times: 5, steps: [{enqueue: b}]}}]
)";
}

TEST(TaskOrder, EventsInLoops) {
  EXPECT_THAT(found(loop(true)), IsEmpty());
  EXPECT_THAT(found(loop(false)), ElementsAre("unordered-event-reset t.yaml:6 t.yaml:9"));
}

TEST(TaskOrder, AHostThreadWaitsForAnEventThatIsReset) {
  const std::string streams = "streams:\n  a:\n    - event_record: e\n  b:\n    - event_reset: e\nhost:\n  threads:\n";
  EXPECT_THAT(found(streams + "    one: [{enqueue: a}, {synchronize_event: e}, {enqueue: b}]\n"), IsEmpty());
  EXPECT_THAT(found(streams + "    one: [{enqueue: a}, {synchronize_stream: a}, {enqueue: b}]\n" +
                    "    two: [{compute: {time: 1us}}, {synchronize_event: e}]\n"),
              ElementsAre("unordered-event-reset t.yaml:8 "));
}

TEST(TaskOrder, NotifiesBetweenTwoStreams) {
  // Back and forth.
  EXPECT_THAT(found(R"(kernels: {k: {time: 10us}}
streams:
  a: [{notify_record: n}, {notify_wait: m}, {notify_record: n}, {notify_wait: m}]
  b: [{notify_wait: n}, {kernel_launch: {kernel: k}}, {notify_record: m}, {notify_wait: n}, {notify_record: m}]
)"),
              IsEmpty());
  // A second record that may come before the first wait is lost then.
  EXPECT_THAT(found(R"(kernels: {k: {time: 10us}}
streams:
  a:
    - notify_record: n
    - kernel_launch: {kernel: k}
    - notify_record: n
  b:
    - notify_wait: n
    - notify_wait: n
)"),
              ElementsAre("unordered-notify t.yaml:9 t.yaml:11"));
  // One record, and two that wait for it.
  EXPECT_THAT(found(R"(streams:
  a:
    - notify_record: n
  b:
    - notify_wait: n
    - notify_record: n
  c:
    - notify_wait: n
)"),
              ElementsAre("unordered-notify t.yaml:8 t.yaml:11"));
}

// What the host hands over later orders nothing that a stream does before.
TEST(TaskOrder, TasksComeAfterWhatTheHostKnewAtTheirOwnCall) {
  EXPECT_THAT(found(R"(buffers: {x: {place: device, bytes: 64}}
kernels: {k: {time: 500us}}
streams:
  a:
    - kernel_launch: {kernel: k}
    - memset_async: {dst: x, value: 1}
    - kernel_launch: {kernel: k}
  b:
    - memset_async: {dst: x, value: 2}
host:
  threads:
    one:
      - enqueue: {stream: a, first: 0, count: 2}
      - enqueue: b
      - synchronize_stream: b
      - enqueue: {stream: a, first: 2, count: 1}
)"),
              ElementsAre("task-overlap t.yaml:9 t.yaml:12"));
}

}  // namespace
}  // namespace vinci::test
