// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/timed_run.h"

// Every number here follows from the cost lines of round_chip(): issue 1, mad of one fractal step 4 (+ 21 until its
// result is visible), vadd 3 (+ 10 if the pipe was empty, + 14), vector_dup 1 a repeat.
namespace vinci::test {
namespace {

using isa::Arch;
using isa::CoreKind;
using testing::HasSubstr;

const std::string kMad = "mad.f162f32 0, 0, 0, 16, 16, 16, 1\n";
const std::string kVadd = "vadd.f16 0, 0, 0, 1, 1, 1, 1, 8, 8, 8\n";
const std::string kDup = "vector_dup.f16 0, 0, 1, 1, 1, 8, 8\n";
const std::string kLoad512 = "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 16, 0, 0\n";

std::string times(int n, std::string_view line) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += line;
  return out;
}

Ran joint(const std::string& text) { return run_program(round_chip(Arch::c100), text); }

TEST(Pipe, TakesTheNextAfterTheOccupancyAndShowsResultsAfterTheLatency) {
  const Ran r = joint(kMad + kMad + "end");
  EXPECT_EQ(r.begin_of("mad", 0), 0u);
  EXPECT_EQ(r.end_of("mad", 0), 4u);
  EXPECT_EQ(r.done_of("mad", 0), 25u);
  EXPECT_EQ(r.queued_of("mad", 1), 1u);
  EXPECT_EQ(r.begin_of("mad", 1), 4u);
  EXPECT_EQ(r.done_of("mad", 1), 29u);
}

TEST(Pipe, StepsOfTheCubeAddUp) {
  const Ran r = joint("mad.f162f32 0, 0, 0, 32, 64, 48, 1\nend");  // 2 * 4 * 3 steps
  EXPECT_EQ(r.end_of("mad"), 26u);
  EXPECT_EQ(r.stat("core0.AI_CORE/M/steps"), 24u);
  EXPECT_EQ(r.result.cube_macs, 32u * 64 * 48);
}

TEST(Pipe, OthersGoOnMeanwhile) {
  const Ran r = joint(kLoad512 + kMad + kDup + "end");
  EXPECT_EQ(r.begin_of("copy_gm_to_ubuf"), 0u);
  EXPECT_EQ(r.begin_of("mad"), 1u);
  EXPECT_EQ(r.begin_of("vector_dup"), 2u);
  EXPECT_GT(r.end_of("copy_gm_to_ubuf"), r.end_of("mad"));
}

TEST(Pipe, RetiresInOrder) {
  // The second has no tail, but its result is not visible before the one of the first.
  const Ran r = joint(kVadd + kDup + "end");
  EXPECT_EQ(r.done_of("vadd"), 27u);
  EXPECT_EQ(r.begin_of("vector_dup"), 13u);
  EXPECT_EQ(r.end_of("vector_dup"), 14u);
  EXPECT_EQ(r.done_of("vector_dup"), 27u);
}

TEST(Pipe, PaysTheHeadOnlyWhenNothingIsUnderWay) {
  const Ran close = joint(kVadd + kVadd + "end");
  EXPECT_EQ(close.end_of("vadd", 0), 13u);
  EXPECT_EQ(close.begin_of("vadd", 1), 13u);
  EXPECT_EQ(close.end_of("vadd", 1), 16u);
  const Ran last_moment = joint(kVadd + times(25, "mov X1, 1\n") + kVadd + "end");
  EXPECT_EQ(last_moment.begin_of("vadd", 1), 26u);  // the first is done at 27
  EXPECT_EQ(last_moment.end_of("vadd", 1), 29u);
  const Ran late = joint(kVadd + times(26, "mov X1, 1\n") + kVadd + "end");
  EXPECT_EQ(late.begin_of("vadd", 1), 27u);
  EXPECT_EQ(late.end_of("vadd", 1), 40u);
}

TEST(Units, TwoCubesHalveIndependentProductsAndLeaveDependentOnes) {
  config::ChipConfig two = round_chip(Arch::c100);
  two.core.units.cube = 2;
  const auto steps = [](bool independent) {  // 16 mads of 8 steps, on two tiles of L0C or on one
    std::string text;
    for (int i = 0; i < 16; ++i)
      text += fmt::format("mad.f162f32 {}, 0, 0, 32, 32, 32, {}\n", independent ? i % 2 * 4096 : 0, i < 2 ? 1 : 0);
    return text + "end";
  };
  const auto end = [](const Ran& r) { return r.end_of("mad", 15); };
  const Ran one = joint(steps(true)), half = run_program(two, steps(true));
  EXPECT_EQ(end(one), 16u * 10);
  EXPECT_EQ(end(half), 8u * 10 + 1);  // the second is issued a cycle after the first
  EXPECT_EQ(end(run_program(two, steps(false))), end(joint(steps(false))));
  EXPECT_EQ(half.result.cube_macs, one.result.cube_macs);
  EXPECT_EQ(half.stat("core0.AI_CORE/M/unit1/instructions"), 8u);
  EXPECT_EQ(half.stat("core0.AI_CORE/M/unit2/instructions"), 8u);
  EXPECT_EQ(half.stat("core0.AI_CORE/M/busy"), 81u);
  EXPECT_EQ(half.seen.nth("mad", 1).pipe, "M.2");
}

TEST(Units, TwoVectorUnitsShareTheQueueOfTheirPipe) {
  config::ChipConfig two = round_chip(Arch::c100);
  two.core.units.vector = 2;
  const std::string long_dup = "vector_dup.f16 0, 0, 40, 1, 1, 8, 8\n";
  const std::string short_dup = "vector_dup.f16 16384, 0, 4, 1, 1, 8, 8\n";
  const Ran r = run_program(two, long_dup + short_dup + short_dup + long_dup + short_dup + "end");
  EXPECT_EQ(r.begin_of("vector_dup", 1), 1u);
  EXPECT_EQ(r.begin_of("vector_dup", 2), 5u);
  EXPECT_EQ(r.begin_of("vector_dup", 3), 40u);  // it writes what the first one writes
  EXPECT_EQ(r.begin_of("vector_dup", 4), 40u);  // and holds up all behind it
  EXPECT_EQ(r.done_of("vector_dup", 1), 40u);   // results appear in order
}

TEST(Pipe, BarrierWaitsForResults) {
  const Ran r = joint(kVadd + "pipe_barrier PIPE_V\n" + kVadd + "end");
  EXPECT_EQ(r.begin_of("vadd", 1), 27u);
  EXPECT_EQ(r.end_of("vadd", 1), 40u);  // the pipe was empty
  EXPECT_EQ(r.stat("core0.AI_CORE/V/stall_barrier"), 14u);
}

TEST(Pipe, BarrierOfOnePipeLeavesOthersAlone) {
  const Ran r = joint(kVadd + "pipe_barrier PIPE_V\n" + kMad + kVadd + "end");
  EXPECT_EQ(r.begin_of("mad"), 2u);
  EXPECT_EQ(r.begin_of("vadd", 1), 27u);
}

TEST(Flags, CarryTheResultToAnotherPipe) {
  const Ran r = joint(kMad + "set_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_M, PIPE_V, 0\n" + kDup + "end");
  EXPECT_EQ(r.done_of("mad"), 25u);
  EXPECT_EQ(r.begin_of("set_flag"), 25u);
  EXPECT_EQ(r.begin_of("wait_flag"), 2u);
  EXPECT_EQ(r.end_of("wait_flag"), 25u);
  EXPECT_EQ(r.begin_of("vector_dup"), 25u);
  EXPECT_EQ(r.stat("core0.AI_CORE/V/stall_wait_flag"), 23u);
  ASSERT_EQ(r.seen.arrows().size(), 1u);
  EXPECT_EQ(r.seen.arrows()[0].from, "core0.AI_CORE.M");
  EXPECT_EQ(r.seen.arrows()[0].to, "core0.AI_CORE.V");
  EXPECT_EQ(r.seen.arrows()[0].begin, 25u);
  EXPECT_EQ(r.seen.arrows()[0].end, 25u);
  EXPECT_EQ(r.seen.arrows()[0].name, "EVENT_ID0");
}

TEST(Flags, TakeTheTimeThatTheChipFileSays) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.line("scalar.sync"_cost).tail = 6;
  const Ran r = run_program(chip, kMad + "set_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_M, PIPE_V, 0\n" + kDup + "end");
  EXPECT_EQ(r.begin_of("set_flag"), 25u);
  EXPECT_EQ(r.begin_of("vector_dup"), 31u);
}

