// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

// A joint core and one allocation of 4 KiB at kBase, which is argument 0.
struct Bench {
  explicit Bench(OverflowMode mode = OverflowMode::inf_nan, Arch a = Arch::c100)
      : arch(a), machine(spec(mode, a), gm, 0) {
    gm.allocate(4096, "b");
  }
  static CoreSpec spec(OverflowMode mode, Arch arch) {
    return {.arch = arch,
            .kind = CoreKind::joint,
            .sizes = {0, 0x4000, 0x2000, 0x2000, 0x4000, 0x2000},
            .flags_per_pair = 4,
            .overflow = mode,
            .overflow_selectable = false};
  }
  void run(const std::string& text, u64 budget = 1000) {
    const Code code(assemble(text, "k.s", arch));
    machine.run(code, {.args = {kBase}}, budget);
    left = budget;
  }
  u32 ub(u64 address) { return machine.mem()[BufId::UB].load<u32>(address); }

  static constexpr u64 kBase = GlobalMemory::kBase;
  Arch arch;
  GlobalMemory gm;
  Machine machine;
  u64 left = 0;
};

const std::string kCopyIn = "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 8, 0, 0\n";  // 256 B to UB
const std::string kAddOne = "vadds.f32 0x100, 0, 1.0f, 1, 1, 1, 8, 8\n";        // UB[0x100] = UB[0] + 1
const std::string kCopyOut = "copy_ubuf_to_gm 0x100000400, 0x100, 0, 1, 8, 0, 0\n";

TEST(Machine, WaitsMayComeBeforeTheirSets) {
  Bench b;
  gm_store<float>(b.gm, Bench::kBase, 2.5f);
  b.run("wait_flag PIPE_MTE2, PIPE_V, 0\n" + kAddOne + "wait_flag PIPE_V, PIPE_MTE3, 0\n" +
        kCopyOut +  // queued before what it waits for
        "set_flag PIPE_V, PIPE_MTE3, 0\n" + kCopyIn + "set_flag PIPE_MTE2, PIPE_V, 0\nend");
  EXPECT_EQ(gm_load<float>(b.gm, Bench::kBase + 0x400), 3.5f);
}

TEST(Machine, WithoutFlagsPipesRunAsTheyAreFed) {
  Bench b;
  gm_store<float>(b.gm, Bench::kBase, 2.5f);
  b.run(kAddOne + kCopyIn + kCopyOut + "end");  // the sum is taken before the copy
  EXPECT_EQ(gm_load<float>(b.gm, Bench::kBase + 0x400), 1.0f);
}

TEST(Machine, AFlagIsTakenDownByItsWait) {
  Bench b;
  b.run(
      "set_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_M, PIPE_V, 0\n"
      "set_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_M, PIPE_V, 0\nend");
  EXPECT_EQ(error_of([&] {
              b.run("set_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_M, PIPE_V, 0\nwait_flag PIPE_M, PIPE_V, 0\nend");
            }),
            "deadlock: nothing can move on AI_CORE0 (on hardware: aicore timeout, error 507014):\n"
            "  V waits for wait_flag src=PIPE_M dst=PIPE_V event=EVENT_ID0 (k.s:3)");
}

TEST(Machine, DuplicateSetFlagNamesItsLine) {
  EXPECT_THAT(error_of([] { Bench().run("set_flag PIPE_M, PIPE_V, 1\nset_flag PIPE_M, PIPE_V, 1\nend"); }),
              HasSubstr("program: k.s:2: duplicate set_flag: PIPE_M -> PIPE_V EVENT_ID1 is already set and not yet "
                        "waited for"));
  EXPECT_THAT(error_of([] { Bench().run("set_flag PIPE_S, PIPE_V, 1\nset_flag PIPE_S, PIPE_V, 1\nend"); }),
              HasSubstr("program: k.s:2: duplicate set_flag: PIPE_S -> PIPE_V EVENT_ID1"));
}

// On a device the other pipe waits already: the second set comes after the first wait.
TEST(Machine, APipeSetsAFlagAgainWhenItsWaitHasComeByThen) {
  const std::string sets = "set_flag PIPE_M, PIPE_V, 1\nset_flag PIPE_M, PIPE_V, 1\n",
                    wait = "wait_flag PIPE_M, PIPE_V, 1\n";
  EXPECT_NO_THROW(Bench().run(sets + wait + wait + "end"));
  EXPECT_NO_THROW(
      Bench().run("set_flag PIPE_M, PIPE_S, 1\nset_flag PIPE_M, PIPE_S, 1\n"
                  "wait_flag PIPE_M, PIPE_S, 1\nwait_flag PIPE_M, PIPE_S, 1\nend"));
  for (const std::string_view rest : {"end", "pipe_barrier PIPE_ALL\nend"})
    EXPECT_THAT(error_of([&] { Bench().run(sets + std::string(rest)); }), HasSubstr("k.s:2: duplicate set_flag"));
  EXPECT_THAT(error_of([&] { Bench().run(sets + "wait_flag PIPE_V, PIPE_S, 0\nend"); }),
              HasSubstr("k.s:2: duplicate set_flag"));
}

TEST(Machine, FlagsDoNotOutliveTheirBlock) {
  Bench b;
  b.run("set_flag PIPE_M, PIPE_V, 1\nend");
  EXPECT_NO_THROW(b.run("set_flag PIPE_M, PIPE_V, 1\nend"));
}

