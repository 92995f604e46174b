// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>

#include "isa/builder/program_builder.h"

namespace vinci::validate {

// A number for each row of an f32 matrix in UB, as the vector unit does it on the split core: by blocks while a row has
// whole repeats or is one block, else by pairs of blocks.
struct RowReduce {
  std::string_view name;  // max, min or add
  isa::Value dst, src;    // addresses; the source is a number where columns is 16 or 32, and keeps its contents
  u64 rows, columns;      // rows follow each other; columns is a power of two of at least 8
  u64 work;               // place in UB for two times an eighth of the matrix, or half where columns is below 64
  isa::Reg t;             // changes
};
u64 row_reduce_work(u64 rows, u64 columns);
// Writes the instructions, with a pipe_barrier after each step.
void row_reduce(isa::ProgramBuilder& p, const RowReduce& r);

}  // namespace vinci::validate
