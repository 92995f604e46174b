// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <string_view>

#include "isa/base/enums.h"
#include "isa/numeric/float16.h"
#include "isa/numeric/lane_type.h"
#include "isa/table/exec.h"

// What the vector unit does to the lanes of one repeat. A kernel sees whole repeats: masks and strides are the caller's
// business. Each kernel exists as portable code; the frequent ones also as SIMD code, chosen at run time for the host,
// with the same bits and the same STATUS.
namespace vinci::isa {

inline constexpr u32 kRepeatBytes = 256;

// The lanes of one operand in one repeat, from byte 0; a narrow operand with a wider one leaves the rest unused.
struct alignas(64) LaneBuffer {
  std::array<std::byte, kRepeatBytes> bytes;
};

// How results that do not fit are treated, and which implementation of the approximated functions is meant.
struct LaneMode {
  OverflowMode overflow = OverflowMode::inf_nan;  // of f16 and bf16 results
  bool saturate_int = false;                      // integer sums and products stop at the limits, else they wrap
  Precision precision = Precision::high_performance;
};

enum class UnaryOp : u8 { relu, abs, exp, ln, rec, sqrt, rsqrt, not_ };
// lrelu: a < 0 ? a * b : a. shl, shr: by b bits (0 .. bits of the lane); shr_round adds half of the last bit kept.
enum class BinaryOp : u8 { add, sub, mul, div, max, min, and_, or_, add_relu, sub_relu, lrelu, shl, shr, shr_round };
// madd: out * a + b, madd_relu: relu of it, mla: out + a * b, where out is what the destination holds.
enum class TernaryOp : u8 { madd, madd_relu, mla };
enum class CompareOp : u8 { eq, ne, lt, le, gt, ge };
inline constexpr auto kCompareOpNames = enum_names<CompareOp>;

// All lanes of a repeat. Each returns the STATUS bits that the lanes raise:
//   kFloatOverflow       finite inputs, but the result is infinite or NaN; or an integer result that does not fit
//   kFloatUnderflow      finite inputs other than zero, but a product, quotient, exponential or cast became zero
//   kNegativeToUnsigned  a negative value was cast to an unsigned type
//   kVectorNanInf        an input is infinite or NaN
using UnaryKernel = u64 (*)(const LaneBuffer& a, LaneBuffer& out, LaneMode mode);
using BinaryKernel = u64 (*)(const LaneBuffer& a, const LaneBuffer& b, LaneBuffer& out, LaneMode mode);
using TernaryKernel = BinaryKernel;  // `out` is read too

// Results of a comparison, bit i of the array for lane i. NaN compares false, with ne too.
// Source: published boundary tables of the Ascend C vector interfaces.
using LaneBits = std::array<u64, 2>;
using CompareKernel = u64 (*)(const LaneBuffer& a, const LaneBuffer& b, LaneBits& out);

// Several repeats in place: the lanes of a repeat are contiguous, the repeats at strides in bytes. They are done
// in order, each read whole before it is written, so that operands may overlap in any way.
struct Repeats {
  struct Source {
    const std::byte* first = nullptr;
    usize stride = 0;

