// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "isa/builder/program_builder.h"
#include "isa/machine/machine.h"
#include "isa/program/program_file.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::HasSubstr;

// A program that `write` writes, with `end` behind it.
template <class Write>
BuiltProgram build(const Write& write, Arch arch = Arch::c220, std::optional<CoreLimits> core = std::nullopt) {
  ProgramBuilder p("k", arch, core);
  write(p);
  p.end();
  return p.finish();
}
template <class Write>
std::string refused(const Write& write, Arch arch = Arch::c220, std::optional<CoreLimits> core = std::nullopt) {
  return error_of([&] { build(write, arch, core); });
}

// The registers after a run of the program.
template <class Write>
std::array<u64, 32> registers_after(const Write& write) {
  GlobalMemory gm;
  Machine machine({.arch = Arch::c220, .kind = CoreKind::cube}, gm, 0);
  u64 budget = 10000;
  machine.run(Code(build(write).program()), {.args = {7, 11, 13}}, budget);
  std::array<u64, 32> out{};
  for (u32 i = 0; i < out.size(); ++i)
    out[i] = machine.x(i);
  return out;
}

TEST(ProgramBuilder, PrintsNamesLabelsAndComments) {
  const BuiltProgram built = build([](ProgramBuilder& p) {
    const Const tiles = p.constant("TILES", 12);
    p.comment("which tiles are mine");
    const auto [tile, step] = p.regs("tile", "step");
    p.get_block_idx(tile);
    p.get_block_num(step);
    const Target loop = p.here("loop");
    p.comment("one tile");
    p.copy_gm_to_cbuf(0, tile, 0, 1, tiles * 2, 0, 0);
    p.add(tile, tile, step);
    p.blt(tile, tiles, loop);
    p.pipe_barrier(PipeId::ALL);
  });
  EXPECT_EQ(built.text(), R"(.arch c220
.const TILES = 12
.alias tile = X0
.alias step = X1
; which tiles are mine
  get_block_idx tile
  get_block_num step
; one tile
loop:
  copy_gm_to_cbuf 0x0, tile, 0, 1, 24, 0, 0
  add tile, tile, step
  blt tile, TILES, loop
  pipe_barrier PIPE_ALL
  end
)");
  const Program again = assemble(built.text(), "k.s");
  EXPECT_EQ(again, built.program());  // words, labels, and lines of the printed text
  EXPECT_EQ(built.program().lines.front(), 6);
}

TEST(ProgramBuilder, MakesNamesUniqueAndKeepsThemForOneMeaning) {
  const BuiltProgram built = build([](ProgramBuilder& p) {
    for (int turn = 0; turn < 2; ++turn) {
      const auto scope = p.scope();
      const Reg a = p.reg("a");
      p.mov(a, p.constant("N", turn));
      p.bind(p.label("here"));
    }
    const Reg b = p.reg("b"), a = p.reg("a");
    p.mov(p.alias("other", b), a);
  });
  EXPECT_EQ(built.text(), R"(.arch c220
.alias a = X0
.const N = 0
.const N_2 = 1
.alias a_2 = X1
.alias other = X0
  mov a, N
here:
  mov a, N_2
here_2:
  mov other, a_2
  end
)");
  EXPECT_EQ(assemble(built.text(), "k.s"), built.program());
}

TEST(ProgramBuilder, NegativeAndLargeConstantsKeepTheirValue) {
  const BuiltProgram built = build([](ProgramBuilder& p) {
    const Reg x = p.reg("x");
    p.mov(x, p.constant("NONE", -65536));
    p.mov(x, p.constant("LEAST", std::numeric_limits<i64>::min()));
    p.mov(x, ~u64{0});
    p.mov(x, f32(1.5f));
    p.mov(x, f16(-2.0f));
  });
  const Program expected = assemble(
      ".arch c220\nmov X0, -65536\nmov X0, -9223372036854775808\nmov X0, 0xffffffffffffffff\nmov X0, 1.5f\n"
      "mov X0, -2.0h\nend\n",
      "k.s");
  EXPECT_EQ(built.program().code, expected.code);
  EXPECT_EQ(assemble(built.text(), "k.s").code, expected.code);
}

