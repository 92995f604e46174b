// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/auto_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/machine/native_core.h"
#include "isa/table/codec.h"
#include "isa/table/table.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr u64 kBase = GlobalMemory::kBase;

CoreSpec core_of(CoreKind kind) {
  BufSizes sizes{0, 0x4000, 0, 0, 0, 0x4000};
  return {.arch = kind == CoreKind::joint ? Arch::m200 : Arch::c220, .kind = kind, .sizes = sizes};
}

// A core with automatic synchronisation. It gets an assembly text line by line; `access` does what GetValue and
// SetValue do.
struct Bench {
  explicit Bench(CoreKind kind = CoreKind::vector)
      : spec(core_of(kind)),
        core(spec, gm, 0),
        flags({.cube = kind != CoreKind::vector, .vector_cores = kind == CoreKind::vector ? 1u : 0u}) {
    gm.allocate(1 << 16, "b");
    core.synchronise_automatically(spec);
    core.start(launch, &flags, {.part = kind == CoreKind::vector ? 1u : 0u}, "k.cpp");
  }
  // What was inserted before its lines, as text.
  std::vector<std::string> feed(const std::string& text) {
    const Program p = assemble(text + "\nend", "k.s", spec.arch);
    std::vector<std::string> out;
    for (usize i = 0; i + 1 < p.code.size(); ++i) {
      core.issue(decode(p.code[i]), ++line);
      take(out);
    }
    return out;
  }
  std::vector<std::string> access(BufId buffer, bool write, u64 address, u32 len = 4) {
    std::vector<std::string> out;
    core.order({.buffer = buffer, .write = write, .address = address, .len = len}, ++line);
    take(out);
    return out;
  }
  std::vector<std::string> get(u64 address) { return access(BufId::UB, false, address); }
  std::vector<std::string> set(u64 address) { return access(BufId::UB, true, address); }
  Program traced() {
    core.issue({.row = row_of("end")}, 0);
    Program p{.arch = spec.arch, .source = "k.cpp", .code = {}, .lines = {}, .labels = {}};
    core.take_trace().write(p, false);
    return p;
  }

  CoreSpec spec;
  GlobalMemory gm;
  NativeCore core;
  CrossCoreFlags flags;
  Launch launch;
  u32 line = 0;

 private:
  void take(std::vector<std::string>& out) const {
    for (const Inst& inst : core.inserted())
      out.push_back(print(inst));
  }
};

const std::string kLoad = "copy_gm_to_ubuf 0, 0x100000000, 0, 1, 8, 0, 0\n";        // UB 0 to 0x100
const std::string kStore = "copy_ubuf_to_gm 0x100000400, 0x100, 0, 1, 8, 0, 0\n";   // UB 0x100 to 0x200
const std::string kStoreInput = "copy_ubuf_to_gm 0x100000400, 0, 0, 1, 8, 0, 0\n";  // UB 0 to 0x100
const std::string kFirst = "vadds.f32 0x100, 0, 1.0f, 1, 1, 1, 8, 8\n";             // 0 to 0x100
const std::string kSecond = "vadds.f32 0x200, 0x100, 1.0f, 1, 1, 1, 8, 8\n";        // 0x100 to 0x200
const std::string kOther = "vadds.f32 0x400, 0x300, 1.0f, 1, 1, 1, 8, 8\n";         // of neither
const std::string kBarrier = "pipe_barrier PIPE_V, 1";

std::string set_flag(const std::string& pipes, int event = 6) {
  return "set_flag " + pipes + ", EVENT_ID" + std::to_string(event) + ", 1";
}
std::string wait_flag(const std::string& pipes, int event = 6) {
  return "wait_flag " + pipes + ", EVENT_ID" + std::to_string(event) + ", 1";
}
auto flag(const std::string& pipes, int event = 6) {
  return ElementsAre(set_flag(pipes, event), wait_flag(pipes, event));
}

TEST(AutoSync, PutsABarrierBetweenAWriteAndItsReader) {
  Bench b;
  EXPECT_THAT(b.feed(kFirst), IsEmpty());
  EXPECT_THAT(b.feed(kOther), IsEmpty());
  EXPECT_THAT(b.feed(kSecond), ElementsAre(kBarrier));
  EXPECT_THAT(b.feed(kOther), IsEmpty());
}

TEST(AutoSync, PutsABarrierBetweenTwoWritesButNotBetweenAReadAndAWrite) {
  Bench b;
  EXPECT_THAT(b.feed("vadds.f32 0x100, 0x300, 1.0f, 1, 1, 1, 8, 8"), IsEmpty());
  EXPECT_THAT(b.feed("vadds.f32 0x300, 0, 1.0f, 1, 1, 1, 8, 8"), IsEmpty());
  EXPECT_THAT(b.feed(kFirst), ElementsAre(kBarrier));
}

TEST(AutoSync, ABarrierOfTheProgramIsEnough) {
  for (const std::string barrier : {"pipe_barrier PIPE_V\n", "pipe_barrier PIPE_ALL\n"}) {
    Bench b;
    std::string program = kFirst;
    program.append(barrier).append(kSecond);
    EXPECT_THAT(b.feed(program), IsEmpty());
  }
}