TEST(Flags, SetterGoesOnWhenTheFlagIsSet) {
  const Ran r = joint(kMad + "set_flag PIPE_M, PIPE_V, 0\n" + kMad + "wait_flag PIPE_M, PIPE_V, 0\n" + kDup + "end");
  EXPECT_EQ(r.begin_of("mad", 1), 25u);
  EXPECT_EQ(r.begin_of("vector_dup"), 25u);  // only what came before the flag counts
}

TEST(Flags, TakeTheirTimeWhereTheyAreUpAlready) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.line("scalar.sync"_cost).tail = 6;
  const Ran r = run_program(
      chip, kMad + "set_flag PIPE_M, PIPE_V, 0\n" + times(20, kVadd) + "wait_flag PIPE_M, PIPE_V, 0\n" + kDup + "end");
  EXPECT_GT(r.end_of("vadd", 19), r.begin_of("set_flag") + 6);
  EXPECT_EQ(r.begin_of("vector_dup"), r.end_of("vadd", 19) + 6);
}

TEST(Flags, DoNotHoldUpTheNextCopyFromGlobalMemory) {
  const std::string copy = "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 16, 0, 0\n";
  const std::string set = "set_flag PIPE_MTE2, PIPE_V, 0\nset_flag PIPE_MTE2, PIPE_V, 1\n";
  const Ran with = joint(copy + set + copy + "end"), without = joint(copy + copy + "end");
  EXPECT_EQ(with.begin_of("copy_gm_to_ubuf", 1), without.begin_of("copy_gm_to_ubuf", 1));
  EXPECT_LT(with.begin_of("copy_gm_to_ubuf", 1), with.done_of("copy_gm_to_ubuf"));
}

