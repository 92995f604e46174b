// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/check/record.h"
#include "isa/check/vector_clock.h"
#include "isa/machine/issue.h"

namespace vinci::isa::check {

// An instruction that touches memory, and what is known when it starts.
struct Present {
  Record record;
  const VectorClock& clock;
  const Issued* inst;  // null: a task
  u32 number = 0;      // of the record, in the shadow at hand
  u32 before = 0;      // position of what its pipe did before it, apart from flags and barriers
};

}  // namespace vinci::isa::check
