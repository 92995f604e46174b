// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/cross_core.h"

#include <gmock/gmock.h>

#include "isa/machine/machine.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TaskShape kMix{.blocks = 2, .cube = true, .vector_cores = 2, .resident = 2};
constexpr TaskShape kVector{.blocks = 3, .cube = false, .vector_cores = 1, .resident = 4};

std::vector<TaskCore> released(CrossCoreFlags& flags, TaskCore from, u32 mode, u32 flag) {
  const auto list = flags.set(from, {mode, flag});
  return {list.begin(), list.end()};
}

TEST(CrossCore, Mode0ReleasesAllOfAKindWhenEachHasSet) {
  CrossCoreFlags flags(kMix);
  EXPECT_THAT(released(flags, {0, 1}, 0, 5), IsEmpty());
  EXPECT_THAT(released(flags, {1, 2}, 0, 5), IsEmpty());
  EXPECT_THAT(released(flags, {0, 0}, 0, 5), IsEmpty());  // an AIC: another kind
  EXPECT_THAT(released(flags, {0, 2}, 0, 5), IsEmpty());
  EXPECT_THAT(released(flags, {1, 1}, 0, 5),
              ElementsAre(TaskCore{0, 1}, TaskCore{0, 2}, TaskCore{1, 1}, TaskCore{1, 2}));
  EXPECT_THAT(released(flags, {1, 0}, 0, 5), ElementsAre(TaskCore{0, 0}, TaskCore{1, 0}));
  CrossCoreFlags vector(kVector);
  EXPECT_THAT(released(vector, {2, 1}, 0, 0), IsEmpty());
  EXPECT_THAT(released(vector, {0, 1}, 0, 0), IsEmpty());
  EXPECT_THAT(released(vector, {1, 1}, 0, 0), ElementsAre(TaskCore{0, 1}, TaskCore{1, 1}, TaskCore{2, 1}));
}

TEST(CrossCore, ASecondSetCountsForTheNextRound) {
  CrossCoreFlags flags(kMix);
  EXPECT_THAT(released(flags, {0, 1}, 1, 0), IsEmpty());
  EXPECT_THAT(released(flags, {0, 1}, 1, 0), IsEmpty());
  EXPECT_THAT(released(flags, {0, 2}, 1, 0), ElementsAre(TaskCore{0, 1}, TaskCore{0, 2}));
  EXPECT_THAT(released(flags, {0, 2}, 1, 0), ElementsAre(TaskCore{0, 1}, TaskCore{0, 2}));
  EXPECT_THAT(released(flags, {0, 2}, 1, 0), IsEmpty());
}

TEST(CrossCore, Mode2GoesFromTheCubeCoreToItsVectorCoresAndBack) {
  CrossCoreFlags flags(kMix);
  EXPECT_THAT(released(flags, {1, 0}, 2, 3), ElementsAre(TaskCore{1, 1}, TaskCore{1, 2}));
  EXPECT_THAT(released(flags, {1, 0}, 2, 3), ElementsAre(TaskCore{1, 1}, TaskCore{1, 2}));
  EXPECT_THAT(released(flags, {1, 2}, 2, 3), IsEmpty());
  EXPECT_THAT(released(flags, {0, 1}, 2, 3), IsEmpty());  // another block
  EXPECT_THAT(released(flags, {1, 1}, 2, 3), ElementsAre(TaskCore{1, 0}));
}

TEST(CrossCore, APairLeavesTheOtherVectorCoreOut) {
  CrossCoreFlags flags(kMix);
  const CrossCoreSet to_second = CrossCoreSet::parse(0x1 | 2 << 4 | 3 << 8 | 2 << 12);
  EXPECT_THAT(flags.set({1, 0}, to_second), ElementsAre(TaskCore{1, 2}));
  EXPECT_THAT(flags.set({1, 2}, to_second), ElementsAre(TaskCore{1, 0}));
  EXPECT_THAT(error_of([&] { flags.set({1, 1}, to_second); }), HasSubstr("a pair of AIV1 is not AIV0 of block 1's"));
  EXPECT_THAT(error_of([] { CrossCoreSet::parse(0x3321); }), HasSubstr("program: config = 0x3321"));
}

