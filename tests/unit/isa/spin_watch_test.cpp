// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/spin_watch.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <random>

#include "isa/machine/machine.h"
#include "isa/table/table.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

// One core that runs a program; X1 holds the address of a flag in global memory.
struct Spinner {
  explicit Spinner(const std::string& text)
      : spec{.arch = Arch::c220, .kind = CoreKind::vector, .sizes = {0, 0, 0, 0, 0, 0x2000}},
        machine(spec, gm, 0),
        flag(gm.allocate(4096, "flag")),
        code(assemble("  ld_arg X1, 0\n" + text + "  end\n", "k.s", Arch::c220)),
        launch{.args = {flag}} {
    machine.count_changes(changes);
    machine.start(code, launch, &flags, {.part = 1});
  }
  // Runs until it ends, spins, or has run so many instructions.
  Machine::State run(u64 most = 20'000'000) {
    const u64 end = machine.executed() + most;
    auto state = Machine::State::paused;
    while (state == Machine::State::paused && !machine.spins() && machine.executed() < end)
      state = machine.advance(budget, 1000);
    return state;
  }

  GlobalMemory gm;
  CoreSpec spec;
  CrossCoreFlags flags{{.cube = false, .vector_cores = 1}};
  u64 changes = 0, budget = ~u64{0};
  Machine machine;
  u64 flag;
  Code code;
  Launch launch;
};

