// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/text/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "isa/base/error.h"
#include "isa/table/codec.h"
#include "isa/table/table.h"
#include "tests/support/random_inst.h"

namespace vinci::isa {
namespace {

constexpr u64 kSeed = 20240612;

Program assemble_c220(std::string_view text) { return assemble(text, "k.s", Arch::c220); }
Inst first(std::string_view text) { return decode(assemble_c220(text).code.at(0)); }

std::string message_of(std::string_view text) {
  try {
    assemble_c220(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::Input);
    return e.what();
  }
  return "no error";
}

// The immediate that `mov X0, <expression>` gets.
u64 value_of(std::string_view expression) { return first(fmt::format("mov X0, {}", expression)).operands[1].value; }

std::string error_of(std::string_view expression) { return message_of(fmt::format("mov X0, {}", expression)); }

TEST(Text, EveryFormOfEveryInstructionSurvivesItsText) {
  std::mt19937_64 random(kSeed);
  usize forms = 0;
  for (const Row& row : table()) {
    for (usize type = 0; type < std::max<usize>(row.types.size(), 1); ++type) {
      for (usize a = 0; a < kArchNames.size(); ++a) {
        const auto arch = static_cast<Arch>(a);
        if (!contains(row.archs, arch) || (!row.types.empty() && !contains(row.types[type].archs, arch))) continue;
        ++forms;
        for (int round = 0; round < 20; ++round) {
          const Inst inst = random_inst(row, static_cast<u8>(type), 1, random);
          const std::string text = print(inst);
          const Program p = assemble(text, "k.s", arch);
          ASSERT_EQ(p.code.size(), 1u) << text;
          ASSERT_EQ(decode(p.code[0]), inst) << text << " seed " << kSeed;
        }
      }
    }
  }
  EXPECT_GT(forms, 200u);
}

TEST(Text, RandomProgramsSurviveDisassembly) {
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 50; ++round) {
    Program p{.arch = Arch::c220, .source = "k.s", .code = {}, .lines = {}, .labels = {{"L3", 1}, {"not a name", 2}}};
    constexpr u32 kLength = 60;
    while (p.code.size() < kLength) {
      const Row& row = table()[random() % table().size()];
      const auto type = static_cast<u8>(row.types.empty() ? 0 : random() % row.types.size());
      if (!contains(row.archs, p.arch) || (!row.types.empty() && !contains(row.types[type].archs, p.arch))) continue;
      p.code.push_back(encode(random_inst(row, type, kLength, random)));
      p.lines.push_back(0);
    }
    p.labels.push_back({"done", kLength});
    const std::string text = disassemble(p);
    const Program again = assemble(text, "again.s");
    ASSERT_EQ(again.arch, p.arch);
    ASSERT_EQ(again.code, p.code) << text;
    ASSERT_EQ(disassemble(again), text);
  }
}

TEST(Text, DisassemblyKeepsNamesAndMakesUpTheRest) {
  const Program p = assemble_c220("start: b L0\nL0: b 0\nb 3\nend");
  EXPECT_EQ(disassemble(p), ".arch c220\nstart:\n  b L0\nL0:\n  b start\n  b L3\nL3:\n  end\n");
}

TEST(Text, MadeUpLabelsAvoidTakenNames) {
  const Program p = assemble_c220("L1: b 1\nend");
  EXPECT_EQ(disassemble(p), ".arch c220\nL1:\n  b L1_\nL1_:\n  end\n");
}

TEST(Text, RecordsLinesLabelsAndSource) {
  const Program p =
      assemble("\n; nothing\n.arch c100\na: b: mov X1, 1 ; one\n  // two\n\r\nend # three\nlast:", "dir/k.s");
  EXPECT_EQ(p.arch, Arch::c100);
  EXPECT_EQ(p.source, "dir/k.s");
  EXPECT_EQ(p.lines, (std::vector<u32>{4, 7}));
  EXPECT_EQ(p.labels, (std::vector<Label>{{"a", 0}, {"b", 0}, {"last", 2}}));
}

TEST(Text, OperandsByPositionThenByName) {
  const Inst positional = first("load_cbuf_to_ca 512, 1024, 3, 8, 2, 0, 1, 4");
  EXPECT_EQ(first("load_cbuf_to_ca 512, 1024, dstGap=4, transpose=1, sid=0, srcStride=2, repeat=8, baseIdx=3"),
            positional);
  EXPECT_EQ(positional.operands[7], (Operand{false, 4}));
  EXPECT_EQ(first("load_cbuf_to_ca 512, 1024, 3, 8, 2, 0, 1").operands[7], (Operand{false, 0}));  // optional
}

TEST(Text, AliasesConstantsPipesAndEvents) {
  EXPECT_EQ(first(".alias i = X7\n.const N = 3\nadd i, i, N*2"), first("add X7, X7, 6"));
  const Inst flag = first("set_flag PIPE_MTE2, PIPE_M, EVENT_ID5");
  EXPECT_EQ(flag.operands[0].value, static_cast<u64>(PipeId::MTE2));
  EXPECT_EQ(flag.operands[1].value, static_cast<u64>(PipeId::M));
  EXPECT_EQ(flag.operands[2], (Operand{false, 5}));
  EXPECT_EQ(first("set_flag PIPE_V, PIPE_M, X5").operands[2], (Operand{true, 5}));
}

TEST(Text, NumbersInEveryBase) {
  EXPECT_EQ(value_of("42"), 42u);
  EXPECT_EQ(value_of("0x2A"), 42u);
  EXPECT_EQ(value_of("0b10_1010"), 42u);
  EXPECT_EQ(value_of("0o52"), 42u);
  EXPECT_EQ(value_of("-42"), static_cast<u64>(-42));
  EXPECT_EQ(value_of("0xffff_ffff_ffff_ffff"), ~u64{0});
  EXPECT_EQ(value_of("18446744073709551615"), ~u64{0});
  EXPECT_EQ(value_of("-9223372036854775808"), u64{1} << 63);
}

TEST(Text, ExpressionsFollowTheRulesOfC) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7u);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9u);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3u);
  EXPECT_EQ(value_of("100 / 7 % 5"), 4u);
  EXPECT_EQ(value_of("-7 / 2"), static_cast<u64>(-3));
  EXPECT_EQ(value_of("-7 % 2"), static_cast<u64>(-1));
  EXPECT_EQ(value_of("1 << 3 + 1"), 16u);
  EXPECT_EQ(value_of("1 | 6 & 3 ^ 1"), 3u);  // 1 | ((6 & 3) ^ 1)
  EXPECT_EQ(value_of("-16 >> 2"), static_cast<u64>(-4));
  EXPECT_EQ(value_of("1 << 63"), u64{1} << 63);
  EXPECT_EQ(value_of("~0"), ~u64{0});
  EXPECT_EQ(value_of("~0 ^ (1 << 63)"), ~u64{0} >> 1);
  EXPECT_EQ(value_of("~0xffffffffffffffff"), 0u);
  EXPECT_EQ(value_of("- -5"), 5u);
}