TEST(Pipe, AVectorInstructionWhoseMaskWasSetBeginsWhenTheOneBeforeIsDone) {
  config::ChipConfig chip = round_chip(Arch::m200);
  const auto run = [&](const std::string& setup, const std::string& between) {
    return run_program(chip, setup + kVadd + between + kVadd + kVadd + "end");
  };
  const std::string mask = "set_vector_mask 0, 128\n";
  for (const std::string& setup : {mask, mask + "set_mask_count\n"}) {
    chip.core.mask_waits = false;
    const Ran overlapped = run(setup, mask);
    EXPECT_EQ(overlapped.begin_of("vadd", 1), overlapped.end_of("vadd"));
    chip.core.mask_waits = true;
    const Ran kept = run(setup, ""), set = run(setup, mask);
    EXPECT_EQ(kept.begin_of("vadd", 1), kept.end_of("vadd"));
    EXPECT_LT(kept.end_of("vadd"), kept.done_of("vadd"));
    EXPECT_EQ(set.begin_of("vadd", 1), set.done_of("vadd"));  // although it is the same mask
    EXPECT_EQ(set.begin_of("vadd", 2), set.end_of("vadd", 1));
  }
  const Ran others = run(mask, "set_ctrl 0\n");
  EXPECT_EQ(others.begin_of("vadd", 1), others.end_of("vadd"));
}

TEST(Flags, CanBeWaitedForBeforeTheyAreSet) {
  const Ran r = joint("wait_flag PIPE_M, PIPE_V, 0\n" + kDup + times(10, "mov X1, 1\n") + kMad +
                      "set_flag PIPE_M, PIPE_V, 0\nend");
  EXPECT_EQ(r.begin_of("mad"), 12u);
  EXPECT_EQ(r.begin_of("vector_dup"), 37u);
}

TEST(Flags, CostNothingWhereTheyAreUpAlready) {
  const Ran r =
      joint("set_flag PIPE_M, PIPE_V, 0\n" + times(10, "mov X1, 1\n") + "wait_flag PIPE_M, PIPE_V, 0\n" + kDup + "end");
  EXPECT_EQ(r.begin_of("vector_dup"), 12u);
  EXPECT_EQ(r.stat("core0.AI_CORE/V/stall_wait_flag"), 0u);
}

TEST(Flags, OrderTheScalarUnitWithPipes) {
  const Ran r = joint(kMad + "set_flag PIPE_M, PIPE_S, 0\nwait_flag PIPE_M, PIPE_S, 0\n" + kDup + "end");
  EXPECT_EQ(r.begin_of("vector_dup"), 26u);  // the wait is over at 25 and takes its cycle of issue
  EXPECT_EQ(r.stat("core0.AI_CORE/S/stall_wait_flag"), 23u);
  const Ran back =
      joint("wait_flag PIPE_S, PIPE_V, 0\n" + kDup + times(7, "mov X1, 1\n") + "set_flag PIPE_S, PIPE_V, 0\nend");
  EXPECT_EQ(back.begin_of("vector_dup"), 9u);
}

TEST(Flags, SetTwiceIsAFaultOfTheSecond) {
  const std::string fault =
      fault_of([] { joint("set_flag PIPE_M, PIPE_V, 0\n" + kMad + "set_flag PIPE_M, PIPE_V, 0\nend"); });
  EXPECT_THAT(fault, HasSubstr("program: k.s:3: duplicate set_flag: PIPE_M -> PIPE_V EVENT_ID0 is already set"));
  EXPECT_THAT(fault, HasSubstr("task 't', block 0, core0.AI_CORE, PIPE_M"));
}

// V takes the first flag when it is free; M, which holds at the second set, goes on then.
TEST(Flags, TheSecondSetHoldsUntilTheFirstIsTaken) {
  const std::string set = "set_flag PIPE_M, PIPE_V, 0\n", wait = "wait_flag PIPE_M, PIPE_V, 0\n";
  const std::string busy = "vector_dup.f16 0, 0, 100, 1, 1, 8, 8\n";
  const Ran held = joint(busy + set + set + kMad + wait + wait + kVadd + "end");
  const Ran once = joint(busy + set + kMad + wait + kVadd + "end");
  EXPECT_EQ(once.begin_of("mad"), 2u);
  EXPECT_EQ(held.begin_of("mad"), once.begin_of("vadd"));
  EXPECT_EQ(held.begin_of("vadd"), once.begin_of("vadd"));
  EXPECT_EQ(held.stat("core0.AI_CORE/M/stall_wait_flag"), held.begin_of("mad") - 2);
}

// The scalar unit waits likewise if a wait for the first set is queued; behind other sets it is a fault.
TEST(Flags, TheScalarUnitHoldsUntilItsFlagIsTaken) {
  const std::string set = "set_flag PIPE_S, PIPE_V, 0\n", wait = "wait_flag PIPE_S, PIPE_V, 0\n";
  const std::string busy = "vector_dup.f16 0, 0, 100, 1, 1, 8, 8\n";
  const Ran r = joint(busy + set + wait + kVadd + set + wait + kDup + "end");
  EXPECT_GE(r.begin_of("vadd"), 100u);
  EXPECT_NEAR(static_cast<double>(r.stat("core0.AI_CORE/S/stall_wait_flag")), static_cast<double>(r.begin_of("vadd")),
              6);
  EXPECT_GT(r.begin_of("vector_dup", 1), r.begin_of("vadd"));
  const std::string fault = fault_of([&] { joint(set + set + wait + kDup + "end"); });
  EXPECT_THAT(fault, HasSubstr("k.s:2: duplicate set_flag: PIPE_S -> PIPE_V EVENT_ID0 is already set"));
}

