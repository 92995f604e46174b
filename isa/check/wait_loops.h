// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <unordered_map>

#include "isa/program/code.h"

namespace vinci::isa::check {

// Which scalar loads a program waits for: those in a loop that goes on or ends by what they have read. In assembly that
// is a branch back to the load or further, on a register that comes from it, or a branch out of such a loop; in
// recorded kernels, whose loops are gone, a `nop` behind the last load of the loop with the operand `awaited`.
class WaitLoops {
 public:
  enum class Kind : u8 {
    none,
    loop,   // the program repeats the load here, too
    mark,   // it did when it was recorded, until the load found what it had not found before
    again,  // the same, but it had found that before
    poll    // an earlier turn of such a recorded loop: it found nothing
  };
  // How the program waits for what the load at `pc` has read, in a loop that begins at `first` or earlier.
  Kind waits(const Code& code, u32 pc, u32 first) {
    const Loop& loop = at(code, pc);
    return loop.begin <= first ? loop.kind : Kind::none;
  }

 private:
  struct Loop {
    Kind kind = Kind::none;
    u32 begin = ~u32{0};
  };
  const Loop& at(const Code& code, u32 pc);
  // `turn`: a later load from the same address, ~0 where none is near.
  static Loop find(const Code& code, u32 pc, u32& turn);

  std::unordered_map<const Code*, std::unordered_map<u32, Loop>> known_;  // by code and pc
};

}  // namespace vinci::isa::check