TEST(Text, FloatingLiteralsAreBits) {
  EXPECT_EQ(value_of("1.5h"), 0x3e00u);
  EXPECT_EQ(value_of("-1.5h"), 0xbe00u);
  EXPECT_EQ(value_of("65504h"), 0x7bffu);
  EXPECT_EQ(value_of("6e-8h"), 1u);                // smallest subnormal
  EXPECT_EQ(value_of("1.00048828125h"), 0x3c00u);  // 1 + 2^-11, a tie: to even
  EXPECT_EQ(value_of("1.5f"), 0x3fc00000u);
  EXPECT_EQ(value_of("-0.0f"), 0x80000000u);
  EXPECT_EQ(value_of("2.5e+1f"), 0x41c80000u);
  EXPECT_EQ(value_of("16777217f"), 0x4b800000u);
}

TEST(Text, ExpressionErrorsStandAtTheirColumn) {
  EXPECT_EQ(error_of("1 / 0"), "k.s:1:11: division by zero");
  EXPECT_EQ(error_of("1 << 64"), "k.s:1:11: the shift count is not in [0, 63]");
  EXPECT_EQ(error_of("1 << 63 << 1"), "k.s:1:17: the value does not fit 64 bits");
  EXPECT_EQ(error_of("18446744073709551616"), "k.s:1:9: '18446744073709551616' does not fit 64 bits");
  EXPECT_EQ(error_of("0xffffffffffffffff * 0xffffffffffffffff"), "k.s:1:28: the value does not fit 64 bits");
  EXPECT_EQ(error_of("(1"), "k.s:1:11: ')' is missing for the '(' in column 9");
  EXPECT_EQ(error_of("1 +"), "k.s:1:12: a value is missing");
  EXPECT_EQ(error_of("1.5"), "k.s:1:9: '1.5' needs a suffix that says which bits it means: h for f16, f for f32");
  EXPECT_EQ(error_of("017"), "k.s:1:9: '017' starts with 0; octal numbers are written 0o17");
  EXPECT_EQ(error_of("0b12"), "k.s:1:9: cannot read the number '0b12'");
  EXPECT_EQ(error_of("1e5h"), "k.s:1:9: '1e5h' is beyond the largest f16, 65504");
  EXPECT_EQ(error_of("1e-9h"), "k.s:1:9: '1e-9h' rounds to zero in f16");
  EXPECT_EQ(error_of("1e99f"), "k.s:1:9: '1e99f' is beyond the range of its type");
  EXPECT_EQ(error_of("1.5h + 1"), "k.s:1:14: floating literals cannot be computed with ('+')");
  EXPECT_EQ(error_of("X1 + 1"), "k.s:1:12: '+' is not expected here; operands are separated by ','");
  EXPECT_EQ(message_of(".alias i = X1\nmov X0, 1 + i"),
            "k.s:2:13: 'i' is a register; registers cannot be part of an expression");
}

