// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/deferred/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <vector>

namespace vinci::models {
namespace {

// Adds to its own sum, so that the test sees a job that runs twice, not at all, or on two threads at once.
struct Sum final : ThreadPool::Job {
  void run(u32 /*thread*/) override {
    const u64 before = sum;
    for (u32 i = 0; i < 1000; ++i)
      noise = noise * 6364136223846793005u + 1;
    sum = before + next;
  }
  u64 sum = 0, next = 0, noise = 1;
};

class ThreadPoolOf : public testing::TestWithParam<u32> {};

TEST_P(ThreadPoolOf, EveryJobRunsOnceForEachPost) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.has_helpers(), GetParam() > 0);
  std::vector<Sum> jobs(7);
  u64 expected = 0;
  for (u64 round = 1; round <= 500; ++round) {
    expected += round;
    for (Sum& job : jobs) {
      job.next = round;
      pool.post(job);
    }
    for (usize i = jobs.size(); i-- > 0;) {
      pool.finish(jobs[i]);
      ASSERT_TRUE(ThreadPool::idle(jobs[i]));
      ASSERT_EQ(jobs[i].sum, expected) << round;
    }
  }
}

TEST_P(ThreadPoolOf, FinishOfAnIdleJobReturns) {
  ThreadPool pool(GetParam());
  Sum job;
  pool.finish(job);
  EXPECT_EQ(job.sum, 0u);
}

INSTANTIATE_TEST_SUITE_P(Helpers, ThreadPoolOf, testing::Values(0, 1, 3));

TEST(ThreadPool, EndsWithHelpersThatWait) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(2);
    Sum job;
    job.next = 1;
    pool.post(job);
    pool.finish(job);
    EXPECT_EQ(job.sum, 1u);
  }
}

#if !defined(VINCI_SANITIZED)  // whose memory has no room there either
// In a process whose address space has no room for the stacks. Ends it with 0 if all jobs were done.
[[noreturn]] void run_jobs_without_threads() {
  const rlimit few{.rlim_cur = 64 << 20, .rlim_max = 64 << 20};
  ::setrlimit(RLIMIT_AS, &few);
  ThreadPool pool(1000);
  std::vector<Sum> jobs(5);
  for (Sum& job : jobs) {
    job.next = 1;
    pool.post(job);
  }
  bool done = pool.missing() > 0 && pool.missing() <= 1000;
  for (Sum& job : jobs) {
    pool.finish(job);
    done = done && job.sum == 1;
  }
  ::_exit(done ? 0 : 1);
}

TEST(ThreadPool, DoesItsJobsWithoutThreadsThatCannotStart) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(run_jobs_without_threads(), testing::ExitedWithCode(0), "");
}
#endif

// A job of many pieces, each of which is done by some thread.
struct Shared final : ThreadPool::Job {
  Shared(ThreadPool& c, u32 pieces) : pool(c), done(pieces) {}
  void run(u32 thread) override {
    pool.share(*this);
    help(thread);
  }
  void help(u32 thread) override {
    for (u32 i = next++; i < done.size(); i = next++)
      done[i] += thread < pool.threads() ? 1 : 100;
  }
  ThreadPool& pool;
  std::vector<u32> done;
  std::atomic<u32> next = 0;
};

TEST_P(ThreadPoolOf, SharedJobsAreDoneWhenTheyAreIdle) {
  ThreadPool pool(GetParam());
  for (u32 round = 0; round < 200; ++round) {
    Shared one(pool, 50), other(pool, round);
    Sum third;
    third.next = 5;
    pool.post(one);
    pool.post(other);
    pool.post(third);
    for (ThreadPool::Job* job : {static_cast<ThreadPool::Job*>(&other), static_cast<ThreadPool::Job*>(&third),
                                 static_cast<ThreadPool::Job*>(&one)})
      pool.finish(*job);
    ASSERT_EQ(one.done, std::vector<u32>(50, 1));
    ASSERT_EQ(other.done, std::vector<u32>(round, 1));
    ASSERT_EQ(third.sum, 5u);
  }
}

}  // namespace
}  // namespace vinci::models
