// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/program/code.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/table/codec.h"
#include "isa/table/table.h"

namespace vinci::isa {

Code::Code(const Program& program) : arch_(program.arch), sources_{program.source} {
  verify(program);
  sources_.insert(sources_.end(), program.included.begin(), program.included.end());
  insts_.resize(program.code.size());
  for (usize i = 0; i < program.code.size(); ++i) {
    decode_into(insts_[i], decode(program.code[i]), program.lines[i],
                program.files.empty() ? u16{0} : program.files[i]);
  }
  if (!program.loops.empty()) tree_ = LoopTree(program.loops, program.code.size());
  size_ = static_cast<u32>(tree_.empty() ? program.code.size() : tree_.positions());
  add_strides(program);
}

void Code::add_strides(const Program& program) {
  for (usize i = 0; i < program.strides.size();) {
    const u32 stored = program.strides[i].inst;
    CodeInst& c = insts_[stored];
    const Inst inst = decode(program.code[stored]);
    const std::vector<u32> around = tree_.around(stored);
    usize end = i;
    while (end < program.strides.size() && program.strides[end].inst == stored)
      ++end;
    c.grown = static_cast<u32>(grown_.size());
    c.plain = {};  // its constants are not constant
    for (u8 f = 0; f < inst.row->fields.size(); ++f) {
      Grown grown{
          .field = &inst.row->fields[f], .value = inst.operands[f].value, .first = static_cast<u32>(terms_.size())};
      for (usize s = i; s < end; ++s) {
        const Stride& stride = program.strides[s];
        if (stride.field != f) continue;
        terms_.push_back({stride.by, static_cast<u32>(std::ranges::find(around, stride.loop) - around.begin())});
      }
      grown.count = static_cast<u32>(terms_.size()) - grown.first;
      if (grown.count == 0) continue;
      grown_.push_back(grown);
      ++c.grown_count;
    }
    i = end;
  }
}

void Code::append(const Inst& inst, u32 line, u16 file) {
  insts_[0] = {};
  decode_into(insts_[0], inst, line, file);
  ++size_;
}

const CodeInst* Code::find(u32 pc, Run& run) const {
  if (pc >= size_) return nullptr;
  if (live_) {
    if (pc + 1 != size_) return nullptr;
    run = {.begin = pc, .length = 1};
    return insts_.data();
  }
  if (tree_.empty()) {
    run = {.begin = 0, .length = size_};
  } else {
    run = tree_.find(pc);
  }
  return insts_.data() + run.first;
}

const CodeInst& Code::in_loop(u32 pc) const {
  const Run run = tree_.find(pc);
  return insts_[run.first + (pc - run.begin)];
}

std::pair<u16, u32> Code::line_at(u32 pc) const {
  if (live_ && pc + 1 != size_) return line_of_(pc);
  const CodeInst& inst = (*this)[pc];
  return {inst.file, inst.line};
}

u16 Code::file(const std::string& name) {
  const auto it = std::ranges::find(sources_, name);
  const auto index = static_cast<usize>(it - sources_.begin());
  if (it != sources_.end()) return static_cast<u16>(index);
  if (index == kMaxProgramFiles) return 0;
  sources_.push_back(name);
  return static_cast<u16>(index);
}

void Code::decode_into(CodeInst& c, const Inst& inst, u32 line, u16 file) {
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
}

std::string Code::place(u32 pc) const {
  const auto [file, line] = size_ == 0 ? std::pair<u16, u32>{} : line_at(std::min(pc, size_ - 1));
  return line != 0 ? fmt::format("{}:{}", sources_[file], line) : fmt::format("{}[{}]", sources_.front(), pc);
}

}  // namespace vinci::isa
