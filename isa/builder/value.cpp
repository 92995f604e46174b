// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/builder/value.h"

#include "isa/base/error.h"
#include "isa/numeric/float16.h"

namespace vinci::isa {

Reg Value::reg() const {
  if (!is_reg()) fail(Fault::Input, "a register is needed here, not a number, a pipe or a label");
  return {static_cast<u8>(bits_), name_};
}

Value f16(float number) { return f32_to_f16(std::bit_cast<u32>(number)); }

Expr Expr::then(ScalarOp op, const Value& operand) const {
  if (size_ == kMaxSteps) fail(Fault::Input, "an expression has at most {} operations", kMaxSteps);
  Expr out = *this;
  out.steps_[out.size_++] = {op, operand};
  return out;
}

Condition operator!(const Condition& c) {
  using enum Condition::Op;
  static constexpr std::array kInverse{ne, eq, ge, gt, le, lt};
  return {kInverse[static_cast<usize>(c.op)], c.a, c.b};
}

}  // namespace vinci::isa