TEST(Text, NestingIsBounded) {
  EXPECT_EQ(value_of(std::string(60, '(') + "1" + std::string(60, ')')), 1u);
  EXPECT_EQ(error_of(std::string(1000, '(') + "1" + std::string(1000, ')')),
            "k.s:1:74: the expression is nested deeper than 64");
  EXPECT_EQ(error_of(std::string(1000, '-') + "1"), "k.s:1:74: the expression is nested deeper than 64");
  std::string sum = "1";  // long, but not nested
  for (int i = 0; i < 9999; ++i)
    sum += "+1";
  EXPECT_EQ(value_of(sum), 10000u);
}

TEST(Text, AllErrorsAreReportedTogetherInTheOrderOfTheText) {
  EXPECT_EQ(message_of("b nowhere\nmadd\nadd X1, X2\nend"),
            "k.s:1:3: no label is called 'nowhere'\n"
            "k.s:2:1: no instruction is called 'madd'; did you mean 'add'?\n"
            "k.s:3:11: add: operand 3 ('b') is missing");
}

TEST(Text, OneMistakeIsReportedOnce) {
  EXPECT_EQ(message_of(".const N = 1 / 0\nmov X1, N\nmov X2, N + 1"), "k.s:1:14: division by zero");
}

TEST(Text, ReportingStopsAfterTwentyErrors) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "nonsense_here\n";
  const std::string message = message_of(text);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 20);
  EXPECT_TRUE(message.ends_with("\nk.s: stopped after 20 errors")) << message;
}

