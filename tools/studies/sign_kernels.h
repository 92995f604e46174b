// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/builder/program_builder.h"

// Gradients of one bit, as signSGD with a majority vote exchanges them; for the vector cores of c220.
namespace vinci::studies {

inline constexpr u64 kSignTile = 8192;  // elements of a tile

// Bits of g >= 0. Arguments: g (f32), bits. Elements are a multiple of the tile, of all kernels here.
isa::BuiltProgram pack_signs(isa::Arch arch, u64 elements);
// Bits of what most of `ranks` say, 1 where they are even. Arguments: the bits of the ranks one behind the other, bits.
isa::BuiltProgram vote_signs(isa::Arch arch, u64 elements, u64 ranks);
// 1 or -1. Arguments: bits, g (f32).
isa::BuiltProgram unpack_signs(isa::Arch arch, u64 elements);

}  // namespace vinci::studies
