// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/builder/program_builder.h"

// Numbers of 16 bits to blocks of 32 B that hold one number 16 times, and back: transposes of 16 x 16, which all
// architectures have. The scalar unit would do, but then times would depend on data.
namespace vinci::graph {

inline constexpr u64 kTrashBytes = 512;

// `count` numbers that follow each other become blocks that do; both have room for a multiple of 16.
void spread_numbers(isa::ProgramBuilder& p, u64 blocks, u64 numbers, u64 count);

// The first numbers of blocks that are `apart` bytes from each other. `trash`: kTrashBytes of UB.
void gather_numbers(isa::ProgramBuilder& p, u64 numbers, u64 blocks, u64 apart, u64 count, u64 trash);

}  // namespace vinci::graph
