// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/exec.h"
#include "isa/numeric/float16.h"

// What the vector unit does to the lanes of one repeat. A kernel sees whole repeats: masks and strides are the caller's
// business. Each kernel exists as portable code; the frequent ones also as SIMD code, chosen at run time for the host,
// with the same bits and the same STATUS.
namespace vinci::isa {

// The element type of a lane.
enum class LaneType : u8 { f16, f32, s16, u16, s32, u32 };
inline constexpr std::array<std::string_view, 6> kLaneTypeNames{"f16", "f32", "s16", "u16", "s32", "u32"};
constexpr std::string_view name(LaneType t) { return kLaneTypeNames[static_cast<usize>(t)]; }
constexpr u32 lane_bytes(LaneType t) { return t == LaneType::f32 || t == LaneType::s32 || t == LaneType::u32 ? 4 : 2; }

inline constexpr u32 kRepeatBytes = 256;

// The lanes of one operand in one repeat.
struct alignas(64) LaneBuffer {
  std::array<std::byte, kRepeatBytes> bytes;
};

// How results that do not fit are treated.
struct LaneMode {
  OverflowMode overflow = OverflowMode::inf_nan;  // of f16 results
  bool saturate_int = false;                      // s16 and s32 sums and products stop at the limits, else they wrap
};

enum class BinaryOp : u8 { add, sub, mul, div, max, min };
enum class UnaryOp : u8 { relu, abs, exp };

// All lanes of a repeat: out = op(a, b). Returns the STATUS bits that the lanes raise:
//   kFloatOverflow   finite inputs, but the result is infinite or NaN; or an integer result that does not fit
//   kFloatUnderflow  finite inputs other than zero, but a product, quotient or exponential became zero
//   kVectorNanInf    an input is infinite or NaN
using BinaryKernel = u64 (*)(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode);
using UnaryKernel = u64 (*)(const LaneBuffer& a, LaneBuffer& out, LaneMode mode);

enum class Path : u8 { fastest, portable };

// The kernel of an operation on a type; null where the operation does not exist on the type.
BinaryKernel binary_kernel(BinaryOp op, LaneType type, Path path = Path::fastest);
UnaryKernel unary_kernel(UnaryOp op, LaneType type, Path path = Path::fastest);

// 64 lanes: the first 128 B of the f16 buffer and all of the f32 buffer.
UnaryKernel widen_kernel(Path path = Path::fastest);                    // f16 to f32, exact
UnaryKernel narrow_kernel(RoundMode round, Path path = Path::fastest);  // f32 to f16

namespace detail {
// SIMD kernels, null where there is none (isa/numeric/lanes_simd.cpp).
BinaryKernel simd_binary_kernel(BinaryOp op, LaneType type);
UnaryKernel simd_unary_kernel(UnaryOp op, LaneType type);
UnaryKernel simd_widen_kernel();
UnaryKernel simd_narrow_kernel(RoundMode round);
}  // namespace detail

}  // namespace vinci::isa
