// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>

#include "isa/base/types.h"

// Loops over elements that are worth vector code: conversion between f16 and f32, transposition of a fractal. The bits
// do not depend on the vector instructions of the host. Pointers need no alignment.
namespace vinci::isa {

// into[i] = from[i], exact; a NaN may change its payload.
void widen_f16(const std::byte* from, float* into, usize count);

// What a narrowing did to finite values of a run of elements.
struct Narrowed {
  bool overflow = false;   // one became infinite, or +-65504 when saturated
  bool underflow = false;  // one that is not zero became zero
};

struct NarrowMode {
  bool saturate = false;  // Inf becomes +-65504 and NaN becomes 0
  bool relu = false;      // before the conversion: what is below zero, and -0, becomes +0; NaN stays
};

// f32 to f16, to nearest even; a NaN becomes 0x7e00. `from` and `into` do not overlap.
Narrowed narrow_f32(const std::byte* from, std::byte* into, usize count, NarrowMode mode);

// A 16 x 16 fractal of 16-bit elements, rows and columns exchanged. `from` and `into` do not overlap.
void transpose_b16(const std::byte* from, std::byte* into);

}  // namespace vinci::isa
