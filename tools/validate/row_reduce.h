// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>

#include "isa/base/types.h"

namespace vinci::validate {

// A number for each row of an f32 matrix in UB, as the vector unit does it on the split core: by blocks while a row has
// whole repeats or is one block, else by pairs of blocks.
struct RowReduce {
  std::string_view name;      // max, min or add
  std::string_view dst, src;  // registers or numbers, the source a number where columns is 16 or 32; it stays as it is
  u64 rows, columns;          // rows lie one after the other; columns is a power of two of at least 8
  u64 work;                   // place in UB for two times an eighth of the matrix, or half where columns is below 64
};
u64 row_reduce_work(u64 rows, u64 columns);
// Assembly, with a pipe_barrier after each step; changes the register t.
std::string row_reduce(const RowReduce& r);

}  // namespace vinci::validate
