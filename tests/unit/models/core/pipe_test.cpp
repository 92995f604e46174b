// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// A pipe between a mock of the scalar unit before it, a mock of what moves data behind it, and a mock of its unit. By
// default an instruction occupies the unit for 4 cycles, and its result is visible after 25. Each test pins both sides
// of a cycle; mutations.yaml lists the rules that they hold.
#include "tests/unit/models/core/bench.h"

namespace vinci::test {
namespace {

using models::Cycles;

const std::string kMad = "mad.f162f32 0, 0, 0, 16, 16, 16, 1\n";
const std::string kVadd = "vadd.f16 0, 0, 0, 1, 1, 1, 1, 8, 8, 8\n";
const std::string kLoad = "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 16, 0, 0\n";
const std::string kSet0 = "set_flag PIPE_M, PIPE_V, 0\n", kSet1 = "set_flag PIPE_M, PIPE_V, 1\n";

struct PipeTest : Bench {
  // Puts instructions into the queue of a pipe, each a cycle after the one before, from cycle 0 on; then runs.
  void push(const std::string& text, bool alone = false) {
    make(text);
    for (usize i = 0; i < program->size(); ++i)
      script.at(i, [this, i, alone] { push_one(i, alone); });
    run();
  }
  void make(const std::string& text) {
    program.emplace(chip, isa::CoreKind::joint, text);
    journal.begin({.code = &program->code(), .launch = {}});
    std::vector<std::unique_ptr<models::Unit>> units;
    for (usize i = 0; i < unit_count; ++i) {
      auto made = std::make_unique<MockUnit>(env, events);
      made->name = unit_count == 1 ? "" : fmt::format(" on {}", i + 1);
      if (unit_setup) unit_setup(*made);
      unit = made.get();
      units.push_back(std::move(made));
    }
    pipe.emplace(models::Pipe::Setup{
        .env = env,
        .ports = {.flags = flags, .executor = executor, .issuer = issuer, .cross = cross, .journal = journal},
        .name = "M",
        .log = models::PipeLog(journal.log(), isa::PipeId::M),
        .units = std::move(units),
        .costs = costs,
        .arch = chip.arch,
        .stats = stats,
        .queue_depth = depth});
    for (usize p = 0; p < isa::kPipeCount; ++p)
      flags.connect(p, other);
    flags.connect(isa::index(isa::PipeId::M), *pipe);
  }
  void push_one(usize i, bool alone = false) {
    const isa::Issued& inst = (*program)[i];
    const u64 at = env.agenda.now();
    switch (inst.row->role) {
      case isa::Role::wait_flag: return pipe->wait_flag(inst, at);
      case isa::Role::set_flag: return pipe->set_flag(inst, at);
      case isa::Role::pipe_barrier: return pipe->barrier(inst, at);
      case isa::Role::cross_set: return pipe->cross_set(inst, at);
      default: return pipe->work(inst, nullptr, at, alone);
    }
  }
  u64 stat(models::Doing what) {
    pipe->settle(env.agenda.now());
    return pipe->occupation().cycles(what);
  }

