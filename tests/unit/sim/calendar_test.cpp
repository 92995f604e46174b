// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/kernel/calendar.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace vinci::test {
namespace {

using sim::Calendar;

// Takes the first entry of all; null when the calendar is empty.
Calendar::Entry* take_first(Calendar& calendar, u64& cycle) {
  cycle = calendar.first();
  if (cycle == Calendar::kNever) return nullptr;
  EXPECT_LE(calendar.bound(), cycle);
  calendar.go_to(cycle);
  return calendar.take(cycle);
}

TEST(Calendar, EntriesOfOneCycleKeepTheOrderOfInsertionAtAnyDistance) {
  for (const u64 due : {u64{5}, u64{1023}, u64{1024}, u64{70'000}, u64{400'000}, u64{1} << 33, u64{1} << 62}) {
    Calendar calendar;
    std::vector<Calendar::Entry> entries(6);
    Calendar::Entry* const far = &entries[5];
    // 0 and 1 are inserted from afar, 2 from the window before, 3 and 4 from the window itself.
    calendar.insert(entries[0], due);
    calendar.insert(*far, due + 1);
    calendar.insert(entries[1], due);
    calendar.insert(entries[4], due - 1);
    if (due > 2048) {
      u64 at = 0;
      calendar.insert(entries[2], due - 1500);
      ASSERT_EQ(take_first(calendar, at), &entries[2]) << due;
      ASSERT_EQ(at, due - 1500);
    }
    calendar.insert(entries[2], due);
    u64 at = 0;
    ASSERT_EQ(take_first(calendar, at), &entries[4]) << due;
    calendar.insert(entries[3], due);
    calendar.insert(entries[4], due);
    for (usize i = 0; i < 5; ++i) {
      EXPECT_EQ(take_first(calendar, at), &entries[i]) << due << " " << i;
      EXPECT_EQ(at, due);
      EXPECT_EQ(entries[i].due(), Calendar::kNever);
    }
    EXPECT_EQ(take_first(calendar, at), far);
    EXPECT_TRUE(calendar.empty());
  }
}

TEST(Calendar, AnEntryCanGoBeforeThoseOfItsCycle) {
  for (const u64 due : {u64{5}, u64{400'000}}) {
    Calendar calendar;
    std::vector<Calendar::Entry> entries(4);
    calendar.insert(entries[1], due);
    calendar.insert(entries[2], due);
    calendar.insert_first(entries[0], due);
    calendar.insert(entries[3], due);
    for (Calendar::Entry& entry : entries) {
      u64 at = 0;
      EXPECT_EQ(take_first(calendar, at), &entry) << due;
      EXPECT_EQ(at, due);
    }
  }
}

TEST(Calendar, TheBoundIsNeverLateAndTheFirstIsExactAfterARemoval) {
  Calendar calendar;
  Calendar::Entry a, b;
  EXPECT_EQ(calendar.bound(), Calendar::kNever);
  EXPECT_EQ(calendar.first(), Calendar::kNever);
  calendar.insert(a, 66'000);
  calendar.insert(b, 66'500);
  EXPECT_EQ(calendar.bound(), 66'000u);
  calendar.remove(a);
  EXPECT_LE(calendar.bound(), 66'500u);
  EXPECT_EQ(calendar.first(), 66'500u);
  EXPECT_EQ(calendar.bound(), 66'500u);
  calendar.remove(b);
  calendar.remove(b);
  EXPECT_TRUE(calendar.empty());
  EXPECT_EQ(calendar.bound(), Calendar::kNever);
}

// Against a map of times: entries that come and go at random, from the same cycle to the end of what a clock counts.
TEST(Calendar, IsAMapOfTimes) {
  std::mt19937_64 random(7);
  Calendar calendar;
  std::vector<Calendar::Entry> entries(200);
  std::multimap<u64, usize> expected;  // equal keys keep their order
  std::vector<std::multimap<u64, usize>::iterator> wish(entries.size(), expected.end());
  u64 now = 0;
  const auto forget = [&](usize i) {
    if (wish[i] != expected.end()) expected.erase(wish[i]);
    wish[i] = expected.end();
  };
  const auto insert = [&](usize i) {
    const u64 due = now + random() % (u64{1} << random() % 36);
    forget(i);
    wish[i] = expected.emplace(due, i);
    calendar.insert(entries[i], due);
  };
  u64 far = 0;
  for (int step = 0; step < 200'000; ++step) {
    const usize i = random() % entries.size();
    if (const u64 what = random() % 8; what < 4) {
      insert(i);
    } else if (what == 4) {
      forget(i);
      calendar.remove(entries[i]);
    } else {
      u64 at = 0;
      Calendar::Entry* const entry = take_first(calendar, at);
      ASSERT_EQ(entry == nullptr, expected.empty()) << step;
      if (entry == nullptr) continue;
      const auto first = expected.begin();
      ASSERT_EQ(at, first->first) << step;
      ASSERT_EQ(entry, &entries[first->second]) << step;
      far += at - now > 1 << 20 ? 1 : 0;
      now = at;
      forget(first->second);
    }
    ASSERT_EQ(calendar.empty(), expected.empty()) << step;
  }
  EXPECT_GT(far, 100u);
}

}  // namespace
}  // namespace vinci::test