// Both pipes hold, so neither comes to its waits: what looks like the end of a wait is behind the sets.
TEST(Flags, TwoPipesThatHoldAreAFault) {
  const std::string v = "set_flag PIPE_V, PIPE_M, 0\n", m = "set_flag PIPE_M, PIPE_V, 0\n";
  const std::string waits = "wait_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_V, PIPE_M, 0\n";
  for (const int late : {0, 100}) {
    const std::string later = times(late, "mov X1, 1\n");
    const std::string text = fmt::format("{0}{0}{1}{2}{1}{3}{3}end", v, m, later, waits);
    EXPECT_THAT(fault_of([&] { joint(text); }), HasSubstr("duplicate set_flag")) << late;
  }
}

TEST(Flags, SetTwiceBehindOneInstructionReachAPipeThatWaitsAlready) {
  const std::string pair = "set_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_M, PIPE_V, 0\n";
  EXPECT_EQ(joint(kMad + pair + pair + kDup + "end").begin_of("vector_dup"), 26u);  // one cycle after the first pair
}

TEST(Flags, SetTwiceWhileTheFirstIsOnItsWayReachAPipeThatWaitsAlready) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.line("scalar.sync"_cost).tail = 3;
  const std::string pair = "set_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_M, PIPE_V, 0\n";
  EXPECT_EQ(run_program(chip, kMad + pair + pair + kDup + "end").begin_of("vector_dup"), 29u);  // 25 + 3, 26 + 3
  EXPECT_THAT(fault_of([&] { run_program(chip, "set_flag PIPE_M, PIPE_V, 0\nset_flag PIPE_M, PIPE_V, 0\nend"); }),
              HasSubstr("k.s:2: duplicate set_flag"));
}

TEST(Flags, OfOneBlockDoNotReachTheNext) {
  const std::string text = "set_flag PIPE_M, PIPE_V, 0\nend";
  EXPECT_NO_THROW(run_program(round_chip(Arch::c100), text, {.blocks = 3}));
}

TEST(Queue, FullOnesStallTheScalarUnit) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.queues[isa::PipeId::M] = 1;
  const Ran r = run_program(chip, times(4, kMad) + kDup + "end");
  EXPECT_EQ(r.queued_of("mad", 1), 1u);
  EXPECT_EQ(r.queued_of("mad", 2), 4u);  // the second leaves the queue at 4
  EXPECT_EQ(r.queued_of("mad", 3), 8u);
  EXPECT_EQ(r.begin_of("mad", 3), 12u);
  EXPECT_EQ(r.queued_of("vector_dup"), 9u);
  EXPECT_EQ(r.stat("core0.AI_CORE/S/stall_queue_full"), 2u + 3u);
}

TEST(Queue, DeepOnesDoNot) {
  const Ran r = joint(times(4, kMad) + kDup + "end");
  EXPECT_EQ(r.queued_of("mad", 3), 3u);
  EXPECT_EQ(r.queued_of("vector_dup"), 4u);
  EXPECT_EQ(r.stat("core0.AI_CORE/S/stall_queue_full"), 0u);
}

TEST(Scalar, TakesACycleAnInstruction) {
  EXPECT_EQ(joint(kMad + "end").queued_of("mad"), 0u);
  EXPECT_EQ(joint("mov X1, 5\nadd X1, X1, 2\nmul X1, X1, X1\n" + kMad + "end").queued_of("mad"), 3u);
  // mov, then three rounds of sub and branch
  EXPECT_EQ(joint("mov X1, 3\nl: sub X1, X1, 1\nbgt X1, 0, l\n" + kMad + "end").queued_of("mad"), 7u);
}

TEST(Scalar, NopsTakeTheCyclesThatTheyState) {
  const Ran r = joint("nop 100\n" + kDup + "nop\nmov X1, 7\nnop X1\n" + kDup + "end");
  EXPECT_EQ(r.begin_of("vector_dup", 0), 100u);
  EXPECT_EQ(r.begin_of("vector_dup", 1), 100u + 1 + 1 + 1 + 7);
}

TEST(Scalar, NopsSayWhoseCodeTheyStandFor) {
  const Ran r = joint(".rept 3\nnop 10 by 5, 4 by 5\n.endr\nnop 7\nend");  // the last has a line of its own
  ASSERT_EQ(r.result.native.size(), 2u);
  EXPECT_EQ(r.result.native[0].own, 4u + 9 + 14);
  EXPECT_EQ(r.result.native[0].api, 3 * 6u);
  EXPECT_EQ(r.result.native[1].own, 0u);
  EXPECT_EQ(r.result.native[1].api, 7u);
  EXPECT_EQ(r.result.cycles, joint(".rept 3\nnop 10 by 5\n.endr\nnop 7\nend").result.cycles);
}