  usize depth = 8, unit_count = 1;
  std::function<void(MockUnit&)> unit_setup;
  std::optional<Instructions> program;
  MockIssuer issuer{env, events};
  MockCrossCore cross{env, events};
  MockFlagUser other{env, events, "V"};
  MockUnit* unit = nullptr;
  std::optional<models::Pipe> pipe;
};

TEST_F(PipeTest, TheNextBeginsWhenTheUnitIsFree) {
  push(kMad + kMad);
  EXPECT_EQ(seen("begin"), (Events{"0 begin mad in an empty pipe", "4 begin mad"}));
}

TEST_F(PipeTest, AnInstructionRetiresWhenItsResultIsVisible) {
  push(kMad + kMad);
  EXPECT_EQ(events[2], "25 mad");
  EXPECT_EQ(events[3], "29 mad");
}

TEST_F(PipeTest, InstructionsRetireInOrder) {
  unit_setup = [](MockUnit& u) { u.times = {{.occupancy = 4, .latency = 25}, {.occupancy = 1, .latency = 1}}; };
  push(kMad + kVadd);
  EXPECT_EQ(seen(" begin"), (Events{"0 begin mad in an empty pipe", "4 begin vadd"}));
  EXPECT_EQ(events[2], "25 mad");  // vadd alone would have been done at 5
  EXPECT_EQ(events[3], "25 vadd");
}

TEST_F(PipeTest, AResultIsVisibleNoEarlierThanThoseBeforeIt) {
  unit_setup = [](MockUnit& u) { u.times = {{.occupancy = 4, .latency = 25}, {.occupancy = 1, .latency = 1}}; };
  push(kMad + kVadd + kSet0 + kMad);
  EXPECT_EQ(seen("begin").back(), "25 begin mad in an empty pipe");
}

TEST_F(PipeTest, OneThatGetsThereLaterBeginsLater) {
  make(kMad);
  script.at(0, [&] { pipe->work((*program)[0], nullptr, 7, false); });
  run();
  EXPECT_EQ(events[0], "7 begin mad in an empty pipe");
}

TEST_F(PipeTest, ThePipeIsEmptyOnceAllResultsAreVisible) {
  make(kMad + kMad + kMad);
  script.at(0, [&] { push_one(0); });
  script.at(24, [&] { push_one(1); });
  script.at(49, [&] { push_one(2); });
  run();
  EXPECT_EQ(seen("begin"), (Events{"0 begin mad in an empty pipe", "24 begin mad", "49 begin mad in an empty pipe"}));
}

TEST_F(PipeTest, PartsOfACycleCarryOverToTheNextInstruction) {
  unit_setup = [](MockUnit& u) { u.times = {{.occupancy = 4, .latency = 25, .slack = 0.75}}; };
  make(kMad + kMad + kMad);
  script.at(0, [&] { push_one(0); });
  script.at(1, [&] { push_one(1); });
  script.at(9, [&] { push_one(2); });  // the unit was free at 8
  run();
  EXPECT_EQ(seen("begin"), (Events{"0 begin mad in an empty pipe", "4 begin mad, 0.75 early", "9 begin mad"}));
}

TEST_F(PipeTest, OneThatBeginsAloneWaitsForTheResultsBefore) {
  push(kMad + kMad, true);
  EXPECT_EQ(seen("begin"), (Events{"0 begin mad in an empty pipe", "25 begin mad in an empty pipe"}));
}

TEST_F(PipeTest, ABarrierWaitsForTheResultsBefore) {
  push(kMad + "pipe_barrier PIPE_M\n" + kMad);
  EXPECT_EQ(seen("begin"), (Events{"0 begin mad in an empty pipe", "25 begin mad in an empty pipe"}));
  EXPECT_EQ(stat(models::Doing::barrier), 25u - 4);
}

TEST_F(PipeTest, AFlagGoesUpWhenAllBeforeItHasRetired) {
  push(kMad + kSet0);
  EXPECT_EQ(seen("sees"), (Events{"25 V sees the flag at 28"}));
}

TEST_F(PipeTest, NothingInsideTheCoreBeginsBeforeTheFlagIsUp) {
  push(kMad + kSet0 + kMad);
  EXPECT_EQ(seen("begin"), (Events{"0 begin mad in an empty pipe", "25 begin mad in an empty pipe"}));
}

TEST_F(PipeTest, ACopyOfGlobalMemoryBeginsBeforeTheFlagIsUp) {
  push(kLoad + kSet0 + kLoad);
  EXPECT_EQ(seen("begin"), (Events{"0 begin copy_gm_to_ubuf in an empty pipe", "10 begin copy_gm_to_ubuf"}));
}

TEST_F(PipeTest, TwoSetsOfOneFlagAreACycleApart) {
  other.waits = true;
  push(kMad + kSet0 + kSet0);
  EXPECT_EQ(seen("sees"), (Events{"25 V sees the flag at 28", "26 V sees the flag at 29"}));
}

TEST_F(PipeTest, SetsOfTwoFlagsAreNot) {
  push(kMad + kSet0 + kSet1);
  EXPECT_EQ(seen("sees"), (Events{"25 V sees the flag at 28", "25 V sees the flag at 28"}));
}

TEST_F(PipeTest, WorkWaitsUntilTheFlagBeforeItIsVisible) {
  make("wait_flag PIPE_V, PIPE_M, 0\n" + kMad);
  script.at(0, [&] { push_one(0), push_one(1); });
  script.at(10, [&] { flags.raise(10, {.src = isa::PipeId::V, .dst = isa::PipeId::M, .event = 0}); });
  script.at(12, [&] { pipe->wake_for_work(12); });
  run();
  EXPECT_EQ(events[0], "13 begin mad in an empty pipe");
  EXPECT_EQ(stat(models::Doing::wait_flag), 13u);
}

TEST_F(PipeTest, AFlagIsLookedAtWhenTheUnitIsFree) {
  make(kMad + "wait_flag PIPE_V, PIPE_M, 0\n" + kMad);
  script.at(0, [&] {
    flags.raise(0, {.src = isa::PipeId::V, .dst = isa::PipeId::M, .event = 0});
    for (usize i = 0; i < 3; ++i)
      push_one(i);
  });
  run();
  EXPECT_EQ(seen("begin"), (Events{"0 begin mad in an empty pipe", "7 begin mad"}));  // 4, and the way of the flag
}

TEST_F(PipeTest, AFlagIsTakenDownByWhoWaitedForIt) {
  make("wait_flag PIPE_V, PIPE_M, 0\nwait_flag PIPE_V, PIPE_M, 0\n" + kMad);
  const models::Flag flag{.src = isa::PipeId::V, .dst = isa::PipeId::M, .event = 0};
  script.at(0, [&] {
    for (usize i = 0; i < 3; ++i)
      push_one(i);
    flags.raise(0, flag);
  });
  script.at(40, [&] { flags.raise(40, flag); });
  run();
  EXPECT_EQ(events, (Events{"43 begin mad in an empty pipe", "68 mad", "68 drained"}));
}

TEST_F(PipeTest, AFlagForOtherCoresGoesUpWhenAllBeforeItHasRetired) {
  chip = round_chip(isa::Arch::c220);
  push(kMad + "ffts_cross_core_sync PIPE_M, 0x121\n");
  EXPECT_EQ(seen("cross"), (Events{"25 cross-core flag"}));
}

TEST_F(PipeTest, TheIssuerLearnsOfRoomInAQueueThatWasFullAlone) {
  depth = 2;
  make(kMad + kMad + kMad);
  script.at(0, [&] { push_one(0); });
  script.at(1, [&] { push_one(1), push_one(2); });
  script.at(3, [&] { EXPECT_TRUE(pipe->full()); });
  script.at(5, [&] { EXPECT_FALSE(pipe->full()); });
  run();
  EXPECT_EQ(seen("room"), (Events{"4 room"}));
}

TEST_F(PipeTest, TheIssuerLearnsOnceThatThePipeHasDrained) {
  make(kMad + kMad);
  script.at(0, [&] { push_one(0), push_one(1); });
  script.at(28, [&] { EXPECT_FALSE(pipe->drained()); });
  script.at(35, [&] { pipe->wake_for_work(35); });
  run();
  EXPECT_TRUE(pipe->drained());
  EXPECT_EQ(seen("drained"), (Events{"29 drained"}));
}

TEST_F(PipeTest, TheNextCopyBeginsWhenThePortIsFree) {
  push(kLoad + kLoad);
  EXPECT_EQ(seen("begin"), (Events{"0 begin copy_gm_to_ubuf in an empty pipe", "10 begin copy_gm_to_ubuf"}));
  EXPECT_EQ(unit->copies, (Events{"0 copy from 0, body 0, delivery 0", "10 copy from 10, body 0, delivery 0"}));
}

TEST_F(PipeTest, ACopyRetiresWhenItsDataAreThereAndItsTailIsOver) {
  push(kLoad);  // port 10, memory 100, tail 25 - 4
  EXPECT_EQ(events[1], "131 copy_gm_to_ubuf of global memory");
}

TEST_F(PipeTest, TheCostLineIsTheLeastThatACopyTakes) {
  unit_setup = [](MockUnit& u) { u.times = {{.occupancy = 200, .latency = 200}}; };
  push(kLoad + kLoad);
  EXPECT_EQ(seen("begin")[1], "200 begin copy_gm_to_ubuf in an empty pipe");
  EXPECT_EQ(events[1], "200 copy_gm_to_ubuf of global memory");
}

TEST_F(PipeTest, CopiesRetireInOrder) {
  unit_setup = [](MockUnit& u) { u.times = {{.occupancy = 4, .latency = 500}, {.occupancy = 4, .latency = 4}}; };
  push(kLoad + kLoad);
  EXPECT_EQ(seen("of global"),
            (Events{"606 copy_gm_to_ubuf of global memory", "606 copy_gm_to_ubuf of global memory"}));
  EXPECT_EQ(stat(models::Doing::busy), 606u);
}

TEST_F(PipeTest, ThePipeIsBusyUntilTheDataOfACopyAreThere) {
  push(kLoad);
  EXPECT_EQ(stat(models::Doing::busy), 131u);
}

// Two units. Tiles of L0C: a mad of one step writes 1 KiB.
struct TwoUnits : PipeTest {
  TwoUnits() { unit_count = 2; }
  static std::string mad(u32 c, u32 init = 1) { return fmt::format("mad.f162f32 {}, 0, 0, 16, 16, 16, {}\n", c, init); }
  void push_at_once(const std::string& text) {
    make(text);
    script.at(0, [&] {
      for (usize i = 0; i < program->size(); ++i)
        push_one(i);
    });
    run();
  }
};

TEST_F(TwoUnits, IndependentWorkRunsAtTheSameTimeAndTakesHalfAsLong) {
  push_at_once(mad(0) + mad(1024) + mad(2048) + mad(3072));
  EXPECT_EQ(seen("begin"),
            (Events{"0 begin mad on 1 in an empty pipe", "0 begin mad on 2", "4 begin mad on 1", "4 begin mad on 2"}));
  EXPECT_EQ(seen(" mad").back(), "29 mad");
}

TEST_F(TwoUnits, DependentWorkTakesAsLongAsInOneUnit) {
  push_at_once(mad(0) + mad(0, 0) + mad(1023, 0));
  EXPECT_EQ(seen("begin"), (Events{"0 begin mad on 1 in an empty pipe", "4 begin mad on 1", "8 begin mad on 1"}));
}

TEST_F(TwoUnits, PartsOfACycleCarryOverToDependentWork) {
  unit_setup = [](MockUnit& u) {
    const bool first = u.name == " on 1";  // it is free before
    u.times = {{.occupancy = first ? 2u : 4u, .latency = 25, .slack = first ? 0 : 0.5}};
  };
  push_at_once(mad(0) + mad(1024) + mad(1024, 0));
  EXPECT_EQ(seen("begin").back(), "4 begin mad on 1, 0.50 early");
}

TEST_F(TwoUnits, WorkWaitsForTheOperandsThatItReads) {
  push_at_once("vadds.f16 4096, 0, 1, 1, 1, 1, 8, 8\nvadds.f16 8192, 4096, 1, 1, 1, 1, 8, 8\n");
  EXPECT_EQ(seen("begin"), (Events{"0 begin vadds on 1 in an empty pipe", "4 begin vadds on 1"}));
}

TEST_F(TwoUnits, TwoThatReadTheSameDoNotWait) {
  push_at_once("vadds.f16 4096, 0, 1, 1, 1, 1, 8, 8\nvadds.f16 8192, 0, 1, 1, 1, 1, 8, 8\n");
  EXPECT_EQ(seen("begin"), (Events{"0 begin vadds on 1 in an empty pipe", "0 begin vadds on 2"}));
}

TEST_F(TwoUnits, WorkThatUsesRegistersOfTheUnitRunsOneAfterTheOther) {
  const std::string a = "vcadd.f16 4096, 0, 1, 1, 1, 8\n", b = "vcadd.f16 8192, 2048, 1, 1, 1, 8\n";
  push_at_once(a + b);
  EXPECT_EQ(seen("begin"), (Events{"0 begin vcadd on 1 in an empty pipe", "4 begin vcadd on 1"}));
}

TEST_F(TwoUnits, RetireInTheOrderOfTheProgram) {
  unit_setup = [](MockUnit& u) {
    u.times = {u.name == " on 1" ? Cycles{.occupancy = 30, .latency = 40} : Cycles{.occupancy = 4, .latency = 5}};
  };
  push_at_once(mad(0) + kVadd);
  EXPECT_EQ(seen("0 mad").back(), "40 mad");
  EXPECT_EQ(seen("vadd").back(), "40 vadd");
}

TEST_F(TwoUnits, AFlagGoesUpWhenWorkOfBothHasRetired) {
  push_at_once(mad(0) + mad(1024) + kSet0 + mad(2048));
  EXPECT_EQ(seen("sees"), (Events{"25 V sees the flag at 28"}));
  EXPECT_EQ(seen("begin").back(), "25 begin mad on 1 in an empty pipe");
}

TEST_F(TwoUnits, ThePipeIsBusyAsLongAsOneOfThemIs) {
  unit_setup = [](MockUnit& u) {
    u.times = {u.name == " on 1" ? Cycles{.occupancy = 30, .latency = 30} : Cycles{.occupancy = 4, .latency = 4}};
  };
  push_at_once(mad(0) + mad(1024) + "pipe_barrier PIPE_M\n");
  EXPECT_EQ(stat(models::Doing::busy), 30u);
  EXPECT_EQ(stat(models::Doing::barrier), 0u);
}

struct HandoverTest : PipeTest {
  HandoverTest() { chip = round_chip(isa::Arch::c220); }
  const std::string mad = "mad.f162f32 0, 0, 0, 16, 16, 16, 1, 3, 0, 0, 0\n";
};

TEST_F(HandoverTest, WorkWaitsForTheBlocksThatItNeeds) {
  unit_setup = [](MockUnit& u) { u.ready = 40; };
  push(mad);
  EXPECT_EQ(events[0], "40 begin mad in an empty pipe");
  EXPECT_EQ(stat(models::Doing::wait_flag), 40u);
}

TEST_F(HandoverTest, TheOtherSideWakesThePipe) {
  unit_setup = [](MockUnit& u) { u.ready = models::kNever; };
  make(mad);
  script.at(0, [&] { push_one(0); });
  script.at(60, [&] {
    unit->ready = 60;
    pipe->wake_for_work(60);
  });
  run();
  EXPECT_EQ(events[0], "60 begin mad in an empty pipe");
}

TEST_F(HandoverTest, TheUnitLearnsWhenItBeganAndWhenItsDataHaveMoved) {
  push(mad);
  EXPECT_EQ(events, (Events{"0 begin mad in an empty pipe", "0 hands over 0..25", "25 mad", "25 has handed over",
                            "25 drained"}));
}

}  // namespace
}  // namespace vinci::test
