// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/table/insn.h"

namespace vinci::isa {

// What a scalar instruction does that knows nothing but registers and constants, all of 64 bits: Xd = f(a, b), or a
// branch where f(a, b) holds. Most of what a scalar unit runs is of this kind, and is run without a copy of its
// arguments.
struct Arithmetic {
  u64 (*value)(u64 a, u64 b) = nullptr;
  bool (*goes)(i64 a, i64 b) = nullptr;

  explicit operator bool() const { return value != nullptr || goes != nullptr; }
};

// Empty for all other instructions. Of those with types, form 0 is s64.
Arithmetic arithmetic_of(const Row& row, u8 type);

}  // namespace vinci::isa
