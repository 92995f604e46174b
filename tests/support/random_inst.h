// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <random>

#include "isa/program/program.h"

namespace vinci::isa {

// A value that fits the field, its limits more often than chance.
inline u64 random_value(const FieldInfo& f, std::mt19937_64& random) {
  if (f.kind == OperandKind::pipe) return random() % kPipeNames.size();
  const u64 mask = f.width >= 64 ? ~u64{0} : (u64{1} << f.width) - 1;
  u64 v = random();
  switch (random() % 4) {
    case 0: v = 0; break;
    case 1: v = mask; break;
    default: v >>= random() % 64; break;
  }
  v &= mask;
  const u64 sign = u64{1} << (f.width - 1);
  return f.is_signed ? (v ^ sign) - sign : v;
}

// Legal operands for the row, immediates and registers; branch targets are below `targets`.
inline Inst random_inst(const Row& row, u8 type, u32 targets, std::mt19937_64& random) {
  Inst inst{.row = &row, .type = type};
  for (usize i = 0; i < row.fields.size(); ++i) {
    const FieldInfo& f = row.fields[i];
    const bool reg = f.kind == OperandKind::reg_dst || (takes_register(f.kind) && random() % 3 == 0);
    if (reg) {
      inst.operands[i] = {true, random() % kRegisterCount};
    } else if (f.kind == OperandKind::label) {
      inst.operands[i] = {false, random() % targets};
    } else {
      inst.operands[i] = {false, random_value(f, random)};
    }
  }
  return inst;
}

}  // namespace vinci::isa