TEST(Scalar, LongLoopsAreNotCutShort) {
  const Ran r = joint("mov X1, 20000\nl: sub X1, X1, 1\nbgt X1, 0, l\n" + kMad + "end");
  EXPECT_EQ(r.queued_of("mad"), 40001u);
}

TEST(Scalar, LoadsWaitForTheMemoryAndStoresDoNot) {
  const std::string load = "ld_dev.b32 X1, 0x100000000\n";
  EXPECT_EQ(joint(load + kMad + "end").queued_of("mad"), 10u + 302);               // slice, channel, 200, 100
  EXPECT_EQ(joint(load + load + kMad + "end").queued_of("mad"), 312u + 10 + 101);  // slice, 100
  EXPECT_EQ(joint("st_dev.b32 7, 0x100000000\n" + kMad + "end").queued_of("mad"), 4u);
  EXPECT_EQ(joint("st_ubuf.b32 7, 0\nld_ubuf.b32 X1, 0\n" + kMad + "end").queued_of("mad"), 14u);
}

TEST(Scalar, ReachesMemoryOnceForEachAccess) {
  const Ran load = run_program(round_chip(Arch::c100), "ld_dev.b64 X1, 0x100000000\nend");
  EXPECT_EQ(load.stat("l2/read_bytes"), 8u);
  const Ran store = run_program(round_chip(Arch::c100), "st_dev.b32 7, 0x100000000\npipe_barrier PIPE_ALL\nend");
  EXPECT_EQ(store.stat("l2/write_bytes"), 4u);
}

TEST(Scalar, ReadsStatusAtItsOwnTime) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.numerics.overflow_mode = isa::OverflowMode::saturation;
  const auto status_after = [&](int cycles) {
    const Ran r = run_program(chip, "vector_dup.f16 0, 60000.0h, 1, 1, 1, 8, 8\n" + kVadd +
                                        times(cycles, "mov X1, 1\n") + "get_status X2\nst_dev.b8 X2, 0x100000000\nend");
    EXPECT_EQ(r.done_of("vadd"), 28u);
    return std::to_integer<u64>(r.gm[0]);
  };
  EXPECT_EQ(status_after(25), 0u);  // read at 27
  EXPECT_EQ(status_after(27), isa::status::kFloatOverflow);
}

TEST(Scalar, SystemCounterShowsSimulatedTimeInItsOwnUnits) {
  config::ChipConfig chip = round_chip(Arch::c220);
  chip.core.sys_cnt.frequency = config::Hertz(50e6);  // a tick is 20 cycles of 1 GHz
  // What get_sys_cnt gives when it executes at a cycle.
  const auto counter_at = [&](int cycle) {
    const Ran r = run_program(chip, times(cycle, "mov X1, 1\n") + "get_sys_cnt X2\nst_dev.b8 X2, 0x100000000\nend",
                              {.kind = CoreKind::vector});
    return std::to_integer<u64>(r.gm[0]);
  };
  EXPECT_EQ(counter_at(0), 0u);
  EXPECT_EQ(counter_at(19), 0u);
  EXPECT_EQ(counter_at(20), 1u);
  EXPECT_EQ(counter_at(239), 11u);
  EXPECT_EQ(counter_at(240), 12u);
  chip.core.sys_cnt.frequency = config::Hertz(1e9);
  EXPECT_EQ(counter_at(200), 200u);
}

// One vector core is all cores of mode 0, so its flag comes back to itself: set at 1, waited for from 2 on.
TEST(CrossCore, FlagsArriveAfterTheTail) {
  const std::string set = "ffts_cross_core_sync PIPE_V, 0x1 | 3 << 8\n", wait = "wait_flag_dev 3\n" + kDup + "end";
  const auto goes_on = [](u32 tail, const std::string& text) {
    config::ChipConfig chip = round_chip(Arch::c220);
    chip.core.line("scalar.cross_core"_cost).tail = tail;
    return run_program(chip, "set_ffts_base_addr 1\n" + text, {.kind = CoreKind::vector}).queued_of("vector_dup");
  };
  EXPECT_EQ(goes_on(120, set + wait), 1u + 120 + 1);
  EXPECT_EQ(goes_on(121, set + wait), 1u + 121 + 1);
  EXPECT_EQ(goes_on(120, kVadd + set + wait), 28u + 120 + 1);  // when what is before it in its pipe has retired
  // Still on its way at 11, there at 12: waiting for what has arrived costs the issue alone.
  EXPECT_EQ(goes_on(11, set + times(9, "mov X1, 1\n") + wait), 11u + 2);
  EXPECT_EQ(goes_on(11, set + times(10, "mov X1, 1\n") + wait), 12u + 1);
  EXPECT_EQ(goes_on(11, set + times(11, "mov X1, 1\n") + wait), 13u + 1);
}

