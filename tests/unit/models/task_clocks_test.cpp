// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The happens-before relation of tasks.
#include "models/check/task_clocks.h"

#include <gtest/gtest.h>

namespace vinci::models {
namespace {

class TaskClocksTest : public testing::Test {
 protected:
  // The next task of a stream, which begins at once.
  u32 task(u32 stream) {
    clocks_.reach(stream);
    clocks_.begin(tasks_);
    return tasks_++;
  }

  TaskClocks clocks_;
  u32 tasks_ = 0;
};

TEST_F(TaskClocksTest, TasksOfOneStreamAreOrdered) {
  const u32 first = task(0), second = task(0);
  EXPECT_TRUE(clocks_.happens_before(first, second));
  EXPECT_FALSE(clocks_.happens_before(second, first));
}

TEST_F(TaskClocksTest, TasksOfTwoStreamsAreNot) {
  const u32 a = task(0), b = task(1);
  EXPECT_FALSE(clocks_.happens_before(a, b));
  EXPECT_FALSE(clocks_.happens_before(b, a));
}

TEST_F(TaskClocksTest, AReleasedTimeOrdersWhatFollowsItsAcquisition) {
  const u32 released = task(0);
  const TaskClocks::Time time = clocks_.release(0);
  const u32 later = task(0), before = task(1);
  clocks_.acquire(1, time);
  const u32 after = task(1);
  EXPECT_TRUE(clocks_.happens_before(released, after));
  EXPECT_FALSE(clocks_.happens_before(released, before));
  EXPECT_FALSE(clocks_.happens_before(later, after));
}

TEST_F(TaskClocksTest, TheOrderIsTransitive) {
  const u32 a = task(0);
  clocks_.acquire(1, clocks_.release(0));
  const u32 b = task(1);
  clocks_.acquire(2, clocks_.release(1));
  const u32 c = task(2);
  EXPECT_TRUE(clocks_.happens_before(a, b));
  EXPECT_TRUE(clocks_.happens_before(b, c));
  EXPECT_TRUE(clocks_.happens_before(a, c));
}

// A task that has to wait is reached first; what its wait acquires is not part of its own time.
TEST_F(TaskClocksTest, ATaskThatIsReachedHasTheTimeOfThatMoment) {
  const u32 a = task(0);
  clocks_.reach(1);
  const u32 waits = tasks_++;
  clocks_.acquire(1, clocks_.release(0));
  clocks_.begin(waits);
  const u32 next = task(1);
  EXPECT_FALSE(clocks_.happens_before(a, waits));
  EXPECT_TRUE(clocks_.happens_before(a, next));
}

TEST_F(TaskClocksTest, AnEnqueuedTaskHasTheTimeOfItsHostThread) {
  constexpr u32 kHost = 0, kOther = 1, kStream = 2;
  const u32 synchronized = task(kOther);
  clocks_.enqueue(kStream, kHost);
  clocks_.acquire(kHost, clocks_.release(kOther));
  task(kHost);
  clocks_.enqueue(kStream, kHost);
  clocks_.dequeue(kStream);
  const u32 first = task(kStream);
  clocks_.dequeue(kStream);
  const u32 second = task(kStream);
  EXPECT_FALSE(clocks_.happens_before(synchronized, first));
  EXPECT_TRUE(clocks_.happens_before(synchronized, second));
}

}  // namespace
}  // namespace vinci::models
