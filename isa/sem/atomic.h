// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>

#include "isa/table/insn.h"

// Writes to global memory, plain or atomic as CTRL says: the way out of every copy from UB, L1 and L0C.
// Source of the encodings, types and paths: published documentation of SetCtrlSpr, SetAtomicAdd, SetAtomicMax.
namespace vinci::isa {

// What an atomic write ran into; the codes of "L2 Atomic Add" in an Opdebug dump. An infinity that meets its negative
// is none of them.
enum class AtomicOverflow : u8 { none, above, below, src_nan, dst_nan, both_nan };

// The access of a copy to global memory, complete for the write that CTRL asks for: an atomic one has elements of its
// own type, so the address has to be aligned to them and each piece has to be a number of them. It counts as a write
// alone, because L2 reads and writes the line in one go. Fault::Program where the architecture lacks the operation.
Access gm_write_access(Access plain, const Spr& spr, Arch arch);

// Writes `from` to `address`, or combines it with what is there. The order of two atomic writes is that of their
// retirement. f16 and bf16 obey the overflow mode, integers CTRL[53]; a NaN makes the result NaN. The first code other
// than none stays in ResultRegisters::l2_atomic. `written`: bytes that the instruction has written before, for the
// number of an element in the census.
void write_gm(u64 address, std::span<const std::byte> from, ExecContext& c, u64 written = 0);

}  // namespace vinci::isa
