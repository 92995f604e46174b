// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/unit_flags.h"

#include <gmock/gmock.h>

#include "isa/check/core_checker.h"
#include "isa/machine/machine.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

UnitFlagUse use(u64 address, u32 len, bool writes, bool update, u32 count = 1, i64 stride = 0) {
  return {.blocks = {.buffer = BufId::L0C, .address = address, .len = len, .count = {count, 1, 1}, .stride = {stride}},
          .writes = writes,
          .update = update};
}

TEST(UnitFlags, MadRaisesAndFixpipeLowersEachBlock) {
  UnitFlags flags;
  EXPECT_TRUE(flags.ready(use(0, 2048, true, true)));
  EXPECT_FALSE(flags.ready(use(0, 512, false, true)));
  flags.finish(use(0, 2048, true, false));  // keeps
  EXPECT_FALSE(flags.ready(use(0, 512, false, true)));
  flags.finish(use(1024, 2048, true, true));
  EXPECT_TRUE(flags.ready(use(1024, 2048, false, true)));
  EXPECT_FALSE(flags.ready(use(512, 1024, false, true)));  // half of it
  EXPECT_FALSE(flags.ready(use(2560, 1024, true, true)));
  EXPECT_TRUE(flags.ready(use(0, 1024, true, true)));
  flags.finish(use(1024, 512, false, true, 2, 1024));  // every other block
  EXPECT_FALSE(flags.ready(use(1024, 2048, false, true)));
  EXPECT_TRUE(flags.ready(use(1536, 512, false, true)));
  EXPECT_TRUE(flags.ready(use(2048, 512, true, true)));
  flags.clear();
  EXPECT_TRUE(flags.ready(use(0, 8192, true, true)));
}

TEST(UnitFlags, TheEarliestStartMeetsNoBlockTooSoon) {
  UnitFlags flags;
  flags.finish(use(0, 2048, true, true), 100, 140);                   // at 110, 120, 130, 140
  EXPECT_EQ(flags.earliest(use(0, 2048, false, true), 8), 140 - 6u);  // the last one after 6 cycles
  EXPECT_EQ(flags.earliest(use(0, 2048, false, true), 400), 110u);    // the first one at once
  EXPECT_EQ(flags.earliest(use(0, 2048, false, true), 2), 140 - 1u);  // ends after the last
  EXPECT_EQ(flags.earliest(use(0, 1024, false, true), 8), 120 - 4u);  // two blocks
  EXPECT_EQ(flags.earliest(use(8192, 1024, true, true), 8), 0u);
}

// A cube core with ones in A and B; a result of 16 x 16 x 16 leaves to argument 0.
struct Bench {
  Bench() : machine({.arch = Arch::c220, .kind = CoreKind::cube, .sizes = sizes()}, gm, 0) {
    out = gm.allocate(8192, "out");
    for (const BufId b : {BufId::L0A, BufId::L0B}) {
      for (u64 i = 0; i < 1024; i += 2)
        machine.mem()[b].store<u16>(i, 0x3c00);
    }
  }
  static BufSizes sizes() { return {0, 0x4000, 0x2000, 0x2000, 0x4000, 0, 0x400, 0x1c00}; }
  void run(const std::string& text) {
    const Code code(assemble(text, "k.s", Arch::c220));
    u64 budget = 1000;
    machine.run(code, {.args = {out}}, budget);
  }
  GlobalMemory gm;
  Machine machine;
  u64 out = 0;
};

std::string mad(int init, int unit) { return fmt::format("mad.f162f32 0, 0, 0, 16, 16, 16, {}, {}\n", init, unit); }
std::string fixpipe(u64 at, int unit) {
  return fmt::format("copy_matrix_cc_to_gm {:#x}, 0, 0, 16, 16, 16, 16, {}, 0, 0, 0, 1\n", at, unit);
}

TEST(UnitFlags, FixpipeWaitsForMadWithoutEvents) {
  Bench b;
  b.run(fixpipe(b.out, 3) + mad(1, 2) + mad(0, 2) + mad(0, 3) + "end");
  EXPECT_EQ(gm_load<float>(b.gm, b.out), 48.0f);
}

TEST(UnitFlags, MadWaitsUntilTheResultIsTaken) {
  Bench b;
  b.run(mad(1, 3) + mad(1, 3) + mad(0, 0) + fixpipe(b.out, 2) + fixpipe(b.out + 1024, 3) + fixpipe(b.out + 2048, 3) +
        "end");
  EXPECT_EQ(gm_load<float>(b.gm, b.out), 16.0f);
  EXPECT_EQ(gm_load<float>(b.gm, b.out + 1024), 16.0f);
  EXPECT_EQ(gm_load<float>(b.gm, b.out + 2048), 32.0f);  // the second mad, and the one that looks at no flag
}

TEST(UnitFlags, EachBlockBeginsWithThemDown) {
  Bench b;
  b.run(mad(1, 3) + "end");
  b.run(mad(1, 3) + fixpipe(b.out, 3) + "end");
  EXPECT_EQ(gm_load<float>(b.gm, b.out), 16.0f);
}

TEST(UnitFlags, ADeadlockNamesWhoWaits) {
  const auto deadlock = [](const std::string& text) {
    Bench b;
    return error_of([&] { b.run(text); });
  };
  EXPECT_THAT(deadlock(fixpipe(Bench().out, 3) + mad(1, 2) + "end"), HasSubstr("FIX waits for copy_matrix_cc_to_gm"));
  EXPECT_THAT(deadlock(mad(1, 3) + mad(1, 3) + "end"), HasSubstr("M waits for mad.f162f32"));
}

TEST(UnitFlags, RowsOfATailTakeTheirWholeFractal) {
  Bench b;
  // 3 of 16 rows: all blocks of the fractal are free again.
  b.run("mad.f162f32 0, 0, 0, 3, 16, 16, 1, 3\n" +
        fmt::format("copy_matrix_cc_to_gm {:#x}, 0, 0, 16, 3, 16, 16, 3, 0, 0, 0, 1\n", b.out) + mad(1, 3) + "end");
  EXPECT_EQ(gm_load<float>(b.gm, b.out), 16.0f);
}

// mad and FIXPIPE on the same block of L0C are ordered by unit flags alone; without them the checker sees the race.
TEST(UnitFlags, TheCheckerKnowsTheOrderThatTheyGive) {
  const auto races = [](int unit) {
    Bench b;
    check::Checker checker(b.gm);
    check::CoreChecker& core =
        checker.add_core({.arch = Arch::c220, .kind = CoreKind::cube, .sizes = Bench::sizes()}, "core0.AIC", false);
    b.machine.set_observer(&core);
    const std::string text = mad(1, unit) + fixpipe(b.out, unit) + mad(1, unit) + fixpipe(b.out + 4096, unit) + "end";
    const Code code(assemble(text, "k.s", Arch::c220));
    core.begin(checker.add_task(0, "task"), 0, code);
    u64 budget = 1000;
    b.machine.run(code, {.args = {b.out}}, budget);
    checker.finish();
    std::vector<std::string> found;
    for (const check::Finding& f : checker.findings().sorted()) {
      if (f.id == check::FaultId::raw_hazard || f.id == check::FaultId::war_hazard) found.emplace_back(name(f.id));
    }
    return found;
  };
  EXPECT_THAT(races(3), testing::IsEmpty());
  EXPECT_THAT(races(0), testing::Contains("raw-hazard"));
  EXPECT_THAT(races(0), testing::Contains("war-hazard"));
}

}  // namespace
}  // namespace vinci::isa