TEST(AutoSync, FlagsOfTheProgramDoNotReplaceABarrier) {
  Bench b;
  EXPECT_THAT(b.feed(kFirst + "set_flag PIPE_V, PIPE_MTE3, 0\nwait_flag PIPE_V, PIPE_MTE3, 0\n" + kStore +
                     "set_flag PIPE_MTE3, PIPE_V, 0\nwait_flag PIPE_MTE3, PIPE_V, 0\n" + kFirst),
              ElementsAre(kBarrier));
}

// The example of the documentation: OP1(dst); GetValue; OP2(dst); SetValue.
TEST(AutoSync, DoesWhatTheDocumentationShows) {
  Bench b;
  EXPECT_THAT(b.feed(kFirst), IsEmpty());
  EXPECT_THAT(b.get(0x100), flag("PIPE_V, PIPE_S"));
  EXPECT_THAT(b.feed(kFirst), ElementsAre(kBarrier, set_flag("PIPE_S, PIPE_V"), wait_flag("PIPE_S, PIPE_V")));
  EXPECT_THAT(b.set(0x104), flag("PIPE_V, PIPE_S"));
  EXPECT_THAT(b.set(0x108), IsEmpty());
}

TEST(AutoSync, PutsFlagsBetweenTheScalarUnitAndCopies) {
  Bench b;
  b.feed(kLoad);
  EXPECT_THAT(b.get(0), flag("PIPE_MTE2, PIPE_S"));
  EXPECT_THAT(b.get(4), IsEmpty());
  EXPECT_THAT(b.feed(kLoad), flag("PIPE_S, PIPE_MTE2"));
  b.set(0x100);
  EXPECT_THAT(b.feed(kStore), flag("PIPE_S, PIPE_MTE3"));
  EXPECT_THAT(b.get(0x100), IsEmpty());  // both read
  EXPECT_THAT(b.set(0x100), flag("PIPE_MTE3, PIPE_S"));
}

TEST(AutoSync, FlagsOfTheProgramAreEnough) {
  Bench b;
  EXPECT_THAT(b.feed(kLoad + "set_flag PIPE_MTE2, PIPE_S, 0\nwait_flag PIPE_MTE2, PIPE_S, 0\n"), IsEmpty());
  EXPECT_THAT(b.get(0), IsEmpty());
  b.set(0);
  EXPECT_THAT(b.feed("set_flag PIPE_S, PIPE_V, 0\nwait_flag PIPE_S, PIPE_V, 0\n" + kFirst), IsEmpty());
}

TEST(AutoSync, FlagsThatAreJoinedAreEnough) {
  Bench b;
  b.feed(kLoad + "set_flag PIPE_MTE2, PIPE_V, 0\nwait_flag PIPE_MTE2, PIPE_V, 0\n" + kFirst);
  EXPECT_THAT(b.get(0x100), flag("PIPE_V, PIPE_S"));
  EXPECT_THAT(b.get(0), IsEmpty());  // what V has waited for, the scalar unit has
}

TEST(AutoSync, LeavesOtherPipesToTheProgram) {
  Bench b;
  EXPECT_THAT(b.feed(kLoad + kFirst + kStore + kLoad + kStoreInput), IsEmpty());
}

TEST(AutoSync, GlobalMemoryThatTheScalarUnitReads) {
  Bench b;
  b.feed(kStore);
  EXPECT_THAT(b.access(BufId::GM, false, kBase + 0x500), IsEmpty());
  EXPECT_THAT(b.access(BufId::GM, true, kBase + 0x400), IsEmpty());  // GlobalTensor::SetValue is not listed
  EXPECT_THAT(b.access(BufId::GM, false, kBase + 0x4fc), flag("PIPE_MTE3, PIPE_S"));
  EXPECT_THAT(b.feed(kStore), flag("PIPE_S, PIPE_MTE3"));
}

TEST(AutoSync, EachPartOfGlobalMemoryHasItsLatestStore) {
  Bench b;
  b.feed(kStore);
  EXPECT_THAT(b.access(BufId::GM, false, kBase + 0x400), flag("PIPE_MTE3, PIPE_S"));
  b.feed("copy_ubuf_to_gm 0x100000440, 0x200, 0, 1, 1, 0, 0\n");  // 32 bytes in the middle
  EXPECT_THAT(b.access(BufId::GM, false, kBase + 0x43c), IsEmpty());
  EXPECT_THAT(b.access(BufId::GM, false, kBase + 0x460), IsEmpty());
  EXPECT_THAT(b.access(BufId::GM, false, kBase + 0x45c), flag("PIPE_MTE3, PIPE_S"));
}

TEST(AutoSync, ResultsInSpecialRegisters) {
  Bench b;
  EXPECT_THAT(b.feed("get_max_min_cnt X0"), IsEmpty());
  EXPECT_THAT(b.feed(kFirst + "get_max_min_cnt X0\nget_vms4_sr X0"), flag("PIPE_V, PIPE_S"));
  EXPECT_THAT(b.feed(kOther + "get_status X0"), IsEmpty());
}