TEST(Machine, FlagsOfTheScalarUnit) {
  Bench b;
  gm_store<float>(b.gm, Bench::kBase, 2.5f);
  b.run(kCopyIn +
        "set_flag PIPE_MTE2, PIPE_S, 0\nwait_flag PIPE_MTE2, PIPE_S, 0\n"
        "ld_ubuf.b32 X1, 0\nst_ubuf.b32 X1, 4\n"
        "set_flag PIPE_S, PIPE_V, 0\nwait_flag PIPE_S, PIPE_V, 0\n" +
        kAddOne + "end");
  EXPECT_EQ(b.machine.mem()[BufId::UB].load<float>(0x104), 3.5f);
}

TEST(Machine, TheScalarUnitCannotWaitForWhatNobodySets) {
  EXPECT_THAT(
      error_of([] { Bench().run("mov X1, 1\nwait_flag PIPE_M, PIPE_S, 2\nend"); }),
      HasSubstr("deadlock: nothing can move on AI_CORE0 (on hardware: aicore timeout, error 507014):\n  S waits"));
}

TEST(Machine, BarrierOfAllPipesCannotPassAWaitingPipe) {
  const std::string fault = error_of([] {
    Bench().run("wait_flag PIPE_MTE2, PIPE_V, 0\n" + kAddOne +
                "pipe_barrier PIPE_ALL\nset_flag PIPE_MTE2, PIPE_V, 0\nend");
  });
  EXPECT_THAT(
      fault,
      HasSubstr("deadlock: nothing can move on AI_CORE0 (on hardware: aicore timeout, error 507014):\n  S waits"));
  EXPECT_THAT(fault, HasSubstr("k.s:3"));
  EXPECT_THAT(fault, HasSubstr("\n  V waits for wait_flag src=PIPE_MTE2 dst=PIPE_V event=EVENT_ID0 (k.s:1)"));
}

TEST(Machine, BarrierOfAPipeHoldsNobodyElse) {
  Bench b;
  b.run("wait_flag PIPE_MTE2, PIPE_V, 0\npipe_barrier PIPE_V\npipe_barrier PIPE_S\n" + kAddOne + kCopyIn +
        "set_flag PIPE_MTE2, PIPE_V, 0\nend");
  EXPECT_EQ(b.machine.mem()[BufId::UB].load<float>(0x100), 1.0f);
}

TEST(Machine, CountsInstructionsAgainstTheBudget) {
  Bench b;
  b.run("mov X1, 1\npipe_barrier PIPE_ALL\nend", 3);
  EXPECT_EQ(b.left, 0u);
  EXPECT_THAT(error_of([&] { b.run("mov X1, 1\npipe_barrier PIPE_ALL\nend", 2); }),
              HasSubstr("limit of instructions is reached; a loop may not end"));
  EXPECT_THAT(error_of([&] { b.run("l: b l\nend"); }), HasSubstr("limit: "));
}

// Repeats that all touch the same blocks stay inside of UB however many there are.
TEST(Machine, RepeatsOfCounterModeCountAgainstTheBudget) {
  const std::string count = "set_mask_count\nset_vector_mask 0, X1\nvadds.f16 0, 0, 0, 1, 1, 1, 0, 0\nend";
  Bench b(OverflowMode::inf_nan, Arch::m200);
  b.run("mov X1, 32640\n" + count, 5);  // 255 repeats of 128 lanes
  EXPECT_EQ(b.left, 0u);
  b.run("mov X1, 32641\n" + count, 6);
  EXPECT_EQ(b.left, 0u);
  EXPECT_EQ(b.machine.executed(), 10u);
  EXPECT_THAT(
      error_of([&] { b.run("mov X1, -1\n" + count, 100'000); }),
      HasSubstr("limit: k.s:4: the limit of instructions is reached; the vector mask asks for 33554432 repeats"));
}

TEST(Machine, StatusIsStickyWithinABlockAndReadable) {
  Bench b(OverflowMode::saturation);
  const std::string overflow =
      "vector_dup.f16 0, 60000.0h, 1, 1, 1, 8, 8\n"
      "vadd.f16 0x100, 0, 0, 1, 1, 1, 1, 8, 8, 8\n";
  b.run("get_status X1\nst_dev.b64 X1, 0x100000000\n" + overflow +
        "pipe_barrier PIPE_ALL\nget_status X1\nst_dev.b64 X1, 0x100000008\nend");
  EXPECT_EQ(gm_load<u64>(b.gm, Bench::kBase), 0u);
  EXPECT_EQ(gm_load<u64>(b.gm, Bench::kBase + 8), status::kFloatOverflow);
  EXPECT_EQ(b.machine.mem()[BufId::UB].load<u16>(0x100), 0x7bffu);
  b.run("get_status X1\nst_dev.b64 X1, 0x100000010\nend");
  EXPECT_EQ(gm_load<u64>(b.gm, Bench::kBase + 16), 0u);
  EXPECT_EQ(b.machine.status(), 0u);
  EXPECT_EQ(b.machine.status_seen(), status::kFloatOverflow);
}

TEST(Machine, FaultsNameTheLine) {
  EXPECT_THAT(error_of([] { Bench().run("mov X1, 0\n\ndiv X2, 1, X1\nend"); }),
              HasSubstr("program: k.s:3: division by zero"));
  EXPECT_THAT(error_of([] { Bench().run("mov X1, 0\nmov X2, 0"); }),
              HasSubstr("the program runs past its last instruction; `end` is missing"));
  EXPECT_THAT(error_of([] { Bench().run(kCopyIn + "copy_gm_to_ubuf 0, 0x100001000, 0, 1, 1, 0, 0\nend"); }),
              HasSubstr("program: k.s:2: The DDR address of the MTE instruction is out of range"));
}

TEST(Machine, BuffersKeepTheirContentsFromBlockToBlock) {
  Bench b;
  b.run("st_ubuf.b32 7, 64\nend");
  b.run("end");
  EXPECT_EQ(b.ub(64), 7u);
}

}  // namespace
}  // namespace vinci::isa
