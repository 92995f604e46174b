// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Positions in programs with loops, and what such programs look like as text and as files.
#include "isa/program/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/program/code.h"
#include "isa/program/program_file.h"
#include "isa/table/codec.h"
#include "isa/text/text.h"
#include "tests/unit/isa/test_core.h"

namespace vinci::isa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// a, two turns of (b, three turns of c, d), e
const std::string kNested =
    ".arch c220\n"
    "  mov X1, 100\n"
    "  .rept 2\n"
    "    mov X2, 10 by 1000\n"
    "    .rept 3\n"
    "      mov X3, 5 by -1 by 20\n"
    "    .endr\n"
    "    nop 7\n"
    "  .endr\n"
    "  end\n";

TEST(Loops, TextSaysWhatRepeatsAndWhatGrows) {
  const Program p = assemble(kNested, "k.s");
  EXPECT_THAT(p.loops, ElementsAre(Loop{1, 3, 2}, Loop{2, 1, 3}));
  EXPECT_THAT(p.strides, ElementsAre(Stride{1, 0, 1, 1000}, Stride{2, 0, 1, 20}, Stride{2, 1, 1, ~u64{0}}));
  EXPECT_EQ(p.code.size(), 5u);
  EXPECT_EQ(positions(p), 12u);
  EXPECT_EQ(disassemble(p), kNested);

  const Program flat = unfold(p);
  EXPECT_EQ(flat.code, assemble("mov X1, 100\n"
                                "mov X2, 10\nmov X3, 5\nmov X3, 4\nmov X3, 3\nnop 7\n"
                                "mov X2, 1010\nmov X3, 25\nmov X3, 24\nmov X3, 23\nnop 7\n"
                                "end\n",
                                "k.s", Arch::c220)
                           .code);
  EXPECT_THAT(flat.lines, ElementsAre(2, 4, 6, 6, 6, 8, 4, 6, 6, 6, 8, 10));
  EXPECT_THAT(error_of([&] { unfold(p, 11); }), HasSubstr("12 instructions, more than 11"));
}

TEST(Loops, EveryPositionIsFound) {
  const Program p = assemble(kNested, "k.s"), flat = unfold(p);
  const Code code(p), other(flat);
  ASSERT_EQ(code.size(), other.size());
  Cursor forward, from_anywhere;
  forward.start(code);
  for (u32 pc = 0; pc < code.size(); ++pc) {
    EXPECT_EQ(code.place(pc), other.place(pc)) << pc;
    EXPECT_EQ(code[pc].row, other[pc].row) << pc;
    const CodeInst* inst = forward.find(pc);
    ASSERT_NE(inst, nullptr);
    ArgsStorage args = inst->args;
    forward.grow(*inst, args);
    EXPECT_EQ(args.bytes, other[pc].args.bytes) << pc;
  }
  EXPECT_EQ(forward.find(code.size()), nullptr);
  for (const u32 pc : {9u, 2u, 3u, 11u, 10u, 0u, 7u, 6u}) {
    from_anywhere.start(code);
    const CodeInst* inst = from_anywhere.find(pc);
    ArgsStorage args = inst->args;
    from_anywhere.grow(*inst, args);
    EXPECT_EQ(args.bytes, other[pc].args.bytes) << pc;
  }
}

TEST(Loops, LoopsMayBeginAndEndTogether) {
  const Program p = assemble(
      ".arch c220\n.rept 2\n.rept 3\n.rept 1\nnop 1 by 0 by 1 by 10\n.endr\n.endr\n.endr\n.rept 2\nend\n.endr\n",
      "k.s");
  const Program flat = unfold(p);
  EXPECT_EQ(flat.code, assemble("nop 1\nnop 2\nnop 3\nnop 11\nnop 12\nnop 13\nend\nend\n", "k.s", Arch::c220).code);
  EXPECT_EQ(assemble(disassemble(p), "again.s").loops, p.loops);
  EXPECT_EQ(assemble(disassemble(p), "again.s").strides, p.strides);
}

