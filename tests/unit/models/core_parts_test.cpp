// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <gtest/gtest.h>

#include "models/core/event_flags.h"
#include "models/core/occupation.h"
#include "tests/support/timed_run.h"

namespace vinci::models {
namespace {

TEST(Occupation, EveryCycleHasOneState) {
  Occupation o;
  o.busy(10, 15);
  o.enter(20, Doing::wait_flag);  // idle from 15 on
  o.enter(23, Doing::barrier);
  o.busy(24, 30);
  o.busy(28, 40);  // the next one begins before the end that was foreseen
  o.settle(50);
  EXPECT_EQ(o.cycles(Doing::busy), 5u + 4 + 12);
  EXPECT_EQ(o.cycles(Doing::wait_flag), 3u);
  EXPECT_EQ(o.cycles(Doing::barrier), 1u);
  EXPECT_EQ(o.cycles(Doing::idle), 10u + 5 + 10);
  EXPECT_EQ(o.doing(), Doing::idle);
}

TEST(Occupation, SettlingTwiceCountsOnce) {
  Occupation o;
  o.enter(5, Doing::drain);
  o.settle(9);
  o.settle(9);
  EXPECT_EQ(o.cycles(Doing::drain), 4u);
  EXPECT_EQ(o.cycles(Doing::idle), 5u);
  EXPECT_EQ(o.doing(), Doing::drain);
}

TEST(Occupation, BusyWithoutEndUntilSomethingElse) {
  Occupation o;
  o.busy(3, ~u64{0});
  o.settle(100);
  EXPECT_EQ(o.cycles(Doing::busy), 97u);
  o.busy(100, 110);
  o.settle(200);
  EXPECT_EQ(o.cycles(Doing::busy), 107u);
  EXPECT_EQ(o.cycles(Doing::idle), 3u + 90);
}

constexpr isa::insn::SetFlag::Args kFlag{isa::PipeId::M, isa::PipeId::V, 2};

TEST(EventFlags, AreSeenAfterTheirDelay) {
  EventFlags flags(3);
  EXPECT_EQ(flags.look(9, kFlag), EventFlags::Look::down);
  EXPECT_EQ(flags.raise(10, kFlag), 13u);
  EXPECT_EQ(flags.visible_at(kFlag), 13u);
  EXPECT_EQ(flags.look(12, kFlag), EventFlags::Look::not_yet);
  EXPECT_EQ(flags.look(13, kFlag), EventFlags::Look::up);
  flags.lower(kFlag);
  EXPECT_EQ(flags.look(14, kFlag), EventFlags::Look::down);
}

TEST(EventFlags, EachPairAndEventIsAFlagOfItsOwn) {
  EventFlags flags(0);
  flags.raise(1, kFlag);
  for (const isa::insn::SetFlag::Args other : {isa::insn::SetFlag::Args{isa::PipeId::V, isa::PipeId::M, 2},
                                               isa::insn::SetFlag::Args{isa::PipeId::M, isa::PipeId::V, 1},
                                               isa::insn::SetFlag::Args{isa::PipeId::M, isa::PipeId::MTE1, 2}}) {
    EXPECT_EQ(flags.look(5, other), EventFlags::Look::down);
  }
  EXPECT_EQ(flags.look(5, kFlag), EventFlags::Look::up);
}

TEST(EventFlags, RefuseToBeSetTwiceUntilCleared) {
  EventFlags flags(0);
  flags.raise(1, kFlag);
  EXPECT_EQ(test::fault_of([&] { flags.raise(2, kFlag); }),
            "program: duplicate set_flag: PIPE_M -> PIPE_V EVENT_ID2 is already set and not yet waited for");
  flags.clear();
  EXPECT_NO_THROW(flags.raise(3, kFlag));
}

// The pipe that looks at the first takes it at 13; the second is up from 14 on.
TEST(EventFlags, OneFollowsAnotherThatIsAwaitedAndOnItsWay) {
  EventFlags flags(3);
  flags.raise(10, kFlag);
  EXPECT_EQ(flags.raise(11, kFlag, true), 14u);
  EXPECT_EQ(flags.look(13, kFlag), EventFlags::Look::up);
  flags.lower(kFlag);
  EXPECT_EQ(flags.look(13, kFlag, 13), EventFlags::Look::not_yet);
  EXPECT_EQ(flags.look(13, kFlag), EventFlags::Look::not_yet);
  EXPECT_EQ(flags.look(14, kFlag), EventFlags::Look::up);
  flags.lower(kFlag);
  EXPECT_EQ(flags.look(20, kFlag), EventFlags::Look::down);
}

TEST(EventFlags, DoNotFollowOneThatNothingTakesInTime) {
  const std::string fault =
      "program: duplicate set_flag: PIPE_M -> PIPE_V EVENT_ID2 is already set and not yet waited for";
  EventFlags flags(3);
  flags.raise(10, kFlag);
  EXPECT_EQ(test::fault_of([&] { flags.raise(12, kFlag); }), fault);        // nothing waits for it
  EXPECT_EQ(test::fault_of([&] { flags.raise(13, kFlag, true); }), fault);  // it has arrived
  flags.raise(12, kFlag, true);
  EXPECT_EQ(test::fault_of([&] { flags.raise(12, kFlag, true); }), fault);  // there is one behind it
  flags.clear();
  flags.raise(20, kFlag);
  flags.lower(kFlag);
  EXPECT_EQ(flags.look(30, kFlag), EventFlags::Look::down);
}

}  // namespace
}  // namespace vinci::models