// As above: one core that sets twice needs the FFTS twice.
TEST(CrossCore, FlagsPassOneAfterTheOther) {
  const auto goes_on = [](u32 interval, u32 between) {
    config::ChipConfig chip = round_chip(Arch::c220);
    chip.core.line("scalar.cross_core"_cost).tail = 120;
    chip.scheduler.cross_core_flag = config::Seconds(interval * 1e-9);
    const std::string set = "ffts_cross_core_sync PIPE_V, 0x1 | 3 << 8\n", wait = "wait_flag_dev 3\n";
    return run_program(
               chip, "set_ffts_base_addr 1\n" + set + times(between, "mov X1, 1\n") + set + wait + wait + kDup + "end",
               {.kind = CoreKind::vector})
        .queued_of("vector_dup");
  };
  EXPECT_EQ(goes_on(0, 20), 1u + 21 + 120 + 1);
  EXPECT_EQ(goes_on(50, 20), 1u + 50 + 120 + 1);
  EXPECT_EQ(goes_on(50, 60), 1u + 61 + 120 + 1);
}

TEST(Scalar, BarrierOfAllPipesWaitsForAll) {
  const Ran r = joint(kMad + kDup + "pipe_barrier PIPE_ALL\n" + kDup + "end");
  EXPECT_EQ(r.queued_of("vector_dup", 1), 26u);
  EXPECT_EQ(r.stat("core0.AI_CORE/S/stall_barrier"), 23u);
}

TEST(Scalar, EndWaitsUntilEverythingIsDone) {
  const Ran r = joint(kMad + "end");
  EXPECT_EQ(r.result.cycles, 25u);
  EXPECT_EQ(r.stat("core0.AI_CORE/S/stall_drain"), 23u);  // mad at 0, end at 1
  EXPECT_EQ(joint("end").result.cycles, 1u);
}

TEST(Copies, ReadsHaveTheirPortAndThenTheLatency) {
  // Chunks of 512 B leave at 20 and 36; each needs slice 1, channel 1, HBM 200, L2 100.
  const Ran miss = joint("copy_gm_to_ubuf 0, 0x100000000, 0, 1, 32, 0, 0\nend");
  EXPECT_EQ(miss.end_of("copy_gm_to_ubuf"), 36u + 16);
  EXPECT_EQ(miss.done_of("copy_gm_to_ubuf"), 36u + 302);
  EXPECT_EQ(miss.result.cycles, 338u);
  EXPECT_EQ(miss.stat("core0.AI_CORE/MTE2/busy"), 338u);  // with the data on their way
}

TEST(Copies, ABarrierMakesThemPayTheLatencyOneAfterTheOther) {
  const Ran apart = joint(kLoad512 + "pipe_barrier PIPE_MTE2\n" + kLoad512 + "end");
  EXPECT_EQ(apart.done_of("copy_gm_to_ubuf", 0), 322u);
  EXPECT_EQ(apart.begin_of("copy_gm_to_ubuf", 1), 322u);
  EXPECT_EQ(apart.done_of("copy_gm_to_ubuf", 1), 322u + 20 + 101);
  const Ran together = joint(kLoad512 + kLoad512 + "end");
  EXPECT_EQ(together.begin_of("copy_gm_to_ubuf", 1), 36u);
  EXPECT_EQ(together.done_of("copy_gm_to_ubuf", 1), 322u);  // of the same line, which is on its way
}

TEST(Scalar, RemarksForTheCheckerTakeNoTime) {
  const config::ChipConfig chip = round_chip(Arch::c100);
  const std::string add = "vadd.f16 0, 0x200, 0x400, 1, 1, 1, 1, 8, 8, 8\n";
  const Ran plain = run_program(chip, "mov X0, 1\n" + add + add + "end");
  const Ran remarked =
      run_program(chip, "local_buffer 5, 0, 256\nmov X0, 1\n" + add + "misuse 1, 256, 128\n" + add + "end");
  EXPECT_EQ(remarked.result.cycles, plain.result.cycles);
  EXPECT_EQ(remarked.result.instructions, plain.result.instructions);
  EXPECT_EQ(remarked.begin_of("vadd", 1), plain.begin_of("vadd", 1));
}

TEST(Vector, FractionsOfACycleGoToTheNextInstruction) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.line("vector.binary"_cost) = {.law = config::laws::Repeats{.per_step = 2.5}};
  const std::string add = "vadd.f16 0, 0x200, 0x400, 1, 1, 1, 1, 8, 8, 8\n";
  const Ran r = run_program(chip, add + add + add + add + "end");
  EXPECT_EQ(r.end_of("vadd", 0), r.begin_of("vadd", 0) + 3);
  EXPECT_EQ(r.end_of("vadd", 1), r.begin_of("vadd", 0) + 5);
  EXPECT_EQ(r.end_of("vadd", 2), r.begin_of("vadd", 0) + 8);
  EXPECT_EQ(r.end_of("vadd", 3), r.begin_of("vadd", 0) + 10);
}

TEST(Vector, SourcesInOneBankGroupTakeTwiceAsLong) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.line("vector.binary"_cost) = {.law = config::laws::Repeats{.per_step = 1}};
  chip.core.ub_banks.groups = 16;
  const Ran same = run_program(chip, "vadd.f16 0x8000, 0, 0x4000, 64, 1, 1, 1, 8, 8, 8\nend");
  const Ran apart = run_program(chip, "vadd.f16 0x8000, 0, 0x4100, 64, 1, 1, 1, 8, 8, 8\nend");
  EXPECT_EQ(same.stat("core0.AI_CORE/V/busy"), 128u);
  EXPECT_EQ(apart.stat("core0.AI_CORE/V/busy"), 64u);
}