TEST(Loops, LabelsAndTargetsArePositions) {
  const std::string text =
      ".arch c220\n"
      "top:\n"
      "  .rept 1000\n"
      "    nop 3\n"
      "    nop 2\n"
      "  .endr\n"
      "after:\n"
      "  beq X1, 1, top\n"
      "  beq X1, 2, after\n"
      "  beq X1, 3, 1001\n"
      "  beq X1, 4, last\n"
      "last:\n"
      "  end\n";
  const Program p = assemble(text, "k.s");
  EXPECT_EQ(disassemble(p), text);
  EXPECT_THAT(p.labels, ElementsAre(Label{"top", 0}, Label{"after", 2000}, Label{"last", 2004}));
  const Code code(p);
  EXPECT_EQ(code[2000].target, 0u);
  EXPECT_EQ(code[2001].target, 2000u);
  EXPECT_EQ(code[2002].target, 1001u);
  EXPECT_EQ(code[2003].target, 2004u);
  EXPECT_EQ(code.place(1001), "k.s:5");
}

TEST(Loops, OptionalOperandsThatGrowAreWritten) {
  const std::string text = ".arch c220\n  .rept 4\n    nop 1 by 2\n  .endr\n  end\n";
  EXPECT_EQ(disassemble(assemble(text, "k.s")), text);
}

TEST(Loops, ProgramFilesKeepThem) {
  const Program p = assemble(kNested, "k.s");
  const std::vector<std::byte> bytes = write_program(p);
  EXPECT_EQ(read_program(bytes, "k.bin"), p);
  // Without loops a file is one of version 1, which earlier readers know.
  EXPECT_EQ(write_program(unfold(p))[8], std::byte{1});
  EXPECT_EQ(bytes[8], std::byte{2});
  for (usize size = 0; size < bytes.size(); ++size)
    EXPECT_NE(error_of([&] { read_program(std::span(bytes).first(size), "k.bin"); }), "") << size;
}

// A program has one form as text and as a file.
TEST(Loops, StridesAddSomething) {
  Program p = assemble(".rept 3\nnop 1 by 2\n.endr\nend\n", "k.s", Arch::c220);
  p.strides.at(0).by = 0;
  EXPECT_EQ(error_of([&] { verify(p); }), "input: stride 0 adds nothing");
  EXPECT_TRUE(assemble(".rept 3\nnop 1 by 0\n.endr\nend\n", "k.s", Arch::c220).strides.empty());
}

TEST(Loops, FilesOfVersionTwoHaveLoops) {
  std::vector<std::byte> bytes = write_program(assemble("nop 1\nend\n", "k.s", Arch::c220));
  bytes[8] = std::byte{2};
  bytes.resize(bytes.size() + 8);  // no loops, no strides
  const u64 checksum = program_checksum(bytes);
  for (usize i = 0; i < 8; ++i)
    bytes[32 + i] = static_cast<std::byte>(checksum >> (8 * i));
  EXPECT_EQ(error_of([&] { read_program(bytes, "k.bin"); }), "input: k.bin: a file of format version 2 without loops");
}

std::string refused(const std::string& text) {
  return error_of([&] { assemble(".arch c220\n" + text, "k.s"); });
}