TEST(ProgramBuilder, RefusesWhatTheAssemblerRefusesWithItsText) {
  EXPECT_EQ(refused([](ProgramBuilder& p) { p.vcmp_eq(Type::s8, 0, 0, 1, 1, 1, 1, 8, 8, 8); }).substr(0, 40),
            "input: k.s: instruction 0: vcmp_eq has n");
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.vbitsort(Type::f16, 0, 0, 1); }),
              HasSubstr("k.s: instruction 0: vbitsort does not exist on c220, only on m100, c100, m200"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.vadd(Type::f16, 0, 0, 0, 256, 1, 1, 1, 8, 8, 8); }),
              HasSubstr("vadd: repeat = 256 is not in [0, 255]"));
  EXPECT_THAT(
      refused([](ProgramBuilder& p) { p.ld_arg(p.reg("a"), 0), p.vadd(Type::f16, -1, 0, 0, 1, 1, 1, 1, 8, 8, 8); }),
      HasSubstr("instruction 1: vadd: dst = -1 is not in [0, "));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.call("vad.f16", {0, 0, 0}); }), HasSubstr("did you mean 'vadd'"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.call("vadd", {0, 0, 0}); }), HasSubstr("vadd needs a type"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.call("mov", {p.reg("a")}); }),
              HasSubstr("mov: operand 2 ('a') is missing"));
  EXPECT_THAT(refused([](ProgramBuilder& p) {
                p.call("mov", {p.reg("a"), 1, 2});
              }),
              HasSubstr("mov has 2 operands, not 3"));
  EXPECT_THAT(refused([](ProgramBuilder& p) {
                p.call("mov", {1, 2});
              }),
              HasSubstr("mov: 'rd' must be a register, not a number"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.call("pipe_barrier", {1}); }),
              HasSubstr("pipe_barrier: 'pipe' must be a pipe, not a number"));
}

TEST(ProgramBuilder, RefusesLoopsThatDoNotCountUp) {
  for (const i64 step : {i64{0}, i64{-1}, std::numeric_limits<i64>::min()}) {
    EXPECT_THAT(refused([&](ProgramBuilder& p) { p.loop(p.reg("i"), 10, 0, step, [] {}); }),
                HasSubstr(fmt::format("instruction 0: a loop counts up: its step is {}", step)));
  }
}

TEST(ProgramBuilder, ReleasesARegisterOnce) {
  EXPECT_THAT(refused([](ProgramBuilder& p) {
                const Reg a = p.reg("a");
                p.release(a);
                p.release(a);
              }),
              HasSubstr("instruction 0: register X0 is free already"));
}

TEST(ProgramBuilder, SaysWhichNamesHoldTheRegisters) {
  EXPECT_THAT(refused([](ProgramBuilder& p) {
                for (int i = 0; i < 33; ++i)
                  p.reg(fmt::format("r{}", i));
              }),
              HasSubstr("no register is left for 'r32'; there are r0, r1, r2,"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.reg("a"), p.reg("b", 0); }), HasSubstr("register X0 is taken, by 'a'"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.reg("X7"); }), HasSubstr("'X7' cannot be the name of a register"));
  build([](ProgramBuilder& p) {  // a scope gives back what was taken in it
    for (int i = 0; i < 100; ++i) {
      const auto scope = p.scope();
      p.reg("r");
      p.reg("s");
    }
  });
}

TEST(ProgramBuilder, ChecksLabelsAndTheEnd) {
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.b(p.label("nowhere")); }),
              HasSubstr("k.s: label 'nowhere' is not bound"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.bind(p.here("twice")), p.bind(p.here("twice")); }),
              HasSubstr("label 'twice' is bound already"));
  EXPECT_THAT(error_of([] {
                ProgramBuilder p("k", Arch::c220);
                const Target end = p.label("past");
                p.b(end);
                p.bind(end);
                p.finish();
              }),
              HasSubstr("label 'past' is behind the last instruction"));
  EXPECT_THAT(error_of([] {
                ProgramBuilder p("k", Arch::c220);
                p.mov(p.reg("a"), 1);
                p.finish();
              }),
              HasSubstr("end is missing"));
  EXPECT_THAT(error_of([] { ProgramBuilder("k", Arch::c220).finish(); }), HasSubstr("no instruction"));
}