TEST(AutoSync, DoesNotTakeAFlagThatTheProgramHasSet) {
  Bench b;
  b.feed(kFirst + "set_flag PIPE_V, PIPE_S, 6\n");
  EXPECT_THAT(b.get(0x100), flag("PIPE_V, PIPE_S", 5));
  EXPECT_THAT(b.feed("wait_flag PIPE_V, PIPE_S, 6"), IsEmpty());
}

TEST(AutoSync, WaitsForAllPipesWhereNoFlagIsLeft) {
  Bench b;
  b.feed(kFirst);
  for (int e = 0; e < 8; ++e)
    b.feed("set_flag PIPE_V, PIPE_S, " + std::to_string(e) + "\n");
  EXPECT_THAT(b.get(0x100), ElementsAre("pipe_barrier PIPE_ALL, 1"));
}

TEST(AutoSync, DoesNotSetAFlagTwiceThatAPipeMayNotHaveTaken) {
  Bench b;
  std::vector<std::string> sets;
  for (int i = 0; i < 9; ++i) {
    b.set(0x1000 + 0x100 * static_cast<u64>(i));
    for (const std::string& s : b.feed("vadds.f32 0x100, " + std::to_string(0x1000 + 0x100 * i) +
                                       ", 1.0f, 1, 1, 1, 8, 8\npipe_barrier PIPE_V\n"))
      sets.push_back(s);
  }
  std::vector<std::string> want;
  const auto both = [&](const std::string& pipes, int e) {
    want.push_back(set_flag(pipes, e));
    want.push_back(wait_flag(pipes, e));
  };
  for (const int e : {6, 5, 4, 3, 2, 1, 0, 7})
    both("PIPE_S, PIPE_V", e);
  both("PIPE_V, PIPE_S", 6);
  both("PIPE_S, PIPE_V", 6);
  EXPECT_EQ(sets, want);
}

TEST(AutoSync, TheProgramMayUseTheSameFlagAfterwards) {
  Bench b;
  b.set(0);
  EXPECT_THAT(b.feed(kFirst), flag("PIPE_S, PIPE_V"));
  EXPECT_THAT(b.feed("set_flag PIPE_S, PIPE_V, 6\n"), flag("PIPE_V, PIPE_S"));
  EXPECT_THAT(b.feed("wait_flag PIPE_S, PIPE_V, 6\n" + kOther), IsEmpty());
}

TEST(AutoSync, DoesNotWaitForAPipeThatTheScalarUnitHasYetToRelease) {
  Bench b;
  b.feed("wait_flag PIPE_MTE2, PIPE_V, 0\n" + kFirst);
  EXPECT_THAT(b.get(0x100), IsEmpty());
  EXPECT_THAT(b.feed("set_flag PIPE_MTE2, PIPE_V, 0\n"), IsEmpty());
  EXPECT_THAT(b.get(0x100), flag("PIPE_V, PIPE_S"));
}

TEST(AutoSync, ABlockBeginsWithNothingToWaitFor) {
  Bench b;
  b.feed(kFirst);
  b.traced();
  b.core.start(b.launch, &b.flags, {.part = 1}, "k.cpp");
  EXPECT_THAT(b.get(0x100), IsEmpty());
  EXPECT_THAT(b.feed(kFirst), flag("PIPE_S, PIPE_V"));
}

TEST(AutoSync, CubeCoresGetNothing) {
  Bench b(CoreKind::cube);
  const Access load{.buffer = BufId::GM, .address = kBase, .len = 4};
  b.core.order(load, 1);
  EXPECT_THAT(b.core.inserted(), IsEmpty());
}

TEST(AutoSync, JointCoresGetTheSame) {
  Bench b(CoreKind::joint);
  EXPECT_THAT(b.feed(kFirst + kSecond), ElementsAre(kBarrier));
}

TEST(AutoSync, WhatIsInsertedHasTheLineOfTheInstructionThatNeedsIt) {
  Bench b;
  b.feed(kFirst + kSecond);
  const Program traced = b.traced();
  verify(traced);
  EXPECT_EQ(traced.code, assemble(kFirst + kBarrier + "\n" + kSecond + "end", "k.s", Arch::c220).code);
  EXPECT_THAT(traced.lines, ElementsAre(1, 2, 2, 0));
}

TEST(AutoSync, ALoopOfDependentInstructionsIsALoopOfTheTrace) {
  Bench b;
  for (int i = 0; i < 1000; ++i) {
    b.line = 0;
    b.feed(kFirst + kSecond);
  }
  EXPECT_LT(b.traced().code.size(), 20u);
}

TEST(AutoSync, AnInstructionThatIsRefusedNeedsNothing) {
  Bench b;
  b.feed(kFirst);
  EXPECT_ANY_THROW(b.feed("vadds.f32 0x4000, 0x3fe0, 1.0f, 2, 1, 1, 8, 8"));
  EXPECT_THAT(b.get(0x3ffc), IsEmpty());
}

}  // namespace
}  // namespace vinci::isa
