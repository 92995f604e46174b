// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/table/codec.h"

#include <algorithm>

#include "isa/base/error.h"
#include "isa/insns/scalar.h"
#include "isa/insns/system.h"
#include "isa/program/loops.h"
#include "isa/table/table.h"

namespace vinci::isa {
namespace {

u64 get_bits(const Word& w, unsigned lsb, unsigned width) {
  const unsigned i = lsb / 64;
  const unsigned shift = lsb % 64;
  u64 v = w[i] >> shift;
  if (shift != 0 && shift + width > 64) v |= w[i + 1] << (64 - shift);
  return width >= 64 ? v : v & ((u64{1} << width) - 1);
}

void put_bits(Word& w, unsigned lsb, unsigned width, u64 value) {
  const unsigned i = lsb / 64;
  const unsigned shift = lsb % 64;
  if (width < 64) value &= (u64{1} << width) - 1;
  w[i] |= value << shift;
  if (shift != 0 && shift + width > 64) w[i + 1] |= value >> (64 - shift);
}

u64 sign_extend(u64 value, unsigned width) {
  if (width >= 64) return value;
  const u64 sign = u64{1} << (width - 1);
  return (value ^ sign) - sign;
}

}  // namespace

Word encode(const Inst& inst) {
  Word w{};
  put_bits(w, 0, kOpcodeBits, inst.row->opcode);
  put_bits(w, kOpcodeBits, kTypeBits, inst.type);
  for (usize i = 0; i < inst.row->fields.size(); ++i) {
    const FieldInfo& f = inst.row->fields[i];
    const Operand& o = inst.operands[i];
    VINCI_CHECK(o.is_reg ? o.value < kRegisterCount && takes_register(f.kind) : f.fits(o.value));
    put_bits(w, f.lsb, o.is_reg ? f.slot() : f.width, o.value);
    put_bits(w, f.reg_bit(), 1, o.is_reg ? 1 : 0);
  }
  return w;
}

Inst decode(const Word& w) {
  const auto opcode = static_cast<u16>(get_bits(w, 0, kOpcodeBits));
  const Row* row = row_of(opcode);
  if (row == nullptr) fail(Fault::Input, "no instruction has opcode {:#05x}", opcode);
  for (usize i = 0; i < w.size(); ++i) {
    if ((w[i] & ~row->used[i]) != 0) {
      fail(Fault::Input, "{}: bits {:#x} of word {} belong to no operand", row->name, w[i] & ~row->used[i], i);
    }
  }
  Inst inst{.row = row, .type = static_cast<u8>(get_bits(w, kOpcodeBits, kTypeBits))};
  if (inst.type >= std::max<usize>(row->types.size(), 1)) {
    fail(Fault::Input, "{} has no type form {}", row->name, inst.type);
  }
  for (usize i = 0; i < row->fields.size(); ++i) {
    const FieldInfo& f = row->fields[i];
    Operand& o = inst.operands[i];
    o.is_reg = get_bits(w, f.reg_bit(), 1) != 0;
    o.value = get_bits(w, f.lsb, f.slot());
    if (o.is_reg) {
      if (!takes_register(f.kind)) fail(Fault::Input, "{}: {} cannot be a register", row->name, f.name);
      if (o.value >= kRegisterCount) fail(Fault::Input, "{}: {} names register X{}", row->name, f.name, o.value);
      continue;
    }
    if (f.kind == OperandKind::reg_dst) fail(Fault::Input, "{}: {} must be a register", row->name, f.name);
    if (f.kind == OperandKind::pipe && o.value >= kPipeNames.size()) {
      fail(Fault::Input, "{}: {} is no pipe: {}", row->name, f.name, o.value);
    }
    if (f.slot() > f.width && (o.value >> f.width) != 0) {
      fail(Fault::Input, "{}: {} does not fit {} bits: {:#x}", row->name, f.name, f.width, o.value);
    }
    if (f.is_signed) o.value = sign_extend(o.value, f.width);
  }
  return inst;
}

void verify(const Program& p) {
  if (p.code.empty()) fail(Fault::Input, "the program is empty");
  if (p.code.size() > kMaxProgramLength) {
    fail(Fault::Input, "the program has {} instructions; at most {} can be stored", p.code.size(), kMaxProgramLength);
  }
  if (p.lines.size() != p.code.size()) {
    fail(Fault::Input, "{} instructions but {} line numbers", p.code.size(), p.lines.size());
  }
  if (p.files.empty() ? !p.included.empty() : p.files.size() != p.code.size()) {
    fail(Fault::Input, "{} instructions, but {} numbers of source files", p.code.size(), p.files.size());
  }
  for (const u16 file : p.files) {
    if (file > p.included.size()) fail(Fault::Input, "{} is not the number of a source file", file);
  }
  const u64 length = positions(p);
  for (usize i = 0; i < p.code.size(); ++i) {
    try {
      const Inst inst = decode(p.code[i]);
      if (!contains(inst.row->archs, p.arch)) {
        fail(Fault::Input, "{} does not exist on {}", inst.row->name, name(p.arch));
      }
      if (!inst.row->types.empty() && !contains(inst.row->types[inst.type].archs, p.arch)) {
        fail(Fault::Input, "{}.{} does not exist on {}", inst.row->name, inst.row->types[inst.type].name, name(p.arch));
      }
      for (usize f = 0; f < inst.row->fields.size(); ++f) {
        if (inst.row->fields[f].kind == OperandKind::label && inst.operands[f].value >= length) {
          fail(Fault::Input, "{}: target {} is outside the {} instructions of the program", inst.row->name,
               inst.operands[f].value, length);
        }
      }
    } catch (const Error& e) {
      if (p.lines[i] != 0) fail_at(e.fault(), fmt::format("{}:{}", p.source, p.lines[i]), "{}", e.message());
      fail_at(e.fault(), fmt::format("{}[{}]", p.source, i), "{}", e.message());
    }
  }
  for (const Label& l : p.labels) {
    if (l.index > length) fail(Fault::Input, "label '{}' is outside the program", l.name);
  }
  verify_loops(p);
}

bool runs_past_end(const Program& program) {
  const Row& last = *decode(program.code.back()).row;
  return last.role != Role::end && last.opcode != insn::Jump::opcode && last.opcode != insn::Trap::opcode;
}

}  // namespace vinci::isa
