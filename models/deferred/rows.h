// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/base/types.h"

namespace vinci::isa {
struct Access;  // isa/table/insn.h
}

namespace vinci::models {

// Rows of bytes at one distance from each other; begin = end: nothing.
struct Rows {
  u64 begin = 0, end = 0;   // from the first byte of the first row to the last of the last
  u64 bytes = 0, step = 0;  // of a row, to the next row; step 0: all bytes from begin to end

  static Rows of(const isa::Access& a);
  bool meets(const Rows& o) const;
};

}  // namespace vinci::models
