// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/numeric/float16.h"
#include "isa/table/exec.h"

// f32 in the scalar unit, as bits. IEEE 754, to nearest even, in both overflow modes; a NaN result is the canonical
// one. `raised` collects STATUS: kScalarNanInf for an operand that is infinite or NaN, kFloatOverflow where finite
// operands give an infinite or NaN result. How the hardware reports a division by zero or a negative root is not
// public; here they are such results, not faults.
namespace vinci::isa::scalar_f32 {

u32 add(u32 a, u32 b, u64& raised);
u32 sub(u32 a, u32 b, u64& raised);
u32 mul(u32 a, u32 b, u64& raised);
u32 div(u32 a, u32 b, u64& raised);
u32 sqrt(u32 a, u64& raised);
u32 neg(u32 a, u64& raised);
u32 abs(u32 a, u64& raised);
// NaN wins, -0 < +0: as the vector unit.
u32 min(u32 a, u32 b, u64& raised);
u32 max(u32 a, u32 b, u64& raised);
// 1 or 0; only `ne` holds for a NaN.
u32 eq(u32 a, u32 b, u64& raised);
u32 ne(u32 a, u32 b, u64& raised);
u32 lt(u32 a, u32 b, u64& raised);
u32 le(u32 a, u32 b, u64& raised);

// To s32, as its 64-bit register: out of range stops at the limits, NaN gives 0; both raise kFloatOverflow.
u64 to_s32(u32 a, RoundMode mode, u64& raised);
u32 from_s32(u32 a);
// To f16; in saturation mode infinity becomes +-65504 and NaN becomes 0.
u32 to_f16(u32 a, RoundMode mode, OverflowMode overflow, u64& raised);

}  // namespace vinci::isa::scalar_f32
