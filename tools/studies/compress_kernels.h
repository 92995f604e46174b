// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/builder/program_builder.h"

// Kernels that pick out what is above a threshold; for the vector cores of c220.
namespace vinci::studies {

inline constexpr u64 kCompressTile = 2048;  // scores of a tile, in f32
inline constexpr u64 kCountBytes = 32;      // of a block in the array of counts, of which the first 4 are used

// Each block owns `tiles` tiles of scores. Arguments: scores, counts; numbers of scores above 0 of each block.
isa::BuiltProgram count_kernel(isa::Arch arch, u64 tiles);

// Rows of `row_bytes` whose score is above 0, one behind the other. Arguments: scores, counts, iota (0 .. tile - 1 in
// s32), x, y. The counts say where the rows of a block begin.
isa::BuiltProgram compress_kernel(isa::Arch arch, u64 tiles, u64 row_bytes);

// Rows by an index of 8 bytes each. Arguments: indices, x, y, how many; a block takes `each` of them.
isa::BuiltProgram gather_kernel(isa::Arch arch, u64 row_bytes, u64 each);

}  // namespace vinci::studies