TEST(Copies, TasksSayWhatTheyMovedFromAndToGlobalMemory) {
  const Ran r = joint(kLoad512 + kLoad512 + "copy_ubuf_to_gm 0x100000000, 0, 0, 1, 8, 0, 0\n" + kDup + "end");
  ASSERT_EQ(r.result.tasks.size(), 1u);
  const models::WorkSums& work = r.result.tasks[0].work;
  EXPECT_EQ(work.gm_read_bytes, 2u * 512);
  EXPECT_EQ(work.gm_write_bytes, 256u);
  EXPECT_EQ(work.cube_macs, 0u);
  EXPECT_EQ(work.vector_repeats, static_cast<u64>(r.stat("core0.AI_CORE/V/steps")));
  EXPECT_GT(work.vector_repeats, 0u);
}

TEST(Copies, TheCostLineIsTheFloorOfWrites) {
  const Ran r = joint("copy_ubuf_to_gm 0x100000000, 0, 0, 1, 16, 0, 0\nend");
  EXPECT_EQ(r.end_of("copy_ubuf_to_gm"), 46u);  // 30 + 512 / 32
  EXPECT_EQ(r.done_of("copy_ubuf_to_gm"), 53u);
  EXPECT_EQ(r.result.cycles, 53u);
}

TEST(Copies, TakeAtLeastTheirMinimum) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.line("move.ub_to_gm"_cost).minimum = 100;
  chip.core.line("move.gm_to_ub"_cost).minimum = 323;  // one more than the memory takes
  const Ran r = run_program(chip, kLoad512 + "copy_ubuf_to_gm 0x100000200, 0x200, 0, 1, 16, 0, 0\nend");
  EXPECT_EQ(r.end_of("copy_gm_to_ubuf"), 323u);
  EXPECT_EQ(r.begin_of("copy_ubuf_to_gm"), 1u);
  EXPECT_EQ(r.end_of("copy_ubuf_to_gm"), 101u);
}

TEST(Copies, FixpipeWritesRowsThatTouchAsOne) {
  const Ran r = run_program(round_chip(Arch::c220),
                            kMad +
                                "set_flag PIPE_M, PIPE_FIX, 0\n"
                                "wait_flag PIPE_M, PIPE_FIX, 0\n"
                                "copy_matrix_cc_to_gm 0x100000000, 0, 0, 16, 16, 16, 16, 0, 0, 0, 0, 1\n"
                                "end",
                            {.kind = CoreKind::cube});
  EXPECT_EQ(r.begin_of("copy_matrix_cc_to_gm"), 25u);
  EXPECT_EQ(r.end_of("copy_matrix_cc_to_gm"), 25u + 10 + 32);  // 16 rows of 2 cycles against 1024 B of 64
  EXPECT_EQ(r.stat("l2/write_bytes"), 1024u);
  EXPECT_EQ(r.stat("l2/misses"), 2u);
  EXPECT_EQ(r.stat("hbm/read_bytes"), 0u);  // whole lines
}

// A mad of 32 steps shows its 4 blocks of C at 13, 27, 41 and 55; FIXPIPE needs 42 cycles for them, the last of which
// is met after 31.
TEST(UnitFlags, FixpipeStartsWhileTheMadRuns) {
  const std::string mad = "mad.f162f32 0, 0, 0, 16, 256, 32, 1, 3\n";
  const std::string fixpipe = "copy_matrix_cc_to_gm 0x100000000, 0, 0, 32, 16, 32, 16, 3, 0, 0, 0, 1\n";
  const Ran r = run_program(round_chip(Arch::c220), fixpipe + mad + mad + "end", {.kind = CoreKind::cube});
  EXPECT_EQ(r.begin_of("mad", 0), 1u);
  EXPECT_EQ(r.done_of("mad", 0), 1u + 55);
  EXPECT_EQ(r.begin_of("copy_matrix_cc_to_gm"), 1u + 55 - 31);
  EXPECT_EQ(r.end_of("copy_matrix_cc_to_gm"), 1u + 55 - 31 + 42);
  EXPECT_EQ(r.begin_of("mad", 1), r.done_of("copy_matrix_cc_to_gm"));  // the data have moved
  EXPECT_EQ(r.stat("l2/write_bytes"), 2048u);
}

// The second FIXPIPE does not take the result that the first is still reading: it waits for the second mad.
TEST(UnitFlags, AResultIsTakenOnce) {
  config::ChipConfig chip = round_chip(Arch::c220);
  chip.core.line("move.l0c_to_gm_nz2nd"_cost).tail = 100;  // the copy after it begins while its data are under way
  const std::string mad = "mad.f162f32 0, 0, 0, 16, 256, 32, 1, 3\n";
  const std::string fixpipe = "copy_matrix_cc_to_gm 0x100000000, 0, 0, 32, 16, 32, 16, 3, 0, 0, 0, 1\n";
  const Ran r = run_program(chip, fixpipe + fixpipe + mad + mad + "end", {.kind = CoreKind::cube});
  EXPECT_GT(r.done_of("copy_matrix_cc_to_gm", 0), r.end_of("copy_matrix_cc_to_gm", 0));
  EXPECT_EQ(r.begin_of("mad", 1), r.done_of("copy_matrix_cc_to_gm", 0));
  EXPECT_EQ(r.begin_of("copy_matrix_cc_to_gm", 1), r.done_of("mad", 1) - 31);
}