    const std::byte* at(usize repeat) const { return first + repeat * stride; }
  };
  Source a, b;               // b: not of unary operations
  std::byte* out = nullptr;  // ternary operations read it too
  usize out_stride = 0;
  usize count = 0;
  LaneMode mode = {};
};
// The kernel of one repeat on each of them, without copies of the operands.
using RepeatsKernel = u64 (*)(const Repeats& job);

// simd: what Highway makes for the host; fastest: also what only some hosts have (AVX512-FP16).
enum class Path : u8 { fastest, simd, portable };

// The kernel of an operation on a type; null where the operation does not exist on the type.
UnaryKernel unary_kernel(UnaryOp op, LaneType type, Path path = Path::fastest);
BinaryKernel binary_kernel(BinaryOp op, LaneType type, Path path = Path::fastest);
TernaryKernel ternary_kernel(TernaryOp op, LaneType dst, LaneType src, Path path = Path::fastest);
CompareKernel compare_kernel(CompareOp op, LaneType type, Path path = Path::fastest);
// From one type to another; the wider of the two gives the number of lanes. Exact casts take any mode.
UnaryKernel convert_kernel(LaneType from, LaneType to, RoundMode round, Path path = Path::fastest);
// The same to an integer of fewer bits than that of a saturating cast in between, whose low bits remain: s64 to s32,
// and to s16, s8 and u8 by way of s32. Null for other types.
UnaryKernel wrapping_convert_kernel(LaneType from, LaneType to, RoundMode round);

// Operations that are frequent; null for the others.
RepeatsKernel unary_repeats(UnaryOp op, LaneType type, Path path = Path::fastest);
RepeatsKernel binary_repeats(BinaryOp op, LaneType type, Path path = Path::fastest);
RepeatsKernel ternary_repeats(TernaryOp op, LaneType dst, LaneType src, Path path = Path::fastest);
RepeatsKernel convert_repeats(LaneType from, LaneType to, RoundMode round, Path path = Path::fastest);

namespace detail {
// isa/numeric/lanes_portable.cpp, lanes_convert.cpp
UnaryKernel portable_unary_kernel(UnaryOp op, LaneType type);
BinaryKernel portable_binary_kernel(BinaryOp op, LaneType type);
TernaryKernel portable_ternary_kernel(TernaryOp op, LaneType dst, LaneType src);
CompareKernel portable_compare_kernel(CompareOp op, LaneType type);
UnaryKernel portable_convert_kernel(LaneType from, LaneType to, RoundMode round);
// SIMD, null where there is none (isa/numeric/lanes_simd*.cpp).
UnaryKernel simd_unary_kernel(UnaryOp op, LaneType type);
UnaryKernel simd_function_kernel(UnaryOp op);  // exp, ln, rec, rsqrt of f32
BinaryKernel simd_binary_kernel(BinaryOp op, LaneType type);
BinaryKernel simd_order_kernel(BinaryOp op, LaneType type);  // max, min
TernaryKernel simd_ternary_kernel(TernaryOp op, LaneType dst, LaneType src);
CompareKernel simd_compare_kernel(CompareOp op, LaneType type);
UnaryKernel simd_convert_kernel(LaneType from, LaneType to, RoundMode round);
// isa/numeric/repeats_simd.cpp
RepeatsKernel simd_unary_repeats(UnaryOp op, LaneType type);
RepeatsKernel simd_binary_repeats(BinaryOp op, LaneType type);
RepeatsKernel simd_ternary_repeats(TernaryOp op, LaneType dst, LaneType src);
RepeatsKernel simd_convert_repeats(LaneType from, LaneType to, RoundMode round);
// isa/numeric/repeats_avx512fp16.cpp; null where the compiler cannot build it. The host must have AVX512-FP16.
RepeatsKernel avx512fp16_unary_repeats(UnaryOp op, LaneType type);
RepeatsKernel avx512fp16_binary_repeats(BinaryOp op, LaneType type);
RepeatsKernel avx512fp16_ternary_repeats(TernaryOp op, LaneType dst, LaneType src);
RepeatsKernel avx512fp16_convert_repeats(LaneType from, LaneType to, RoundMode round);
bool host_has_avx512fp16();  // and the test of a weaker instruction set does not hide it
// One repeat of `job` by way of the kernel for one, which treats every case.
u64 unary_repeat(UnaryKernel kernel, const Repeats& job, usize repeat, LaneType from, LaneType to);
u64 binary_repeat(BinaryKernel kernel, const Repeats& job, usize repeat);
u64 ternary_repeat(TernaryKernel kernel, const Repeats& job, usize repeat, LaneType dst, LaneType src);
}  // namespace detail

}  // namespace vinci::isa
