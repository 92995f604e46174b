// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/threads/crew.h"

#include <gtest/gtest.h>

#include <vector>

namespace vinci::sim {
namespace {

// Adds to its own sum, so that a job that runs twice, not at all or beside itself is seen.
struct Sum final : Crew::Job {
  void run() override {
    const u64 before = sum;
    for (u32 i = 0; i < 1000; ++i)
      noise = noise * 6364136223846793005u + 1;
    sum = before + next;
  }
  u64 sum = 0, next = 0, noise = 1;
};

class CrewOf : public testing::TestWithParam<u32> {};

TEST_P(CrewOf, EveryJobRunsOnceForEachPost) {
  Crew crew(GetParam());
  EXPECT_EQ(crew.has_helpers(), GetParam() > 0);
  std::vector<Sum> jobs(7);
  u64 expected = 0;
  for (u64 round = 1; round <= 500; ++round) {
    expected += round;
    for (Sum& job : jobs) {
      job.next = round;
      crew.post(job);
    }
    for (usize i = jobs.size(); i-- > 0;) {
      crew.finish(jobs[i]);
      ASSERT_TRUE(crew.idle(jobs[i]));
      ASSERT_EQ(jobs[i].sum, expected) << round;
    }
  }
}

TEST_P(CrewOf, FinishOfAnIdleJobReturns) {
  Crew crew(GetParam());
  Sum job;
  crew.finish(job);
  EXPECT_EQ(job.sum, 0u);
}

INSTANTIATE_TEST_SUITE_P(Helpers, CrewOf, testing::Values(0, 1, 3));

TEST(Crew, EndsWithHelpersThatWait) {
  for (int i = 0; i < 50; ++i) {
    Crew crew(2);
    Sum job;
    job.next = 1;
    crew.post(job);
    crew.finish(job);
    EXPECT_EQ(job.sum, 1u);
  }
}

}  // namespace
}  // namespace vinci::sim