void expect_spins(const std::string& text, const std::string& message) {
  Spinner s(text);
  s.run();
  ASSERT_TRUE(s.machine.spins()) << text;
  EXPECT_THAT(s.machine.waits_for(), HasSubstr(message)) << text;
  EXPECT_EQ(s.machine.advance(s.budget, 100'000), Machine::State::paused);  // indeed
  EXPECT_TRUE(s.machine.spins());
}

void expect_ends(const std::string& text, u64 least) {
  Spinner s(text);
  EXPECT_EQ(s.run(), Machine::State::done) << text;
  EXPECT_FALSE(s.machine.spins()) << text;
  EXPECT_GE(s.machine.executed(), least) << text;
}

TEST(SpinWatch, LoopsWithoutExitSpin) {
  expect_spins("l:\n  b l\n", "repeats k.s:3; nothing can end it");
  expect_spins("l:\n  add X2, X2, 1\n  b l\n", "repeats k.s:3..4; nothing can end it");
  expect_spins("l:\n  nop 100\n  mul X2, X2, 3\n  add X3, X2, X4\n  b l\n", "repeats k.s:3..6;");
}

TEST(SpinWatch, ALoopInsideOfOneWithoutExitSpins) {
  expect_spins("o:\n  mov X2, 0\nl:\n  add X2, X2, 1\n  blt X2, 100, l\n  add X3, X3, 1\n  b o\n",
               "repeats k.s:3, 5..8; nothing can end it");
}

TEST(SpinWatch, PollingSpins) {
  expect_spins("l:\n  ld_dev.b32 X2, X1\n  beq X2, 0, l\n",
               "repeats k.s:3..4; it reads 'flag' at 0 (k.s:3): no task, copy or core that runs can change it");
}

TEST(SpinWatch, PollingOverChangingAddressesSpins) {
  expect_spins(
      "o:\n  mov X3, 0\nl:\n  add X4, X1, X3\n  ld_dev.b32 X2, X4\n  bne X2, 0, e\n  add X3, X3, 64\n"
      "  add X5, X5, 1\n  blt X3, 4096, l\n  b o\ne:\n",
      "repeats k.s:3, 5..11; it reads 'flag' at 0 to 4032 (k.s:6): no task, copy or core");
}

TEST(SpinWatch, ASpinEndsWithAChange) {
  Spinner s("l:\n  ld_dev.b32 X2, X1\n  beq X2, 0, l\n");
  s.run();
  ASSERT_TRUE(s.machine.spins());
  gm_store<u32>(s.gm, s.flag, 1);
  ++s.changes;
  EXPECT_FALSE(s.machine.spins());
  EXPECT_EQ(s.run(), Machine::State::done);
}

TEST(SpinWatch, FiniteLoopsEnd) {
  expect_ends("l:\n  add X2, X2, 1\n  blt X2, 1000000, l\n", 2'000'000);
  // Of a register that is computed from the one that counts, and one that takes every value once.
  expect_ends("l:\n  add X2, X2, 1\n  shr X3, X2, 18\n  beq X3, 0, l\n", 3u << 18);
  expect_ends("  mov X2, 1\nl:\n  mul X2, X2, 5\n  and X2, X2, 1048575\n  bne X2, 1, l\n", 3u << 18);
}

// The turns of a loop are many positions and few instructions.
TEST(SpinWatch, RemembersInstructionsAndNotTheirTurns) {
  Spinner s(".rept 8000000\n  add X2, X2, 1 by 1\n.endr\n");
  const auto allocated = [] {
    const struct mallinfo2 m = ::mallinfo2();
    return m.uordblks + m.hblkhd;
  };
  const usize before = allocated();
  EXPECT_EQ(s.run(), Machine::State::done);
  EXPECT_LT(allocated(), before + (usize{1} << 20));
}

TEST(SpinWatch, AReadAtANewAddressCanEndALoop) {
  Spinner s("l:\n  ld_dev.b8 X2, X1\n  add X1, X1, 1\n  beq X2, 0, l\n");
  const u64 more = s.gm.allocate(1 << 17, "more");
  s.launch.args = {more};
  gm_store<u8>(s.gm, more + 100'000, 1);
  s.machine.start(s.code, s.launch, &s.flags, {.part = 1});
  EXPECT_EQ(s.run(), Machine::State::done);
}

TEST(SpinWatch, ADivisorCanEndALoop) {
  Spinner s("  mov X2, 1000000\nl:\n  sub X2, X2, 1\n  div X3, 7, X2\n  b l\n");
  EXPECT_THAT(error_of([&] { s.run(); }), HasSubstr("division by zero"));
}

TEST(SpinWatch, TimeCanEndALoop) {
  expect_ends("  get_sys_cnt X2\n  add X2, X2, 1000000\nl:\n  get_sys_cnt X3\n  blt X3, X2, l\n", 1'000'000);
}

TEST(SpinWatch, StoresAreChangesWhereTheyChangeABit) {
  expect_spins("l:\n  st_dev.b32 7, X1\n  ld_dev.b32 X2, X1\n  b l\n", "it reads 'flag' at 0");
  Spinner s("l:\n  add X2, X2, 1\n  st_dev.b32 X2, X1\n  b l\n");
  EXPECT_EQ(s.run(1'000'000), Machine::State::paused);
  EXPECT_FALSE(s.machine.spins());
  Spinner ub("l:\n  add X2, X2, 1\n  st_ubuf.b32 X2, 64\n  b l\n");
  EXPECT_EQ(ub.run(1'000'000), Machine::State::paused);
  EXPECT_FALSE(ub.machine.spins());
}

TEST(SpinWatch, BarriersAreNoChangeAndPipesAre) {
  expect_spins("l:\n  pipe_barrier PIPE_ALL\n  b l\n", "repeats k.s:3..4");
  Spinner s("l:\n  vector_dup.f16 0, 0, 1, 1, 1, 8, 8\n  b l\n");
  EXPECT_EQ(s.run(300'000), Machine::State::paused);
  EXPECT_FALSE(s.machine.spins());
}

// Instructions that can fail must be known: of these, what they read decides whether a loop goes on.
TEST(SpinWatch, NoOtherArithmeticFails) {
  std::vector<std::string> fail;
  for (u16 opcode = 0; opcode < 1u << kOpcodeBits; ++opcode) {
    const Row* row = row_of(opcode);
    const Arithmetic what = row != nullptr ? arithmetic_of(*row, 0) : Arithmetic{};
    if (what.value == nullptr) continue;
    for (const u64 a : {u64{0}, u64{1}, ~u64{0}, u64{1} << 63}) {
      for (const u64 b : {u64{0}, u64{1}, ~u64{0}, u64{1} << 63}) {
        try {
          what.value(a, b);
        } catch (const IllegalIssue&) {
          if (fail.empty() || fail.back() != row->name) fail.emplace_back(row->name);
        }
      }
    }
  }
  EXPECT_THAT(fail, testing::UnorderedElementsAre("div", "rem", "sqrt"));
}

// Random loops over four registers: of what spins, nothing ever ends.
TEST(SpinWatch, WhatSpinsNeverEnds) {
  std::mt19937_64 random(3);
  const auto reg = [&] { return fmt::format("X{}", 2 + random() % 4); };
  int spins = 0, ends = 0;
  for (int i = 0; i < 300; ++i) {
    std::string text = "l:\n";
    for (u64 n = 1 + random() % 4; n > 0; --n) {
      static constexpr std::array kOps{"add", "sub", "mul", "and", "xor", "min"};
      text += fmt::format("  {} {}, {}, {}\n", kOps[random() % kOps.size()], reg(), reg(), random() % 5);
    }
    text += fmt::format("  bne {}, {}, l\n", reg(), random() % 3 == 0 ? reg() : std::to_string(random() % 100'000));
    Spinner s(text);
    const auto state = s.run(400'000);
    ends += state == Machine::State::done ? 1 : 0;
    if (!s.machine.spins()) continue;
    ++spins;
    ASSERT_EQ(s.machine.advance(s.budget, 300'000), Machine::State::paused) << text;
  }
  EXPECT_GT(spins, 30);
  EXPECT_GT(ends, 30);
}

}  // namespace
}  // namespace vinci::isa