TEST(Loops, TextThatIsWrongIsRefused) {
  EXPECT_THAT(refused(".rept 0\nnop 1\n.endr\nend\n"), HasSubstr("k.s:2:7: a loop has 1 to 4294967295 turns"));
  EXPECT_THAT(refused(".rept 2\nnop 1\n"), HasSubstr("k.s:2:1: this .rept has no .endr"));
  EXPECT_THAT(refused("nop 1\n.endr\n"), HasSubstr("k.s:3:1: .endr without .rept"));
  EXPECT_THAT(refused(".rept 2\n.endr\nend\n"), HasSubstr("k.s:3:1: there is no instruction"));
  EXPECT_THAT(refused("nop 1 by 2\nend\n"), HasSubstr("k.s:2:7: nop: 'cycles' has more strides than"));
  EXPECT_THAT(refused(".rept 2\nl: nop 1\n.endr\nend\n"), HasSubstr("k.s:3:1: label 'l' is inside .rept"));
  EXPECT_THAT(refused("l: nop 1\n.rept 2\nb l\n.endr\nend\n"), HasSubstr("k.s:4:3: b is inside .rept"));
  EXPECT_THAT(refused(".rept 100\nset_flag PIPE_V, PIPE_MTE3, 0 by 4\n.endr\nend\n"),
              HasSubstr("k.s:3:31: set_flag: 'event' does not fit its"));
  EXPECT_THAT(refused(".rept 4294967295\nnop 1\nnop 1\n.endr\nend\n"), HasSubstr("k.s:5:1: with the turns"));
  EXPECT_THAT(refused(".rept 4294967295\nnop 1\n.endr\nend\nend\n"), HasSubstr("k.s:5:1: with the turns"));
  // One mistake is one message.
  EXPECT_THAT(refused(".rept 3\nnop X1 by 5\n.endr\nend\n"), Not(HasSubstr("no instruction")));
  EXPECT_THAT(refused(".rept X1\nnop 1\n.endr\nend\n"), Not(HasSubstr("without .rept")));
  EXPECT_THAT(refused("nop X1 by 5\n.rept 2\n.endr\nend\n"), HasSubstr("k.s:4:1: there is no instruction"));
  EXPECT_THAT(refused(".rept 2\nmov X1, X2 by 1\n.endr\nend\n"), HasSubstr("'by' is not expected"));
}

TEST(Loops, ProgramsThatAreWrongAreRefused) {
  const auto wrong = [](auto change) {
    Program p = assemble(kNested, "k.s");
    change(p);
    return error_of([&] { verify(p); });
  };
  EXPECT_EQ(wrong([](Program&) {}), "");
  EXPECT_THAT(wrong([](Program& p) { p.loops[0].length = 9; }), HasSubstr("not one of instructions"));
  EXPECT_THAT(wrong([](Program& p) { p.loops[1].length = 0; }), HasSubstr("not one of instructions"));
  EXPECT_THAT(wrong([](Program& p) { p.loops[1].count = 0; }), HasSubstr("no turns"));
  EXPECT_THAT(wrong([](Program& p) { p.loops[0].count = ~0u; }), HasSubstr("more than 4294967295"));
  EXPECT_THAT(wrong([](Program& p) { p.loops[1] = {3, 2, 3}; }), HasSubstr("partly in another"));
  EXPECT_THAT(wrong([](Program& p) { std::swap(p.loops[0], p.loops[1]); }), HasSubstr("begins before"));
  EXPECT_THAT(wrong([](Program& p) { p.strides[0].field = 0; }), HasSubstr("cannot have a stride"));
  EXPECT_THAT(wrong([](Program& p) { p.strides[0].field = 5; }), HasSubstr("has no operand 5"));
  EXPECT_THAT(wrong([](Program& p) { p.strides[0].loop = 7; }), HasSubstr("no loop"));
  EXPECT_THAT(wrong([](Program& p) { p.strides[0].inst = 0; }), HasSubstr("does not repeat instruction 0"));
  EXPECT_THAT(wrong([](Program& p) { std::swap(p.strides[1], p.strides[2]); }), HasSubstr("not in its order"));
  EXPECT_THAT(wrong([](Program& p) {
                p.loops.insert(p.loops.begin() + 1, kMaxLoopDepth, Loop{1, 3, 1});
              }),
              HasSubstr("nested more than 16 deep"));
}

}  // namespace
}  // namespace vinci::isa