TEST(ProgramBuilder, MakesOneProgram) {
  ProgramBuilder p("k", Arch::c220);
  p.end();
  p.finish();
  EXPECT_THAT(error_of([&] { p.end(); }), HasSubstr("this ProgramBuilder has been finished"));
  EXPECT_THAT(error_of([&] { p.reg("a"); }), HasSubstr("has been finished"));
  EXPECT_THAT(error_of([&] { p.finish(); }), HasSubstr("has been finished"));
}

TEST(ProgramBuilder, KnowsTheCoreThatItIsGiven) {
  const CoreLimits vector{.kind = CoreKind::vector, .sizes = {0, 0, 0, 0, 0, 1024}, .flags_per_pair = 4};
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.mad(Type::f162f32, 0, 0, 0, 16, 16, 16, 1); }, Arch::c220, vector),
              HasSubstr("mad: a core of type AIV has no PIPE_M"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.hand_over(PipeId::V, PipeId::MTE3, 4); }, Arch::c220, vector),
              HasSubstr("event id 4 out of range: this chip has EVENT_ID0..EVENT_ID3"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.hand_over(PipeId::V, PipeId::M, 0); }, Arch::c220, vector),
              HasSubstr("has no PIPE_M"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.buffer("x", BufId::UB, 1000), p.buffer("y", BufId::UB, 32); },
                      Arch::c220, vector),
              HasSubstr("buffer 'y' needs 32 bytes of UB at 0x400; AIV has 1024 bytes"));
  ProgramBuilder p("k", Arch::c220, vector);
  EXPECT_EQ(p.buffer("x", BufId::UB, 33), 0);
  EXPECT_EQ(p.buffer("y", BufId::UB, 32), 64);
  EXPECT_EQ(p.buffer("z", BufId::UB, 512, 512), 512);
}

TEST(ProgramBuilder, LoopsAndBranchesRun) {
  const auto x = registers_after([](ProgramBuilder& p) {
    const Reg sum = p.reg("sum"), evens = p.reg("evens"), i = p.reg("i"), n = p.reg("n"), odd = p.reg("odd");
    p.mov(n, 5);
    p.loop(i, 0, n, 1, [&] {  // 0 + 1 + 2 + 3 + 4
      p.add(sum, sum, i);
      p.and_(odd, i, 1);
      p.if_(
          odd == 0, [&] { p.add(evens, evens, 1); }, [&] { p.sub(evens, evens, 10); });
      p.if_(i >= 4, [&] { p.add(evens, evens, 1000); });
    });
    p.loop(i, n, n, 1, [&] { p.mov(sum, 0); });     // not once
    p.loop(3, [&](Reg j) { p.add(n, n, j); });      // 5 + 0 + 1 + 2
    p.loop(i, 100, 10, [&] { p.add(n, n, 100); });  // i = 5, 15, ..., 95
  });
  EXPECT_EQ(x[0], 10);
  EXPECT_EQ(x[1], 3 - 20 + 1000);
  EXPECT_EQ(x[3], 8 + 1000);
  EXPECT_EQ(x[2], 105);
}

TEST(ProgramBuilder, TheEndsOfAnIfAreThoseOfItsFunctions) {
  const auto write = [](bool functions) {
    return build([&](ProgramBuilder& p) {
      const Reg a = p.reg("a");
      const auto one = [&] { p.mov(a, 1); };
      const auto two = [&] { p.mov(a, 2); };
      if (functions) {
        p.if_(a == 0, one, two);
        p.if_(a < 5, one);
        return;
      }
      ProgramBuilder::If both = p.begin_if(a == 0);
      one();
      p.begin_else(both);
      two();
      p.end_if(both);
      const ProgramBuilder::If alone = p.begin_if(a < 5);
      one();
      p.end_if(alone);
    });
  };
  EXPECT_EQ(write(false).program().code, write(true).program().code);
  EXPECT_EQ(write(false).text(), write(true).text());
  EXPECT_THAT(write(false).text(), HasSubstr("else:"));
  EXPECT_THAT(write(false).text(), HasSubstr("endif_2:"));
}

