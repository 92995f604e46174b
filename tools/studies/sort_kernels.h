// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/builder/program_builder.h"

// Sorting by descending score; for the vector cores of c220. A record is a score, f16 or f32, and behind 4 bytes its
// index, u32. Of equal scores the one with the lower index comes first.
namespace vinci::studies {

inline constexpr u64 kSortTile = 2048, kRecordBytes = 8;

// Sorts a tile of UB: `scores` and `indices` (s32) to records at `to`; `scratch` is as large as `to`, 16 KiB. Returns
// where the records are, which is one of both.
u64 sort_tile(isa::ProgramBuilder& p, isa::Type type, u64 scores, u64 indices, u64 to, u64 scratch);

// Scores in f16 to sorted tiles of records. Arguments: scores, iota (0 .. tile - 1 in s32), records, tiles.
isa::BuiltProgram sort_tiles(isa::Arch arch);

// A block merges four lists of records. Arguments: in, out, records in all, records between the beginnings of lists,
// most records of a list, most records of a result. Results are four times as far apart as the lists.
isa::BuiltProgram merge_lists(isa::Arch arch);

// 1 for each of the first k elements, then 0, in f32. Arguments: k (s32, in memory), iota (f32), mask, tiles.
isa::BuiltProgram mask_first(isa::Arch arch);

}  // namespace vinci::studies