TEST(CrossCore, CountersCountAndFlagsAreApart) {
  CrossCoreFlags flags(kMix);
  EXPECT_FALSE(flags.take({0, 0}, 3));
  flags.set({0, 0}, {2, 9});
  for (u32 i = 0; i < 15; ++i)
    flags.increment({0, 0}, 3);
  EXPECT_EQ(error_of([&] {
              flags.increment({0, 0}, 3);
            }),
            "program: ccu_cross_core_set_ovfl_err: flag 3 of AIC of block 0 is set 15 times and not waited for");
  EXPECT_FALSE(flags.take({0, 0}, 4));
  EXPECT_FALSE(flags.take({1, 0}, 3));
  for (u32 i = 0; i < 15; ++i)
    EXPECT_TRUE(flags.take({0, 0}, 3));
  EXPECT_FALSE(flags.take({0, 0}, 3));
}

TEST(CrossCore, SaysBeforeASetWhetherACounterIsFull) {
  CrossCoreFlags flags(kMix);
  EXPECT_FALSE(flags.full({0, 0}, {2, 3}));
  for (u32 i = 0; i < 15; ++i) {
    EXPECT_FALSE(flags.full({0, 0}, {2, 3})) << i;
    for (const TaskCore& c : flags.set({0, 0}, {2, 3}))
      flags.increment(c, 3);
  }
  EXPECT_TRUE(flags.full({0, 0}, {2, 3}));
  EXPECT_FALSE(flags.full({0, 0}, {2, 4}));
  EXPECT_FALSE(flags.full({1, 0}, {2, 3}));
  flags.take({0, 1}, 3);
  EXPECT_TRUE(flags.full({0, 0}, {2, 3}));  // of the other AIV
  flags.take({0, 2}, 3);
  EXPECT_FALSE(flags.full({0, 0}, {2, 3}));
}

TEST(CrossCore, SettingFarAheadOverflows) {
  CrossCoreFlags flags(kMix);
  for (u32 i = 0; i < 15; ++i)
    flags.set({0, 1}, {2, 3});
  EXPECT_TRUE(flags.full({0, 1}, {2, 3}));
  EXPECT_FALSE(flags.full({0, 2}, {2, 3}));
  EXPECT_EQ(
      error_of([&] {
        flags.set({0, 1}, {2, 3});
      }),
      "program: ccu_cross_core_set_ovfl_err: AIV0 of block 0 has set flag 3 15 times more often than its partners "
      "in mode 2");
}

TEST(CrossCore, WhatHasNoPartnersIsRefused) {
  CrossCoreFlags vector(kVector), mix(kMix), many({.blocks = 5, .cube = true, .vector_cores = 0, .resident = 4});
  EXPECT_THAT(error_of([&] { vector.set({0, 1}, {1, 0}); }), HasSubstr("MIX task; this task runs on AIV cores only"));
  EXPECT_THAT(error_of([&] { vector.set({0, 1}, {2, 0}); }), HasSubstr("mode 2 works inside the blocks of a MIX task"));
  EXPECT_THAT(error_of([&] { mix.set({0, 0}, {1, 0}); }), HasSubstr("mode 1 is between AIVs; this is an AIC"));
  EXPECT_THAT(error_of([&] {
                many.set({0, 0}, {0, 0});
              }),
              HasSubstr("mode 0 synchronises all 5 blocks of the task, but the chip holds only 4 at once"));
}

TEST(CrossCore, ConfigIsParsedStrictly) {
  const CrossCoreSet s = CrossCoreSet::parse(0x1 | 2 << 4 | 11 << 8);
  EXPECT_EQ(s.mode, 2u);
  EXPECT_EQ(s.flag, 11u);
  EXPECT_THAT(error_of([] { CrossCoreSet::parse(0x320); }),
              HasSubstr("program: config = 0x320 is not 0x1 | mode << 4"));
  EXPECT_THAT(error_of([] { CrossCoreSet::parse(0x1301); }), HasSubstr("program: config = 0x1301"));
  EXPECT_THAT(error_of([] { CrossCoreSet::parse(0x331); }), HasSubstr("unsupported: mode 3"));
}

TEST(CrossCore, ReportsSayWhoIsLate) {
  CrossCoreFlags flags(kMix);
  EXPECT_EQ(flags.missing({0, 0}, 3), "no core has set it");
  flags.set({0, 2}, {2, 3});
  EXPECT_EQ(flags.missing({0, 0}, 3), "1 of 2 cores have set it in mode 2, AIV0 of block 0 has not");
  EXPECT_EQ(flags.missing({1, 0}, 3), "no core has set it");
  flags.set({0, 0}, {0, 7});
  EXPECT_EQ(flags.missing({0, 0}, 7), "1 of 2 cores have set it in mode 0, AIC of block 1 has not");
}

