// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Every call of isa/builder/calls.h writes the word that the assembler makes of its text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "isa/builder/program_builder.h"
#include "isa/table/codec.h"
#include "isa/table/table.h"
#include "isa/text/text.h"

namespace vinci::isa {
namespace {

// Operands of one instruction: numbers that fit, or registers where these may be.
struct Operands {
  ProgramBuilder& p;
  const Row& row;
  bool registers;
  Target end;

  u64 number(usize f) const { return row.fields[f].fits(f + 2) ? f + 2 : 1; }
  Reg reg(usize f) const { return p.x(static_cast<u32>(f + 3)); }
  Value value(usize f) const { return registers ? Value(reg(f)) : Value(number(f)); }
  PipeId pipe(usize f) const { return static_cast<PipeId>(f + 1); }
  Event event(usize f) const { return registers ? Event(reg(f)) : Event(number(f)); }
  Target target(usize) const { return end; }

  std::string text(usize f) const {
    switch (row.fields[f].kind) {
      case OperandKind::pipe: return fmt::format("PIPE_{}", kPipeNames[f + 1]);
      case OperandKind::label: return "end_of_it";
      case OperandKind::reg_dst: return fmt::format("X{}", f + 3);
      case OperandKind::value:
      case OperandKind::event: break;
    }
    return registers ? fmt::format("X{}", f + 3) : fmt::format("{}", number(f));
  }
};

struct Call {
  u16 opcode;
  bool typed;
  void (*make)(ProgramBuilder&, Type, const Operands&);
};
const Call kCalls[] = {
#include "isa/builder/each_call.inc"
};

Type type_called(std::string_view name) {
  const auto it = std::ranges::find(kTypeNames, name);
  EXPECT_NE(it, kTypeNames.end()) << name;
  return static_cast<Type>(it - kTypeNames.begin());
}

void expect_same(const Call& call, const Row& row, Arch arch, std::string_view type, bool registers) {
  ProgramBuilder p("k", arch);
  const Operands operands{p, row, registers, p.label("end_of_it")};
  call.make(p, type.empty() ? Type{} : type_called(type), operands);
  if (row.role == Role::set_flag || row.role == Role::wait_flag) {  // its partner, without which finish() refuses it
    p.call(row.role == Role::set_flag ? "wait_flag" : "set_flag",
           {operands.pipe(0), operands.pipe(1), operands.event(2)});
  }
  p.bind(operands.end);
  p.end();
  std::string text = fmt::format("{}{}{}", row.name, type.empty() ? "" : ".", type);
  for (usize f = 0; f < row.fields.size(); ++f)
    text += (f == 0 ? " " : ", ") + operands.text(f);
  const Program expected = assemble(text + "\nend_of_it:\nend\n", "k.s", arch);
  const BuiltProgram built = p.finish();
  EXPECT_EQ(built.program().code[0], expected.code[0]) << text << " on " << name(arch);
}

TEST(BuilderCalls, EncodeAsTheAssemblerEncodesTheirText) {
  usize forms = 0;
  for (const Call& call : kCalls) {
    const Row& row = *row_of(call.opcode);
    for (usize a = 0; a < kArchNames.size(); ++a) {
      const Arch arch = static_cast<Arch>(a);
      if (!contains(row.archs, arch)) continue;
      for (const bool registers : {false, true}) {
        if (!call.typed) expect_same(call, row, arch, {}, registers), ++forms;
        for (const TypeForm& t : row.types)
          if (call.typed && contains(t.archs, arch)) expect_same(call, row, arch, t.name, registers), ++forms;
      }
    }
  }
  EXPECT_GT(forms, 2 * table().size());
}

TEST(BuilderCalls, ThereIsOneForEachInstruction) {
  for (const Row& row : table())
    EXPECT_TRUE(std::ranges::any_of(kCalls, [&](const Call& c) { return c.opcode == row.opcode; })) << row.name;
}

// What a call leaves out has the value that the text has where it leaves it out.
TEST(BuilderCalls, LeaveOutWhatTextMayLeaveOut) {
  ProgramBuilder p("k", Arch::c220);
  p.trap();
  p.nop();
  p.vadd(Type::f16, 0x100, 0, 0x200, 1, 1, 1, 1, 8, 8, 8);
  p.mad(Type::f162f32, 0, 0, 0, 64, 64, 64, 1);
  p.end();
  const Program expected =
      assemble("trap\nnop\nvadd.f16 0x100, 0, 0x200, 1, 1, 1, 1, 8, 8, 8\nmad.f162f32 0, 0, 0, 64, 64, 64, 1\nend\n",
               "k.s", Arch::c220);
  EXPECT_EQ(p.finish().program().code, expected.code);
}

}  // namespace
}  // namespace vinci::isa