TEST(ProgramBuilder, ARefusedInstructionLeavesNothingBehind) {
  const auto write = [](bool with_refused) {
    return build([&](ProgramBuilder& p) {
      const Reg a = p.reg("a"), b = p.reg("b");
      const Const n = p.constant("N", 1000);
      const Target t = p.here("start");
      if (with_refused) {
        EXPECT_THAT(error_of([&] { p.copy_gm_to_ubuf(a, b, n, 1, 1, 0, 0); }), HasSubstr("sid = 1000"));
        EXPECT_THAT(error_of([&] { p.call("bne", {t, n, t}); }), HasSubstr("must be"));
        EXPECT_THAT(error_of([&] { p.call("b", {t, t}); }), HasSubstr("not 2"));
      }
      p.ld_arg(b, 3);
      p.bne(a, n, t);
    });
  };
  EXPECT_EQ(write(true).text(), write(false).text());
  EXPECT_EQ(write(true).program().code, write(false).program().code);
}

TEST(ProgramBuilder, RefusesPartsOfAnotherBuilder) {
  ProgramBuilder other("other", Arch::c220);
  const Target target = other.label("t");
  const Slots slots = other.slots("s", 1, 32);
  EXPECT_THAT(refused([&](ProgramBuilder& p) { p.bind(target); }), HasSubstr("a label is of another builder"));
  EXPECT_THAT(refused([&](ProgramBuilder& p) { p.begin_fill(slots); }), HasSubstr("slots are of another builder"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.buffer("a", BufId::UB, 64), p.buffer("b", BufId::UB, ~u64{0}); }),
              HasSubstr("buffer 'b' ends beyond 2^64 bytes"));
  EXPECT_THAT(refused([](ProgramBuilder& p) { p.slots("s", 4, u64{1} << 62); }),
              HasSubstr("slots 's' end beyond 2^64 bytes"));
}

TEST(ProgramBuilder, ABuiltProgramAsWordsAndAsAFile) {
  const BuiltProgram built = build([](ProgramBuilder& p) { p.mov(p.reg("a"), 5); });
  ASSERT_EQ(built.words().size(), 2u);
  EXPECT_EQ(built.words()[1], built.program().code[1]);
  EXPECT_EQ(read_program(built.file(), "k"), built.program());
}

TEST(ProgramBuilder, BranchesOnEveryComparison) {
  const auto x = registers_after([](ProgramBuilder& p) {
    const Reg bits = p.reg("bits"), a = p.reg("a");
    u64 bit = 1;
    const auto test = [&](const Condition& c) {
      p.if_(c, [&] { p.or_(bits, bits, bit); });
      bit <<= 1;
    };
    for (const i64 value : {-3, 2, 7}) {
      p.mov(a, value);
      for (const Condition& c : {a == 2, a != 2, a<2, a <= 2, a> 2, a >= 2})
        test(c);
    }
  });
  EXPECT_EQ(x[0], 0b110010'101001'001110);
}

TEST(ProgramBuilder, ExpressionsAndArguments) {
  const auto x = registers_after([](ProgramBuilder& p) {
    const Reg a = p.arg("a"), b = p.arg("b"), c = p.arg("c", 2), out = p.reg("out");
    p.set(out, a * 512 + b - c);
    const Reg most = p.reg("most"), same = p.reg("same");
    p.set(most, max(a % 4 << 3, c));
    p.set(same, Value(42));
    EXPECT_EQ(p.size(), 10);
  });
  EXPECT_EQ(x[3], 7 * 512 + 11 - 13);
  EXPECT_EQ(x[4], 24);
  EXPECT_EQ(x[5], 42);
  EXPECT_THAT(refused([](ProgramBuilder& p) {
                const Reg a = p.reg("a"), b = p.reg("b");
                p.set(a, b * 2 + a);
              }),
              HasSubstr("X0 is the result of this expression and also an operand behind its first operation"));
}

}  // namespace
}  // namespace vinci::isa