TEST(Text, SizesAreBounded) {
  EXPECT_EQ(message_of(std::string(kMaxAssemblyBytes + 1, '\n')),
            "k.s: the text has 67108865 bytes; at most 67108864 are read");
  EXPECT_EQ(message_of(std::string(70000, ' ')), "k.s:1:65537: the line is longer than 65536 bytes");
  EXPECT_EQ(message_of(std::string(256, 'a') + ": end"), "k.s:1:1: a name has at most 255 characters");
}

TEST(Text, ProgramsAreBoundedByWhatABranchCanReach) {
  std::string text;
  for (usize i = 0; i < kMaxProgramLength; ++i)
    text += "end\n";
  EXPECT_EQ(assemble_c220(text).code.size(), kMaxProgramLength);
  EXPECT_EQ(message_of(text + "end\nend\n"), "k.s:1048577:1: a program has at most 1048576 instructions");
}

TEST(Text, PrintsOneLineWithLabelsWhereThereAreSome) {
  const Program p = assemble_c220("top: mad.f162f32 X1, 0x400, X3, 128, 64, 256, 1\nb top\nadd X1, X2, -3");
  EXPECT_EQ(print(decode(p.code[0])), "mad.f162f32 X1, 0x400, X3, 128, 64, 256, 1");
  EXPECT_EQ(print(decode(p.code[1]), &p), "b top");
  EXPECT_EQ(print(decode(p.code[1])), "b 0");
  EXPECT_EQ(print(decode(p.code[2])), "add X1, X2, -3");
}

TEST(Text, PrintsResolvedValuesWithNames) {
  const auto resolved = [](std::string_view text) {
    const Inst inst = first(text);
    ArgsStorage args;
    for (usize i = 0; i < inst.row->fields.size(); ++i)
      inst.row->fields[i].set(args, inst.operands[i].value);
    return print_resolved(*inst.row, inst.type, args);
  };
  EXPECT_EQ(resolved("load_cbuf_to_ca 0, 0x4000, 0, 8, 1, 0, 0"),
            "load_cbuf_to_ca dst=0x0 src=0x4000 baseIdx=0 repeat=8 srcStride=1 sid=0 transpose=0");
  EXPECT_EQ(resolved("wait_flag PIPE_MTE2, PIPE_MTE1, 3"), "wait_flag src=PIPE_MTE2 dst=PIPE_MTE1 event=EVENT_ID3");
  EXPECT_EQ(resolved("mad.s8 0, 0, 0, 16, 32, 16, 1"), "mad.s8 c=0x0 a=0x0 b=0x0 m=16 k=32 n=16 init=1");
  EXPECT_EQ(resolved("add X5, -1, 0x123456789a"), "add rd=X5 a=-1 b=0x123456789a");
  EXPECT_EQ(resolved("mad.s8 0, 0, 0, 16, 32, 16, 0, 0, 0, 1, 64"),
            "mad.s8 c=0x0 a=0x0 b=0x0 m=16 k=32 n=16 init=0 cmatrixSource=1 bias=0x40");
}

TEST(Text, TheExampleOfTheDocumentationAssembles) {
  std::ifstream in(ASSEMBLY_DOC);
  const std::string doc{std::istreambuf_iterator<char>(in), {}};
  const std::string fence = "```asm\n";
  const usize begin = doc.find(fence);
  ASSERT_NE(begin, std::string::npos);
  const usize end = doc.find("```", begin + fence.size());
  const Program p = assemble(doc.substr(begin + fence.size(), end - begin - fence.size()), "assembly.md");
  EXPECT_EQ(p.code.size(), 15u);
}

TEST(Text, NamesAreChecked) {
  EXPECT_TRUE(is_name("_loop.1$"));
  EXPECT_FALSE(is_name(""));
  EXPECT_FALSE(is_name("1st"));
  EXPECT_FALSE(is_name("a b"));
  EXPECT_FALSE(is_name(std::string(256, 'a')));
}

}  // namespace
}  // namespace vinci::isa