TEST(Copies, RetireInOrderToo) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.line("move.ub_to_l1"_cost).tail = 200;
  const Ran r = run_program(chip,
                            "copy_ubuf_to_cbuf 0, 0, 0, 1, 16, 0, 0\n"
                            "copy_ubuf_to_gm 0x100000000, 0, 0, 1, 16, 0, 0\n"
                            "set_flag PIPE_MTE3, PIPE_V, 0\nend");
  EXPECT_EQ(r.done_of("copy_ubuf_to_cbuf"), 208u);
  EXPECT_EQ(r.end_of("copy_ubuf_to_gm"), 8u + 46);
  EXPECT_EQ(r.done_of("copy_ubuf_to_gm"), 208u);
  EXPECT_EQ(r.begin_of("set_flag"), 208u);
}

TEST(Copies, OfNothingTakeNoMemory) {
  const Ran r = joint("copy_gm_to_ubuf 0, 0x100000000, 0, 0, 16, 0, 0\nend");
  EXPECT_EQ(r.end_of("copy_gm_to_ubuf"), 20u);
  EXPECT_EQ(r.stat("l2/read_bytes"), 0u);
}

TEST(Run, TimingOnlyTakesTheSameTime) {
  const std::string text = kLoad512 + "set_flag PIPE_MTE2, PIPE_V, 0\nwait_flag PIPE_MTE2, PIPE_V, 0\n" + kVadd +
                           "ld_dev.b32 X1, 0x100000000\n" + kMad + "end";
  const config::ChipConfig chip = round_chip(Arch::c100);
  const Ran full = run_program(chip, text);
  const Ran timing = run_program(chip, text, {.with_data = false});
  EXPECT_EQ(full.result.cycles, timing.result.cycles);
  EXPECT_EQ(full.result.stats.json().dump(), timing.result.stats.json().dump());
  EXPECT_GT(full.result.cycles, 322u);
}

TEST(Run, DataMoveInTheOrderOfTheFlags) {
  std::string text =
      "vector_dup.s32 0, 0x01020304, 1, 1, 1, 8, 8\n"
      "set_flag PIPE_V, PIPE_MTE3, 0\nwait_flag PIPE_V, PIPE_MTE3, 0\n"
      "copy_ubuf_to_gm 0x100000000, 0, 0, 1, 8, 0, 0\nend";
  const Ran r = joint(text);
  EXPECT_EQ(r.gm[0], std::byte{4});
  EXPECT_EQ(r.gm[255], std::byte{1});
  EXPECT_EQ(r.gm[256], std::byte{0});
}

TEST(Run, DeadlockNamesEveryWaiter) {
  const std::string fault =
      fault_of([] { joint(kMad + "wait_flag PIPE_M, PIPE_V, 3\n" + kDup + "wait_flag PIPE_V, PIPE_S, 1\nend"); });
  EXPECT_THAT(fault, HasSubstr("deadlock: nothing can move at cycle 25"));
  EXPECT_THAT(fault, HasSubstr("core0.AI_CORE.V waits for wait_flag"));
  EXPECT_THAT(fault, HasSubstr("(k.s:2) since cycle 1"));
  EXPECT_THAT(fault, HasSubstr("core0.AI_CORE.S waits for wait_flag"));
  EXPECT_THAT(fault, HasSubstr("(k.s:4) since cycle 3"));
}

TEST(Run, DeadlockOfAFullQueueNamesThePipe) {
  config::ChipConfig chip = round_chip(Arch::c100);
  chip.core.queues[isa::PipeId::V] = 1;
  const std::string fault = fault_of([&] { run_program(chip, "wait_flag PIPE_M, PIPE_V, 0\n" + kDup + kDup + "end"); });
  EXPECT_THAT(fault, HasSubstr("S waits for room in the queue of PIPE_V, to issue vector_dup"));
}

TEST(Run, EndlessLoopsMeetTheLimit) {
  const std::string fault =
      fault_of([] { run_program(round_chip(Arch::c100), "l: b l\nend", {.max_cycles = 10'000}); });
  EXPECT_THAT(fault, HasSubstr("limit: the limit of 10000 cycles is reached"));
}

TEST(Run, LimitIsBeyondTheLastCycle) {
  const config::ChipConfig chip = round_chip(Arch::c100);
  EXPECT_EQ(run_program(chip, kMad + "end", {.max_cycles = 26}).result.cycles, 25u);
  EXPECT_THAT(fault_of([&] { run_program(chip, kMad + "end", {.max_cycles = 24}); }),
              HasSubstr("limit: the limit of 24 cycles is reached"));
}

}  // namespace
}  // namespace vinci::test
