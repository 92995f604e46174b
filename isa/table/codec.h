// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/program/program.h"

namespace vinci::isa {

// One instruction to its word. Operands must fit (VINCI_CHECK): text and builders test that before, with a position.
Word encode(const Inst& inst);

// A word to its instruction. Throws Fault::Input for an unknown opcode or type form, a bit that no operand owns, a
// register number beyond X31, a pipe that does not exist.
Inst decode(const Word& word);

// Whether the program can run on its architecture: every word decodes, every instruction and type form exists there,
// every branch target is inside, loops and strides are those of Program. Throws Fault::Input naming the instruction by
// index and, where known, source line.
void verify(const Program& program);

// Whether a program ends with an instruction that something may follow: where `end` is missing. The program must pass
// verify().
bool runs_past_end(const Program& program);

}  // namespace vinci::isa
