// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/code.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/codec.h"
#include "isa/table.h"

namespace vinci::isa {

Code::Code(const Program& program) : arch_(program.arch), sources_{program.source} {
  verify(program);
  sources_.insert(sources_.end(), program.included.begin(), program.included.end());
  insts_.reserve(program.code.size());
  for (usize i = 0; i < program.code.size(); ++i)
    append(decode(program.code[i]), program.lines[i], program.files.empty() ? u16{0} : program.files[i]);
}

u16 Code::file(const std::string& name) {
  const auto it = std::ranges::find(sources_, name);
  const auto index = static_cast<usize>(it - sources_.begin());
  if (it != sources_.end()) return static_cast<u16>(index);
  if (index == kMaxProgramFiles) return 0;
  sources_.push_back(name);
  return static_cast<u16>(index);
}

void Code::append(const Inst& inst, u32 line, u16 file) {
  CodeInst c;
  c.row = inst.row;
  c.type = inst.type;
  c.form = form_index(*c.row, c.type);
  c.line = line;
  c.file = file;
  if (c.row->set_type != nullptr) c.row->set_type(c.args, inst.type);
  c.plain.what = arithmetic_of(*c.row, c.type);
  usize values = 0;
  for (usize f = 0; f < inst.row->fields.size(); ++f) {
    const FieldInfo& field = inst.row->fields[f];
    const Operand& operand = inst.operands[f];
    if (field.kind == OperandKind::label) {
      c.branches = true;
      c.target = static_cast<u32>(operand.value);
    } else if (c.plain.what && field.kind == OperandKind::value) {
      c.plain.constants[values] = operand.value;
      if (operand.is_reg) c.plain.registers[values] = static_cast<u8>(operand.value);
      ++values;
    }
    if (field.kind == OperandKind::reg_dst) {
      c.written = static_cast<u8>(operand.value);
      field.set(c.args, operand.value);
    } else if (operand.is_reg) {
      c.patches[c.patch_count++] = {&field, static_cast<u8>(operand.value)};
      c.sources |= 1u << operand.value;
    } else {
      field.set(c.args, operand.value);
    }
  }
  insts_.push_back(c);
}

std::string Code::place(u32 pc) const {
  const u32 known = insts_.empty() ? 0 : std::min(pc, size() - 1);
  const u32 line = insts_.empty() ? 0 : insts_[known].line;
  return line != 0 ? fmt::format("{}:{}", source(known), line) : fmt::format("{}[{}]", sources_.front(), pc);
}

}  // namespace vinci::isa