// Two vector cores that run in steps.
struct Pair {
  static CoreSpec spec() {
    return {.arch = Arch::c220, .kind = CoreKind::vector, .sizes = {0, 0, 0, 0, 0, 0x2000}, .flags_per_pair = 8};
  }
  explicit Pair(const std::string& text) : code(assemble("set_ffts_base_addr 1\n" + text, "k.s", Arch::c220)) {
    gm.allocate(64, "out");
    for (u32 b = 0; b < 2; ++b) {
      launches[b].block_idx = b;
      machines[b].start(code, launches[b], &flags, {b, 1});
    }
  }
  GlobalMemory gm;
  Code code;
  CrossCoreFlags flags{TaskShape{.blocks = 2, .cube = false, .vector_cores = 1, .resident = 2}};
  std::array<Launch, 2> launches{Launch{.block_num = 2, .args = {}}, Launch{.block_num = 2, .args = {}}};
  std::array<Machine, 2> machines{Machine{spec(), gm, 0}, Machine{spec(), gm, 1}};
  u64 budget = 1000;
};

TEST(Machine, WaitsForAnotherCoreAndGoesOn) {
  Pair p(
      "st_dev.b8 1, 0x100000000\n"
      "ffts_cross_core_sync PIPE_MTE3, 0x501\nwait_flag_dev 5\n"
      "st_dev.b8 2, 0x100000000\nend");
  EXPECT_EQ(p.machines[0].advance(p.budget, 100), Machine::State::waits);
  EXPECT_EQ(p.machines[0].advance(p.budget, 100), Machine::State::waits);
  EXPECT_EQ(gm_load<u8>(p.gm, GlobalMemory::kBase), 1);
  EXPECT_EQ(p.machines[0].waits_for(),
            "AIV of block 0 waits for wait_flag_dev flagId=5 (k.s:4); 1 of 2 cores have set it in mode 0, AIV of block "
            "1 has not");
  EXPECT_EQ(p.machines[1].advance(p.budget, 100), Machine::State::done);
  EXPECT_EQ(p.machines[0].advance(p.budget, 100), Machine::State::done);
  EXPECT_EQ(gm_load<u8>(p.gm, GlobalMemory::kBase), 2);
}

TEST(Machine, PausesAfterItsQuantum) {
  Pair p("mov X1, 0\nloop: add X1, X1, 1\nblt X1, 10, loop\nend");  // 23 instructions
  EXPECT_EQ(p.machines[0].advance(p.budget, 22), Machine::State::paused);
  EXPECT_EQ(p.machines[0].advance(p.budget, 1), Machine::State::done);
  EXPECT_EQ(p.budget, 1000u - 23);
}

TEST(Machine, AFlagWaitsForTheWorkOfItsPipe) {
  // The set follows a wait_flag of its pipe.
  Pair p(
      "wait_flag PIPE_S, PIPE_MTE3, 0\nffts_cross_core_sync PIPE_MTE3, 0x501\nmov X1, 0\n"
      "set_flag PIPE_S, PIPE_MTE3, 0\nwait_flag_dev 5\nend");
  EXPECT_EQ(p.machines[0].advance(p.budget, 4), Machine::State::paused);
  EXPECT_EQ(p.flags.missing({0, 1}, 5), "no core has set it");
  EXPECT_EQ(p.machines[0].advance(p.budget, 1), Machine::State::paused);
  EXPECT_THAT(p.flags.missing({0, 1}, 5), HasSubstr("1 of 2 cores"));
}

TEST(Machine, CrossCoreInstructionsNeedTheirBaseAddress) {
  const auto fault = [](const std::string& text) {
    Pair p("set_ffts_base_addr 0\n" + text + "\nend");
    return error_of([&] { p.machines[0].advance(p.budget, 100); });
  };
  EXPECT_THAT(fault("wait_flag_dev 1"), HasSubstr("program: k.s:3: wait_flag_dev before set_ffts_base_addr"));
  EXPECT_THAT(fault("ffts_cross_core_sync PIPE_V, 0x101"), HasSubstr("ffts_cross_core_sync before set_ffts_base_addr"));
  EXPECT_THAT(fault("ffts_cross_core_sync PIPE_S, 0x101"), HasSubstr("ffts_cross_core_sync on PIPE_S"));
  EXPECT_THAT(fault("ffts_cross_core_sync PIPE_M, 0x101"), HasSubstr("a core of type AIV has no PIPE_M"));
}

}  // namespace
}  // namespace vinci::isa
