// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <random>
#include <string>

#include "isa/machine/issue.h"
#include "isa/program/program.h"

namespace vinci::test {

// A random program that is legal and free of races, and what is known about it without running it.
struct RandomProgram {
  std::string text;  // assembly
  isa::Program program;
  u64 gm_read_bytes = 0, gm_write_bytes = 0;  // of the footprints of one block
  usize flags = 0, barriers = 0, loops = 0;   // synchronisation that it contains, to see that there is some
};

// Global memory as these programs use it: argument 0 is the address of `kInBytes` that all blocks read, argument 1 the
// address of `kOutBytes` for each block, which it alone reads and writes.
inline constexpr u64 kInBytes = 64 * 1024;
inline constexpr u64 kOutBytes = 64 * 1024;

// A program for a core of that kind: fills the local buffers, runs about `length` random instructions, some of them in
// loops, and writes what is left in UB or L0C to global memory. Two instructions that touch the same 32 B block, one of
// them writing, are ordered by flags, by pipe_barrier, or by what is ordered already; the others may overlap. Nothing
// is read that was not written before, and no flag is set twice.
RandomProgram random_program(const isa::CoreSpec& core, usize length, std::mt19937_64& random);

}  // namespace vinci::test
